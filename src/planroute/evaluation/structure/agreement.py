"""Reference agreement: how far two labellings of the same items agree beyond chance.

Cohen's kappa, by scikit-learn, with a percentile bootstrap over clusters: units of one trajectory are not independent,
so whole trajectories are drawn again.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planroute.errors import InputError
from planroute.streams import stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Pair = tuple[Hashable, Hashable]
RESAMPLES = 2000
SEED = 7


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two labellings: items, clusters, raw share, kappa with its interval, and each label's share.

    ``kappa`` is ``None`` where chance alone would give full agreement: both used one and the same label throughout.
    The interval is left out with fewer than two clusters.
    """

    items: int
    clusters: int
    raw: float
    kappa: float | None
    low: float | None
    high: float | None
    prevalence: Mapping[str, tuple[float, float]]


def kappa(pairs: Sequence[Pair]) -> float | None:
    """Cohen's kappa, unweighted. ``None`` where it is not defined: without pairs, or with one label throughout."""
    from sklearn.metrics import cohen_kappa_score

    codes = {label: code for code, label in enumerate(dict.fromkeys(label for pair in pairs for label in pair))}
    if len(codes) < 2:
        return None
    first, second = ([codes[pair[side]] for pair in pairs] for side in (0, 1))
    return float(cohen_kappa_score(first, second))


def agreement(clusters: Sequence[Sequence[Pair]], *, resamples: int = RESAMPLES, seed: int = SEED) -> Agreement:
    """Compare two labellings, given as pairs within clusters. Raises ``InputError`` where there is no pair.

    The draws come from the stream "bootstrap", "agreement" under ``seed``. Those in which kappa is not defined are left
    out of the interval.
    """
    import numpy as np

    pairs = [pair for cluster in clusters for pair in cluster]
    if not pairs:
        raise InputError("no item has both labels: there is nothing to compare")
    draws = _redrawn(clusters, resamples if len(clusters) > 1 else 0, seed)
    low, high = (float(v) for v in np.percentile(draws, [2.5, 97.5])) if len(draws) else (None, None)
    labels = sorted({str(label) for pair in pairs for label in pair})
    shares = {
        label: tuple(sum(str(pair[side]) == label for pair in pairs) / len(pairs) for side in (0, 1))
        for label in labels
    }
    raw = sum(one == two for one, two in pairs) / len(pairs)
    prevalence = {label: (share[0], share[1]) for label, share in shares.items()}
    return Agreement(len(pairs), len(clusters), raw, kappa(pairs), low, high, prevalence)


def _redrawn(clusters: Sequence[Sequence[Pair]], resamples: int, seed: int) -> "NDArray[np.float64]":
    """Return kappa of each resample of the clusters where it is defined: from tables, as calling for each is slow."""
    import numpy as np

    codes = {label: code for code, label in enumerate(dict.fromkeys(x for c in clusters for pair in c for x in pair))}
    tables = np.zeros((len(clusters), len(codes), len(codes)))
    for number, cluster in enumerate(clusters):
        for one, two in cluster:
            tables[number, codes[one], codes[two]] += 1
    rng = stream(seed, "bootstrap", "agreement")
    times = np.zeros((resamples, len(clusters)))
    for row in times:
        row += np.bincount(rng.integers(0, len(clusters), len(clusters)), minlength=len(clusters))
    counts = np.tensordot(times, tables, 1)
    first, second, n = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    apart = n - np.trace(counts, axis1=1, axis2=2)
    by_chance = n * n - (first * second).sum(axis=1)
    defined = by_chance > 0
    kappas: NDArray[np.float64] = 1 - apart[defined] * n[defined] / by_chance[defined]
    return kappas
