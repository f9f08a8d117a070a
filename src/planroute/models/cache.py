"""The call cache: every question that was put to a model, whole, with its answer, in one SQLite file.

A question is looked up by its identity and the stored question is compared with it: a mismatch raises, and is never
answered. Every row has a checksum. A file that cannot be read, or a row whose checksum is wrong, is damage: the file
is set aside as ``NAME.damaged-N``, a warning is logged (logger ``planroute.models``), the rows that are still whole
are carried over into a new file, and the run goes on. An error of another kind is no damage; another program's
database, or a file that is no database, is refused and left as it is.
"""

import asyncio
import copy
import itertools
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeVar

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import ModelError, StorageError
from planroute.models.record import COLUMNS, CallRecord, digest_of
from planroute.protocols import Model

VERSION: Final = 1
APPLICATION: Final = 0x706C616E
"""What marks a new file as planroute's in its header."""
HEADER: Final = b"SQLite format 3\x00"
APPLICATION_AT: Final = 68
"""Where a header has the application's mark, in bytes (SQLite file format, 1.3)."""
BUSY_S: Final = 30.0
"""How long to wait for another process that writes, in seconds."""

_LOG = logging.getLogger("planroute.models")
_ALL = ", ".join(COLUMNS)
_TABLE = f"CREATE TABLE IF NOT EXISTS calls ({_ALL}, digest, PRIMARY KEY (identity)) WITHOUT ROWID"
_READ = f"SELECT {_ALL}, digest FROM calls"  # noqa: S608 - constants only
_WRITE = f"INSERT OR IGNORE INTO calls VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"  # noqa: S608

R = TypeVar("R")


_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class _Damaged(Exception):
    pass


def _is_damage(error: Exception) -> bool:
    """Whether the file itself is broken; a wrong value, a full disk or a lock is something else."""
    return isinstance(error, _Damaged) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


class CallCache:
    """The cache in the file ``path``. May be shared by threads and processes.

    Raises ``StorageError`` where the file cannot be opened or written, or comes from another program or another
    version of planroute.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)
        self._guarded(lambda: self._db().execute(f"{_READ} LIMIT 1").fetchall())

    def __len__(self) -> int:
        """Return the number of calls in it."""
        return self._guarded(lambda: int(self._db().execute("SELECT count(*) FROM calls").fetchone()[0]))

    def __iter__(self) -> Iterator[CallRecord]:
        """Yield all calls, ordered by identity."""
        yield from self._guarded(lambda: [_checked(row) for row in self._db().execute(f"{_READ} ORDER BY identity")])

    def find(self, identity: str, canonical: str) -> ModelReply | None:
        """Return the stored reply, not billed, or ``None``. Raises ``CacheMismatch``."""

        def look() -> CallRecord | None:
            row = self._db().execute(f"{_READ} WHERE identity = ?", (identity,)).fetchone()
            return None if row is None else _checked(row)

        record = self._guarded(look)
        return None if record is None else record.answers(canonical, str(self.path))

    def store(self, record: CallRecord) -> bool:
        """Keep ``record``; return false where the question has been answered in the meantime by someone else."""

        row = record.row()
        values = (*row, digest_of(row))

        def write() -> bool:
            with self._db() as db:
                return db.execute(_WRITE, values).rowcount > 0

        return self._guarded(write)

    def export(self, path: str | Path) -> int:
        """Write all calls to ``path``, one JSON object a line, ordered by identity; return how many."""
        records = list(self)
        Path(path).write_text("".join(record.to_json() + "\n" for record in records), encoding="utf-8")
        return len(records)

    def close(self) -> None:
        """Close the file. May be called twice; the cache opens it again when it is used again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = db = _connect(self.path)
            try:
                version = _version(db, str(self.path))
            except StorageError:
                self.close()
                raise
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            if version == 0:
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(_TABLE)
                db.execute(f"PRAGMA user_version = {VERSION}")
            self._file = _which(self.path)
        return self._connection

    def _guarded(self, work: Callable[[], R]) -> R:
        """Do ``work``; where that meets damage, set the file aside and do it again on a new one."""
        with self._lock:
            try:
                if self._connection is not None and _which(self.path) != self._file:
                    self.close()  # another process has set the file aside: it is kept, but read by nobody
                try:
                    return work()
                except (sqlite3.DatabaseError, _Damaged) as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(error)
                    return work()
            except (sqlite3.Error, OSError, OverflowError, UnicodeError) as error:
                self.close()
                raise StorageError(
                    f"call cache {self.path}: {error}", hint="check the folder, or name another file with --cache"
                ) from None

    def _set_aside(self, damage: Exception) -> None:
        self.close()
        if self._file not in ((0, 0), _which(self.path)):
            return  # another process was faster, and its new file is whole
        if not _was_a_database(self.path):
            raise StorageError(f"{self.path} is not a call cache", hint="name another file with --cache")
        aside = next(
            p for n in itertools.count(1) if not (p := self.path.with_name(f"{self.path.name}.damaged-{n}")).exists()
        )
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + ending).rename(aside.with_name(aside.name + ending))
        kept = 0
        with closing(_connect(aside)) as old, self._db() as new, suppress(sqlite3.DatabaseError):
            for row in old.execute(_READ):
                with suppress(_Damaged):
                    kept += new.execute(_WRITE, (*_checked(row).row(), row[-1])).rowcount
        _LOG.warning(
            "call cache %s is damaged (%s): kept as %s, %d calls carried over", self.path, damage, aside.name, kept
        )


def _which(path: Path) -> tuple[int, int]:
    """Tell the file at ``path`` from every other one; zeros where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_dev, found.st_ino


def _was_a_database(path: Path) -> bool:
    """Whether the head of ``path`` is that of an SQLite file or has planroute's mark, however damaged the rest is."""
    with path.open("rb") as file:
        head = file.read(APPLICATION_AT + 4)
    return head.startswith(HEADER) or head[APPLICATION_AT:] == APPLICATION.to_bytes(4, "big")


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    # Overwritten text must reach the checksum, and not end in an error that could also be a full disk.
    connection.text_factory = lambda value: value.decode("utf-8", "replace")
    return connection


def _version(db: sqlite3.Connection, where: str) -> int:
    """The version of the call cache ``db``, 0 for one that is yet to be made. Raises ``StorageError`` for others."""
    (version,), (application,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("user_version", "application_id")
    )
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    columns = tuple(column[1] for column in db.execute("PRAGMA table_info(calls)"))
    ours = application == APPLICATION or columns == (*COLUMNS, "digest")
    if (tables and not ours) or application not in (0, APPLICATION):
        raise StorageError(
            f"{where} is another program's database, not a call cache", hint="name another file with --cache"
        )
    if version not in (0, VERSION):
        raise StorageError(
            f"{where}: a call cache of version {version}, this planroute reads {VERSION}",
            hint="name another file with --cache",
        )
    return int(version)


def read_only(db: sqlite3.Connection) -> Iterator[CallRecord]:
    """Yield all calls of ``db`` without a change to it. Raises ``StorageError`` at the first that is damaged."""
    _version(db, "it")
    try:
        for row in db.execute(f"{_READ} ORDER BY identity"):
            yield _checked(row)
    except _Damaged as damage:
        raise StorageError(str(damage)) from None


def _checked(row: tuple[object, ...]) -> CallRecord:
    try:
        record = CallRecord.of_row(row[:-1])
        if digest_of(row[:-1]) == row[-1]:
            return record
    except (ValueError, TypeError, RecursionError):
        pass
    raise _Damaged(f"the row of {str(row[0])[:12]!r} has a wrong checksum")


@dataclass(slots=True)
class _Flight:
    """A call under way. ``charged``: one of those who wait bears its costs, ``attempts`` requests and ``paid``."""

    task: asyncio.Task[ModelReply] = field(init=False)
    waiting: int = 0
    charged: bool = False
    attempts: int = 0
    paid: ModelReply | None = None

    def take(self) -> bool:
        """Whether the caller is the first, who bears the costs."""
        first, self.charged = not self.charged, True
        return first


class CachedModel:
    """``model`` behind ``cache``: a known question is answered from it, and not billed.

    Equal questions that are under way at the same time share one call; the first that gets the answer is billed, and
    the first that gets an error bears the requests that were sent. A call that nobody waits for any longer is ended.
    An error or a cancellation that comes after the answer was paid holds it as ``reply``.
    Errors are not kept. Answers that the token limit cut are: the limit is part of the question. A model whose
    attribute ``cacheable`` is false is asked every time, and nothing of it is kept.
    """

    def __init__(self, model: Model, cache: CallCache) -> None:
        self.model = model
        self.cache = cache
        self._flights: dict[str, _Flight] = {}

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` from the cache, or ask the model and keep the answer."""
        if not getattr(self.model, "cacheable", True):
            return await self.model.complete(request)
        canonical, identity = request.identified(self.endpoint)
        flight = self._flights.get(identity)
        if flight is None:
            known = self.cache.find(identity, canonical)
            if known is not None:
                return known
            flight = self._flights[identity] = _Flight()
            flight.task = asyncio.create_task(self._ask(request, canonical, identity, flight))
        flight.waiting += 1
        try:
            reply = await asyncio.shield(flight.task)
        except (ModelError, StorageError) as error:
            if flight.take():
                raise
            shared = copy.copy(error)
            vars(shared).update(attempts=0, reply=None)
            raise shared from None
        except asyncio.CancelledError as cancelled:
            await self._left(flight, identity, cancelled)
            raise
        finally:
            flight.waiting -= 1
        return reply if flight.take() else replace(reply, billed=False, attempts=0)

    async def _left(self, flight: _Flight, identity: str, cancelled: asyncio.CancelledError) -> None:
        """End the call of ``flight`` where the last who waited for it goes, who bears the requests sent so far."""
        if flight.waiting > 1:
            return
        if not flight.task.done():
            self._forget(flight, identity)
            flight.task.cancel()
            while not flight.task.done():
                with suppress(asyncio.CancelledError):  # once more: what it has sent must be known
                    await asyncio.wait({flight.task})
        if flight.take():
            vars(cancelled).update(attempts=flight.attempts, reply=flight.paid)

    def _forget(self, flight: _Flight, identity: str) -> None:
        if self._flights.get(identity) is flight:
            del self._flights[identity]

    async def _ask(self, request: ModelRequest, canonical: str, identity: str, flight: _Flight) -> ModelReply:
        try:
            flight.paid = reply = await self.model.complete(request)
            flight.attempts = reply.attempts
            record = CallRecord(identity, request.purpose, canonical, reply)
            try:  # The first answer is what a repetition will see, also where a text cannot be kept as it is.
                kept = CallRecord.of_row(record.row())
                reply = replace(kept.reply, billed=reply.billed, attempts=reply.attempts)
            except (ValueError, TypeError, RecursionError) as error:
                raise StorageError(f"an answer of {self.endpoint} cannot be kept: {error}") from None
            if not self.cache.store(record):
                # Another process was faster: its answer is the one that a repetition will see.
                known = self.cache.find(identity, canonical)
                reply = reply if known is None else replace(known, billed=reply.billed, attempts=reply.attempts)
            return reply
        except StorageError as error:
            vars(error).update(attempts=flight.attempts, reply=flight.paid)
            raise
        except (ModelError, asyncio.CancelledError) as error:
            flight.attempts, flight.paid = getattr(error, "attempts", 0), getattr(error, "reply", None)
            raise
        finally:
            self._forget(flight, identity)

    async def aclose(self) -> None:
        """Close the model and the cache."""
        await self.model.aclose()
        self.cache.close()
