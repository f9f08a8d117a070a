"""The live client against a real HTTP server on loopback that behaves well, badly, or not at all."""

import asyncio
import json
import logging
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.errors import InputError, ModelClosed, ModelError, ModelRefused, ModelUnavailable
from planroute.models import CachedModel, CallCache, LiveModel, open_model
from planroute.models.usage import normalised

CANARY = "sk-canary-7f3e9a1b5c"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
REQUEST = ModelRequest("greeting", (Message("system", "Be kind."), Message("user", "Hello")), draw=2)

Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


def send(handler: BaseHTTPRequestHandler, status: int, body: Any, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"content-type": "application/json", "content-length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


def completion(content: str | None = "Good day", reason: str = "stop", usage: Any = ..., **message: Any) -> dict:
    counted = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13} if usage is ... else usage
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": reason}
    return {"id": "1", "object": "chat.completion", "choices": [choice], "usage": counted}


def good(**fields: Any) -> Behaviour:
    return lambda handler, body: send(handler, 200, completion(**fields))


def status(code: int, message: str = "no", **headers: str) -> Behaviour:
    return lambda handler, body: send(handler, code, {"error": {"message": message}}, **headers)


def raw(data: bytes, **headers: str) -> Behaviour:
    return lambda handler, body: send(handler, 200, data, **headers)


def slow(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    time.sleep(0.5)
    send(handler, 200, completion())


def hang_up(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    handler.close_connection = True


class Endpoint:
    """Plays one behaviour after another, the last one for ever; keeps what it was sent."""

    def __init__(self) -> None:
        self.behaviours: list[Behaviour] = [good()]
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                endpoint.bodies.append(body)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                endpoint.paths.append(self.path)
                play = endpoint.behaviours.pop(0) if len(endpoint.behaviours) > 1 else endpoint.behaviours[0]
                try:
                    play(self, body)
                except OSError:
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()
        self.base_url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def plays(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setenv("PLANROUTE_API_KEY", CANARY)
    with closing(Endpoint()) as endpoint:
        yield endpoint


def ask(endpoint: Endpoint, *requests: ModelRequest, **settings: Any) -> list[ModelReply]:
    settings = {"timeout_s": 5.0, "retries": 2, "backoff_s": 0.01, **settings}
    model = LiveModel(endpoint.base_url, "m", **settings)

    async def run() -> list[ModelReply]:
        try:
            return [await model.complete(request) for request in requests or [REQUEST]]
        finally:
            await model.aclose()
            await model.aclose()

    return asyncio.run(run())


def test_an_answer(endpoint: Endpoint) -> None:
    (reply,) = ask(endpoint)
    assert (reply.text, reply.thinking, reply.finish_reason, reply.billed) == ("Good day", "", "stop", True)
    assert (reply.usage.prompt_tokens, reply.usage.answer_tokens, reply.usage.thinking_tokens) == (9, 4, 0)
    assert reply.usage.raw["total_tokens"] == 13
    assert reply.price_usd is None
    assert 0 < reply.latency_s < 5
    assert endpoint.bodies == [
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hello"}],
            "temperature": 0.2,
            "top_p": 1.0,
            "max_tokens": 400,
            "seed": 2,
        }
    ]
    assert endpoint.headers[0]["authorization"] == f"Bearer {CANARY}"


def test_what_a_request_may_ask_for(endpoint: Endpoint) -> None:
    tool = {"type": "function", "function": {"name": "look"}}
    sampling = Sampling(seed=None, stop=("\n",), thinking=False, max_tokens=5)
    ask(endpoint, ModelRequest("p", (), sampling, SCHEMA, (tool,)))
    body = endpoint.bodies[0]
    assert "seed" not in body
    assert (body["stop"], body["max_tokens"], body["tools"]) == (["\n"], 5, [tool])
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


@pytest.mark.parametrize(
    "trouble",
    [
        status(500),
        status(503),
        status(429),
        status(429, retry_after="0"),
        status(408),
        raw(b""),
        raw(b"<html>gateway</html>", content_type="text/html"),
        raw(b'{"choices": []}'),
        raw(b'{"choices": [{"message"'),
        raw(b"[" * 100_000),
        raw(json.dumps(completion()).encode()[:40], content_length="4000"),
        hang_up,
        good(reason=["x"]),
        good(reason={"a": 1}),
        good(reason=5),
        status(429, retry_after="inf"),
        status(503, retry_after="nan"),
        status(503, retry_after="Wed, 21 Oct 0001 07:28:00 -0000"),
    ],
)
def test_trouble_that_may_pass_is_tried_again(endpoint: Endpoint, trouble: Behaviour) -> None:
    endpoint.plays(trouble, trouble, good())
    assert ask(endpoint, timeout_s=1.0)[0].text == "Good day"
    assert len(endpoint.bodies) == 3


def test_trouble_that_stays_is_told(endpoint: Endpoint) -> None:
    endpoint.plays(status(503, "model is\nloading"))
    with pytest.raises(ModelUnavailable) as caught:
        ask(endpoint)
    assert str(caught.value) == (
        f"{endpoint.base_url} did not answer for model m after 3 attempts: HTTP 503: model is loading — try again later"
    )


def test_a_slow_endpoint(endpoint: Endpoint) -> None:
    endpoint.plays(slow, good())
    assert ask(endpoint, timeout_s=0.2)[0].text == "Good day"
    endpoint.plays(slow)
    with pytest.raises(ModelUnavailable, match=r"after 1 attempt: no answer within 0\.1 s"):
        ask(endpoint, timeout_s=0.1, retries=0)


def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        model = LiveModel(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "m", retries=1, backoff_s=0.01)
        with pytest.raises(ModelUnavailable, match="after 2 attempts: no connection"):
            asyncio.run(model.complete(REQUEST))


def test_retry_after_is_honoured(endpoint: Endpoint) -> None:
    endpoint.plays(status(429, retry_after="0.3"), good())
    begun = time.perf_counter()
    ask(endpoint)
    assert time.perf_counter() - begun > 0.3
    endpoint.plays(status(429, retry_after="3600"), good())
    with pytest.raises(ModelUnavailable, match=r"after 1 attempt: HTTP 429: no \(asks to wait 3600 s\)"):
        ask(endpoint)
    endpoint.plays(status(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"), status(503, retry_after="soon"), good())
    assert ask(endpoint)[0].text == "Good day"


@pytest.mark.parametrize(
    ("code", "hint"),
    [(400, "manual"), (401, "set PLANROUTE_API_KEY"), (403, "permission"), (404, "/v1"), (422, "manual")],
)
def test_what_will_not_pass_is_refused_at_once(endpoint: Endpoint, code: int, hint: str) -> None:
    endpoint.plays(status(code, "it\nis wrong"))
    with pytest.raises(ModelRefused, match=f"refuses model m: HTTP {code}: it is wrong — .*{hint}") as caught:
        ask(endpoint)
    assert len(endpoint.bodies) == 1
    assert "\n" not in str(caught.value)


def test_an_empty_account_is_refused(endpoint: Endpoint) -> None:
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    endpoint.plays(lambda handler, _: send(handler, 429, body))
    with pytest.raises(ModelRefused, match="check the account"):
        ask(endpoint)


def test_an_endpoint_without_schemas_gets_words_once_and_from_then_on(endpoint: Endpoint) -> None:
    def picky(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        (status(400, "response_format?") if "response_format" in body else good())(handler, body)

    endpoint.plays(picky)
    request = ModelRequest("p", (Message("user", "Hello"),), schema=SCHEMA)
    assert len(ask(endpoint, request, request)) == 2
    assert ["response_format" in body for body in endpoint.bodies] == [True, False, False]
    assert json.dumps(SCHEMA) in endpoint.bodies[1]["messages"][-1]["content"]


def test_a_bad_request_that_is_not_about_the_schema_is_not_remembered(endpoint: Endpoint) -> None:
    request = ModelRequest("p", (Message("user", "Hello"),), schema=SCHEMA)
    model = LiveModel(endpoint.base_url, "m", retries=0)

    async def twice() -> None:
        endpoint.plays(status(400, "too long"), status(400, "too long"), good())
        with pytest.raises(ModelRefused, match="too long"):
            await model.complete(request)
        await model.complete(request)
        await model.aclose()

    asyncio.run(twice())
    assert "response_format" in endpoint.bodies[-1]


def test_the_other_name_of_the_token_limit(endpoint: Endpoint) -> None:
    def modern(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        (status(400, "Use 'max_completion_tokens' instead.") if "max_tokens" in body else good())(handler, body)

    endpoint.plays(modern)
    ask(endpoint, REQUEST, REQUEST)
    assert [body.get("max_completion_tokens") for body in endpoint.bodies] == [None, 400, 400]


@pytest.mark.parametrize(
    ("fields", "text", "thinking", "reason"),
    [
        ({"content": "<think>hm</think> yes"}, "yes", "hm", "stop"),
        ({"content": "yes", "reasoning_content": "hm"}, "yes", "hm", "stop"),
        ({"content": "yes", "reasoning": "hm"}, "yes", "hm", "stop"),
        ({"content": "ye", "reason": "length"}, "ye", "", "length"),
        ({"content": None, "reason": "length"}, "", "", "length"),
        ({"content": "lone \ud800"}, "lone ?", "", "stop"),
        (
            {"content": None, "tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]},
            '[{"name": "look", "arguments": "{}"}]',
            "",
            "stop",
        ),
    ],
)
def test_forms_of_an_answer(endpoint: Endpoint, fields: dict, text: str, thinking: str, reason: str) -> None:
    endpoint.plays(good(**fields))
    (reply,) = ask(endpoint)
    assert (reply.text, reply.thinking, reply.finish_reason) == (text, thinking, reason)


@pytest.mark.parametrize(
    ("raw_usage", "counted"),
    [
        (None, (0, 0, 0)),
        ({"prompt_tokens": 3, "completion_tokens": 10, "total_tokens": 13}, (3, 10, 0)),
        (
            {"prompt_tokens": 3, "completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 6}},
            (3, 4, 6),
        ),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 10,
                "total_tokens": 19,
                "completion_tokens_details": {"reasoning_tokens": 6},
            },
            (3, 10, 6),
        ),
        ({"prompt_tokens": 3, "completion_tokens": 4, "completion_tokens_details": {"reasoning_tokens": 6}}, (3, 4, 6)),
        ({"prompt_tokens": None, "completion_tokens": "x", "completion_tokens_details": None}, (0, 0, 0)),
    ],
)
def test_usage_is_normalised(raw_usage: dict | None, counted: tuple[int, int, int]) -> None:
    usage = normalised(raw_usage, "answer", "")
    assert (usage.prompt_tokens, usage.answer_tokens, usage.thinking_tokens) == counted
    assert usage.raw == (raw_usage or {})


def test_thinking_that_is_not_counted_apart_is_divided_by_length() -> None:
    usage = normalised({"completion_tokens": 100}, "a" * 10, "t" * 30)
    assert (usage.answer_tokens, usage.thinking_tokens) == (25, 75)


def test_no_key_is_needed_but_by_openai(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANROUTE_API_KEY")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert ask(endpoint)[0].text == "Good day"
    with pytest.raises(ModelRefused, match="needs a key — set PLANROUTE_API_KEY or OPENAI_API_KEY"):
        asyncio.run(open_model("openai:gpt-4o-mini").complete(REQUEST))
    monkeypatch.setenv("PLANROUTE_API_KEY", "")
    monkeypatch.setenv("OPENAI_API_KEY", "other-key")
    ask(endpoint)
    assert endpoint.headers[-1]["authorization"] == "Bearer other-key"


def test_one_model_in_two_event_loops(endpoint: Endpoint) -> None:
    model = LiveModel(endpoint.base_url, "m")

    async def once() -> str:
        reply = await model.complete(REQUEST)
        await model.aclose()
        return reply.text

    assert [asyncio.run(once()), asyncio.run(once())] == ["Good day"] * 2


def test_the_key_is_nowhere(endpoint: Endpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url_key = "urlcanary5512"
    host = endpoint.base_url.removeprefix("http://")
    model = open_model(f"http://user:{url_key}@{host}?api_key={url_key}&api-version=7#m")
    leak = f"Incorrect API key provided: {CANARY}, or {url_key}, or sk-other-canary-99"
    endpoint.plays(good(), status(401, leak), status(500, leak))
    errors: list[ModelError] = []

    async def run() -> None:
        with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
            cached = CachedModel(model, cache)
            await cached.complete(REQUEST)
            model.retries, model.backoff_s = 1, 0.01
            for draw in (7, 8):
                try:
                    await cached.complete(ModelRequest("p", REQUEST.messages, draw=draw))
                except ModelError as error:
                    errors.append(error)
            cache.export(tmp_path / "calls.jsonl")
            await cached.aclose()

    asyncio.run(run())
    assert endpoint.paths[0] == "/v1/chat/completions?api-version=7"
    assert [type(error) for error in errors] == [ModelClosed, ModelUnavailable]
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode("utf-8", "replace")
    spoken = [str(error) + repr(error) + "".join(traceback.format_exception(error)) for error in errors]
    seen = "\n".join([written, *spoken, repr(model), model.endpoint, caplog.text])
    assert "canary" not in seen
    assert model.endpoint == f"{endpoint.base_url}#m"


def test_what_an_endpoint_says_for_a_status_is_one_clean_line(endpoint: Endpoint) -> None:
    def spiteful(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        handler.send_response(400, f"\x1b[31m{CANARY}")
        handler.send_header("content-length", "0")
        handler.end_headers()

    endpoint.plays(spiteful)
    with pytest.raises(ModelRefused, match=r"HTTP 400: \S*\*\*\*") as caught:
        ask(endpoint)
    assert CANARY not in str(caught.value)
    assert str(caught.value).isprintable()


def test_no_more_is_read_than_an_answer_can_be_long(endpoint: Endpoint) -> None:
    written = 0

    def endless(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        nonlocal written
        handler.send_response(200)
        handler.end_headers()
        handler.close_connection = True
        for _ in range(64):
            handler.wfile.write(b" " * 2**20)
            written += 1

    endpoint.plays(endless)
    with pytest.raises(ModelRefused, match="sends more than 16 MiB for one answer") as caught:
        ask(endpoint)
    assert caught.value.attempts == len(endpoint.bodies) == 1
    assert written < 64


@pytest.mark.parametrize("code", [401, 402, 403, 404])
def test_an_endpoint_that_takes_no_question_at_all_is_told_from_one_that_refuses_this(
    endpoint: Endpoint, code: int
) -> None:
    endpoint.plays(status(code), status(400))
    kinds = []
    for _ in range(2):
        with pytest.raises(ModelRefused) as caught:
            ask(endpoint)
        kinds.append(type(caught.value))
    assert kinds == [ModelClosed, ModelRefused]


@pytest.mark.parametrize("url", ["ftp://host/v1", "http://", "host/v1", "http://[::1/v1", "http://host:x/v1"])
def test_not_a_url(url: str) -> None:
    with pytest.raises(InputError, match="not the URL of an endpoint"):
        LiveModel(url, "m")


def test_an_answer_that_breaks_off_is_told_apart(endpoint: Endpoint) -> None:
    endpoint.plays(raw(json.dumps(completion()).encode()[:40], content_length="4000"))
    with pytest.raises(ModelUnavailable, match=r"after 1 attempt: the answer broke off \(.+\) — try again later"):
        ask(endpoint, timeout_s=1.0, retries=0)
    endpoint.plays(hang_up)
    with pytest.raises(ModelUnavailable, match="the answer broke off"):
        ask(endpoint, retries=0)


@pytest.mark.parametrize("charset", ["utf-16", "utf-32", "nonsense", "latin-1"])
def test_answers_are_utf8_whatever_the_header_says(endpoint: Endpoint, charset: str) -> None:
    body = json.dumps(completion("schön"), ensure_ascii=False).encode()
    endpoint.plays(raw(body, content_type=f"application/json; charset={charset}"))
    assert ask(endpoint, retries=0)[0].text == "schön"
    endpoint.plays(raw(body.replace("ö".encode(), b"\xff")))
    assert ask(endpoint, retries=0)[0].text == "sch\ufffdn"
    endpoint.plays(status(401, "schade", content_type=f"application/json; charset={charset}"))
    with pytest.raises(ModelRefused, match="HTTP 401: schade"):
        ask(endpoint)


@pytest.mark.parametrize("count", [2**63, 10**4000, -1, True, 1.5, float("nan")])
def test_impossible_counts_are_none(endpoint: Endpoint, tmp_path: Path, count: Any) -> None:
    endpoint.plays(good(usage={"prompt_tokens": count, "completion_tokens": 4, "\ud800": {"deep": [count, "\udfff"]}}))
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        model = CachedModel(LiveModel(endpoint.base_url, "m", retries=0), cache)

        async def run() -> ModelReply:
            try:
                return await model.complete(REQUEST)
            finally:
                await model.model.aclose()

        reply = asyncio.run(run())
        assert (reply.usage.prompt_tokens, reply.usage.answer_tokens) == (0, 4)
        json.dumps(dict(reply.usage.raw), allow_nan=False, ensure_ascii=False).encode()
        assert [record.reply for record in cache] == [replace(reply, billed=False)]
    assert [path.name for path in tmp_path.iterdir()] == ["calls.sqlite"]


def test_an_account_nested_without_end_is_cut() -> None:
    account: dict[str, Any] = {}
    for _ in range(500):
        account = {"a": [account]}
    assert len(json.dumps(normalised(account, "", "").raw)) < 100


def test_surrogates_in_a_question_are_sent_as_question_marks(endpoint: Endpoint) -> None:
    model = LiveModel(endpoint.base_url, "m\udcff", retries=0)

    async def run() -> None:
        await model.complete(ModelRequest("p", (Message("user", "lone \ud800"),), schema=SCHEMA))
        await model.aclose()

    asyncio.run(run())
    assert (endpoint.bodies[0]["model"], endpoint.bodies[0]["messages"][0]["content"]) == ("m?", "lone ?")


@pytest.mark.parametrize("key", ["ключ-canary", "canary\r\nX: canary", "canary canary", "canary\x07", "canary\udcff"])
@pytest.mark.parametrize("name", ["PLANROUTE_API_KEY", "OPENAI_API_KEY"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, name: str, key: str
) -> None:
    monkeypatch.delenv("PLANROUTE_API_KEY")
    monkeypatch.setenv(name, key)
    with pytest.raises(ModelRefused, match=f"the key in {name} holds a space, a control character") as caught:
        ask(endpoint)
    assert "canary" not in "".join(traceback.format_exception(caught.value))
    assert endpoint.bodies == []


def test_a_key_that_the_endpoint_repeats_is_dropped(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ('canary"\\/0123', "plain-canary"):
        monkeypatch.setenv("PLANROUTE_API_KEY", key)
        for fields in (
            {
                "content": f"It is {key}.",
                "reasoning": key,
                "reason": key,
                "usage": {key: [key], "completion_tokens": 4},
            },
            {"content": None, "tool_calls": [{"function": {"name": key, "arguments": f"{{{key}}}"}}]},
        ):
            endpoint.plays(good(**fields))
            (reply,) = ask(endpoint)
            assert "canary" not in repr(reply)
        endpoint.plays(raw(b"x" * 75 + key.encode()))
        with pytest.raises(ModelUnavailable) as caught:
            ask(endpoint, retries=0)
        assert key[:4] not in str(caught.value)
    monkeypatch.setenv("PLANROUTE_API_KEY", "usage")
    endpoint.plays(good(content="usage"))
    assert ask(endpoint)[0].text == "usage"
    monkeypatch.setenv("PLANROUTE_API_KEY", "content")
    endpoint.plays(good(content="my content"))
    assert ask(endpoint)[0].text == "my ***"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("http_proxy", "socks9://user:canary@host"),
        ("all_proxy", "http://[::1"),
        ("SSL_CERT_FILE", "/nonexistent/certificates"),
    ],
)
def test_an_environment_that_allows_no_connection_is_told(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv("PLANROUTE_API_KEY", CANARY)
    monkeypatch.setenv(name, value)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(ModelRefused, match=r"cannot set up a connection to http.*SSL_CERT_FILE") as caught:
        asyncio.run(LiveModel("https://127.0.0.1:1/v1", "m").complete(REQUEST))
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)


def test_errors_are_printable(endpoint: Endpoint) -> None:
    endpoint.plays(status(400, "\x1b[2J\x1b]0;title\x07 Hello\x00\u202e\u2066\u200b there\x9b\r\nall"))
    with pytest.raises(ModelRefused, match=r"HTTP 400: \[2J\]0;title Hello there all — ") as caught:
        ask(endpoint)
    assert str(caught.value).isprintable()
    endpoint.plays(raw(b"\x00\x01\xff\x1b[31m junk"))
    with pytest.raises(ModelUnavailable, match="not a chat completion") as unreadable:
        ask(endpoint, retries=0)
    assert str(unreadable.value).isprintable()


def test_a_pause_without_end_is_not_one(endpoint: Endpoint) -> None:
    endpoint.plays(status(429, retry_after="inf"))
    with pytest.raises(ModelUnavailable) as caught:
        ask(endpoint, retries=0)
    assert "asks to wait" not in str(caught.value)
