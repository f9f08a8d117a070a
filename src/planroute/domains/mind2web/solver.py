"""A solver of tasks whose goal names everything that is to be done in quotation marks, in order.

It reads only what a prompt shows: the goal, what was done before, and the page with its numbered elements. The
project's own tasks are worded in such a way; of others it sees nothing to do.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

FINISHED: Final = "finished"
NOTHING: Final = "NONE"
LOOKING: Final = ("", "from the top of the page", "from the middle of the page", "from the end of the page")
"""How alternatives differ: in where one begins to look."""
PLAIN: Final = frozenset(
    (
        "a", "an", "the", "as", "of", "to", "by", "on", "in", "and", "type", "enter", "select", "set", "pick", "choose",
        "press", "click", "open",
    )
)  # fmt: skip
"""Words of a clause that name no element."""
FIELDS: Final = frozenset({"input", "textarea"})

_QUOTED = re.compile(r'"([^"]+)"')
_ASKED = re.compile(r"'{3}\n(.*)\n'{3}\n\nBased on the HTML webpage above.*\nTask: (.*)\nPrevious actions:\n")
_TOKEN = re.compile(r"<(/?)([\w:.-]+)([^<>]*?)(/?)>|([^<>]+)")


@dataclass(slots=True)
class Seen:
    """A numbered element of a page: its tag, the words of its attributes, its text, and its options."""

    number: int
    tag: str
    words: str
    text: list[str] = field(default_factory=list)
    options: list[str] = field(default_factory=list)


def elements(page: str) -> list[Seen]:
    """Read the numbered elements of a page as prompts show it."""
    found: list[Seen] = []
    open_here: list[tuple[str, Seen | None]] = []
    for closing, tag, rest, alone, text in re.findall(_TOKEN, page):
        if text:
            said = text.strip()
            inside = [around for _, around in open_here if around is not None]
            for around in inside if said else []:
                around.text.append(said)
            if said and inside and open_here[-1][0] == "option":
                inside[-1].options.append(said)
        elif closing:
            if open_here:
                open_here.pop()
        else:
            number = re.match(r"\s*id=(\d+)\s*(.*)", rest)
            seen = Seen(int(number[1]), tag, number[2].strip()) if number else None
            found += [seen] if seen else []
            if not alone:
                open_here.append((tag, seen))
    return found


def wanted(goal: str) -> list[str]:
    """The clauses of a goal that name something in quotation marks, in order."""
    clauses: list[str] = []
    for part in re.findall(r'(?:"[^"]*"|[^",.:])+', goal):
        clause = re.sub(r"^\s*and\s+", "", part).strip()
        if re.findall(_QUOTED, clause):
            clauses.append(clause)
    return clauses


class Mind2WebSolver:
    """See ``planroute.models.slip.Solver``; ``read`` and ``say`` are for the benchmark's own question."""

    def plan(self, state: Mapping[str, Any]) -> list[str]:
        """The clauses that are still to do."""
        return wanted(str(state["goal"]))[self._done(state) :]

    def subgoals(self, state: Mapping[str, Any]) -> list[str]:
        """What is to do, two clauses at a time."""
        left = self.plan(state)
        return [" then ".join(left[place : place + 2]) for place in range(0, len(left), 2)]

    def steps_of(self, state: Mapping[str, Any], subgoal: str) -> list[str]:
        """The clauses that the subgoal's text names."""
        return subgoal.split(" then ")

    def alternative(self, state: Mapping[str, Any], others: Sequence[Sequence[str]]) -> list[str]:
        """The same plan, beginning to look elsewhere."""
        way = LOOKING[len(others) % len(LOOKING)]
        return [f"{step} {way}".strip() for step in self.plan(state)]

    def act(self, state: Mapping[str, Any], step: str | None) -> str:
        """What the clause at hand asks for; a step whose turn is over, or has not come, is called finished."""
        clauses, done = wanted(str(state["goal"])), self._done(state)
        at = done
        if step is not None:
            named = re.findall(_QUOTED, step)
            at = next((n for n, clause in enumerate(clauses) if re.findall(_QUOTED, clause) == named), -1)
            if at != done:
                return FINISHED
        return self._action(clauses[at], str(state.get("page", ""))) if at < len(clauses) else NOTHING

    def wrong(self, state: Mapping[str, Any], right: str) -> list[str]:
        """Other things that could be done on the page."""
        clicks = [f"CLICK [{seen.number}]" for seen in elements(str(state.get("page", "")))]
        return [action for action in (*clicks, NOTHING) if action != right]

    def score(self, goal: str, trajectory: str) -> int:
        """3 where every quoted thing was acted on in order, less for each that was not."""
        values = [value for clause in wanted(goal) for value in re.findall(_QUOTED, clause)]
        actions = [line[2:] for line in trajectory.splitlines() if line.startswith("> ")]
        hits = sum(value.lower() in action.lower() for value, action in zip(values, actions, strict=False))
        return int(3 * hits / len(values)) if values else 0

    def read(self, question: str) -> dict[str, Any] | None:
        """The state that the benchmark's question shows; ``None`` where it is another question."""
        found = _ASKED.match(question)
        if found is None:
            return None
        before = question[found.end() :].partition("\nWhat should be the next action?")[0].splitlines()
        step = next((line.partition(": ")[2] for line in before if line.startswith("Current step of the plan: ")), None)
        history = [{"action": line} for line in before if re.match(r"\[.*\] .* -> \w+", line)]
        state = {"domain": "mind2web", "goal": found[2], "history": history, "page": found[1]}
        return state if step is None else {**state, "step": step}

    def say(self, state: Mapping[str, Any], action: str) -> str:
        """``action`` in the form that the benchmark's question asks for."""
        if action == FINISHED:
            return "Answer: finished."
        found = re.match(r"(\w+) \[(\d+)\]\s*(.*)", action)
        if found is None:
            return "Answer: A."
        place = [seen.number for seen in elements(str(state["page"]))].index(int(found[2]))
        value = f"\nValue: {found[3]}" if found[3] else ""
        return f"Answer: {chr(ord('B') + place)}.\nAction: {found[1]}{value}"

    def _done(self, state: Mapping[str, Any]) -> int:
        """How many clauses the history has done: the last one that one of its actions names."""
        clauses = wanted(str(state["goal"]))
        acted = [str(turn["action"]).lower() for turn in state.get("history", [])]
        named = [n for n, clause in enumerate(clauses, 1) for value in re.findall(_QUOTED, clause)[:1]
                 if any(value.lower() in action for action in acted)]  # fmt: skip
        return max(named, default=0)

    def _action(self, clause: str, page: str) -> str:
        value = str(re.findall(_QUOTED, clause)[0])
        about = set(re.findall(r"\w+", re.sub(_QUOTED, " ", clause).lower())) - PLAIN
        ranked: list[tuple[int, int, str]] = []
        for seen in elements(page):
            near = len(about & set(re.findall(r"\w+", seen.words.lower())))
            if value in seen.options:
                ranked.append((10 + near, -seen.number, f"SELECT [{seen.number}] {value}"))
            elif seen.tag in FIELDS and clause.startswith(("type", "enter")):
                ranked.append((near, -seen.number, f"TYPE [{seen.number}] {value}"))
            elif " ".join(seen.text).lower() == value.lower() or value.lower() in seen.words:
                ranked.append((20, -seen.number, f"CLICK [{seen.number}]"))
        best = max(ranked, default=(0, 0, NOTHING))
        return best[2] if best[0] > 0 else NOTHING
