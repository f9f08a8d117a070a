"""Kinds of analysis that an experiment's file can name. Each takes ``Inputs`` and its own parameters."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from inspect import isawaitable, signature
from typing import Any

from planroute.errors import FaultyInput, InputError
from planroute.experiments.analyses import attribution, choice, replicate, selectors, settings, sweep, uncontrolled
from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.definition import Analysis, Experiment

KINDS: Mapping[str, Callable[..., dict[str, Any] | Awaitable[dict[str, Any]]]] = {
    "archetypes": attribution.archetypes,
    "contrast": sweep.contrast,
    "declarations": choice.declarations,
    "fresh": selectors.fresh,
    "label_shares": sweep.label_shares,
    "oracle": choice.oracle,
    "paired": sweep.paired,
    "position": attribution.position,
    "referees": choice.referees,
    "replicate": replicate.replicate,
    "selectors": selectors.selectors,
    "settings": settings.settings,
    "shrinkage": selectors.shrinkage,
    "slopes": sweep.slopes,
    "uncontrolled": uncontrolled.uncontrolled,
}


def check(experiment: Experiment) -> None:
    """Raise ``FaultyInput`` where an analysis of ``experiment`` is of no known kind or its parameters do not fit."""
    faults = [f"{one.name}: {fault}" for one in experiment.analyses if (fault := _fault(one))]
    if faults:
        raise FaultyInput(f"experiment {experiment.id}, analyses", faults)


def _fault(analysis: Analysis) -> str:
    kind = KINDS.get(analysis.kind)
    if kind is None:
        return f"there is no kind {analysis.kind!r} (kinds: {', '.join(KINDS)})"
    try:
        signature(kind).bind(None, **analysis.with_)
    except TypeError as error:
        return str(error)
    return ""


async def analyse(analysis: Analysis, inputs: Inputs) -> dict[str, Any]:
    """Run one analysis. Raises ``FaultyInput`` where its kind is unknown or its parameters do not fit."""
    what = f"experiment {inputs.experiment.id}, analysis {analysis.name}"
    if fault := _fault(analysis):
        raise FaultyInput(what, [fault])
    try:
        found = KINDS[analysis.kind](replace(inputs, analyse=analyse), **analysis.with_)
        return await found if isawaitable(found) else found
    except (InputError, TypeError, ValueError) as error:
        told = error.message if isinstance(error, InputError) else f"its parameters do not fit ({error})"
        raise FaultyInput(what, [told]) from error


__all__ = ["KINDS", "Inputs", "analyse", "check"]
