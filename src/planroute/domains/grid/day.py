"""What one scenario and seed fix before anyone plans: loads, people, latent draws, and the forecast.

All conditions of a comparison share one ``Day``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.adding import sum_placed
from planroute.domains.grid.objective import Costs, costs
from planroute.domains.grid.power_flow import ac_power_flow, lindistflow
from planroute.domains.grid.profiles import HOURS, Loads, day_loads
from planroute.domains.grid.prosumers import LatentDraws, Population, latent_draws, population
from planroute.domains.grid.scenario import Scenario, voltage_leverage
from planroute.domains.grid.scheduling import Forecast, forecast_multipliers, make_forecast

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Day:
    """A scenario under one seed. ``truth`` is the forecast without noise; ``flexible`` is (24, nodes) in MW.

    Under many seeds ``seed`` is an array, which people, draws and forecast have as their leading axis; what is true of
    every seed has none.
    """

    scenario: Scenario
    seed: int | NDArray[np.int64]
    loads: Loads
    people: Population
    draws: LatentDraws
    forecast: Forecast
    truth: Forecast
    leverage: FloatArray
    reactive_ratio: float

    @property
    def flexible(self) -> FloatArray:
        """True flexible load per node."""
        return self.truth.flexible


@lru_cache(maxsize=4096)
def make_day(scenario: Scenario, seed: int) -> Day:
    """Draw the day of ``scenario`` under ``seed``."""
    feeder, factors, coefficients = scenario.feeder, scenario.factors, scenario.coefficients
    return assemble(
        scenario,
        seed,
        population(seed, feeder.n, factors.mean_resistance, coefficients.response),
        latent_draws(seed, feeder.n, coefficients.response),
        forecast_multipliers(seed, feeder.n, factors.forecast_noise, coefficients.planning),
    )


def assemble(
    scenario: Scenario,
    seed: int | NDArray[np.int64],
    people: Population,
    draws: LatentDraws,
    multipliers: FloatArray,
) -> Day:
    """Put a day together from what was drawn; ``multipliers`` (..., 24, nodes) are forecast over true cooling load."""
    feeder, factors, coefficients = scenario.feeder, scenario.factors, scenario.coefficients
    loads = day_loads(feeder, coefficients.network, factors.stress)
    ratio = float(np.tan(np.arccos(coefficients.network.power_factor)))
    limits: dict[str, Any] = {
        "cap_mw": factors.import_cap_mw,
        "floor_pu": factors.voltage_floor_pu,
        "reactive_ratio": ratio,
    }
    return Day(
        scenario=scenario,
        seed=seed,
        loads=loads,
        people=people,
        draws=draws,
        forecast=make_forecast(feeder, loads, people.flexible_share, multipliers, **limits),
        truth=make_forecast(feeder, loads, people.flexible_share, np.ones_like(loads.cooling), **limits),
        leverage=voltage_leverage(feeder),
        reactive_ratio=ratio,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Settlement:
    """What the two referees say of some hours: imports (..., hours) in MW and voltages (..., hours, nodes) in pu."""

    head_mw: FloatArray
    v_pu: FloatArray
    head_ac_mw: FloatArray
    v_ac_pu: FloatArray


def settle(day: Day, hours: slice | list[int], curtailed_mw: FloatArray) -> Settlement:
    """Solve ``hours`` with ``curtailed_mw`` (..., hours, nodes) taken off, by LinDistFlow and by full AC power flow.

    A curtailed MW takes its own reactive power along. Where AC does not converge its figures are NaN.
    """
    gross = day.loads.gross[hours] - curtailed_mw
    net, reactive = gross - day.loads.pv[hours], gross * day.reactive_ratio
    linear = lindistflow(day.scenario.feeder, net, reactive)
    full = ac_power_flow(day.scenario.feeder, net, reactive)
    return Settlement(linear.head_p_mw, linear.v_pu, full.head_p_mw, full.v_pu)


def predict(day: Day, hours: Sequence[int], requests: FloatArray) -> Costs:
    """Predict J of ``requests`` (..., len(hours), nodes) by power flow of the forecast: what a planner can know."""
    scenario, forecast, rows = day.scenario, day.forecast, list(hours)
    expected = requests * scenario.coefficients.planning.expected_realisation
    net, reactive = forecast.net[..., rows, :], forecast.reactive[..., rows, :]
    flow = lindistflow(scenario.feeder, net - expected, reactive - expected * day.reactive_ratio)
    curtailed = 1000 * sum_placed(np.zeros_like(day.flexible), expected, rows)
    factors, weights = scenario.factors, scenario.coefficients.objective
    still, moved = (forecast.head_mw, forecast.voltage_pu), (flow.head_p_mw, flow.v_pu)
    return costs(still, moved, rows, curtailed, factors.import_cap_mw, factors.voltage_floor_pu, weights)


def uncontrolled(scenario: Scenario) -> list[dict[str, Any]]:
    """Return the uncontrolled day hour by hour: import, lowest voltage, and whether a limit is violated.

    Figures of the AC referee are ``None`` where it does not converge.
    """
    day = make_day(scenario, seed=0)
    nothing = np.zeros((HOURS, scenario.feeder.n))
    result = settle(day, slice(0, HOURS), nothing)
    cap, floor = scenario.factors.import_cap_mw, scenario.factors.voltage_floor_pu
    rows = []
    for hour in range(HOURS):
        head, lowest = float(result.head_mw[hour]), float(result.v_pu[hour].min())
        rows.append(
            {
                "hour": hour,
                "import_mw": head,
                "min_voltage_pu": lowest,
                "violation": head > cap or lowest < floor,
                "import_ac_mw": _known(result.head_ac_mw[hour]),
                "min_voltage_ac_pu": _known(result.v_ac_pu[hour].min()),
            }
        )
    return rows


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
