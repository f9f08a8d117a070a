"""One recorded call: a question with its identity, and the answer to it."""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from planroute.calls import ModelReply
from planroute.errors import CacheMismatch, StorageError
from planroute.ledger import Usage

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


@dataclass(frozen=True, slots=True)
class CallRecord:
    """``request`` is the canonical JSON of the question; ``identity`` is its SHA-256."""

    identity: str
    purpose: str
    request: str
    reply: ModelReply

    def row(self) -> tuple[Any, ...]:
        """Return the values of ``COLUMNS``."""
        r, u = self.reply, self.reply.usage
        raw = json.dumps(dict(u.raw), sort_keys=True, ensure_ascii=False)
        tokens = (u.prompt_tokens, u.answer_tokens, u.thinking_tokens)
        answer = (r.text, r.thinking, r.finish_reason)
        return (self.identity, self.purpose, self.request, *answer, *tokens, raw, r.latency_s, r.price_usd)

    @classmethod
    def of_row(cls, row: tuple[Any, ...]) -> "CallRecord":
        """Return the record of the values of ``COLUMNS``; its reply is not billed."""
        identity, purpose, request, text, thinking, reason, prompt, answer, thought, raw, latency, price = row
        usage = Usage(prompt, answer, thought, json.loads(raw))
        reply = ModelReply(text, usage, thinking, reason, latency, billed=False, price_usd=price)
        return cls(identity, purpose, request, reply)

    def digest(self) -> str:
        """Return a checksum over the whole record."""
        return hashlib.sha256(json.dumps(self.row(), ensure_ascii=False).encode("utf-8", "replace")).hexdigest()

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
            request = json.dumps(
                fields["request"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
            )  # as ModelRequest.canonical writes it
            fields |= {"request": request, "raw_usage": json.dumps(fields["raw_usage"])}
            record = cls.of_row(tuple(fields[name] for name in COLUMNS))
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(f"not a recorded call: {type(error).__name__}: {error}") from None
        if hashlib.sha256(request.encode()).hexdigest() != record.identity:
            raise StorageError(f"the recorded request is not the one of identity {record.identity[:12]}")
        return record

    def answers(self, canonical: str, where: str) -> ModelReply:
        """Return the reply, not billed, if this is the record of ``canonical``; else raise ``CacheMismatch``."""
        if self.request != canonical:
            raise CacheMismatch(
                f"{where}: the call stored as {self.identity[:12]} was another request",
                hint="move the file away; a new one is made",
            )
        return replace(self.reply, billed=False)
