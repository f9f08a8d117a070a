"""One recorded call: a question with its identity, and the answer to it."""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import Any

from planroute.calls import ModelReply, canonical_json
from planroute.errors import CacheMismatch, StorageError
from planroute.ledger import Usage
from planroute.models.text import COUNT_BELOW, storable

COLUMNS = (
    "identity",
    "purpose",
    "request",
    "text",
    "thinking",
    "finish_reason",
    "prompt_tokens",
    "answer_tokens",
    "thinking_tokens",
    "raw_usage",
    "latency_s",
    "price_usd",
)

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_USUAL = {(*(str,) * 6, int, int, int, str, float, price) for price in (float, type(None))}
"""The types of a row in which only the ranges of numbers need a look."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """``request`` is the canonical JSON of the question; ``identity`` is its SHA-256."""

    identity: str
    purpose: str
    request: str
    reply: ModelReply

    def row(self) -> tuple[Any, ...]:
        """Return the values of ``COLUMNS``, all texts as UTF-8 can hold them."""
        r, u = self.reply, self.reply.usage
        raw = json.dumps(dict(u.raw), sort_keys=True, ensure_ascii=False)
        tokens = (u.prompt_tokens, u.answer_tokens, u.thinking_tokens)
        answer = (r.text, r.thinking, r.finish_reason)
        values = (self.identity, self.purpose, self.request, *answer, *tokens, raw, r.latency_s, r.price_usd)
        return tuple(storable(value) if isinstance(value, str) else value for value in values)

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> "CallRecord":
        """Return the record of the values of ``COLUMNS``; its reply is not billed.

        Raises ``TypeError`` or ``ValueError`` where one is not of its type.
        """
        if not _usual(row):
            for name, value in zip(COLUMNS, row, strict=True):
                _check(name, value)
        identity, purpose, request, text, thinking, reason, prompt, answer, thought, raw, latency, price = row
        account = json.loads(raw)
        if not isinstance(account, dict):
            raise TypeError("raw_usage is not an object")
        usage = Usage(prompt, answer, thought, account)
        reply = ModelReply(text, usage, thinking, reason, latency, billed=False, price_usd=price, attempts=0)
        return cls(identity, purpose, request, reply)

    def digest(self) -> str:
        """Return a checksum over the whole record."""
        return digest_of(self.row())

    def to_json(self) -> str:
        """Return the record as one line of JSON, the request as an object."""
        fields = dict(zip(COLUMNS, self.row(), strict=True))
        fields |= {"request": json.loads(self.request), "raw_usage": json.loads(fields["raw_usage"])}
        return json.dumps(fields)

    @classmethod
    def from_json(cls, line: str) -> "CallRecord":
        """Read what ``to_json`` wrote. Raises ``StorageError`` where the line is not whole or not consistent."""
        try:
            fields = json.loads(line)
            if not isinstance(fields, dict):
                raise TypeError("not an object")
            request = canonical_json(fields["request"])
            fields |= {"request": request, "raw_usage": json.dumps(fields["raw_usage"])}
            record = cls.of_row(tuple(fields[name] for name in COLUMNS))
        except KeyError as error:
            raise StorageError(f"not a recorded call: {error.args[0]} is missing") from None
        except RecursionError:
            raise StorageError("not a recorded call: nested too deeply") from None
        except (ValueError, TypeError) as error:
            raise StorageError(f"not a recorded call: {error}") from None
        if hashlib.sha256(request.encode()).hexdigest() != record.identity:
            raise StorageError(f"the recorded request is not the one of identity {record.identity[:12]!r}")
        return record

    def endpoint(self) -> str:
        """Return what the question was put to. Raises ``StorageError`` where the record does not say."""
        try:
            endpoint = json.loads(self.request)["endpoint"]
        except (ValueError, KeyError, TypeError, RecursionError):
            endpoint = None
        if not isinstance(endpoint, str):
            raise StorageError("not a recorded call: its request names no endpoint")
        return endpoint

    def answers(self, canonical: str, where: str) -> ModelReply:
        """Return the reply, not billed, if this is the record of ``canonical``; else raise ``CacheMismatch``."""
        if self.request != canonical:
            raise CacheMismatch(
                f"{where}: the call stored as {self.identity[:12]} was another request",
                hint="move the file away; a new one is made",
            )
        return self.reply if not self.reply.billed else replace(self.reply, billed=False, attempts=0)


def digest_of(row: tuple[Any, ...]) -> str:
    """Return the checksum of a record's values of ``COLUMNS``."""
    return hashlib.sha256(_ENCODER.encode(row).encode("utf-8", "replace")).hexdigest()


def _usual(row: tuple[Any, ...]) -> bool:
    """Whether ``row`` passes every ``_check``, seen at once; if not, it may pass all the same."""
    if tuple(map(type, row)) not in _USUAL:
        return False
    if not 0 <= min(row[6:9]) <= max(row[6:9]) < COUNT_BELOW:
        return False
    # No comparison holds for what is not a number.
    return bool(abs(row[10]) < COUNT_BELOW and abs(row[11] or 0.0) < COUNT_BELOW)


def _check(name: str, value: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` where ``value`` cannot stand in the column ``name``."""
    if name.endswith("_tokens"):
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} is not a whole number")
        if not 0 <= value < COUNT_BELOW:
            raise ValueError(f"{name} is out of range")
    elif name in ("latency_s", "price_usd"):
        if name == "price_usd" and value is None:
            return
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise TypeError(f"{name} is not a number")
        if not (abs(value) < COUNT_BELOW and math.isfinite(value)):
            raise ValueError(f"{name} is out of range")
    elif not isinstance(value, str):
        raise TypeError(f"{name} is not a text")
