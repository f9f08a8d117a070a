"""A text task as a world: the planning primitives are questions to a language model, execution is a bounded loop.

Source: Planning-as-Routing 3.1 and appendices B and D. One act-observe loop serves every primitive that acts.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration, read_fields
from planroute.domains.text.acting import Decider, Situation, in_words
from planroute.domains.text.attempts import Attempt, attempt_metrics
from planroute.domains.text.course import Course, Shown
from planroute.domains.text.environment import Environment, Matcher, Measured, Opener, Sighted, Slow, exact
from planroute.domains.text.fields import TextFields
from planroute.domains.text.prompts import prompt
from planroute.domains.text.replies import FINISHED, Steps, Subgoals
from planroute.errors import DomainError, ReplyError
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.protocols import Context, Judge, Observation, Outcome, State
from planroute.streams import stream
from planroute.trace import Failed


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of an episode, equal for all conditions.

    ``steps`` bounds the actions of one course (each rollout is a course of its own), ``steps_per_unit`` the actions on
    one unit, ``units`` a plan's length, ``rounds`` how often a task is cut into subgoals, and ``idle_units`` the units
    in a row without any action after which a plan is not made anew: whoever plans on without acting is stopped there.
    """

    steps: int = 50
    steps_per_unit: int = 20
    units: int = 12
    rounds: int = 4
    idle_units: int = 3


@dataclass(frozen=True, slots=True)
class TextTask:
    """What a text world is made of, the same for every course: name, goal, briefing, environments, matcher, judge.

    ``decide`` says how an action is asked for, ``shown`` what a prompt shows of the history.
    """

    domain: str
    goal: str
    briefing: str
    open: Opener
    judge: Judge
    matcher: Matcher = exact
    limits: Limits = Limits()
    sampling: Sampling = Sampling()
    decide: Decider = in_words
    shown: Shown = Shown()


class TextWorld:
    """One episode of a text task. See ``planroute.protocols.World`` for the contract."""

    def __init__(self, task: TextTask, context: Context) -> None:
        self.task = task
        self.context = context
        self.sampling = replace(task.sampling, seed=context.seed)
        self._declared = TextFields()
        self._environments: list[Environment] = []
        self._judged: list[Attempt] = []
        self._attempts: list[Attempt] = []
        self.course = self._start()
        self._plans = 0
        self._rounds = 0
        self._candidates = 0
        self._idle = 0
        self._decomposed_at = -1

    # -- state ---------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the environment ended the episode, or no step is left."""
        return self.course.done

    def state(self) -> State:
        """Goal, history and what may be done now."""
        steps = self.task.limits.steps
        used = len(self.course.turns)
        features = {
            "horizon": max(1.0 - used / steps, 0.0),
            "burden": min(len(self.course.environment.admissible) / 50, 1),
        }
        return State(used, self._seen(self.course), features)

    def begin(self, declaration: Declaration) -> None:
        """Take over the declared plan."""
        self._declared = read_fields(TextFields, declaration)

    # -- planning ------------------------------------------------------------------------------------------------

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        """Take the declared steps, or ask for steps: to the goal, or for one subgoal."""
        if subgoal is not None:
            steps = subgoal.payload or await self._steps("subgoal plan", "subgoal_plan", state, subgoal=subgoal.text)
            return self._as_plan(steps)
        declared = [step for section in self._take_declared() for step in section.steps]
        return self._as_plan(declared or await self._steps("plan", "plan", state))

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        """Ask for the steps that are still to do; there are none for one who only plans and does not act."""
        if self._idle >= self.task.limits.idle_units:
            return Plan(())
        left = json.dumps([unit.text for unit in rest.units])
        return self._as_plan(await self._steps("revision", "revise", self.state(), rest=left))

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        """Take the declared subgoals, or ask for subgoals: one stage each, worked on one after another.

        A declared subgoal without steps is planned by its worker. Cutting again without having acted brings nothing.
        """
        if self._rounds >= self.task.limits.rounds or self._decomposed_at == len(self.course.turns):
            return ()
        self._rounds += 1
        self._decomposed_at = len(self.course.turns)
        declared = [(" ".join(section.title.split()), _clean(section.steps)) for section in self._take_declared()]
        parts = [(title or steps[0], steps) for title, steps in declared if title or steps]
        if not parts:
            question = self._question("decompose", state.summary)
            parsed = await ask(
                self.context, "decomposition", self._system(), question, Subgoals, sampling=self.sampling
            )
            parts = [(text, []) for text in _clean(parsed.value.subgoals)]
        return tuple(
            (Subgoal(f"g{self._rounds}.{number}", title, payload=steps),)
            for number, (title, steps) in enumerate(parts[: self.task.limits.units], 1)
        )

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        """The workers' plans one after another."""
        return Plan(tuple(unit for part in parts for unit in part.units))

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        """Declared alternatives first, then asked-for ones, until ``k`` are distinct or ``2 k`` were asked for.

        What cannot be read is charged, recorded and passed over. Raises ``ReplyError`` where no answer holds a step.
        """
        plans = [steps for section in self._take_declared() if (steps := _clean(section.steps))]
        plans = _distinct(plans)[:k]
        for draw in range(2 * k):
            if len(plans) >= k:
                break
            try:
                steps = await self._steps("proposal", "propose", state, draw=draw, others=json.dumps(plans))
            except ReplyError as error:
                self.context.trace.append(Failed(type(error).__name__, error.message, f"proposal {draw + 1}"))
            else:
                plans = _distinct([*plans, steps])
        if not plans:
            raise ReplyError(f"none of {2 * k} proposals holds a step")
        candidates = []
        for steps in plans:
            self._candidates += 1
            name = f"c{self._candidates}"
            candidates.append(Candidate(name, "; ".join(steps), self._as_plan(steps)))
        return candidates

    async def rollout(self, candidate: Candidate) -> Rollout:
        """Carry out the candidate in an environment of its own."""
        course = self._start(candidate.id)
        for unit in candidate.plan.units:
            if course.done:
                break
            await self._work(course, unit)
        course.environment.close()
        return Rollout(candidate.id, evidence=_transcript(course), payload=course)

    async def attempt(self, name: str) -> Rollout:
        """Act without a plan in an environment of its own, with draws of its own."""
        course = self._start(name)
        seed = int(stream(self.context.seed, "attempt", name).integers(2**31))
        while not course.done:
            await self._turn(course, sampling=replace(self.sampling, seed=seed))
        course.environment.close()
        return Rollout(name, evidence=_transcript(course), payload=course)

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        """The highest score of the rubric judge, who sees goal and transcript; the first of equals."""
        scores: list[int] = []
        for rollout in rollouts:
            try:
                evidence = {"domain": self.task.domain, "trajectory": rollout.evidence}
                judged = await self.task.judge.judge(self.task.goal, evidence, self.context)
                scores.append(judged.score)
            except ReplyError as error:
                self.context.trace.append(
                    Failed(type(error).__name__, error.message, f"judge of {rollout.candidate_id}")
                )
                scores.append(-1)
        self._judged = [Attempt(rollout.payload, score) for rollout, score in zip(rollouts, scores, strict=True)]
        return scores.index(max(scores))

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        """Make the chosen rollout the episode; nothing is left to execute."""
        self.course, self._attempts = rollout.payload, self._judged
        return Plan(())

    # -- execution -----------------------------------------------------------------------------------------------

    async def execute(self, unit: PlanUnit) -> Observation:
        """Work on one unit until the model calls it finished or its steps are used up."""
        before = len(self.course.turns)
        completed = await self._work(self.course, unit)
        self._idle = 0 if len(self.course.turns) > before else self._idle + 1
        return Observation(unit.id, completed, self.course.observation)

    async def act(self, plan: Plan | None) -> Observation:
        """Take one action towards the goal, with ``plan`` in sight or without one."""
        await self._turn(self.course, plan=plan)
        return Observation("", True, self.course.observation)

    async def settle(self) -> None:
        """Have the referee find out, beside other work, where it takes its time."""
        if isinstance(self.course.environment, Slow):
            for course in (self.course, *(attempt.course for attempt in self._attempts)):
                await asyncio.to_thread(course.settled)

    def outcome(self) -> Outcome:
        """Success by the environment's own word, the length of the course, and what else the referee measures."""
        success: bool | None = None
        with suppress(DomainError):  # told by settle; an outcome that nobody could find out is unknown
            success = self.course.settled()
        metrics: dict[str, float | None] = {"steps": float(len(self.course.turns)), "success": None}
        if success is not None:
            metrics["success"] = float(success)
            with suppress(DomainError):
                metrics |= attempt_metrics(self._attempts)
        if isinstance(self.course.environment, Measured):
            metrics |= self.course.environment.measures()
        return Outcome(success, metrics)

    async def aclose(self) -> None:
        """Close every environment that the episode opened, also where closing one fails."""
        with ExitStack() as closing:
            for environment in self._environments:
                closing.callback(environment.close)

    @classmethod
    async def opened(cls, task: TextTask, context: Context) -> "TextWorld":
        """Make one in a thread, where that takes its time; one that nobody waits for any longer is closed."""
        making = asyncio.ensure_future(asyncio.to_thread(cls, task, context))
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            with suppress(DomainError):
                await (await making).aclose()
            raise

    # -- helpers -------------------------------------------------------------------------------------------------

    def _start(self, branch: str | None = None) -> Course:
        environment = self.task.open()
        self._environments.append(environment)
        try:
            return Course.start(environment, self.task.limits.steps, branch, self.task.shown)
        except Exception:
            environment.close()
            raise

    async def _work(self, course: Course, unit: PlanUnit) -> bool:
        for _ in range(self.task.limits.steps_per_unit):
            if course.done:
                break
            if await self._turn(course, unit):
                course.steps.append({"step": unit.text, "ended": FINISHED})
                return True
        course.steps.append({"step": unit.text, "ended": "out of actions"})
        return course.success

    async def _turn(
        self, course: Course, unit: PlanUnit | None = None, plan: Plan | None = None, sampling: Sampling | None = None
    ) -> bool:
        """One decision and one action. Returns whether the unit was called finished."""
        trace, ledger, name = self.context.trace, self.context.ledger, unit.id if unit is not None else None
        situation = Situation(
            self.context,
            course.environment,
            self._seen(course, unit.text if unit is not None else None),
            self._system(),
            sampling or self.sampling,
            self.task.matcher,
            unit.text if unit is not None else None,
            tuple(step.text for step in plan.units) if plan is not None else None,
        )
        decision = await self.task.decide(situation)
        if decision.finished:
            return True
        if decision.action is None:
            course.wasted(decision.words, name, decision.reason, trace, ledger)
        else:
            await course.step(decision.action, name, trace, ledger)
        return False

    async def _steps(self, purpose: str, name: str, state: State, *, draw: int = 0, **values: str) -> list[str]:
        question = self._question(name, state.summary, **values)
        parsed = await ask(self.context, purpose, self._system(), question, Steps, sampling=self.sampling, draw=draw)
        return _clean(parsed.value.steps)[: self.task.limits.units]

    def _seen(self, course: Course, unit: str | None = None) -> dict[str, Any]:
        seen: dict[str, Any] = {"domain": self.task.domain, "goal": self.task.goal}
        if unit is not None:
            seen["step"] = unit
        seen["start"] = course.first
        seen["history"] = course.history()
        if course.steps:
            seen["steps_worked_on"] = course.steps[-self.task.limits.units :]
        seen["admissible"] = list(course.environment.admissible)
        if isinstance(course.environment, Sighted):
            seen |= course.environment.sight()
        return seen

    def _question(self, name: str, summary: Any, **values: str) -> str:
        return prompt(name, state=json.dumps(summary, ensure_ascii=False), **values)

    def _system(self) -> str:
        return prompt("system", briefing=self.task.briefing)

    def _take_declared(self) -> list[Any]:
        """The declared sections, once: a later plan is made from what has happened since."""
        declared, self._declared = list(self._declared.plan), TextFields()
        return declared

    def _as_plan(self, steps: Sequence[str]) -> Plan:
        self._plans += 1
        cleaned = _clean(steps)[: self.task.limits.units]
        return Plan(tuple(PlanUnit(f"p{self._plans}.{n}", text) for n, text in enumerate(cleaned, 1)))


def _clean(steps: Sequence[str]) -> list[str]:
    return [text for step in steps if (text := " ".join(step.split()))]


def _distinct(plans: Sequence[list[str]]) -> list[list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for steps in plans:
        if steps:
            found.setdefault(tuple(step.lower() for step in steps), steps)
    return list(found.values())


def _transcript(course: Course) -> str:
    lines = [course.first]
    for action, seen in course.turns:
        lines += [f"> {action}", seen]
    return "\n".join(lines)
