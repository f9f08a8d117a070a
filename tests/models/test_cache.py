"""The call cache: hits, mismatches, damage, single flight, and recordings made from it."""

import asyncio
import logging
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.errors import CacheMismatch, InputError, ModelMissing, ModelUnavailable, StorageError
from planroute.ledger import Budget, Ledger, Usage
from planroute.models import CachedModel, CallCache, MeteredModel, RecordedModel, open_model
from planroute.models.record import CallRecord


class Counting:
    """A model that counts its calls, takes its time, and fails or is cut as it is told."""

    endpoint = "counting@1"

    def __init__(self, delay_s: float = 0.0, fail: int = 0, finish_reason: str = "stop") -> None:
        self.calls, self.delay_s, self.fail, self.finish_reason = 0, delay_s, fail, finish_reason

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.calls = number = self.calls + 1
        await asyncio.sleep(self.delay_s)
        if number <= self.fail:
            raise ModelUnavailable("not now")
        usage = Usage(7, 5, 3, {"total": 15, "details": {"reasoning": 3}})
        return ModelReply(f"answer {number} é\n", usage, "thought", self.finish_reason, 1.5, price_usd=0.25)

    async def aclose(self) -> None:
        pass


def ask(text: str = "hello", **changes) -> ModelRequest:
    return replace(ModelRequest("greeting", (Message("user", text),)), **changes)


@pytest.fixture
def cache(tmp_path: Path):
    with closing(CallCache(tmp_path / "deep" / "calls.sqlite")) as cache:
        yield cache


def complete(model, *requests: ModelRequest) -> list[ModelReply]:
    async def all_of_them() -> list[ModelReply]:
        return await asyncio.gather(*(model.complete(request) for request in requests))

    return asyncio.run(all_of_them())


def test_a_hit_returns_what_was_recorded_and_is_not_billed(cache: CallCache) -> None:
    model = Counting()
    (first,) = complete(CachedModel(model, cache), ask())
    (second,) = complete(CachedModel(model, CallCache(cache.path)), ask(purpose="another purpose"))
    assert first.billed
    assert second == replace(first, billed=False)
    assert second.usage.raw == {"total": 15, "details": {"reasoning": 3}}
    assert (model.calls, len(cache)) == (1, 1)


@pytest.mark.parametrize(
    "other",
    [
        ask("hallo"),
        ask(draw=1),
        ask(schema={"type": "object"}),
        ask(sampling=Sampling(seed=1)),
        ask(tools=({"name": "look"},)),
    ],
)
def test_whatever_changes_an_answer_is_another_call(cache: CallCache, other: ModelRequest) -> None:
    model = Counting()
    complete(CachedModel(model, cache), ask(), other)
    assert (model.calls, len(cache)) == (2, 2)


def test_equal_calls_in_flight_share_one(cache: CallCache) -> None:
    model = Counting(delay_s=0.05)
    replies = complete(CachedModel(model, cache), *[ask()] * 5, ask("other"))
    assert model.calls == 2
    assert [reply.billed for reply in replies] == [True, False, False, False, False, True]
    assert len({reply.text for reply in replies[:5]}) == 1


def test_one_waiter_may_leave(cache: CallCache) -> None:
    async def leave() -> ModelReply:
        cached = CachedModel(model, cache)
        first, second = (asyncio.create_task(cached.complete(ask())) for _ in range(2))
        await asyncio.sleep(0.01)
        first.cancel()
        return await second

    model = Counting(delay_s=0.05)
    assert asyncio.run(leave()).billed
    assert model.calls == 1


def test_when_all_leave_the_call_is_ended(cache: CallCache) -> None:
    async def leave() -> None:
        cached = CachedModel(model, cache)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(cached.complete(ask()), 0.01)
        model.delay_s = 0
        assert (await cached.complete(ask())).billed

    model = Counting(delay_s=9)
    asyncio.run(leave())
    assert model.calls == 2


def test_failures_are_not_kept_and_reach_all_who_wait(cache: CallCache) -> None:
    async def both():
        return await asyncio.gather(*(cached.complete(ask()) for _ in range(2)), return_exceptions=True)

    model = Counting(delay_s=0.01, fail=1)
    cached = CachedModel(model, cache)
    assert [type(result) for result in asyncio.run(both())] == [ModelUnavailable] * 2
    assert len(cache) == 0
    assert complete(cached, ask())[0].billed


def test_answers_cut_by_length_are_kept(cache: CallCache) -> None:
    model = Counting(finish_reason="length")
    complete(CachedModel(model, cache), ask())
    assert complete(CachedModel(model, cache), ask())[0].finish_reason == "length"
    assert model.calls == 1


def test_a_mismatch_raises_and_never_answers(cache: CallCache) -> None:
    request, other = ask(), ask("other")
    record = CallRecord(request.identity("counting@1"), "x", other.canonical("counting@1"), ModelReply("wrong"))
    cache.store(record)
    with pytest.raises(CacheMismatch, match="another request"):
        complete(CachedModel(Counting(), cache), request)


def test_the_answer_stored_first_counts(cache: CallCache) -> None:
    class Rival(Counting):
        async def complete(self, request: ModelRequest) -> ModelReply:
            identity, canonical = request.identity(self.endpoint), request.canonical(self.endpoint)
            assert cache.store(CallRecord(identity, "rival", canonical, ModelReply("rival's")))
            return await super().complete(request)

    (reply,) = complete(CachedModel(Rival(), cache), ask())
    assert (reply.text, reply.billed) == ("rival's", True)


@pytest.mark.parametrize("junk", [b"not a database at all" * 99, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside(tmp_path: Path, junk: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "calls.sqlite"
    path.write_bytes(junk)
    with caplog.at_level(logging.WARNING), closing(CallCache(path)) as cache:
        assert complete(CachedModel(Counting(), cache), ask())[0].billed
        assert len(cache) == 1
    assert (tmp_path / "calls.sqlite.damaged-1").read_bytes() == junk
    assert "calls.sqlite is damaged" in caplog.text
    path.write_bytes(junk)
    CallCache(path).close()
    assert (tmp_path / "calls.sqlite.damaged-2").exists()


def test_a_changed_row_is_damage_and_the_others_are_carried_over(
    cache: CallCache, caplog: pytest.LogCaptureFixture
) -> None:
    model = Counting()
    complete(CachedModel(model, cache), *(ask(str(i)) for i in range(20)))
    with closing(sqlite3.connect(cache.path)) as db, db:
        db.execute("UPDATE calls SET text = 'forged' WHERE purpose = 'greeting' AND text LIKE 'answer 7 %'")
    (reply,) = complete(CachedModel(model, cache), ask("6"))
    assert (reply.text, reply.billed) == ("answer 21 é\n", True)
    assert len(cache) == 20
    assert "19 calls carried over" in caplog.text
    assert cache.path.with_name("calls.sqlite.damaged-1").exists()


def test_pages_overwritten_under_way(cache: CallCache, caplog: pytest.LogCaptureFixture) -> None:
    model = Counting()
    complete(CachedModel(model, cache), *(ask("x" * 3000 + str(i)) for i in range(40)))
    cache.close()
    with cache.path.open("r+b") as file:
        file.seek(4096 * 5)
        file.write(b"\xa5" * 4096 * 4)
    replies = [complete(CachedModel(model, cache), ask("x" * 3000 + str(i)))[0] for i in range(40)]
    assert [reply.text.startswith("answer") for reply in replies] == [True] * 40
    assert "damaged" in caplog.text
    assert len(list(cache)) == 40


def test_a_cache_of_another_version_or_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StorageError, match="version 99"):
        CallCache(path)
    with pytest.raises(StorageError, match="--cache"):
        CallCache(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="--cache"):
        CallCache(tmp_path / "file" / "calls.sqlite")


def test_processes_share_one_file(tmp_path: Path) -> None:
    code = """
import sys
from planroute.models import CallCache
from planroute.models.record import CallRecord
from planroute.calls import ModelReply
cache = CallCache(sys.argv[1])
for i in range(200):
    cache.store(CallRecord(f"{sys.argv[2]}-{i}", "p", "{}", ModelReply("a")))
cache.close()
"""
    path = tmp_path / "calls.sqlite"
    runs = [subprocess.Popen([sys.executable, "-c", code, str(path), str(n)]) for n in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    with closing(CallCache(path)) as cache:
        assert len(cache) == 600


def test_a_recording_repeats_a_run(cache: CallCache, tmp_path: Path) -> None:
    requests = [ask(), ask("two\u2028lines"), ask(draw=2, schema={"b": 1.0, "a": [0.1, None]})]
    live = complete(CachedModel(Counting(), cache), *requests)
    assert cache.export(tmp_path / "calls.jsonl") == 3
    for path in (cache.path, tmp_path / "calls.jsonl"):
        model = open_model(f"recorded:{path}")
        assert model.endpoint == "counting@1"
        assert complete(model, *requests) == [replace(reply, billed=False) for reply in live]
        with pytest.raises(ModelMissing, match=r"'greeting' \(identity [0-9a-f]{16}\)"):
            complete(model, ask("never asked"))
        asyncio.run(model.aclose())


def test_a_recording_of_several_models_wants_a_name(cache: CallCache) -> None:
    first, second = Counting(), Counting()
    second.endpoint = "counting@2"
    complete(CachedModel(first, cache), ask())
    complete(CachedModel(second, cache), ask())
    with pytest.raises(InputError, match="calls of 2 models: counting@1, counting@2"):
        RecordedModel(cache.path)
    assert complete(open_model(f"recorded:{cache.path}#counting@2"), ask())[0].text == "answer 1 é\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the recording"),
        ("", "calls of 0 models"),
        ("{}\n", "line 1: not a recorded call"),
        ("\n\nnonsense", "line 3: not a recorded call"),
        (b"\xff\xfe\x00", "cannot read the recording"),
    ],
)
def test_a_bad_recording_is_told(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    path = tmp_path / "calls.jsonl"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        RecordedModel(path)


def test_a_forged_recording_is_told(cache: CallCache, tmp_path: Path) -> None:
    complete(CachedModel(Counting(), cache), ask())
    path = tmp_path / "calls.jsonl"
    cache.export(path)
    path.write_text(path.read_text().replace("hello", "goodbye"))
    with pytest.raises(InputError, match="not the one of identity"):
        RecordedModel(path)


def test_hits_are_charged_and_not_billed(cache: CallCache) -> None:
    model = CachedModel(Counting(), cache)
    complete(model, ask())
    ledger = Ledger(Budget(model_calls=2))
    complete(MeteredModel(model, ledger), ask(), ask("new"))
    total = ledger.total
    assert (total.model_calls, total.billed_calls, total.tokens, total.price_usd) == (2, 1, 30, 0.25)
    assert ledger.by_purpose["greeting"].latency_s == 3.0
