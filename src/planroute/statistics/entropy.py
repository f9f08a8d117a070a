"""How evenly declarations spread over the modes: entropy as a share of its largest value.

Source: cyber-physical paper, section V.A and V.B (normalised entropy H of declarations over four modes).
"""

from dataclasses import dataclass

import numpy as np

from planroute.errors import InputError
from planroute.statistics.resampling import DRAWS, bias_corrected, resampled_counts
from planroute.statistics.result import Result
from planroute.statistics.samples import FloatArray, Labels, check_draws, check_level, labels, same_length
from planroute.streams import stream


@dataclass(frozen=True, slots=True)
class Entropy(Result):
    """H / ln k, from 0 (one category) to 1 (all ``k`` equally often), over ``n`` rows, with its interval."""

    h: float | None
    low: float | None
    high: float | None
    n: int
    k: int


def normalised_entropy(
    categories: Labels,
    k: int,
    *,
    name: str,
    clusters: Labels | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Entropy:
    """Return the entropy of ``categories`` (n,) over ``k`` possible ones, with a bias-corrected bootstrap interval.

    The estimate is biased downwards by about (k − 1) / (2 n ln k), and its resamples once more, which the interval
    corrects for. With four modes 85 to 93 % of 95 % intervals cover at n = 60, and about 95 % at 400. A truth within a
    bias of 1 is covered rarely, and 1 itself almost never: the estimate and all its resamples lie below. With
    ``clusters`` (n,), for declarations repeated on one state, whole clusters are resampled. No rows: all ``None``;
    fewer than two rows or clusters: no interval. One category throughout: 0 with an interval without width, which says
    nothing of what a longer run would show. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for k below two or below the number of categories seen, labels that are missing, lengths that
    differ, a level outside 0 to 1, or no draws.
    """
    check_level(level)
    check_draws(draws)
    cells, seen = labels(categories, "categories")
    if k < 2 or len(seen) > k:
        raise InputError(f"k must be at least 2 and at least the {len(seen)} categories seen, not {k}")
    codes, n = None, len(cells)
    if clusters is not None:
        codes, _ = labels(clusters, "clusters")
        same_length(categories=cells, clusters=codes)
    if n == 0:
        return Entropy(None, None, None, 0, k)
    h = float(_entropy(np.bincount(cells)[None].astype(np.float64), k)[0])
    if n < 2 or (codes is not None and codes.max() < 1):
        return Entropy(h, None, None, n, k)
    counts = resampled_counts(cells, len(seen), codes, draws, stream(seed, "bootstrap", name))
    low, high = bias_corrected(_entropy(counts, k), h, level)
    return Entropy(h, low, high, n, k)


def _entropy(counts: FloatArray, k: int) -> FloatArray:
    """Return the normalised entropy of each row of ``counts`` (m, categories)."""
    from scipy.special import entr

    shares = counts / counts.sum(axis=1, keepdims=True)
    h: FloatArray = np.clip(entr(shares).sum(axis=1) / np.log(k), 0.0, 1.0) + 0.0
    return h
