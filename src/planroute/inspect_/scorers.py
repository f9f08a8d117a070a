"""What is measured of an episode. Where a measure does not apply the sample is left unscored, never 0.

All of it comes from the row that a solver left in the sample's metadata, so a log can be scored again by itself:
``inspect score LOG --scorer planroute/order``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from planroute.inspect_.exchange import KEY

_FACTS: Final = ("condition", "declared", "executed", "gate", "gate_why", "seed", "status", "stop", "failure", "error")


@scorer(metrics=[mean(), stderr()])
def success() -> Scorer:
    """The environment's own word: 1 if the goal was reached. Also of an episode that a limit of Inspect broke off."""

    async def score(state: TaskState, target: Target) -> Score:
        kept = state.metadata.get(KEY, {})
        row, reached = _row(state), kept.get("success")
        if row is not None:
            reached = row["success"]
        if reached is None:
            return _unscored(state)
        facts = {name: row[name] for name in _FACTS} | {"spent": row["spent"]} if row is not None else {}
        stop = row["stop"] if row is not None else "broken off by a limit"
        return Score(value=int(reached), answer=stop, metadata=facts)

    return score


@scorer(metrics=[mean(), stderr()])
def order() -> Scorer:
    """1 if the plan's units were carried out in the declared order; a routed episode by its dispatch record."""
    return _measure("plan_order_faithful", "the order of the plan's units")


@scorer(metrics=[mean(), stderr()])
def adherence() -> Scorer:
    """The share of the plan's units for which the actions show evidence."""
    return _measure("adherence", "units carried out, by evidence in the actions")


@scorer(metrics=[mean(), stderr()])
def step_success() -> Scorer:
    """The share of a task's steps that succeeded, where its domain scores single steps."""
    return _measure("ssr", "steps that succeeded", ("element_accuracy", "operation_f1"))


@scorer(metrics=[mean(), stderr()])
def partial_success() -> Scorer:
    """The share of the tests that must pass and do, where success is a test suite's word."""
    return _measure("psr", "tests that must pass and do", ("resolved", "pass_to_pass", "patched"))


_UNITS: Final = ("units_needed", "units_completed", "candidates")


def _measure(name: str, what: str, beside: Sequence[str] = _UNITS) -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        row = _row(state)
        if row is None or row["metrics"].get(name) is None:
            return _unscored(state)
        metrics = row["metrics"]
        counts = {key: metrics.get(key) for key in beside}
        return Score(value=float(metrics[name]), explanation=what, metadata=counts)

    return score


def _row(state: TaskState) -> Mapping[str, Any] | None:
    row = state.metadata.get(KEY, {}).get("row")
    return row if isinstance(row, Mapping) else None


def _unscored(state: TaskState) -> Score:
    if _row(state) is None:
        return Score.unscored(reason="no_episode", explanation="no solver of planroute finished an episode here")
    return Score.unscored(reason="not_applicable", explanation="this condition has nothing of the kind to measure")
