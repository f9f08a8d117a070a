"""What a choice of mode costs against the best: paired regret, oracle membership, the share of a gap that is closed.

Source: cyber-physical paper, equation 5 (paired routing regret) and section V.F (ties split; gap to the reference).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planroute.errors import InputError
from planroute.statistics.resampling import DRAWS, distribution, percentiles
from planroute.statistics.result import Result, finite
from planroute.statistics.samples import ROUNDING, FloatArray, check_draws, check_level, numbers, same_length
from planroute.streams import stream

Costs = Mapping[str, ArrayLike] | ArrayLike
"""Costs (scenarios,) by mode, or (scenarios, modes) with modes named by their column number."""


@dataclass(frozen=True, slots=True)
class GapClosed(Result):
    """The share of the gap from baseline to reference that was closed over ``n`` scenarios, with its interval."""

    share: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class OracleShares(Result):
    """In how many of ``n`` scenarios each of ``modes`` is the best.

    ``split`` divides a scenario equally among those that tie, so it sums to ``n`` − ``infeasible``; ``members`` counts
    every one that ties. ``ties`` are the scenarios with several best, ``infeasible`` those with no feasible mode.
    """

    modes: tuple[str, ...]
    split: tuple[float, ...]
    members: tuple[int, ...]
    ties: int
    infeasible: int
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values, ``split`` and ``members`` by mode."""
        return {
            "split": dict(zip(self.modes, self.split, strict=True)),
            "members": dict(zip(self.modes, self.members, strict=True)),
            "ties": self.ties,
            "infeasible": self.infeasible,
            "n": self.n,
        }


def share_of_gap_closed(baseline_cost: float, achieved_cost: float, reference_cost: float) -> float | None:
    """Return (baseline − achieved) / (baseline − reference), all in one unit, lower being better.

    Below 0 the achieved is worse than the baseline, above 1 better than the reference. A reference that is not better
    than the baseline leaves no gap to close: ``None``.

    Raises ``InputError`` for costs that are not finite numbers.

    >>> round(share_of_gap_closed(90.06, 29.00, 18.1), 3)
    0.849
    """
    baseline, achieved, reference = numbers([baseline_cost, achieved_cost, reference_cost], "costs")[:, None, None]
    return finite(float(_closed(baseline, achieved, reference)[0]))


def gap_closed(
    baseline: ArrayLike,
    achieved: ArrayLike,
    reference: ArrayLike,
    *,
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> GapClosed:
    """Return the share of the gap of mean costs that is closed, with a percentile interval over scenarios.

    Each argument holds the costs (n,) of the same scenarios, which are resampled together. No scenarios or no gap: no
    share; one scenario: no interval. Resamples without a gap are left out, and where they are many there is no
    interval. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for costs that are not finite numbers, lengths that differ, a level outside 0 to 1, or no
    draws.
    """
    check_level(level)
    check_draws(draws)
    before, after, best = numbers(baseline, "baseline"), numbers(achieved, "achieved"), numbers(reference, "reference")
    n = same_length(baseline=before, achieved=after, reference=best)
    if n == 0:
        return GapClosed(None, None, None, 0)
    order = np.lexsort((best, after, before))
    columns = (before[order], after[order], best[order])
    share = float(_closed(*(column[None] for column in columns))[0])
    if n < 2 or np.isnan(share):
        return GapClosed(finite(share), None, None, n)
    found = distribution(_closed, columns, draws, stream(seed, "bootstrap", name))
    return GapClosed(share, *percentiles(found, share, level), n)


def paired_regret(costs: Costs, chosen: Sequence[Hashable] | NDArray[np.generic]) -> FloatArray:
    """Return the regret (scenarios,) of ``chosen`` (scenarios,): its cost less the least cost of the same scenario.

    ``chosen`` names a mode of the mapping, or a column. Regret is never negative, in the unit of the costs. A mode that
    may not be chosen carries its penalty in its cost, as in equation 6 of the paper. No scenarios: an empty array.

    Raises ``InputError`` for costs that are not finite numbers, lengths that differ, or a choice that is not among
    them.
    """
    modes, table = _table(costs)
    numbers(table.ravel(), "costs")
    picks = list(chosen)
    if len(picks) != len(table):
        raise InputError(f"lengths differ: costs has {len(table)}, chosen has {len(picks)}")
    column = {name: position for position, name in enumerate(modes)}
    columns = []
    for row, pick in enumerate(picks):
        if str(pick) not in column:
            raise InputError(f"scenario {row} chose {pick!r}, which is not among {', '.join(modes)}")
        columns.append(column[str(pick)])
    regret: FloatArray = table[np.arange(len(table)), columns] - table.min(axis=1) if picks else np.zeros(0)
    return regret


def oracle_shares(costs: Costs, feasible: Costs | None = None, tolerance: float = 1e-9) -> OracleShares:
    """Return how often each mode has the least cost of a scenario among the feasible, with ties split and counted.

    ``feasible`` is shaped like ``costs``, true where the mode may be chosen; by default all may. Costs of others are
    not looked at. Modes tie whose costs are within ``tolerance`` of the least, in the unit of the costs.

    Raises ``InputError`` for feasible costs that are not finite numbers, shapes that differ, and a negative tolerance.
    """
    if not tolerance >= 0:
        raise InputError(f"tolerance must not be negative: {tolerance}")
    modes, table = _table(costs)
    mask = np.ones(table.shape, dtype=bool)
    if feasible is not None:
        names, given = _table(feasible)
        if names != modes or given.shape != table.shape:
            raise InputError("feasible must have the modes and scenarios of the costs")
        mask = given.astype(bool)
    numbers(table[mask], "costs")
    masked = np.where(mask, table, np.inf)
    least = masked.min(axis=1, keepdims=True)
    best = mask & (masked <= least + tolerance)
    count = best.sum(axis=1, keepdims=True)
    split = (best / np.maximum(count, 1)).sum(axis=0)
    return OracleShares(
        modes,
        tuple(split.tolist()),
        tuple(best.sum(axis=0).tolist()),
        int((count > 1).sum()),
        int((count == 0).sum()),
        len(table),
    )


def _closed(baseline: FloatArray, achieved: FloatArray, reference: FloatArray) -> FloatArray:
    """Return the share closed for each row of (m, n) costs, NaN where there is no gap."""
    before, after, best = baseline.mean(axis=1), achieved.mean(axis=1), reference.mean(axis=1)
    shares = np.full(len(before), np.nan)
    rounding = ROUNDING * np.maximum(np.abs(before), np.abs(best))
    np.divide(before - after, before - best, out=shares, where=before - best > rounding)
    return shares


def _table(costs: Costs) -> tuple[tuple[str, ...], FloatArray]:
    """Return the modes' names and the costs (scenarios, modes)."""
    if isinstance(costs, Mapping):
        names = tuple(str(name) for name in costs)
        columns = [np.asarray(column) for column in costs.values()]
        if any(column.ndim != 1 for column in columns) or len({len(column) for column in columns}) != 1:
            raise InputError("costs must have the same scenarios for every mode, and one mode at least")
        table = np.column_stack(columns)
    else:
        table = np.asarray(costs)
        names = tuple(str(column) for column in range(table.shape[-1])) if table.ndim == 2 else ()
    if table.ndim != 2 or not names or table.dtype.kind not in "biuf":
        raise InputError("costs must be numbers (scenarios, modes)")
    return names, table.astype(np.float64)
