"""ALFWorld as a domain: one task for each game, a text world for each episode."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from planroute.calls import Sampling
from planroute.domains.alfworld.environment import AlfworldEnvironment
from planroute.domains.alfworld.game_file import Game
from planroute.domains.alfworld.matching import match
from planroute.domains.text.environment import Match, Turn
from planroute.domains.text.fields import PlanDeclared
from planroute.domains.text.prompts import VERSION
from planroute.domains.text.world import Limits, TextTask, TextWorld
from planroute.protocols import Context, Judge, Task

BRIEFING = """\
You control a household robot in a text game. You can go to places, open and close them, take one thing at a time, \
put it somewhere, clean it at a sinkbasin, heat it in a microwave, cool it in a fridge, and use lamps. You see what \
lies in a place only once you are there, and inside it once it is open."""


class Play:
    """A game as an environment of text domains."""

    def __init__(self, game: Game, step_limit: int) -> None:
        self._environment = AlfworldEnvironment(game, step_limit)

    @property
    def admissible(self) -> tuple[str, ...]:
        """The commands that can be carried out now."""
        return self._environment.admissible

    def reset(self) -> str:
        """Begin anew."""
        return self._environment.reset()

    def step(self, action: str) -> Turn:
        """Carry out one command."""
        step = self._environment.step(action)
        return Turn(step.observation, step.done, step.won, step.executed)

    def close(self) -> None:
        """End the game."""
        self._environment.close()


def match_command(words: str, admissible: tuple[str, ...]) -> Match:
    """Read a model's words as one admissible command, by the rules of ``planroute.domains.alfworld.matching``."""
    found = match(words, admissible)
    return Match(found.command, found.reason)


@dataclass(frozen=True)
class AlfworldDomain(PlanDeclared):
    """Household games. ``judge`` picks among alternatives and sees neither success nor hidden state."""

    games: tuple[Game, ...]
    judge: Judge
    limits: Limits = Limits()
    sampling: Sampling = Sampling()
    name: str = "alfworld"
    lexicon: str = "household"

    @property
    def briefing(self) -> str:
        """What a player can do."""
        return BRIEFING

    def tasks(self) -> Sequence[Task]:
        """One task for each game."""
        return tuple(
            Task(
                game.id,
                game.goal,
                {"task_type": game.task_type, "split": game.split, "wording": game.wording},
                game,
            )
            for game in self.games
        )

    async def open(self, task: Task, context: Context) -> TextWorld:
        """Begin the game of ``task``. Raises ``InputError`` where the alfworld extra is not installed."""
        game: Game = task.payload
        text = TextTask(
            domain=self.name,
            goal=game.goal,
            briefing=BRIEFING,
            open=lambda: Play(game, self.limits.steps),
            judge=self.judge,
            matcher=match_command,
            limits=self.limits,
            sampling=self.sampling,
        )
        return TextWorld(text, context)

    def facts(self, task: Task) -> Mapping[str, Any]:
        """The game's file by content, prompts' version, limits and sampling."""
        game: Game = task.payload
        return {
            "goal": game.goal,
            "task_type": game.task_type,
            "game_sha256": hashlib.sha256(game.path.read_bytes()).hexdigest(),
            "prompts": VERSION,
            "limits": asdict(self.limits),
            "sampling": asdict(self.sampling),
            "judge": self.judge.name,
        }
