"""RQ3: does an executor that enforces the plan do better than one that merely sees it, and is search more than retries?

Source: Planning-as-Routing, RQ3, Tables 5 and 17, Figure 3, appendix I.1.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any, Final

from planroute.analysis.estimates import difference, estimate
from planroute.analysis.executions import Executions, flat
from planroute.episode import EpisodeRow
from planroute.modes import Baseline, Mode
from planroute.statistics import expected_best, split_advantage

ATTEMPTS: Final = 3
"""Flat runs of the paper's control."""
LENGTHS: Final = ((1, 5, "1-5"), (6, 10, "6-10"), (11, 20, "11-20"), (21, 10**9, "21+"))
"""Bins of a task's length, in interactions of the courses that solved it."""
UNSOLVED: Final = "unsolved"


def execution(executions: Executions) -> dict[str, Any]:
    """Return ``conditions``, ``against`` each baseline, ``by_length`` of tasks, and the control of ``rollouts``."""
    names = [name for name in executions.conditions if executions.values(name)]
    side = executions.measure.side
    means = {name: executions.means(name) for name in names}
    baselines = [str(name) for name in (Baseline.FLAT_REACT, Baseline.PLAN_REACT) if name in names]
    if not baselines:
        return {"status": "not_run", "why": "needs FLAT_REACT or PLAN_REACT: nothing can be compared with without one"}
    return {
        "status": "done",
        "conditions": {
            name: estimate(*flat(executions.values(name), executions.cases), f"condition {name}") for name in names
        },
        "best_fixed": _best_fixed(executions),
        "against": {
            baseline: {
                name: difference(means[name], means[baseline], side, f"{name} against {baseline}")
                for name in names
                if name != baseline
            }
            for baseline in baselines
        },
        "by_length": _by_length(executions, names),
        "rollouts": rollouts(executions),
    }


def rollouts(executions: Executions) -> dict[str, Any]:
    """Return search's advantage split into attempts, candidates and judge, for k flat runs and for as many as search.

    Needs SEARCH and REPEATED_REACT, whose rows tell of every attempt its score by the judge and, in hindsight, its
    success.
    """
    why = "needs FLAT_REACT, REPEATED_REACT and SEARCH, each with a success: --conditions all,REPEATED_REACT"
    wanted = (Baseline.FLAT_REACT, Baseline.REPEATED_REACT, Mode.SEARCH)
    if executions.measure.name != "success" or not all(executions.values(name) for name in wanted):
        return {"status": "not_run", "why": why}
    repeated = {(row.task, row.seed): tried(row) for row in executions.of(Baseline.REPEATED_REACT)}
    searched = [
        (row, own) for row in executions.of(Mode.SEARCH) if (own := tried(row)) and repeated.get((row.task, row.seed))
    ]
    if not searched:
        return {
            "status": "not_run",
            "why": "no SEARCH episode tried an alternative beside repeated attempts of its seed",
        }
    single = executions.means(Baseline.FLAT_REACT)
    found: dict[str, Any] = {"status": "done"}
    sizes = [len(own) for _, own in searched]
    for name in (str(ATTEMPTS), "matched"):
        table: dict[str, list[tuple[float, ...]]] = {}
        for row, own in searched:
            others = repeated[row.task, row.seed]
            k = min(ATTEMPTS, len(others)) if name == str(ATTEMPTS) else min(len(own), len(others))
            best = expected_best([success for _, success in others], k)
            if row.task in single and best is not None:
                values = (single[row.task], _chosen(others[:k]), best, float(bool(row.success)), max(s for _, s in own))
                table.setdefault(row.task, []).append(values)
        columns = [[sum(values[place] for values in rows) / len(rows) for rows in table.values()] for place in range(5)]
        split = split_advantage(*columns, name=f"rollouts {name}").to_dict()
        means = dict(zip(("flat", "judged", "best", "search", "search_best"), map(_mean, columns), strict=True))
        found[name] = {**split, "means": means}
    found["candidates"] = sum(sizes) / len(sizes) if sizes else None
    found["short"] = sum(len(repeated[row.task, row.seed]) < len(own) for row, own in searched)
    return found


def tried(row: EpisodeRow) -> list[tuple[float, float]]:
    """The judge's score and the success of every attempt of an episode that chose among some, in their order."""
    found: list[tuple[float, float]] = []
    while (success := row.metrics.get(f"attempt_{len(found) + 1}_success")) is not None:
        found.append((float(row.metrics.get(f"attempt_{len(found) + 1}_score") or 0.0), success))
    return found


def task_lengths(executions: Executions) -> Mapping[str, str]:
    """The bin of each task: the median length of the courses that solved it, under whatever condition."""
    steps: dict[str, list[float]] = {}
    for row in executions.rows:
        taken = row.metrics.get("steps")
        if row.success and taken:
            steps.setdefault(executions.measure.case(row), []).append(taken)
    return {
        case: next(label for low, high, label in LENGTHS if low <= round(median(steps[case])) <= high)
        if case in steps
        else UNSOLVED
        for case in executions.cases
    }


def _by_length(executions: Executions, names: list[str]) -> dict[str, Any]:
    lengths = task_lengths(executions)
    found = {}
    for label in (*(label for _, _, label in LENGTHS), UNSOLVED):
        cases = [case for case in executions.cases if lengths[case] == label]
        if cases:
            found[label] = {
                "tasks": len(cases),
                "conditions": {
                    name: estimate(*flat(executions.values(name), cases), f"{name} length {label}") for name in names
                },
            }
    return found


def _best_fixed(executions: Executions) -> dict[str, Any] | None:
    """The forced mode with the best mean, and its estimate; ``None`` without forced modes."""
    side = executions.measure.side
    values = {mode: flat(executions.values(mode), executions.cases) for mode in executions.modes}
    if not values:
        return None
    best = max(values, key=lambda mode: side * sum(values[mode][0]) / len(values[mode][0]))
    return {"mode": str(best), **estimate(*values[best], f"condition {best}")}


def _chosen(attempts: list[tuple[float, float]]) -> float:
    return max(attempts, key=lambda attempt: attempt[0])[1]


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
