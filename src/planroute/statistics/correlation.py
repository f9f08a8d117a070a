"""Correlation of two measures: Pearson's, and Spearman's of their ranks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from planroute.errors import InputError
from planroute.statistics.resampling import DRAWS, distribution, percentiles
from planroute.statistics.result import Result
from planroute.statistics.samples import FloatArray, check_draws, check_level, no_spread, numbers, same_length
from planroute.streams import stream

Method = Literal["pearson", "spearman"]


@dataclass(frozen=True, slots=True)
class Correlation(Result):
    """A correlation from −1 to 1, its interval, and the two-sided p against none."""

    r: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    method: str


def correlation(
    a: ArrayLike,
    b: ArrayLike,
    method: Method = "pearson",
    *,
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Correlation:
    """Return the correlation of ``a`` and ``b``, each (n,), with a percentile interval over resampled pairs.

    p is scipy's: exact for Pearson on normal values, by the t approximation for Spearman. A constant side, or fewer
    than two pairs: all ``None``. Two pairs: r alone, which is then 1 or −1. Resamples in which a side is constant are
    left out, and where they are many (few pairs, or nearly all values equal) there is no interval. It is narrow in
    small samples: 91 % cover at n = 20, 94 % at 60. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for an unknown method, values that are not finite numbers, lengths that differ, a level
    outside 0 to 1, or no draws.
    """
    check_level(level)
    check_draws(draws)
    if method not in ("pearson", "spearman"):
        raise InputError(f"method must be pearson or spearman, not {method!r}")
    first, second = numbers(a, "a"), numbers(b, "b")
    n = same_length(a=first, b=second)
    if n < 2 or no_spread(first) or no_spread(second):
        return Correlation(None, None, None, None, n, method)
    from scipy import stats

    order = np.lexsort((second, first))
    first, second = first[order] / np.abs(first).max(), second[order] / np.abs(second).max()
    over: Callable[..., FloatArray] = _pearson
    if method == "spearman":
        over = _spearman
        first, second = (np.unique(side, return_inverse=True)[1].astype(np.float64) for side in (first, second))
    r = float(over(first[None], second[None])[0])
    if n == 2:
        return Correlation(r, None, None, None, n, method)
    test = stats.pearsonr(first, second) if method == "pearson" else stats.spearmanr(first, second)
    found = distribution(over, (first, second), draws, stream(seed, "bootstrap", name))
    low, high = percentiles(found, r, level)
    return Correlation(r, low, high, float(test.pvalue), n, method)


def _pearson(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the correlation of each row of ``a`` and ``b``, both (m, n); NaN where a row is constant."""
    constant = (np.ptp(a, axis=1) == 0) | (np.ptp(b, axis=1) == 0)
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    norms = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    r = np.full(len(a), np.nan)
    np.divide((a * b).sum(axis=1), norms, out=r, where=~constant & (norms > 0))
    clipped: FloatArray = np.clip(r, -1.0, 1.0)
    return clipped


def _spearman(a: FloatArray, b: FloatArray) -> FloatArray:
    return _pearson(_ranks(a), _ranks(b))


def _ranks(places: FloatArray) -> FloatArray:
    """Return the ranks of each row of ``places`` (m, n), whole numbers from 0 up; equal ones share their mean rank.

    Counting is several times faster here than the sorting of ``scipy.stats.rankdata``.
    """
    m, k = len(places), int(places.max()) + 1
    cells = places.astype(np.int64)
    counts = np.bincount((cells + k * np.arange(m)[:, None]).ravel(), minlength=m * k).reshape(m, k)
    ranks: FloatArray = np.take_along_axis(np.cumsum(counts, axis=1) - (counts - 1) / 2, cells, axis=1)
    return ranks
