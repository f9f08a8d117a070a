"""Adding up some of many numbers, case by case, with the digits that each case has alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.compiled import compiled

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def sum_where(values: FloatArray, counted: BoolArray) -> FloatArray:
    """Return ``values[case][counted[case]].sum()`` of every case along the last axis, to the last digit.

    NumPy adds in pairs, so zeros in place of what is not counted would move the rounding.
    """
    total = np.empty(values.shape[:-1])
    flat = np.ascontiguousarray(values).reshape(total.size, values.shape[-1])
    _sum_where(flat, np.ascontiguousarray(counted).reshape(flat.shape), total.reshape(-1))
    return total


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
    part = some[:8].copy()
    whole = count - count % 8
    for i in range(8, whole):
        part[i % 8] += some[i]
    total = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]))
    for i in range(whole, count):
        total += some[i]
    return total
