"""The external evaluator of a grid episode: every metric computed from the trace alone.

Source: cyber-physical paper, section III ("External evaluation") and equation (4). Where it leaves a definition open,
the docstring of the metric says what the project chose.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import Objective
from planroute.domains.grid.objective import cost
from planroute.trace import Directed, Noted, Responded, Settled, Trace

FloatArray = NDArray[np.float64]
COLLAPSED_PU = 0.1
"""Below this voltage the power-flow model has left its range: a cost computed from it would mean nothing."""
GROUNDED_WITHIN = 1.05
"""A directive is grounded when it asks for at most this multiple of the true flexible load."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the referee holds a day against."""

    import_cap_mw: float
    voltage_floor_pu: float
    weights: Objective = Objective()


def metrics(trace: Trace, limits: Limits) -> dict[str, float | None]:
    """Compute every metric of an episode. ``None`` marks one that does not apply, such as a share of nothing."""
    directed, responded, settled = trace.of(Directed), trace.of(Responded), trace.of(Settled)
    requested = sum(sum(event.columns["requested_kw"]) for event in directed)
    realised = sum(sum(event.columns["realised_kw"]) for event in responded)
    asks = sum(len(event.columns["node"]) for event in directed)
    complied = sum(sum(event.columns["complied"]) for event in responded)
    unmet = sum(event.values["unmet_kw"] for event in directed)
    wanted = sum(event.values["wanted_kw"] for event in directed)
    churn = [event.values["revision_churn"] for event in trace.of(Noted) if "revision_churn" in event.values]
    return {
        **_costs(settled, limits),
        "faithfulness": _mean([jaccard(event.values["declared"], event.columns["node"]) for event in directed]),
        "groundedness": _groundedness(directed),
        "minimality": _minimality(settled, limits),
        "coherence": 1.0 - (_mean(churn) or 0.0),
        "realisation": realised / requested if requested > 0 else None,
        "compliance": complied / asks if asks else None,
        "leverage_ratio": _mean([event.values["leverage_ratio"] for event in directed]),
        "forecast_error": _mean([event.values["forecast_error"] for event in directed]),
        "unmet_share": unmet / wanted if wanted > 0 else None,
        "directives": float(asks),
        "dispatch_hours": float(len(directed)),
        "requested_kwh": requested,
        "realised_kwh": realised,
        "violation_hours": float(sum(_violates(event, limits) for event in settled)),
    }


def jaccard(declared: Sequence[int], issued: Sequence[int]) -> float | None:
    """Overlap of two target sets, in [0, 1]; ``None`` when both are empty."""
    a, b = set(declared), set(issued)
    return len(a & b) / len(a | b) if a | b else None


def _costs(settled: Sequence[Settled], limits: Limits) -> dict[str, float | None]:
    if not settled:
        return {}
    curtailed = np.array([event.values["curtailed_mw"] for event in settled])
    result: dict[str, float | None] = {}
    for suffix in ("", "_ac"):
        # As float, for a figure that is not a number is null in a trace that was read from a file.
        head = np.array([event.values[f"import{suffix}_mw"] for event in settled], dtype=float)
        voltage = np.array([event.columns[f"voltage{suffix}_pu"] for event in settled], dtype=float)
        if not (np.isfinite(head).all() and np.isfinite(voltage).all() and voltage.min() > COLLAPSED_PU):
            result.update({f"{key}{suffix}": None for key in ("objective", "overcap_kwh", "voltage_shortfall_pu")})
            continue
        parts = cost(head, voltage, curtailed, limits.import_cap_mw, limits.voltage_floor_pu, limits.weights)
        result[f"objective{suffix}"] = parts.objective
        result[f"overcap_kwh{suffix}"] = parts.overcap_kwh
        result[f"voltage_shortfall_pu{suffix}"] = parts.voltage_shortfall_pu
        result[f"min_voltage_pu{suffix}"] = float(voltage.min())
        result[f"peak_import_mw{suffix}"] = float(head.max())
    result["curtailed_kwh"] = 1000 * float(curtailed.sum())
    return result


def _groundedness(directed: Sequence[Directed]) -> float | None:
    """Share of directives that ask for at most 105 % of the node's true flexible load."""
    grounded = [
        asked <= GROUNDED_WITHIN * flexible
        for event in directed
        for asked, flexible in zip(event.columns["requested_kw"], event.columns["flexible_kw"], strict=True)
    ]
    return sum(grounded) / len(grounded) if grounded else None


def _minimality(settled: Sequence[Settled], limits: Limits) -> float | None:
    """Oracle over realised curtailment, at most 1, averaged over successful hours.

    An hour is successful when something was curtailed, without it a limit would be violated, and with it none is. The
    oracle is the least uniform reduction that removes the violation.
    """
    shares = [
        min(event.values["needed_mw"] / event.values["curtailed_mw"], 1.0)
        for event in settled
        if event.values["curtailed_mw"] > 0 and event.values["needed_mw"] > 0 and not _violates(event, limits)
    ]
    return _mean(shares)


def _violates(event: Settled, limits: Limits) -> bool:
    over = event.values["import_mw"] > limits.import_cap_mw
    return bool(over or min(event.columns["voltage_pu"]) < limits.voltage_floor_pu)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
