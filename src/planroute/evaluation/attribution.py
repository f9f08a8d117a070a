"""Attribution across the handoff: which of planner, router, executor and verifier one episode's failure belongs to.

Sources: Planning-as-Routing, appendix A (handoff-aware attribution) and appendix I (dispatch failure and selection
failure). The other labels, their order and their exact conditions are the project's own.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from planroute.gate import GateAction
from planroute.modes import MODES, Mode
from planroute.trace import Stop


class Attribution(StrEnum):
    """Labels in the order in which they are tried: the first that applies is the episode's.

    ``PLANNER_FAILURE``: no declaration that could be dispatched. ``DISPATCH_FAILURE``: another mode was executed than
    was declared, and no gate record says why; ``GATE_REPLACEMENT``: the record says why. ``EXECUTION_FAILURE``:
    dispatched as declared and failed, and only part of the plan was carried out, or the mode was nobody's choice: a
    forced condition, a baseline. ``VERIFIER_DISAGREEMENT``: dispatch record and actions contradict each other about
    the order. ``SELECTION_FAILURE``: dispatched as declared and failed, and another mode succeeded on this task and
    seed; ``UNDECIDED``: the forced modes that would tell were not run. Where none of them applies, a failure that was
    dispatched as declared is an ``EXECUTION_FAILURE`` as well: no other mode did better.
    """

    INFRASTRUCTURE = "INFRASTRUCTURE"
    PLANNER_FAILURE = "PLANNER_FAILURE"
    DISPATCH_FAILURE = "DISPATCH_FAILURE"
    GATE_REPLACEMENT = "GATE_REPLACEMENT"
    EXECUTION_FAILURE = "EXECUTION_FAILURE"
    VERIFIER_DISAGREEMENT = "VERIFIER_DISAGREEMENT"
    SELECTION_FAILURE = "SELECTION_FAILURE"
    UNDECIDED = "UNDECIDED"
    NONE = "NONE"


PARTIES: Mapping[Attribution, str] = {
    Attribution.PLANNER_FAILURE: "planner",
    Attribution.SELECTION_FAILURE: "planner",
    Attribution.DISPATCH_FAILURE: "router",
    Attribution.GATE_REPLACEMENT: "router",
    Attribution.EXECUTION_FAILURE: "executor",
    Attribution.VERIFIER_DISAGREEMENT: "verifier",
}
"""Whose part of the handoff a label is about; the other labels are about nobody's."""


class Handoff(Protocol):
    """What attribution reads of an episode's row."""

    @property
    def task(self) -> str:
        """The task's identity."""

    @property
    def seed(self) -> int:
        """The episode's seed."""

    @property
    def condition(self) -> str:
        """The condition it ran under."""

    @property
    def declared(self) -> str | None:
        """The declared mode."""

    @property
    def executed(self) -> str | None:
        """The executed mode or baseline."""

    @property
    def gate(self) -> str | None:
        """What the gate did, where there was one."""

    @property
    def gate_why(self) -> str:
        """The gate's reason."""

    @property
    def status(self) -> str:
        """``finished``, ``failed`` or ``infrastructure``."""

    @property
    def stop(self) -> str:
        """The typed stop reason."""

    @property
    def success(self) -> bool | None:
        """The referee's word."""

    @property
    def metrics(self) -> Mapping[str, float | None]:
        """Read of them: ``plan_order_faithful``, ``order_by_evidence`` and ``adherence``."""


ForcedMatrix = Mapping[tuple[str, int], Mapping[str, bool]]
"""Success of each forced mode by task and seed; a mode that was not run, or was disturbed, is missing."""


@dataclass(frozen=True, slots=True)
class Attributed:
    """The label that comes first, why, and the labels that hold beside it."""

    label: Attribution
    why: str = ""
    also: tuple[Attribution, ...] = ()

    @property
    def party(self) -> str | None:
        """Whose part of the handoff it is."""
        return PARTIES.get(self.label)


def forced_matrix(rows: Iterable[Handoff]) -> ForcedMatrix:
    """Collect the success of the forced modes in ``rows``; infrastructure failures and unknown successes are none."""
    found: dict[tuple[str, int], dict[str, bool]] = {}
    for row in rows:
        if row.condition in set(Mode) and row.status != "infrastructure" and row.success is not None:
            found.setdefault((row.task, row.seed), {})[row.condition] = row.success
    return found


def attribute(row: Handoff, matrix: ForcedMatrix | None = None) -> Attributed:
    """Attribute one episode. Without ``matrix`` a faithful failure stays ``UNDECIDED``.

    A mode that was forced was selected by the experiment, so ``SELECTION_FAILURE`` stands beside at most: another mode
    would have been right.
    """
    found = list(_labels(row, matrix or {}))
    if not found:
        return Attributed(Attribution.NONE)
    (label, why), others = found[0], found[1:]
    return Attributed(label, why, tuple(other for other, _ in others))


def _labels(row: Handoff, matrix: ForcedMatrix) -> Iterable[tuple[Attribution, str]]:
    """Every label that applies, the first before the others."""
    if row.status == "infrastructure":
        yield Attribution.INFRASTRUCTURE, f"stopped by {row.stop}"
        return
    if row.executed is None:
        refused = f"refused by the gate: {row.gate_why}" if row.stop == Stop.REFUSED else f"stopped by {row.stop}"
        yield Attribution.PLANNER_FAILURE, f"no declaration was dispatched: {refused}"
        return
    routed = row.executed in set(Mode) and row.declared is not None
    faithful = not routed or row.executed == row.declared
    on_record = not faithful and row.gate == GateAction.REPLACED
    switch = f"declared {row.declared}, executed {row.executed}"
    if on_record:
        yield Attribution.GATE_REPLACEMENT, f"{switch}: {row.gate_why}"
    elif not faithful:
        yield Attribution.DISPATCH_FAILURE, f"{switch}, and no gate record says why"
    failed = faithful and (row.success is False or (row.status == "failed" and not row.success))
    carried = _carried(row, matrix) if failed else ""
    if carried:
        yield Attribution.EXECUTION_FAILURE, carried
    recorded, shown = row.metrics.get("plan_order_faithful"), row.metrics.get("order_by_evidence")
    if routed and not on_record and recorded is not None and shown is not None and bool(recorded) is not bool(shown):
        word = {True: "kept", False: "broken"}
        told = f"order {word[bool(recorded)]} by the dispatch record, {word[bool(shown)]} by the actions"
        yield Attribution.VERIFIER_DISAGREEMENT, told
    if failed and row.executed in set(Mode):
        better, unknown = _others(row, matrix)
        if better:
            told = f"{row.executed} was selected, {' and '.join(better)} succeeded on this task and seed"
            yield Attribution.SELECTION_FAILURE, told
        elif unknown:
            yield Attribution.UNDECIDED, f"not run on this task and seed: {', '.join(unknown)}"
        elif not carried:
            yield Attribution.EXECUTION_FAILURE, ", ".join([*_details(row), _no_better(row, matrix)])


def _carried(row: Handoff, matrix: ForcedMatrix) -> str:
    """Why a failure is the executor's before anything is asked about the mode; empty where it is not."""
    details = _details(row)
    if row.executed not in set(Mode):
        return ", ".join(["a baseline, which selects no mode", *details])
    forced = row.condition == row.executed
    if not forced and not _left(row):
        return ""
    better, unknown = _others(row, matrix)
    if forced:
        beside = f", {' and '.join(better)} succeeded on this task and seed" if better else ""
        details.insert(0, f"{row.executed} was forced{beside}")
    return ", ".join(details if better or unknown else [*details, _no_better(row, matrix)])


def _left(row: Handoff) -> str:
    adherence = row.metrics.get("adherence")
    return f"adherence {adherence:.2f}" if adherence is not None and adherence < 1 else ""


def _details(row: Handoff) -> list[str]:
    stopped = f"stopped by {row.stop}" if row.status == "failed" else ""
    return [part for part in (_left(row), stopped) if part]


def _others(row: Handoff, matrix: ForcedMatrix) -> tuple[list[Mode], list[Mode]]:
    """The other modes that succeeded when forced, and those that were not run."""
    forced = matrix.get((row.task, row.seed), {})
    others = [mode for mode in MODES if mode != row.executed]
    return [mode for mode in others if forced.get(mode)], [mode for mode in others if mode not in forced]


def _no_better(row: Handoff, matrix: ForcedMatrix) -> str:
    same = matrix.get((row.task, row.seed), {}).get(str(row.executed))
    return f"forced {row.executed} succeeded" if same else "no mode succeeded"
