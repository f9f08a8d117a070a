"""How many requests a call has sent: those that went out over a connection, whatever came of them.

A try that reached nobody has sent none, and nobody can ask money for it.
"""

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(slots=True)
class Sent:
    """What one call has done so far: its tries, and the ``requests`` that went out.

    A try without a connection has sent none; one in another dialect, or at another address, sends one more.
    """

    attempts: int = 0
    requests: int = 0


UNDER_WAY: ContextVar[Sent] = ContextVar("under_way")
"""The account of the call that the current task is making."""


async def counted(request: Any) -> None:
    """Have ``request`` counted when it is written: a hook for an HTTP client, which runs it before each request."""
    body: Any = type(request.stream)
    if not issubclass(body, _Counting):  # a redirected request has the body of the one before it
        request.stream = _counting(body)(request.content, UNDER_WAY.get())


class _Counting:
    """A body that is counted each time that somebody takes it to write it."""

    def __init__(self, content: bytes, sent: Sent) -> None:
        self._content, self._sent = content, sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._sent.requests += 1  # here: the client is connected, and once it has written it may be cancelled
        yield self._content


@cache
def _counting(kind: Any) -> Callable[[bytes, Sent], Any]:
    """A counting body that the client takes for one of its own ``kind``."""
    return type("Counting", (_Counting, kind), {})


__all__ = ["UNDER_WAY", "Sent", "counted"]
