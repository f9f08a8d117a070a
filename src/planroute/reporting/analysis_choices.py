"""RQ3 on the analysis page: does enforcing a plan help, and is search more than several attempts."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import (
    Cell,
    Drawing,
    Part,
    Table,
    amount,
    counts,
    differing,
    estimated,
    head,
    line,
    not_run,
    turned,
)
from planroute.reporting.figures.analyses import UNSOLVED
from planroute.reporting.wording import counted

Found = Mapping[str, Any]
SPLIT: Final = {
    "over_flat": "search over one flat run",
    "attempts": "of it, from attempts",
    "candidates": "from candidates",
    "judge": "from the judge",
    "over_judged": "search over judged flat runs",
}


def enforced(found: Found) -> list[Part]:
    """Conditions against the baselines, success by task length, and the control for search."""
    rq3, words = found["rq3"], Words(found["measure"])
    if rq3["status"] != "done":
        return [not_run("Comparing with acting without an enforced plan", rq3["why"])]
    what = "success" if words.share else "value"
    drawing = Drawing(
        "success_by_length",
        f"{what.capitalize()} by task length (Figure 3)",
        "A line for each condition; the longer a task, the further right. Bars are 95 % intervals, hollow marks rest "
        f"on fewer than 10 episodes.{_left_out(rq3)}",
        "no task was solved, so that no length is known",
    )
    parts: list[Part] = [_conditions(found, words), drawing, _lengths(rq3, words)]
    rollouts = rq3["rollouts"]
    if rollouts["status"] == "done":
        return [*parts, _rollouts(rollouts, words)]
    return [*parts, not_run("Is search more than several attempts (Table 17)", rollouts["why"])]


def _left_out(rq3: Found) -> str:
    """Which tasks the figure cannot place."""
    tasks = rq3["by_length"].get(UNSOLVED, {}).get("tasks")
    return f" Left out: {counted(tasks, 'task')} that no condition solved, so that no length is known." if tasks else ""


def _conditions(found: Found, words: Words) -> Table:
    rq3, rq2 = found["rq3"], found["rq2"]
    best = rq2["best"] if rq2["status"] == "done" else None
    rows: list[list[Cell]] = []
    lines = []
    for name, one in rq3["conditions"].items():
        against = [table.get(name) for table in rq3["against"].values()]
        behind = turned(rq2["behind"].get(name)) if best else None
        rows.append(
            [
                name,
                estimated(words, one),
                *(differing(words, gain) for gain in against),
                *([differing(words, behind)] if best and best not in rq3["against"] else []),
                amount(one["episodes"]),
            ]
        )
        gains: dict[str, Any] = {}
        for baseline, table in rq3["against"].items():
            gains |= line(f"against_{baseline}", table.get(name))
        lines.append({"condition": name, **line("value", one), **gains, **line("against_best", behind), **counts(one)})
    return Table(
        name="conditions",
        title="Every condition against the baselines (Table 5)",
        caption="FLAT_REACT acts without a plan, PLAN_REACT with one that nothing enforces. A difference counts the "
        "same tasks; + says that the condition of the row is better; it is clear where its interval leaves out 0.",
        heads=(
            "condition",
            head(words, found["measure"]),
            *(f"against {baseline}" for baseline in rq3["against"]),
            *([f"against {best}"] if best and best not in rq3["against"] else []),
            "episodes",
        ),
        rows=rows,
        lines=lines,
    )


def _lengths(rq3: Found, words: Words) -> Table:
    lengths = rq3["by_length"]
    return Table(
        name="by_length",
        title="The same in numbers",
        folded=True,
        caption="Length of a task: the median number of interactions of the courses that solved it, whatever the "
        "condition.",
        heads=("condition", *(f"{label} ({counted(one['tasks'], 'task')})" for label, one in lengths.items())),
        rows=[
            (name, *(estimated(words, one["conditions"].get(name)) for one in lengths.values()))
            for name in rq3["conditions"]
        ],
        lines=[
            {"length": label, "condition": name, **line("value", value), **counts(value)}
            for label, one in lengths.items()
            for name, value in one["conditions"].items()
        ],
    )


def _rollouts(rollouts: Found, words: Words) -> Table:
    sizes = [name for name in rollouts if isinstance(rollouts[name], Mapping)]
    named = {name: "as many attempts as search" if name == "matched" else f"{name} attempts" for name in sizes}
    return Table(
        name="rollouts",
        title="Where search's advantage comes from (Table 17)",
        caption="A flat run acts without a plan. Search's lead over one flat run is the sum of what more attempts "
        "bring, what planned candidates add to that, and what the judge's pick adds or loses; last: search over as "
        "many flat runs that the same judge picked from.",
        heads=("flat runs", "search", "one flat run", *SPLIT.values(), "tasks"),
        rows=[
            (
                named[name],
                words.plain(rollouts[name]["means"]["search"]),
                words.plain(rollouts[name]["means"]["flat"]),
                *(differing(words, rollouts[name][key]) for key in SPLIT),
                amount(rollouts[name]["tasks"]),
            )
            for name in sizes
        ],
        lines=[
            {
                "flat_runs": name,
                **rollouts[name]["means"],
                **{
                    column: value
                    for key in SPLIT
                    for column, value in line(f"split_{key}", rollouts[name][key]).items()
                },
                "tasks": rollouts[name]["tasks"],
            }
            for name in sizes
        ],
    )
