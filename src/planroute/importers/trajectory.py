"""What every reader returns: a trajectory with its declared plans and its actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from planroute.errors import InputError
from planroute.plan import Logic, PlanUnit

EXCERPT = 4000
"""Characters of an observation that are kept."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action: its place among the actions from 0, its text, what was observed, and whether it took effect.

    ``executed`` is false where the environment refused it or nothing happened. A command that ran and reported a
    failure was executed: a script that reproduces an error is supposed to fail.
    """

    index: int
    text: str
    observation: str = ""
    executed: bool = True


@dataclass(frozen=True, slots=True)
class DeclaredPlan:
    """A plan and where it stands: ``before`` is the index of the first action after it.

    ``root`` holds the plan's units as children; its own text is the goal or the sentence that introduces the plan.
    ``instructed`` plans were prescribed by the prompt, the others were declared by the agent.
    """

    root: PlanUnit
    instructed: bool = False
    before: int = 0

    @property
    def units(self) -> tuple[PlanUnit, ...]:
        """The units to execute; where the root has an alternative logic, the root itself is the one unit."""
        return self.root.children if self.root.children and self.root.logic is Logic.AND else (self.root,)


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One episode of any source.

    ``claims`` holds what the agent itself says about a unit's success; ``declared`` and ``executed`` are the dispatch
    record where there is one. ``success`` is the environment's verdict, ``None`` where there is none.
    """

    id: str
    source: str
    task: str
    plans: tuple[DeclaredPlan, ...]
    actions: tuple[Action, ...]
    success: bool | None = None
    failure: str = ""
    claims: Mapping[str, bool] = field(default_factory=dict)
    declared: str | None = None
    executed: str | None = None


def excerpt(text: str) -> str:
    """Cut ``text`` in the middle, so that both its ends are kept."""
    text = text.strip()
    if len(text) <= EXCERPT:
        return text
    half = EXCERPT // 2
    return f"{text[:half]} […] {text[-half:]}"


def plan_of(text: str, units: Sequence[str], *, instructed: bool = False, before: int = 0) -> DeclaredPlan:
    """A flat plan of ``units`` in order, numbered from 1."""
    children = tuple(PlanUnit(str(number), unit) for number, unit in enumerate(units, 1))
    return DeclaredPlan(PlanUnit("plan", text, children=children), instructed, before)


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return ``value`` where it is a mapping; nothing at all is an empty one. Raises ``InputError`` otherwise."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f"{what} is not an object but {type(value).__name__}")
    return value


def sequence(value: Any, what: str) -> Sequence[Any]:
    """Return ``value`` where it is a list; nothing at all is an empty one. Raises ``InputError`` otherwise."""
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InputError(f"{what} is not a list but {type(value).__name__}")
    return value


def verdict(value: Any, what: str) -> bool | None:
    """Return a judgement that is true, false, 1, 0 or not known. Raises ``InputError`` for anything else."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise InputError(f"{what} is neither true nor false")


def text_of(value: Any) -> str:
    """The text of a message's content: a string, or the text parts of a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "\n".join(text_of(part.get("text")) for part in value if isinstance(part, Mapping))
    return ""
