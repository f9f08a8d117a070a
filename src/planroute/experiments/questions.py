"""The research questions RQ1 to RQ4 as files: which conditions each needs, and what the paper prints.

All questions of one command share one run: the union of the conditions that they need, each executed once.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from planroute.errors import InputError
from planroute.modes import MODES, ROUTED, Baseline
from planroute.streams import stream

QUESTIONS: Final = ("RQ1", "RQ2", "RQ3", "RQ4")
Policy = Literal["ranked", "few_shot", "thinking", "no_thinking"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Published(_Part):
    """What the paper prints of its own models: context beside ours, at the path ``ours``, and never a target."""

    what: str
    where: str
    domain: str
    model: str
    value: str
    ours: str


class Question(_Part):
    """One research question. ``passes`` is how often forced modes run on every seed, ``part`` names its analysis."""

    id: str = Field(pattern=r"^RQ[1-4]$")
    title: str
    question: str
    source: str
    part: Literal["rq1", "rq2", "rq3", "rq4"]
    conditions: tuple[str, ...]
    passes: int = Field(1, ge=1)
    attempts: int = Field(3, ge=2)
    policies: tuple[Policy, ...] = ()
    published: tuple[Published, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What has to run: conditions in the order of every table, passes, attempts, and who only declares."""

    conditions: tuple[str, ...]
    passes: int
    attempts: int
    policies: tuple[Policy, ...]


@cache
def question(name: str) -> Question:
    """Return the question called ``name``, in any case. Raises ``InputError`` where there is none."""
    if name.upper() not in QUESTIONS:
        raise InputError(f"there is no question {name!r}", hint=f"choose from {', '.join(QUESTIONS)}")
    path = files("planroute.experiments") / "definitions" / f"{name.lower()}.toml"
    return Question.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def needs(asked: Iterable[Question]) -> Needs:
    """Return what ``asked`` need together."""
    some = list(asked)
    wanted = {name for one in some for name in one.conditions}
    order = (*map(str, Baseline), *map(str, MODES), ROUTED)
    policies = dict.fromkeys(policy for one in some for policy in one.policies)
    return Needs(
        tuple(name for name in order if name in wanted),
        max(one.passes for one in some),
        max(one.attempts for one in some),
        tuple(policies),
    )


def further_seeds(seeds: Sequence[int], passes: int) -> list[int]:
    """Return the seeds of all passes after the first: drawn from ``seeds``, and none of them."""
    return [int(stream(seed, "pass", number).integers(2**31)) for number in range(2, passes + 1) for seed in seeds]


def beside(asked: Iterable[Question], found: Mapping[str, Any], domain: str) -> list[dict[str, Any]]:
    """Return what the paper prints for ``asked`` beside ours, for values that it prints of ``domain`` or of all."""
    return [
        {"question": one.id, **published.model_dump(), "ours_path": published.ours, "ours": at(found, published.ours)}
        for one in asked
        for published in one.published
        if domain in published.domain or published.domain == "all"
    ]


def at(found: Mapping[str, Any], path: str) -> float | None:
    """The number at ``path``, names joined by ``/``; ``None`` where it is not."""
    value: Any = found
    for name in path.split("/"):
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
