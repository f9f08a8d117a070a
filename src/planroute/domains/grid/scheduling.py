"""Schedules: how a needed reduction becomes requests to prosumers, hour by hour. Explicit code, no language model.

Everything here works on the forecast, as a planner sees it. Arrays are (hours, nodes) in MW unless said otherwise.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import Planning
from planroute.domains.grid.feeder import Feeder
from planroute.domains.grid.policy import TargetRule
from planroute.domains.grid.power_flow import lindistflow
from planroute.domains.grid.profiles import HOURS, Loads
from planroute.streams import stream

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """What the planner expects of the uncontrolled day.

    ``net`` and ``reactive`` are per node (24, nodes), ``flexible`` the flexible load per node, ``head_mw`` (24,) the
    import, ``min_voltage_pu`` (24,) the lowest voltage, ``needed_mw`` (24,) the reduction that removes cap excess and
    voltage shortfall.
    """

    net: FloatArray
    reactive: FloatArray
    gross: FloatArray
    flexible: FloatArray
    voltage_pu: FloatArray
    head_mw: FloatArray
    min_voltage_pu: FloatArray
    needed_mw: FloatArray

    @property
    def campaign(self) -> tuple[int, ...]:
        """The hours in which something must be asked, in order."""
        return tuple(np.flatnonzero(self.needed_mw > 0).tolist())


def forecast_multipliers(seed: int, nodes: int, noise: float, planning: Planning) -> FloatArray:
    """Draw forecast over true cooling load, (24, nodes), from the forecast stream: mean 1, common and own errors.

    The draws do not depend on ``noise``, so a sweep over noise scales one and the same error.
    """
    draw = stream(seed, "forecast")
    common = planning.forecast_common_mode
    error = common * draw.standard_normal((HOURS, 1)) + np.sqrt(1 - common**2) * draw.standard_normal((HOURS, nodes))
    return np.asarray(np.maximum(1 + noise * error, 0.05))


def make_forecast(
    feeder: Feeder,
    loads: Loads,
    flexible_share: FloatArray,
    multipliers: FloatArray,
    *,
    cap_mw: float,
    floor_pu: float,
    reactive_ratio: float,
) -> Forecast:
    """Forecast the uncontrolled day and the reduction that it needs.

    For voltage, the needed reduction is the part of the import that brings the lowest V² back to the floor when all
    loads shrink alike, which LinDistFlow makes exact.
    """
    cooling = loads.cooling * multipliers
    gross = loads.base + cooling
    net = gross - loads.pv
    reactive = gross * reactive_ratio
    flow = lindistflow(feeder, net, reactive)
    lowest = flow.v_pu.min(axis=-1)
    drop = np.maximum(feeder.v_head_pu**2 - lowest**2, 1e-12)
    keep = np.clip((feeder.v_head_pu**2 - floor_pu**2) / drop, 0.0, 1.0)
    needed = np.maximum(flow.head_p_mw - cap_mw, (1 - keep) * np.maximum(flow.head_p_mw, 0.0))
    needed = np.where(needed > 1e-9, needed, 0.0)
    return Forecast(net, reactive, gross, cooling * flexible_share, flow.v_pu, flow.head_p_mw, lowest, needed)


def priority(rule: TargetRule, forecast: Forecast, leverage: FloatArray, compliance: FloatArray) -> FloatArray:
    """Return how early each node is asked, (24, nodes), larger first. ``compliance`` and ``leverage`` are per node."""
    match rule:
        case TargetRule.HIGH_LOAD | TargetRule.UNIFORM:
            return forecast.gross
        case TargetRule.LEVERAGE:
            return np.broadcast_to(leverage, forecast.gross.shape)
        case TargetRule.COMPLIANT:
            return np.broadcast_to(compliance, forecast.gross.shape)


def order_by(key: FloatArray) -> IntArray:
    """Return node indices by descending ``key`` along the last axis; equal keys keep the node order."""
    return np.asarray(np.argsort(-key, axis=-1, kind="stable"))


def fill(order: IntArray, capacity: FloatArray, wanted_mw: FloatArray) -> FloatArray:
    """Ask nodes in ``order``, each for its whole ``capacity``, until ``wanted_mw`` is reached or passed.

    ``order`` and ``capacity`` are (..., nodes), ``wanted_mw`` is (...).
    """
    sorted_capacity = np.take_along_axis(capacity, order, axis=-1)
    before = np.cumsum(sorted_capacity, axis=-1) - sorted_capacity
    asked = np.where(before < wanted_mw[..., None] - 1e-12, sorted_capacity, 0.0)
    requests = np.empty_like(asked)
    np.put_along_axis(requests, order, asked, axis=-1)
    return requests


def schedule(
    rule: TargetRule,
    hours: tuple[int, ...],
    forecast: Forecast,
    intensity: FloatArray | float,
    over_request: float,
    key: FloatArray,
    planning: Planning,
) -> FloatArray:
    """Return the requests of ``hours``, shape (len(hours), nodes).

    ``intensity`` (a number or per node) times forecast flexible load is the most that a node is asked; ``key``
    (24, nodes) says who comes first. UNIFORM asks all nodes for the same part of their capacity instead.
    """
    rows = list(hours)
    capacity = forecast.flexible[rows] * intensity
    wanted = forecast.needed_mw[rows] * over_request
    if rule == TargetRule.UNIFORM:
        part = np.minimum(wanted / np.maximum(capacity.sum(axis=-1), 1e-12), 1.0)
        requests = capacity * part[:, None]
    else:
        requests = fill(order_by(key[rows]), capacity, wanted)
    return np.where(requests * 1000 >= planning.least_request_kw, requests, 0.0)
