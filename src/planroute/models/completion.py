"""What an OpenAI-compatible endpoint answers, read: a chat completion, a complaint, a time to wait."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from planroute.calls import ModelReply
from planroute.models.text import storable
from planroute.models.usage import normalised
from planroute.reply import split_thinking


def without(secrets: Sequence[str], value: Any, *, names: bool) -> Any:
    """Return the JSON value ``value`` with ``***`` for each of ``secrets`` in its texts, and its ``names`` if told so.

    What the account of usage is called by is cleaned in any case: it is kept as it is.
    """
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "***")
        return value
    if isinstance(value, list):
        return [without(secrets, item, names=names) for item in value]
    if isinstance(value, dict):
        return {
            without(secrets, name, names=names) if names else name: without(
                secrets, item, names=names or name == "usage"
            )
            for name, item in value.items()
        }
    return value


def reply_of(answer: Mapping[str, Any], latency_s: float, attempts: int) -> ModelReply:
    """Return the reply in ``answer``, a chat completion.

    Raises ``ValueError``, ``KeyError``, ``IndexError``, ``TypeError`` or ``AttributeError`` where it is none.
    """
    choice = answer["choices"][0]
    message = choice["message"]
    text, thinking = split_thinking(message.get("content") or "")
    thinking = message.get("reasoning_content") or message.get("reasoning") or thinking
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    if calls and not text:
        text = json.dumps([{"name": call["name"], "arguments": call["arguments"]} for call in calls])
    reason = choice.get("finish_reason")
    if not isinstance(reason, str | None):
        raise TypeError("finish_reason is not a text")
    text, thinking, reason = (storable(part) for part in (text, thinking, reason or "stop"))
    usage = normalised(answer.get("usage"), text, thinking)
    return ModelReply(text, usage, thinking, reason, latency_s, attempts=attempts)


def complaint(body: Any) -> str:
    """Return the message in the body of a refusal; empty where there is none."""
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    found = inner.get("message", "") if isinstance(inner, Mapping) else inner
    return found if isinstance(found, str) else ""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the ``Retry-After`` header, which holds seconds or a date."""
    from email.utils import parsedate_to_datetime
    from time import time

    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, TypeError, OverflowError):
        return None
