"""Steps of Mind2Web as others have rendered them: as finished prompts instead of records.

- ``rendered_records``: a prompt with task, candidates and a page cut after some characters, beside the right answer.
  The right element is listed first there; nothing here keeps that order.
- ``read_labelled``: choices without a page, as SeeAct asks them beside a screenshot, and the step in words. Which
  choice is right is not said, so of an answer only the operation can be scored; an episode needs more than that.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planroute.domains.mind2web.records import OPERATIONS, Operation
from planroute.domains.mind2web.scoring import Choice, StepScore, score_step
from planroute.errors import FaultyInput, InputError

_ELEMENT = re.compile(r'^\s*\d+\. <([\w:-]+) bnid="([^"]*)"(.*)>\s*$', re.MULTILINE)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_PAGE = re.compile(r"^```html\n(.*?)(?:\n\.\.\. \[HTML truncated.*?)?\n```$", re.MULTILINE | re.DOTALL)
_BEFORE = re.compile(r"^\s*\d+\. (.*)$", re.MULTILINE)
_DESCRIBED = re.compile(r"^(.*) -> (CLICK|TYPE|SELECT|HOVER|ENTER)(?:: (.*))?$", re.DOTALL)
_OPTION: Final = re.compile(r"^([A-Z])\. (.*)$", re.MULTILINE)
_NONE: Final = "None of the other options"


def is_rendered(document: object) -> bool:
    """Whether ``document`` holds finished prompts with their answers."""
    return isinstance(document, dict) and isinstance(document.get("instances"), list)


def is_labelled(document: object) -> bool:
    """Whether ``document`` holds steps without a page, as ``read_labelled`` reads them."""
    return isinstance(document, list) and any(
        isinstance(record, dict) and "prompt" in record and "cleaned_html" not in record for record in document
    )


def rendered_records(document: Mapping[str, Any]) -> list[object]:
    """Return the instances of ``document`` as records with one row for each step; what does not fit stays as it is."""
    return [_record(instance) if isinstance(instance, dict) else instance for instance in document["instances"]]


def _record(instance: Mapping[str, Any]) -> dict[str, Any]:
    text, facts = str(instance.get("input", "")), instance.get("metadata")
    facts = facts if isinstance(facts, dict) else {}
    listed = [
        {"backend_node_id": node, "tag": tag, "attributes": dict(_ATTRIBUTE.findall(rest))}
        for tag, node, rest in _ELEMENT.findall(text)
    ]
    right = facts.get("target_bnids")
    right = right if isinstance(right, list) else []
    goal = re.search(r"^Task: (.*)$", text, re.MULTILINE)
    page = re.search(_PAGE, text)
    before = text.partition("Previous actions")[2].partition("Available candidate elements")[0]
    return {
        "annotation_id": facts.get("annotation_id"),
        "confirmed_task": goal[1] if goal else None,
        "website": facts.get("website"),
        "domain": facts.get("domain"),
        "subdomain": facts.get("subdomain"),
        "action_uid": facts.get("action_uid"),
        "target_action_index": facts.get("action_idx"),
        "previous_actions": _BEFORE.findall(before),
        "cleaned_html": page[1] if page else None,
        "operation": {"op": facts.get("op"), "value": facts.get("value")},
        "pos_candidates": [each for each in listed if each["backend_node_id"] in right],
        "neg_candidates": [each for each in listed if each["backend_node_id"] not in right],
    }


@dataclass(frozen=True, slots=True)
class LabelledStep:
    """A step of which the right operation is known, and the choices that were offered, by letter.

    ``answer`` is what a model once answered to it, ``None`` for none of the choices.
    """

    uid: str
    annotation: str
    goal: str
    website: str
    category: str
    choices: Mapping[str, str]
    description: str
    operation: Operation
    answer: Choice | None

    def score(self, choice: Choice | None) -> StepScore:
        """Score the operation of ``choice``; element and success stay unknown."""
        return score_step(choice, None, self.operation)


def read_labelled(path: Path) -> tuple[LabelledStep, ...]:
    """Read labelled steps. Raises ``InputError``, ``FaultyInput`` with a line for each faulty record."""
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    if not isinstance(records, list):
        raise InputError(f"{path} is not a list of steps")
    found, faults = [], []
    for number, record in enumerate(records, 1):
        try:
            found.append(_labelled(record))
        except (KeyError, TypeError, AttributeError, IndexError):
            faults.append(f"record {number} is not a step with prompt and target_action_reprs")
        except ValueError as unfit:
            faults.append(f"record {number}: {unfit}")
    if faults:
        raise FaultyInput(str(path), faults[:20])
    return tuple(found)


def described_operation(description: str) -> Operation:
    """Read the operation out of ``[tag] text -> OP: value``. Raises ``ValueError``."""
    found = _DESCRIBED.match(description)
    if found is None:
        raise ValueError(f"{description[:60]!r} names no operation")
    op = found[2] if found[2] in OPERATIONS else "CLICK"
    return Operation(op, "" if op == "CLICK" else " ".join((found[3] or "").split()))


def _labelled(record: Mapping[str, Any]) -> LabelledStep:
    asked = record["prompt"][-1].partition("(Final Answer)")[0]
    choices = {letter: text for letter, text in _OPTION.findall(asked) if not text.startswith(_NONE)}
    if not choices:
        raise ValueError("its prompt offers no choice")
    return LabelledStep(
        uid=record["action_uid"],
        annotation=record["annotation_id"],
        goal=record["confirmed_task"],
        website=record["website"],
        category=f"{record['domain']} / {record['subdomain']}",
        choices=choices,
        description=record["target_action_reprs"],
        operation=described_operation(record["target_action_reprs"]),
        answer=_answered(record.get("gpt_output"), choices),
    )


def _answered(given: object, choices: Mapping[str, str]) -> Choice | None:
    text = str(given[-1]) if isinstance(given, list) and given else ""
    element = re.search(r"ELEMENT: ([A-Z])\b", text)
    op = re.search(r"ACTION: (CLICK|TYPE|SELECT)", text)
    value = re.search(r"VALUE: (.*)$", text, re.MULTILINE)
    if element is None or op is None or element[1] not in choices:
        return None
    return Choice(element[1], Operation(op[1], value[1].strip() if value and op[1] != "CLICK" else ""))
