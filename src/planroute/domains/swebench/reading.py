"""Find records in a file or folder, and say at once what is wrong with which."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planroute.domains.swebench.records import Record, read_record
from planroute.errors import FaultyInput, InputError

SUFFIXES: Final = (".json", ".jsonl", ".parquet")
FETCH: Final = "docs/swebench.md says where the benchmark's records are; give a file or folder of them with --tasks"

_SHOWN_FAULTS: Final = 20


def read_records(path: Path) -> tuple[Record, ...]:
    """Return the records of ``path``, a file or a folder of files, in the order of their names.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each fault: file, instance, field.
    """
    found: dict[str, tuple[Record, str]] = {}
    faults: list[str] = []
    for file in _files(path):
        name = file.name if file == path else file.relative_to(path).as_posix()
        try:
            for place, fields in enumerate(_parsed(file), 1):
                faults += [f"{name}: {fault}" for fault in _take(fields, place, name, found)]
        except (InputError, OSError) as error:
            reason = error.message if isinstance(error, InputError) else error.strerror or str(error)
            faults.append(f"{name}: {reason}")
    if faults:
        more = [f"... and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise FaultyInput(f"records in {path}", [*faults[:_SHOWN_FAULTS], *more])
    if not found:
        raise InputError(f"{path} holds no record", hint=FETCH)
    return tuple(found[name][0] for name in sorted(found))


def _take(fields: Any, place: int, file: str, found: dict[str, tuple[Record, str]]) -> list[str]:
    """Add the record of ``fields`` to ``found``; return its faults."""
    if not isinstance(fields, dict):
        return [f"record {place} is no object"]
    record, faults = read_record(fields)
    given = fields.get("instance_id")
    name = given[:200] if isinstance(given, str) and given else f"record {place}"
    if record is not None and record.instance_id in found:
        earlier, where = found[record.instance_id]
        if earlier != record:
            faults = [f"is another record of that name than the one in {where}"]
    elif record is not None:
        found[record.instance_id] = record, file
    return [f"{name}: {fault}" for fault in faults]


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path} does not exist", hint=FETCH)
    files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not files:
        raise InputError(f"{path} holds no file of records ({', '.join(SUFFIXES)})", hint=FETCH)
    return files


def _parsed(file: Path) -> Iterator[Any]:
    """The records of a file. Raises ``InputError`` where it cannot be read as what its name says."""
    if file.suffix == ".parquet":
        yield from _table(file)
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _json(line, f"line {number}")
        return
    whole = _json(text, "it")
    yield from whole if isinstance(whole, list) else [whole]


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{what} is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}") from None


def _table(file: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    try:
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=64):
            yield from batch.to_pylist()
    except (pyarrow.ArrowException, ValueError) as error:
        raise InputError(f"is not a Parquet table: {str(error).splitlines()[0][:200]}") from None
