"""The metrics of a batch's episodes from their course, by the definitions of ``planroute.domains.grid.metrics``.

Where those add up number after number this does too, in the same order, so the digits agree. A metric that does not
apply is NaN.
"""

import numpy as np
from numpy.typing import NDArray

from planroute.batched.course import Course
from planroute.domains.grid.adding import sum_where
from planroute.domains.grid.compiled import compiled
from planroute.domains.grid.day import settle
from planroute.domains.grid.metrics import COLLAPSED_PU, GROUNDED_WITHIN
from planroute.domains.grid.objective import costs

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def figures(course: Course) -> dict[str, FloatArray]:
    """Return every metric of the course's episodes, each (seeds,), by the names of the referee."""
    batch, day = course.batch, course.batch.day
    dispatched, hours = batch.dispatched, batch.hours
    issued_kw = 1000 * course.issued
    asked = course.issued > 0
    requested = in_order(in_order(issued_kw))
    realised = in_order(in_order(1000 * course.realised))
    asks = asked.sum(axis=(-2, -1))
    complied = course.complied.sum(axis=(-2, -1))
    wanted_mw = day.forecast.needed_mw[:, hours] * batch.planning.over_request
    unmet = in_order(1000 * np.maximum(wanted_mw - course.planned.sum(axis=-1), 0.0))
    wanted = in_order(1000 * wanted_mw)
    flexible = day.flexible[hours]
    grounded = (asked & (issued_kw <= GROUNDED_WITHIN * (1000 * flexible))).sum(axis=(-2, -1))
    error = np.abs(day.forecast.flexible[:, hours] - flexible) / np.maximum(flexible, 1e-12)
    errors = _ratio(sum_where(error, asked), asked.sum(axis=-1))
    churned = _mean(course.churned)
    intended = _along(course.planned, day.leverage)
    by_referees, violations, minimality = _settled(course)
    return {
        **by_referees,
        "faithfulness": _mean(_overlap(course, asked)),
        "groundedness": _ratio(grounded, asks),
        "minimality": minimality,
        "coherence": 1.0 - np.where(np.isnan(churned), 0.0, churned),
        "realisation": _ratio(realised, requested),
        "compliance": _ratio(complied, asks),
        "leverage_ratio": _mean(_ratio(_along(course.issued, day.leverage), intended)),
        "forecast_error": _mean(errors),
        "unmet_share": _ratio(unmet, wanted),
        "directives": asks.astype(float),
        "dispatch_hours": dispatched.sum(axis=-1).astype(float),
        "requested_kwh": requested,
        "realised_kwh": realised,
        "violation_hours": violations.astype(float),
    }


def _settled(course: Course) -> tuple[dict[str, FloatArray], NDArray[np.int64], FloatArray]:
    """What both referees make of the whole day, the hours that violate a limit, and minimality.

    Hours without a campaign are the same under every seed; only the others are solved.
    """
    batch, day = course.batch, course.batch.day
    factors, weights = day.scenario.factors, day.scenario.coefficients.objective
    seeds, hours = len(batch.seeds), batch.hours
    result, still = settle(day, hours, course.realised), batch.untouched
    curtailed = np.zeros((seeds, len(still.head_mw)))
    curtailed[:, hours] = course.realised.sum(axis=-1)
    found: dict[str, FloatArray] = {}
    curtailed_kwh = 1000 * curtailed.sum(axis=-1)
    violates = np.zeros(curtailed.shape, np.bool_)
    for suffix, head, voltage, head_now, voltage_now in (
        ("", still.head_mw, still.v_pu, result.head_mw, result.v_pu),
        ("_ac", still.head_ac_mw, still.v_ac_pu, result.head_ac_mw, result.v_ac_pu),
    ):
        parts = costs(
            (head, voltage),
            (head_now, voltage_now),
            hours,
            curtailed_kwh,
            factors.import_cap_mw,
            factors.voltage_floor_pu,
            weights,
        )
        heads = _in_place(head, head_now, hours)
        lowest = _in_place(voltage.min(axis=-1), voltage_now.min(axis=-1), hours)
        if not suffix:
            violates = (heads > factors.import_cap_mw) | (lowest < factors.voltage_floor_pu)
        whole = np.isfinite(heads).all(axis=-1) & np.isfinite(lowest).all(axis=-1)
        whole &= lowest.min(axis=-1) > COLLAPSED_PU
        values = {
            "objective": parts.objective,
            "overcap_kwh": parts.overcap_kwh,
            "voltage_shortfall_pu": parts.voltage_shortfall_pu,
            "min_voltage_pu": lowest.min(axis=-1),
            "peak_import_mw": heads.max(axis=-1),
        }
        found |= {f"{name}{suffix}": np.where(whole, value, np.nan) for name, value in values.items()}
    found["curtailed_kwh"] = curtailed_kwh
    needed = day.truth.needed_mw
    counts = (curtailed > 0) & (needed > 0) & ~violates
    share = np.divide(needed, curtailed, out=np.full_like(curtailed, np.nan), where=counts)
    return found, violates.sum(axis=-1), _mean(np.minimum(share, 1.0))


def _in_place(still: FloatArray, moved: FloatArray, hours: list[int]) -> FloatArray:
    """The day of every seed: ``still`` with ``moved`` (seeds, hours, ...) in its hours."""
    whole = np.empty((len(moved), *still.shape))
    whole[:] = still
    whole[:, hours] = moved
    return whole


def _overlap(course: Course, asked: BoolArray) -> FloatArray:
    """Jaccard overlap, by hour, of who was asked and who the declared rule puts first, as many as were planned."""
    _, order = course.batch.key(course.batch.rule)
    count = (course.planned > 0).sum(axis=-1, keepdims=True)
    declared = np.zeros_like(asked)
    np.put_along_axis(declared, order, np.arange(order.shape[-1]) < count, axis=-1)
    return _ratio((declared & asked).sum(axis=-1), (declared | asked).sum(axis=-1))


def _along(values: FloatArray, leverage: FloatArray) -> FloatArray:
    """The scalar product over nodes, each as if it were alone."""
    return np.asarray((values[..., None, :] @ leverage[:, None])[..., 0, 0])


def _ratio(part: NDArray[np.number], whole: NDArray[np.number]) -> FloatArray:
    """``part`` over ``whole``, NaN where that is not above 0."""
    return np.asarray(np.divide(part, whole, out=np.full(whole.shape, np.nan), where=whole > 0))


def _mean(values: FloatArray) -> FloatArray:
    """Mean over the last axis of what is known there; NaN where nothing is."""
    known = ~np.isnan(values)
    return _ratio(in_order(np.where(known, values, 0.0)), known.sum(axis=-1))


def in_order(values: FloatArray) -> FloatArray:
    """Add up the last axis one number after the other, as ``sum`` does."""
    total = np.empty(values.shape[:-1])
    _in_order(np.ascontiguousarray(values).reshape(total.size, values.shape[-1]), total.reshape(-1))
    return total


@compiled
def _in_order(values: FloatArray, total: FloatArray) -> None:
    for case in range(len(values)):
        some = 0.0
        for value in values[case]:
            some += value
        total[case] = some
