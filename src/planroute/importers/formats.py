"""The formats by name, how each is recognised, and reading a file of any of them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planroute.errors import InputError
from planroute.importers.files import ZIP, largest, read_bytes, refuse_large
from planroute.importers.games import adapt, knowagent
from planroute.importers.inspect_logs import inspect_json, inspect_zip
from planroute.importers.own import own_cell, own_trace
from planroute.importers.swe import mini_swe_agent, swe_agent, verdict_of
from planroute.importers.trajectory import Trajectory
from planroute.importers.who_when import is_conversation, who_when


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, whether a parsed document is of it, and its reader."""

    name: str
    matches: Callable[[Any], bool]
    read: Callable[[Any, str], list[Trajectory]]


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda document: isinstance(document, Mapping) and all(key in document for key in keys)


def _messages(document: Any) -> bool:
    return isinstance(document, list) and bool(document) and all(_has("role", "content")(turn) for turn in document)


def _games(document: Any) -> bool:
    kinds = [value for key, value in document.items() if key != "overall"] if isinstance(document, Mapping) else []
    episodes = [e for kind in kinds if isinstance(kind, Mapping) for e in kind.values()]
    return bool(episodes) and all(_has("problem", "trace", "plans", "reward")(episode) for episode in episodes)


JSON_FORMATS = (
    Format("trace", _has("schema", "events"), own_trace),
    Format("cell", _has("row", "trace"), own_cell),
    Format("mini-swe-agent", lambda d: _messages(d) or _has("messages", "info")(d), mini_swe_agent),
    Format("inspect", _has("eval", "version", "status"), inspect_json),
    Format("who-when", is_conversation, who_when),
    Format("swe-agent", lambda d: _has("trajectory")(d) or _has("history")(d), swe_agent),
    Format("adapt", _games, adapt),
)
OTHERS = ("inspect-eval", "knowagent")
FORMATS = (*(form.name for form in JSON_FORMATS), *OTHERS)


def detect(data: bytes, name: str) -> str:
    """Name the format of ``data``. Raises ``InputError`` where it is none of them."""
    if data.startswith(ZIP):
        return "inspect-eval"
    text = _decoded(data, name)
    try:
        document = json.loads(text)
    except ValueError as error:
        if _rows(text):
            return "knowagent"
        raise InputError(f"{name} is neither JSON nor rows of JSON: {error}") from None
    if _has("name", "result", "traj")(document):
        return "knowagent"
    for form in JSON_FORMATS:
        if form.matches(document):
            return form.name
    raise InputError(f"{name} is JSON, but of none of these formats: {', '.join(FORMATS)}", hint="force one: --format")


def read(data: bytes, name: str, form: str | None = None) -> list[Trajectory]:
    """Read the trajectories in ``data``; ``name`` stands in messages. Raises ``InputError``, and nothing else."""
    refuse_large(len(data), name, largest(data))
    try:
        return _read(data, name, form or detect(data, name))
    except RecursionError:
        raise InputError(f"{name} is nested too deeply to be a trajectory") from None
    except MemoryError:
        raise InputError(f"{name} holds more than fits into memory") from None


def _read(data: bytes, name: str, form: str) -> list[Trajectory]:
    if form not in FORMATS:
        raise InputError(f"{form!r} is no format", hint=f"choose from {', '.join(FORMATS)}")
    if form == "inspect-eval":
        return inspect_zip(data, name)
    text = _decoded(data, name)
    if form == "knowagent":
        return knowagent(text, name)
    reader = next(known for known in JSON_FORMATS if known.name == form)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InputError(f"{name} is not JSON: {error}") from None
    if not reader.matches(document):
        raise InputError(f"{name} is not of the format {form}")
    return reader.read(document, name)


def read_file(path: Path, form: str | None = None) -> list[Trajectory]:
    """Read ``path``; a report of SWE-bench beside a trajectory gives its verdict."""
    found = read(read_bytes(path), path.name, form)
    report = path.with_name(path.name.removesuffix(".traj.json").removesuffix(".traj") + ".report.json")
    if len(found) == 1 and found[0].success is None and report != path and report.is_file():
        try:
            data = read_bytes(report)
            refuse_large(len(data), report.name)
            verdict = verdict_of(json.loads(data.decode("utf-8")), report.name)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{report}: {error}") from None
        return [replace(found[0], success=verdict)]
    return found


def _decoded(data: bytes, name: str) -> str:
    if not data.strip():
        raise InputError(f"{name} is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8: {error.reason} at byte {error.start}") from None


def _rows(text: str) -> bool:
    line = next((line for line in text.split("\n") if line.strip()), "")
    try:
        return _has("name", "result", "traj")(json.loads(line))
    except (ValueError, RecursionError):
        return False
