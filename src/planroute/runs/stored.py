"""What a run has stored, checked before it is believed: every fault names its file and the field in it."""

import json
import logging
import math
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from planroute.episode import EpisodeRow
from planroute.errors import DamagedFile, InputError, StorageError
from planroute.evaluation.deadline import PlanningEvent
from planroute.evaluation.failure import FailureLabel
from planroute.gate import GateAction
from planroute.modes import Baseline, Mode
from planroute.trace import SCHEMA_VERSION as TRACE_VERSION
from planroute.trace import Stop

AGAIN = "the command of its run sets that file aside and makes it again"
DAMAGED = ".damaged-"
"""What stands between a file's name and a number, where damage was set aside."""
Fault = tuple[tuple[str, ...], str]
"""Where in a row the fault is, from the field inwards, and what it is."""

_LOG = logging.getLogger("planroute.runs")
_ROW: TypeAdapter[EpisodeRow] = TypeAdapter(EpisodeRow)
_ROW_FIELDS = tuple(field.name for field in fields(EpisodeRow))
_WITHIN: Mapping[str, TypeAdapter[Any]] = {
    "status": TypeAdapter(Literal["finished", "failed", "infrastructure"]),
    "stop": TypeAdapter(Stop),
    "spent": TypeAdapter(dict[str, dict[str, Annotated[float, Field(ge=0)]]]),
    "planning": TypeAdapter(tuple[PlanningEvent, ...]),
    "failure": TypeAdapter(FailureLabel),
    "late_events": TypeAdapter(Annotated[int, Field(ge=0)] | None),
    "seed": TypeAdapter(Annotated[int, Field(ge=0, lt=2**63)]),
    "declared": TypeAdapter(Mode | None),
    "executed": TypeAdapter(Mode | Baseline | None),
    "gate": TypeAdapter(GateAction | None),
    "deadline_s": TypeAdapter(Annotated[float, Field(ge=0)] | None),
}
_CONDITION = re.compile(r"[A-Za-z][\w.-]*(?: [\w.-]+)*", re.ASCII)
"""Names of conditions and of declarers, which stand for a condition where none is given."""
_LONGEST_NAME = 200
_SHARES = ("adherence", "plan_order_faithful", "order_by_evidence")
"""Metrics that are shares wherever they are measured."""
_LARGEST = 1e100
"""What no quantity of an episode reaches, and no sum of such numbers overflows."""


def set_aside(path: Path, why: str) -> Path:
    """Rename a damaged file to ``NAME.damaged-N``, log that, and return its new path.

    Raises ``StorageError`` where it cannot be renamed.
    """
    number = 1
    while (aside := path.with_name(f"{path.name}{DAMAGED}{number}")).exists() or aside.is_symlink():
        number += 1
    try:
        path.rename(aside)
    except OSError as error:
        raise StorageError(f"cannot set {path} aside: {error.strerror or error}") from None
    _LOG.warning("%s; set aside as %s", why, aside.name)
    return aside


def read_object(path: Path, *, missing: str = "", hint: str = AGAIN) -> dict[str, Any]:
    """Read the JSON object in ``path``. Raises ``InputError`` where it is missing, no regular file, or damaged."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{path} is not a file", hint=hint)
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(missing or f"{path} is missing") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise DamagedFile(f"{path} is damaged: {error}", hint=hint) from None
    except RecursionError:
        raise DamagedFile(f"{path} is damaged: nested too deeply", hint=hint) from None
    if not isinstance(data, dict):
        raise DamagedFile(f"{path} is damaged: not an object", hint=hint)
    return data


def stored_row(stored: Mapping[str, Any], path: Path, expected: Mapping[str, Any] | None = None) -> EpisodeRow:
    """Return the row of a stored cell, as it was written: a whole number stays one.

    ``expected`` holds what the cell's own fields must be. Raises ``InputError`` that names ``path`` and the first
    field that is missing, has another type or value, or holds a number that is not finite.
    """
    faulty = not_finite(stored)
    if faulty:
        raise _damaged(path, faulty, "not a finite number")
    row, trace = stored.get("row"), stored.get("trace")
    if not isinstance(row, dict):
        raise _damaged(path, "row", "missing or not an object")
    if not isinstance(trace, dict) or not isinstance(trace.get("events"), list):
        raise _damaged(path, "trace", "missing or not a list of events")
    if trace.get("schema") != TRACE_VERSION:
        raise _damaged(path, "trace.schema", f"{trace.get('schema')!r}, this planroute reads {TRACE_VERSION}")
    _same_episode(row, trace["events"], path)
    return read_row(row, path, expected)


def _same_episode(row: Mapping[str, Any], events: list[Any], path: Path) -> None:
    """Raise ``InputError`` where the trace is another episode's: it ended or was dispatched in another way."""
    told = [event for event in events if isinstance(event, dict)]
    for kind, field, name in (("finished", "stop", "stop"), ("dispatched", "executed", "executed")):
        last = next((event for event in reversed(told) if event.get("kind") == kind), None)
        if last is not None and last.get(field) != row.get(name):
            raise _damaged(path, f"row.{name}", f"{row.get(name)!r}, but {last.get(field)!r} in the trace")


def read_row(row: dict[str, Any], path: Path | None = None, expected: Mapping[str, Any] | None = None) -> EpisodeRow:
    """Return the row that ``row`` holds as JSON values; with ``path``, its file, every field is checked first."""
    if path is not None:
        fault = row_fault(row, expected)
        if fault is not None:
            raise _damaged(path, ".".join(("row", *fault[0])), fault[1])
    values = {name: row[name] for name in _ROW_FIELDS}
    return EpisodeRow(**{**values, "planning": tuple(row["planning"])})


def row_fault(row: Mapping[str, Any], expected: Mapping[str, Any] | None = None) -> Fault | None:
    """Return the first fault of a row of JSON values, ``None`` where there is none.

    That is a field that is missing, of another type, or not as ``expected``, or what no episode can have.
    """
    fault = _mismatch(_ROW, row)
    for name, form in _WITHIN.items():
        fault = fault or _mismatch(form, row[name], name)
    if fault:
        return fault
    for name, value in (expected or {}).items():
        if row[name] != value:
            return (name,), f"{row[name]!r} in the file of a cell with {value!r}"
    return next(_implausible(row), None)


def _implausible(row: Mapping[str, Any]) -> Iterator[Fault]:
    """What no episode can have."""
    name = row["condition"]
    if len(name) > _LONGEST_NAME or not _CONDITION.fullmatch(name):
        yield ("condition",), f"{name[:40]!r} is no name of letters, digits, and . - _ between them"
    if row["success"] and row["status"] != "finished":
        yield ("success",), f"true in an episode that is {row['status']}"
    for name, value in row["metrics"].items():
        if value is not None and abs(value) > _LARGEST:
            yield ("metrics", name), "too large"
        if value is not None and name in _SHARES and not 0 <= value <= 1:
            yield ("metrics", name), f"{value:g} is no share from 0 to 1"
    for purpose, spent in row["spent"].items():
        for name, value in spent.items():
            if value > _LARGEST:
                yield ("spent", purpose, name), "too large"
    for place, event in enumerate(row["planning"]):
        if not 0 <= event["cost_s"] <= _LARGEST:
            yield ("planning", str(place), "cost_s"), "negative or too large"


def checked_manifest(manifest: dict[str, Any], path: Path, version: int, hint: str) -> dict[str, Any]:
    """Return ``manifest``. Raises ``InputError`` for another schema version or a field of the wrong form."""
    if manifest.get("schema", version) != version:
        raise InputError(
            f"{path} has schema version {manifest['schema']!r}, this planroute reads {version}",
            hint="install the planroute version that wrote it, or choose another folder",
        )
    cells, facts = manifest.get("cells"), manifest.get("facts", {})
    if not isinstance(manifest.get("identity"), str):
        raise _damaged(path, "identity", "missing or not a text", hint)
    if not isinstance(cells, list) or not all(isinstance(key, str) and _is_name(key) for key in cells):
        raise _damaged(path, "cells", "missing or not a list of names of files", hint)
    if len(set(cells)) < len(cells):
        twice = next(key for key, count in Counter(cells).items() if count > 1)
        raise _damaged(path, "cells", f"{twice!r} is listed twice", hint)
    if not isinstance(facts, dict) or not all(isinstance(of_task, dict) for of_task in facts.values()):
        raise _damaged(path, "facts", "not an object for each task", hint)
    return manifest


def _is_name(key: str) -> bool:
    """Whether a file can be called so."""
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return False
    return 0 < size <= _LONGEST_NAME and key.isprintable() and Path(key).name == key


def _damaged(path: Path, field: str, what: str, hint: str = AGAIN) -> DamagedFile:
    return DamagedFile(f"{path} is damaged: {field}: {what}", hint=hint)


def _mismatch(form: TypeAdapter[Any], value: Any, *place: str) -> Fault | None:
    """Hold ``value`` against ``form`` as JSON; text that is no valid Unicode counts as text."""
    try:
        form.validate_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return (*place, *map(str, first["loc"])), first["msg"]
    except RecursionError:
        return place, "nested too deeply"
    return None


def not_finite(stored: Mapping[str, Any]) -> str:
    """Name the first number that is not finite; empty where all are. Not recursive, so no depth is too deep."""
    left: list[tuple[str, Any]] = [("", stored)]
    while left:
        name, value = left.pop()
        if isinstance(value, float):
            if not math.isfinite(value):
                return name
        elif isinstance(value, dict):
            left.extend((f"{name}.{key}" if name else key, item) for key, item in value.items())
        elif isinstance(value, list):
            left.extend((f"{name}.{place}", item) for place, item in enumerate(value))
    return ""
