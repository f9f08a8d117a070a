"""What a text domain needs of an environment: reset, step, and what may be done now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Turn:
    """What followed from one action.

    ``executed`` is false where the environment took the action for nothing. ``success`` is the referee's word: it is
    never shown to a planner or a judge.
    """

    observation: str
    done: bool
    success: bool
    executed: bool = True


class Environment(Protocol):
    """One live episode of a text task. Two environments of one task share nothing."""

    @property
    def admissible(self) -> tuple[str, ...]:
        """What may be done now, or nothing where any text is allowed."""

    def reset(self) -> str:
        """Start anew and return the first observation."""

    def step(self, action: str) -> Turn:
        """Carry out ``action``. Raises ``DomainError`` where the environment itself fails."""

    def close(self) -> None:
        """End it. May be called twice."""


@runtime_checkable
class Sighted(Protocol):
    """An environment in which more is in sight than the latest observation, such as a page. Optional."""

    def sight(self) -> Mapping[str, Any]:
        """What is in sight now, as JSON values.

        It is laid over the state that planners and actors see, entries of the same name replaced; no judge is told.
        """


@runtime_checkable
class Measured(Protocol):
    """An environment whose referee has more to say than success. Optional."""

    def measures(self) -> Mapping[str, float | None]:
        """Metrics of the course so far, by name; the same after ``close``."""


@runtime_checkable
class Referee(Protocol):
    """An environment in which success shows only once the course is over. Optional."""

    def verdict(self) -> bool:
        """Whether what was done reached the goal; looked for at the first call, the same ever after.

        It may be asked after ``close``. Raises ``DomainError`` where it cannot be found out.
        """


@runtime_checkable
class Slow(Protocol):
    """An environment whose steps take longer than others should wait. Optional; ``step`` is called in a thread."""

    @property
    def slow(self) -> bool:
        """True."""


Opener = Callable[[], Environment]
"""Makes a fresh environment of the episode's task."""


@dataclass(frozen=True, slots=True)
class Match:
    """An action for a model's words, or ``None`` and why."""

    action: str | None
    reason: str = ""


Matcher = Callable[[str, tuple[str, ...]], Match]
"""Reads a model's words as one of the admissible actions; never guesses between two."""


def exact(words: str, admissible: tuple[str, ...]) -> Match:
    """Take the words as they are; where actions are listed, only one that is among them."""
    action = " ".join(words.split())
    if not action:
        return Match(None, "no action was named")
    if admissible and action not in admissible:
        return Match(None, f"{action!r} is not admissible now")
    return Match(action)
