"""Plans as data: ordered units, subgoals, and candidates to choose among.

A unit's ``payload`` belongs to the domain that made it; nothing else reads it. Everything else here is what the
executors arrange and what the verifier later matches against actions.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

Payload = Annotated[Any, Field(exclude=True)]
"""Data of the domain inside a generic record; it is never serialised."""


class Logic(StrEnum):
    """How the children of a nested unit count: all of them in order, or any one of them."""

    AND = "AND"
    OR = "OR"


@dataclass(frozen=True, slots=True)
class PlanUnit:
    """The smallest thing that an executor hands to a domain to carry out.

    ``id`` is unique within the episode, ``text`` is for people and verifiers, ``children`` make nested plans.
    """

    id: str
    text: str
    payload: Payload = field(default=None, compare=False, repr=False)
    children: tuple["PlanUnit", ...] = ()
    logic: Logic = Logic.AND

    def leaves(self) -> Iterator["PlanUnit"]:
        """Yield the executable units below (or the unit itself), in declared order."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True, slots=True)
class Plan:
    """Units in the order in which they are to be executed."""

    units: tuple[PlanUnit, ...]

    def rest(self) -> "Plan":
        """Return the plan without its first unit."""
        return Plan(self.units[1:])


@dataclass(frozen=True, slots=True)
class Subgoal:
    """A part of the goal that one worker takes on; ``parent`` names the subgoal it was cut from."""

    id: str
    text: str
    parent: str | None = None
    payload: Payload = field(default=None, compare=False, repr=False)


Stage = tuple[Subgoal, ...]
"""Subgoals that are worked on side by side: their workers plan from the same state."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One complete alternative plan."""

    id: str
    text: str
    plan: Plan
    payload: Payload = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Rollout:
    """What a candidate led to when it was tried without touching the real episode.

    ``cost`` is the domain's own prediction, lower is better, where it has one; a domain that leaves the choice to a
    judge puts what the judge may see into ``evidence``. Neither may hold a success label or a hidden score.
    """

    candidate_id: str
    cost: float | None = None
    evidence: str = ""
    payload: Payload = field(default=None, compare=False, repr=False)
