"""What fixed operator messages do to each archetype (M4), through the evaluation that episodes use.

Source: cyber-physical paper, sections IV (48 archetype-message evaluations per model) and V-B. The paper says neither
which messages nor what else varies; here it is six archetypes, four themes and two shares of complying neighbours.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import Field, model_validator

from planroute.calls import Sampling
from planroute.domains.grid.coefficients import ARCHETYPES, DEFAULT
from planroute.domains.grid.communication import Recipient, message_effect
from planroute.domains.grid.policy import Theme
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.accounts import accounted, mean, read, share
from planroute.experiments.interfaces.design import (
    Design,
    Figures,
    Parameters,
    day_seed,
    draws_of,
    parameters,
    some_of,
)
from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.records import Record
from planroute.experiments.setting import Setting
from planroute.protocols import Context
from planroute.statistics import correlation, paired_t, t_interval

HOLDS = (
    "idealists_first",
    "pragmatists_second",
    "idealists_first_pragmatists_second",
    "pragmatists_above_opportunists",
)


class MessageParameters(Parameters):
    """The carried messages, one a theme, and the rest of the payload; ``neighbours`` are low and high, in [0, 1]."""

    messages: Mapping[Theme, str] = Field(min_length=1)
    neighbours: tuple[float, float]
    requested_kw: float = Field(gt=0)
    asked: int = Field(0, ge=0)
    agreed: int = Field(0, ge=0)
    exploited: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _is_possible(self) -> "MessageParameters":
        low, high = self.neighbours
        if not 0 <= low < high <= 1:
            raise ValueError("neighbours must be two shares from 0 to 1, the lower one first")
        if self.agreed > self.asked:
            raise ValueError("agreed must not be more than asked")
        return self

    def recipient(self, archetype: str, neighbours: float) -> Recipient:
        """The prosumer of ``archetype`` to whom a message goes."""
        return Recipient(archetype, self.requested_kw, neighbours, self.exploited, self.asked, self.agreed)


async def messages(experiment: Experiment, setting: Setting) -> Design:
    """Have every message judged for every archetype and share of neighbours."""
    chosen = parameters(experiment, MessageParameters)
    themes, cut = some_of(list(chosen.messages), setting, "themes")
    draws, fewer = draws_of(experiment, setting)
    seed = day_seed(experiment, setting)
    inquiries = [
        Inquiry(
            {"archetype": archetype, "theme": str(theme), "neighbours": neighbours, "draw": draw},
            evaluate(chosen.recipient(archetype, neighbours), chosen.messages[theme], setting.sampling, draw),
            seed,
        )
        for archetype in ARCHETYPES
        for theme in themes
        for neighbours in chosen.neighbours
        for draw in range(draws)
    ]

    def figures(records: Sequence[Record]) -> Figures:
        return {"calls": accounted(records), **persuasion(read(records), chosen.neighbours, experiment.id)}

    facts = {
        "messages": {str(theme): chosen.messages[theme] for theme in themes},
        "archetypes": list(ARCHETYPES),
        "neighbours": list(chosen.neighbours),
    }
    return Design(inquiries, figures, summary, facts, cut=cut | fewer)


def evaluate(
    recipient: Recipient, message: str, sampling: Sampling, draw: int
) -> Callable[[Context], Awaitable[Mapping[str, Any]]]:
    """The call that judges ``message`` for ``recipient``."""

    async def ask(context: Context) -> dict[str, Any]:
        parsed = await message_effect(context, recipient, message, sampling, draw)
        return parsed.value.model_dump(mode="json")

    return ask


def persuasion(records: Sequence[Record], neighbours: tuple[float, float], name: str) -> Figures:
    """Figures of readable evaluations.

    Shifts are those that the model returned, before resistance attenuates them. ``rank`` is 1 for the largest mean;
    equal means share the better rank and put nobody before the other. ``order`` compares the means with the
    calibrated mean shifts of the archetypes (Spearman). ``neighbours`` pairs the evaluations that differ in nothing but
    the share of complying neighbours.
    """
    shifts = {kind: [r["value"]["shift"] for r in records if r["about"]["archetype"] == kind] for kind in ARCHETYPES}
    means = {kind: _rounded(mean(found)) for kind, found in shifts.items()}
    known = {kind: value for kind, value in means.items() if value is not None}
    persuaded = {kind: [r["value"]["persuaded"] for r in records if r["about"]["archetype"] == kind] for kind in shifts}
    themes: dict[str, list[float]] = {}
    for record in records:
        themes.setdefault(record["about"]["theme"], []).append(record["value"]["shift"])
    calibrated = dict(zip(ARCHETYPES, DEFAULT.response.mean_shift, strict=True))
    everyone = [shift for found in shifts.values() for shift in found]
    return {
        "archetypes": {
            kind: {
                **t_interval(found).to_dict(),
                "persuaded": share(sum(persuaded[kind]), len(found)),
                "rank": None if kind not in known else 1 + sum(other > known[kind] for other in known.values()),
            }
            for kind, found in shifts.items()
        },
        "order": correlation(
            list(known.values()), [calibrated[kind] for kind in known], "spearman", name=f"{name}/order"
        ).to_dict(),
        **_ordering(means),
        "neighbours": {
            **_response(records, neighbours),
            "by_archetype": {
                kind: _response([r for r in records if r["about"]["archetype"] == kind], neighbours)["difference"]
                for kind in ARCHETYPES
            },
        },
        "themes": {theme: t_interval(found).to_dict() for theme, found in themes.items()},
        "all": t_interval(everyone).to_dict(),
        "zero": share(sum(shift == 0 for shift in everyone), len(everyone)),
    }


def summary(models: Mapping[str, Figures]) -> Figures:
    """In how many models each statement of the paper about the order of archetypes and about neighbours holds."""
    found: Figures = {"models": len(models)}
    for statement in HOLDS:
        told = [one[statement] for one in models.values() if one[statement] is not None]
        found[statement] = share(sum(told), len(told))
    responses = [one["neighbours"]["difference"] for one in models.values()]
    known = [response for response in responses if response is not None]
    return found | {"positive_neighbour_response": share(sum(response > 0 for response in known), len(known))}


def _rounded(value: float | None) -> float | None:
    """Without what the order of summands does to the last digits: equal shifts must have equal means."""
    return None if value is None else round(value, 9)


def _ordering(means: Mapping[str, float | None]) -> dict[str, bool | None]:
    """The paper's statements about the order; ``None`` where a mean is missing."""
    known = {kind: value for kind, value in means.items() if value is not None}
    if len(known) < len(means):
        return dict.fromkeys(HOLDS)
    idealist, pragmatist = known["idealist"], known["pragmatist"]
    rest = sorted(known.values(), reverse=True)
    first = rest[0] == idealist > rest[1]
    second = rest[0] > rest[1] == pragmatist > rest[2]
    return dict(zip(HOLDS, (first, second, first and second, pragmatist > known["opportunist"]), strict=True))


def _response(records: Sequence[Record], neighbours: tuple[float, float]) -> dict[str, Any]:
    low, high = (
        {_pair(r["about"]): r["value"]["shift"] for r in records if r["about"]["neighbours"] == level}
        for level in neighbours
    )
    both = sorted(set(low) & set(high))
    found = paired_t([high[one] for one in both], [low[one] for one in both]).to_dict()
    return {"low_mean": mean(list(low.values())), "high_mean": mean(list(high.values())), **found}


def _pair(about: Mapping[str, Any]) -> tuple[str, str, int]:
    return about["archetype"], about["theme"], about["draw"]
