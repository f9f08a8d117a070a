"""The comparison: forced modes and the routed condition on the same tasks and seeds, paired.

Source: cyber-physical paper, E2; Planning-as-Routing 3.4.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planroute.declaration import DEFAULT_BRANCHING
from planroute.declarers import Fixed
from planroute.episode import Conditions, EpisodeRow
from planroute.gate import Gate
from planroute.ledger import Budget
from planroute.modes import MODES, Baseline, Mode
from planroute.protocols import Declarer, Model, Task
from planroute.runs.cells import Cell


def ordered(conditions: Iterable[str]) -> list[str]:
    """Return conditions in the order of every table: baselines, forced modes, then the routed ones by name."""
    found, fixed = set(conditions), (*Baseline, *MODES)
    return [*(str(name) for name in fixed if name in found), *sorted(found - set(fixed))]


def comparison_cells(
    tasks: Sequence[Task],
    seeds: Sequence[int],
    forced: Sequence[Mode],
    *,
    model: Model | None = None,
    budget: Budget | None = None,
    deadline_s: float | None = None,
    routed: Mapping[str, Declarer] | None = None,
    baselines: Mapping[Baseline, Declarer] | None = None,
    judge_model: Model | None = None,
    branching: int = DEFAULT_BRANCHING,
    attempts: int = 3,
    again: Sequence[int] = (),
    policies: Mapping[str, Declarer] | None = None,
) -> list[Cell]:
    """Return the cells of a comparison: every forced mode, and each routed condition, on every task and seed.

    ``routed`` maps a condition's name (``ROUTED`` where there is one) to who declares for it, ``baselines`` a baseline
    to who declares the plan that it gets. Forced dispatch replaces the declaration and nothing else; no gate stands
    before it, and ``deadline_s`` only counts its late events. All conditions share model, judge and budget.

    ``again`` are further seeds, on which only forced modes and FLAT_REACT run: executions to retry with. ``policies``
    maps the name of a condition to who only declares for it: nothing is executed.
    """
    limits = budget or Budget()
    conditions: dict[str, Conditions] = {
        mode: Conditions(
            Fixed(mode, branching), budget=limits, model=model, deadline_s=deadline_s, judge_model=judge_model
        )
        for mode in forced
    }
    for baseline, declarer in (baselines or {}).items():
        conditions[baseline] = Conditions(
            declarer, budget=limits, model=model, baseline=baseline, judge_model=judge_model, attempts=attempts
        )
    for name, declarer in (routed or {}).items():
        conditions[name] = Conditions(declarer, Gate(deadline_s), limits, model, deadline_s, judge_model=judge_model)
    for name, declarer in (policies or {}).items():
        conditions[name] = Conditions(declarer, Gate(deadline_s), limits, model, deadline_s, only_declare=True)
    retried = {*forced, Baseline.FLAT_REACT}
    return [
        Cell(task, name, seed, conditions[name])
        for name in ordered(conditions)
        for task in tasks
        for seed in (*seeds, *(again if name in retried else ()))
    ]


def summarise(rows: Sequence[EpisodeRow], cost: str) -> dict[str, Any]:
    """Return the table of a comparison: means over seeds, ``per_seed`` beside them, regret, and each seed's oracle.

    ``cost`` names the metric that is to be small. ``oracle`` maps a seed (``task:seed`` where there are several tasks)
    to the forced modes with the least cost among those that kept the deadline. ``regret`` is cost less that least;
    a forced mode that missed the deadline has none. For a routed condition it splits into ``mode_regret``, what the
    forced episode of the executed mode costs above the least, and ``policy_gap``, what the rest of the declared policy
    (intensity, targets, candidates) adds. Infrastructure failures are counted apart and left out of the means; every
    other failure stays in, but a failed forced episode is no oracle. A cost that some condition lacks on a seed is
    averaged over the other seeds for all conditions, and ``lacking`` counts them.
    """
    names = sorted({name for row in rows for name in row.metrics})
    pairing = _Pairing(rows, cost)
    lacking = _lacking(rows, [name for name in names if name.startswith(cost)])
    conditions = {}
    for condition in ordered(row.condition for row in rows):
        mine = [row for row in rows if row.condition == condition]
        counted = [row for row in mine if row.status != "infrastructure"]
        table: dict[str, Any] = {
            name: mean_known(
                [row.metrics.get(name) for row in counted if (row.task, row.seed) not in lacking.get(name, ())]
            )
            for name in names
        }
        table["lacking"] = {name: len(some) for name, some in sorted(lacking.items())}
        for name in ("regret", "mode_regret", "policy_gap"):
            table[name] = mean_known([getattr(pairing, name)(row) for row in counted])
        table["mode_agreement"] = mean_known([row.mode_agreement for row in counted])
        table["late_events"] = mean_known([row.late_events for row in counted])
        table["planning_s"] = mean_known([row.spent.get("planning", {}).get("planning_s", 0.0) for row in counted])
        table["episodes"], table["failed"] = len(mine), sum(row.status == "failed" for row in mine)
        table["infrastructure"] = len(mine) - len(counted)
        for name in ("declared", "executed", "gate", "failure"):
            values = [str(value) for row in mine if (value := getattr(row, name)) is not None]
            table[f"{name}_counts"] = {value: values.count(value) for value in sorted(set(values))}
        table["per_seed"] = [
            {
                "task": row.task,
                "seed": row.seed,
                "declared": row.declared,
                "executed": row.executed,
                "status": row.status,
                "failure": row.failure,
                "late_events": row.late_events,
                "regret": pairing.regret(row),
                "mode_regret": pairing.mode_regret(row),
                "policy_gap": pairing.policy_gap(row),
                **{name: row.metrics.get(name) for name in names},
            }
            for row in mine
        ]
        conditions[condition] = table
    return {"conditions": conditions, "oracle": pairing.oracles()}


def _lacking(rows: Sequence[EpisodeRow], names: Sequence[str]) -> dict[str, set[tuple[str, int]]]:
    """The tasks and seeds on which some condition has no value of a cost, such as where a referee did not converge."""
    found = {
        name: {(row.task, row.seed) for row in rows if row.status != "infrastructure" and row.metrics.get(name) is None}
        for name in names
    }
    return {name: some for name, some in found.items() if some}


class _Pairing:
    """Costs of the forced modes on each task and seed, where all of them were measured."""

    def __init__(self, rows: Sequence[EpisodeRow], cost: str) -> None:
        self._cost = cost
        forced = {row.condition for row in rows} & set(MODES)
        found: dict[tuple[str, int], dict[str, EpisodeRow]] = {}
        for row in rows:
            if row.condition in forced and self._value(row) is not None:
                found.setdefault((row.task, row.seed), {})[row.condition] = row
        self._forced = {key: modes for key, modes in found.items() if set(modes) == forced}

    def regret(self, row: EpisodeRow) -> float | None:
        least, value = self._least(row), self._value(row)
        missed = row.condition in set(MODES) and bool(row.late_events)
        return None if least is None or value is None or missed else value - least

    def mode_regret(self, row: EpisodeRow) -> float | None:
        least, forced = self._least(row), self._forced_value(row)
        return None if least is None or forced is None else forced - least

    def policy_gap(self, row: EpisodeRow) -> float | None:
        value, forced = self._value(row), self._forced_value(row)
        return None if value is None or forced is None else value - forced

    def oracles(self, tolerance: float = 1e-9) -> dict[str, list[str]]:
        several = len({task for task, _ in self._forced}) > 1
        found = {}
        for (task, seed), modes in self._forced.items():
            costs = {mode: value for mode, row in modes.items() if (value := self._in_time(row)) is not None}
            best = [mode for mode in ordered(costs) if costs[mode] - min(costs.values()) <= tolerance]
            found[f"{task}:{seed}" if several else str(seed)] = best
        return found

    def _least(self, row: EpisodeRow) -> float | None:
        modes = self._forced.get((row.task, row.seed), {}).values()
        return min((value for other in modes if (value := self._in_time(other)) is not None), default=None)

    def _forced_value(self, row: EpisodeRow) -> float | None:
        """Cost of the forced episode of the mode that a routed ``row`` executed."""
        if row.condition in (*MODES, *Baseline) or row.executed is None:
            return None
        twin = self._forced.get((row.task, row.seed), {}).get(row.executed)
        return None if twin is None else self._value(twin)

    def _in_time(self, row: EpisodeRow) -> float | None:
        return None if row.late_events or row.status != "finished" else self._value(row)

    def _value(self, row: EpisodeRow) -> float | None:
        return None if row.status == "infrastructure" else row.metrics.get(self._cost)


def mean_known(values: Sequence[float | bool | None]) -> float | None:
    """Mean of the values that are there; ``None`` where there is none."""
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


PAPER: Mapping[str, Mapping[str, float]] = {
    Mode.PREDEFINED: {"objective": 1571, "regret": 294, "faithfulness": 1.00, "realisation": 0.540},
    Mode.SEQUENTIAL: {"objective": 1550, "regret": 272, "faithfulness": 1.00, "realisation": 0.542},
    Mode.HIERARCHICAL: {"objective": 2388, "regret": 1111, "faithfulness": 0.89, "realisation": 0.548},
    Mode.SEARCH: {"objective": 1277, "regret": 0, "faithfulness": 0.79, "realisation": 0.533},
}
"""E2 of the cyber-physical paper, seeds 7, 13, 42, 101, 202: the forced rows of its comparison table."""

PAPER_SEEDS: Sequence[int] = (7, 13, 42, 101, 202)
