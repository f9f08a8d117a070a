"""What a model call costs beside the model: processor time per live call, and calls a second from the call cache.

A live call is put by bare clients (raw streams, httpx2, openai's own) and by the harness: ``ask`` over meter, call
cache and ``LiveModel``. All send the same bodies to the same server, which answers at once in another process, so that
only the time of the client's process counts. "without HTTP" is the harness over a model that answers by itself. Then
calls and whole episodes are repeated from a call cache.

Run it with ``python benchmarks/calls.py``; ``--json`` prints the figures for programs, ``--profile`` where the time of
the harness and of a repetition goes.
"""

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from planroute.ask import ask
from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.declarers import Natural
from planroute.domains.alfworld import find_games
from planroute.domains.alfworld.domain import AlfworldDomain
from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.domain import Mind2WebDomain
from planroute.domains.text.replies import Act, act_schema
from planroute.evaluation.judges import RubricJudge
from planroute.experiments.compare import comparison_cells
from planroute.ledger import Ledger, Usage
from planroute.models.cache import CachedModel, CallCache
from planroute.models.live import LiveModel
from planroute.models.metered import MeteredModel
from planroute.models.record import CallRecord
from planroute.models.scripted import scripted
from planroute.modes import MODES, Baseline
from planroute.protocols import Context, Domain
from planroute.runs.cells import Cell, run_cells
from planroute.trace import ModelCalled, Trace

ACTIONS = tuple(f"go to drawer {number}" for number in range(12))
SCHEMA = act_schema(ACTIONS)
SYSTEM = "You act in a household and see it in words. Answer with one action. " * 6
ANSWER = json.dumps({"thought": "The drawer was not looked into yet.", "action": ACTIONS[3]})
WARM_UP = 64
CONCURRENCY = 16
SAMPLING = Sampling()


def question(number: int) -> str:
    """Some 2,000 characters, as an episode asks them; no two are equal."""
    history = [{"action": f"open drawer {n}", "observation": f"Drawer {n} is open. It is empty."} for n in range(16)]
    return f"State: {json.dumps({'episode': number, 'goal': 'put a clean cloth in drawer 7', 'history': history})}"


def request(number: int) -> ModelRequest:
    return ModelRequest("action", (Message("system", SYSTEM), Message("user", question(number))), SAMPLING, SCHEMA)


# The server: HTTP/1.1 with connections kept, one canned completion for every request.


def _completion() -> bytes:
    usage = {"prompt_tokens": 600, "completion_tokens": 25, "total_tokens": 625}
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


async def _serve(port: Connection) -> None:
    answer = _completion()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            try:
                while True:
                    head = await reader.readuntil(b"\r\n\r\n")
                    await reader.readexactly(_length(head))
                    writer.write(answer)
            except (asyncio.IncompleteReadError, ConnectionError):
                return

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _length(head: bytes) -> int:
    return int(next(line[15:] for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"))


def _server(port: Connection) -> None:
    asyncio.run(_serve(port))


@contextmanager
def answering() -> Iterator[int]:
    """A server in a process of its own; yields its port."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_server, args=(there,), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


# The clients. Each is opened once and then put to work by one or many callers.

Call = Callable[[int], Awaitable[None]]


class Raw:
    """HTTP over raw streams: the least that a client in Python can do. One connection for each call under way."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port = port
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def call(self, number: int) -> None:
        content = json.dumps(body(number), ensure_ascii=False).encode()
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        head = (
            f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer none\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        answer = await reader.readexactly(_length(await reader.readuntil(b"\r\n\r\n")))
        self.idle.append((reader, writer))
        assert json.loads(answer)["choices"][0]["message"]["content"] == ANSWER

    async def close(self) -> None:
        for _, writer in self.idle:
            writer.close()
            await writer.wait_closed()


class Httpx2:
    """httpx2 alone, which is what the harness sends with."""

    def __init__(self, port: int, folder: Path) -> None:
        import httpx2

        self.url, self.client = f"http://127.0.0.1:{port}/v1/chat/completions", httpx2.AsyncClient()

    async def call(self, number: int) -> None:
        answer = await self.client.post(self.url, json=body(number))
        assert answer.json()["choices"][0]["message"]["content"] == ANSWER

    async def close(self) -> None:
        await self.client.aclose()


class OpenAI:
    """openai's client, as its manual shows it."""

    def __init__(self, port: int, folder: Path) -> None:
        from openai import AsyncOpenAI

        self.client = AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)

    async def call(self, number: int) -> None:
        answer = await self.client.chat.completions.create(**body(number))
        assert answer.choices[0].message.content == ANSWER

    async def close(self) -> None:
        await self.client.close()


def body(number: int) -> dict[str, Any]:
    """The body that the harness sends for question ``number``, made by hand."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question(number)}]
    shape = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    sampling = {"temperature": SAMPLING.temperature, "top_p": SAMPLING.top_p, "max_tokens": SAMPLING.max_tokens}
    return {"model": "m", "messages": messages, **sampling, "seed": SAMPLING.seed, "response_format": shape}


class Harness:
    """What an episode does for a typed answer, with a call cache that is empty at first."""

    def __init__(self, port: int, folder: Path) -> None:
        self.cache = CallCache(folder / "calls.sqlite")
        self.model = CachedModel(LiveModel(f"http://127.0.0.1:{port}/v1", "m"), self.cache)
        self.contexts = [self._context() for _ in range(CONCURRENCY)]

    def _context(self) -> Context:
        ledger = Ledger()
        return Context(0, Trace(), ledger, MeteredModel(self.model, ledger))

    async def call(self, number: int) -> None:
        context = self.contexts[number % CONCURRENCY]
        parsed = await ask(context, "action", SYSTEM, question(number), Act, sampling=SAMPLING, json_schema=SCHEMA)
        assert parsed.value.action == ACTIONS[3]

    async def close(self) -> None:
        await self.model.aclose()


class Instant:
    """A model that answers without HTTP."""

    endpoint = "instant"

    async def complete(self, request: ModelRequest) -> ModelReply:
        return ModelReply(ANSWER, Usage(600, 25, raw={"prompt_tokens": 600, "completion_tokens": 25}))

    async def aclose(self) -> None:
        pass


class Alone(Harness):
    """The harness without the client: asking, meter, an empty call cache and its file, reading, trace."""

    def __init__(self, port: int, folder: Path) -> None:
        super().__init__(port, folder)
        self.model.model = Instant()


CLIENTS = {"raw streams": Raw, "httpx2": Httpx2, "openai": OpenAI, "harness": Harness, "without HTTP": Alone}


async def _calls(client: Any, numbers: range, concurrency: int) -> None:
    waiting = iter(numbers)

    async def work() -> None:
        for number in waiting:
            await client.call(number)

    await asyncio.gather(*(work() for _ in range(concurrency)))


async def _spent(opener: Any, port: int, calls: int, concurrency: int, profile: cProfile.Profile | None) -> float:
    """Processor time of one call in ms."""
    with tempfile.TemporaryDirectory() as folder:
        client = opener(port, Path(folder))
        try:
            await _calls(client, range(WARM_UP), concurrency)
            begun = time.process_time()
            if profile is not None:
                profile.enable()
            await _calls(client, range(WARM_UP, WARM_UP + calls), concurrency)
            if profile is not None:
                profile.disable()
            return 1000 * (time.process_time() - begun) / calls
        finally:
            await client.close()


def live(port: int, calls: int, rounds: int) -> dict[str, Any]:
    """Processor time per call in ms of every client, the median of ``rounds`` that take turns."""
    found: dict[str, Any] = {}
    for name, concurrency in (("one at a time", 1), (f"{CONCURRENCY} at once", CONCURRENCY)):
        taken: dict[str, list[float]] = {client: [] for client in CLIENTS}
        for _ in range(rounds):
            for client, opener in CLIENTS.items():
                taken[client].append(asyncio.run(_spent(opener, port, calls, concurrency, None)))
        ms = {client: median(each) for client, each in taken.items()}
        bare = list(CLIENTS)[:3]
        found[name] = {
            "ms": ms,
            "more_than_ms": {client: ms["harness"] - ms[client] for client in bare},
            "times": {client: ms["harness"] / ms[client] for client in bare},
        }
    return found


# From the call cache.


class Unasked:
    """A model that must not be asked, under the name of the one whose answers were kept."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        raise AssertionError(f"{request.purpose}: not in the cache")

    async def aclose(self) -> None:
        pass


def _timed(work: Callable[[], Any], profile: cProfile.Profile | None) -> tuple[Any, float, float]:
    """What ``work`` returns, and its wall and processor time in s."""
    begun, cpu = time.perf_counter(), time.process_time()
    result = work() if profile is None else profile.runcall(work)
    return result, time.perf_counter() - begun, time.process_time() - cpu


def calls_alone(folder: Path, calls: int, profile: cProfile.Profile | None = None) -> dict[str, Any]:
    """Distinct calls through meter and call cache, one after the other."""
    endpoint, ledger = "http://127.0.0.1/v1#m", Ledger()
    reply = ModelReply(ANSWER, Usage(600, 25, raw={"prompt_tokens": 600, "completion_tokens": 25}))
    with closing(CallCache(folder / "alone.sqlite")) as cache:
        for number in range(calls):
            canonical, identity = request(number).identified(endpoint)
            cache.store(CallRecord(identity, "action", canonical, reply))

    requests = [request(number) for number in range(calls)]

    async def again() -> None:
        model = CachedModel(Unasked(endpoint), CallCache(folder / "alone.sqlite"))
        metered = MeteredModel(model, ledger)
        for each in requests:
            await metered.complete(each)
        await model.aclose()

    _, wall, cpu = _timed(lambda: asyncio.run(again()), profile)
    assert ledger.total.model_calls == calls
    return _rate(calls, ledger.total.billed_calls, wall, cpu)


def _rate(calls: int, billed: float, wall: float, cpu: float) -> dict[str, Any]:
    return {"calls": calls, "billed_calls": billed, "per_s": calls / wall, "ms": 1000 * wall / calls, "cpu_s": cpu}


DOMAINS: dict[str, Callable[[], Domain]] = {
    "mind2web": lambda: Mind2WebDomain(tuple(find_tasks()), RubricJudge("trajectory")),
    "alfworld": lambda: AlfworldDomain(tuple(find_games()), RubricJudge("trajectory")),
}


def _cells(domain: Domain, seeds: int, model: Any) -> list[Cell]:
    baselines = {Baseline.FLAT_REACT: Natural(), Baseline.PLAN_REACT: Natural()}
    tasks = domain.tasks()
    return comparison_cells(tasks, range(seeds), MODES, model=model, routed={"ROUTED": Natural()}, baselines=baselines)


def episodes(name: str, folder: Path, seeds: int, profile: cProfile.Profile | None = None) -> dict[str, Any]:
    """Whole episodes of a text domain, recorded once with a scripted agent that slips, and repeated from the cache."""
    domain, path, agent = DOMAINS[name](), folder / f"{name}.sqlite", scripted("slip=0.1")

    def run(model: Any) -> list[Any]:
        cached = CachedModel(model, CallCache(path))
        with closing(cached.cache):
            return asyncio.run(run_cells(domain, _cells(domain, seeds, cached), concurrency=CONCURRENCY))

    first = run(agent)
    again, wall, cpu = _timed(lambda: run(Unasked(agent.endpoint)), profile)
    assert [episode.row for episode in again] == [episode.row for episode in first]
    calls = sum(len(episode.trace.of(ModelCalled)) for episode in again)
    billed = sum(spent["billed_calls"] for episode in again for spent in episode.billing.values())
    return {"episodes": len(again), **_rate(calls, billed, wall, cpu)}


# What is printed.


def _top(profile: cProfile.Profile, title: str, most: int = 25) -> None:
    stats: Any = pstats.Stats(profile)
    total = stats.total_tt
    print(f"\n{title}: share of the time, own and with what it calls, and calls")
    for (file, line, function), (_, count, own, cumulated, _) in sorted(
        stats.stats.items(), key=lambda item: -item[1][2]
    )[:most]:
        where = f"{Path(file).parent.name}/{Path(file).name}:{line} " if line else ""
        print(f"  {own / total:6.1%} {cumulated / total:7.1%} {count:8d}  {where}{function}")


def _show(result: dict[str, Any]) -> None:
    for name, figures in result["live"].items():
        print(f"processor time of one call, {name}:")
        for client, ms in figures["ms"].items():
            than = figures["more_than_ms"].get(client)
            more = "" if than is None else f"; harness {than:+.3f} ms, {figures['times'][client]:.2f} times"
            print(f"  {client:12} {ms:6.3f} ms{more}")
    for name, figures in result["repeated"].items():
        count = f"{figures['episodes']} episodes, " if "episodes" in figures else ""
        print(
            f"from the cache, {name}: {count}{figures['calls']} calls, {figures['billed_calls']} billed, "
            f"{figures['per_s']:.0f} calls/s ({figures['ms']:.3f} ms each)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1500, help="live calls of each client in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeated", type=int, default=5000, help="calls in the cache")
    parser.add_argument("--seeds", type=int, default=3, help="of the episodes")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--profile", action="store_true", help="show where the time goes instead")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, answering() as port:
        folder = Path(name)
        if given.profile:
            profiles = [cProfile.Profile() for _ in range(2 + len(DOMAINS))]
            asyncio.run(_spent(Harness, port, given.calls, CONCURRENCY, profiles[0]))
            calls_alone(folder, given.repeated, profiles[1])
            for domain, profile in zip(DOMAINS, profiles[2:], strict=True):
                episodes(domain, folder, given.seeds, profile)
            for title, profile in zip(("live calls", "calls from the cache", *DOMAINS), profiles, strict=True):
                _top(profile, title)
            return
        repeated = {"calls alone": calls_alone(folder, given.repeated)}
        repeated |= {domain: episodes(domain, folder, given.seeds) for domain in DOMAINS}
        result = {"live": live(port, given.calls, given.rounds), "repeated": repeated}
    if given.json:
        print(json.dumps(result))
        return
    _show(result)


if __name__ == "__main__":
    main()
