"""Holding a domain to the contracts of ``planroute.protocols``, whoever wrote it.

``check_domain`` runs small episodes of a domain through the real executors and notes every breach that it sees;
``assert_domain`` does the same for a test and raises. Neither can see what no run shows: a domain that passes can still
be wrong about its field.
"""

import asyncio
import json
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final, TypeVar

from planroute.declaration import DEFAULT_BRANCHING, Declaration, forced
from planroute.declarers.natural import Policy
from planroute.errors import DomainError
from planroute.ledger import Ledger
from planroute.models.metered import MeteredModel
from planroute.modes import MODES, Mode
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.protocols import Context, Domain, Model, Observation, Outcome, State, Task, World
from planroute.router import EXECUTORS
from planroute.trace import Acted, Directed, Responded, Settled, Trace

MOST_CALLS: Final = 10_000
"""Primitives that one episode may call before it counts as endless."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken rule: on which task (empty where it is about the domain), by which primitive, and how."""

    task: str
    primitive: str
    problem: str

    def __str__(self) -> str:
        return f"{self.task + ', ' if self.task else ''}{self.primitive}: {self.problem}"


async def check_domain(
    domain: Domain, *, seed: int = 0, model: Model | None = None, most_tasks: int | None = 3
) -> list[Breach]:
    """Return every breach of contract found in ``domain``, none for a sound one.

    Its first ``most_tasks`` tasks are opened (``None``: all), each some ten times under ``seed``. A domain that asks a
    language model needs ``model``, and one that gives equal answers to equal requests. An exception inside a
    primitive is a breach of that primitive.
    """
    report = _Report()
    tasks: Sequence[Task] = ()
    with suppress(_Broken):
        tasks = _check_itself(domain, report)
    for task in tasks[:most_tasks]:
        await _check_task(_Bench(domain, task, seed, model, replace(report, task=task.id)))
    return list(report.found)


def assert_domain(domain: Domain, *, seed: int = 0, model: Model | None = None, most_tasks: int | None = 3) -> None:
    """Raise ``DomainError`` with every breach of contract at once. For tests; not to be called in a running loop."""
    breaches = asyncio.run(check_domain(domain, seed=seed, model=model, most_tasks=most_tasks))
    if breaches:
        noun = "breach" if len(breaches) == 1 else "breaches"
        lines = "".join(f"\n  {breach}" for breach in breaches)
        raise DomainError(f"domain {domain.name!r}: {len(breaches)} {noun} of contract{lines}")


class _Broken(Exception):
    """This run of a domain cannot go on; the breach is noted."""


@dataclass(frozen=True, slots=True)
class _Report:
    """Breaches in the order in which they were found, each once."""

    task: str = ""
    found: dict[Breach, None] = field(default_factory=dict)

    def note(self, primitive: str, problem: str) -> None:
        self.found[Breach(self.task, primitive, problem)] = None

    def need(self, holds: bool, primitive: str, problem: str) -> None:
        if not holds:
            self.note(primitive, problem)

    def need_type(self, value: Any, kind: Any, primitive: str) -> None:
        """Without the right type nothing further can be said."""
        if not isinstance(value, kind):
            self.note(primitive, f"must return {kind.__name__}, returned {type(value).__name__}")
            raise _Broken

    def need_json(self, value: Any, primitive: str) -> None:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            self.note(primitive, f"must be JSON values: {error}")

    @contextmanager
    def guard(self, primitive: str) -> Iterator[None]:
        """Turn an exception of the domain into a breach."""
        try:
            yield
        except _Broken:
            raise
        except Exception as error:
            self.note(primitive, f"raised {type(error).__name__}: {error}")
            raise _Broken from error


@dataclass(frozen=True, slots=True)
class _Bench:
    """One task of a domain under one seed, and where its breaches go."""

    domain: Domain
    task: Task
    seed: int
    model: Model | None
    report: _Report

    async def open(self, trace: Trace | None = None) -> "_Inspected":
        trace, ledger = Trace() if trace is None else trace, Ledger()
        model = MeteredModel(self.model, ledger) if self.model else None
        with self.report.guard("open"):
            world = await self.domain.open(self.task, Context(self.seed, trace, ledger, model))
        return _Inspected(world, self.report)

    def declaration(self, mode: Mode, state: State) -> Declaration:
        with self.report.guard("shared_fields"):
            return forced(mode, self.domain.shared_fields(self.task, state))


def _check_itself(domain: Domain, report: _Report) -> Sequence[Task]:
    for text, form in (("name", r"[\w.-]+"), ("briefing", r"(?s).*\S.*")):
        with report.guard(text):
            value = getattr(domain, text)
            fine = isinstance(value, str) and re.fullmatch(form, value)
            report.need(bool(fine), text, f"must be a text of the form {form}, is {value!r}")
    with suppress(_Broken), report.guard("fields"):
        required = [name for name, info in domain.fields.model_fields.items() if info.is_required()]
        report.need(not required, "fields", f"must have defaults: {', '.join(required)}")
        taken = sorted(set(domain.fields.model_fields) & set(Policy.model_fields))
        report.need(not taken, "fields", f"names belong to every declaration: {', '.join(taken)}")
        report.need_json(domain.fields.model_json_schema(), "fields")
        if not required:
            domain.fields.model_validate(domain.fields().model_dump(warnings=False))
    with report.guard("tasks"):
        tasks = tuple(domain.tasks())
        report.need(bool(tasks), "tasks", "there must be at least one")
        for task in tasks:
            report.need_type(task, Task, "tasks")
            report.need_json(dict(task.factors), "tasks")
        ids = [task.id for task in tasks]
        twice = sorted({str(name) for name in ids if ids.count(name) > 1})
        report.need(not twice, "tasks", f"identities must be unique, occur twice: {', '.join(twice)}")
        report.need([task.id for task in domain.tasks()] == ids, "tasks", "must come in a fixed order")
    return tasks


async def _check_task(bench: _Bench) -> None:
    report = bench.report
    for check in (_check_opening, _check_rollouts):
        with suppress(_Broken):
            await check(bench)
    watched = {mode: await _walk(bench, mode, extra="state") for mode in MODES}
    plan_once = Mode.PREDEFINED
    plain = await _walk(bench, plan_once)
    others = [
        ("open", "equal task and seed must give equal episodes", await _walk(bench, plan_once)),
        ("state", "leaves a mark: with more calls of it an episode runs otherwise", watched[plan_once]),
    ]
    for extra in ("rollout", "outcome"):
        problem = "leaves a mark: with more calls of it (or of what comes with it) an episode runs otherwise"
        others.append((extra, problem, await _walk(bench, plan_once, extra=extra)))
    for mode in MODES[1:]:
        problem = f"the same plan must lead to the same whatever mode is declared: {mode} differs"
        others.append(("begin", problem, await _walk(bench, mode, executor=plan_once)))
    for primitive, problem, ending in others:
        report.need(plain is None or ending is None or ending == plain, primitive, problem)


async def _check_opening(bench: _Bench) -> None:
    """Two worlds of one task and seed look alike, and what happens in one does not reach the other."""
    report, domain, task = bench.report, bench.domain, bench.task
    with report.guard("facts"):
        report.need_json(dict(domain.facts(task)), "facts")
    one, other = await bench.open(), await bench.open()
    first = one.state()
    report.need(other.state() == first, "open", "equal task and seed must give equal states")
    with report.guard("shared_fields"):
        shared = domain.shared_fields(task, first)
        report.need_json(dict(shared), "shared_fields")
        unknown = sorted(set(shared) - set(domain.fields.model_fields))
        report.need(not unknown, "shared_fields", f"not among the domain's fields: {', '.join(unknown)}")
        domain.fields.model_validate(dict(shared))
    before = other.state()
    with suppress(_Broken):
        await _run(one, bench.declaration(Mode.PREDEFINED, first), Mode.PREDEFINED, Trace(), report)
        one.state()
    report.need(other.state() == before, "execute", "reaches another world that is open beside this one")
    for world in (one, other):
        await world.aclose()


async def _check_rollouts(bench: _Bench) -> None:
    """Rollouts do not reach one another: in the other order they come to the same."""
    world = await bench.open()
    state = world.state()
    world.begin(bench.declaration(Mode.SEARCH, state))
    if not world.done:
        candidates = await world.propose(state, DEFAULT_BRANCHING)
        forward = [await world.rollout(candidate) for candidate in candidates]
        backward = [await world.rollout(candidate) for candidate in reversed(candidates)]
        same = [(r.cost, r.evidence) for r in forward] == [(r.cost, r.evidence) for r in reversed(backward)]
        bench.report.need(same, "rollout", "depends on the rollouts before it")
    await world.aclose()


async def _run(world: "_Inspected", declaration: Declaration, executor: Mode, trace: Trace, report: _Report) -> None:
    world.begin(declaration)
    with report.guard(f"under {executor}"):
        await EXECUTORS[executor](world, declaration, trace)


async def _walk(
    bench: _Bench, mode: Mode, *, executor: Mode | None = None, extra: str = ""
) -> tuple[str, Outcome] | None:
    """Run one episode; return what happened in it and its outcome, ``None`` where it broke off."""
    report, trace = bench.report, Trace()
    with suppress(_Broken):
        world = await bench.open(trace)
        world.extra = extra
        try:
            await _run(world, bench.declaration(mode, world.state()), executor or mode, trace, report)
            outcome = world.outcome()
        finally:
            for _ in range(2):
                await world.aclose()
        with report.guard("trace"):
            text = trace.to_json()
            report.need(Trace.from_json(text).to_json() == text, "trace", "is not the same after writing and reading")
            kinds = (Acted, Directed, Responded, Settled)
            happened = [e for e in trace if isinstance(e, kinds) and getattr(e, "branch", None) is None]
            return Trace(happened).to_json(), outcome
    return None


class _Inspected:
    """A world that notes what the world behind it returns against the contract.

    ``extra`` names what is called once more before each unit: a ``state``, a ``rollout`` of every proposed candidate,
    or an ``outcome``.
    """

    def __init__(self, world: World, report: _Report) -> None:
        self.world = world
        self.report = report
        self.extra = ""
        self._calls = 0
        self._known: dict[str, PlanUnit] = {}
        self._executed: set[str] = set()

    async def _call(self, primitive: str, kind: Any, ask: Callable[[], Awaitable[R]]) -> R:
        self._calls += 1
        if self._calls > MOST_CALLS:
            self.report.note(primitive, f"the episode has no end: {MOST_CALLS} primitives were called")
            raise _Broken
        with self.report.guard(primitive):
            result = await ask()
        self.report.need_type(result, kind, primitive)
        return result

    @property
    def done(self) -> bool:
        with self.report.guard("done"):
            self.report.need_type(self.world.done, bool, "done")
            return self.world.done

    def state(self) -> State:
        with self.report.guard("state"):
            state = self.world.state()
            self.report.need_type(state, State, "state")
            self.report.need_json(dict(state.summary), "state")
            self.report.need(self.world.state() == state, "state", "two calls in a row give different states")
            for name, value in state.features.items():
                fine = _is_number(value) and 0.0 <= value <= 1.0
                self.report.need(fine, "state", f"feature {name} must be in [0, 1], is {value!r}")
        return state

    def begin(self, declaration: Declaration) -> None:
        with self.report.guard("begin"):
            self.world.begin(declaration)

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        return self._sound("plan", await self._call("plan", Plan, lambda: self.world.plan(state, subgoal)))

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        return self._sound("revise", await self._call("revise", Plan, lambda: self.world.revise(rest, observation)))

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        stages = await self._call("decompose", Sequence, lambda: self.world.decompose(state, depth))
        for stage in stages:
            self.report.need_type(stage, tuple, "decompose")
            self.report.need(bool(stage), "decompose", "a stage without a subgoal")
            for subgoal in stage:
                self.report.need_type(subgoal, Subgoal, "decompose")
        ids = [subgoal.id for stage in stages for subgoal in stage]
        self.report.need(len(set(ids)) == len(ids), "decompose", "two subgoals of one decomposition share an identity")
        return stages

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        return self._sound("collect", await self._call("collect", Plan, lambda: self.world.collect(parts)))

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        candidates = await self._call("propose", Sequence, lambda: self.world.propose(state, k))
        self.report.need(1 <= len(candidates) <= k, "propose", f"{len(candidates)} candidates where {k} were asked for")
        for candidate in candidates:
            self.report.need_type(candidate, Candidate, "propose")
            self.report.need_type(candidate.plan, Plan, "propose")
            self._sound("propose", candidate.plan)
        for one, other in combinations(candidates, 2):
            same = one.text == other.text and [u.text for u in one.plan.units] == [u.text for u in other.plan.units]
            self.report.need(one.id != other.id, "propose", f"two candidates share the identity {one.id!r}")
            self.report.need(not same, "propose", f"candidates {one.id!r} and {other.id!r} are the same")
        if not candidates:
            raise _Broken
        return candidates

    async def rollout(self, candidate: Candidate) -> Rollout:
        rollout = await self._call("rollout", Rollout, lambda: self.world.rollout(candidate))
        need = self.report.need
        need(rollout.candidate_id == candidate.id, "rollout", f"of {candidate.id!r} is about {rollout.candidate_id!r}")
        need(rollout.cost is not None or bool(rollout.evidence), "rollout", "has neither cost nor evidence")
        need(rollout.cost is None or _is_number(rollout.cost), "rollout", f"cost must be finite, is {rollout.cost!r}")
        return rollout

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        index = await self._call("choose", int, lambda: self.world.choose(rollouts))
        if not 0 <= index < len(rollouts):
            self.report.note("choose", f"must return an index below {len(rollouts)}, returned {index}")
            raise _Broken
        return index

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        return self._sound("adopt", await self._call("adopt", Plan, lambda: self.world.adopt(candidate, rollout)))

    async def execute(self, unit: PlanUnit) -> Observation:
        if self.extra == "state":
            self.state()
        elif self.extra == "rollout":
            candidates = await self.propose(self.state(), DEFAULT_BRANCHING)
            await self.choose([await self.rollout(candidate) for candidate in candidates])
        elif self.extra == "outcome":
            self.outcome()
        fresh = unit.id not in self._executed
        self.report.need(fresh, "execute", f"unit {unit.id!r} a second time: identities must be unique")
        self._executed.add(unit.id)
        observation = await self._call("execute", Observation, lambda: self.world.execute(unit))
        self.report.need(observation.unit == unit.id, "execute", f"of {unit.id!r} observed {observation.unit!r}")
        return observation

    def outcome(self) -> Outcome:
        with self.report.guard("outcome"):
            outcome, again = self.world.outcome(), self.world.outcome()
            self.report.need_type(outcome, Outcome, "outcome")
            self.report.need(outcome == again, "outcome", "two calls in a row differ")
            self.report.need(outcome.success in (None, True, False), "outcome", f"success is {outcome.success!r}")
            for name, value in outcome.metrics.items():
                fine = value is None or _is_number(value)
                self.report.need(fine, "outcome", f"metric {name} must be a finite number or None, is {value!r}")
        return outcome

    async def aclose(self) -> None:
        with self.report.guard("aclose"):
            await self.world.aclose()

    def _sound(self, primitive: str, plan: Plan) -> Plan:
        seen: set[str] = set()
        for unit in _all_units(plan.units):
            self.report.need_type(unit, PlanUnit, primitive)
            self.report.need(unit.id not in seen, primitive, f"two units of one plan share the identity {unit.id!r}")
            other = self._known.setdefault(unit.id, unit) != unit
            self.report.need(not other, primitive, f"unit identity {unit.id!r} stood for another unit before")
            seen.add(unit.id)
        return plan


def _all_units(units: Sequence[PlanUnit]) -> Iterator[PlanUnit]:
    for unit in units:
        yield unit
        yield from _all_units(getattr(unit, "children", ()))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
