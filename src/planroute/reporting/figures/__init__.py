"""Figures of experiments and of analyses, by the kind that an experiment's file names."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from planroute.errors import InputError
from planroute.reporting.figures import analyses, experiments, interfaces
from planroute.reporting.figures.style import FORMATS, save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: Mapping[str, Callable[..., "Figure | None"]] = {
    "attribution": experiments.attribution,
    "declaration_shares": experiments.declaration_shares,
    "frontier": analyses.frontier,
    "latency": interfaces.latency,
    "messages": interfaces.messages,
    "mode_use": interfaces.mode_use,
    "oracle_and_choices": experiments.oracle_and_choices,
    "preservation_by_length": analyses.preservation_by_length,
    "ranges": experiments.ranges,
    "regret": experiments.regret,
    "stress_conditioning": interfaces.stress_conditioning,
    "success_by_length": analyses.success_by_length,
    "sweep": experiments.sweep,
    "tokens": analyses.tokens,
}


def check(kind: str, parameters: Mapping[str, Any]) -> None:
    """Raise ``InputError`` where there is no figure of that kind or its parameters do not fit."""
    if kind not in KINDS:
        raise InputError(f"there is no figure of kind {kind!r}", hint=f"kinds: {', '.join(KINDS)}")
    try:
        inspect.signature(KINDS[kind]).bind(None, **parameters)
    except TypeError as error:
        raise InputError(f"figure of kind {kind}: {error}") from None


def draw(kind: str, result: Mapping[str, Any], parameters: Mapping[str, Any]) -> "Figure | None":
    """Draw one figure; ``None`` where the result does not hold what it shows.

    Raises ``InputError`` where the kind is unknown or its parameters do not fit.
    """
    check(kind, parameters)
    return KINDS[kind](result, **parameters)


__all__ = ["FORMATS", "KINDS", "check", "draw", "save"]
