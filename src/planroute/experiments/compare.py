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
) -> list[Cell]:
    """Return the cells of a comparison: every forced mode, and each routed condition, on every task and seed.

    ``routed`` maps a condition's name (``ROUTED`` where there is one) to who declares for it, ``baselines`` a baseline
    to who declares the plan that it gets. Forced dispatch replaces the declaration and nothing else; no gate stands
    before it, and ``deadline_s`` only counts its late events. All conditions share model, judge and budget.
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
            declarer, budget=limits, model=model, baseline=baseline, judge_model=judge_model
        )
    for name, declarer in (routed or {}).items():
        conditions[name] = Conditions(declarer, Gate(deadline_s), limits, model, deadline_s, judge_model=judge_model)
    return [
        Cell(task, name, seed, conditions[name]) for name in ordered(conditions) for task in tasks for seed in seeds
    ]


def summarise(rows: Sequence[EpisodeRow], cost: str) -> dict[str, Any]:
    """Return the table of a comparison: means over seeds, ``per_seed`` beside them, regret, and each seed's oracle.

    ``oracle`` maps a seed (``task:seed`` where there are several tasks) to the modes with the least cost.
    ``cost`` names the metric that is to be small. Regret and oracle compare the forced modes of one task and seed;
    infrastructure failures are counted apart and left out of the means, every other failure stays in.
    """
    names = sorted({name for row in rows for name in row.metrics})
    regrets = _regrets(rows, cost)
    conditions = {}
    for condition in ordered(row.condition for row in rows):
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
    forced = {row.condition for row in rows} & set(MODES)
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
        modes = [mode for mode in ordered(values) if values[mode] - least <= tolerance]
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
