"""``scripted/slip=RATE``: an agent that can solve a task and slips at a known rate, so that truths can be checked.

What to do is a solver's business: one for each domain, found under the entry-point group ``planroute.solvers`` by the
``domain`` that a prompt's state names. This module reads the question, asks the solver, and slips.

A slip changes an action only: half of the slips take another admissible action, the other half call the step at hand
finished (outside a step every slip is a wrong action). Whether a call slips is drawn from the whole request, so equal
questions slip alike, and another episode seed slips elsewhere.

A solver may also have ``wrong(state, right)``, the actions among which a slip chooses where none are listed as
admissible, and, for questions in a form of its domain's own, ``read(question)``, the state that such a question shows
or ``None``, and ``say(state, action)``, the answer in words.

Parameters: ``?declare=MODE`` is the mode it declares (SEQUENTIAL; ``random`` draws one for each question).
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Protocol

from planroute.calls import ModelRequest
from planroute.declaration import forced
from planroute.errors import InputError
from planroute.models.minimal import declaring
from planroute.modes import Mode
from planroute.streams import stream

FINISHED = "finished"
STATE = "State: "
UNSOLVED = ("declaration", "advice")
"""Purposes of questions that it answers without a solver too: it then declares a mode and what that requires."""


class Solver(Protocol):
    """How to solve one domain's tasks from what a prompt's state shows: goal, start, history, admissible actions."""

    def plan(self, state: Mapping[str, Any]) -> list[str]:
        """The steps that are still to do."""

    def subgoals(self, state: Mapping[str, Any]) -> list[str]:
        """The subgoals that are still to reach."""

    def steps_of(self, state: Mapping[str, Any], subgoal: str) -> list[str]:
        """The steps of one subgoal."""

    def alternative(self, state: Mapping[str, Any], others: Sequence[Sequence[str]]) -> list[str]:
        """A complete plan that differs from ``others``."""

    def act(self, state: Mapping[str, Any], step: str | None) -> str:
        """The next action, or ``finished`` where the step is done or cannot be done."""

    def score(self, goal: str, trajectory: str) -> int:
        """How far a transcript got towards the goal, 0 to 3, by what it shows."""


@cache
def solver_of(domain: str) -> Solver:
    """Return the solver of ``domain``. Raises ``InputError`` where it has none."""
    for point in entry_points(group="planroute.solvers"):
        if point.name == domain:
            solver: Solver = point.load()()
            return solver
    raise InputError(f"scripted/slip knows no solver for {domain!r}")


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(point.name for point in entry_points(group="planroute.solvers")))


class Slipping:
    """The script of ``scripted/slip``: answers every interface of a text domain by the domain's solver.

    ``declared`` is the mode that it declares, ``None`` to draw one for each question.
    """

    def __init__(self, rate: float, declared: Mode | None) -> None:
        self.rate = rate
        self.declared = declared

    def __call__(self, request: ModelRequest) -> str:
        """Answer ``request`` in the form that it asks for. Raises ``InputError`` for one that shows no task's state."""
        text = request.messages[-1].content
        state = _json_after(text, STATE)
        if not isinstance(state, dict) or "domain" not in state:
            if isinstance(state, dict) and request.schema is not None and request.purpose.endswith(UNSOLVED):
                return declaring(self._mode(request))(request)
            return self._in_words(request, text)
        solver = solver_of(state["domain"])
        match request.purpose:
            case "action":
                return json.dumps({"thought": "", "action": self._action(request, state, solver)})
            case "plan" | "revision":
                return json.dumps({"steps": solver.plan(state)})
            case "subgoal plan":
                subgoal = text.split("subgoal of a larger task: ", 1)[-1].splitlines()[0]
                return json.dumps({"steps": solver.steps_of(state, subgoal)})
            case "decomposition":
                return json.dumps({"subgoals": solver.subgoals(state)})
            case "proposal":
                others = _json_after(text, "goes about: ")
                return json.dumps({"steps": solver.alternative(state, others if isinstance(others, list) else [])})
            case "trajectory judge" | "adherence judge" | "quality judge":
                trajectory = str(state.get("trajectory", ""))
                score = solver.score(str(state.get("goal", "")), trajectory) if trajectory else 3
                return json.dumps({"score": score, "reason": "by what the transcript shows"})
            case "hybrid advice":
                return json.dumps({"reason": "the script shifts no score"})
            case _:
                return self._declaration(request, state, solver)

    def _in_words(self, request: ModelRequest, text: str) -> str:
        for name in _names():
            solver: Any = solver_of(name)
            state = solver.read(text) if hasattr(solver, "read") else None
            if state is not None:
                return str(solver.say(state, self._action(request, state, solver)))
        raise InputError(f"scripted/slip cannot answer {request.purpose!r}: the question carries no task state")

    def _action(self, request: ModelRequest, state: Mapping[str, Any], solver: Solver) -> str:
        step = state.get("step")
        right = solver.act(state, step)
        draw = stream(request.sampling.seed or 0, "slip", request.identity("slip"))
        if draw.random() >= self.rate:
            return right
        if step is not None and right != FINISHED and draw.random() < 0.5:
            return FINISHED
        wrong = [action for action in state.get("admissible", []) if action != right]
        if not wrong and hasattr(solver, "wrong"):
            wrong = list(solver.wrong(state, right))
        return str(wrong[int(draw.integers(len(wrong)))]) if wrong else right

    def _mode(self, request: ModelRequest) -> Mode:
        draw = stream(request.sampling.seed or 0, "declare", request.identity("slip"))
        return self.declared or list(Mode)[int(draw.integers(len(Mode)))]

    def _declaration(self, request: ModelRequest, state: Mapping[str, Any], solver: Solver) -> str:
        mode = self._mode(request)
        policy = forced(mode)
        ranked = request.purpose == "ranked declaration"
        ranking = {"ranking": [mode, *(other for other in Mode if other is not mode)]} if ranked else {}
        plans: list[dict[str, Any]] = []
        if mode in (Mode.PREDEFINED, Mode.SEQUENTIAL):
            plans = [{"title": "", "steps": solver.plan(state)}]
        elif mode is Mode.HIERARCHICAL:
            plans = [{"title": goal, "steps": solver.steps_of(state, goal)} for goal in solver.subgoals(state)]
        else:
            for number in range(policy.branching):
                steps = solver.alternative(state, [plan["steps"] for plan in plans])
                plans.append({"title": f"way {number + 1}", "steps": steps})
        return json.dumps(
            {
                "mode": mode,
                **ranking,
                "depth": policy.depth,
                "branching": policy.branching,
                "replanning": policy.replanning,
                "confidence": 0.5,
                "rationale": "",
                "plan": plans,
            }
        )


def _json_after(text: str, mark: str) -> Any:
    """The JSON value that stands in ``text`` after the first ``mark``; ``None`` where there is none.

    The state stands on a line of its own: what it quotes may hold its mark as well, but no line break.
    """
    found = re.search(rf"^{mark}" if mark == STATE else re.escape(mark), text, re.MULTILINE)
    if found is None:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, found.end())[0]
    except ValueError:
        return None
