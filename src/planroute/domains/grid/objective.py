"""The objective J of equation (4) and paired regret of equation (5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.adding import sum_placed
from planroute.domains.grid.coefficients import Objective

FloatArray = NDArray[np.float64]
K = TypeVar("K")
Number = TypeVar("Number", float, FloatArray)


@dataclass(frozen=True, slots=True)
class Cost:
    """J and its parts over a day. ``voltage_shortfall_pu`` sums over nodes and hours."""

    overcap_kwh: float
    voltage_shortfall_pu: float
    curtailed_kwh: float
    objective: float


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """The same of many days: each array has their leading axes."""

    overcap_kwh: FloatArray
    voltage_shortfall_pu: FloatArray
    curtailed_kwh: FloatArray
    objective: FloatArray


def cost(
    head_mw: FloatArray, v_pu: FloatArray, curtailed_mw: FloatArray, cap_mw: float, floor_pu: float, weights: Objective
) -> Cost:
    """Evaluate equation (4) for hourly ``head_mw`` (hours,), ``v_pu`` and ``curtailed_mw`` (hours, nodes)."""
    over = 1000 * float(np.maximum(head_mw - cap_mw, 0.0).sum())
    shortfall = float(np.maximum(floor_pu - v_pu, 0.0).sum())
    curtailed = 1000 * float(curtailed_mw.sum())
    return Cost(over, shortfall, curtailed, weighed(over, shortfall, curtailed, weights))


def costs(
    still: tuple[FloatArray, FloatArray],
    moved: tuple[FloatArray, FloatArray],
    hours: Sequence[int],
    curtailed_kwh: FloatArray,
    cap_mw: float,
    floor_pu: float,
    weights: Objective,
) -> Costs:
    """Evaluate equation (4) of many days that differ in ``hours`` only; each has the digits of ``cost``.

    ``still`` are the import (..., 24) and the voltages (..., 24, nodes) of a day as it is, ``moved`` those of ``hours``
    in each case.
    """
    over, over_now = (np.maximum(head - cap_mw, 0.0)[..., None] for head in (still[0], moved[0]))
    short, short_now = (np.maximum(floor_pu - v, 0.0) for v in (still[1], moved[1]))
    over, shortfall = 1000 * sum_placed(over, over_now, hours), sum_placed(short, short_now, hours)
    return Costs(over, shortfall, curtailed_kwh, weighed(over, shortfall, curtailed_kwh, weights))


def weighed(overcap_kwh: Number, shortfall_pu: Number, curtailed_kwh: Number, weights: Objective) -> Number:
    """Return J of its parts."""
    return (
        weights.overcap_per_kwh * overcap_kwh
        + weights.shortfall_per_pu * shortfall_pu
        + weights.curtailed_per_kwh * curtailed_kwh
    )


def regret(objective: Mapping[K, float]) -> dict[K, float]:
    """Paired regret of each choice in one scenario: its J less the least J (equation 5)."""
    least = min(objective.values())
    return {key: value - least for key, value in objective.items()}


def oracle(objective: Mapping[K, float], tolerance: float = 1e-9) -> list[K]:
    """The choices with the least J, all of them where they tie within ``tolerance``."""
    least = min(objective.values())
    return [key for key, value in objective.items() if value - least <= tolerance]
