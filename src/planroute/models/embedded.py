"""A language model inside this process: llama.cpp through xllamacpp, on a GGUF file.

The default, SmolLM2-135M-Instruct, is there to show that every interface runs with a real model, and no more: it
follows neither a state nor an instruction.
"""

import asyncio
import secrets
import threading
import time
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import ModelError, ModelMissing, ModelRefused, ModelUnavailable
from planroute.models.grammar import gbnf_for
from planroute.models.usage import normalised
from planroute.models.weights import NAME, SHA256, digest_of, fetch_weights, given_weights
from planroute.reply import split_thinking

CONTEXT: Final = 4096
"""Tokens of prompt and answer together."""
THREADS: Final = 1
"""On a shared machine a second thread has slowed generation down several times over."""


class Engine:
    """One loaded llama.cpp server. Answers one question at a time, in a thread of its own."""

    _loaded: ClassVar["weakref.WeakValueDictionary[tuple[Path, int, int], Engine]"] = weakref.WeakValueDictionary()
    _loading: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, path: Path, context: int, threads: int, key: str) -> None:
        try:
            import xllamacpp
        except ImportError:
            raise ModelMissing(
                "an embedded model needs the engine xllamacpp", hint="pip install 'planroute[embedded]'"
            ) from None
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.model_alias = {path.name}
        params.n_ctx = context
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.hostnames = ["127.0.0.1"]
        params.api_keys = [key] if key else []
        params.ui = params.warmup = False
        params.verbosity = -1
        try:
            self._server = xllamacpp.Server(params)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ModelMissing(
                f"llama.cpp cannot load {path}: {error}", hint="check that the file is whole, and the free memory"
            ) from None
        self.address: str = self._server.listening_address
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="planroute-embedded")

    @classmethod
    def shared(cls, path: Path, context: int, threads: int) -> "Engine":
        """Return the engine of ``path``, loaded once a process for as long as somebody uses it."""
        settings = (path.resolve(), context, threads)
        with cls._loading:
            engine = cls._loaded.get(settings)
            if engine is None:
                # The server also listens on loopback; the key, which nobody learns, keeps others out of it.
                engine = cls(*settings, key=secrets.token_hex())
                cls._loaded[settings] = engine
            return engine

    async def ask(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """Return the server's answer to ``body`` and the seconds that it took, without waiting for earlier ones."""

        def work() -> tuple[dict[str, Any], float]:
            begun = time.perf_counter()
            answer: dict[str, Any] = self._server.handle_chat_completions(dict(body))
            return answer, time.perf_counter() - begun

        return await asyncio.get_running_loop().run_in_executor(self._executor, work)


class EmbeddedModel:
    """The model in the GGUF file ``path``, loaded at the first call.

    Without ``path`` it is SmolLM2-135M-Instruct, whose weights are fetched into ``cache_dir`` at the first call.
    ``context`` bounds prompt and answer together, in tokens. ``prompt_cache`` reuses the common beginning of
    successive prompts: faster, but answers may then depend on the calls before. A request's schema is enforced by a
    grammar. Raises ``InputError`` where ``path`` is not a GGUF file.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        cache_dir: str | Path | None = None,
        context: int = CONTEXT,
        threads: int = THREADS,
        prompt_cache: bool = False,
    ) -> None:
        self._path = None if path is None else given_weights(path)
        self._cache_dir = cache_dir
        self._name, self._digest = (NAME, SHA256) if self._path is None else (self._path.name, "")
        self._context, self._threads, self._prompt_cache = context, threads, prompt_cache
        self._engine: Engine | None = None

    def __repr__(self) -> str:
        return f"EmbeddedModel({self._name})"

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is opened anew, from the same file."""
        settings: dict[str, Any] = {"context": self._context, "threads": self._threads}
        settings["prompt_cache"] = self._prompt_cache
        return partial(type(self), self._path, cache_dir=self._cache_dir, **settings), ()

    @property
    def endpoint(self) -> str:
        """``embedded:`` (``gguf:`` for a file of one's own), the file's name and the beginning of its SHA-256."""
        if not self._digest and self._path is not None:
            self._digest = digest_of(self._path)
        kind = "embedded" if self._path is None else "gguf"
        return f"{kind}:{self._name}@{self._digest[:12]}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``; calls are answered one after another, in the order in which they come.

        Raises ``ModelMissing`` where engine or weights are not there, ``ModelRefused`` where the prompt is longer
        than the context or tools are asked for, and ``InputError`` where the schema has no grammar.
        """
        body = self._body(request)
        if self._engine is None:
            self._engine = await asyncio.to_thread(self._load)
        answer, seconds = await self._engine.ask(body)
        if "error" in answer:
            raise self._error(answer["error"])
        choice = answer["choices"][0]
        message = choice["message"]
        text, thinking = split_thinking(message.get("content") or "")
        thinking = message.get("reasoning_content") or thinking
        usage = normalised({**answer["usage"], "timings": answer.get("timings", {})}, text, thinking)
        return ModelReply(text, usage, thinking, choice["finish_reason"], seconds, price_usd=0.0)

    async def aclose(self) -> None:
        """Let go of the engine; the memory is free when no other model uses it."""
        self._engine = None

    def _load(self) -> Engine:
        path = self._path if self._path is not None else fetch_weights(self._cache_dir)
        return Engine.shared(path, self._context, self._threads)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        if request.tools:
            raise ModelRefused("the embedded model takes no tools", hint="ask for a schema instead")
        sampling = request.sampling
        body: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            # llama.cpp's own defaults would truncate the distribution further than the request says.
            "top_k": 0,
            "min_p": 0.0,
            "seed": -1 if sampling.seed is None else (sampling.seed + request.draw) % 2**32,
            "stop": list(sampling.stop),
            "cache_prompt": self._prompt_cache,
        }
        if sampling.thinking is not None:
            body["chat_template_kwargs"] = {"enable_thinking": sampling.thinking}
        if request.schema is not None:
            body["grammar"] = gbnf_for(request.schema)
        return body

    def _error(self, error: Mapping[str, Any]) -> ModelError:
        message = " ".join(str(error.get("message", error)).split())[:300]
        if error.get("type") == "exceed_context_size_error":
            return ModelRefused(
                f"{self._name}: {message}",
                hint=f"shorten the prompt; the context is {self._context} tokens",
                attempts=1,
            )
        kind = ModelUnavailable if error.get("code", 500) >= 500 else ModelRefused
        return kind(f"{self._name}: {message}", attempts=1)
