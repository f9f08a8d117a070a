"""What can become of a request to an endpoint, how often, and what it looks like on the wire."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Final

from planroute.errors import InputError

HUGE: Final = 10**30


class Fate(StrEnum):
    """What becomes of one request."""

    GOOD = "good"
    UNAUTHORISED = "unauthorised"
    """401."""
    LIMITED = "limited"
    """429 without a word of when to come back."""
    PAUSED = "paused"
    """429 with ``Retry-After``."""
    FAILING = "failing"
    """500."""
    SLOW = "slow"
    """A good answer, late and in time."""
    HANGING = "hanging"
    """No answer until the client leaves."""
    TRUNCATED = "truncated"
    """A good answer that breaks off: shorter than announced, or in the middle of a chunk."""
    GARBAGE = "garbage"
    """200 with what is no JSON."""
    SHAPELESS = "shapeless"
    """200 with JSON that is no chat completion."""
    LYING = "lying"
    """A good answer whose usage account is none."""


ANSWERED: Final = frozenset({Fate.GOOD, Fate.SLOW, Fate.LYING})
"""The fates that end in an answer that a client can use."""
_FAULTS = tuple(fate for fate in Fate if fate is not Fate.GOOD)


@dataclass(frozen=True, slots=True)
class Shares:
    """The share of each fate, from 0 to 1; what is left is good.

    Raises ``InputError`` for a share that is none, and where they add up to more than 1.
    """

    unauthorised: float = 0.0
    limited: float = 0.0
    paused: float = 0.0
    failing: float = 0.0
    slow: float = 0.0
    hanging: float = 0.0
    truncated: float = 0.0
    garbage: float = 0.0
    shapeless: float = 0.0
    lying: float = 0.0

    def __post_init__(self) -> None:
        shares = [getattr(self, each.name) for each in fields(self)]
        if not (all(0 <= share <= 1 for share in shares) and math.fsum(shares) <= 1 + 1e-9):
            raise InputError(f"not shares of requests: {shares}", hint="numbers from 0 to 1, together at most 1")

    @classmethod
    def even(cls, faults: float) -> "Shares":
        """Return shares where ``faults`` of all requests are faulty, each fault as often as another."""
        return cls(**{fate.value: faults / len(_FAULTS) for fate in _FAULTS})

    @property
    def faultless(self) -> bool:
        """Whether every request is answered well."""
        return self == Shares()

    def fate(self, draw: float) -> Fate:
        """Return the fate of a request that drew ``draw`` from [0, 1)."""
        for fate in _FAULTS:
            draw -= getattr(self, fate.value)
            if draw < 0:
                return fate
        return Fate.GOOD


@dataclass(slots=True)
class Counts:
    """What a server has seen: whole requests by fate, answers wholly sent, and the tokens that these told.

    ``others`` are requests for anything else than a chat completion. Of a usage account that is none, only the tokens
    that can be believed are in ``tokens``.
    """

    requests: Counter[Fate] = field(default_factory=Counter)
    answers: int = 0
    tokens: int = 0
    others: int = 0

    @property
    def seen(self) -> int:
        """All requests for a chat completion."""
        return self.requests.total()

    def to_json(self) -> str:
        """Return the counts as one line of JSON, fates in order."""
        by_fate = {fate.value: self.requests[fate] for fate in Fate}
        told = {"answers": self.answers, "tokens": self.tokens, "others": self.others}
        return json.dumps({"requests": by_fate, **told})


def honest(prompt: int, answer: int) -> tuple[Any, int]:
    """Return a usage account, and the tokens in it."""
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}, prompt + answer


def lie(kind: int, prompt: int, answer: int) -> tuple[Any, int]:
    """Return the usage account of the ``kind``-th lie, and the tokens of it that can be believed."""
    told: Mapping[str, Any] = honest(prompt, answer)[0]
    lies: tuple[tuple[Any, int], ...] = (
        ({"prompt_tokens": -prompt, "completion_tokens": -answer, "total_tokens": -prompt - answer}, 0),
        ({name: str(count) for name, count in told.items()}, 0),
        (dict.fromkeys(told, HUGE), 0),
        (dict.fromkeys(told, True), 0),
        (None, 0),
        ({}, 0),
        ({**told, "total_tokens": 3}, prompt + answer),
        ({**told, "completion_tokens": None}, prompt),
        ({**told, "completion_tokens_details": "none"}, prompt + answer),
    )
    return lies[kind % len(lies)]


GARBAGE: Final = (
    b"<html><title>Bad gateway</title></html>",
    b'{"choices": [{"mess',
    b"",
    b"\xff\xfe\x00",
    b"data: [DONE]\n\n",
)
SHAPELESS: Final[tuple[Any, ...]] = (
    {"object": "chat.completion"},
    {"choices": []},
    {"choices": [{"text": "an older form"}]},
    {"choices": [{"message": None}]},
    ["choices"],
    None,
)


def completion(text: str, usage: Any) -> bytes:
    """Return the body of a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    head = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
    return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


def response(status: str, body: bytes, *headers: str, more: int = 0) -> bytes:
    """Return a response of HTTP/1.1 that announces ``more`` bytes than it has."""
    lines = (
        f"HTTP/1.1 {status}",
        "Content-Type: application/json",
        f"Content-Length: {len(body) + more}",
        *headers,
        "\r\n",
    )
    return "\r\n".join(lines).encode() + body


def complaint(status: str, message: str, *headers: str) -> bytes:
    """Return an error as endpoints tell it."""
    return response(status, json.dumps({"error": {"message": message, "type": "fault"}}).encode(), *headers)
