"""The objective J of equation (4) and paired regret of equation (5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import Objective

FloatArray = NDArray[np.float64]
K = TypeVar("K")


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
    found = costs(head_mw, v_pu, np.asarray(curtailed_mw).ravel(), cap_mw, floor_pu, weights)
    parts = (found.overcap_kwh, found.voltage_shortfall_pu, found.curtailed_kwh, found.objective)
    return Cost(*(float(part) for part in parts))


def costs(
    head_mw: FloatArray, v_pu: FloatArray, curtailed_mw: FloatArray, cap_mw: float, floor_pu: float, weights: Objective
) -> Costs:
    """Evaluate equation (4) of many days: ``head_mw`` (..., hours), ``v_pu`` (..., hours, nodes).

    ``curtailed_mw`` is summed over its last axis. A day alone and the same day among others give the same digits.
    """
    short = np.maximum(floor_pu - v_pu, 0.0)
    over = 1000 * np.maximum(head_mw - cap_mw, 0.0).sum(axis=-1)
    shortfall = short.reshape(*short.shape[:-2], -1).sum(axis=-1)
    curtailed = 1000 * curtailed_mw.sum(axis=-1)
    total = (
        weights.overcap_per_kwh * over + weights.shortfall_per_pu * shortfall + weights.curtailed_per_kwh * curtailed
    )
    return Costs(over, shortfall, curtailed, total)


def regret(objective: Mapping[K, float]) -> dict[K, float]:
    """Paired regret of each choice in one scenario: its J less the least J (equation 5)."""
    least = min(objective.values())
    return {key: value - least for key, value in objective.items()}


def oracle(objective: Mapping[K, float], tolerance: float = 1e-9) -> list[K]:
    """The choices with the least J, all of them where they tie within ``tolerance``."""
    least = min(objective.values())
    return [key for key, value in objective.items() if value - least <= tolerance]
