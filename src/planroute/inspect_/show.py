"""An episode as it happens, in Inspect's log: spans for what executors arrange, events for what the trace records.

The episode runs as everywhere else. Its domain, world, declarer and models are wrapped, each in something that only
tells; steps of physics are left out, since logs of events are not made for them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage
from inspect_ai.util import LimitExceededError, span
from pydantic import BaseModel, TypeAdapter

from planroute.calls import ModelReply, ModelRequest
from planroute.declaration import Declaration
from planroute.errors import BudgetExceeded
from planroute.inspect_.conversation import Conversation
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.protocols import (
    Actor,
    Context,
    Declarer,
    Domain,
    Model,
    Observation,
    Outcome,
    Settling,
    State,
    Task,
    World,
)
from planroute.trace import Declared, Dispatched, Event, Gated, Trace

SPANS: Final = {Gated: "gate", Dispatched: "dispatch"}
"""Events of the flow that are spans of their own; what takes time is a span where it happens."""
UNTOLD: Final = frozenset({"declared", "unit_started", "model_called", "directed", "responded", "settled", "noted"})
"""Kinds of events that the log has already, told inside their span or as calls, or that belong into tables."""
_EVENT: TypeAdapter[Any] = TypeAdapter(Event)


class Show:
    """What one sample's log is told. ``limit`` is the limit of Inspect that ended the episode, if one did."""

    def __init__(self, messages: list[ChatMessage]) -> None:
        self.trace = Trace()
        self.outcome: Outcome | None = None
        self.limit: LimitExceededError | None = None
        self.fault: Exception | None = None
        self._conversation = Conversation(messages)
        self._told = 0

    async def catch_up(self) -> None:
        """Tell what the trace has recorded since."""
        events = list(self.trace)[self._told :]
        self._told += len(events)
        for event in events:
            if self.limit is None:
                try:
                    self._conversation.take(event)
                except LimitExceededError as limit:
                    self.limit = limit
            if event.kind in UNTOLD:
                continue
            name = SPANS.get(type(event))
            if name is None:
                tell(event)
            else:
                async with span(name, type=name):
                    tell(event)

    def check(self) -> None:
        """Raise ``BudgetExceeded`` where a limit of Inspect is reached: the episode ends as with any spent budget."""
        if self.limit is not None:
            raise BudgetExceeded(f"{self.limit.type} (limit of Inspect)", self.limit.limit) from self.limit

    async def told(self, name: str, kind: str, work: Any) -> Any:
        """Await ``work`` in a span, with what it recorded."""
        await self.catch_up()
        async with span(name.replace("/", "\u2215"), type=kind):  # the viewer shows only what follows a slash
            try:
                return await work
            finally:
                await self.catch_up()


def tell(event: Any) -> None:
    """Add ``event`` to the log, without what has its default; a gate's record without the declaration told before."""
    data = _EVENT.dump_python(event, mode="json", exclude_defaults=True)
    if isinstance(event, Gated):
        data["record"].pop("declared")
    info(event.kind, data)


def info(kind: str, data: Mapping[str, Any]) -> None:
    """Add an event of planroute to the log."""
    transcript().info({"event": kind, **data}, source=f"planroute {kind}")


class ShownModel:
    """``model``, and before each call what has happened since; a limit of Inspect becomes a spent budget."""

    def __init__(self, model: Model, show: Show) -> None:
        self.model, self.show = model, show

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` unless a limit is reached."""
        await self.show.catch_up()
        self.show.check()
        try:
            return await self.model.complete(request)
        except LimitExceededError as limit:
            self.show.limit = limit
            self.show.check()
            raise
        except Exception as fault:
            self.show.fault = fault
            raise

    async def aclose(self) -> None:
        """Nothing is held: Inspect closes its models."""


class ShownDeclarer:
    """``declarer`` in a span."""

    def __init__(self, declarer: Declarer, show: Show) -> None:
        self.declarer, self.show = declarer, show

    @property
    def name(self) -> str:
        """The declarer's own."""
        return self.declarer.name

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Declare, in a span."""

        async def work() -> Declaration:
            declared = await self.declarer.declare(domain, task, state, context)
            await self.show.catch_up()
            tell(Declared(self.name, declared))
            return declared

        declared: Declaration = await self.show.told("declaration", "declaration", work())
        return declared


class ShownDomain:
    """``domain``, whose worlds tell what is done with them."""

    def __init__(self, domain: Domain, show: Show) -> None:
        self.domain, self.show = domain, show

    @property
    def name(self) -> str:
        """The domain's own."""
        return self.domain.name

    @property
    def fields(self) -> type[BaseModel]:
        """The domain's own."""
        return self.domain.fields

    @property
    def briefing(self) -> str:
        """The domain's own."""
        return self.domain.briefing

    @property
    def lexicon(self) -> str | None:
        """The domain's own."""
        return self.domain.lexicon

    def tasks(self) -> Sequence[Task]:
        """The domain's own."""
        return self.domain.tasks()

    async def open(self, task: Task, context: Context) -> World:
        """Open the world of ``task`` and follow its trace."""
        self.show.trace = context.trace
        world = await self.domain.open(task, context)
        return ShownActor(world, self.show) if isinstance(world, Actor) else ShownWorld(world, self.show)

    def facts(self, task: Task) -> Mapping[str, Any]:
        """The domain's own."""
        return self.domain.facts(task)

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        """The domain's own."""
        return self.domain.shared_fields(task, state)


class ShownWorld:
    """``world``, each of whose primitives is a span."""

    def __init__(self, world: World, show: Show) -> None:
        self.world, self.show = world, show

    @property
    def done(self) -> bool:
        """The world's own."""
        return self.world.done

    def state(self) -> State:
        """The world's own."""
        return self.world.state()

    def begin(self, declaration: Declaration) -> None:
        """The world's own."""
        self.world.begin(declaration)

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        """In a span ``plan``."""
        name = "plan" if subgoal is None else f"plan {subgoal.id}: {subgoal.text}"
        plan: Plan = await self.show.told(name, "plan", self.world.plan(state, subgoal))
        return plan

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        """In a span ``revise``."""
        plan: Plan = await self.show.told("revise", "revise", self.world.revise(rest, observation))
        return plan

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        """In a span ``decompose``."""
        stages: Sequence[Stage] = await self.show.told("decompose", "decompose", self.world.decompose(state, depth))
        return stages

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        """In a span ``collect``."""
        plan: Plan = await self.show.told("collect", "collect", self.world.collect(parts))
        return plan

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        """In a span ``propose``."""
        candidates: Sequence[Candidate] = await self.show.told("propose", "propose", self.world.propose(state, k))
        return candidates

    async def rollout(self, candidate: Candidate) -> Rollout:
        """In a span ``rollout``."""
        work = self.world.rollout(candidate)
        rollout: Rollout = await self.show.told(f"rollout {candidate.id}", "rollout", work)
        return rollout

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        """In a span ``judge``."""
        best: int = await self.show.told("judge", "judge", self.world.choose(rollouts))
        return best

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        """In a span ``adopt``."""
        plan: Plan = await self.show.told(f"adopt {candidate.id}", "adopt", self.world.adopt(candidate, rollout))
        return plan

    async def execute(self, unit: PlanUnit) -> Observation:
        """In a span ``unit``."""
        work = self.world.execute(unit)
        observation: Observation = await self.show.told(f"unit {unit.id}: {unit.text}", "unit", work)
        return observation

    async def settle(self) -> None:
        """The world's own, where it has one."""
        if isinstance(self.world, Settling):
            await self.world.settle()

    def outcome(self) -> Outcome:
        """The world's own; kept for an episode that is broken off."""
        self.show.outcome = self.world.outcome()
        return self.show.outcome

    async def aclose(self) -> None:
        """The world's own."""
        await self.world.aclose()


class ShownActor(ShownWorld):
    """A world that can be acted in without a plan."""

    world: Actor

    async def act(self, plan: Plan | None) -> Observation:
        """The world's own; single actions are events and no spans."""
        return await self.world.act(plan)
