"""A small text environment for tests: a key in the kitchen opens the vault; reaching the vault wins.

Every environment keeps what was done in it, how often it was closed, and a secret that nobody may see.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planroute.calls import ModelReply, ModelRequest
from planroute.domains.text.environment import Match, Matcher, Turn, exact
from planroute.domains.text.fields import TextFields
from planroute.domains.text.world import Limits, TextTask, TextWorld
from planroute.episode import Conditions, Episode, run_episode
from planroute.errors import DomainError
from planroute.evaluation.judges import RubricJudge
from planroute.ledger import Usage
from planroute.protocols import Context, State, Task

SECRET = "combination 7391"
GOAL = "get into the vault"
WAY = ("go kitchen", "take key", "go hall", "go vault")
DOORS = {"hall": ("kitchen", "vault"), "kitchen": ("hall",), "vault": ("hall",)}


class Rooms:
    """``fails`` names the call that raises: ``reset``, ``step`` or ``close``."""

    def __init__(self, fails: str = "", free_text: bool = False) -> None:
        self.fails = fails
        self.free_text = free_text
        self.secret = SECRET
        self.done_here: list[str] = []
        self.resets = 0
        self.closed = 0
        self._forget()

    def _forget(self) -> None:
        self.at, self.key = "hall", False

    @property
    def admissible(self) -> tuple[str, ...]:
        if self.closed or self.free_text:
            return ()
        moves = [f"go {room}" for room in DOORS[self.at]]
        return tuple(sorted([*moves, "wait", *(["take key"] if self.at == "kitchen" and not self.key else [])]))

    def reset(self) -> str:
        self._raise("reset")
        self.resets += 1
        self._forget()
        return f"You are in the hall. Your task: {GOAL}."

    def step(self, action: str) -> Turn:
        self._raise("step")
        assert not self.closed, "nobody acts in a closed environment"
        self.done_here.append(action)
        verb, _, thing = action.partition(" ")
        if verb == "take" and self.at == "kitchen" and not self.key:
            self.key = True
            return Turn("You have the key.", False, False)
        if verb == "go" and thing in DOORS[self.at]:
            if thing == "vault" and not self.key:
                return Turn("The vault is locked.", False, False)
            self.at = thing
            return Turn(f"You are in the {thing}.", thing == "vault", thing == "vault")
        return Turn("Nothing happens.", False, False, executed=action == "wait")

    def close(self) -> None:
        self.closed += 1
        self._raise("close")

    def _raise(self, what: str) -> None:
        if self.fails == what:
            raise DomainError(f"the house fell down at {what}")


@dataclass
class RoomsDomain:
    """``fails(n)`` says which call of the n-th environment raises. ``opened`` keeps every environment."""

    limits: Limits = Limits()
    fails: Callable[[int], str] = lambda number: ""
    matcher: Matcher = exact
    free_text: bool = False
    name: str = "rooms"
    lexicon: str | None = None
    briefing: str = "You walk through a house."
    fields: type[TextFields] = TextFields
    opened: list[Rooms] = field(default_factory=list)
    worlds: list[TextWorld] = field(default_factory=list)

    def tasks(self) -> Sequence[Task]:
        return (Task("vault", GOAL),)

    def make(self) -> Rooms:
        self.opened.append(Rooms(self.fails(len(self.opened)), self.free_text))
        return self.opened[-1]

    async def open(self, task: Task, context: Context) -> TextWorld:
        judge = RubricJudge("trajectory")
        text = TextTask(self.name, GOAL, self.briefing, self.make, judge, self.matcher, self.limits)
        self.worlds.append(TextWorld(text, context))
        return self.worlds[-1]

    def facts(self, task: Task) -> Mapping[str, Any]:
        return {"goal": GOAL}

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        return {"plan": []}


Answer = str | Mapping[str, Any] | Callable[[ModelRequest, Mapping[str, Any]], Any]


@dataclass
class Player:
    """Answers each purpose with its own answer: text, an object, or a function of the request and its state.

    Without an answer of its own an action follows ``way`` by the number of turns in the history, then waits.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    way: Sequence[str] = WAY
    name: str = "player"
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"test/{self.name}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        state = state_of(request)
        answer: Any = self.answers.get(request.purpose, self._usual(request.purpose, state))
        if callable(answer):
            answer = answer(request, state)
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return ModelReply(text, Usage(10, 5, 3), price_usd=None)

    async def aclose(self) -> None:
        """Nothing is held."""

    def asked(self, purpose: str) -> list[ModelRequest]:
        return [request for request in self.requests if request.purpose == purpose]

    def _usual(self, purpose: str, state: Mapping[str, Any]) -> Any:
        turns = len(state.get("history", ()))
        match purpose:
            case "action":
                return {"thought": "", "action": self.way[turns] if turns < len(self.way) else "wait"}
            case "decomposition":
                return {"subgoals": ["have the key", "be in the vault"]}
            case "trajectory judge":
                return {"score": 2, "reason": "so it seems"}
            case _:
                return {"steps": ["fetch the key", "enter the vault"]}


def state_of(request: ModelRequest) -> Mapping[str, Any]:
    """The state that a question shows."""
    _, _, rest = request.messages[-1].content.rpartition("State: ")
    return json.JSONDecoder().raw_decode(rest)[0]


def act(action: str) -> Mapping[str, str]:
    return {"thought": "", "action": action}


def matching_last_word(words: str, admissible: tuple[str, ...]) -> Match:
    """Any text whose last word is that of exactly one action."""
    found = [action for action in admissible if action.split()[-1] == words.split()[-1].strip(".!").lower()]
    return Match(found[0], "last word") if len(found) == 1 else Match(None, f"{len(found)} actions end like that")


async def played(domain: RoomsDomain, conditions: Conditions, seed: int = 7) -> Episode:
    return await run_episode(domain, domain.tasks()[0], seed, conditions)


def limited(**changes: int) -> Limits:
    return replace(Limits(), **changes)
