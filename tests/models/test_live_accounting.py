"""What a live call has sent, by an endpoint's own count: whatever ends it, and whatever it could not reach."""

import asyncio
import json
from contextlib import closing
from pathlib import Path

import httpx2  # noqa: F401 - loading it must not use up a call's time
import pytest

from planroute.calls import Message, ModelReply, ModelRequest
from planroute.errors import ModelClosed, ModelError, ModelUnavailable, StorageError
from planroute.ledger import Ledger
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.models.metered import MeteredModel
from planroute.models.priced import PricedModel, Prices
from planroute.runs.account import Account, OnAccount
from planroute.testing import Faults, FaultServer

SECONDS = 20.0
"""No test waits that long for what must come."""
TURNS = 80


def request(number: int = 0) -> ModelRequest:
    return ModelRequest("purpose", (Message("user", f"What of case {number}?"),))


class Books:
    """A ledger and a run's account of the same calls."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.noted: list[dict] = []
        self.account = Account(note=lambda cell, billed: self.noted.append(dict(billed["purpose"])))

    def model(self, model) -> MeteredModel:
        return MeteredModel(OnAccount(model, self.account, "cell"), self.ledger)

    def noted_sum(self, name: str) -> float:
        return sum(each.get(name, 0) for each in self.noted)

    @property
    def seen(self) -> tuple[int, int, int]:
        """Requests, billed calls and billed tokens; ledger and account must agree."""
        total = self.ledger.total
        found = total.attempts, total.billed_calls, total.billed_tokens
        assert found == (self.noted_sum("attempts"), self.account.calls, self.account.tokens)
        return found


def told(server: FaultServer) -> tuple[int, int, int]:
    """The same as the endpoint has it."""
    known = server.told
    return known.requests.total(), known.completed, known.prompt_tokens + known.completion_tokens


async def arrived(server: FaultServer, requests: int) -> None:
    async with asyncio.timeout(SECONDS):
        while server.told.requests.total() < requests:
            await asyncio.sleep(0)


async def left(server: FaultServer) -> None:
    async with asyncio.timeout(SECONDS):
        while server.connections:
            await asyncio.sleep(0.001)


async def cancelled(call: asyncio.Task) -> None:
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_nobody_who_listens_is_sent_nothing() -> None:
    async def run() -> None:
        books = Books()
        async with FaultServer() as server:
            address = server.base_url
        live = LiveModel(address, "m", retries=2, backoff_s=0.001)
        with pytest.raises(ModelUnavailable, match="after 3 attempts: no connection") as caught:
            await books.model(live).complete(request())
        assert caught.value.attempts == 0
        assert books.seen == (0, 0, 0)
        assert books.ledger.total.failed_calls == 1
        assert books.noted == []
        await live.aclose()

    asyncio.run(run())


def test_a_name_that_nobody_has_is_sent_nothing() -> None:
    async def run() -> None:
        live = LiveModel("http://nobody.invalid/v1", "m", retries=1, backoff_s=0.001)
        with pytest.raises(ModelUnavailable, match="after 2 attempts") as caught:
            await live.complete(request())
        assert caught.value.attempts == 0
        await live.aclose()

    asyncio.run(run())


def test_an_endpoint_that_is_down_for_a_while() -> None:
    """Requests are those that it counted, before and after it was away; the tries in between are none."""

    async def run() -> None:
        books = Books()
        server = FaultServer(Faults(failing=0.3), seed=3)
        async with server:
            address = server.base_url
            live = LiveModel(address, "m", retries=3, backoff_s=0.001)
            model = books.model(live)
            for number in range(12):
                await model.complete(request(number))
        before = server.told.requests.total()
        assert before > 12
        for number in range(3):
            with pytest.raises(ModelUnavailable, match="after 4 attempts: no connection"):
                await model.complete(request(number))
        assert books.seen == told(server)

        again = await asyncio.start_server(server._connected, "127.0.0.1", int(address.split(":")[2].split("/")[0]))
        async with again:
            for number in range(12, 18):
                await model.complete(request(number))
            assert server.told.requests.total() >= before + 6
            assert books.seen == told(server)
            assert books.ledger.total.failed_calls == 3
            await live.aclose()
            await left(server)

    asyncio.run(run())


def test_a_question_goes_to_no_other_address_than_the_one_that_was_named() -> None:
    """Followed, it would lose its body or be answered by somebody else."""
    hops: list[str] = []

    async def moved(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        hops.append(target)
        writer.write(f"HTTP/1.1 307 Moved\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def run() -> ModelClosed:
        nonlocal target
        async with FaultServer() as server, await asyncio.start_server(moved, "127.0.0.1", 0) as first:
            target = f"{server.base_url}/chat/completions"
            live = LiveModel(f"http://127.0.0.1:{first.sockets[0].getsockname()[1]}/v1", "m")
            with pytest.raises(ModelClosed, match=f"is not where questions go: HTTP 307, {target} — give") as caught:
                await live.complete(request())
            await live.aclose()
            assert server.told.requests.total() == 0
        return caught.value

    target = ""
    assert asyncio.run(run()).attempts == len(hops) == 1


def test_a_deadline_ends_a_call_that_hangs_and_later_ones_work() -> None:
    async def run() -> None:
        books = Books()
        async with FaultServer(Faults(hanging=1.0)) as server:
            live = LiveModel(server.base_url, "m", timeout_s=SECONDS, deadline_s=0.3, retries=5)
            model = books.model(live)
            with pytest.raises(ModelUnavailable) as caught:
                await model.complete(request())
            assert "did not answer for model m within 0.3 s, after 1 attempt, the last without an answer" in str(
                caught.value
            )
            assert caught.value.attempts == 1
            await left(server)
            assert (server.told.left, books.seen) == (1, (1, 0, 0))
            assert books.ledger.failures == {"ModelUnavailable": 1}

            server.faults = Faults()
            live.deadline_s = SECONDS
            reply = await model.complete(request())
            assert (reply.text, reply.attempts) == ("Good day to you", 1)
            assert books.seen == (2, 1, server.told.prompt_tokens + server.told.completion_tokens)
            await live.aclose()
            await left(server)

    asyncio.run(run())


def test_a_deadline_counts_the_tries_before_it_too() -> None:
    async def run() -> None:
        async with FaultServer(Faults(paused=1.0, retry_after_s=0.01)) as server:
            live = LiveModel(server.base_url, "m", timeout_s=SECONDS, deadline_s=0.3, retries=10_000)
            with pytest.raises(ModelUnavailable, match=r"within 0\.3 s, after \d+ attempts") as caught:
                await live.complete(request())
            await live.aclose()
            await left(server)
            assert caught.value.attempts == server.told.requests.total() > 1

    asyncio.run(run())


@pytest.mark.parametrize("behind_a_cache", [False, True])
def test_a_call_that_is_cancelled_is_on_ledger_and_account(tmp_path: Path, behind_a_cache: bool) -> None:
    """While it hangs, and in the pause after a failure."""

    async def run() -> None:
        for faults in (Faults(hanging=1.0), Faults(failing=1.0)):
            books = Books()
            async with FaultServer(faults) as server:
                live = LiveModel(server.base_url, "m", timeout_s=SECONDS, backoff_s=SECONDS)
                with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
                    model = books.model(CachedModel(live, cache) if behind_a_cache else live)
                    call = asyncio.create_task(model.complete(request()))
                    await arrived(server, 1)
                    await cancelled(call)
                    assert len(cache) == 0
                await live.aclose()
                await left(server)
            assert books.seen == told(server) == (1, 0, 0)
            assert books.ledger.failures == {"CancelledError": 1}
            # Nobody knows what it cost: no token and no price is made up.
            assert books.noted == [{"failed_calls": 1, "attempts": 1}]

    asyncio.run(run())


def test_one_of_two_who_share_a_call_leaves(tmp_path: Path) -> None:
    async def run() -> None:
        first, second = Books(), Books()
        async with FaultServer(Faults(slow=1.0, slow_s=0.05)) as server:
            live = LiveModel(server.base_url, "m")
            with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
                shared = CachedModel(live, cache)
                leaver = asyncio.create_task(first.model(shared).complete(request()))
                stayer = asyncio.create_task(second.model(shared).complete(request()))
                await arrived(server, 1)
                await cancelled(leaver)
                assert (await stayer).billed
                assert len(cache) == 1
            await live.aclose()
            await left(server)
        assert first.seen == (0, 0, 0)
        assert second.seen == told(server) == (1, 1, server.told.prompt_tokens + server.told.completion_tokens)

    asyncio.run(run())


def test_an_answer_that_is_kept_is_charged_also_where_nobody_takes_it_any_longer(tmp_path: Path) -> None:
    """Whoever waits is cancelled just when the answer is in the cache, and before it has it."""

    class Store(CallCache):
        waiting: asyncio.Task | None = None

        def store(self, record):
            kept = super().store(record)
            self.waiting.cancel()
            return kept

    async def run() -> None:
        books = Books()
        async with FaultServer() as server:
            live = LiveModel(server.base_url, "m")
            with closing(Store(tmp_path / "calls.sqlite")) as cache:
                model = books.model(CachedModel(PricedModel(live, Prices(1e6, 1e6)), cache))
                cache.waiting = asyncio.create_task(model.complete(request()))
                with pytest.raises(asyncio.CancelledError):
                    await cache.waiting
                assert len(cache) == 1
                assert not (await model.complete(request())).billed
            await live.aclose()
            await left(server)
        requests, completed, tokens = told(server)
        assert books.seen == (requests, completed, tokens) == (1, 1, tokens)
        assert books.account.usd == books.ledger.total.price_usd == pytest.approx(tokens)

    asyncio.run(run())


def test_an_answer_that_cannot_be_kept_is_charged_once(tmp_path: Path) -> None:
    class Full(CallCache):
        def store(self, record):
            raise StorageError("no space left")

    async def run() -> None:
        first, second = Books(), Books()
        async with FaultServer() as server:
            live = LiveModel(server.base_url, "m")
            with closing(Full(tmp_path / "calls.sqlite")) as cache:
                shared = CachedModel(live, cache)
                found = await asyncio.gather(
                    *(books.model(shared).complete(request()) for books in (first, second)), return_exceptions=True
                )
            await live.aclose()
            await left(server)
        assert [type(each) for each in found] == [StorageError, StorageError]
        tokens = server.told.prompt_tokens + server.told.completion_tokens
        paid = {"attempts": 1, "billed_calls": 1, "billed_tokens": tokens, "price_usd": None}
        assert [{name: each[name] for name in paid} for each in first.noted] == [paid]
        assert second.noted == []

    asyncio.run(run())


def test_a_second_cancellation_loses_nothing(tmp_path: Path) -> None:
    """Told twice, as by a deadline and then by a person: what was sent is still known."""

    async def run() -> None:
        books = Books()
        async with FaultServer(Faults(hanging=1.0)) as server:
            live = LiveModel(server.base_url, "m")
            with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
                call = asyncio.create_task(books.model(CachedModel(live, cache)).complete(request()))
                await arrived(server, 1)
                call.cancel()
                await asyncio.sleep(0)
                await cancelled(call)
            await live.aclose()
            await left(server)
        assert books.seen == told(server) == (1, 0, 0)

    asyncio.run(run())


def test_a_call_that_is_cancelled_at_any_moment(tmp_path: Path) -> None:
    """After 0, 1, 2 … turns of the loop: the endpoint's count of requests holds, and what is kept is billed, once."""

    async def run() -> None:
        answered = 0
        books = Books()
        async with FaultServer(Faults(failing=0.3), seed=5) as server:
            live = LiveModel(server.base_url, "m", backoff_s=1e-6)
            with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
                model = books.model(CachedModel(PricedModel(live, Prices(1.0, 1.0)), cache))
                for turns in range(TURNS):
                    call = asyncio.create_task(model.complete(request(turns)))
                    for _ in range(turns):
                        await asyncio.sleep(0)
                    call.cancel()
                    (found,) = await asyncio.gather(call, return_exceptions=True)
                    answered += isinstance(found, ModelReply)
                    await arrived(server, books.ledger.total.attempts)
                    assert server.told.requests.total() == books.ledger.total.attempts, turns
                    assert books.seen[1] == len(cache), turns
                tokens = sum(record.reply.usage.total_tokens for record in cache)
                assert books.seen == (server.told.requests.total(), len(cache), tokens)
                assert books.account.usd == pytest.approx(tokens / 1e6)
            await live.aclose()
            await left(server)
        assert 0 < answered < TURNS

    asyncio.run(run())


def test_an_answer_cut_after_its_tokens_were_told_invents_none() -> None:
    """The account of tokens is in what came of the first answer; only the whole second one is charged."""
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Good day"}, "finish_reason": "stop"}
    whole = json.dumps({"usage": usage, "choices": [choice]}).encode()
    answers = [whole[:-20], whole]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().splitlines() if line.startswith(b"content-length:"))
        await reader.readexactly(length)
        writer.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(whole))
        writer.write(answers.pop(0))
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def run() -> None:
        books = Books()
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            live = LiveModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "m", backoff_s=0.001)
            reply = await books.model(live).complete(request())
            await live.aclose()
        assert reply.text == "Good day"
        assert books.seen == (2, 1, 12)

    asyncio.run(run())


def test_tokens_that_an_endpoint_does_not_tell_have_no_price() -> None:
    class Silent:
        endpoint = "silent#m"

        async def complete(self, request: ModelRequest) -> ModelReply:
            return ModelReply("Good day")

        async def aclose(self) -> None:
            pass

    reply = asyncio.run(PricedModel(Silent(), Prices(1.0, 1.0)).complete(request()))
    assert reply.price_usd is None


def test_no_error_is_left_uncounted() -> None:
    """Also one that is nobody's plan ends with the count of what was sent for it."""

    class Broken(LiveModel):
        def _scrubbed(self, answer):
            raise ZeroDivisionError

    async def run() -> None:
        books = Books()
        async with FaultServer() as server:
            live = Broken(server.base_url, "m")
            with pytest.raises(ZeroDivisionError):
                await OnAccount(live, books.account, "cell").complete(request())
            await live.aclose()
            await left(server)
        assert books.noted == [{"failed_calls": 1, "attempts": 1}]

    asyncio.run(run())


def test_a_model_error_of_another_model_counts_as_it_says() -> None:
    class Refusing:
        endpoint = "refusing#m"

        async def complete(self, request: ModelRequest) -> ModelReply:
            raise ModelError("no", attempts=3)

        async def aclose(self) -> None:
            pass

    async def run() -> None:
        books = Books()
        with pytest.raises(ModelError):
            await books.model(Refusing()).complete(request())
        assert books.seen == (3, 0, 0)

    asyncio.run(run())
