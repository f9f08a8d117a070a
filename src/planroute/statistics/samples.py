"""What callers hand in, as arrays: numbers, labels and sizes, each checked once."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planroute.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labels = Sequence[Hashable] | NDArray[np.generic]

LARGEST = 1e100
"""Larger numbers are refused, numbers below its inverse are zero: squares and sums then stay finite."""
ROUNDING = 1e-12
"""A spread below this share of the values' size is rounding, not variation."""


def numbers(values: ArrayLike, what: str) -> FloatArray:
    """Return ``values`` (n,) as floats.

    Raises ``InputError`` where they are no flat sequence of finite numbers up to ``LARGEST`` in size.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what} must be a flat sequence of numbers") from None
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise InputError(f"{what} must be a flat sequence of numbers")
    array = array.astype(np.float64)
    for position in np.flatnonzero(~(np.abs(array) <= LARGEST))[:1]:
        raise InputError(f"{what} must be finite and at most {LARGEST:g} in size: {array[position]} at {position}")
    array[np.abs(array) < 1 / LARGEST] = 0.0
    return array


def outcomes(values: ArrayLike, what: str) -> FloatArray:
    """Return ``values`` (n,) of 0 and 1 (or false and true) as floats; anything else is an ``InputError``."""
    array = numbers(values, what)
    if not np.isin(array, (0.0, 1.0)).all():
        raise InputError(f"{what} must be 0 or 1")
    return array


def labels(values: Labels, what: str) -> tuple[IntArray, tuple[Hashable, ...]]:
    """Return each label's number (n,) and the distinct labels, sorted where they can be.

    Raises ``InputError`` for a label that is missing (``None`` or NaN) or cannot be told apart (not hashable).
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuU":
        found, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), tuple(found.tolist())
    given: list[Hashable] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    for position, label in enumerate(given):
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise InputError(f"{what} must not be missing: {label} at {position}")
    try:
        distinct = set(given)
    except TypeError:
        raise InputError(f"{what} must be names or numbers") from None
    try:
        order = sorted(distinct)  # type: ignore[type-var]
    except TypeError:
        order = sorted(distinct, key=repr)
    number = {label: n for n, label in enumerate(order)}
    return np.array([number[label] for label in given], dtype=np.int64), tuple(order)


def same_length(**columns: FloatArray | IntArray) -> int:
    """Return the length that all ``columns`` have; an ``InputError`` names them where they differ."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InputError("lengths differ: " + ", ".join(f"{name} has {n}" for name, n in lengths.items()))
    return next(iter(lengths.values()))


def no_spread(values: FloatArray, size: float | None = None) -> bool:
    """Whether ``values`` (n,), n > 0, are equal up to rounding at the given size, by default their own."""
    return bool(np.ptp(values) <= ROUNDING * (np.abs(values).max() if size is None else size))


def check_level(level: float) -> None:
    """Raise ``InputError`` for a level of confidence that is not strictly between 0 and 1."""
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, not {level}")


def check_draws(draws: int) -> None:
    """Raise ``InputError`` for fewer than one draw."""
    if draws < 1:
        raise InputError(f"draws must be at least 1, not {draws}")
