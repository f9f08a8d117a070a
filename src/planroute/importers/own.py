"""Planroute's own traces, and the files in which a run keeps the row and the trace of a cell."""

import json
from collections.abc import Mapping
from typing import Any

from planroute.errors import InputError
from planroute.importers.trajectory import Action, DeclaredPlan, Trajectory, excerpt, mapping
from planroute.plan import PlanUnit
from planroute.trace import (
    Acted,
    Chosen,
    Collected,
    Decomposed,
    Dispatched,
    Failed,
    Finished,
    Observed,
    Planned,
    Proposed,
    Revised,
    Trace,
    UnitStarted,
)


def from_trace(
    trace: Trace, identity: str = "trace", *, task: str = "", success: bool | None = None, failure: str = ""
) -> Trajectory:
    """The plans and actions of ``trace``.

    Every ``planned``, ``revised`` and ``collected`` event declares: what had been started stays, the rest is replaced.
    A worker's plan stands below its subgoal until it is collected. Of the rollouts only the chosen one is the episode.
    """
    chosen = {event.candidate for event in trace.of(Chosen)}
    reader = _Reader(chosen)
    for event in trace:
        reader.take(event)
    dispatched = trace.of(Dispatched)
    failed = trace.of(Failed)
    finished = trace.of(Finished)
    why = failure or (failed[-1].message if failed else "") or (str(finished[-1].stop) if finished else "unfinished")
    return Trajectory(
        identity,
        "planroute",
        task,
        tuple(reader.plans),
        tuple(reader.actions),
        success,
        "" if success else why,
        declared=dispatched[-1].declared if dispatched else None,
        executed=dispatched[-1].executed if dispatched else None,
    )


class _Reader:
    """Follows the events of one trace."""

    def __init__(self, chosen: set[str]) -> None:
        self._chosen = chosen
        self._proposed: dict[str, tuple[PlanUnit, ...]] = {}
        self.plans: list[DeclaredPlan] = []
        self.actions: list[Action] = []
        self._active: list[PlanUnit] = []
        self._held: set[str] = set()
        self._goals: list[tuple[str, str]] = []
        self._parts: dict[str, tuple[PlanUnit, ...]] = {}
        self._collected: set[str] = set()

    def take(self, event: object) -> None:
        match event:
            case Planned(subgoal=None) | Revised():
                kept = [unit for unit in self._active if unit.id in self._held]
                fresh = [unit for unit in event.plan.units if unit.id not in {k.id for k in kept}]
                self._declare([*kept, *fresh])
            case Decomposed():
                self._goals = [(goal.id, goal.text) for stage in event.stages for goal in stage]
                self._parts, self._collected = {}, set()
                self._declare([*self._kept(), *self._tree()])
            case Planned():
                self._parts[str(event.subgoal)] = event.plan.units
                self._declare([*self._kept(), *self._tree()])
            case Collected():
                self._collected.update(event.subgoals)
                kept = self._kept()
                self._held.update(unit.id for unit in event.plan.units)
                self._declare([*kept, *event.plan.units, *self._tree()])
            case Proposed():
                self._proposed = {identity: plan.units for identity, _, plan in event.candidates}
            case Chosen():
                units = self._proposed.get(event.candidate, ())
                self._held.update(unit.id for unit in units)
                self._declare([*self._kept(), *units])
            case UnitStarted():
                self._held.add(event.unit)
            case Acted() if self._real(event.branch):
                self.actions.append(Action(len(self.actions), event.action, "", event.admissible))
            case Observed() if self.actions and self._real(event.branch):
                self._observe(event.text)

    def _real(self, branch: str | None) -> bool:
        return branch is None or branch in self._chosen

    def _kept(self) -> list[PlanUnit]:
        goals = {goal for goal, _ in self._goals}
        return [unit for unit in self._active if unit.id in self._held and unit.id not in goals]

    def _tree(self) -> list[PlanUnit]:
        """What is still to be collected: each subgoal, with its worker's units where they are known."""
        return [
            PlanUnit(goal, text, children=self._parts.get(goal, ()))
            for goal, text in self._goals
            if goal not in self._collected
        ]

    def _declare(self, units: list[PlanUnit]) -> None:
        new = units != self._active
        self._active = units
        if units and new:
            self.plans.append(DeclaredPlan(PlanUnit("plan", "", children=tuple(units)), before=len(self.actions)))

    def _observe(self, text: str) -> None:
        last = self.actions[-1]
        if not last.observation:
            refused = text.lower().startswith("nothing happens")
            self.actions[-1] = Action(last.index, last.text, excerpt(text), last.executed and not refused)


def own_trace(document: Any, name: str) -> list[Trajectory]:
    """Read a trace that planroute wrote: ``{schema, events}``."""
    return [from_trace(_trace(document, name), name)]


def own_cell(document: Any, name: str) -> list[Trajectory]:
    """Read the file of a run's cell: ``{row, trace}``."""
    cell = mapping(document, name)
    row = mapping(cell["row"], f"{name}: row")
    success = row.get("success")
    if success is not None and not isinstance(success, bool):
        raise InputError(f"{name}: row: success is neither true nor false")
    identity = "/".join(str(row[key]) for key in ("domain", "task", "condition", "seed") if key in row) or name
    failure = row.get("failure")
    trace = _trace(cell["trace"], name)
    return [from_trace(trace, identity, success=success, failure=_told(failure))]


def _trace(document: Any, name: str) -> Trace:
    try:
        return Trace.from_json(json.dumps(document))
    except InputError as error:
        raise InputError(f"{name}: {error.message}", hint=error.hint) from None


def _told(failure: object) -> str:
    return "" if failure in (None, "NONE") or isinstance(failure, Mapping) else str(failure)
