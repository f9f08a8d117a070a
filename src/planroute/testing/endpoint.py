"""An OpenAI-compatible endpoint on loopback that fails on purpose, by a plan that a seed fixes.

HTTP/1.1 with connections kept, over bare streams: a server that knows HTTP well could not break it.
"""

import asyncio
import hashlib
import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

from planroute.streams import stream
from planroute.testing import fates
from planroute.testing.fates import Counts, Fate, Shares

MOST_BYTES: Final = 2**26
"""A longer request is not read."""
_CLOSE = "Connection: close"


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    body: bytes
    last: bool
    """Whether the client wants the connection closed."""


class FaultServer:
    """A server on 127.0.0.1, while it is entered; requests go to ``POST {url}/chat/completions``.

    The fate of a request is drawn from a stream of ``seed`` by the request's content and by how often it came before:
    the order in which different requests arrive changes nothing. An answer is ``answer``, or else the last message's
    content. ``slow_s`` is how late a slow answer is, ``retry_after_s`` the pause that is asked for, both in s.
    """

    def __init__(
        self,
        shares: Shares = Shares(),  # noqa: B008 - frozen
        seed: int = 0,
        *,
        answer: str | None = None,
        slow_s: float = 0.05,
        retry_after_s: float = 0.01,
        port: int = 0,
    ) -> None:
        self.shares, self.seed, self.answer = shares, seed, answer
        self.slow_s, self.retry_after_s = slow_s, retry_after_s
        self.counts = Counts()
        self.url = ""
        self._port = port
        self._came: Counter[bytes] = Counter()
        self._talks: set[asyncio.Task[None]] = set()
        self._hung, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, backlog=1024)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.close()
        talks = tuple(self._talks)
        for talk in talks:
            talk.cancel()
        await asyncio.gather(*talks, return_exceptions=True)
        await self._server.wait_closed()

    async def until_hanging(self) -> None:
        """Return once a request came that hangs."""
        await self._hung.wait()

    async def until_left(self) -> None:
        """Return once no connection is open."""
        await self._empty.wait()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._talks.add(talk)
        self._empty.clear()
        talk.add_done_callback(self._gone)

    def _gone(self, talk: asyncio.Task[None]) -> None:
        self._talks.discard(talk)
        if not self._talks:
            self._empty.set()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read(reader)) is not None:
                kept = await self._respond(request, reader, writer)
                if request.last or not kept:
                    break
        except ConnectionError:
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _respond(self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Let ``request`` meet its fate; return whether the connection may be used again."""
        if request.method != "POST" or not request.path.partition("?")[0].endswith("/chat/completions"):
            self.counts.others += 1
            writer.write(fates.complaint("404 Not Found", "only POST .../chat/completions is here"))
            await writer.drain()
            return True
        fate, kind = self._fate(request.body)
        self.counts.requests[fate] += 1
        if fate is Fate.HANGING:
            self._hung.set()
            while await reader.read(2**16):
                pass
            return False
        if fate is Fate.SLOW:
            await asyncio.sleep(self.slow_s)
        text = self._text(request.body)
        sizes = len(request.body) // 4 + 1, len(text) // 4 + 1
        usage, tokens = fates.lie(kind, *sizes) if fate is Fate.LYING else fates.honest(*sizes)
        writer.write(self._bytes(fate, kind, fates.completion(text, usage)))
        await writer.drain()
        if fate in fates.ANSWERED:
            self.counts.answers += 1
            self.counts.tokens += tokens
        return fate is not Fate.TRUNCATED

    def _fate(self, body: bytes) -> tuple[Fate, int]:
        """The fate of the next request of this content, and which kind of it."""
        if self.shares.faultless:
            return Fate.GOOD, 0
        digest = hashlib.sha256(body)
        before = self._came[digest.digest()]
        self._came[digest.digest()] += 1
        draws = stream(self.seed, "fate", digest.hexdigest(), before)
        return self.shares.fate(draws.random()), int(draws.integers(2**16))

    def _text(self, body: bytes) -> str:
        if self.answer is not None:
            return self.answer
        try:
            return str(json.loads(body)["messages"][-1]["content"])
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            return ""

    def _bytes(self, fate: Fate, kind: int, good: bytes) -> bytes:
        """What is sent of the good body ``good``."""
        match fate:
            case Fate.UNAUTHORISED:
                return fates.complaint("401 Unauthorized", "this key is not known")
            case Fate.LIMITED:
                return fates.complaint("429 Too Many Requests", "too many at once")
            case Fate.PAUSED:
                wait = f"Retry-After: {self.retry_after_s:g}"
                return fates.complaint("429 Too Many Requests", "too many at once", wait)
            case Fate.FAILING:
                return fates.complaint("500 Internal Server Error", "out of order")
            case Fate.TRUNCATED if kind % 2:
                return fates.response("200 OK", good[: len(good) // 2], _CLOSE, more=len(good) - len(good) // 2)
            case Fate.TRUNCATED:
                lines = ("HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked", _CLOSE)
                head = "\r\n".join((*lines, f"\r\n{len(good):x}\r\n"))
                return head.encode() + good[: len(good) // 2]
            case Fate.GARBAGE:
                return fates.response("200 OK", fates.GARBAGE[kind % len(fates.GARBAGE)])
            case Fate.SHAPELESS:
                shape = fates.SHAPELESS[kind % len(fates.SHAPELESS)]
                return fates.response("200 OK", json.dumps(shape).encode())
            case _:
                return fates.response("200 OK", good)


async def _read(reader: asyncio.StreamReader) -> _Request | None:
    """Read one request, ``None`` where no whole one comes that can be read."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if not 0 <= length <= MOST_BYTES:
            return None
        body = await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
        return None
    return _Request(method, path, body, headers.get("connection", "").lower() == "close")
