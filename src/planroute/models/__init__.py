"""Language models behind one protocol: live endpoints, an embedded engine, scripts, recordings; and the call cache.

``open_model`` makes one from a line such as ``embedded`` or ``openai:gpt-4o-mini``. Names are loaded when they are
first used, so that importing this package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planroute.models.cache import CachedModel, CallCache
    from planroute.models.embedded import EmbeddedModel
    from planroute.models.grammar import gbnf_for, longest_answer
    from planroute.models.live import LiveModel
    from planroute.models.metered import MeteredModel
    from planroute.models.recorded import RecordedModel
    from planroute.models.scripted import FACTORIES, ScriptedModel
    from planroute.models.serving import EmbeddedServer
    from planroute.models.spec import FORMS, open_model
    from planroute.models.weights import cache_folder, default_weights, fetch_weights

_HOMES = {
    "CachedModel": "cache",
    "CallCache": "cache",
    "EmbeddedModel": "embedded",
    "EmbeddedServer": "serving",
    "FACTORIES": "scripted",
    "FORMS": "spec",
    "LiveModel": "live",
    "MeteredModel": "metered",
    "RecordedModel": "recorded",
    "ScriptedModel": "scripted",
    "cache_folder": "weights",
    "default_weights": "weights",
    "fetch_weights": "weights",
    "gbnf_for": "grammar",
    "longest_answer": "grammar",
    "open_model": "spec",
}

__all__ = [
    "FACTORIES",
    "FORMS",
    "CachedModel",
    "CallCache",
    "EmbeddedModel",
    "EmbeddedServer",
    "LiveModel",
    "MeteredModel",
    "RecordedModel",
    "ScriptedModel",
    "cache_folder",
    "default_weights",
    "fetch_weights",
    "gbnf_for",
    "longest_answer",
    "open_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
