"""Small models for tests: they answer what they are told to, or fail as they are told to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from planroute.calls import ModelReply, ModelRequest
from planroute.ledger import Usage

_seconds = count(1)


@dataclass
class Answering:
    """Answers with ``answer``, a text or a function of the request; raises it where it is an exception.

    Every reply takes other time, so whatever holds wall time differs between equal runs. ``requests`` keeps what was
    asked.
    """

    answer: str | Exception | Callable[[ModelRequest], str | Exception]
    name: str = "answering"
    requests: list[ModelRequest] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        return f"test/{self.name}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        answer = self.answer(request) if callable(self.answer) else self.answer
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        usage = Usage(len(request.messages[-1].content), len(answer))
        return ModelReply(answer, usage, latency_s=float(next(_seconds)), billed=len(self.requests) % 2 == 0)

    async def aclose(self) -> None:
        """Nothing is held."""
