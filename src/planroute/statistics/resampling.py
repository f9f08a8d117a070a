"""Resampling rows and clusters, and the percentiles of what comes of it.

The resamples of ``distribution`` are those of ``scipy.stats.bootstrap`` under the same generator. They are drawn here
because scipy has no interval where a statistic is undefined in a few resamples, cannot keep clusters together, and
takes seconds to import.
"""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from numpy.random import Generator

from planroute.statistics.result import finite
from planroute.statistics.samples import FloatArray, IntArray

DRAWS: Final = 5000
"""Resamples unless told otherwise. Source: cyber-physical paper, section IV (5000 paired scenario-level draws)."""
MOST_UNDEFINED: Final = 0.05
"""An interval is given as long as no more than this share of resamples leaves the statistic undefined."""
_AT_ONCE: Final = 2_000_000  # picks held in memory at a time


def batches(draws: int, n: int) -> Iterator[int]:
    """Yield how many draws of ``n`` to make at a time, ``draws`` in all, so that memory stays small."""
    most = max(1, _AT_ONCE // n)
    for start in range(0, draws, most):
        yield min(most, draws - start)


def distribution(
    statistic: Callable[..., FloatArray], columns: tuple[FloatArray, ...], draws: int, rng: Generator
) -> FloatArray:
    """Return ``statistic`` on ``draws`` resamples of the rows of ``columns``, each (n,), n > 0; rows stay together.

    ``statistic`` takes as many arrays (resamples, n) and returns (resamples,), NaN where it is undefined.
    """
    n = len(columns[0])
    found = []
    for rows in batches(draws, n):
        picks = rng.integers(n, size=(rows, n))
        found.append(statistic(*(column[picks] for column in columns)))
    return np.concatenate(found)


def resampled_counts(
    cells: IntArray, cell_count: int, clusters: IntArray | None, draws: int, rng: Generator
) -> FloatArray:
    """Return how often each cell occurs in resamples of the rows ``cells`` (n,): (draws, cell_count).

    With ``clusters`` (n,), numbered from 0, whole clusters are resampled.
    """
    if clusters is None:
        shares = np.bincount(cells, minlength=cell_count) / len(cells)
        return rng.multinomial(len(cells), shares, size=draws).astype(np.float64)
    k = int(clusters.max()) + 1
    counts = np.zeros((k, cell_count))
    np.add.at(counts, (clusters, cells), 1.0)
    found = []
    for rows in batches(draws, k):
        picks = rng.integers(k, size=(rows, k)) + k * np.arange(rows)[:, None]
        found.append(np.bincount(picks.ravel(), minlength=rows * k).reshape(rows, k) @ counts)
    return np.concatenate(found)


def percentiles(found: FloatArray, estimate: float, level: float) -> tuple[float | None, float | None]:
    """Return the percentile interval of resampled values ``found`` (draws,), widened where it misses ``estimate``.

    Statistics with a bound or a bias, such as an entropy near 1, can lie beyond all of their resamples. Undefined (NaN)
    resamples are left out; where they are more than ``MOST_UNDEFINED``, or the estimate is undefined, there is none.
    """
    defined = found[np.isfinite(found)]
    if not np.isfinite(estimate) or len(defined) < (1 - MOST_UNDEFINED) * len(found):
        return None, None
    return _ends(defined, estimate, _tails(level))


def bias_corrected(found: FloatArray, estimate: float, level: float) -> tuple[float | None, float | None]:
    """Return Efron's bias-corrected percentile interval; widened, and ``None``, where ``percentiles`` is.

    For statistics whose resamples lie to one side of the estimate, as the estimate does of the truth. Resamples equal
    to the estimate count half on either side.
    """
    defined = found[np.isfinite(found)]
    if not np.isfinite(estimate) or len(defined) < (1 - MOST_UNDEFINED) * len(found):
        return None, None
    from scipy.special import ndtr, ndtri

    below, same = (defined < estimate - 1e-9).sum(), (np.abs(defined - estimate) <= 1e-9).sum()
    shift = 2 * ndtri((below + same / 2 + 0.5) / (len(defined) + 1))
    return _ends(defined, estimate, ndtr(shift + ndtri(_tails(level))))


def _tails(level: float) -> FloatArray:
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _ends(found: FloatArray, estimate: float, shares: FloatArray) -> tuple[float | None, float | None]:
    low, high = np.quantile(found, shares)
    return finite(min(low, estimate)), finite(max(high, estimate))
