"""Tasks in the schema of WebArena-Verified, and what is wrong with a record."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planroute.domains.text.task_files import contents, reason, refuse, task_files
from planroute.errors import InputError

OWN: Final = Path(__file__).parent / "data"
FETCH: Final = "docs/webarena.md says where the benchmark's tasks are"
SITES: Final = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia", "homepage")
EVALUATORS: Final = ("AgentResponseEvaluator", "NetworkEventEvaluator")
KINDS: Final = ("retrieve", "navigate", "mutate")


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
    number = raw.get("task_id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError("task_id is not a whole number")
    if not isinstance(raw.get("intent"), str) or not raw["intent"].strip():
        raise InputError("intent is not a text")
    if not isinstance(raw.get("intent_template_id"), int):
        raise InputError("intent_template_id is not a whole number")
    sites, starts, judged = (_listed(raw, name) for name in ("sites", "start_urls", "eval"))
    if unknown := [site for site in sites if site not in SITES]:
        raise InputError(f"site {unknown[0]!r} is none of {', '.join(SITES)}")
    allowed = tuple(f"__{site.upper()}__" for site in sites)
    if wrong := [url for url in starts if not isinstance(url, str) or not url.startswith(allowed)]:
        raise InputError(f"start_urls: {wrong[0]!r} does not begin with {' or '.join(allowed)}")
    for each in judged:
        if not isinstance(each, dict) or each.get("evaluator") not in EVALUATORS:
            raise InputError(f"eval: an evaluator is none of {', '.join(EVALUATORS)}")
    if judged[0]["evaluator"] != EVALUATORS[0] or not isinstance(judged[0].get("expected"), dict):
        raise InputError("eval: the first is not an AgentResponseEvaluator with what it expects")
    kind = str(judged[0]["expected"].get("task_type", "")).lower()
    if kind not in KINDS:
        raise InputError(f"eval: task_type {kind!r} is none of {', '.join(KINDS)}")
    return Record(number, raw["intent"].strip(), tuple(sites), tuple(starts), kind, raw)


def read_records(path: Path | None = None) -> tuple[Record, ...]:
    """Return the tasks of ``path``, a file or a folder of them, or the project's own; in the order of their numbers.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each faulty record.
    """
    chosen = OWN / "tasks" if path is None else path
    found: dict[int, Record] = {}
    faults: list[str] = []
    for name, file in task_files(chosen, "tasks", FETCH, (".json",)):
        try:
            (whole,) = contents(file)
        except (InputError, OSError) as error:
            faults.append(f"{name}: {reason(error)}")
            continue
        for place, raw in enumerate(whole if isinstance(whole, list) else [whole], 1):
            try:
                record = read_record(raw)
                if record.task_id in found:
                    raise InputError("stands there twice")
                found[record.task_id] = record
            except InputError as error:
                which = raw.get("task_id", place) if isinstance(raw, dict) else place
                faults.append(f"{name}: task {which}: {error.message}")
    refuse(f"tasks in {chosen}", faults)
    if not found:
        raise InputError(f"{chosen} holds no task", hint=FETCH)
    return tuple(found[number] for number in sorted(found))


def _listed(raw: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = raw.get(name)
    if not isinstance(value, list) or not value:
        raise InputError(f"{name} is not a list with something in it")
    return value
