"""A model that only repeats what was recorded: the call cache's file, or the lines that its ``export`` wrote."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError, ModelMissing, StorageError
from planroute.models.cache import read_only
from planroute.models.record import CallRecord
from planroute.models.text import one_line

_SQLITE = b"SQLite format 3\x00"


class RecordedModel:
    """Answers from the recording in ``path``, never billed, under the endpoint that was recorded.

    The file is only read. What it says is never kept as an answer of the model that it names (``cacheable``): nobody
    knows who has edited it.

    ``endpoint`` is needed only where the recording holds calls of several. Raises ``InputError`` where the file is
    missing, empty or not a recording, or the endpoint is not in it.
    """

    cacheable: ClassVar[bool] = False

    def __init__(self, path: str | Path, endpoint: str | None = None) -> None:
        self.path = Path(path)
        read = _read(self.path)
        if not read:
            raise InputError(f"the recording {self.path} is empty: it holds no calls")
        self._records = {record.identity: record for _, record in read}
        endpoints = sorted({endpoint for endpoint, _ in read})
        if endpoint is None and len(endpoints) == 1:
            (endpoint,) = endpoints
        if endpoint is None or endpoint not in endpoints:
            raise InputError(
                f"{self.path} holds calls of {len(endpoints)} models: {one_line(', '.join(endpoints))}",
                hint=f"name one of them: recorded:{self.path}#ENDPOINT",
            )
        self._endpoint = endpoint

    @property
    def endpoint(self) -> str:
        """The endpoint whose calls were recorded: identities are those of the recorded run."""
        return self._endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Repeat the recorded reply. Raises ``ModelMissing`` where the question was not recorded."""
        identity = request.identity(self.endpoint)
        record = self._records.get(identity)
        if record is None:
            raise ModelMissing(
                f"{self.path} holds no answer for {request.purpose!r} (identity {identity[:16]})",
                hint="record the run again with the model itself",
            )
        return record.answers(request.canonical(self.endpoint), str(self.path))

    async def aclose(self) -> None:
        """Nothing is held."""


def _read(path: Path) -> list[tuple[str, CallRecord]]:
    """The records, each with its endpoint."""
    try:
        with path.open("rb") as file:
            is_cache = file.read(len(_SQLITE)) == _SQLITE
        if is_cache:
            return _of_cache(path)
        lines = path.read_text(encoding="utf-8").split("\n")
    except sqlite3.Error as error:
        raise InputError(f"the recording {path} cannot be read: {error}", hint="nothing in it was changed") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the recording {path}: {error}") from None
    records = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                record = CallRecord.from_json(line)
                records.append((record.endpoint(), record))
        except StorageError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    return records


def _of_cache(path: Path) -> list[tuple[str, CallRecord]]:
    try:
        with _opened(path) as db:
            return [(record.endpoint(), record) for record in read_only(db)]
    except StorageError as error:
        raise InputError(f"the recording {path} cannot be used: {error}", hint="nothing in it was changed") from None


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a call cache without a mark on it or its folder, which may be on a disk that cannot be written.

    Calls that have not been moved from the log beside the file into it are only seen through files that SQLite makes
    there; where it cannot, both are copied away first.
    """
    log = path.with_name(path.name + "-wal")
    if not log.exists() or log.stat().st_size == 0:
        with closing(_connected(path, "immutable=1")) as db:
            yield db
        return
    with tempfile.TemporaryDirectory(prefix="planroute-") as scratch:
        copy = Path(scratch) / "recording"
        shutil.copyfile(path, copy)
        shutil.copyfile(log, copy.with_name("recording-wal"))
        with closing(_connected(copy, "mode=rw")) as db:
            yield db


def _connected(path: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)
    connection.text_factory = lambda value: value.decode("utf-8", "replace")
    return connection
