"""RQ1: is the declared structure kept by an executor that nothing forces to, and how much of a plan is carried out?

Source: Planning-as-Routing, RQ1, Tables 1, 2, 15 and 16, Figure 2, appendices G and H.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from planroute.analysis.estimates import estimate
from planroute.analysis.executions import Executions, spent
from planroute.episode import EpisodeRow
from planroute.modes import MODES, Baseline, Mode

LENGTHS: Final = ((1, 3, "1-3"), (4, 5, "4-5"), (6, 7, "6-7"), (8, 10**9, "8+"))
"""Bins of plan length, in executable units; the paper names 4-5 and 6-7."""


def structure(executions: Executions) -> dict[str, Any]:
    """Return ``preservation`` of PLAN_REACT, overall, by declared mode and by plan length, and every ``completion``.

    A declared search lists alternatives, which have no order: it is counted apart, as kept where any one alternative
    was carried out in its order, and compares with nothing else.
    """
    loose = executions.of(Baseline.PLAN_REACT)
    ordered = [row for row in loose if row.metrics.get("plan_order_faithful") is not None]
    search = [row for row in loose if row.metrics.get("alternative_kept") is not None]

    def kept(rows: Sequence[EpisodeRow], name: str, metric: str = "plan_order_faithful") -> dict[str, Any]:
        values = [float(row.metrics[metric] or 0) for row in rows]
        return estimate(values, [executions.measure.case(row) for row in rows], f"preservation {name}")

    by_length = _binned(ordered, kept)
    return {
        "preservation": {
            "overall": kept(ordered, "overall"),
            "by_mode": {
                mode: kept([row for row in ordered if row.declared == mode], mode)
                for mode in MODES
                if mode is not Mode.SEARCH
            },
            "by_length": by_length,
            "by_mode_and_length": {
                mode: _binned([row for row in ordered if row.declared == mode], kept, f"{mode} ")
                for mode in MODES
                if mode is not Mode.SEARCH
            },
            "search": kept(search, "search", "alternative_kept")
            | {"note": "kept where any one alternative was carried out in order; compares with no other row"},
        },
        "completion": {name: found for name in executions.conditions if (found := _completion(executions, name))},
    }


def length_bin(units: float) -> str:
    """The bin of a plan of so many units."""
    return next(name for low, high, name in LENGTHS if low <= max(units, 1) <= high)


def _binned(
    rows: Sequence[EpisodeRow], kept: Callable[[Sequence[EpisodeRow], str], dict[str, Any]], name: str = ""
) -> dict[str, Any]:
    found: dict[str, list[EpisodeRow]] = {label: [] for _, _, label in LENGTHS}
    for row in rows:
        units = row.metrics.get("units_planned")
        if units:
            found[length_bin(units)].append(row)
    return {label: kept(some, f"{name}length {label}") for label, some in found.items()}


def _completion(executions: Executions, condition: str) -> dict[str, Any]:
    """Plan size, completion, and what of the budget was used; empty where the condition carries out no plan.

    Alternatives in sight that nothing enforced are left out: nobody meant to carry out all of them.
    """
    rows = [
        row
        for row in executions.of(condition)
        if row.metrics.get("adherence") is not None and row.metrics.get("alternative_kept") is None
    ]
    if not rows:
        return {}
    clusters = [executions.measure.case(row) for row in rows]

    def mean(metric: str) -> float | None:
        known = [value for row in rows if (value := row.metrics.get(metric)) is not None]
        return sum(known) / len(known) if known else None

    adherence = [float(row.metrics["adherence"] or 0) for row in rows]
    return {
        "planned": mean("units_planned"),
        "needed": mean("units_needed"),
        "completed": mean("units_completed"),
        "adherence": estimate(adherence, clusters, f"adherence {condition}"),
        "all_needed": estimate([float(one >= 1) for one in adherence], clusters, f"all needed {condition}"),
        "interactions": sum(spent(row, "interactions") for row in rows) / len(rows),
        "out_of_budget": sum(row.stop == "BUDGET" for row in rows) / len(rows),
        "ordered": condition != Mode.SEARCH,
    }
