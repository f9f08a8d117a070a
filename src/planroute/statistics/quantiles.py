"""Quantiles of latency with intervals that assume nothing about its distribution.

Source: cyber-physical paper, section V.B (p50 and p95 of declaration latency: the tail decides feasibility).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from planroute.errors import InputError
from planroute.statistics.result import Result, finite
from planroute.statistics.samples import check_level, numbers


@dataclass(frozen=True, slots=True)
class Quantile(Result):
    """The ``q`` quantile of ``n`` values, in their unit; an end that the sample cannot bound is ``None``."""

    q: float
    value: float | None
    low: float | None
    high: float | None
    n: int
    level: float


def latency_quantiles(
    values: ArrayLike, qs: Sequence[float] = (0.5, 0.95), level: float = 0.95
) -> tuple[Quantile, ...]:
    """Return quantiles of ``values`` (n,), seconds or any other amount that is not negative, with their intervals.

    The value interpolates linearly between neighbours. The interval runs from one order statistic to another, chosen by
    the binomial distribution, and on to the value where that lies outside: it covers at least as often as its level
    says, whatever the distribution. Where no order statistic is high enough the upper end is ``None``: for p95 that is
    so below 72 values. No values: all ``None``.

    Raises ``InputError`` for values that are negative or not finite, for a q that is not strictly between 0 and 1, and
    for a level outside 0 to 1.
    """
    check_level(level)
    array = numbers(values, "values")
    if (array < 0).any():
        raise InputError("latencies must not be negative")
    return tuple(_quantile(np.sort(array), q, level) for q in qs)


def _quantile(values: np.ndarray, q: float, level: float) -> Quantile:
    if not 0 < q < 1:
        raise InputError(f"a quantile must be between 0 and 1, not {q}")
    n = len(values)
    if n == 0:
        return Quantile(q, None, None, None, 0, level)
    from scipy.stats import quantile_test

    found = quantile_test(values, q=float(values[0]), p=q).confidence_interval(level)
    value = float(np.quantile(values, q))
    low, high = finite(found.low), finite(found.high)
    if low is not None:
        low = min(low, value)
    if high is not None:
        high = max(high, value)
    return Quantile(q, value, low, high, n, level)
