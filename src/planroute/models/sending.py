"""How many requests a call has sent: those that went out over a connection, whatever came of them.

A try that reached nobody has sent none, and nobody can ask money for it.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass


@dataclass(slots=True)
class Sent:
    """What one call has done so far: its tries, and the ``requests`` that went out.

    A try without a connection has sent none; one in another dialect, or at another address, sends one more.
    """

    attempts: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request, which is counted each time that the HTTP client takes it to write it."""

    content: bytes
    sent: Sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the whole body."""
        self.sent.requests += 1  # here: the client is connected, and once it has written it may be cancelled
        yield self.content


__all__ = ["Body", "Sent"]
