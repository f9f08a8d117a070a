"""Find records in a file or folder, and say at once what is wrong with which."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planroute.domains.swebench.records import Record, read_record
from planroute.domains.text.task_files import contents, reason, refuse, task_files
from planroute.errors import InputError

FETCH: Final = "docs/swebench.md says where the benchmark's records are; give a file or folder of them with --tasks"


def read_records(path: Path) -> tuple[Record, ...]:
    """Return the records of ``path``, a file or a folder of files, in the order of their names.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each fault: file, instance, field.
    """
    found: dict[str, tuple[Record, str]] = {}
    faults: list[str] = []
    for name, file in task_files(path, "records", FETCH):
        try:
            for place, fields in enumerate(_records(file), 1):
                faults += [f"{name}: {fault}" for fault in _take(fields, place, name, found)]
        except (InputError, OSError) as error:
            faults.append(f"{name}: {reason(error)}")
    refuse(f"records in {path}", faults)
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


def _records(file: Path) -> Iterator[Any]:
    for part in contents(file):
        yield from part if isinstance(part, list) else [part]
