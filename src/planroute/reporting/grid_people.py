"""Who was asked and who answered, by archetype."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from planroute.reporting.charts import bar
from planroute.reporting.grid_days import Answer
from planroute.reporting.wording import mean, number, percent


@dataclass(frozen=True, slots=True)
class Group:
    """One archetype: its pooled answers, and its compliance in each condition."""

    name: str
    complied: str
    rate: str
    bar: Markup
    shift: str
    evaluated: str
    realised: str
    by_condition: Sequence[tuple[str, str]]
    """Compliance and number of requests, in the order of the conditions."""


def groups(answers: Mapping[str, Sequence[Answer]], pooled: Sequence[str], archetypes: Sequence[str]) -> list[Group]:
    """Count ``answers`` by archetype, pooled over the conditions ``pooled``; the last line is everyone."""
    if not any(answers.values()):
        return []
    places = sorted({a.archetype for given in answers.values() for a in given} | set(range(len(archetypes))))
    found = []
    for place in places:
        mine = {name: [a for a in given if a.archetype == place] for name, given in answers.items()}
        name = archetypes[place] if place < len(archetypes) else f"archetype {place}"
        found.append(_group(name, mine, pooled))
    return [*found, _group("everyone", answers, pooled)]


def _group(name: str, answers: Mapping[str, Sequence[Answer]], pooled: Sequence[str]) -> Group:
    all_ = [answer for condition in pooled for answer in answers.get(condition, ())]
    shifts = [answer.shift for answer in all_ if answer.shift is not None]
    requested = sum(answer.requested_kw for answer in all_)
    return Group(
        name=name,
        complied=f"{number(sum(a.complied for a in all_))} of {number(len(all_))}",
        rate=percent(_rate(all_)),
        bar=bar(_rate(all_)),
        shift=number(mean(shifts), 3, sign=True),
        evaluated=number(len(shifts)),
        realised=percent(sum(a.realised_kw for a in all_) / requested if requested > 0 else None),
        by_condition=[(percent(_rate(given)), number(len(given))) for given in answers.values()],
    )


def _rate(answers: Sequence[Answer]) -> float | None:
    return sum(answer.complied for answer in answers) / len(answers) if answers else None
