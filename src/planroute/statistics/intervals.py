"""Confidence intervals of one sample: Student t, Wilson, and percentile bootstraps of rows or of whole clusters.

Sources: cyber-physical paper, section V (Student-t intervals over seeds; bootstrap intervals); Planning-as-Routing,
section 4 (seeds nested in tasks).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from planroute.errors import InputError
from planroute.statistics.resampling import DRAWS, distribution, percentiles
from planroute.statistics.result import Result, finite
from planroute.statistics.samples import FloatArray, Labels, check_draws, check_level, labels, numbers, same_length
from planroute.streams import stream

Statistic = Literal["mean", "median"] | Callable[[FloatArray], float]


@dataclass(frozen=True, slots=True)
class Interval(Result):
    """An estimate with its interval, in the values' unit.

    ``mean`` is the mean (of zeros and ones the share), or the statistic that was asked for; ``None`` without rows.
    ``low`` and ``high`` are ``None`` where rows are too few. ``n`` counts rows, ``level`` is the nominal coverage.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    level: float


@dataclass(frozen=True, slots=True)
class ClusterInterval(Interval):
    """An interval that resamples ``clusters`` clusters of the ``n`` rows."""

    clusters: int


def t_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean of ``values`` (n,) with its Student t interval.

    Exact for normal values at any n from two. One value: no interval. Equal values: an interval without width, which
    says that the sample has no spread and not that there is none.

    Raises ``InputError`` for values that are not finite numbers and for a level outside 0 to 1.
    """
    check_level(level)
    array = numbers(values, "values")
    n = len(array)
    if n < 2:
        return Interval(float(array[0]) if n else None, None, None, n, level)
    from scipy.stats import t

    mean = float(array.mean())
    half = float(t.ppf((1 + level) / 2, n - 1) * array.std(ddof=1) / np.sqrt(n))
    return Interval(mean, mean - half, mean + half, n, level)


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Return the share ``successes`` / ``n`` with its Wilson score interval, without continuity correction.

    Good from small n on, and never without width: at 0 of n its upper end is about 3.8 / (n + 3.8). No trials: all
    ``None``.

    Raises ``InputError`` for counts that are not whole numbers with 0 <= successes <= n, and for a level outside 0 to
    1.
    """
    check_level(level)
    if not (0 <= successes <= n < np.inf and successes == int(successes) and n == int(n)):
        raise InputError(f"{successes} of {n} is no number of successes")
    if n == 0:
        return Interval(None, None, None, 0, level)
    from scipy.stats import binomtest

    found = binomtest(int(successes), int(n)).proportion_ci(level, method="wilson")
    return Interval(successes / n, float(found.low), float(found.high), int(n), level)


def bootstrap_interval(
    values: ArrayLike,
    statistic: Statistic = "mean",
    *,
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Interval:
    """Return a statistic of ``values`` (n,) with its percentile bootstrap interval.

    ``statistic`` is a name or any function from an array (n,) to a number, NaN where it is undefined; order of values
    must not matter to it. One value: no interval. Equal values: an interval without width. Narrow in small samples: see
    the package. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for values that are not finite numbers, an unknown statistic, a level outside 0 to 1, or no
    draws.
    """
    check_level(level)
    check_draws(draws)
    array = np.sort(numbers(values, "values"))
    over = _over_resamples(statistic)
    n = len(array)
    if n == 0:
        return Interval(None, None, None, 0, level)
    estimate = float(over(array[None])[0])
    if n < 2:
        return Interval(finite(estimate), None, None, n, level)
    found = distribution(over, (array,), draws, stream(seed, "bootstrap", name))
    return Interval(finite(estimate), *percentiles(found, estimate, level), n, level)


def cluster_bootstrap(
    values: ArrayLike, clusters: Labels, *, name: str, seed: int = 0, draws: int = DRAWS, level: float = 0.95
) -> ClusterInterval:
    """Return the mean of all ``values`` (n,) with the percentile interval that resamples whole ``clusters`` (n,).

    For seeds nested in tasks the clusters are the tasks: a task that is drawn brings all its rows, and rows weigh the
    same. Fewer than two clusters: no interval. What matters is the number of clusters, not of rows: of 95 % intervals
    about 91 % cover with 10 clusters, 93 % with 30. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for values that are not finite numbers, clusters that are missing, lengths that differ, a
    level outside 0 to 1, or no draws.
    """
    check_level(level)
    check_draws(draws)
    array = numbers(values, "values")
    codes, names = labels(clusters, "clusters")
    n, k = same_length(values=array, clusters=codes), len(names)
    if n == 0:
        return ClusterInterval(None, None, None, 0, level, 0)
    order = np.lexsort((array, codes))
    sums = np.bincount(codes[order], weights=array[order]).astype(np.float64)
    sizes = np.bincount(codes).astype(np.float64)
    estimate = float(sums.sum() / n)
    if k < 2:
        return ClusterInterval(estimate, None, None, n, level, k)
    found = distribution(_ratio, (sums, sizes), draws, stream(seed, "bootstrap", name))
    return ClusterInterval(estimate, *percentiles(found, estimate, level), n, level, k)


def _ratio(sums: FloatArray, sizes: FloatArray) -> FloatArray:
    ratio: FloatArray = sums.sum(axis=1) / sizes.sum(axis=1)
    return ratio


def _over_resamples(statistic: Statistic) -> Callable[[FloatArray], FloatArray]:
    """Return ``statistic`` as a function from (resamples, n) to (resamples,)."""
    if callable(statistic):
        return lambda rows: np.array([float(statistic(row)) for row in rows])
    if statistic == "mean":
        return lambda rows: rows.mean(axis=1)
    if statistic == "median":
        return lambda rows: np.asarray(np.median(rows, axis=1), dtype=np.float64)
    raise InputError(f"statistic must be mean, median or a function, not {statistic!r}")
