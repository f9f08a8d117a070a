"""A solver that knows the way to the project's own tasks by heart, and reads answers from the page in sight.

The ways are ``data/ways.json``, by the wording of the task. Of other tasks it sees nothing to do.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

FINISHED: Final = "finished"
AND_THEN: Final = " and then "
WAYS: Final = ("", " at once", " with care", " in no hurry")
"""How alternatives differ: in words."""

_CLICK: Final = re.compile(r'click "(.*?)"')
_TYPE: Final = re.compile(r'type "(.*?)" into "(.*?)"( and press Enter)?')
_SELECT: Final = re.compile(r'select "(.*?)" in "(.*?)"')
_ANSWER: Final = re.compile(r'answer with the (number|word) after "(.*?)"')
_STOP: Final = re.compile(r"stop, it was to (navigate|mutate)")
_LINE: Final = re.compile(r'^ *\[(\d+)\] (\w+) ("(?:[^"\\]|\\.)*")', re.MULTILINE)


@cache
def _ways() -> dict[str, list[str]]:
    text = (Path(__file__).parent / "data" / "ways.json").read_text(encoding="utf-8")
    ways: dict[str, list[str]] = json.loads(text)
    return ways


class WebArenaSolver:
    """See ``planroute.models.slip.Solver``."""

    def plan(self, state: Mapping[str, Any]) -> list[str]:
        """The steps that are still to do."""
        steps = self._steps(state)
        return steps[self._done(state, steps) :]

    def subgoals(self, state: Mapping[str, Any]) -> list[str]:
        """What is to do, two steps at a time."""
        left = self.plan(state)
        return [AND_THEN.join(left[place : place + 2]) for place in range(0, len(left), 2)]

    def steps_of(self, state: Mapping[str, Any], subgoal: str) -> list[str]:
        """The steps that the subgoal's text names."""
        return subgoal.split(AND_THEN)

    def alternative(self, state: Mapping[str, Any], others: Sequence[Sequence[str]]) -> list[str]:
        """The same steps, otherwise worded."""
        return [step + WAYS[len(others) % len(WAYS)] for step in self.plan(state)]

    def act(self, state: Mapping[str, Any], step: str | None) -> str:
        """The action of the step at hand; a step whose turn is over, or has not come, is called finished."""
        steps = self._steps(state)
        done = self._done(state, steps)
        if done >= len(steps):
            return FINISHED if step is not None else "stop []"
        if step is not None and not step.startswith(steps[done]):
            return FINISHED
        return self._action(steps[done], str(state.get("page", "")))

    def wrong(self, state: Mapping[str, Any], right: str) -> list[str]:
        """Other things that could be done on the page."""
        clicks = [f"click [{number}]" for number, _, _ in re.findall(_LINE, str(state.get("page", "")))]
        return [action for action in (*clicks, "scroll [down]") if action != right]

    def score(self, goal: str, trajectory: str) -> int:
        """3 where every step of the way was done in order, less for each that was not."""
        steps = _ways().get(goal, [])
        done = _followed(steps, trajectory.splitlines())
        done += "The answer is given." in trajectory and done == len(steps) - 1
        return 3 * done // len(steps) if steps else 0

    def _steps(self, state: Mapping[str, Any]) -> list[str]:
        return _ways().get(str(state.get("goal", "")), [])

    def _done(self, state: Mapping[str, Any], steps: Sequence[str]) -> int:
        return _followed(steps, [str(turn.get("observation", "")) for turn in state.get("history", [])])

    def _action(self, step: str, page: str) -> str:
        if found := _ANSWER.match(step):
            what = r"(\d+(?:\.\d+)?)" if found[1] == "number" else r"(\w+)"
            seen = re.search(re.escape(found[2]) + r"\s*\$?" + what, page)
            value = (float(seen[1]) if found[1] == "number" else seen[1]) if seen else None
            return _stop("RETRIEVE", [value] if value is not None else None)
        if found := _STOP.match(step):
            return _stop(found[1].upper(), None)
        if found := _CLICK.match(step):
            return self._on(page, found[1], "click [{}]")
        if found := _SELECT.match(step):
            return self._on(page, found[2], f"select [{{}}] [{found[1]}]")
        if found := _TYPE.match(step):
            return self._on(page, found[2], f"type [{{}}] [{found[1]}] [{1 if found[3] else 0}]")
        return "back"

    def _on(self, page: str, name: str, action: str) -> str:
        for number, _, said in re.findall(_LINE, page):
            if json.loads(said) == name:
                return action.format(number)
        return "back"


def _stop(kind: str, data: list[Any] | None) -> str:
    answer = {"task_type": kind, "status": "SUCCESS", "retrieved_data": data, "error_details": None}
    return f"stop [{json.dumps(answer)}]"


def _followed(steps: Sequence[str], told: Sequence[str]) -> int:
    """How many of ``steps``, in order, observations tell of."""
    done = 0
    for line in told:
        if done < len(steps) and any(line.startswith(said) for said in _telling(steps[done])):
            done += 1
    return done


def _telling(step: str) -> list[str]:
    """How the observation begins that tells that ``step`` was done."""
    if found := _CLICK.match(step):
        return [f"Clicked {role} {json.dumps(found[1], ensure_ascii=False)}." for role in ("link", "button")]
    if found := _SELECT.match(step):
        return [f"Selected {json.dumps(found[1])} in combobox {json.dumps(found[2])}."]
    if found := _TYPE.match(step):
        roles = ("textbox", "searchbox")
        return [
            f"Typed {json.dumps(found[1], ensure_ascii=False)} into {role} {json.dumps(found[2])}" for role in roles
        ]
    return []
