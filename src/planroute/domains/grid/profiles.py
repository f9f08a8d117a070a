"""The day: hourly base load, cooling load and photovoltaic generation of the whole feeder, in MW, hours 0 to 23.

The paper prints three figures of the uncontrolled day (hour 17 at 1.644 MW and 0.9344 pu, eight violation hours); the
profiles are the project's own and reproduce all three.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import Network
from planroute.domains.grid.feeder import Feeder

FloatArray = NDArray[np.float64]
HOURS: Final = 24

BASE_MW: Final = (
    0.576, 0.576, 0.5761, 0.5767, 0.5798, 0.5909, 0.6156, 0.6471, 0.6624, 0.6471, 0.6156, 0.5909,
    0.5798, 0.577, 0.5777, 0.5823, 0.5955, 0.6227, 0.6633, 0.7031, 0.72, 0.7031, 0.6633, 0.6227,
)  # fmt: skip
COOLING_MW: Final = (
    0.0, 0.0, 0.0002, 0.0006, 0.002, 0.0056, 0.0146, 0.0347, 0.0751, 0.1482, 0.2667, 0.4379,
    0.6559, 0.8962, 1.1172, 1.2705, 1.318, 1.2533, 1.0956, 0.8806, 0.6508, 0.4422, 0.2762, 0.1587,
)  # fmt: skip
PV_MW: Final = (
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0495, 0.1347, 0.232, 0.3258, 0.403,
    0.4536, 0.4712, 0.4536, 0.403, 0.3258, 0.232, 0.1347, 0.0495, 0.0, 0.0, 0.0, 0.0,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loads:
    """Power of every node over the day, each array (24, nodes) in MW."""

    base: FloatArray
    cooling: FloatArray
    pv: FloatArray

    @property
    def gross(self) -> FloatArray:
        """Consumption, before generation is taken off."""
        return self.base + self.cooling


def day_loads(feeder: Feeder, network: Network, stress: float = 1.0) -> Loads:
    """Spread the day's profiles over the nodes of ``feeder``; ``stress`` multiplies consumption.

    Every node carries an equal share times its lateral's multiplier; laterals beyond the list of multipliers use
    them again from the start. The multipliers are scaled so that the nodes' shares sum to one.
    """
    multipliers = np.asarray(network.lateral_multipliers)
    share = multipliers[feeder.lateral % len(multipliers)]
    share = share / share.sum()
    return Loads(
        base=stress * np.outer(BASE_MW, share), cooling=stress * np.outer(COOLING_MW, share), pv=np.outer(PV_MW, share)
    )
