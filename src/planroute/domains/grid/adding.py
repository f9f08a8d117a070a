"""Adding up some of many numbers, case by case, with the digits that each case has alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.compiled import compiled

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


def sum_where(values: FloatArray, counted: BoolArray) -> FloatArray:
    """Return ``values[case][counted[case]].sum()`` of every case along the last axis, to the last digit.

    NumPy adds in pairs, so zeros in place of what is not counted would move the rounding.
    """
    total = np.empty(values.shape[:-1])
    flat = np.ascontiguousarray(values).reshape(total.size, values.shape[-1])
    _sum_where(flat, np.ascontiguousarray(counted).reshape(flat.shape), total.reshape(-1))
    return total


def sum_placed(still: FloatArray, moved: FloatArray, hours: Sequence[int]) -> FloatArray:
    """Return the sum over a whole day of every case, to the last digit as ``sum`` of it.

    ``still`` is the day (24, width) or (..., 24, width), of which ``moved`` (..., len(hours), width) takes the place of
    ``hours``. No case's day is put together in memory.
    """
    leading, width = moved.shape[:-2], moved.shape[-1]
    total = np.empty(leading)
    days = np.ascontiguousarray(still).reshape(-1, still.shape[-2], width)
    if len(days) not in (1, total.size):
        days = np.ascontiguousarray(np.broadcast_to(still, (*leading, *still.shape[-2:]))).reshape(-1, *days.shape[1:])
    rows = np.ascontiguousarray(moved).reshape(total.size, len(hours), width)
    _sum_placed(days, rows, np.array(hours, np.int64), total.reshape(-1))
    return total


@compiled
def _sum_placed(days: FloatArray, moved: FloatArray, hours: IntArray, total: FloatArray) -> None:
    whole = days[0].copy()
    for case in range(len(moved)):
        if len(days) > 1:
            whole[:] = days[case]
        for i in range(len(hours)):
            whole[hours[i]] = moved[case, i]
        total[case] = _in_pairs(whole.reshape(-1))


@compiled
def _sum_where(values: FloatArray, counted: BoolArray, total: FloatArray) -> None:
    some = np.empty(values.shape[1])
    for case in range(len(values)):
        count = 0
        for i in range(values.shape[1]):
            some[count] = values[case, i]
            count += counted[case, i]
        total[case] = _in_pairs(some[:count])


@compiled
def _in_pairs(some: FloatArray) -> Any:
    count = len(some)
    if count < 8:
        total = 0.0
        for value in some:
            total += value
        return total
    if count > 128:
        half = count // 2
        half -= half % 8
        return _in_pairs(some[:half]) + _in_pairs(some[half:])
    a, b, c, d, e, f, g, h = some[0], some[1], some[2], some[3], some[4], some[5], some[6], some[7]
    whole = count - count % 8
    for i in range(8, whole, 8):
        a += some[i]
        b += some[i + 1]
        c += some[i + 2]
        d += some[i + 3]
        e += some[i + 4]
        f += some[i + 5]
        g += some[i + 6]
        h += some[i + 7]
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, count):
        total += some[i]
    return total
