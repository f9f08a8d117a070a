"""The table that every experiment with episodes has: each condition overall, and at each combination of levels."""

from collections.abc import Mapping, Sequence
from typing import Any

from planroute.episode import EpisodeRow
from planroute.errors import FaultyInput
from planroute.experiments.compare import mean_known, ordered, summarise
from planroute.experiments.definition import Experiment
from planroute.statistics import t_interval

COST = "objective"
_COUNTED = ("late_events", "planning_s", "mode_agreement")
_REGRETS = ("regret", "mode_regret", "policy_gap")


def conditions(rows: Sequence[EpisodeRow], experiment: Experiment) -> dict[str, Any]:
    """Return ``conditions`` and ``oracle`` as every comparison has them, with intervals and ``levels``.

    ``intervals`` are 95 % Student-t intervals over seeds (over scenarios and seeds where there are levels) of the
    experiment's metrics; ``levels`` maps a scenario's name to means, ``intervals`` and counts of failure labels.
    """
    known = {*_COUNTED, *(name for row in rows for name in row.metrics)}
    if missing := [name for name in experiment.metrics if name not in known]:
        raise FaultyInput(
            f"experiment {experiment.id}",
            [f"metrics: there is no {name!r}" for name in missing],
            hint=f"there are {', '.join(sorted(known))}",
        )
    result = summarise(rows, COST)
    names = [*experiment.metrics, *_COUNTED]
    several = bool(experiment.levels)
    for condition, table in result["conditions"].items():
        mine = [row for row in rows if row.condition == condition]
        if len(experiment.forced) < 2:  # regret against oneself says nothing
            table |= dict.fromkeys(_REGRETS)
            for line in table["per_seed"]:
                line |= dict.fromkeys(_REGRETS)
        regret = [line["regret"] for line in table["per_seed"]]
        table["intervals"] = {**_intervals(mine, names), "regret": interval(regret)}
        if several:
            table["levels"] = {
                task: _level([row for row in mine if row.task == task], names)
                for task in dict.fromkeys(row.task for row in mine)
            }
    return result


def value_of(row: EpisodeRow, name: str) -> float | None:
    """A figure of ``row`` by name: a metric of the referee, or one that the row itself holds."""
    if name == "late_events":
        return row.late_events
    if name == "planning_s":
        return float(row.spent.get("planning", {}).get("planning_s", 0.0))
    if name == "mode_agreement":
        return None if row.mode_agreement is None else float(row.mode_agreement)
    return row.metrics.get(name)


def interval(values: Sequence[float | None]) -> list[float] | None:
    """95 % Student-t interval of the values that are there; ``None`` below two."""
    known = [float(value) for value in values if value is not None]
    if len(known) < 2:
        return None
    found = t_interval(known)
    return None if found.low is None or found.high is None else [found.low, found.high]


def by_condition(rows: Sequence[EpisodeRow]) -> dict[str, list[EpisodeRow]]:
    """Rows that count, by condition, in the order of every table."""
    names = ordered(row.condition for row in rows)
    return {name: [row for row in rows if row.condition == name and row.status != "infrastructure"] for name in names}


def _intervals(rows: Sequence[EpisodeRow], names: Sequence[str]) -> dict[str, list[float] | None]:
    counted = [row for row in rows if row.status != "infrastructure"]
    return {name: interval([value_of(row, name) for row in counted]) for name in names}


def _level(rows: Sequence[EpisodeRow], names: Sequence[str]) -> Mapping[str, Any]:
    counted = [row for row in rows if row.status != "infrastructure"]
    labels = [str(row.failure) for row in rows]
    metrics = sorted({name for row in counted for name in row.metrics})
    return {
        **{name: mean_known([value_of(row, name) for row in counted]) for name in [*metrics, *_COUNTED]},
        "intervals": _intervals(rows, names),
        "executed_counts": _counts([str(row.executed) for row in rows if row.executed]),
        "failure_counts": _counts(labels),
        "episodes": len(rows),
    }


def _counts(values: Sequence[str]) -> dict[str, int]:
    return {value: values.count(value) for value in sorted(set(values))}
