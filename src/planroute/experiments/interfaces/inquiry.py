"""One call of a study: put through the interface's own code, and kept as a record whatever comes back."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import ModelRefused, ModelUnavailable, ReplyError, RunBudgetReached, StorageError
from planroute.experiments.interfaces.records import Record, RecordFile, stored_call
from planroute.ledger import Ledger
from planroute.models.record import CallRecord
from planroute.protocols import Context, Model
from planroute.trace import Mended, Trace

Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One call to make. ``about`` says in plain values what is asked about.

    ``ask`` runs an interface's own code, which puts one request to the context's model, and returns what it read as
    plain values. ``in_words`` asks without enforcing the schema: it goes into the prompt instead.
    """

    about: Mapping[str, Any]
    ask: Callable[[Context], Awaitable[Mapping[str, Any]]]
    seed: int
    in_words: bool = False


async def put_all(
    inquiries: Sequence[Inquiry],
    name: str,
    model: Model,
    file: RecordFile,
    *,
    at_once: int,
    advance: Advance | None = None,
) -> tuple[list[Record], int]:
    """Put every inquiry to ``model``, called ``name``, at most ``at_once`` at a time.

    Returns the records in the order of the inquiries, and how many of them were there already. Where the model makes no
    further call, because a budget is reached, those under way end and are kept; then ``RunBudgetReached`` is raised.
    Raises ``ModelMissing``, ``StorageError`` and ``InputError``; everything else that goes wrong is a record.
    """
    waiting = iter(list(enumerate(inquiries)))
    done: dict[int, tuple[Record, bool]] = {}
    reached: list[RunBudgetReached] = []

    async def work() -> None:
        for number, inquiry in waiting:
            if reached:
                return
            try:
                record, was_there = done[number] = await _put(inquiry, name, model, file)
            except RunBudgetReached as limit:
                reached.append(limit)
                return
            if not was_there:
                file.append(record)
            if advance is not None:
                advance(1)

    workers = [asyncio.ensure_future(work()) for _ in range(min(at_once, len(inquiries)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    if reached:
        raise reached[0]
    ordered = [done[number] for number in sorted(done)]
    return [record for record, _ in ordered], sum(was_there for _, was_there in ordered)


async def _put(inquiry: Inquiry, name: str, model: Model, file: RecordFile) -> tuple[Record, bool]:
    listening = _Listening(model, file)
    trace = Trace()
    asked: Model = _SchemaInWords(listening) if inquiry.in_words else listening
    value, status, error = None, "read", ""
    try:
        value = dict(await inquiry.ask(Context(inquiry.seed, trace, Ledger(), asked)))
    except ReplyError as problem:
        status, error = "unreadable", problem.message
    except ModelRefused as problem:
        status, error = "refused", problem.message
    except ModelUnavailable as problem:
        status, error = "infrastructure", problem.message
    mended = trace.of(Mended)
    record = {
        "model": name,
        "about": dict(inquiry.about),
        "status": status,
        "error": error,
        "value": value,
        "repairs": [repair for event in mended for repair in event.repairs],
        "clips": [list(clip) for event in mended for clip in event.clips],
        **listening.call(),
    }
    plain: Record = json.loads(json.dumps(record, allow_nan=False))
    return plain, listening.was_there


@dataclass(slots=True)
class _Listening:
    """``model`` with an ear on it: a call that ``file`` knows is repeated, and the last one is remembered."""

    model: Model
    file: RecordFile
    was_there: bool = False
    _heard: dict[str, Any] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        canonical, identity = request.canonical(self.endpoint), request.identity(self.endpoint)
        known = self.file.known(identity)
        if known is not None:
            self.was_there = True
            call = stored_call(known)
            self._hear(call)
            return call.answers(canonical, str(self.file.path))
        try:
            reply = await self.model.complete(request)
        except (ModelRefused, ModelUnavailable):
            self._hear(CallRecord(identity, request.purpose, canonical, ModelReply("")), answered=False)
            raise
        try:  # The reply as it can be kept, so that a later start reads the same.
            call = CallRecord.of_row(CallRecord(identity, request.purpose, canonical, reply).row())
        except (ValueError, TypeError, RecursionError) as error:
            raise StorageError(f"an answer of {self.endpoint} cannot be kept: {error}") from None
        self._hear(call)
        return call.reply

    async def aclose(self) -> None:
        """Nothing is held: the model outlives the study."""

    def call(self) -> dict[str, Any]:
        """The call as a record holds it."""
        return self._heard

    def _hear(self, call: CallRecord, *, answered: bool = True) -> None:
        self._heard = json.loads(call.to_json())
        if not answered:
            self._heard |= {"finish_reason": "", "latency_s": None, "price_usd": None}


@dataclass(frozen=True, slots=True)
class _SchemaInWords:
    """``model``, asked without a schema to enforce: the last message ends with it."""

    model: Model

    @property
    def endpoint(self) -> str:
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        *before, last = request.messages
        schema = json.dumps(request.schema)
        words = f"Answer with one JSON object of this JSON schema and nothing else: {schema}"
        message = replace(last, content=f"{last.content}\n\n{words}")
        return await self.model.complete(replace(request, messages=(*before, message), schema=None))

    async def aclose(self) -> None:
        """Nothing is held: the model outlives the study."""
