"""Kinds of analysis that an experiment's file can name. Each takes ``Inputs`` and its own parameters."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from inspect import isawaitable, signature
from typing import Any

from planroute.errors import FaultyInput
from planroute.experiments.analyses import attribution, choice, replicate, selectors, sweep, uncontrolled
from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.definition import Analysis

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
    "shrinkage": selectors.shrinkage,
    "slopes": sweep.slopes,
    "uncontrolled": uncontrolled.uncontrolled,
}


async def analyse(analysis: Analysis, inputs: Inputs) -> dict[str, Any]:
    """Run one analysis. Raises ``FaultyInput`` where its kind is unknown or its parameters do not fit."""
    what = f"experiment {inputs.experiment.id}, analysis {analysis.name}"
    kind = KINDS.get(analysis.kind)
    if kind is None:
        raise FaultyInput(what, [f"kind: there is no {analysis.kind!r} (kinds: {', '.join(KINDS)})"])
    try:
        signature(kind).bind(inputs, **analysis.with_)
    except TypeError as error:
        raise FaultyInput(what, [f"with: {error}"]) from None
    found = kind(replace(inputs, analyse=analyse), **analysis.with_)
    return await found if isawaitable(found) else found


__all__ = ["KINDS", "Inputs", "analyse"]
