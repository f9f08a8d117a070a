"""An environment that plays each course of actions once and repeats what it showed then.

Games answer equal actions equally, which tests of their own hold them to; so conditions and rollouts that do the same
may share one play. What differs is played.
"""

from collections.abc import Callable
from typing import Any

from planroute.domains.text.environment import Environment, Turn

Known = dict[tuple[Any, tuple[str, ...]], tuple[Any, tuple[str, ...]]]


class Replaying:
    """``key`` names the game, ``make`` opens it, ``known`` is shared by all that play it."""

    def __init__(self, key: Any, make: Callable[[], Environment], known: Known) -> None:
        self.key, self.make, self.known = key, make, known
        self.actions: tuple[str, ...] = ()
        self.live: Environment | None = None
        self.played = 0
        self.started = False

    @property
    def admissible(self) -> tuple[str, ...]:
        return self.known[self.key, self.actions][1] if self.started else ()

    def reset(self) -> str:
        self.actions, self.started = (), True
        if (self.key, ()) not in self.known:
            self._restart()
        self.played = 0 if self.live is None else self.played
        return str(self.known[self.key, ()][0])

    def step(self, action: str) -> Turn:
        after = (*self.actions, action)
        if (self.key, after) not in self.known:
            live = self._caught_up()
            turn = live.step(action)
            self.played += 1
            self.known[self.key, after] = turn, live.admissible
        self.actions = after
        return self.known[self.key, after][0]

    def close(self) -> None:
        self.started = False
        if self.live is not None:
            self.live.close()
            self.live = None

    def _restart(self) -> Environment:
        self.live = self.live or self.make()
        first = self.live.reset()
        self.known[self.key, ()] = first, self.live.admissible
        self.played = 0
        return self.live

    def _caught_up(self) -> Environment:
        live = self.live or self._restart()
        for action in self.actions[self.played :]:
            live.step(action)
            self.played += 1
        return live
