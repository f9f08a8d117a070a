"""The comparison: forced modes and the routed condition on the same tasks and seeds, paired.

Source: cyber-physical paper, E2; Planning-as-Routing 3.4.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from planroute.declarers import Fixed
from planroute.episode import Conditions, EpisodeRow
from planroute.modes import MODES, ROUTED, Mode
from planroute.protocols import Task
from planroute.runs.cells import Cell

ORDER: Sequence[str] = (*MODES, ROUTED)
"""The order of conditions in every table, whatever order they are asked for in."""


def comparison_cells(
    tasks: Sequence[Task], seeds: Sequence[int], forced: Sequence[Mode], base: Conditions, *, routed: bool
) -> list[Cell]:
    """Return the cells of a comparison: every forced mode, and ROUTED by ``base.declarer``, on every task and seed.

    Forced dispatch replaces the declaration and nothing else, and no gate stands before it.
    """
    cells = []
    for condition in (c for c in ORDER if c in forced or (c == ROUTED and routed)):
        for task in tasks:
            for seed in seeds:
                if condition == ROUTED:
                    conditions = base
                else:
                    conditions = Conditions(
                        Fixed(Mode(condition)), budget=base.budget, model=base.model, deadline_s=base.gate.deadline_s
                    )
                cells.append(Cell(task, condition, seed, conditions))
    return cells


def summarise(rows: Sequence[EpisodeRow], cost: str) -> dict[str, Any]:
    """Return the table of a comparison: means over seeds, ``per_seed`` beside them, regret, and each seed's oracle.

    ``oracle`` maps a seed (``task:seed`` where there are several tasks) to the modes with the least cost.
    ``cost`` names the metric that is to be small. Regret and oracle compare the forced modes of one task and seed;
    only episodes that finished count, and how many did not is said.
    """
    names = sorted({name for row in rows for name in row.metrics})
    regrets = _regrets(rows, cost)
    conditions = {}
    for condition in (c for c in ORDER if any(row.condition == c for row in rows)):
        mine = [row for row in rows if row.condition == condition]
        counted = [row for row in mine if row.status != "infrastructure"]
        table: dict[str, Any] = {name: _mean([row.metrics.get(name) for row in counted]) for name in names}
        table["regret"] = _mean([regrets.get((row.task, row.seed, condition)) for row in counted])
        table["mode_agreement"] = _mean([row.mode_agreement for row in counted])
        table["late_events"] = _mean([row.late_events for row in counted])
        table["planning_s"] = _mean([row.spent.get("planning", {}).get("planning_s", 0.0) for row in counted])
        table["episodes"], table["failed"] = len(mine), sum(row.status == "failed" for row in mine)
        table["infrastructure"] = len(mine) - len(counted)
        table["failures"] = {
            label: sum(r.failure == label for r in mine) for label in sorted({r.failure for r in mine})
        }
        table["per_seed"] = [
            {
                "task": row.task,
                "seed": row.seed,
                "declared": row.declared,
                "executed": row.executed,
                "status": row.status,
                "failure": row.failure,
                "regret": regrets.get((row.task, row.seed, condition)),
                **{name: row.metrics.get(name) for name in names},
            }
            for row in mine
        ]
        conditions[condition] = table
    return {"conditions": conditions, "oracle": _oracles(rows, cost)}


def _paired(rows: Sequence[EpisodeRow], cost: str) -> dict[tuple[str, int], dict[str, float]]:
    """Cost by forced mode for every task and seed on which all forced modes of the run were measured."""
    forced = {row.condition for row in rows if row.condition != ROUTED}
    found: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        value = row.metrics.get(cost)
        if row.condition in forced and row.status != "infrastructure" and value is not None:
            found.setdefault((row.task, row.seed), {})[row.condition] = value
    return {key: values for key, values in found.items() if set(values) == forced}


def _regrets(rows: Sequence[EpisodeRow], cost: str) -> dict[tuple[str, int, str], float]:
    paired = _paired(rows, cost)
    regrets = {}
    for row in rows:
        least, value = paired.get((row.task, row.seed)), row.metrics.get(cost)
        if least and value is not None and row.status != "infrastructure":
            regrets[row.task, row.seed, row.condition] = value - min(least.values())
    return regrets


def _oracles(rows: Sequence[EpisodeRow], cost: str, tolerance: float = 1e-9) -> dict[str, list[str]]:
    paired = _paired(rows, cost)
    several = len({task for task, _ in paired}) > 1
    oracles = {}
    for (task, seed), values in paired.items():
        least = min(values.values())
        modes = [mode for mode in ORDER if mode in values and values[mode] - least <= tolerance]
        oracles[f"{task}:{seed}" if several else str(seed)] = [str(mode) for mode in modes]
    return oracles


def _mean(values: Sequence[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


PAPER: Mapping[str, Mapping[str, float]] = {
    Mode.PREDEFINED: {"objective": 1571, "regret": 294, "faithfulness": 1.00, "realisation": 0.540},
    Mode.SEQUENTIAL: {"objective": 1550, "regret": 272, "faithfulness": 1.00, "realisation": 0.542},
    Mode.HIERARCHICAL: {"objective": 2388, "regret": 1111, "faithfulness": 0.89, "realisation": 0.548},
    Mode.SEARCH: {"objective": 1277, "regret": 0, "faithfulness": 0.79, "realisation": 0.533},
}
"""E2 of the cyber-physical paper, seeds 7, 13, 42, 101, 202: the forced rows of its comparison table."""
