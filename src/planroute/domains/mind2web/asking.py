"""How a decision on a page is asked for.

- ``direct``: one question that shows the page around all candidates, answered by ``OP [number] value``.
- ``Multichoice``: the benchmark's own question, word by word: five candidates and "none of the above" at a time; what
  is chosen plays again until one is left. Where a plan is executed the step at hand is added, and nothing else.

The benchmark's loop never asks about a candidate that is left over alone; here every candidate is asked about.

Either way there is one decision for each page. What cannot be read, or names no element that is offered, is "none of
these": the page is not shown twice.

Source: Mind2Web (arXiv 2306.06070), 3.2, and the prompt and loop for language models in its repository.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from planroute.ask import call
from planroute.calls import Message, ModelRequest, Role
from planroute.domains.mind2web.environment import NONE, RecordedPages, Shown
from planroute.domains.mind2web.page import Cut
from planroute.domains.mind2web.records import Operation
from planroute.domains.text.acting import Decision, Situation, in_words
from planroute.domains.text.environment import Match
from planroute.domains.text.replies import FINISHED
from planroute.domains.text.task_files import HALVED, halved
from planroute.errors import DomainError, InputError
from planroute.trace import Failed

GROUP: Final = 5
"""Candidates of one question."""
SHOWN_ACTIONS: Final = 5
"""Actions before the page that a question lists."""
MOST_VALUE: Final = 400
"""Characters of a value that are read."""
OWN_SHOTS: Final = Path(__file__).parent / "data" / "shots.json"

QUESTION: Final = """\
'''
{page}
'''

Based on the HTML webpage above, try to complete the following task:
Task: {goal}
Previous actions:
{before}
{plan}What should be the next action? Please select from the following choices (If the correct action is not in the \
page above, please select A. 'None of the above'):

A. None of the above
{choices}"""
WORKED_ON: Final = "Steps worked on so far: {steps}\n"
STEP_AT_HAND: Final = """\
Current step of the plan: {unit}
If this step is already done, or cannot be done, answer "Answer: finished."
"""
PLAN: Final = "Plan: {plan}\n"

_ANSWER = re.compile(r"Answer:\s*(A|B|C|D|E|F)\b")
_FINISHED = re.compile(rf"Answer:\s*{FINISHED}\b", re.IGNORECASE)
_ACTION = re.compile(r"Action: (CLICK|SELECT|TYPE)")
_VALUE = re.compile(r"Value: (.*)$", re.MULTILINE)
_DIRECT = re.compile(r"^(CLICK|TYPE|SELECT)\W*(?:id\s*=\s*)?(\d+)\]?\s*[:,=]?\s*(.*)$", re.IGNORECASE | re.DOTALL)


async def direct(situation: Situation) -> Decision:
    """Ask once, with the whole page in sight."""
    shown = _shown(situation)
    decision = await in_words(replace(situation, matcher=lambda words, _: _direct(words, shown)))
    if decision.finished or decision.action is not None:
        return decision
    if decision.words:
        situation.context.trace.append(Failed("NoSuchElement", decision.reason, "action"))
    return Decision(NONE, decision.words)


def _direct(words: str, shown: Shown) -> Match:
    said = " ".join(words.replace("`", " ").removeprefix("Action:").split())
    if said.strip(".").lower() in ("none", NONE):
        return Match(NONE)
    found = _DIRECT.match(said)
    if found is None:
        return Match(None, f"{said[:60]!r} is not OP [number] value")
    nodes = {number: node for node, number in shown.whole.numbers.items()}
    number = int(found[2]) if len(found[2]) < 9 else -1
    if number not in nodes:
        return Match(None, f"there is no element {found[2][:9]}")
    op, value = found[1].upper(), found[3].strip()
    if value[:1] + value[-1:] in ("[]", '""', "''"):
        value = value[1:-1].strip()
    return Match(shown.action(nodes[number], Operation(op, "" if op == "CLICK" else value)))


@dataclass(frozen=True, slots=True)
class Multichoice:
    """Asks about five candidates at a time. ``shots`` are the messages that show how it is answered, system first."""

    shots: tuple[tuple[Role, str], ...]

    async def __call__(self, situation: Situation) -> Decision:
        """Let the candidates play in groups until at most one is left, and that one has been asked about."""
        shown = _shown(situation)
        waiting = list(shown.nodes)
        choice: tuple[str, Operation] | None = None
        asked: set[str] = set()
        while len(waiting) > 1 or not asked.issuperset(waiting):
            asked.update(waiting[:GROUP])
            cut = shown.around(tuple(waiting[:GROUP]))
            del waiting[:GROUP]
            text = await self._answer(situation, question(situation, cut))
            if situation.unit is not None and re.search(_FINISHED, text):
                return Decision(None, text, finished=True)
            picked = read_answer(text, list(cut.choices))
            if picked is not None:
                waiting.append(picked[0])
                choice = picked
        if not waiting or choice is None:
            return Decision(NONE)
        return Decision(shown.action(*choice))

    async def _answer(self, situation: Situation, asked: str) -> str:
        messages = (*(Message(role, content) for role, content in self.shots), Message("user", asked))
        reply = await call(situation.context, ModelRequest("action", messages, situation.sampling))
        return reply.text


def question(situation: Situation, cut: Cut) -> str:
    """The benchmark's question about ``cut``; with a plan, its step at hand or all of it beside the task."""
    before = [str(each["action"]) for each in situation.state.get("history", [])][-SHOWN_ACTIONS:]
    plan = ""
    if situation.unit is not None:
        worked = situation.state.get("steps_worked_on", [])
        plan = WORKED_ON.format(steps=json.dumps(worked, ensure_ascii=False)) if worked else ""
        plan += STEP_AT_HAND.format(unit=situation.unit)
    elif situation.plan is not None:
        plan = PLAN.format(plan=json.dumps(situation.plan, ensure_ascii=False))
    listed = [f"{chr(ord('B') + place)}. {text}" for place, text in enumerate(cut.choices.values())]
    return QUESTION.format(
        page=cut.text,
        goal=situation.state["goal"],
        before="\n".join(before) or "None",
        plan=plan,
        choices="\n".join(listed),
    )


def read_answer(text: str, nodes: Sequence[str]) -> tuple[str, Operation] | None:
    """Read an answer as the benchmark does: a letter, an action, a value. ``None`` for none of the above.

    What holds no letter, or the letter of no choice, is none of the above as well.
    """
    letter, action, value = re.search(_ANSWER, text), re.search(_ACTION, text), re.search(_VALUE, text)
    place = ord(letter[1]) - ord("B") if letter else -1
    if not 0 <= place < len(nodes):
        return None
    return nodes[place], Operation(action[1] if action else "", value[1].strip()[:MOST_VALUE] if value else "")


def read_shots(path: Path | None = None) -> tuple[tuple[Role, str], ...]:
    """Read the messages of ``path``, a JSON list of role and content as the benchmark's, or the project's own.

    Raises ``InputError``.
    """
    chosen = OWN_SHOTS if path is None else path
    try:
        records = json.loads(chosen.read_text(encoding="utf-8"))
        shots = tuple((record["role"], record["content"]) for record in records)
    except (OSError, ValueError, RecursionError, TypeError, KeyError) as error:
        raise InputError(f"{chosen} is not a list of messages with role and content: {error}") from None
    roles = [role for role, _ in shots]
    texts = all(isinstance(content, str) for _, content in shots)
    if not texts or roles[:1] != ["system"] or roles[1:] != ["user", "assistant"] * (len(roles) // 2):
        raise InputError(f"{chosen} must hold a system message, then pairs of user and assistant")
    if any(halved(content) for _, content in shots):
        raise InputError(f"{chosen}: a message {HALVED}")
    return shots


def _shown(situation: Situation) -> Shown:
    environment = situation.environment
    if not isinstance(environment, RecordedPages):
        raise DomainError(f"{type(environment).__name__} shows no recorded pages")
    return environment.shown
