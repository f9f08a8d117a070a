"""One label per episode for what went wrong first, by a written priority.

The paper names STATE_INFERENCE and says that other labels with higher priority may fire instead. The other labels, the
priority and the thresholds are the project's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from planroute.trace import Stop


class FailureLabel(StrEnum):
    """Labels in order of priority: the first that applies is the episode's."""

    INFRASTRUCTURE = "INFRASTRUCTURE"
    DECLARATION = "DECLARATION"
    BUDGET = "BUDGET"
    MODEL = "MODEL"
    DEADLINE_MISS = "DEADLINE_MISS"
    DISPATCH_MISMATCH = "DISPATCH_MISMATCH"
    OBJECTIVE_SUBSTITUTION = "OBJECTIVE_SUBSTITUTION"
    STATE_INFERENCE = "STATE_INFERENCE"
    NON_COMPLIANCE = "NON_COMPLIANCE"
    UNMET_NEED = "UNMET_NEED"
    TASK = "TASK"
    NONE = "NONE"


@dataclass(frozen=True, slots=True)
class FailureThresholds:
    """From where on a measured quantity counts as a failure.

    ``forecast_error`` is the mean relative error of what the planner believed of those it asked; ``realisation`` the
    least share of a request that should become real; ``leverage_ratio`` the least part of the declared effect that
    what was issued must have; ``unmet`` the largest part of the need that a plan may leave unasked.
    """

    forecast_error: float = 0.075
    realisation: float = 0.45
    leverage_ratio: float = 0.95
    unmet: float = 0.25


_STOPS: Mapping[Stop, FailureLabel] = {
    Stop.INFRASTRUCTURE: FailureLabel.INFRASTRUCTURE,
    Stop.REFUSED: FailureLabel.DECLARATION,
    Stop.DECLARATION: FailureLabel.DECLARATION,
    Stop.BUDGET: FailureLabel.BUDGET,
    Stop.REPLY: FailureLabel.MODEL,
    Stop.MODEL_REFUSED: FailureLabel.MODEL,
}


def failure_label(
    stop: Stop,
    *,
    late_events: int,
    mode_agreement: bool | None,
    replaced_by_gate: bool,
    success: bool | None,
    metrics: Mapping[str, float | None],
    thresholds: FailureThresholds | None = None,
) -> FailureLabel:
    """Return the first label that applies. A mode that the gate replaced is not a mismatch: it is on record."""
    limits = thresholds or FailureThresholds()

    def above(name: str, limit: float) -> bool:
        value = metrics.get(name)
        return value is not None and value > limit

    def below(name: str, limit: float) -> bool:
        value = metrics.get(name)
        return value is not None and value < limit

    if stop in _STOPS:
        return _STOPS[stop]
    rules = (
        (FailureLabel.DEADLINE_MISS, late_events > 0),
        (FailureLabel.DISPATCH_MISMATCH, mode_agreement is False and not replaced_by_gate),
        (FailureLabel.OBJECTIVE_SUBSTITUTION, below("leverage_ratio", limits.leverage_ratio)),
        (FailureLabel.STATE_INFERENCE, above("forecast_error", limits.forecast_error)),
        (FailureLabel.NON_COMPLIANCE, below("realisation", limits.realisation)),
        (FailureLabel.UNMET_NEED, above("unmet_share", limits.unmet)),
        (FailureLabel.TASK, success is False),
    )
    return next((label for label, applies in rules if applies), FailureLabel.NONE)
