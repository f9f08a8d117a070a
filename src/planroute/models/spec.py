"""A model from one line: what ``--model`` takes."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from planroute.errors import InputError
from planroute.protocols import Model

OPENAI: Final = "https://api.openai.com/v1"

SENT: Final = "api-version"
"""The one part of an address's query that an endpoint is sent, and that is no secret."""
FORMS: Final = (
    ("embedded", "SmolLM2-135M-Instruct in this process, fetched on first use"),
    ("gguf:PATH", "a GGUF file in this process"),
    ("openai:MODEL", "MODEL at --base-url, PLANROUTE_BASE_URL or OpenAI"),
    ("http[s]://HOST/v1#MODEL", "MODEL at that OpenAI-compatible endpoint"),
    ("scripted/NAME", "a deterministic script: minimal, declare=MODE, garbage?seed=N, echo, slip=RATE"),
    ("inspect:PROVIDER/MODEL", "MODEL through a provider of Inspect; needs the extra inspect"),
    ("recorded:PATH", "only the answers recorded in a call cache or its export"),
)
"""Every form of a model's line, and what it stands for."""


def open_model(spec: str, *, base_url: str | None = None, cache_dir: str | Path | None = None) -> Model:
    """Return the model of ``spec``; nothing is fetched, loaded or connected before its first call.

    Only ``inspect:`` loads Inspect and opens its provider at once. ``base_url`` is for it and for ``openai:MODEL``,
    ``cache_dir`` is where fetched weights are kept. Raises ``InputError`` where the line has none of ``FORMS`` or names
    a file that is not there.
    """
    kind, _, rest = spec.strip().partition(":")
    if spec.startswith("scripted/"):
        from planroute.models.scripted import scripted

        return scripted(spec.removeprefix("scripted/"))
    if kind == "embedded" and not rest:
        from planroute.models.embedded import EmbeddedModel

        return EmbeddedModel(cache_dir=cache_dir)
    if kind == "gguf" and rest:
        from planroute.models.embedded import EmbeddedModel

        return EmbeddedModel(rest)
    if kind == "recorded" and rest:
        from planroute.models.recorded import RecordedModel

        path, _, endpoint = rest.partition("#")
        return RecordedModel(path, endpoint or None)
    if kind == "inspect" and "/" in rest:
        return _through_inspect(rest, base_url)
    if kind == "openai" and rest:
        from planroute.models.live import LiveModel

        return LiveModel(base_url or os.environ.get("PLANROUTE_BASE_URL") or OPENAI, rest)
    if kind.lower() in ("http", "https"):
        from planroute.models.live import LiveModel

        url, _, model = spec.strip().partition("#")
        if model:
            return LiveModel(url, model)
    raise InputError(f"unknown model {public_spec(spec)!r}", hint="; ".join(f"{form}: {what}" for form, what in FORMS))


def holds_a_secret(spec: str) -> bool:
    """Whether ``spec`` is an address with a user, a password or a query that may hold a key."""
    from urllib.parse import parse_qsl, urlsplit

    address = spec.strip().partition("#")[0]
    try:
        parts = urlsplit(address)
    except ValueError:
        return "@" in address
    return "://" in address and ("@" in parts.netloc or any(name != SENT for name, _ in parse_qsl(parts.query)))


def public_spec(spec: str | None) -> str | None:
    """Return ``spec`` as it may be kept and shown: an address without user, password, key and whatever else it hides.

    Of an address's query, only the ``api-version`` is left.
    """
    if spec is None or "://" not in spec:
        return spec
    from urllib.parse import parse_qsl, urlencode, urlsplit

    from planroute.models.live import public_url

    url, hash_sign, model = spec.strip().partition("#")
    try:
        version = {name: value for name, value in parse_qsl(urlsplit(url).query) if name == SENT}
    except ValueError:
        version = {}
    return f"{public_url(url)}{'?' if version else ''}{urlencode(version)}{hash_sign}{model}"


def _through_inspect(name: str, base_url: str | None) -> Model:
    """The adapter stands above this module and is loaded by its name, only where it is asked for."""
    if find_spec("inspect_ai") is None:
        raise InputError(f"inspect:{name} needs Inspect", hint="pip install 'planroute[inspect]'")
    model: Model = import_module("planroute.inspect_.model").open_inspect(name, base_url)
    return model
