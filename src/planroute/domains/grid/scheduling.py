"""Schedules: how a needed reduction becomes requests to prosumers, hour by hour. Explicit code, no language model.

Everything here works on the forecast, as a planner sees it. Arrays are (hours, nodes) in MW unless said otherwise;
leading axes, where given, are independent cases.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.adding import sum_where
from planroute.domains.grid.coefficients import Planning
from planroute.domains.grid.compiled import compiled
from planroute.domains.grid.feeder import Feeder
from planroute.domains.grid.policy import TargetRule
from planroute.domains.grid.power_flow import lindistflow
from planroute.domains.grid.profiles import HOURS, Loads
from planroute.streams import stream

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
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
    return multipliers(*forecast_draws(seed, nodes), noise, planning)


def forecast_draws(seed: int, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Draw what lies behind the forecast's errors, standard normal: common to all nodes (24, 1), and (24, nodes)."""
    draw = stream(seed, "forecast")
    return draw.standard_normal((HOURS, 1)), draw.standard_normal((HOURS, nodes))


def multipliers(shared: FloatArray, own: FloatArray, noise: float, planning: Planning) -> FloatArray:
    """Forecast over true cooling load from standard normal draws: ``shared`` (..., 24, 1), ``own`` (..., 24, nodes)."""
    common = planning.forecast_common_mode
    error = common * shared + np.sqrt(1 - common**2) * own
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
    """Return how early each node is asked, (..., 24, nodes), larger first.

    ``leverage`` is (nodes,), ``compliance`` is (..., nodes).
    """
    match rule:
        case TargetRule.HIGH_LOAD | TargetRule.UNIFORM:
            return forecast.gross
        case TargetRule.LEVERAGE:
            return np.broadcast_to(leverage, forecast.gross.shape)
        case TargetRule.COMPLIANT:
            return np.broadcast_to(compliance[..., None, :], forecast.gross.shape)


def order_key(
    rule: TargetRule, forecast: Forecast, leverage: FloatArray, compliance: FloatArray, planning: Planning
) -> FloatArray:
    """Return the key by which schedules ask, as ``priority``; in the leverage order flexible load counts a little."""
    key = priority(rule, forecast, leverage, compliance)
    if rule is TargetRule.LEVERAGE:
        most = np.maximum(forecast.flexible.max(axis=-1, keepdims=True), 1e-12)
        key = key + planning.leverage_flex_weight * forecast.flexible / most
    return key


def order_by(key: FloatArray) -> IntArray:
    """Return node indices by descending ``key`` along the last axis; equal keys keep the node order."""
    return np.asarray(np.argsort(-key, axis=-1, kind="stable"))


def fill(order: IntArray, capacity: FloatArray, wanted_mw: FloatArray) -> FloatArray:
    """Ask nodes in ``order``, each for its whole ``capacity``, until ``wanted_mw`` is reached or passed.

    ``order`` and ``capacity`` are (..., nodes), ``wanted_mw`` is (...).
    """
    nodes = capacity.shape[-1]
    requests = np.empty(capacity.shape)
    wanted = np.ascontiguousarray(np.broadcast_to(wanted_mw, capacity.shape[:-1])).reshape(-1)
    orders = np.ascontiguousarray(np.broadcast_to(order, capacity.shape)).reshape(-1, nodes)
    _fill(orders, np.ascontiguousarray(capacity).reshape(-1, nodes), wanted, requests.reshape(-1, nodes))
    return requests


@compiled
def _fill(order: IntArray, capacity: FloatArray, wanted_mw: FloatArray, requests: FloatArray) -> None:
    cases, nodes = order.shape
    for case in range(cases):
        total = 0.0
        for k in range(nodes):
            node = order[case, k]
            total += capacity[case, node]
            before = total - capacity[case, node]
            requests[case, node] = capacity[case, node] if before < wanted_mw[case] - 1e-12 else 0.0


def schedule(
    rule: TargetRule,
    hours: Sequence[int],
    forecast: Forecast,
    intensity: FloatArray | float,
    over_request: float,
    key: FloatArray,
    planning: Planning,
    order: IntArray | None = None,
) -> FloatArray:
    """Return the requests of ``hours``, shape (..., len(hours), nodes).

    ``intensity`` (a number or per node) times forecast flexible load is the most that a node is asked; ``key``
    (..., 24, nodes) says who comes first. UNIFORM asks all nodes for the same part of their capacity instead.
    ``order`` is that of ``key`` in ``hours`` where it is known already.
    """
    rows = list(hours)
    per_hour = intensity[..., None, :] if isinstance(intensity, np.ndarray) else intensity
    capacity = forecast.flexible[..., rows, :] * per_hour
    wanted = forecast.needed_mw[..., rows] * over_request
    if rule == TargetRule.UNIFORM:
        part = np.minimum(wanted / np.maximum(capacity.sum(axis=-1), 1e-12), 1.0)
        requests = capacity * part[..., None]
    else:
        requests = fill(order_by(key[..., rows, :]) if order is None else order, capacity, wanted)
    return np.where(requests * 1000 >= planning.least_request_kw, requests, 0.0)


def revised_intensity(
    intensity: float, rate: FloatArray, share: FloatArray | float | None, planning: Planning
) -> FloatArray:
    """Return the intensity per node (..., nodes) that follows what was observed.

    ``rate`` is each prosumer's observed compliance, ``share`` (...) the last hour's realised share, ``None`` or NaN
    where nothing was asked.
    """
    known = planning.realisation_target if share is None else share
    known = np.where(np.isnan(known), planning.realisation_target, known)
    feedback = np.clip((planning.realisation_target - known) / planning.expected_realisation, -1.0, 1.0)
    common = intensity * (1 + planning.realisation_gain * feedback)
    own = 1 + planning.compliance_gain * (rate - rate.mean(axis=-1, keepdims=True))
    return np.asarray(np.clip(np.asarray(common)[..., None] * own, 0.0, 1.0))


def churn(before: FloatArray, after: FloatArray, dispatched: BoolArray | None = None) -> FloatArray:
    """Changed over total requested power of two schedules (..., hours, nodes), 0 where neither asks for anything.

    ``dispatched`` (..., hours) says which hours belong to the schedules, where not all do.
    """
    whole = (*before.shape[:-2], before.shape[-2] * before.shape[-1])
    counted = np.ones(before.shape, np.bool_)
    if dispatched is not None:
        counted &= dispatched[..., None]
    total, changed = (
        sum_where(power.reshape(whole), counted.reshape(whole)) for power in (before + after, np.abs(after - before))
    )
    return np.asarray(np.divide(changed, total, out=np.zeros_like(total), where=total > 0))


def alternatives(declared: TargetRule, intensity: float, planning: Planning) -> list[tuple[TargetRule, float, float]]:
    """Return target rule, intensity and over-request of each schedule that can be proposed, the declared one first."""
    other = TargetRule.LEVERAGE if declared is not TargetRule.LEVERAGE else TargetRule.HIGH_LOAD
    settings = zip(planning.proposal_intensities, planning.proposal_over_requests, strict=True)
    return [
        (declared if index < 2 else other, min(intensity * proposed / planning.intensity, 1.0), over_request)
        for index, (proposed, over_request) in enumerate(settings)
    ]
