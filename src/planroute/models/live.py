"""A language model at an OpenAI-compatible endpoint, over HTTP.

Tried again, with exponential backoff and jitter: no connection, a broken-off or unreadable answer, a timeout, 408,
409, 425, 429 (after the time that the endpoint asks for) and 5xx. Everything else is refused at once. Keys come from
the environment only, and are in no error, identity or representation.
"""

import asyncio
import json
import os
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError, ModelClosed, ModelError, ModelRefused, ModelUnavailable
from planroute.models.completion import complaint, reply_of, retry_after, without
from planroute.models.sending import Body, Sent
from planroute.models.text import one_line, spellings, utf8_json

if TYPE_CHECKING:
    from httpx2 import AsyncClient

LONGEST_WAIT_S: Final = 60.0
"""A longer pause, also one that the endpoint asks for, is not waited for."""

LONGEST_BYTES: Final = 16 * 2**20
"""A longer answer is no chat completion; no more of it is read."""

_TRY_AGAIN = {408, 409, 425, 429}
_NOT_UNDERSTOOD = {400, 422}
_CLOSED = {401, 402, 403, 404}
_HINTS = {
    401: "set PLANROUTE_API_KEY or OPENAI_API_KEY to a valid key",
    403: "the key has no permission for this model",
    402: "check the account",
    404: "check the model's name and the base URL, which usually ends in /v1",
}
_SENDABLE = re.compile("[!-~]*")
_NAMELESS = re.compile(r"//[^\s/@]*@")
_SHORTEST_KEY = 6
"""A shorter key is looked for in errors only: in answers it could be any word."""
_NOT_REACHED = {"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol", "LocalProtocolError"}
_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai|hf)[-_][\w*.-]{6,}|(?i:bearer)\s+\S+")


def public_url(url: str) -> str:
    """Return ``url`` without user, password, query and fragment, any of which may hold a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return re.sub(r"//.*@|[?#].*", "", url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def api_key() -> str | None:
    """Return the key in ``PLANROUTE_API_KEY``, or else in ``OPENAI_API_KEY``.

    Raises ``ModelRefused`` where it holds what cannot be sent, without a word of it.
    """
    from pydantic import AliasChoices, Field, SecretStr, ValidationError
    from pydantic_settings import BaseSettings, SettingsConfigDict

    class Keys(BaseSettings):
        model_config = SettingsConfigDict(env_ignore_empty=True)
        key: SecretStr | None = Field(None, validation_alias=AliasChoices("PLANROUTE_API_KEY", "OPENAI_API_KEY"))

    try:
        found = Keys().key
        key = found.get_secret_value().strip() if found else ""
    except ValidationError:
        key = " "
    if not _SENDABLE.fullmatch(key):
        name = "PLANROUTE_API_KEY" if os.environ.get("PLANROUTE_API_KEY") else "OPENAI_API_KEY"
        raise ModelRefused(
            f"the key in {name} holds a space, a control character or a letter beyond ASCII",
            hint="set it to the key alone",
        )
    return key or None


class LiveModel:
    """The model called ``model`` at ``base_url``.

    ``timeout_s`` bounds one attempt, ``deadline_s`` all attempts of a call and the pauses between them, ``retries``
    counts the attempts after the first, ``backoff_s`` is the pause after the first, doubled from then on. Of what else
    ``base_url`` may carry, only an ``api-version`` is sent: a user, a password or a key in it is dropped.

    A request's schema is sent as ``response_format``; an endpoint that refuses that gets the schema in words, then and
    from then on. Thinking, whether the endpoint separates it or leaves it in ``<think>`` tags, is kept apart from the
    answer. Tool calls without text are answered as a JSON list of names and arguments.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        timeout_s: float = 120.0,
        deadline_s: float = 600.0,
        retries: int = 4,
        backoff_s: float = 0.5,
    ) -> None:
        try:
            parts = urlsplit(base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise InputError(f"not the URL of an endpoint: {public_url(base_url)!r}", hint="http[s]://HOST/v1")
        self.base_url, self.model = public_url(base_url), model
        self.timeout_s, self.deadline_s, self.retries, self.backoff_s = timeout_s, deadline_s, retries, backoff_s
        query = dict(parse_qsl(parts.query))
        self._query = {name: value for name, value in query.items() if name == "api-version"}
        self._url = f"{self.base_url}/chat/completions" + (f"?{urlencode(self._query)}" if self._query else "")
        self._client: tuple[asyncio.AbstractEventLoop, AsyncClient] | None = None
        self._secrets = set[str]().union(*map(spellings, (*query.values(), parts.username or "", parts.password or "")))
        self._schema_in_words = False
        self._limit = "max_tokens"
        self._jitter = random.Random(self.endpoint.encode("utf-8", "surrogatepass"))

    def __repr__(self) -> str:
        return f"LiveModel({self.endpoint})"

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened anew: with a connection and a key of that one, and nothing secret of here."""
        settings: dict[str, Any] = {"timeout_s": self.timeout_s, "retries": self.retries, "backoff_s": self.backoff_s}
        settings["deadline_s"] = self.deadline_s
        query = f"?{urlencode(self._query)}" if self._query else ""
        return partial(type(self), f"{self.base_url}{query}", self.model, **settings), ()

    @property
    def endpoint(self) -> str:
        """The address without anything secret, ``#``, and the model's name."""
        return f"{self.base_url}#{self.model}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``.

        Raises ``ModelRefused`` on 4xx that trying again does not help, ``ModelClosed`` where that holds for any
        question or the endpoint names another address, and ``ModelUnavailable`` when all attempts have failed or
        ``deadline_s`` is over. ``latency_s`` is that of the attempt that succeeded. A call that ends, or is cancelled,
        leaves no request behind; its error tells as ``attempts`` how many it sent.
        """
        sent = Sent()
        try:
            async with asyncio.timeout(self.deadline_s):
                return await self._persistent(request, sent)
        except TimeoutError:
            why = f"{self._tried(sent)}, the last without an answer"
            raise self._overdue(why, "try again later, or allow more time", sent) from None
        except BaseException as error:
            error.attempts = sent.requests  # type: ignore[attr-defined]
            raise

    async def _persistent(self, request: ModelRequest, sent: Sent) -> ModelReply:
        loop = asyncio.get_running_loop()
        end = loop.time() + self.deadline_s
        for attempt in range(self.retries + 1):
            try:
                return await self._attempt(request, sent)
            except _Again as again:
                wait = again.wait_s if again.wait_s is not None else self.backoff_s * 2**attempt
                if attempt == self.retries or wait > LONGEST_WAIT_S:
                    raise ModelUnavailable(
                        f"{self.base_url} did not answer for model {self.model} after {self._tried(sent)}: {again}",
                        hint=again.hint,
                    ) from None
                # A pause that the endpoint asks for is a minimum; our own is one to spread around.
                share = self._jitter.uniform(1.0, 1.1) if again.wait_s is not None else self._jitter.uniform(0.5, 1.0)
                if loop.time() + wait * share >= end:
                    raise self._overdue(f"{self._tried(sent)}: {again}", again.hint, sent) from None
            await asyncio.sleep(wait * share)
        raise AssertionError("unreachable")

    def _overdue(self, why: str, hint: str, sent: Sent) -> ModelUnavailable:
        said = f"{self.base_url} did not answer for model {self.model} within {self.deadline_s:g} s, after {why}"
        return ModelUnavailable(said, hint=hint, attempts=sent.requests)

    @staticmethod
    def _tried(sent: Sent) -> str:
        return f"{sent.attempts} attempt{'s' * (sent.attempts != 1)}"

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            loop, client = self._client
            self._client = None
            if loop is asyncio.get_running_loop():
                await client.aclose()
                await asyncio.sleep(0)  # sockets are closed in the loop's next turn

    async def _attempt(self, request: ModelRequest, sent: Sent) -> ModelReply:
        sent.attempts += 1
        loop = asyncio.get_running_loop()
        begun = loop.time()
        answer = await self._adapted(self._connected(), request, sent)
        raw = answer.content.decode("utf-8", "replace")  # JSON is UTF-8, whatever a header says
        if not answer.good:
            raise self._status(answer, raw)
        try:
            return reply_of(self._scrubbed(json.loads(raw)), loop.time() - begun, max(1, sent.requests))
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            shown = self._clean(raw[:4000])[:80] or "an empty body"
            raise _Again(
                f"not a chat completion: {shown}", hint="check the base URL, which usually ends in /v1"
            ) from None

    async def _adapted(self, client: "AsyncClient", request: ModelRequest, sent: Sent) -> "_Answer":
        """Ask in the endpoint's own dialect: what it refused and then accepted in other words is remembered."""
        in_words = self._schema_in_words
        while True:
            answer = await self._post(client, self._body(request, in_words), sent)
            if answer.status not in _NOT_UNDERSTOOD:
                if answer.good:
                    self._schema_in_words = self._schema_in_words or in_words
                return answer
            if self._limit == "max_tokens" and b"max_completion_tokens" in answer.content:
                self._limit = "max_completion_tokens"
            elif request.schema is not None and not in_words:
                in_words = True
            else:
                return answer

    async def _post(self, client: "AsyncClient", body: Mapping[str, Any], sent: Sent) -> "_Answer":
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Content-Length": str(len(content))}
        import httpx2

        try:
            async with (
                asyncio.timeout(self.timeout_s),
                client.stream("POST", self._url, content=Body(content, sent), headers=headers) as response,
            ):
                read = bytearray()
                async for some in response.aiter_bytes():
                    read += some
                    if len(read) > LONGEST_BYTES:
                        break
                answer = _Answer(response.status_code, response.headers, response.reason_phrase, bytes(read))
        except (httpx2.TimeoutException, TimeoutError):
            raise _Again(f"no answer within {self.timeout_s:g} s", hint="try again later, or allow more time") from None
        except Exception as error:  # what an endpoint sends can make a client stumble in many ways
            why = self._clean(str(error) or type(error).__name__)
            if _NOT_REACHED.isdisjoint(kind.__name__ for kind in type(error).__mro__):
                raise _Again(f"the answer broke off ({why})", hint="try again later") from None
            raise _Again(f"no connection ({why})", hint="check the address, the network, and that it runs") from None
        if len(read) > LONGEST_BYTES:
            raise ModelRefused(
                f"{self.base_url} sends more than {LONGEST_BYTES >> 20} MiB for one answer",
                hint="check the address: no chat completion is that long",
            )
        return answer

    def _connected(self) -> "AsyncClient":
        """The client of the running event loop; connections cannot move from one loop to another."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._client[0] is not loop:
            from httpx2 import AsyncClient, Limits

            key = api_key()
            if key is None and urlsplit(self.base_url).hostname == "api.openai.com":
                raise ModelClosed(f"{self.base_url} needs a key", hint="set PLANROUTE_API_KEY or OPENAI_API_KEY")
            self._secrets |= spellings(key or "")
            headers = {"Authorization": f"Bearer {key or 'none'}", "Content-Type": "application/json"}
            try:
                # As many connections as there are episodes at once: what bounds those bounds these.
                client = AsyncClient(headers=headers, timeout=self.timeout_s, limits=Limits())
            except Exception as error:
                raise ModelRefused(
                    f"cannot set up a connection to {self.base_url}: {self._clean(str(error))}",
                    hint="check the address, http_proxy, https_proxy, all_proxy and SSL_CERT_FILE",
                ) from None
            self._client = (loop, client)
        return self._client[1]

    def _body(self, request: ModelRequest, schema_in_words: bool) -> dict[str, Any]:
        sampling = request.sampling
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._limit: sampling.max_tokens,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed + request.draw
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if request.tools:
            body["tools"] = [dict(tool) for tool in request.tools]
        if sampling.thinking is not None:
            body["chat_template_kwargs"] = {"enable_thinking": sampling.thinking}
        if request.schema is not None and schema_in_words:
            words = f"Answer with one JSON object of this JSON schema and nothing else: {json.dumps(request.schema)}"
            messages.append({"role": "user", "content": words})
        elif request.schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(request.schema)},
            }
        return dict(utf8_json(body))

    def _status(self, answer: "_Answer", raw: str) -> "ModelError | _Again":
        """Say what an HTTP status means: try again, or refused."""
        status = answer.status
        try:
            told = complaint(json.loads(raw)) or raw
        except (ValueError, RecursionError):
            told = raw
        said = f"HTTP {status}: {self._clean(told[:4000] or answer.reason)}"
        if 300 <= status < 400:
            elsewhere = self._clean(public_url(answer.headers.get("location", "")))
            # A question that followed would lose its body, or go to another one than the named endpoint.
            raise ModelClosed(
                f"{self.base_url} is not where questions go: HTTP {status}, {elsewhere or 'without another address'}",
                hint="give the address itself, up to /v1, if you trust it",
            )
        broke = status == 429 and "insufficient_quota" in raw
        if (status in _TRY_AGAIN or status >= 500) and not broke:
            hint = "ask for less at a time, or later" if status == 429 else "try again later"
            wait_s = retry_after(answer.headers)
            if wait_s is not None and wait_s > LONGEST_WAIT_S:
                said += f" (asks to wait {wait_s:.0f} s)"
            return _Again(said, hint=hint, wait_s=wait_s)
        kind = ModelClosed if broke or status in _CLOSED else ModelRefused
        return kind(
            f"{self.base_url} refuses model {self.model}: {said}",
            hint=_HINTS.get(
                status, "check the account" if broke else "check the request against the endpoint's manual"
            ),
        )

    def _clean(self, text: str) -> str:
        """One short line of printable text without anything secret."""
        text = one_line(text)
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return _KEY.sub("***", _NAMELESS.sub("//", text))[:200]

    def _scrubbed(self, answer: Any) -> Any:
        """``answer`` without a key that the endpoint repeats in a text, or in a name of its usage account."""
        secrets = sorted((one for one in self._secrets if len(one) >= _SHORTEST_KEY), key=len, reverse=True)
        return without(secrets, answer, names=False) if secrets else answer


@dataclass(frozen=True, slots=True)
class _Answer:
    """What came over HTTP."""

    status: int
    headers: Mapping[str, str]
    reason: str
    content: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300


class _Again(Exception):
    """An attempt failed in a way that another may not; ``wait_s`` is the pause that the endpoint asked for."""

    def __init__(self, message: str, *, hint: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.hint, self.wait_s = hint, wait_s
