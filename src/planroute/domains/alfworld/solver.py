"""A solver of household tasks that reads only what a player reads: goal, first view, history, admissible commands.

It knows no hidden state and no planner: it looks in likely places first, remembers what it saw, and goes on from there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

FINISHED: Final = "finished"

GOALS: Final[tuple[tuple[str, str], ...]] = (
    (r"(?:look at|examine)(?: an?| the| some)? (?P<thing>\w+) (?:under|with)(?: an?| the| some)? (?P<tool>\w+)", "use"),
    (r"put two (?P<thing>\w+) (?:in/on|in|on)(?: an?| the| some)? (?P<place>\w+)", "two"),
    (r"find two (?P<thing>\w+) and put them (?:in/on|in|on)(?: an?| the| some)? (?P<place>\w+)", "two"),
    (
        r"put(?: an?| the| some)? (?P<state>clean|hot|cool) (?P<thing>\w+) (?:in/on|in|on)(?: an?| the)? "
        r"(?P<place>\w+)",
        "",
    ),
    (
        r"(?P<state>clean|heat|cool)(?: an?| the| some)? (?P<thing>\w+) and put it (?:in/on|in|on)(?: an?| the)? "
        r"(?P<place>\w+)",
        "",
    ),
    (r"put(?: an?| the| some)? (?P<thing>\w+) (?:in/on|in|on)(?: an?| the)? (?P<place>\w+)", "put"),
)
"""Goal patterns, most special first, and the kind of task; an empty kind is named by the pattern's state."""

TOOLS: Final[Mapping[str, str]] = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}
LIKELY: Final = (
    "countertop", "diningtable", "desk", "coffeetable", "sidetable", "shelf", "dresser", "bed", "sofa", "armchair",
    "sinkbasin", "stoveburner", "toilet", "bathtubbasin", "garbagecan", "fridge", "microwave", "cabinet", "drawer",
    "safe",
)  # fmt: skip
"""Kinds of places in the order in which they are looked at."""

_THING = re.compile(r"\b([a-z]+ \d+)\b")


@dataclass(frozen=True, slots=True)
class Goal:
    """What is asked: ``kind`` is put, two, use, clean, heat or cool."""

    kind: str
    thing: str
    place: str


def read_goal(text: str) -> Goal | None:
    """Read a goal in the wording of either version; ``None`` where it is none."""
    for pattern, kind in GOALS:
        found = re.search(pattern, text.lower())
        if found:
            parts = found.groupdict()
            state = {"hot": "heat"}.get(parts.get("state") or "", parts.get("state") or "")
            return Goal(kind or state, parts["thing"], parts.get("place") or parts.get("tool") or "")
    return None


@dataclass(slots=True)
class Memory:
    """What the history shows: where one is, what lies where, what one holds, what is done."""

    places: list[str]
    here: str = ""
    lying: dict[str, list[str]] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    holding: str = ""
    ready: dict[str, set[str]] = field(default_factory=dict)
    placed: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def note(self, action: str, seen: str) -> None:
        """Take in one turn."""
        if seen.startswith("Nothing happens"):
            return
        if action.startswith("go to "):
            self.here = action.removeprefix("go to ")
        took = re.match(r"take (\w+ \d+) from (\w+ \d+)", action)
        gave = re.match(r"(?:put|move) (\w+ \d+) (?:in/on|in|on|to) (\w+ \d+)", action)
        made = re.match(r"(clean|heat|cool) (\w+ \d+) with", action)
        used = re.match(r"use (\w+ \d+)", action)
        if took and "pick up" in seen:
            self.holding = took[1]
            self.placed.pop(took[1], None)
            self.lying[took[2]] = [thing for thing in self.lying.get(took[2], []) if thing != took[1]]
        elif gave and (seen.startswith(("You put", "You move"))):
            self.holding, self.placed[gave[1]] = "", gave[2]
            self.lying.setdefault(gave[2], []).append(gave[1])
        elif made and seen.startswith("You "):
            self.ready.setdefault(made[2], set()).add(made[1])
        elif used and "turn on" in seen.lower():
            self.used.add(used[1])
        if self.here and action.startswith(("go to ", "open ", "look")):
            if re.search(r"is closed", seen):
                self.closed.add(self.here)
            elif "you see" in seen.lower():
                self.closed.discard(self.here)
                view = seen[seen.lower().index("you see") :]
                self.lying[self.here] = [thing for thing in _THING.findall(view) if thing not in self.places]


def remember(state: Mapping[str, Any]) -> Memory:
    """Read the history of ``state``."""
    start = str(state.get("start", ""))
    view = start.split("you see", 1)[-1].split("Your task", 1)[0]
    memory = Memory(_THING.findall(view))
    for turn in state.get("history", []):
        memory.note(str(turn["action"]), str(turn["observation"]))
    return memory


class AlfworldSolver:
    """See ``planroute.models.slip.Solver``."""

    def plan(self, state: Mapping[str, Any]) -> list[str]:
        """The steps that are still to do."""
        goal, memory = read_goal(str(state["goal"])), remember(state)
        return self._left(goal, memory) if goal else []

    def subgoals(self, state: Mapping[str, Any]) -> list[str]:
        """Have the thing ready, then bring it where it belongs."""
        goal, memory = read_goal(str(state["goal"])), remember(state)
        if goal is None:
            return []
        subgoals: list[str] = []
        part: list[str] = []
        left = self._left(goal, memory)
        for step, following in zip_longest(left, left[1:], fillvalue=""):
            part.append(step)
            if not following or step.startswith("put") or following.startswith(("put", "find and use")):
                subgoals.append(" then ".join(part))
                part = []
        return subgoals

    def steps_of(self, state: Mapping[str, Any], subgoal: str) -> list[str]:
        """The steps that the subgoal's text names."""
        return subgoal.split(" then ")

    def alternative(self, state: Mapping[str, Any], others: Sequence[Sequence[str]]) -> list[str]:
        """The same plan, looking in other places first."""
        steps = self.plan(state)
        kinds = [kind for kind in LIKELY if any(place.startswith(kind) for place in remember(state).places)]
        if not kinds or not others:
            return steps
        first = kinds[len(others) % len(kinds)]
        return [f"{step}, first at the {first}" if step.startswith("find and take") else step for step in steps]

    def act(self, state: Mapping[str, Any], step: str | None) -> str:
        """The next command for ``step``, or for the first step that is left."""
        goal, memory = read_goal(str(state["goal"])), remember(state)
        admissible = [str(command) for command in state.get("admissible", [])]
        if goal is None:
            return admissible[0] if admissible else "look"
        if step is None:
            left = self._left(goal, memory)
            command = self._command(left[0], goal, memory, admissible) if left else FINISHED
            return command if command != FINISHED else ("look" if "look" in admissible else admissible[0])
        return self._command(step, goal, memory, admissible)

    def score(self, goal: str, trajectory: str) -> int:
        """3 when nothing is left to do, less for each part of the plan that is."""
        wanted = read_goal(goal)
        if wanted is None:
            return 0
        start, *turns = trajectory.split("\n> ")
        history = [dict(zip(("action", "observation"), turn.partition("\n")[::2], strict=True)) for turn in turns]
        memory = remember({"start": start, "history": history})
        whole = self._left(wanted, Memory([]))
        return round(3 * (1 - min(len(self._left(wanted, memory)) / len(whole), 1.0)))

    def _left(self, goal: Goal, memory: Memory) -> list[str]:
        holds = memory.holding.startswith(goal.thing + " ")
        if goal.kind == "use":
            take = [] if holds else [f"find and take a {goal.thing}"]
            done = holds and any(tool.startswith(goal.place + " ") for tool in memory.used)
            return [] if done else [*take, f"find and use the {goal.place}"]
        ready = [
            thing
            for thing, place in memory.placed.items()
            if thing.startswith(goal.thing + " ")
            and place.startswith(goal.place + " ")
            and (goal.kind not in TOOLS or goal.kind in memory.ready.get(thing, set()))
        ]
        missing = (2 if goal.kind == "two" else 1) - len(ready)
        steps: list[str] = []
        for number in range(missing):
            if not (number == 0 and holds):
                steps.append(f"find and take {'another' if ready or number else 'a'} {goal.thing}")
            made = number == 0 and goal.kind in memory.ready.get(memory.holding, set())
            if goal.kind in TOOLS and not made:
                steps.append(f"{goal.kind} the {goal.thing} with the {TOOLS[goal.kind]}")
            steps.append(f"put the {goal.thing} in/on the {goal.place}")
        return steps

    def _command(self, step: str, goal: Goal, memory: Memory, admissible: list[str]) -> str:
        if step.startswith("find and take"):
            return self._take(step, goal, memory, admissible)
        if step.startswith("find and use"):
            done = any(tool.startswith(goal.place + " ") for tool in memory.used)
            return FINISHED if done else self._reach(rf"use {goal.place} \d+", goal.place, memory, admissible)
        if not memory.holding.startswith(goal.thing + " "):
            return FINISHED
        thing = re.escape(memory.holding)
        if step.startswith(tuple(TOOLS)):
            if goal.kind in memory.ready.get(memory.holding, set()):
                return FINISHED
            tool = TOOLS[goal.kind]
            return self._at(tool, rf"{goal.kind} {thing} with {tool} \d+", memory, admissible)
        return self._at(goal.place, rf"(?:put|move) {thing} (?:in/on|in|on|to) {goal.place} \d+", memory, admissible)

    def _take(self, step: str, goal: Goal, memory: Memory, admissible: list[str]) -> str:
        if memory.holding.startswith(goal.thing + " "):
            return FINISHED
        if memory.holding:
            down = rf"(?:put|move) {re.escape(memory.holding)} "
            return _first(down, admissible) or self._look_on(step, memory, admissible)
        settled = {thing for thing, place in memory.placed.items() if place.startswith(goal.place + " ")}
        for place, things in memory.lying.items():
            wanted = [t for t in things if t.startswith(goal.thing + " ") and t not in settled]
            if wanted:
                return self._at(place, rf"take {re.escape(wanted[0])} from ", memory, admissible)
        return self._look_on(step, memory, admissible)

    def _reach(self, command: str, thing: str, memory: Memory, admissible: list[str]) -> str:
        """Do ``command`` where it can be done: here, where ``thing`` was seen, or wherever it is found."""
        if (now := _first(command, admissible)) is not None:
            return now
        for place, things in memory.lying.items():
            if any(t.startswith(thing + " ") for t in things) and place != memory.here:
                return f"go to {place}"
        return self._look_on("", memory, admissible)

    def _at(self, place: str, command: str, memory: Memory, admissible: list[str]) -> str:
        """Do ``command`` at ``place`` (a kind or an instance): go there, open it if need be."""
        if (now := _first(command, admissible)) is not None:
            return now
        fits = [p for p in memory.places if p == place or p.startswith(place + " ")]
        if memory.here in fits:
            if (opened := _first(rf"open {re.escape(memory.here)}$", admissible)) is not None:
                return opened
            fits = [p for p in fits if p != memory.here]
        going = [f"go to {p}" for p in fits if f"go to {p}" in admissible]
        return going[0] if going else FINISHED

    def _look_on(self, step: str, memory: Memory, admissible: list[str]) -> str:
        """Look at the next place that has not been looked into, in likely order, a place named first before all."""
        if memory.here in memory.closed and (opened := _first(rf"open {re.escape(memory.here)}$", admissible)):
            return opened
        hint = step.rpartition("first at the ")[2] if "first at the " in step else ""

        def rank(place: str) -> tuple[int, int, str]:
            kind = place.split()[0]
            return (kind != hint, LIKELY.index(kind) if kind in LIKELY else len(LIKELY), place)

        unseen = [place for place in memory.places if place not in memory.lying or place in memory.closed]
        going = [place for place in sorted(unseen, key=rank) if f"go to {place}" in admissible]
        return f"go to {going[0]}" if going else FINISHED


def _first(pattern: str, admissible: Sequence[str]) -> str | None:
    return next((command for command in admissible if re.match(pattern, command)), None)
