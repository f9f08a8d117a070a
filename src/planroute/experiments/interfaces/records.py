"""The evidence of an interface study: one record for each call, kept as it comes, whatever comes back.

::

    records.jsonl    one JSON object a line, by call identity; a call that was answered is not made again
    rows.parquet     the same as a table, without the texts of the questions, derived

A record holds the question whole, the answer as it was read from the model, what the interface's code made of it, and
what the call took. Its ``status``:

``read``            the answer was read, perhaps mended; ``repairs`` and ``clips`` say what was done
``unreadable``      the model answered, and not in the form that was asked for
``refused``         the endpoint did not accept the request: counts against the model, asked again by the next start
``infrastructure``  the endpoint gave up: no statement about the model, asked again by the next start
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from planroute.calls import canonical_json
from planroute.errors import InputError, StorageError
from planroute.models.record import COLUMNS, CallRecord
from planroute.reporting.placing import within
from planroute.runs.folder import RunFolder
from planroute.runs.table import write_table

Record = dict[str, Any]

RECORDS: Final = "records.jsonl"
ROWS: Final = "rows.parquet"
ANSWERED: Final = ("read", "unreadable")
"""Statuses of calls that were answered: these have a text, tokens and a latency."""


class RecordFile:
    """The records in a folder. Without a folder they are kept in memory only.

    Raises ``InputError`` where a line is damaged, other than a last one that was being written when its program ended,
    or where the file is a link; ``StorageError`` where it cannot be read or written.
    """

    def __init__(self, folder: Path | None) -> None:
        self.path = None if folder is None else within(folder, RECORDS)
        self._found: dict[str, Record] = {}
        if self.path is not None and self.path.exists():
            text = _text(self.path)
            self._found = {record["identity"]: record for record in _records(text, self.path)}
            if not text.endswith("\n"):
                self._write(self._found.values())

    def known(self, identity: str) -> Record | None:
        """The record of the call ``identity``, if it was answered."""
        found = self._found.get(identity)
        return found if found is not None and found["status"] in ANSWERED else None

    def append(self, record: Record) -> None:
        """Keep ``record`` at once."""
        self._found[record["identity"]] = record
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(record))
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror or error}") from None

    def finish(self, records: Sequence[Record]) -> None:
        """Put ``records`` into their order, those of other studies behind them; write the table of ``records``."""
        if self.path is None:
            return
        mine = {record["identity"] for record in records}
        others = [record for identity, record in self._found.items() if identity not in mine]
        self._write([*records, *others])
        write_table(self.path.with_name(ROWS), [_row(record) for record in records])

    def _write(self, records: Iterable[Record]) -> None:
        """Write the whole file anew: readers see the old one or the new one."""
        if self.path is not None:
            RunFolder(self.path.parent).write(RECORDS, "".join(map(_line, records)))


def stored_call(record: Mapping[str, Any]) -> CallRecord:
    """The call of an answered ``record``. Raises ``StorageError`` where it is not whole."""
    return CallRecord.from_json(json.dumps({name: record.get(name) for name in COLUMNS}))


def _line(record: Record) -> str:
    return json.dumps(record, sort_keys=True, allow_nan=False) + "\n"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None


def _records(text: str, path: Path) -> Iterator[Record]:
    lines = text.split("\n")[:-1]  # a last line without its end was not written to its end
    for number, line in enumerate(lines, 1):
        try:
            yield _checked(json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError, StorageError) as error:
            raise InputError(
                f"{path}, line {number}, is damaged: {error}", hint="remove that line; its call is asked again"
            ) from None


def _checked(record: Any) -> Record:
    if not isinstance(record, dict):
        raise TypeError("not an object")
    if record["status"] in ANSWERED:
        stored_call(record)
    elif hashlib.sha256(canonical_json(record["request"]).encode()).hexdigest() != record["identity"]:
        raise ValueError("its identity is not the one of its request")
    return record


def _row(record: Record) -> dict[str, Any]:
    """The record on one line of a table: plain columns, lists as text."""
    row: dict[str, Any] = {name: record[name] for name in ("model", "purpose", "identity", "status", "error")}
    row |= {f"about_{name}": _plain(value) for name, value in record["about"].items()}
    row |= {f"value_{name}": _plain(value) for name, value in (record["value"] or {}).items()}
    row |= {"repairs": len(record["repairs"]), "clips": len(record["clips"])}
    row |= {name: record[name] for name in COLUMNS if name.endswith(("_tokens", "_reason", "_s", "_usd"))}
    return row | {"text": record["text"]}


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
