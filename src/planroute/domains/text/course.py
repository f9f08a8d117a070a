"""One course of actions through one environment: the real episode's, or a rollout's in an environment of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from planroute.domains.text.environment import Environment
from planroute.ledger import Ledger
from planroute.trace import Acted, Observed, Trace

SHOWN_TURNS = 16
"""Turns of the history that a prompt shows, the latest ones."""
SHOWN_CHARACTERS = 600
"""Characters of an observation that a prompt shows."""


@dataclass(slots=True, eq=False)
class Course:
    """Actions taken and what they led to. ``branch`` names the rollout that it belongs to, ``None`` the episode.

    ``steps`` lists the plan's steps that were worked on, and whether they were called finished.
    """

    environment: Environment
    step_limit: int
    first: str
    branch: str | None = None
    turns: list[tuple[str, str]] = field(default_factory=list)
    steps: list[dict[str, str]] = field(default_factory=list)
    over: bool = False
    success: bool = False

    @classmethod
    def start(cls, environment: Environment, step_limit: int, branch: str | None = None) -> "Course":
        """Reset ``environment`` and begin."""
        return cls(environment, step_limit, environment.reset(), branch)

    @property
    def done(self) -> bool:
        """Whether the environment ended it, or no step is left."""
        return self.over or len(self.turns) >= self.step_limit

    @property
    def observation(self) -> str:
        """The latest observation."""
        return self.turns[-1][1] if self.turns else self.first

    def step(self, action: str, unit: str | None, trace: Trace, ledger: Ledger) -> bool:
        """Carry out ``action`` and record it. Returns whether the environment executed it.

        Raises ``BudgetExceeded`` before it, where no interaction is left.
        """
        ledger.charge_interaction()
        turn = self.environment.step(action)
        trace.append(Acted(action, unit, admissible=turn.executed, branch=self.branch))
        trace.append(Observed(turn.observation, branch=self.branch))
        self.turns.append((action, turn.observation))
        self.over, self.success = turn.done, turn.success
        return turn.executed

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
            {"action": action[:SHOWN_CHARACTERS], "observation": seen[:SHOWN_CHARACTERS]}
            for action, seen in self.turns[-SHOWN_TURNS:]
        ]
