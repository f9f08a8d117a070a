"""What the best of several executions is worth: repetitions of one mode, one execution of each mode, a ranking.

All three are exact: nothing is drawn. A value is a success (0 or 1, or a share: more is better) or a cost (less is
better); ``better`` says which, and everything else is the same. An execution is one independent run under its own seed.

Sources: Planning-as-Routing, appendix I.1 and I.2 (pass@3 over retries of one pattern; the forced-pattern oracle) and
K (TSR@k of ranked fallback); Chen et al. 2021, arXiv:2107.03374, equation 1 (the unbiased estimator of pass@k).
"""

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike

from planroute.errors import InputError
from planroute.statistics.samples import FloatArray, numbers

Better = Literal["more", "less"]
_SIGNS: Final = {"more": 1.0, "less": -1.0}


def expected_best(values: ArrayLike, k: int, better: Better = "more") -> float | None:
    """Return the expected best of ``k`` executions drawn without replacement from one task's ``values`` (n,).

    With x₁ ≤ … ≤ xₙ ordered from worst to best this is Σᵢ C(i−1, k−1) / C(n, k) · xᵢ, which over repetitions is
    unbiased for the expected best of k fresh executions. Of c successes among n it is 1 − C(n−c, k) / C(n, k), pass@k;
    k = 1 is the mean. Fewer than k executions say nothing of k without bias: ``None``.

    Raises ``InputError`` for values that are not finite numbers, k below one, and an unknown ``better``.

    >>> expected_best([1, 0, 0, 1, 0, 0], 3)
    0.8
    >>> round(expected_best([30, 10, 20], 2, better="less"), 3)
    13.333
    """
    side, array = sign(better), numbers(values, "values")
    check_k(k)
    if len(array) < k:
        return None
    return _within(side * float(best_of_repetitions(side * array[None], k)[0]), array)


def expected_best_of(groups: Sequence[ArrayLike], better: Better = "more") -> float | None:
    """Return the expected best over one independent execution of each of ``groups``, each (n_g,), of one task.

    A group holds the executions of one mode, any of which may come up: E[max] = Σ x · (Π F_g(x) − Π F_g(x⁻)) with F_g
    the distribution of the group's values. For success this is 1 − Π (1 − p_g), with p_g the shares of success: the
    oracle that sees how one execution of every mode ends, averaged over which executions they are. No groups, or one
    without executions: ``None``.

    Raises ``InputError`` for values that are not finite numbers and an unknown ``better``.

    >>> expected_best_of([[1, 0], [1, 0, 0, 0]])
    0.625
    """
    side, arrays = sign(better), [numbers(group, "values") for group in groups]
    if not arrays or not all(len(array) for array in arrays):
        return None
    found = side * float(best_of_groups([side * array[None] for array in arrays])[0])
    return _within(found, np.concatenate(arrays))


def fallback(groups: Sequence[ArrayLike], k: int, better: Better = "more") -> float | None:
    """Return the expected best within the first ``k`` of ``groups``, in their ranked order, each (n_g,), of one task.

    For success TSR@k: the chance that one of the k modes ranked first succeeds, each executed once. It adds attempts,
    so what it gains is to be held against ``expected_best`` of one mode at the same k. A mode that is ranked twice is
    executed twice, independently. Fewer than k groups, or one of the k without executions: ``None``.

    Raises ``InputError`` for values that are not finite numbers, k below one, and an unknown ``better``.

    >>> [fallback([[0, 0], [1, 0], [1, 1]], k) for k in (1, 2, 3)]
    [0.0, 0.5, 1.0]
    """
    sign(better)
    check_k(k)
    return expected_best_of(groups[:k], better) if len(groups) >= k else None


def best_of_repetitions(rows: FloatArray, k: int) -> FloatArray:
    """Return the expected largest of ``k`` without replacement of each row of ``rows`` (m, n), n ≥ k: (m,)."""
    n = rows.shape[1]
    weights = np.zeros(n)
    weight = k / n  # of the best; C(i−2, k−1) / C(i−1, k−1) = (i−k) / (i−1) leads to the next
    for i in range(n, k - 1, -1):
        weights[i - 1] = weight
        weight *= (i - k) / (i - 1) if i > 1 else 0.0
    best: FloatArray = np.sort(rows, axis=1) @ weights
    return best


def best_of_groups(groups: Sequence[FloatArray]) -> FloatArray:
    """Return the expected largest over one draw from each group for each row of ``groups``, each (m, n_g): (m,)."""
    pooled = np.concatenate(groups, axis=1)
    order = np.argsort(pooled, axis=1, kind="stable")
    owner = np.repeat(np.arange(len(groups)), [group.shape[1] for group in groups])[order]
    none_above = np.ones(pooled.shape)
    for g, group in enumerate(groups):
        none_above *= np.cumsum(owner == g, axis=1) / group.shape[1]
    steps = np.diff(none_above, axis=1, prepend=0.0)  # among equal values they add up, whatever their order
    best: FloatArray = (np.take_along_axis(pooled, order, axis=1) * steps).sum(axis=1)
    return best


def sign(better: Better) -> float:
    """Return 1 where more is better and −1 where less is; anything else is an ``InputError``."""
    if better not in _SIGNS:
        raise InputError(f"better must be more or less, not {better!r}")
    return _SIGNS[better]


def check_k(k: int) -> None:
    """Raise ``InputError`` for a number of executions that is no whole number from one up."""
    if k != int(k) or k < 1:
        raise InputError(f"k must be a whole number from 1 up, not {k}")


def _within(found: float, values: FloatArray) -> float:
    """Return ``found`` without rounding beyond what occurs."""
    return min(max(found, float(values.min())), float(values.max())) + 0.0
