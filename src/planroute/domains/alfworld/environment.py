"""ALFWorld games as an environment: one text after another, counted, with the commands that can be carried out."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

from planroute.domains.alfworld.engine import NOTHING_HAPPENS, Engine
from planroute.domains.alfworld.game_file import Game
from planroute.errors import DomainError, InputError

DEFAULT_STEP_LIMIT = 50


@dataclass(frozen=True, slots=True)
class Step:
    """What followed from one action.

    ``executed`` is false where the action was not admissible: then nothing changed, and the observation says so.
    ``done`` says that the goal is reached (``won``) or the step limit. ``admissible`` holds the commands from here.
    """

    observation: str
    executed: bool
    done: bool
    won: bool
    admissible: tuple[str, ...]


class AlfworldEnvironment:
    """One play of one game, independent of every other.

    It is started by ``reset``, at first and again for another try. Every ``step`` counts as an interaction, executed or
    not. Equal actions lead to equal texts, on every machine and in every process. Calls may come from any thread and
    are carried out one at a time (see ``engine``).
    """

    def __init__(self, game: Game, step_limit: int = DEFAULT_STEP_LIMIT) -> None:
        if step_limit < 1:
            raise InputError(f"step limit {step_limit} is less than 1")
        self.game = game
        self.step_limit = step_limit
        self._interactions = 0
        self._engine: Engine | None = None
        self._started = False

    @property
    def goal(self) -> str:
        """The goal in words."""
        return self.game.goal

    @property
    def interactions(self) -> int:
        """How many actions were tried since ``reset``."""
        return self._interactions

    @property
    def admissible(self) -> tuple[str, ...]:
        """The commands that can be carried out now, sorted; empty before ``reset``."""
        return self._engine.commands if self._engine is not None and self._started else ()

    @property
    def won(self) -> bool:
        """Whether the goal is reached."""
        return self._engine is not None and self._started and self._engine.won

    @property
    def done(self) -> bool:
        """Whether the goal or the step limit is reached."""
        return self.won or self._interactions >= self.step_limit

    @property
    def engine(self) -> Engine:
        """The engine below, for the oracle. Raises `DomainError` before ``reset``."""
        if self._engine is None or not self._started:
            raise DomainError(f"game {self.game.id} is not started")
        return self._engine

    def reset(self) -> str:
        """Begin the game anew; return what the player reads first: the room and the goal."""
        if self._engine is None:
            self._engine = Engine(self.game)
        self._started = False
        self._interactions = 0
        text = self._engine.reset()
        self._started = True
        return text

    def step(self, action: str) -> Step:
        """Try ``action``, which is executed if it is admissible, letter by letter. Raises `DomainError` when done."""
        engine = self.engine
        if self.done:
            raise DomainError(f"game {self.game.id} is over after {self._interactions} interactions")
        text = engine.step(action.strip())
        self._interactions += 1
        executed = text is not None
        return Step(text if text is not None else NOTHING_HAPPENS, executed, self.done, self.won, self.admissible)

    def fresh(self) -> "AlfworldEnvironment":
        """Return a new environment of the same game, not started and independent of this one."""
        return AlfworldEnvironment(self.game, self.step_limit)

    def close(self) -> None:
        """Free what the game holds. May be called twice; ``reset`` starts it again."""
        if self._engine is not None:
            self._engine.close()
        self._engine = None
        self._started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
