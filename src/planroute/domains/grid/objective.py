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


def cost(
    head_mw: FloatArray, v_pu: FloatArray, curtailed_mw: FloatArray, cap_mw: float, floor_pu: float, weights: Objective
) -> Cost:
    """Evaluate equation (4) for hourly ``head_mw`` (hours,), ``v_pu`` and ``curtailed_mw`` (hours, nodes)."""
    over = 1000 * float(np.maximum(head_mw - cap_mw, 0.0).sum())
    shortfall = float(np.maximum(floor_pu - v_pu, 0.0).sum())
    curtailed = 1000 * float(curtailed_mw.sum())
    total = (
        weights.overcap_per_kwh * over + weights.shortfall_per_pu * shortfall + weights.curtailed_per_kwh * curtailed
    )
    return Cost(over, shortfall, curtailed, total)


def regret(objective: Mapping[K, float]) -> dict[K, float]:
    """Paired regret of each choice in one scenario: its J less the least J (equation 5)."""
    least = min(objective.values())
    return {key: value - least for key, value in objective.items()}


def oracle(objective: Mapping[K, float], tolerance: float = 1e-9) -> list[K]:
    """The choices with the least J, all of them where they tie within ``tolerance``."""
    least = min(objective.values())
    return [key for key, value in objective.items() if value - least <= tolerance]
