"""One course of actions through one environment: the real episode's, or a rollout's in an environment of its own."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from planroute.domains.text.environment import Environment, Referee, Slow
from planroute.ledger import Ledger
from planroute.trace import Acted, Observed, Trace


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt shows of the history: so many turns, the latest ones, and so many characters of each text."""

    turns: int = 16
    characters: int = 600


@dataclass(slots=True, eq=False)
class Course:
    """Actions taken and what they led to. ``branch`` names the rollout that it belongs to, ``None`` the episode.

    ``steps`` lists the plan's steps that were worked on, and whether they were called finished.
    """

    environment: Environment
    step_limit: int
    first: str
    branch: str | None = None
    shown: Shown = Shown()
    turns: list[tuple[str, str]] = field(default_factory=list)
    steps: list[dict[str, str]] = field(default_factory=list)
    over: bool = False
    success: bool = False

    @classmethod
    def start(
        cls, environment: Environment, step_limit: int, branch: str | None = None, shown: Shown = Shown()
    ) -> "Course":
        """Reset ``environment`` and begin."""
        return cls(environment, step_limit, environment.reset(), branch, shown)

    @property
    def done(self) -> bool:
        """Whether the environment ended it, or no step is left."""
        return self.over or len(self.turns) >= self.step_limit

    @property
    def observation(self) -> str:
        """The latest observation."""
        return self.turns[-1][1] if self.turns else self.first

    async def step(self, action: str, unit: str | None, trace: Trace, ledger: Ledger) -> bool:
        """Carry out ``action`` and record it. Returns whether the environment executed it.

        Raises ``BudgetExceeded`` before it, where no interaction is left.
        """
        ledger.charge_interaction()
        if isinstance(self.environment, Slow):
            turn = await asyncio.to_thread(self.environment.step, action)
        else:
            turn = self.environment.step(action)
        trace.append(Acted(action, unit, admissible=turn.executed, branch=self.branch))
        trace.append(Observed(turn.observation, branch=self.branch))
        self.turns.append((action, turn.observation))
        self.over, self.success = turn.done, turn.success
        return turn.executed

    def settled(self) -> bool:
        """Whether the goal is reached, by the environment's word at the time or by a referee's at the end."""
        return self.environment.verdict() if isinstance(self.environment, Referee) else self.success

    def wasted(self, words: str, unit: str | None, reason: str, trace: Trace, ledger: Ledger) -> None:
        """Record a turn in which nothing could be done with the model's words. It costs an interaction all the same."""
        ledger.charge_interaction()
        answer = f"Nothing happens: {reason}."
        trace.append(Acted(words, unit, admissible=False, branch=self.branch))
        trace.append(Observed(answer, branch=self.branch))
        self.turns.append((words, answer))

    def history(self) -> Sequence[dict[str, str]]:
        """The latest turns as a prompt shows them."""
        return [
            {"action": action[: self.shown.characters], "observation": seen[: self.shown.characters]}
            for action, seen in self.turns[-self.shown.turns :]
        ]
