"""What runs in a worker on Ray: episodes, with models that ask the desk before each call and tell it the answer after.

The desk is the process that started the run. It alone has the call cache and the account. Nothing here needs Ray.
"""

import asyncio
import itertools
import pickle
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planroute.calls import ModelReply, ModelRequest
from planroute.episode import run_episode
from planroute.errors import InputError, PlanrouteError
from planroute.protocols import Domain, Model
from planroute.runs.cells import Cell
from planroute.runs.execute import package_version


@dataclass(frozen=True, slots=True)
class Failure:
    """An error on its way to another process: its class and what it holds, or its text where it cannot be sent."""

    kind: type[BaseException]
    args: tuple[Any, ...]
    held: dict[str, Any]
    where: str

    @classmethod
    def of(cls, error: BaseException) -> "Failure":
        """Take ``error`` apart. One of planroute's own needs no traceback to be understood."""
        where = "" if isinstance(error, PlanrouteError) else "".join(traceback.format_exception(error))
        # An OSError keeps the names of files beside its arguments.
        args = tuple(error.__reduce__()[1]) if isinstance(error, OSError) else error.args
        whole = cls(type(error), args, {k: v for k, v in vars(error).items() if k != "__notes__"}, where)
        try:
            pickle.loads(pickle.dumps(whole)).error()  # noqa: S301 - what was made one line above
        except Exception:
            return cls(RuntimeError, (f"{type(error).__name__}: {error}",), {}, where)
        return whole

    def error(self) -> BaseException:
        """Put the error together again, without a call of its class, which may ask for other arguments."""
        error = self.kind.__new__(self.kind, *self.args)
        if not isinstance(error, OSError):
            error.args = self.args
        vars(error).update(self.held)
        if self.where:
            error.add_note(f"raised in a worker:\n{self.where}")
        return error


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a cell to one of the desk's models, before anything is paid for it."""

    number: int
    cell: int
    model: int
    request: ModelRequest


@dataclass(frozen=True, slots=True)
class Go:
    """The desk's word that question ``number`` is to be put to the model; the answer goes back under ``ticket``."""

    number: int
    ticket: int


@dataclass(frozen=True, slots=True)
class Paid:
    """What came of a question that was put to the model; ``number`` is under which the desk's own word is awaited."""

    number: int
    ticket: int
    outcome: ModelReply | Failure


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody waits for question ``number`` any longer; so many requests have been sent for it."""

    number: int
    attempts: int


Message = Ask | Paid | Drop
"""What a worker sends to the desk."""
Word = Go | ModelReply | Failure
"""What the desk answers to an ``Ask``; to a ``Paid`` it is never ``Go``."""


class Link:
    """A worker's end of the exchange with the desk, which fetches messages in batches and brings words back."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Word]] = {}
        self._out: list[Message] = []
        self._some = asyncio.Event()

    async def ask(self, cell: int, model: int, request: ModelRequest) -> Word:
        """Ask before a call."""
        number = next(self._numbers)
        try:
            return await self._send(number, Ask(number, cell, model, request))
        except asyncio.CancelledError:
            self.drop(number, 0)
            raise

    async def paid(self, ticket: int, outcome: ModelReply | Failure) -> Word:
        """Tell what came of a call, and return once that is kept and charged."""
        number = next(self._numbers)
        return await self._send(number, Paid(number, ticket, outcome))

    def drop(self, number: int, attempts: int) -> None:
        """Tell that question ``number`` is given up."""
        self._out.append(Drop(number, attempts))
        self._some.set()

    async def batch(self) -> list[Message]:
        """Wait for messages and hand all of them over."""
        await self._some.wait()
        self._some.clear()
        found, self._out = self._out, []
        return found

    def told(self, words: Sequence[tuple[int, Word]]) -> None:
        """Take the desk's words in."""
        for number, word in words:
            waiting = self._waiting.pop(number, None)
            if waiting is not None and not waiting.done():
                waiting.set_result(word)

    async def _send(self, number: int, message: Message) -> Word:
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._out.append(message)
        self._some.set()
        return await self._waiting[number]


@dataclass(frozen=True, slots=True)
class Sent:
    """A model as it travels: the engine that a worker opens for itself, and which of the desk's models it is."""

    number: int
    model: Model

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Not before the cell is begun: see ``AtDesk``."""
        raise AssertionError("a model on its way answers nothing")

    async def aclose(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class AtDesk:
    """``sent`` for one cell: the desk says whether a call is needed and allowed, and keeps what was paid for."""

    sent: Sent
    link: Link
    cell: int

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.sent.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` as the desk does. Raises what the model or the desk raises."""
        word = await self.link.ask(self.cell, self.sent.number, request)
        if isinstance(word, Go):
            outcome: ModelReply | Failure
            try:
                outcome = await self.sent.model.complete(request)
            except asyncio.CancelledError as ended:
                self.link.drop(word.number, getattr(ended, "attempts", 0))
                raise
            except Exception as error:
                outcome = Failure.of(error)
            word = await self.link.paid(word.ticket, outcome)
        if isinstance(word, Failure):
            raise word.error()
        assert isinstance(word, ModelReply)  # noqa: S101 - a paid call gets no further Go
        return word

    async def aclose(self) -> None:
        """Nothing is held: the model outlives the cell."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Work of a run: the cells of ``domain``."""

    domain: Domain
    cells: Sequence[Cell]

    async def do(self, number: int, link: Link) -> Any:
        """Run a cell to its episode."""
        cell = self.cells[number]
        model, judge = (
            AtDesk(of, link, number) if isinstance(of, Sent) else of
            for of in (cell.conditions.model, cell.conditions.judge_model)
        )
        conditions = replace(cell.conditions, model=model, judge_model=judge)
        return await run_episode(self.domain, cell.task, cell.seed, conditions, condition=cell.condition)


@dataclass(frozen=True, slots=True)
class Items:
    """Work of another kind: one call of ``work`` for each of ``items``."""

    work: Callable[..., Awaitable[Any]]
    common: tuple[Any, ...]
    items: Sequence[tuple[Any, ...]]

    async def do(self, number: int, link: Link) -> Any:
        """Do one item."""
        return await self.work(*self.common, *self.items[number])


class Worker:
    """A process that is reused for one piece of work after the other. ``work`` is a pickled ``Cells`` or ``Items``."""

    def __init__(self, work: bytes, made_by: tuple[str, str]) -> None:
        self._packed, self._made_by = work, made_by
        self._work: Cells | Items | None = None
        self._link: Link | None = None

    async def ready(self) -> Failure | None:
        """Open what was sent, once: domain and models."""
        try:
            if (mine := versions()) != self._made_by:
                raise InputError(
                    f"a worker has planroute {mine[0]} on Python {mine[1]}, here are {' and '.join(self._made_by)}",
                    hint="install the same on every machine of the cluster",
                )
            self._link = Link()
            self._work = pickle.loads(self._packed)  # noqa: S301 - from the process that started this one
            self._packed = b""
        except Exception as error:
            if not isinstance(error, PlanrouteError):
                error = InputError(
                    f"a worker cannot open the domain or its models: {type(error).__name__}: {error}",
                    hint="install planroute with the same extras, and the same data, on every machine of the cluster",
                )
            return Failure.of(error)
        return None

    async def do(self, number: int) -> Any:
        """Return what piece ``number`` gives, or the ``Failure`` that it ends in."""
        assert self._work is not None and self._link is not None  # noqa: S101, PT018 - ready comes first
        try:
            return await self._work.do(number, self._link)
        except Exception as error:
            return Failure.of(error)

    async def batch(self) -> list[Message]:
        """Hand over messages to the desk as soon as there are some."""
        assert self._link is not None  # noqa: S101 - ready comes first
        return await self._link.batch()

    async def told(self, words: Sequence[tuple[int, Word]]) -> None:
        """Take the desk's words in."""
        assert self._link is not None  # noqa: S101 - ready comes first
        self._link.told(words)


def versions() -> tuple[str, str]:
    """The versions that must be equal on all machines: planroute's and Python's."""
    return package_version(), f"{sys.version_info[0]}.{sys.version_info[1]}"


__all__ = [
    "Ask",
    "AtDesk",
    "Cells",
    "Drop",
    "Failure",
    "Go",
    "Items",
    "Link",
    "Message",
    "Paid",
    "Sent",
    "Word",
    "Worker",
    "versions",
]
