"""Finding plans in what agents and prompts write: numbered lists after a cue, and steps joined by "then"."""

import re
from collections.abc import Iterator

from planroute.plan import PlanUnit

_FENCE = re.compile(r"^\s*(```|~~~)")
_NUMBERED = re.compile(r"^\s*\d+[.)]\s+(?P<text>\S.*)$")
_CUE = re.compile(
    r"\b(?:i(?:'ll| will)? need to|i (?:will|should|am going to)|i'll|let me|my plan|the (?:\w+ )?plan|steps?|approach"
    r"|workflow)\b[^.!?]*:\s*\**$|^\W*(?:plan|steps|workflow|recommended workflow|next steps)\W*$",
    re.IGNORECASE,
)
_GOAL = re.compile(r"^to (?:solve|complete|do) (?:the|this) task,?\s*i (?:need|have) to\s+(?:first\s+)?", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_THEN = re.compile(r",\s*(?:and\s+)?then\s+", re.IGNORECASE)
_NEXT = re.compile(r"^(?:next|then|after that|finally),?\s*(?:i need to\s+)?", re.IGNORECASE)

LEAST_ITEMS = 2
LONGEST_CUE = 300


def listed_plans(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every numbered list of ``text`` that a cue such as "I need to:" introduces, with the line of the cue.

    Lists inside code fences are not plans, nor are lists without a cue: those are mostly cases, causes or findings.
    """
    cue, items, fenced, open_list = "", [], False, False
    for line in [*text.splitlines(), "end of text"]:
        if _FENCE.match(line):
            fenced = not fenced
        if fenced:
            continue
        item = _NUMBERED.match(line)
        if item and open_list:
            items.append(item["text"].strip())
        elif not line.strip() or (items and line.startswith((" ", "\t"))):
            continue
        else:
            if len(items) >= LEAST_ITEMS:
                yield cue, tuple(items)
            items = []
            open_list = len(line) <= LONGEST_CUE and bool(_CUE.search(line.strip()))
            cue = line.strip() if open_list else ""


def thought_steps(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a planning thought into its steps, and the sentences that elaborate the first of them.

    "To solve the task, I need to find and take a mug, then put it in desk. First I need to find a mug. …" has two
    steps; what begins with "First" says how the first one is to be done.
    """
    sentences = _SENTENCE.split(text.strip())
    if not sentences or not _GOAL.match(sentences[0]):
        return (), tuple(sentence for sentence in sentences if sentence)
    steps = [step for step in _THEN.split(_GOAL.sub("", sentences[0])) if step]
    rest = sentences[1:]
    while rest and not rest[0].lower().startswith("first"):
        steps.append(_NEXT.sub("", rest.pop(0)))
    return tuple(step.strip().rstrip(".") for step in steps), tuple(rest)


def thought_plan(thought: str, elaboration: str = "") -> PlanUnit | None:
    """The plan of a first thought; the first step keeps its elaboration as units below it, before itself."""
    steps, how = thought_steps(thought)
    if not steps:
        return None
    how = (*how, *(thought_steps(elaboration)[1] if elaboration else ()))
    units = [PlanUnit(str(number), step) for number, step in enumerate(steps, 1)]
    if how:
        below = [PlanUnit(f"1.{number}", text) for number, text in enumerate((*how, steps[0]), 1)]
        units[0] = PlanUnit("1", steps[0], children=tuple(below))
    return PlanUnit("plan", thought.strip(), children=tuple(units))
