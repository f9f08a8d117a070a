"""One call of a language model as data: what was asked, what came back, and the identity of the question."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from planroute.ledger import Usage

Role = Literal["system", "user", "assistant"]

_LONE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON that is equal for equal values and always UTF-8: lone surrogates stay escaped."""
    text = _ENCODER.encode(value)
    if text.isascii():
        return text
    return _LONE.sub(lambda lone: f"\\u{ord(lone.group()):04x}", text)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How an answer is drawn. Fixed across the conditions of a comparison.

    ``max_tokens`` bounds thinking and answer together; ``thinking`` is ``None`` where the model has no such switch.
    The defaults are those of the grid paper (section IV: temperature 0.2, 400 tokens).
    """

    temperature: float = 0.2
    top_p: float = 1.0
    max_tokens: int = 400
    seed: int | None = 0
    stop: tuple[str, ...] = ()
    thinking: bool | None = None


_SAMPLING = tuple(each.name for each in fields(Sampling))


@dataclass(frozen=True, slots=True)
class GenerationProfile:
    """How a backbone generates: fixed across the conditions of a comparison and stored with the run.

    ``max_new_tokens`` bounds one turn, thinking and answer together; a model that thinks gets at least
    ``thinking_floor``. ``tool_policy`` is ``none``: actions are answers, not tool calls.
    Source: Planning-as-Routing, appendix D (32,768 new tokens a turn, 16,384 at least for thinking models).
    """

    temperature: float = 0.2
    top_p: float = 1.0
    max_new_tokens: int = 32_768
    thinking: bool | None = None
    thinking_floor: int = 16_384
    tool_policy: str = "none"

    def sampling(self) -> Sampling:
        """Return the sampling of every call under this profile."""
        budget = max(self.max_new_tokens, self.thinking_floor) if self.thinking else self.max_new_tokens
        return Sampling(self.temperature, self.top_p, budget, thinking=self.thinking)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that can change an answer, and ``purpose``, which cannot.

    ``schema`` is a JSON schema that the answer should satisfy; an engine that can enforces it. ``draw`` tells repeated
    samples of one question apart. ``purpose`` names the interface that asks and is what the ledger books the call on.
    """

    purpose: str
    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()
    draw: int = 0

    _identified: dict[str, tuple[str, str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def canonical(self, endpoint: str) -> str:
        """Return canonical JSON of all that identifies the call when it is put to ``endpoint``."""
        return self.identified(endpoint)[0]

    def identity(self, endpoint: str) -> str:
        """Return the SHA-256 of ``canonical``: two calls with equal identity are the same question."""
        return self.identified(endpoint)[1]

    def identified(self, endpoint: str) -> tuple[str, str]:
        """Return ``canonical`` and ``identity``, made once for each endpoint."""
        known = self._identified.get(endpoint)
        if known is None:
            sampling = self.sampling
            text = canonical_json(
                {
                    "endpoint": endpoint,
                    "messages": [{"role": message.role, "content": message.content} for message in self.messages],
                    "sampling": {name: getattr(sampling, name) for name in _SAMPLING},
                    "schema": self.schema,
                    "tools": self.tools,
                    "draw": self.draw,
                }
            )
            known = self._identified[endpoint] = text, hashlib.sha256(text.encode()).hexdigest()
        return known


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What came back. ``billed`` is false where a cache or a recording answered, or an equal call in flight did.

    ``attempts`` counts the requests that were sent for it, those that failed before it among them: at least 1 where it
    is billed, and 0 where it is not.
    """

    text: str
    usage: Usage = field(default_factory=Usage)
    thinking: str = ""
    finish_reason: str = "stop"
    latency_s: float = 0.0
    billed: bool = True
    price_usd: float | None = None
    attempts: int = field(default=1, compare=False)
