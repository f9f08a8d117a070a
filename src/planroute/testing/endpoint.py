"""An OpenAI-compatible endpoint on 127.0.0.1 that breaks HTTP and its answers on purpose, by a seeded plan."""

import asyncio
import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Literal

from planroute.streams import stream
from planroute.testing.faults import ANSWERED, Fate, Faults, lie

PATH: Final = "/v1/chat/completions"
LARGEST_BODY: Final = 16 << 20
START_S: Final = 10.0

Answer = Callable[[Mapping[str, Any]], str]
"""Makes the text of an answer from the body of a request."""


@dataclass
class Told:
    """What an endpoint did so far.

    ``requests`` counts requests by fate, ``completed`` answers that were sent whole, ``prompt_tokens`` and
    ``completion_tokens`` what can be known of those answers by the accounts of tokens sent with them, ``left`` clients
    that went away before an answer. ``fates`` holds what became of each question, by its SHA-256, one request after
    the other; it stays empty where there are no faults.
    """

    requests: Counter[Fate] = field(default_factory=Counter)
    completed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    left: int = 0
    fates: dict[str, list[Fate]] = field(default_factory=dict)


def minimal_answer(body: Mapping[str, Any]) -> str:
    """Return the least that satisfies the schema of the request, or some words where it has none."""
    wanted = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if wanted is None:
        return "Good day to you"
    from planroute.calls import ModelRequest
    from planroute.models.minimal import minimal

    return minimal(ModelRequest("", (), schema=wanted))


class FaultServer:
    """The endpoint, while a ``with`` or ``async with`` block lasts.

    ``async with`` serves in the running event loop, ``with`` in a thread of its own. Every request's fate is a draw
    under ``seed``: by the question and how often it came before (``by="content"``), so that the plan does not depend on
    the order of arrival, or by the number of its arrival (``by="arrival"``). ``answer`` makes the texts.
    ``port`` 0 takes any free one.
    """

    def __init__(
        self,
        faults: Faults = Faults(),  # noqa: B008 - frozen
        *,
        seed: int = 0,
        by: Literal["content", "arrival"] = "content",
        answer: Answer = minimal_answer,
        port: int = 0,
    ) -> None:
        self.faults, self.seed, self.by, self.answer, self.port = faults, seed, by, answer, port
        self.told = Told()
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def base_url(self) -> str:
        """The address for a client; the server must be running."""
        if self._server is None:
            raise RuntimeError("the endpoint runs inside its with block only")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._serving)

    async def __aenter__(self) -> "FaultServer":
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for serving in self._serving:
            serving.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await asyncio.sleep(0)  # the aborted transports close their sockets

    def __enter__(self) -> "FaultServer":
        ready = threading.Event()

        async def serve() -> None:
            self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
            async with self:
                ready.set()
                await self._over.wait()

        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), name="endpoint", daemon=True)
        self._thread.start()
        if not ready.wait(START_S):
            raise RuntimeError(f"the endpoint did not start within {START_S:g} s")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this is a coroutine
        self._serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
                while await self._request(reader, writer):
                    pass
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        except asyncio.CancelledError:
            pass  # the end of the block; a stream server would tell of a cancelled task as an error
        finally:
            writer.transport.abort()
            self._serving.discard(task)

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Read one request and let it meet its fate; return whether the connection goes on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        method, target, _ = first.split(" ", 2)
        if not 0 <= length <= LARGEST_BODY or "transfer-encoding" in headers:
            return _send(writer, 413, {"error": {"message": "say how long it is, and not too much"}}, last=True)
        raw = await reader.readexactly(length)
        if (method, target.partition("?")[0]) != ("POST", PATH):
            return _send(writer, 404, {"error": {"message": f"there is only POST {PATH}"}})
        try:
            body = json.loads(raw)
            body["messages"][-1]["content"].split()
        except (ValueError, LookupError, TypeError, AttributeError):
            return _send(writer, 400, {"error": {"message": "not a chat of texts"}})
        return await self._meet(reader, writer, body, raw)

    async def _meet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: Mapping[str, Any], raw: bytes
    ) -> bool:
        told, faults = self.told, self.faults
        fate = Fate.GOOD
        names: tuple[str | int, ...] = (told.requests.total(),)
        if not faults.none:
            question = hashlib.sha256(raw).hexdigest()
            earlier = told.fates.setdefault(question, [])
            if self.by == "content":
                names = (question, len(earlier))
            fate = faults.fate(stream(self.seed, "fate", *names))
            earlier.append(fate)
        told.requests[fate] += 1
        match fate:
            case Fate.REFUSED:
                return _send(writer, 401, {"error": {"message": "not this key"}})
            case Fate.LIMITED:
                return _send(writer, 429, {"error": {"message": "too many"}})
            case Fate.PAUSED:
                return _send(
                    writer, 429, {"error": {"message": "too many"}}, f"retry-after: {faults.retry_after_s}\r\n"
                )
            case Fate.FAILING:
                return _send(writer, 500, {"error": {"message": "out of order"}})
            case Fate.GARBAGE:
                return _send(writer, 200, b"<html>\xff\x00 not what you think")
            case Fate.WRONG_SCHEMA:
                return _send(writer, 200, {"object": "chat.completion", "choices": [], "usage": {"prompt_tokens": 7}})
            case Fate.HANGING:
                await reader.read()
                told.left += 1
                return False
        text = self.answer(body)
        prompt = sum(len(str(message.get("content", "")).split()) for message in body["messages"])
        completion = len(text.split())
        usage: Mapping[str, Any] | None = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        if fate is Fate.LYING:
            usage, prompt, completion = lie(stream(self.seed, "lie", *names), prompt, completion)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        answer = {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [choice],
            "usage": usage,
        }
        data = json.dumps(answer).encode()
        if fate is Fate.TRUNCATED:
            return _send(writer, 200, data[: len(data) // 2], length=len(data), last=True)
        if fate is Fate.CUT_OFF:
            piece = data[: len(data) // 2]
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            return False
        if fate is Fate.SLOW:
            await asyncio.sleep(faults.slow_s)
        _send(writer, 200, data)
        await writer.drain()
        told.completed += 1
        told.prompt_tokens += prompt
        told.completion_tokens += completion
        return True


def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: Mapping[str, Any] | bytes,
    header: str = "",
    *,
    length: int | None = None,
    last: bool = False,
) -> bool:
    """Write one answer; return whether the connection goes on. ``length`` is what the header claims."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    size = len(data) if length is None else length
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {size}\r\n{header}\r\n"
    writer.write(head.encode() + data)
    return not last


__all__ = ["ANSWERED", "Answer", "FaultServer", "Told", "minimal_answer"]
