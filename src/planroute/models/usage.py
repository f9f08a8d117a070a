"""Token counts of providers, normalised: prompt, answer and thinking apart."""

from collections.abc import Mapping
from typing import Any

from planroute.ledger import Usage
from planroute.models.text import COUNT_BELOW, plain_account


def normalised(raw: Mapping[str, Any] | None, answer: str, thinking: str) -> Usage:
    """Return the usage that ``raw`` reports in OpenAI's terms, with ``raw`` beside it, as strict JSON can hold it.

    Reasoning tokens are part of ``completion_tokens`` with most providers and are subtracted; where the total is the
    sum of all three, or there are more of them than completion tokens, they were counted apart already. A provider that
    separates thinking from the answer but not its tokens has them divided by the length of the two texts. No report
    at all gives zeros, and so does a count that none can be.
    """
    raw = raw or {}
    prompt, completion, total = (_count(raw, f"{part}_tokens") for part in ("prompt", "completion", "total"))
    details = raw.get("completion_tokens_details")
    thought = _count(details, "reasoning_tokens") if isinstance(details, Mapping) else 0
    if thought == 0 and thinking:
        thought = round(completion * len(thinking) / (len(thinking) + len(answer)))
    elif thought > 0 and (thought > completion or total == prompt + completion + thought):
        return Usage(prompt, completion, thought, plain_account(raw))
    return Usage(prompt, completion - thought, thought, plain_account(raw))


def _count(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < COUNT_BELOW else 0
