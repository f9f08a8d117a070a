"""The desk of a run on workers: the one process that has the call cache and the account.

A worker asks before each call. The desk answers from the cache, refuses what the run's budget does not hold, lets equal
questions wait for one answer, or says go; the answer then comes back here, is kept and charged, and only then goes on
to the episode. So the cache's file needs no network file system, the journal of what was paid has one writer, and a
worker that dies takes nothing with it that had been paid, but for calls that were under way.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

from planroute.calls import ModelReply, ModelRequest
from planroute.episode import Conditions
from planroute.models.cache import CachedModel
from planroute.protocols import Model
from planroute.runs.account import Charging, OnAccount
from planroute.runs.cells import Cell
from planroute.runs.ray_worker import Ask, Drop, Failure, Go, Message, Paid, Sent, Word

Tell = Callable[[int, Word], None]
"""Sends a word to the worker that waits for it under a number."""


class _Lost(Exception):
    """The worker that was to make a call is gone."""


@dataclass(slots=True, eq=False)
class Asker:
    """A worker as the desk sees it: how to tell it something, its questions, and the calls that it is making."""

    tell: Tell
    serving: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    tickets: dict[int, int] = field(default_factory=dict)
    gone: bool = False


@dataclass(slots=True)
class _Question:
    """A question under ``asked``; ``number`` is where its answer is awaited just now: a paid call moves it on.

    ``attempts`` are requests that were sent for it before it was given up.
    """

    asker: Asker
    asked: int
    number: int
    attempts: int = 0


_QUESTION: ContextVar[_Question] = ContextVar("question")


class Desk:
    """Serves the questions of workers about ``cells``; ``sent`` are those cells as they travel.

    Each of the cells' models is served by what it is here: behind its cache where it has one.
    """

    def __init__(self, cells: Sequence[Cell], charging: Charging | None) -> None:
        self.charging = charging
        self._cells = cells
        self.travelling: list[Sent] = []
        self._models: list[Model] = []
        self._numbers: dict[int, int] = {}
        self._tickets = itertools.count()
        self._open: dict[int, tuple[asyncio.Future[ModelReply | Failure], _Question]] = {}
        self._serving: set[asyncio.Task[None]] = set()
        conditions: dict[int, Conditions] = {}
        for cell in cells:
            known = cell.conditions
            if id(known) not in conditions:
                conditions[id(known)] = replace(
                    known, model=self._sent(known.model), judge_model=self._sent(known.judge_model)
                )
        self.sent = [replace(cell, conditions=conditions[id(cell.conditions)]) for cell in cells]

    def take(self, asker: Asker, message: Message) -> None:
        """Take a message in; the word on it follows later."""
        if isinstance(message, Paid):
            known = self._open.get(message.ticket)
            if known is not None and not known[0].done():
                future, question = known
                question.number = message.number
                future.set_result(message.outcome)
            return
        if isinstance(message, Drop):
            self._drop(asker, message)
            return
        task = asyncio.create_task(self._serve(asker, message))
        asker.serving[message.number] = task
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)
        task.add_done_callback(lambda _: asker.serving.pop(message.number, None))

    def lost(self, asker: Asker) -> None:
        """Give up what ``asker`` was doing: its calls are made by whoever else waits for their answers."""
        asker.gone = True
        for number in list(asker.tickets):
            self._lose(asker, number)

    async def aclose(self) -> None:
        """End what is being served."""
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _drop(self, asker: Asker, drop: Drop) -> None:
        """Serve a question no longer; others who wait for the same answer see to it themselves."""
        task = asker.serving.get(drop.number)
        if task is None:
            return
        if drop.number in asker.tickets:
            self._open[asker.tickets[drop.number]][1].attempts = drop.attempts
        task.cancel()
        task.add_done_callback(lambda _: self._lose(asker, drop.number))

    def _lose(self, asker: Asker, number: int) -> None:
        ticket = asker.tickets.get(number)
        if ticket is not None and not (future := self._open[ticket][0]).done():
            future.set_exception(_Lost())

    def _sent(self, model: Model | None) -> Sent | None:
        if model is None:
            return None
        inner = model.model if isinstance(model, CachedModel) else model
        number = self._numbers.setdefault(id(model), len(self._models))
        if number == len(self._models):
            afar: Model = _Afar(inner, self)
            self._models.append(CachedModel(afar, model.cache) if isinstance(model, CachedModel) else afar)
            self.travelling.append(Sent(number, inner))
        return self.travelling[number]

    async def _serve(self, asker: Asker, ask: Ask) -> None:
        question = _Question(asker, ask.number, ask.number)
        _QUESTION.set(question)
        model = self._models[ask.model]
        if self.charging is not None:
            model = OnAccount(model, self.charging, self._cells[ask.cell].key)
        word: Word | None = None
        while word is None and not asker.gone:
            try:
                word = await model.complete(ask.request)
            except _Lost:
                continue  # it was another one's call that this question waited for
            except Exception as error:
                word = Failure.of(error)
        if word is not None and not asker.gone:
            asker.tell(question.number, word)

    async def send(self, question: _Question) -> ModelReply:
        """Have the worker of ``question`` make its call."""
        if question.asker.gone:
            raise _Lost
        ticket = next(self._tickets)
        future: asyncio.Future[ModelReply | Failure] = asyncio.get_running_loop().create_future()
        self._open[ticket] = (future, question)
        question.asker.tickets[question.asked] = ticket
        try:
            question.asker.tell(question.number, Go(question.asked, ticket))
            outcome = await future
        except asyncio.CancelledError as ended:
            ended.attempts = question.attempts  # type: ignore[attr-defined]
            raise
        finally:
            del self._open[ticket]
            question.asker.tickets.pop(question.asked, None)
        if isinstance(outcome, Failure):
            raise outcome.error()
        return outcome


class _Afar:
    """A model whose calls are made by the worker that asks."""

    def __init__(self, model: Model, desk: Desk) -> None:
        self._model, self._desk = model, desk
        self.cacheable = getattr(model, "cacheable", True)

    @property
    def endpoint(self) -> str:
        return self._model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Have it answered there. The cache's task for it is a child of the question that came first."""
        return await self._desk.send(_QUESTION.get())

    async def aclose(self) -> None:
        """Nothing is held."""


__all__ = ["Asker", "Desk", "Tell"]
