"""One episode, composed: declare, gate, route, execute, evaluate; out come one row and one trace.

This is the only place where the parts of the flow meet.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from planroute.declaration import Declaration, forced
from planroute.errors import (
    BudgetExceeded,
    DeclarationError,
    DomainError,
    EpisodeOverdue,
    InputError,
    ModelClosed,
    ModelRefused,
    ModelUnavailable,
    PlanrouteError,
    ReplyError,
    RunBudgetReached,
    StorageError,
)
from planroute.evaluation.deadline import PlanningEvent, planning_events
from planroute.evaluation.failure import failure_label
from planroute.gate import Gate, GateAction, GateRecord
from planroute.ledger import Budget, Ledger, Spent
from planroute.models.metered import MeteredModel
from planroute.modes import UNPLANNED, Baseline, Mode
from planroute.process import process_metrics
from planroute.protocols import Context, Declarer, Domain, Model, Outcome, Settling, Task, World
from planroute.router import route, route_baseline
from planroute.trace import Declared, Failed, Finished, Gated, Stop, Trace


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """The facts of one episode. Equal inputs give equal rows: no wall time is in here.

    ``late_events`` is ``None`` where there is no deadline.

    ``status`` is ``finished``, ``failed`` (a typed failure that counts, and is no success), or ``infrastructure``
    (which never counts against the task). ``spent`` counts logically: a cached call is in it.
    """

    domain: str
    task: str
    condition: str
    declarer: str
    seed: int
    factors: Mapping[str, Any]
    declared: str | None
    executed: str | None
    mode_agreement: bool | None
    gate: str | None
    gate_why: str
    declaration: Mapping[str, Any] | None
    status: str
    stop: str
    error: str | None
    success: bool | None
    metrics: Mapping[str, float | None]
    spent: Mapping[str, Mapping[str, Any]]
    planning: tuple[Mapping[str, Any], ...]
    deadline_s: float | None
    late_events: int | None
    failure: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished episode: its row, its trace, and what it billed and waited (which differs between equal runs)."""

    row: EpisodeRow
    trace: Trace
    billing: Mapping[str, Any] = field(default_factory=dict)


_BILLED = ("billed_calls", "latency_s", "price_usd", "attempts", "failed_calls", "billed_tokens")
"""What of an account differs between equal runs: it is in an episode's billing and not in its row."""
_LOGICAL = tuple(each.name for each in fields(Spent) if each.name not in _BILLED)
_STOPS: tuple[tuple[type[PlanrouteError], Stop], ...] = (
    (BudgetExceeded, Stop.BUDGET),
    (ReplyError, Stop.REPLY),
    (DeclarationError, Stop.DECLARATION),
    (ModelClosed, Stop.INFRASTRUCTURE),
    (ModelRefused, Stop.MODEL_REFUSED),
    (ModelUnavailable, Stop.INFRASTRUCTURE),
    (DomainError, Stop.INFRASTRUCTURE),
    (EpisodeOverdue, Stop.INFRASTRUCTURE),
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What an episode runs under, apart from its task: who declares, the gate, the budget, the language model."""

    declarer: Declarer
    gate: Gate = Gate()
    budget: Budget = Budget()
    model: Model | None = None
    deadline_s: float | None = None
    """Deadline in s against which events count as late, where the gate is off; else the gate's own."""
    baseline: Baseline | None = None
    """A baseline in place of gate, router and mode executor."""
    judge_model: Model | None = None
    """The model that judges, where it is not the backbone."""
    attempts: int = 3
    """How many attempts ``REPEATED_REACT`` makes."""
    only_declare: bool = False
    """Stop before the router: what was declared and what the gate made of it is all there is to know."""
    ends_after_s: float | None = None
    """Wall-clock time in s after which an episode is ended and its world closed.

    It is then a failure of the infrastructure: wall time decides about no success, and is part of no cell's identity.
    """

    def __post_init__(self) -> None:
        Gate(self.deadline_s)  # an impossible deadline is refused here as well
        if self.ends_after_s is not None and not 0 < self.ends_after_s < math.inf:
            raise InputError(f"an episode cannot end after {self.ends_after_s} s", hint="give a number above 0")


@dataclass(slots=True)
class _Progress:
    """How far an episode has come: what was decided, what was dispatched, and where it is if it fails."""

    where: str = "opening the task"
    declaration: Declaration | None = None
    record: GateRecord | None = None
    executed: str | None = None


async def run_episode(domain: Domain, task: Task, seed: int, conditions: Conditions, *, condition: str = "") -> Episode:
    """Run one episode to its row and trace.

    Failures that belong to the episode (a reply that cannot be read, a refused declaration, a spent budget, an
    endpoint that gives up, no end within ``ends_after_s``) end it with a typed stop reason. ``ModelMissing``,
    ``StorageError`` and programming errors pass through: they are not about this episode.
    """
    trace, ledger, progress = Trace(), Ledger(conditions.budget), _Progress()
    model = MeteredModel(conditions.model, ledger) if conditions.model else None
    judge = MeteredModel(conditions.judge_model, ledger) if conditions.judge_model else None
    context = Context(seed, trace, ledger, model, judge)
    error: str | None = None
    outcome = Outcome(None, {})
    world: World | None = None
    overdue = False
    try:
        try:
            async with _ending(conditions.ends_after_s):
                world = await domain.open(task, context)
                stop = await _flow(domain, task, world, conditions, context, progress)
            if stop is Stop.REFUSED and progress.record is not None:
                error = progress.record.why
        except tuple(kind for kind, _ in _STOPS) as problem:
            stop = next(reason for kind, reason in _STOPS if isinstance(problem, kind))
            error = str(problem)
            overdue = isinstance(problem, EpisodeOverdue)
            trace.append(Failed(type(problem).__name__, problem.message, progress.where))
        if world is not None and not overdue:  # finding out how an unfinished episode stands may take long as well
            outcome = world.outcome()
    finally:
        if world is not None:
            await world.aclose()
    trace.append(Finished(stop))
    return _account(domain, task, seed, condition, conditions, context, progress, stop, error, outcome)


@asynccontextmanager
async def _ending(seconds: float | None) -> AsyncIterator[None]:
    """Cancel what is inside after ``seconds``, and raise ``EpisodeOverdue``, whatever that made of being cancelled.

    What is not about the episode passes: it holds for the whole run.
    """
    limit, cause = asyncio.timeout(seconds), None
    try:
        async with limit:
            yield
    except (StorageError, RunBudgetReached):
        raise
    except Exception as error:
        if not limit.expired():
            raise
        cause = None if isinstance(error, TimeoutError) else error
    if limit.expired():
        hint = "it is run again by the same command; allow more time where it is slow and not stuck"
        raise EpisodeOverdue(f"no end within {seconds:g} s", hint=hint) from cause


async def _flow(
    domain: Domain, task: Task, world: World, conditions: Conditions, context: Context, progress: _Progress
) -> Stop:
    """Declare, gate, route, execute; a baseline takes the place of gate and router."""
    trace = context.trace
    if conditions.baseline not in UNPLANNED:
        progress.where = "declaration"
        declared = await conditions.declarer.declare(domain, task, world.state(), context)
        progress.declaration = declared
        trace.append(Declared(conditions.declarer.name, declared))
    if conditions.baseline is not None:
        dispatched, executor = route_baseline(conditions.baseline, progress.declaration)
        admitted = progress.declaration or replace(forced(Mode.PREDEFINED), branching=conditions.attempts)
    else:
        progress.where = "gate"
        record = progress.record = conditions.gate.admit(declared)
        trace.append(Gated(record))
        if record.admitted is None:
            return Stop.REFUSED
        if conditions.only_declare:
            return Stop.DECLARED
        admitted = record.admitted
        dispatched, executor = route(record)
    progress.where = "execution"
    progress.executed = dispatched.executed
    trace.append(dispatched)
    if progress.declaration is not None:
        world.begin(admitted)
    await executor(world, admitted, trace)
    if isinstance(world, Settling):
        await world.settle()
    return Stop.DONE if world.done else Stop.PLAN_EXHAUSTED


def _account(
    domain: Domain,
    task: Task,
    seed: int,
    condition: str,
    conditions: Conditions,
    context: Context,
    progress: _Progress,
    stop: Stop,
    error: str | None,
    outcome: Outcome,
) -> Episode:
    """Evaluate the finished trace and write the row."""
    trace, ledger = context.trace, context.ledger
    declaration, record, executed = progress.declaration, progress.record, progress.executed
    admitted = record.admitted if record else None
    deadline = conditions.gate.deadline_s if conditions.gate.deadline_s is not None else conditions.deadline_s
    events = planning_events(trace, admitted, conditions.gate.costs, deadline) if admitted else ()
    for event in events:
        ledger.charge_planning(event.cost_s)
    late = sum(event.late for event in events)
    agreement = executed == record.declared.mode if record is not None and executed is not None else None
    status = _status(stop)
    unknown = status == "infrastructure" or stop is Stop.DECLARED
    success = None if unknown or outcome.success is None else outcome.success and status == "finished"
    metrics = dict(outcome.metrics)
    if domain.lexicon is not None:
        metrics |= process_metrics(trace, domain.lexicon)
    label = failure_label(
        stop,
        late_events=late,
        mode_agreement=agreement,
        replaced_by_gate=record is not None and record.action is GateAction.REPLACED,
        success=success,
        metrics=metrics,
    )
    row = EpisodeRow(
        domain=domain.name,
        task=task.id,
        condition=condition or conditions.declarer.name,
        declarer=conditions.declarer.name,
        seed=seed,
        factors=task.factors,
        declared=declaration.mode if declaration else None,
        executed=executed,
        mode_agreement=agreement,
        gate=record.action if record else None,
        gate_why=record.why if record else "",
        declaration=asdict(declaration) if declaration else None,
        status=status,
        stop=stop,
        error=error,
        success=success,
        metrics=metrics,
        spent={purpose: _logical(spent) for purpose, spent in sorted(ledger.by_purpose.items()) if _counts(spent)},
        planning=tuple(_event(event) for event in events),
        deadline_s=deadline,
        late_events=None if deadline is None else late,
        failure=label,
        model=context.model.endpoint if context.model else None,
    )
    billing = {purpose: {k: getattr(s, k) for k in _BILLED} for purpose, s in sorted(ledger.by_purpose.items())}
    return Episode(row, trace, billing)


def recounted(row: EpisodeRow, task: Task, deadline_s: float | None) -> EpisodeRow:
    """Return ``row`` as the episode of an equal ``task`` has it whose deadline only counts late events.

    Nothing but the deadline may differ: then the course is the same, and late events and failure label follow from it.
    """
    planning = tuple(
        {**event, "late": deadline_s is not None and event["cost_s"] > deadline_s} for event in row.planning
    )
    late = sum(bool(event["late"]) for event in planning)
    label = failure_label(
        Stop(row.stop),
        late_events=late,
        mode_agreement=row.mode_agreement,
        replaced_by_gate=row.gate == GateAction.REPLACED,
        success=row.success,
        metrics=row.metrics,
    )
    return replace(
        row,
        task=task.id,
        factors=task.factors,
        planning=planning,
        deadline_s=deadline_s,
        late_events=None if deadline_s is None else late,
        failure=label,
    )


def _status(stop: Stop) -> str:
    if stop is Stop.INFRASTRUCTURE:
        return "infrastructure"
    return "finished" if stop in (Stop.DONE, Stop.PLAN_EXHAUSTED, Stop.DECLARED) else "failed"


def _logical(spent: Spent) -> dict[str, Any]:
    return {name: getattr(spent, name) for name in _LOGICAL}


def _counts(spent: Spent) -> bool:
    """Whether there is anything beside calls that came to nothing."""
    return spent.failed_calls == 0 or spent.model_calls + spent.interactions + spent.planning_events > 0


def _event(event: PlanningEvent) -> dict[str, Any]:
    return asdict(event)
