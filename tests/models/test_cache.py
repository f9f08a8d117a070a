"""The call cache: hits, mismatches, damage, single flight, and recordings made from it."""

import asyncio
import json
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


MARKED = b"\x00" * 68 + (0x706C616E).to_bytes(4, "big") + b"\xff" * 5000


@pytest.mark.parametrize("junk", [MARKED, b"SQLite format 3\x00" + b"\xff" * 5000])
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


@pytest.mark.parametrize("content", [b"# Notes\n", b"My thesis, chapter one. " * 99])
def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"thesis\.txt is not a call cache — .*--cache"):
        CallCache(path)
    assert folder_of(tmp_path) == {"thesis.txt": content}


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


def test_a_file_that_another_process_has_made_anew_is_not_set_aside(cache: CallCache) -> None:
    model = Counting()
    complete(CachedModel(model, cache), *(ask("x" * 3000 + str(i)) for i in range(40)))
    cache.close()
    with closing(CallCache(cache.path)) as other:
        assert len(cache) == len(other) == 40
        with cache.path.open("r+b") as file:
            file.seek(4096 * 8)
            file.write(b"\xff" * (cache.path.stat().st_size - 4096 * 9))
        for number, each in enumerate((cache, other, cache)):
            list(each)
            complete(CachedModel(model, each), ask(f"new {number}"))
        asked = model.calls
        complete(CachedModel(model, other), *(ask(f"new {number}") for number in range(3)))
        assert model.calls == asked
    assert not cache.path.with_name("calls.sqlite.damaged-2").exists()


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
        ("", "is empty: it holds no calls"),
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


def test_what_cannot_be_stored_is_no_damage(cache: CallCache) -> None:
    complete(CachedModel(Counting(), cache), ask())
    for reply in (ModelReply("a", finish_reason=["x"]), ModelReply("a", Usage(2**63))):
        with pytest.raises(StorageError):
            cache.store(CallRecord("1", "p", "{}", reply))

        class Wrong(Counting):
            async def complete(self, request: ModelRequest, reply: ModelReply = reply) -> ModelReply:
                return reply

        with pytest.raises(StorageError, match=r"answer of counting@1 cannot be kept: (finish_reason|prompt_tokens)"):
            complete(CachedModel(Wrong(), cache), ask("other"))
    assert len(cache) == 1
    assert not list(cache.path.parent.glob("*damaged*"))


def test_lone_surrogates_are_kept_as_question_marks(cache: CallCache, tmp_path: Path) -> None:
    class Broken(Counting):
        async def complete(self, request: ModelRequest) -> ModelReply:
            return ModelReply("lone \ud800", Usage(1, raw={"\ud800": "\udfff"}), "\udc00")

    request = ask("lone \udcff", purpose="\ud800")
    assert request.identity("x\ud800") != request.identity("x\ud801") != ask("lone ?").identity("x\ud801")
    (first,) = complete(CachedModel(Broken(), cache), request)
    (second,) = complete(CachedModel(Broken(), cache), request)
    assert (first.text, first.thinking, first.usage.raw, first.billed) == ("lone ?", "?", {"?": "?"}, True)
    assert second == replace(first, billed=False)
    cache.export(tmp_path / "calls.jsonl")
    assert complete(open_model(f"recorded:{tmp_path / 'calls.jsonl'}"), request) == [second]


def test_a_recording_is_never_kept_as_the_model_s_own_answer(cache: CallCache, tmp_path: Path) -> None:
    complete(CachedModel(Counting(), cache), ask())
    path = tmp_path / "edited.jsonl"
    cache.export(path)
    path.write_text(path.read_text().replace("answer 1", "edited"))
    with closing(CallCache(tmp_path / "other.sqlite")) as other:
        (reply,) = complete(CachedModel(open_model(f"recorded:{path}"), other), ask())
        assert (reply.text, reply.billed, len(other)) == ("edited é\n", False, 0)
        assert complete(CachedModel(Counting(), other), ask())[0].text == "answer 1 é\n"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("text", None, "text is not a text"),
        ("text", 5, "text is not a text"),
        ("finish_reason", ["x"], "finish_reason is not a text"),
        ("prompt_tokens", "a", "prompt_tokens is not a whole number"),
        ("prompt_tokens", True, "prompt_tokens is not a whole number"),
        ("answer_tokens", -1, "answer_tokens is out of range"),
        ("thinking_tokens", 2**63, "thinking_tokens is out of range"),
        ("latency_s", "x", "latency_s is not a number"),
        ("latency_s", float("nan"), "latency_s is out of range"),
        ("price_usd", "free", "price_usd is not a number"),
        ("price_usd", 10**400, "price_usd is out of range"),
        ("raw_usage", [], "raw_usage is not an object"),
        ("identity", "\x1b[2J", r"not the one of identity '\\x1b\[2J'"),
        ("request", [], "not the one of identity"),
    ],
)
def test_a_wrong_type_in_a_recording_is_told(
    cache: CallCache, tmp_path: Path, name: str, value: object, message: str
) -> None:
    complete(CachedModel(Counting(), cache), ask())
    path = tmp_path / "calls.jsonl"
    cache.export(path)
    path.write_text("\n" + json.dumps(json.loads(path.read_text()) | {name: value}))
    with pytest.raises(InputError, match=message) as caught:
        RecordedModel(path)
    assert str(caught.value).startswith(f"{path}, line 2: ")
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("5", "not an object"),
        ("{}", "identity is missing|request is missing"),
        ('{"request": {"raw": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_line_that_is_no_call_is_told(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(line)
    with pytest.raises(InputError, match=f"line 1: not a recorded call: ({message})"):
        RecordedModel(path)


def test_a_request_without_an_endpoint_is_told(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    identity = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    path.write_text(CallRecord(identity, "p", "{}", ModelReply("a")).to_json())
    with pytest.raises(InputError, match="line 1: not a recorded call: its request names no endpoint"):
        RecordedModel(path)


def folder_of(path: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in path.iterdir() if entry.is_file()}


def test_a_damaged_recording_is_told_and_left_as_it_is(cache: CallCache, tmp_path: Path) -> None:
    complete(CachedModel(Counting(), cache), *(ask("x" * 3000 + str(i)) for i in range(9)))
    cache.close()
    whole = cache.path.read_bytes()
    with closing(sqlite3.connect(cache.path)) as db, db:
        db.execute("UPDATE calls SET text = 'forged' WHERE text LIKE 'answer 7 %'")
    folder = tmp_path / "recordings"
    folder.mkdir()
    for number, content in enumerate(
        (cache.path.read_bytes(), whole[:4096] + b"\xa5" * (len(whole) - 4096), b"SQLite format 3\x00" + b"\xff" * 5000)
    ):
        path = folder / f"{number}.sqlite"
        path.write_bytes(content)
        before = folder_of(folder)
        with pytest.raises(InputError, match="nothing in it was changed"):
            RecordedModel(path)
        assert folder_of(folder) == before


def test_a_recording_is_read_without_a_mark_on_it(cache: CallCache, tmp_path: Path) -> None:
    (live,) = complete(CachedModel(Counting(), cache), ask())
    assert cache.path.with_name("calls.sqlite-wal").stat().st_size > 0
    folder = tmp_path / "recordings"
    folder.mkdir()
    for ending in ("", "-wal"):
        source = cache.path.with_name(cache.path.name + ending)
        (folder / source.name).write_bytes(source.read_bytes())
    before = folder_of(folder)
    # Nobody can make the file here that SQLite would need beside the log, as on a disk that cannot be written.
    (folder / "calls.sqlite-shm").mkdir()
    path = folder / "calls.sqlite"
    assert complete(open_model(f"recorded:{path}"), ask()) == [replace(live, billed=False)]
    assert folder_of(folder) == before
    cache.close()
    assert complete(open_model(f"recorded:{cache.path}"), ask()) == [replace(live, billed=False)]
    assert list(folder_of(cache.path.parent)) == ["calls.sqlite"]


def test_an_empty_recording_is_told(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    CallCache(path).close()
    with pytest.raises(InputError, match=r"the recording .* is empty: it holds no calls"):
        RecordedModel(path)


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE notes (a)",
        "CREATE TABLE calls (a, b)",
        "PRAGMA user_version = 1; CREATE TABLE notes (a)",
        "PRAGMA application_id = 77",
    ],
)
def test_another_program_s_database_is_refused_and_left_as_it_is(tmp_path: Path, made: str) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(made)
    before = folder_of(tmp_path)
    with pytest.raises(StorageError, match=r"another program's database, not a call cache — .*--cache"):
        CallCache(path)
    with pytest.raises(InputError, match="another program's database"):
        RecordedModel(path)
    assert folder_of(tmp_path) == before


def test_a_cache_without_the_mark_of_its_application_is_read(cache: CallCache) -> None:
    complete(CachedModel(Counting(), cache), ask())
    cache.close()
    with closing(sqlite3.connect(cache.path)) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (0x706C616E,)
        db.execute("PRAGMA application_id = 0")
    assert len(CallCache(cache.path)) == 1
