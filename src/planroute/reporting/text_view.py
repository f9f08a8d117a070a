"""One trajectory in the words in which the page shows it, without its script and with it.

Every leaf is a string, so that the script's data can hold each text once (``Packer``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.modes import Mode
from planroute.reporting.reading import Cell, Row
from planroute.reporting.text_course import STATES, Course, Step, cut, divergence, read_course, state
from planroute.reporting.text_plans import Block
from planroute.reporting.wording import label, number, prose

STOPS: Mapping[str, str] = {
    "DONE": "out of steps, or nobody acted any more",
    "PLAN_EXHAUSTED": "every unit of the plan had had its turn",
    "BUDGET": "the budget was spent",
    "REFUSED": "the gate refused the declaration",
    "DECLARATION": "the declaration could not be used",
    "REPLY": "a reply could not be read",
    "MODEL_REFUSED": "the model refused",
    "INFRASTRUCTURE": "the infrastructure failed",
}

WORKED = ("done", "worked", "open", "cut", "unlinked")
"""States beside which it is said what the actions show."""


@dataclass(frozen=True, slots=True)
class View:
    """What stands in the trajectory's place; the nested parts are lists, in the order that the script knows."""

    outcome: str
    """success, failure or unknown"""
    ended: str
    facts: Sequence[Sequence[str]]
    said: Sequence[str]
    plans: Sequence[Sequence[Any]]
    """Title, note, kind, and lines: depth, text, state, its word, the step it links to, first divergence or not."""
    steps: Sequence[Sequence[Any]]
    """Kind, text, state, its word, first divergence or not, and deeds: number, action, observation, flag."""

    def leaves(self) -> Sequence[Any]:
        """The view as nested lists."""
        return [self.outcome, self.ended, self.facts, self.said, self.plans, self.steps]


def view(cell: Cell, success: bool | None, attribution: str = "") -> View:
    """The trajectory of ``cell``, with whose failure the run's table says it was.

    Raises ``InputError`` for a trace of another form.
    """
    course = read_course(cell, reached=success is True)
    where, what = divergence(course)
    loose = next((s for s in course.steps if s.deeds and s.unit is None), None) if course.linked else None
    if loose is not None:
        where, what = None, ""
    row, shown = cell.row, cell.evidence
    return View(
        outcome="unknown" if success is None else "success" if success else "failure",
        ended=_ended(row, success),
        facts=[*_facts(row, course), *([["attributed to", cut(attribution)]] if attribution else [])],
        said=_said(row, course, where, what, loose),
        plans=[_block(course, block, where, shown) for block in course.plans.blocks],
        steps=[_step(course, step, where, loose) for step in course.steps],
    )


def _ended(row: Row, success: bool | None) -> str:
    if success and row.stop == "DONE":
        return "The goal was reached."
    outcome = "Not known" if success is None else "Success" if success else "Failure"
    reason = STOPS.get(row.stop, row.stop)
    error = f" ({cut(row.error)})" if row.error else ""
    return f"{outcome}: {reason}{error}."


def _facts(row: Row, course: Course) -> list[list[str]]:
    spent = {
        key: sum(account.get(key) or 0 for account in row.spent.values())
        for key in ("interactions", "model_calls", "prompt_tokens", "answer_tokens", "thinking_tokens")
    }
    tokens = sum(value for key, value in spent.items() if key.endswith("tokens"))
    metrics = row.metrics
    needed, completed = metrics.get("units_needed"), metrics.get("units_completed")
    found = [["declared", label(row.declared)]] if row.declared else []
    found += [["executed", label(row.executed) if row.executed else "nothing"], ["stop", row.stop or "n/a"]]
    if row.executed in set(Mode):
        found.append(["order by dispatch", f"{_answer(metrics.get('plan_order_faithful'))} (by construction)"])
    found.append(["order by actions", _answer(_by_actions(row))])
    carried = "n/a" if needed is None or completed is None else f"{number(completed)} of {number(needed)}"
    found.append(["units carried out", carried])
    found.append(["actions", number(course.actions) + (f", {course.idle} without effect" if course.idle else "")])
    found.append(["interactions", number(spent["interactions"])])
    found += [["model calls", number(spent["model_calls"])], ["tokens", number(tokens)]]
    if row.failure not in ("", "NONE"):
        found.append(["failure label", row.failure])
    return found


def _by_actions(row: Row) -> float | None:
    """Whether the actions kept the plan's order; where no structure was dispatched, nothing else settles it."""
    return row.metrics.get("order_by_evidence" if row.executed in set(Mode) else "plan_order_faithful")


def _answer(kept: float | None) -> str:
    return "n/a" if kept is None else "yes" if kept >= 1 else "no"


def _said(row: Row, course: Course, where: str | None, what: str, loose: Step | None) -> list[str]:
    """Where plan and actions part; the first item tells whether they are known to."""
    if not course.plans.blocks:
        return ["", "There is no plan in this trace." if course.actions else "Neither plan nor action was recorded."]
    if loose is not None:
        return ["yes", f"First divergence: action {loose.deeds[0].number} belongs to no unit of the plan."]
    if where is not None:
        name = cut(course.plans.texts().get(where, where))
        return ["yes", f"First divergence that the trace shows: {where} “{name}” {what}."]
    if course.actions and not course.linked:
        kept = _by_actions(row)
        verdict = "" if kept is None else f" By the actions, its order was {'kept' if kept >= 1 else 'not kept'}."
        return ["", f"No action names a unit: nothing in the trace links this plan to what was done.{verdict}"]
    needed, completed = row.metrics.get("units_needed"), row.metrics.get("units_completed")
    if needed is not None and completed is not None and completed < needed:
        by = f" By the actions, {number(completed)} of {number(needed)} units were carried out."
        why = "each unit was called finished" if course.order and course.chosen is None else "each unit got an action"
        return ["", f"The trace alone shows no divergence, since {why}.{by}"]
    return ["", "The trace shows no divergence."]


def _block(course: Course, block: Block, where: str | None, shown: Mapping[str, str]) -> list[Any]:
    title, note, kind = block.title, block.note, block.kind
    if block.candidate is not None:
        tried = course.tried.get(block.candidate)
        note = "not tried" if tried is None else f"{tried} action{'' if tried == 1 else 's'}"
        if block.candidate == course.chosen:
            title, kind = f"{title}, chosen", "chosen"
    places: dict[str, int] = {}
    for place, step in enumerate(course.steps):
        if step.kind == "work" and step.unit is not None:
            places.setdefault(step.unit, place)
    lines = []
    for line in block.lines:
        found = state(course, block, line.id) if line.unit else ""
        link = str(places[line.id]) if line.id in places else ""
        parts = [STATES.get(found, ""), shown.get(line.id, "") if found in WORKED else ""]
        word = ", ".join(part for part in parts if part)
        lines.append([str(min(line.depth, 6)), cut(line.text), found, word, link, _yes(line.id == where)])
    return [cut(title), note, kind, lines]


def _step(course: Course, step: Step, where: str | None, loose: Step | None) -> list[Any]:
    found = word = ""
    if step.kind == "work" and step.unit is not None:
        block = next((b for b in course.plans.blocks if any(line.id == step.unit for line in b.lines)), None)
        found = state(course, block or Block("", []), step.unit)
        word = STATES.get(found, "")
    title = step.text
    if step.branch is not None and course.chosen is None:
        title = f"Candidate {cut(step.branch)}: {title}"
    first = step is loose or (where is not None and step.kind == "work" and step.unit == where)
    deeds = [[deed.number, deed.action, deed.observation, deed.flag] for deed in step.deeds]
    return [step.kind, title, found, word, _yes(first), deeds]


def _yes(flag: bool) -> str:
    return "yes" if flag else ""


def name_of(row: Row) -> str:
    """An episode in words."""
    return f"{row.task}, {prose(row.condition)}, seed {row.seed}"


class Packer:
    """Replaces every string by its place in a list that holds each string once; counts what the page will carry."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.size = 0
        self._places: dict[str, int] = {}

    def pack(self, value: Any, limit: int) -> Any | None:
        """Nested lists of strings as nested lists of places; None, and nothing kept of it, beyond ``limit``."""
        held, size = len(self.strings), self.size
        packed = self._packed(value)
        self.size += len(json.dumps(packed, separators=(",", ":"))) + 1
        if self.size <= limit:
            return packed
        for text in self.strings[held:]:
            del self._places[text]
        del self.strings[held:]
        self.size = size
        return None

    def _packed(self, value: Any) -> Any:
        if not isinstance(value, str):
            return [self._packed(item) for item in value]
        place = self._places.get(value)
        if place is None:
            place = self._places[value] = len(self.strings)
            self.strings.append(value)
            self.size += len(json.dumps(value)) + 1 + 5 * sum(value.count(character) for character in "<>&")
        return place
