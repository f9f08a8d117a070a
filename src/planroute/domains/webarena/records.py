"""Tasks in the schema of WebArena-Verified, and what is wrong with a record."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planroute.domains.text.task_files import HALVED, contents, halved, reason, refuse, task_files
from planroute.errors import InputError

OWN: Final = Path(__file__).parent / "data"
FETCH: Final = "docs/webarena.md says where the benchmark's tasks are"
SITES: Final = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia", "homepage")
EVALUATORS: Final = ("AgentResponseEvaluator", "NetworkEventEvaluator")
KINDS: Final = ("retrieve", "navigate", "mutate")
LARGEST: Final = 2**53
"""Numbers from here on are not told apart by everything that reads JSON."""


@dataclass(frozen=True, slots=True)
class Record:
    """One task. ``raw`` is the record itself, as the evaluator reads it."""

    task_id: int
    intent: str
    sites: tuple[str, ...]
    start_urls: tuple[str, ...]
    kind: str
    raw: Mapping[str, Any] = field(compare=False, repr=False)

    @property
    def id(self) -> str:
        """The name in tables."""
        return str(self.task_id)

    def sha256(self) -> str:
        """The record by content."""
        return hashlib.sha256(json.dumps(self.raw, sort_keys=True).encode()).hexdigest()


def read_record(raw: Any) -> Record:
    """Read one record. Raises ``InputError`` with what is wrong."""
    if not isinstance(raw, dict):
        raise InputError("is not an object")
    number = _number(raw, "task_id")
    if not isinstance(raw.get("intent"), str) or not raw["intent"].strip():
        raise InputError("intent is not a text")
    if halved(raw["intent"]):
        raise InputError(f"intent {HALVED}")
    _number(raw, "intent_template_id")
    sites, starts, judged = (_listed(raw, name) for name in ("sites", "start_urls", "eval"))
    if unknown := [site for site in sites if site not in SITES]:
        raise InputError(f"site {repr(unknown[0])[:80]} is none of {', '.join(SITES)}")
    allowed = tuple(f"__{site.upper()}__" for site in sites)
    if wrong := [url for url in starts if not isinstance(url, str) or not url.startswith(allowed)]:
        raise InputError(f"start_urls: {repr(wrong[0])[:200]} does not begin with {' or '.join(allowed)}")
    if any(map(halved, starts)):
        raise InputError(f"start_urls: one {HALVED}")
    for each in judged:
        if not isinstance(each, dict) or each.get("evaluator") not in EVALUATORS:
            raise InputError(f"eval: an evaluator is none of {', '.join(EVALUATORS)}")
    if judged[0]["evaluator"] != EVALUATORS[0] or not isinstance(judged[0].get("expected"), dict):
        raise InputError("eval: the first is not an AgentResponseEvaluator with what it expects")
    kind = str(judged[0]["expected"].get("task_type", "")).lower()
    if kind not in KINDS:
        raise InputError(f"eval: task_type {kind[:80]!r} is none of {', '.join(KINDS)}")
    return Record(number, raw["intent"].strip(), tuple(sites), tuple(starts), kind, raw)


def read_records(path: Path | None = None) -> tuple[Record, ...]:
    """Return the tasks of ``path``, a file or a folder of them, or the project's own; in the order of their numbers.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each faulty record.
    """
    chosen = OWN / "tasks" if path is None else path
    found: dict[int, Record] = {}
    faults: list[str] = []
    for name, file in task_files(chosen, "tasks", FETCH, (".json", ".jsonl")):
        try:
            for place, raw in enumerate(_listed_in(file), 1):
                faults += [f"{name}: {fault}" for fault in _take(raw, place, found)]
        except (InputError, OSError) as error:
            faults.append(f"{name}: {reason(error)}")
    refuse(f"tasks in {chosen}", faults)
    if not found:
        raise InputError(f"{chosen} holds no task", hint=FETCH)
    return tuple(found[number] for number in sorted(found))


def _listed_in(file: Path) -> Iterator[Any]:
    """The records of ``file``: each of a list, or one; of JSON lines, those of every line."""
    for part in contents(file):
        yield from part if isinstance(part, list) else [part]


def _take(raw: Any, place: int, found: dict[int, Record]) -> list[str]:
    """Add the record of ``raw`` to ``found``; return what is wrong with it."""
    try:
        record = read_record(raw)
        if record.task_id in found:
            raise InputError("stands there twice")
    except InputError as error:
        which = str(raw.get("task_id", place))[:40] if isinstance(raw, dict) else place
        return [f"task {which}: {error.message}"]
    found[record.task_id] = record
    return []


def _number(raw: Mapping[str, Any], name: str) -> int:
    value = raw.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{name} is not a whole number")
    if not 0 <= value < LARGEST:
        raise InputError(f"{name} is not from 0 to {LARGEST - 1}")
    return value


def _listed(raw: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = raw.get(name)
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} is not a list with something in it")
    return value
