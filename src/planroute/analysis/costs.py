"""What each condition costs, what success costs, and which conditions nothing beats on both.

Source: Planning-as-Routing, section 4 (costs), appendix L and Figure 7.
"""

from collections.abc import Mapping, Sequence
from statistics import stdev
from typing import Any, Final

from planroute.analysis.executions import Executions, spent
from planroute.episode import EpisodeRow
from planroute.statistics import expected_best

SPENT: Final = ("interactions", "model_calls", "prompt_tokens", "thinking_tokens", "answer_tokens", "planning_s")
PRICE: Final = ("answer_tokens", "thinking_tokens", "prompt_tokens")
"""What the frontier counts as cost: all tokens."""


def costs(executions: Executions) -> dict[str, Any]:
    """Return ``conditions`` with the spread of all that is spent, and the ``frontier`` of cost and value.

    Amounts are per episode and logical: a call answered from the cache counts. Where no model is asked, the frontier
    is over stipulated planning seconds.
    """
    names = [name for name in executions.conditions if executions.values(name)]
    table = {name: _spending(executions, name) for name in names}
    unit = "tokens" if any(one["tokens"]["mean"] for one in table.values()) else "planning_s"
    return {"conditions": table, "unit": unit, "frontier": _frontier(executions, table, unit)}


def _spending(executions: Executions, name: str) -> dict[str, Any]:
    rows = executions.of(name)
    amounts: dict[str, Sequence[float]] = {what: [spent(row, what) for row in rows] for what in SPENT}
    amounts = {**amounts, "tokens": [sum(spent(row, what) for what in PRICE) for row in rows]}
    calls, tokens = sum(amounts["model_calls"]), sum(amounts["tokens"])
    values = [value for row in rows if (value := executions.measure.of(row)) is not None]
    success = sum(values) if executions.measure.name == "success" else None
    return {
        **{what: _spread(some, rows) for what, some in amounts.items()},
        "tokens_per_call": tokens / calls if calls else None,
        "courses": sum(row.metrics.get("candidates") or 1.0 for row in rows) / len(rows),
        "value": sum(values) / len(values) if values else None,
        "tokens_per_success": tokens / success if success else None,
        "calls_per_success": calls / success if success else None,
        "episodes": len(rows),
    }


def _spread(values: Sequence[float], rows: Sequence[EpisodeRow]) -> dict[str, Any]:
    """Mean, standard deviation over episodes, and that of the seeds' means."""
    seeds: dict[int, list[float]] = {}
    for value, row in zip(values, rows, strict=True):
        seeds.setdefault(row.seed, []).append(value)
    means = [sum(some) / len(some) for some in seeds.values()]
    return {
        "mean": sum(values) / len(values) if values else None,
        "sd": stdev(values) if len(values) > 1 else None,
        "sd_over_seeds": stdev(means) if len(means) > 1 else None,
    }


def _frontier(executions: Executions, table: Mapping[str, Mapping[str, Any]], unit: str) -> list[dict[str, Any]]:
    """Every condition, and every mode retried with hindsight, by cost; ``efficient`` where none is better for less."""
    points = [
        {"name": name, "attempts": 1, "cost": one[unit]["mean"], "value": one["value"], "hindsight": False}
        for name, one in table.items()
        if one["value"] is not None
    ]
    if not executions.measure.worlds:
        for mode in executions.modes:
            for k in (2, 3, 4):
                best = [expected_best(values, k, executions.measure.better) for values in executions.forced[mode]]
                known = [value for value in best if value is not None]
                if known and len(known) == len(best):
                    cost = k * table[mode][unit]["mean"]
                    value = sum(known) / len(known)
                    points.append({"name": str(mode), "attempts": k, "cost": cost, "value": value, "hindsight": True})
    side = executions.measure.side
    for point in points:
        point["efficient"] = not point["hindsight"] and not any(
            other is not point
            and not other["hindsight"]
            and other["cost"] <= point["cost"]
            and side * other["value"] >= side * point["value"]
            and (other["cost"] < point["cost"] or side * other["value"] > side * point["value"])
            for other in points
        )
    return sorted(points, key=lambda point: (point["cost"], point["name"]))
