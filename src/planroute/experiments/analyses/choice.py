"""Analyses of choices: what declarers choose, which mode is the oracle, and whether the other referee agrees."""

from collections import Counter
from typing import Any

import numpy as np

from planroute.episode import EpisodeRow
from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.compare import mean_known
from planroute.experiments.outcomes import by_condition
from planroute.modes import MODES
from planroute.statistics import correlation, normalised_entropy, oracle_shares


def declarations(inputs: Inputs) -> dict[str, Any]:
    """Declared modes of each routed condition: counts, shares, normalised entropy with interval.

    Source: cyber-physical paper, E1 and Figure 2.
    """
    found = {}
    for condition, rows in by_condition(inputs.rows).items():
        if condition in set(MODES):
            continue
        declared = [str(row.declared) for row in rows if row.declared]
        counts = Counter(declared)
        found[condition] = {
            "counts": {mode: counts[mode] for mode in MODES},
            "shares": {mode: counts[mode] / len(declared) if declared else None for mode in MODES},
            "entropy": normalised_entropy(
                declared, len(MODES), draws=inputs.draws, name=f"{inputs.experiment.id} {condition}"
            ).to_dict()
            if declared
            else None,
            "executed": dict(sorted(Counter(str(row.executed) for row in rows if row.executed).items())),
            "unreadable": sum(row.declared is None for row in rows),
        }
    return found


def oracle(inputs: Inputs, *, cost: str = "objective") -> dict[str, Any]:
    """Which forced modes cost least among those that kept the deadline: membership, ties split, over scenarios.

    ``shares`` are memberships over scenarios, so that tied modes each have theirs.

    Source: cyber-physical paper, equation (5), E2 and E7.
    """
    keys, costs, feasible = _matrix(inputs, cost)
    if not keys:
        return {"scenarios": 0}
    return {"scenarios": len(keys), **_shares(costs, feasible)}


def referees(inputs: Inputs) -> dict[str, Any]:
    """What survives under full AC power flow: order of the conditions, the oracle, and how costs go together."""
    means = {
        name: {cost: mean_known([row.metrics.get(cost) for row in rows]) for cost in ("objective", "objective_ac")}
        for name, rows in by_condition(inputs.rows).items()
    }
    pairs = [
        (row.metrics["objective"], row.metrics["objective_ac"])
        for row in inputs.rows
        if row.metrics.get("objective") is not None and row.metrics.get("objective_ac") is not None
    ]
    found: dict[str, Any] = {
        "means": means,
        "order": _order(means, "objective"),
        "order_ac": _order(means, "objective_ac"),
        "lacking_ac": sum(row.metrics.get("objective_ac") is None for row in inputs.rows),
    }
    found["same_order"] = float(found["order"] == found["order_ac"])
    if len(pairs) > 2:
        found["rank_correlation"] = correlation(
            [float(a or 0) for a, _ in pairs],
            [float(b or 0) for _, b in pairs],
            "spearman",
            draws=min(inputs.draws, 500),
            name=f"{inputs.experiment.id} referees",
        ).to_dict()
    keys, costs, feasible = _matrix(inputs, "objective")
    keys_ac, costs_ac, feasible_ac = _matrix(inputs, "objective_ac")
    if keys:
        first = dict(zip(keys, _argmin(costs, feasible), strict=True))
        second = dict(zip(keys_ac, _argmin(costs_ac, feasible_ac), strict=True))
        both = [key for key in first if key in second]
        found["same_oracle"] = sum(first[key] == second[key] for key in both) / len(both) if both else None
        found["oracle_ac"] = _shares(costs_ac, feasible_ac) if keys_ac else None
    return found


def _matrix(inputs: Inputs, cost: str) -> tuple[list[tuple[str, int]], Any, Any]:
    """Scenarios that every forced mode has finished, their costs (scenarios, modes), and which kept the deadline."""
    forced = [mode for mode in MODES if mode in inputs.experiment.forced]
    table: dict[tuple[str, int], dict[str, EpisodeRow]] = {}
    for row in inputs.rows:
        if row.condition in forced and row.status == "finished" and row.metrics.get(cost) is not None:
            table.setdefault((row.task, row.seed), {})[row.condition] = row
    keys = [key for key, modes in table.items() if len(modes) == len(forced) and len(forced) == len(MODES)]
    costs = np.array([[table[key][mode].metrics[cost] for mode in MODES] for key in keys], dtype=float)
    feasible = np.array([[not table[key][mode].late_events for mode in MODES] for key in keys], dtype=bool)
    return keys, costs, feasible


def _argmin(costs: Any, feasible: Any) -> list[int]:
    found: list[int] = np.argmin(np.where(feasible, costs, np.inf), axis=1).tolist()
    return found


def _order(means: dict[str, dict[str, float | None]], cost: str) -> list[str]:
    known = {name: value for name, costs in means.items() if (value := costs[cost]) is not None}
    return sorted(known, key=lambda name: known[name])


def _shares(costs: Any, feasible: Any) -> dict[str, Any]:
    found = oracle_shares(dict(zip(MODES, costs.T, strict=True)), dict(zip(MODES, feasible.T, strict=True))).to_dict()
    return {**found, "shares": {mode: number / len(costs) for mode, number in found["members"].items()}}
