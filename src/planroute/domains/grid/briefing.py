"""The compact state that a planner sees: the payload of natural declaration in Table I, and the same as features."""

import numpy as np

from planroute.domains.grid.day import Day
from planroute.domains.grid.profiles import HOURS
from planroute.protocols import State


def state(
    day: Day, hour: int, remaining: tuple[int, ...], lowest_voltage: float | None, compliance: float | None
) -> State:
    """Describe ``hour`` with ``remaining`` hours of the campaign still to come.

    Stress is the hour's needed reduction over the cap; burden the remaining needed energy over remaining flexible
    energy; volatility the relative spread of the import over the remaining hours; spatial spread the relative range of
    lateral voltage drops. All are cut to [0, 1]. Definitions are the project's own; the paper names the quantities.
    """
    forecast, factors = day.forecast, day.scenario.factors
    hours = list(remaining) or [hour]
    head = forecast.head_mw[hours]
    feeder = day.scenario.feeder
    drops = np.array(
        [feeder.v_head_pu - forecast.voltage_pu[hour][feeder.lateral == i].min() for i in range(len(feeder.laterals))]
    )
    flexible = float(forecast.flexible[hours].sum())
    features = {
        "stress": float(forecast.needed_mw[hour]) / factors.import_cap_mw,
        "burden": float(forecast.needed_mw[hours].sum()) / flexible if flexible > 0 else 0.0,
        "horizon": len(remaining) / HOURS,
        "volatility": float(head.std() / head.mean()) if head.mean() > 0 else 0.0,
        "spread": float((drops.max() - drops.min()) / drops.max()) if drops.max() > 0 else 0.0,
        "compliance": 0.5 if compliance is None else compliance,
    }
    features = {name: min(max(value, 0.0), 1.0) for name, value in features.items()}
    summary = {
        "hour": hour,
        "stress": round(features["stress"], 3),
        "burden": round(features["burden"], 3),
        "remaining_hours": len(remaining),
        "volatility": round(features["volatility"], 3),
        "spatial_spread": round(features["spread"], 3),
        "import_cap_mw": factors.import_cap_mw,
        "forecast_import_mw": round(float(forecast.head_mw[hour]), 3),
        "previous_min_voltage_pu": None if lowest_voltage is None else round(lowest_voltage, 4),
        "recent_compliance": None if compliance is None else round(compliance, 3),
    }
    return State(hour, summary, features)
