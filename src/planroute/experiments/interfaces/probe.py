"""What a model can do at all (M0): each interface's JSON, with and without an enforced schema; usage; determinism.

Source: cyber-physical paper, section IV (M0 is a capability probe and no more is printed); its questions are the
project's own.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import Any, Final

from pydantic import Field

from planroute.calls import Sampling
from planroute.declarers import Hybrid, Natural
from planroute.domains.grid.coefficients import ARCHETYPES
from planroute.domains.grid.communication import Recipient, operator_message
from planroute.domains.grid.policy import Theme
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.accounts import accounted, share
from planroute.experiments.interfaces.advice import advise
from planroute.experiments.interfaces.declarations import declare
from planroute.experiments.interfaces.design import Design, Figures, Parameters, day_seed, draws_of, parameters
from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.messages import evaluate
from planroute.experiments.interfaces.records import ANSWERED, Record
from planroute.experiments.interfaces.states import Situation, described, situations
from planroute.experiments.setting import Setting
from planroute.protocols import Context

Ask = Callable[[Context], Awaitable[Mapping[str, Any]]]

TYPED: Final = ("declaration", "advice", "evaluation")
PLAIN: Final = "message"
ENFORCED, IN_WORDS, NO_SCHEMA = "enforced", "in_words", "none"


class ProbeParameters(Parameters):
    """The payload of a message's evaluation; ``message`` is the text that is evaluated."""

    message: str
    requested_kw: float = Field(gt=0)
    neighbours: float = Field(ge=0, le=1)
    moderate_up_to: float = Field(gt=0, lt=1)


async def probe(experiment: Experiment, setting: Setting) -> Design:
    """Ask each typed interface with its schema enforced and in words, write a message, and repeat at temperature 0."""
    chosen = parameters(experiment, ProbeParameters)
    states, cut = await situations(experiment, setting)
    draws, fewer = draws_of(experiment, setting)
    seed = day_seed(experiment, setting)
    inquiries = []
    for number, state in enumerate(states):
        asks = _asks(state, chosen, ARCHETYPES[number % len(ARCHETYPES)])
        about = state.about(chosen.moderate_up_to)
        for interface in TYPED:
            for schema in (ENFORCED, IN_WORDS):
                inquiries += [
                    Inquiry(
                        {"interface": interface, "schema": schema, "repeated": False, **about, "draw": draw},
                        asks[interface](setting.sampling, draw),
                        seed,
                        in_words=schema == IN_WORDS,
                    )
                    for draw in range(draws)
                ]
        plain = {"interface": PLAIN, "schema": NO_SCHEMA, "repeated": False, **about, "draw": 0}
        inquiries.append(Inquiry(plain, _written(state, setting.sampling), seed))
    cold = replace(setting.sampling, temperature=0.0)
    last = _asks(states[-1], chosen, ARCHETYPES[0])
    for interface in TYPED:
        about = {
            "interface": interface,
            "schema": ENFORCED,
            "repeated": True,
            **states[-1].about(chosen.moderate_up_to),
        }
        # Another draw is another call: neither a cache nor a recording answers the second by the first.
        inquiries += [Inquiry({**about, "draw": draw}, last[interface](cold, draw), seed) for draw in (0, 1)]
    facts = described(states, chosen.moderate_up_to)
    return Design(inquiries, capability, _summary, facts, timed=True, cut=cut | fewer)


def capability(records: Sequence[Record]) -> Figures:
    """Figures of one model.

    ``interfaces`` holds what became of the calls of each typed interface, ``enforced`` and ``in_words``; ``message``
    the same of plain completion. ``determinism`` counts pairs of equal calls at temperature 0 with equal answers, of
    those where both were answered.
    """
    usual = [record for record in records if not record["about"]["repeated"]]

    def of(interface: str, schema: str) -> Figures:
        return accounted([r for r in usual if (r["about"]["interface"], r["about"]["schema"]) == (interface, schema)])

    return {
        "calls": accounted(records),
        "interfaces": {name: {schema: of(name, schema) for schema in (ENFORCED, IN_WORDS)} for name in TYPED},
        "message": of(PLAIN, NO_SCHEMA),
        "determinism": _determinism([record for record in records if record["about"]["repeated"]]),
    }


def _determinism(records: Sequence[Record]) -> Figures:
    equal = []
    for _, group in groupby(records, lambda record: str(record["about"]["interface"])):
        pair = list(group)
        if len(pair) == 2 and all(record["status"] in ANSWERED for record in pair):
            equal.append(pair[0]["text"] == pair[1]["text"])
    return share(sum(equal), len(equal))


def _summary(models: Mapping[str, Figures]) -> Figures:
    able = [
        name
        for name, one in models.items()
        if all(one["interfaces"][interface][ENFORCED]["parse_rate"] == 1.0 for interface in TYPED)
    ]
    return {"models": len(models), "able": len(able)}


def _asks(state: Situation, chosen: ProbeParameters, archetype: str) -> dict[str, Callable[[Sampling, int], Ask]]:
    recipient = Recipient(archetype, chosen.requested_kw, chosen.neighbours)
    return {
        "declaration": lambda sampling, draw: declare(state, Natural(sampling, draw)),
        "advice": lambda sampling, draw: advise(state, Hybrid(sampling, draw)),
        "evaluation": partial(evaluate, recipient, chosen.message),
    }


def _written(state: Situation, sampling: Sampling) -> Ask:
    over = state.state.summary["forecast_import_mw"] - state.state.summary["import_cap_mw"]

    async def ask(context: Context) -> dict[str, Any]:
        text = await operator_message(context, Theme.RELIABILITY, state.hour, max(0.0, 1000 * over), sampling)
        return {"message": text}

    return ask
