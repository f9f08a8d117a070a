"""Records of Mind2Web as tasks: the raw form (a task holds its actions) and the form with one row for each step.

The rows are those of Multimodal-Mind2Web, whose operation and candidates are JSON in strings, and of single steps that
carry their own ``previous_actions``. A record that does not fit becomes a fault with file, annotation, step and what is
wrong with it; the others are read on.

Source: the data cards of Mind2Web and Multimodal-Mind2Web.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from planroute.domains.mind2web.records import OPERATIONS, Candidate, Markup, Operation, Step, WebTask
from planroute.domains.text.task_files import HALVED, halved

SPLITS: Final = ("train", "test_task", "test_website", "test_domain")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NODES = re.compile(r"""backend_node_id=["']([^"'<>]*)["']""")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands, for messages."""

    file: str
    annotation: str = ""
    step: int | None = None

    def __str__(self) -> str:
        parts = [f"annotation {self.annotation}"] if self.annotation else []
        parts += [f"step {self.step}"] if self.step is not None else []
        said = f"{self.file}: {', '.join(parts)}" if parts else self.file
        return "".join(character if character.isprintable() else "?" for character in said)[:300]


class Unfit(ValueError):
    """What is wrong with a record, in a few words."""


@dataclass(frozen=True, slots=True)
class Read:
    """One step that was read, with what it says about its task."""

    place: Place
    header: tuple[str, str, str, str]
    """Goal, website, domain, subdomain."""
    order: int
    step: Step


def read_records(records: object, file: str) -> tuple[list[Read], list[str]]:
    """Read the steps of everything in ``records``, which came out of ``file``; a line for each fault."""
    listed = records if isinstance(records, list) else [records]
    found, faults = list[Read](), list[str]()
    for number, record in enumerate(listed, 1):
        place = Place(file, "", None)
        try:
            if not isinstance(record, dict):
                raise Unfit(f"record {number} is {_kind(record)}, not an object")
            place = Place(file, _text(record, "annotation_id", f"record {number}: "))
            header = _header(record)
            steps = list(_actions(record, place)) if "actions" in record else [_row(record, place)]
        except Unfit as unfit:
            faults.append(f"{place}: {unfit}")
            continue
        for where, order, given in steps:
            try:
                found.append(Read(where, header, order, _step(*given)))
            except Unfit as unfit:
                faults.append(f"{where}: {unfit}")
    return found, faults


def assembled(found: Sequence[Read]) -> tuple[list[WebTask], list[str]]:
    """Put the steps of each annotation together, in the order in which they were annotated; a line for each fault."""
    tasks, faults = list[WebTask](), list[str]()
    by_task: dict[str, list[Read]] = {}
    for read in found:
        by_task.setdefault(read.place.annotation, []).append(read)
    for name, reads in by_task.items():
        reads.sort(key=lambda each: each.order)
        twice = [later for one, later in pairwise(reads) if one.order == later.order]
        other = [read for read in reads if read.header != reads[0].header]
        if twice:
            faults.append(f"{twice[0].place}: this step is there twice")
        elif other:
            faults.append(f"{other[0].place}: goal or website differ from those of the first step")
        else:
            goal, website, domain, subdomain = reads[0].header
            split = next((each for each in SPLITS if each in reads[0].place.file), "")
            steps = tuple(read.step for read in reads)
            tasks.append(WebTask(name, goal, website, domain, subdomain, steps, split))
    return tasks, faults


Given = tuple[Mapping[str, Any], str, tuple[str, ...], str]
"""A step's record, its description (empty where there is none), those before it, and an identity to fall back on."""


def _actions(record: Mapping[str, Any], place: Place) -> Iterator[tuple[Place, int, Given]]:
    """The steps of the raw form."""
    actions = record["actions"]
    if not isinstance(actions, list) or not actions:
        raise Unfit("actions must be a list with at least one step")
    told = _texts(record, "action_reprs")
    if told and len(told) != len(actions):
        raise Unfit(f"{len(actions)} actions but {len(told)} action_reprs")
    for number, action in enumerate(actions):
        described, before = (told[number], tuple(told[:number])) if told else ("", ())
        yield Place(place.file, place.annotation, number + 1), number, (action, described, before, str(number))


def _row(record: Mapping[str, Any], place: Place) -> tuple[Place, int, Given]:
    """The one step of the form with a row for each."""
    told, before = _texts(record, "action_reprs"), tuple(_texts(record, "previous_actions"))
    given = record.get("target_action_index")
    if given is None:
        order = len(before)
    else:
        try:
            order = int(given)
        except (TypeError, ValueError, OverflowError):
            raise Unfit(f"target_action_index is {str(given)[:40]!r}, not a whole number") from None
        if order < 0 or (told and order >= len(told)):
            raise Unfit(f"target_action_index {order} is outside the {len(told)} action_reprs")
        before = tuple(told[:order]) or before
    described = _CONTROLS.sub(" ", str(record.get("target_action_reprs") or "")) or (told[order : order + 1] or [""])[0]
    return Place(place.file, place.annotation, order + 1), order, (record, described, before, str(order))


def _header(record: Mapping[str, Any]) -> tuple[str, str, str, str]:
    optional = [record.get(name) or "" for name in ("website", "domain", "subdomain")]
    if not all(isinstance(value, str) for value in optional):
        raise Unfit("website, domain and subdomain must be text")
    if any(map(halved, optional)):
        raise Unfit(f"website, domain or subdomain {HALVED}")
    website, domain, subdomain = (" ".join(value.split()) for value in optional)
    return " ".join(_text(record, "confirmed_task").split()), website, domain, subdomain


def _step(record: object, described: str, before: tuple[str, ...], number: str) -> Step:
    if not isinstance(record, dict):
        raise Unfit(f"is {_kind(record)}, not an object")
    html = _text(record, "cleaned_html", halves=True)
    known = set(_NODES.findall(html))
    positives = _candidates(record, "pos_candidates", known)
    right = {candidate.node for candidate in positives}
    negatives = [each for each in _candidates(record, "neg_candidates", known) if each.node not in right]
    operation = _operation(record.get("operation"))
    said = described or f"[{positives[0].tag if positives else 'element'}] -> {operation.op}"
    uid = record.get("action_uid") or number
    if not isinstance(uid, str):
        raise Unfit("action_uid must be text")
    if halved(uid):
        raise Unfit(f"action_uid {HALVED}")
    return Step(uid, Markup.of(html), operation, tuple(positives), tuple(negatives), said, before)


def _operation(given: object) -> Operation:
    record = _decoded(given, "operation")
    if not isinstance(record, dict):
        raise Unfit("operation is missing" if record is None else f"operation is {_kind(record)}, not an object")
    op, value = record.get("op"), record.get("value") or ""
    if op not in OPERATIONS:
        raise Unfit(f"operation {str(op)[:40]!r} is none of {', '.join(OPERATIONS)}")
    if not isinstance(value, str):
        raise Unfit(f"the operation's value is {_kind(value)}, not text")
    if halved(value):
        raise Unfit(f"the operation's value {HALVED}")
    return Operation(op, "" if op == "CLICK" else " ".join(value.split()))


def _candidates(record: Mapping[str, Any], name: str, known: set[str]) -> list[Candidate]:
    given = record.get(name)
    if not isinstance(given, list):
        raise Unfit(f"{name} is missing" if given is None else f"{name} is {_kind(given)}, not a list")
    found: dict[str, Candidate] = {}
    for number, item in enumerate(given, 1):
        try:
            candidate = _candidate(_decoded(item, "it"), known)
        except Unfit as unfit:
            raise Unfit(f"{name} {number}: {unfit}") from None
        found.setdefault(candidate.node, candidate)
    return list(found.values())


def _candidate(record: object, known: set[str]) -> Candidate:
    if not isinstance(record, dict):
        raise Unfit(f"is {_kind(record)}, not an object")
    node, tag = record.get("backend_node_id"), record.get("tag") or ""
    if isinstance(node, int) and not isinstance(node, bool):
        node = str(node)
    if not isinstance(node, str) or not node:
        raise Unfit("has no backend_node_id")
    if not isinstance(tag, str):
        raise Unfit(f"tag is {_kind(tag)}, not text")
    if halved(node) or halved(tag):
        raise Unfit(f"{'backend_node_id' if halved(node) else 'tag'} {HALVED}")
    rank, score = record.get("rank"), record.get("score")
    if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 0):
        raise Unfit(f"rank {str(rank)[:40]!r} is no rank")
    if score is not None and not _is_number(score):
        raise Unfit(f"score {str(score)[:40]!r} is no number")
    attributes = {} if node in known else _attributes(record.get("attributes"))
    return Candidate(node, tag, rank, None if score is None else float(score), attributes)


def _attributes(given: object) -> dict[str, str]:
    """What a record says about an element that its page does not hold; nothing where that cannot be read."""
    try:
        record = _decoded(given, "attributes")
    except Unfit:
        return {}
    if not isinstance(record, dict):
        return {}
    return {str(key).replace("-", "_"): value for key, value in record.items() if isinstance(value, str)}


def _decoded(given: object, name: str) -> object:
    """A value that may be JSON in a string."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        raise Unfit(f"{name} is a string that is not JSON: {given[:40]!r}") from None


def _text(record: Mapping[str, Any], name: str, before: str = "", *, halves: bool = False) -> str:
    """A text with something in it, without half characters unless ``halves`` are let pass."""
    value = record.get(name)
    if isinstance(value, str) and value.strip():
        if halved(value) and not halves:
            raise Unfit(f"{before}{name} {HALVED}")
        return value
    problem = "empty" if isinstance(value, str) else _kind(value)
    raise Unfit(f"{before}{name} is {problem}{'' if problem in ('empty', 'missing') else ', not text'}")


def _texts(record: Mapping[str, Any], name: str) -> list[str]:
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Unfit(f"{name} must be a list of texts")
    return [_CONTROLS.sub(" ", item) for item in value]


def _is_number(value: object) -> bool:
    """Whether ``value`` is a number that a float can hold."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "something else")
