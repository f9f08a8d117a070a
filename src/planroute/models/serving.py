"""A real OpenAI-compatible endpoint on this machine, for tests and for trying a live model without an account."""

import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Final

from planroute.errors import ModelUnavailable
from planroute.models.embedded import CONTEXT, THREADS, Engine
from planroute.models.weights import fetch_weights, given_weights

READY_S: Final = 120.0


class EmbeddedServer:
    """llama.cpp's HTTP server on a free port of 127.0.0.1, while the ``with`` block lasts.

    ``path`` is a GGUF file, by default the embedded model's weights. With ``api_key`` the server asks for it. Raises
    ``InputError``, ``ModelMissing``, or ``ModelUnavailable`` where the model is not loaded within ``READY_S`` seconds.
    """

    def __init__(
        self, path: str | Path | None = None, *, api_key: str = "", context: int = CONTEXT, threads: int = THREADS
    ) -> None:
        self._settings = (fetch_weights() if path is None else given_weights(path), context, threads)
        self._api_key = api_key
        self._engine: Engine | None = None

    @property
    def base_url(self) -> str:
        """The address for ``--base-url``; the server must be running."""
        if self._engine is None:
            raise RuntimeError("the server runs inside its with block only")
        return f"{self._engine.address}/v1"

    @property
    def model(self) -> str:
        """The model's name at this endpoint."""
        return self._settings[0].name

    def __enter__(self) -> "EmbeddedServer":
        self._engine = Engine(*self._settings, key=self._api_key)
        end = time.monotonic() + READY_S
        while not self._ready():
            if time.monotonic() > end:
                raise ModelUnavailable(f"the server on {self.model} was not ready within {READY_S:g} s")
            time.sleep(0.05)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine = None

    def _ready(self) -> bool:
        """The server answers 503 until its model is loaded."""
        assert self._engine is not None  # noqa: S101 - only called inside the block
        try:
            with urllib.request.urlopen(f"{self._engine.address}/health", timeout=5) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            error.close()
            return False
        except OSError:
            return False
