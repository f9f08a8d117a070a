"""What goes wrong in Inspect's providers, as planroute's errors; and the little that Inspect keeps to itself.

The private names of Inspect stand here and nowhere else.
"""

import re

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelRefusalError

from planroute.errors import ModelClosed, ModelError, ModelMissing, ModelRefused, ModelUnavailable
from planroute.inspect_.secrets import without_keys

__all__ = ["PrerequisiteError", "current_epoch", "model_error"]

_MARKUP = re.compile(r"\[/?(?:bold|italic|blue|red|link)[^\]]*\]")
_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai|hf)[-_][\w*.-]{3,}|(?i:bearer)\s+\S+")
_AGAIN = {408, 409, 425, 429}
_CLOSED = {401, 402, 403, 404}


def model_error(error: Exception, name: str, *, passing: bool = False) -> ModelError | None:
    """Return what ``error`` of the model ``name`` means, ``None`` where it is not about the model at all.

    ``passing`` says that the provider itself would try again.
    """
    said = f"{name}: {_line(error)}"
    if isinstance(error, ModelError):
        return error
    if isinstance(error, PrerequisiteError):
        if "install" in str(error).lower():
            return ModelMissing(said)
        return ModelClosed(said, hint="set the key that this provider of Inspect reads")
    if isinstance(error, ModelRefusalError):
        return ModelRefused(said)
    status = _status(error)
    if status is not None and 400 <= status < 500 and status not in _AGAIN:
        kind = ModelClosed if status in _CLOSED else ModelRefused
        return kind(said, hint="check the key, the model's name and the request")
    if passing or status is not None or isinstance(error, OSError | TimeoutError) or _of_a_client(error):
        return ModelUnavailable(said, hint="try again later")
    return None


def current_epoch() -> int:
    """Return the epoch of the sample that is running, 1 outside of one."""
    try:
        from inspect_ai.solver._task_state import sample_state
    except ImportError:
        return 1
    state = sample_state()
    return 1 if state is None else int(state.epoch)


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error, or what led to it, carries."""
    for each in (error, error.__cause__, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(each, name, None)
            if isinstance(value, int) and 100 <= value < 600:
                return value
    return None


def _of_a_client(error: BaseException) -> bool:
    """Whether ``error`` comes from a library that talks to endpoints."""
    homes = ("httpx", "httpx2", "openai", "anthropic", "google", "mistralai", "aiohttp", "botocore", "groq", "tenacity")
    return any(kind.__module__.split(".")[0] in homes for kind in type(error).__mro__)


def _line(error: BaseException) -> str:
    """One line of what was said, without markup and without what looks like a key."""
    last = getattr(error, "last_attempt", None)
    if last is not None and last.exception() is not None:  # tenacity's, after the last attempt
        error = last.exception()
    text = _MARKUP.sub("", " ".join(str(getattr(error, "provider_message", None) or error).split()))
    return _KEY.sub("***", without_keys(text.removeprefix("ERROR: ")))[:300] or type(error).__name__
