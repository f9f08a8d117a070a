"""Repeated natural declarations: how diverse they are (M1), and how much they follow the state (M2).

Both studies, and that of latency, ask the same questions, so that a call cache answers the second and third time.
Source: cyber-physical paper, sections IV (multimodel interface extension) and V-B.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from planroute.declarers import Natural
from planroute.domains.grid.policy import TargetRule, Theme
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.accounts import accounted, mean, read, share, shares, tally
from planroute.experiments.interfaces.dependence import RULE, dependence, regimes
from planroute.experiments.interfaces.design import Design, Figures, Parameters, day_seed, draws_of, parameters
from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.records import Record
from planroute.experiments.interfaces.states import Situation, described, situations
from planroute.experiments.setting import Setting
from planroute.gate import check
from planroute.modes import MODES
from planroute.protocols import Context
from planroute.statistics import normalised_entropy, t_interval

Ask = Callable[[Context], Awaitable[Mapping[str, Any]]]


class DeclarationParameters(Parameters):
    """``figures`` says what to make of the declarations; stress up to ``moderate_up_to`` is moderate."""

    figures: Literal["diversity", "dependence"] = "diversity"
    moderate_up_to: float = Field(gt=0, lt=1)


async def declarations(experiment: Experiment, setting: Setting) -> Design:
    """Declare each state several times, and describe the modes and fields, or how they go with the state."""
    chosen = parameters(experiment, DeclarationParameters)
    states, inquiries, cut = await declaring(experiment, setting, chosen.moderate_up_to)
    facts = described(states, chosen.moderate_up_to)
    if chosen.figures == "dependence":
        facts["rule"] = RULE

    def figures(records: Sequence[Record]) -> Figures:
        of_kind = dependence if chosen.figures == "dependence" else diversity
        return {"calls": accounted(records), **of_kind(read(records), experiment.id)}

    def summary(models: Mapping[str, Figures]) -> Figures:
        parsed = sum(one["calls"]["read"] for one in models.values())
        found: Figures = {"models": len(models), "declarations": parsed}
        return found | (regimes(models) if chosen.figures == "dependence" else {})

    return Design(inquiries, figures, summary, facts, timed=True, cut=cut)


async def declaring(
    experiment: Experiment, setting: Setting, moderate_up_to: float
) -> tuple[list[Situation], list[Inquiry], dict[str, dict[str, int]]]:
    """The states, one call for each state and draw, and the cut that they are."""
    states, cut = await situations(experiment, setting)
    draws, fewer = draws_of(experiment, setting)
    seed = day_seed(experiment, setting)
    inquiries = [
        Inquiry({**state.about(moderate_up_to), "draw": draw}, declare(state, Natural(setting.sampling, draw)), seed)
        for state in states
        for draw in range(draws)
    ]
    return states, inquiries, cut | fewer


def declare(state: Situation, declarer: Natural) -> Ask:
    """The call that declares ``state``: what is declared, and the static rules that it breaks."""

    async def ask(context: Context) -> dict[str, Any]:
        declaration = await declarer.declare(state.domain, state.task, state.state, context)
        return {
            "mode": str(declaration.mode),
            "depth": declaration.depth,
            "branching": declaration.branching,
            "replanning": str(declaration.replanning),
            "confidence": declaration.confidence,
            "rationale": declaration.rationale,
            **declaration.fields,
            "faults": [fault.field for fault in check(declaration)],
        }

    return ask


def diversity(records: Sequence[Record], name: str) -> Figures:
    """Mode shares, their normalised entropy, and the distribution of every field, over readable declarations.

    ``entropy`` resamples declarations, as the paper's intervals do; ``entropy_by_state`` whole states, which is right
    where the draws of a state are alike. ``type_valid`` is the share that breaks no static rule.
    """
    values = [record["value"] for record in records]
    modes = [value["mode"] for value in values]
    states = [record["about"]["state"] for record in records]
    by_field = {field: [value[field] for value in values] for field in ("intensity", "confidence")}
    return {
        "modes": shares(modes, MODES),
        "modes_used": len(set(modes)),
        "entropy": normalised_entropy(modes, len(MODES), name=f"{name}/entropy").to_dict(),
        "entropy_by_state": normalised_entropy(
            modes, len(MODES), name=f"{name}/entropy by state", clusters=states
        ).to_dict(),
        "fields": {
            "target": shares([value["target"] for value in values], TargetRule),
            "theme": shares([value["theme"] for value in values], Theme),
            **{field: tally(value[field] for value in values) for field in ("replanning", "depth", "branching")},
            **{
                field: {**t_interval(found).to_dict(), "min": min(found, default=None), "max": max(found, default=None)}
                for field, found in by_field.items()
            },
        },
        "distinct": len({_policy(value) for value in values}),
        "type_valid": share(sum(not value["faults"] for value in values), len(values)),
        "states_of_one_mode": mean([float(len(found) == 1) for found in _by_state(records).values()]),
    }


def _policy(value: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(value[name] for name in ("mode", "depth", "branching", "replanning", "target", "theme", "intensity"))


def _by_state(records: Sequence[Record]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for record in records:
        found.setdefault(record["about"]["state"], set()).add(record["value"]["mode"])
    return found
