"""The checker finds nothing in sound domains, and each breach in a domain that was broken on purpose."""

import asyncio
import itertools
import math
from dataclasses import replace
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from planroute.contract import Breach, assert_domain, check_domain
from planroute.domains.grid import GridDomain, make_scenario
from planroute.errors import DomainError
from planroute.plan import Plan, PlanUnit, Rollout
from planroute.protocols import Outcome
from planroute.trace import Acted
from tests.domains.tiny import Line, TinyDomain, TinyWorld


def breaches(domain, **options) -> list[Breach]:
    return asyncio.run(check_domain(domain, **options))


lines = st.builds(
    Line,
    places=st.lists(st.integers(-9, 9), max_size=6).map(tuple),
    slip=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    steps=st.integers(0, 60),
)


@given(lines, st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_the_tiny_domain_is_sound(line, seed):
    assert breaches(TinyDomain({"line": line}), seed=seed) == []


@pytest.mark.parametrize(
    "factors",
    [
        {},
        {"tool_failure": 0.5, "honesty": 0.5, "forecast_noise": 0.3},
        {"tool_failure": 1.0},
        {"stress": 0.3},
        {"stress": 3.0, "r_pu": 0.05},
    ],
    ids=["nominal", "adverse", "no forecast", "no campaign", "voltage collapse"],
)
def test_the_grid_is_sound(factors):
    assert breaches(GridDomain({"day": make_scenario(factors)}), seed=7) == []


# Worlds that are broken in one place each


class StateMarks(TinyWorld):
    def state(self):
        self.steps += 1
        return super().state()


class StateOutOfRange(TinyWorld):
    def state(self):
        return replace(super().state(), features={"stress": 1.5})


class StateNotFinite(TinyWorld):
    def state(self):
        return replace(super().state(), features={"stress": math.nan})


class StateNotSerialisable(TinyWorld):
    def state(self):
        return replace(super().state(), summary={"left": {1, 2}})


class StateOfAnotherType(TinyWorld):
    def state(self):
        return {"at": 0}


_opened = itertools.count()


class StateDiffersBetweenOpens(TinyWorld):
    def __init__(self, line, context):
        super().__init__(line, context)
        self.number = next(_opened)

    def state(self):
        return replace(super().state(), summary={"number": self.number})


class EpisodesDiffer(TinyWorld):
    async def execute(self, unit):
        self.steps += next(_opened)
        return await super().execute(unit)


class StateHangsOnOthers(TinyWorld):
    fetched_by_all: ClassVar[set[int]] = set()

    async def execute(self, unit):
        observation = await super().execute(unit)
        self.fetched_by_all.add(id(self) + unit.payload)
        return observation

    def state(self):
        return replace(super().state(), summary={"fetched": len(self.fetched_by_all)})


class RolloutMarks(TinyWorld):
    async def rollout(self, candidate):
        self.steps += 1
        return await super().rollout(candidate)


class RolloutActs(TinyWorld):
    async def rollout(self, candidate):
        self.context.trace.append(Acted("look ahead"))
        return await super().rollout(candidate)


class RolloutRecorded(TinyWorld):
    async def rollout(self, candidate):
        self.context.trace.append(Acted("look ahead", branch=candidate.id))
        return await super().rollout(candidate)


class RolloutHangsOnOthers(TinyWorld):
    seen = 0

    async def rollout(self, candidate):
        self.seen += 1
        return Rollout(candidate.id, float(self.seen))


class RolloutSaysNothing(TinyWorld):
    async def rollout(self, candidate):
        return Rollout(candidate.id)


class RolloutCostsInfinitely(TinyWorld):
    async def rollout(self, candidate):
        return Rollout(candidate.id, math.inf)


class RolloutOfAnother(TinyWorld):
    async def rollout(self, candidate):
        return Rollout("another", 1.0)


class ProposesNothing(TinyWorld):
    async def propose(self, state, k):
        return []


class ProposesTooMany(TinyWorld):
    async def propose(self, state, k):
        candidates = await super().propose(state, k)
        return [*candidates, *(replace(c, id=f"{c.id} again", text=f"{c.text}!") for c in candidates)]


class ProposesTheSame(TinyWorld):
    async def propose(self, state, k):
        first = (await super().propose(state, k))[0]
        return [first, replace(first, id="copy")]


class ProposesOneIdentity(TinyWorld):
    async def propose(self, state, k):
        return [replace(c, id="same") for c in await super().propose(state, k)]


class ChoosesOutOfRange(TinyWorld):
    async def choose(self, rollouts):
        return len(rollouts)


class ChoosesByName(TinyWorld):
    async def choose(self, rollouts):
        return rollouts[0].candidate_id


class SameIdentityInOnePlan(TinyWorld):
    def _as_plan(self, items):
        return Plan(tuple(replace(unit, id="u") for unit in super()._as_plan(items).units))


class SameIdentityInTwoPlans(TinyWorld):
    def _as_plan(self, items):
        return Plan(tuple(PlanUnit(f"u{i}", f"fetch item {item}", item) for i, item in enumerate(items)))


class HandsUnitsOutTwice(TinyWorld):
    async def execute(self, unit):
        self.fetched.discard(unit.payload)
        return await super().execute(unit)

    async def revise(self, rest, observation):
        return Plan((PlanUnit(observation.unit, f"fetch item {0}", 0), *rest.units))

    async def plan(self, state, subgoal=None):
        return self._as_plan([0, 1])


class PlansAList(TinyWorld):
    async def plan(self, state, subgoal=None):
        return list((await super().plan(state, subgoal)).units)


class RevisesForEver(TinyWorld):
    done = False

    async def execute(self, unit):
        self.fetched.clear()
        return await super().execute(unit)


class DecomposesToLists(TinyWorld):
    async def decompose(self, state, depth):
        return [list(stage) for stage in await super().decompose(state, depth)]


class DecomposesForEver(TinyWorld):
    async def collect(self, parts):
        return Plan(())


class CollectsNothing(TinyWorld):
    async def collect(self, parts):
        return None


class RevisionFails(TinyWorld):
    async def revise(self, rest, observation):
        raise KeyError("nowhere")


class ObservesAnotherUnit(TinyWorld):
    async def execute(self, unit):
        return replace(await super().execute(unit), unit="another")


class KnowsTheMode(TinyWorld):
    def begin(self, declaration):
        super().begin(declaration)
        self.steps = len(declaration.mode)


class OutcomeImpure(TinyWorld):
    asked = 0

    def outcome(self):
        self.asked += 1
        return Outcome(None, {"asked": self.asked})


class OutcomeMarks(TinyWorld):
    settled = False

    def outcome(self):
        self.settled = True
        return super().outcome()

    async def execute(self, unit):
        self.steps += 5 * self.settled
        return await super().execute(unit)


class OutcomeNotFinite(TinyWorld):
    def outcome(self):
        return Outcome(True, {"steps": math.inf})


class OutcomeOfWords(TinyWorld):
    def outcome(self):
        return Outcome("yes", {"steps": "many"})


class ClosesOnce(TinyWorld):
    async def aclose(self):
        await super().aclose()
        if self.closed > 1:
            raise RuntimeError("already closed")


class RecordsObjects(TinyWorld):
    def _act(self, action, unit):
        self.context.trace.append(Acted(object(), unit.id))


@pytest.mark.parametrize(
    ("world", "primitive", "problem"),
    [
        (StateMarks, "state", "two calls in a row"),
        (StateMarks, "state", "leaves a mark"),
        (StateOutOfRange, "state", "feature stress must be in [0, 1], is 1.5"),
        (StateNotFinite, "state", "feature stress must be in [0, 1], is nan"),
        (StateNotSerialisable, "state", "must be JSON values"),
        (StateOfAnotherType, "state", "must return State, returned dict"),
        (StateDiffersBetweenOpens, "open", "equal states"),
        (EpisodesDiffer, "open", "equal episodes"),
        (StateHangsOnOthers, "execute", "another world"),
        (RolloutMarks, "rollout", "leaves a mark"),
        (RolloutActs, "rollout", "leaves a mark"),
        (RolloutHangsOnOthers, "rollout", "depends on the rollouts before it"),
        (RolloutSaysNothing, "rollout", "neither cost nor evidence"),
        (RolloutCostsInfinitely, "rollout", "must be finite"),
        (RolloutOfAnother, "rollout", "is about 'another'"),
        (ProposesNothing, "propose", "0 candidates where 4"),
        (ProposesTooMany, "propose", "6 candidates where 4"),
        (ProposesTheSame, "propose", "are the same"),
        (ProposesOneIdentity, "propose", "share the identity 'same'"),
        (ChoosesOutOfRange, "choose", "an index below 3, returned 3"),
        (ChoosesByName, "choose", "must return int, returned str"),
        (SameIdentityInOnePlan, "plan", "two units of one plan share the identity 'u'"),
        (SameIdentityInTwoPlans, "revise", "stood for another unit"),
        (HandsUnitsOutTwice, "execute", "a second time"),
        (PlansAList, "plan", "must return Plan, returned list"),
        (RevisesForEver, "revise", "no end"),
        (DecomposesToLists, "decompose", "must return tuple, returned list"),
        (DecomposesForEver, "plan", "no end"),
        (CollectsNothing, "collect", "must return Plan, returned NoneType"),
        (RevisionFails, "revise", "raised KeyError: 'nowhere'"),
        (ObservesAnotherUnit, "execute", "observed 'another'"),
        (KnowsTheMode, "begin", "whatever mode is declared"),
        (OutcomeImpure, "outcome", "two calls in a row"),
        (OutcomeMarks, "outcome", "leaves a mark"),
        (OutcomeNotFinite, "outcome", "metric steps must be a finite number or None, is inf"),
        (OutcomeOfWords, "outcome", "success is 'yes'"),
        (ClosesOnce, "aclose", "raised RuntimeError: already closed"),
        (RecordsObjects, "trace", "raised"),
    ],
)
def test_a_broken_world_is_found(world, primitive, problem):
    found = breaches(TinyDomain(world=world))
    assert any(b.task == "line" and b.primitive == primitive and problem in b.problem for b in found), found


@pytest.mark.parametrize(
    ("world", "primitive"),
    [(RolloutActs, "rollout"), (RolloutHangsOnOthers, "rollout"), (OutcomeMarks, "outcome"), (KnowsTheMode, "begin")],
)
def test_a_breach_is_not_taken_for_another(world, primitive):
    assert {breach.primitive for breach in breaches(TinyDomain(world=world))} == {primitive}


# Domains that are broken outside their world


class Required(BaseModel):
    needed: int


class Clash(BaseModel):
    depth: int = 1


class InvalidDefault(BaseModel):
    many: int = "many"


class OneTaskTwice(TinyDomain):
    def tasks(self):
        return super().tasks() * 2


class NoTasks(TinyDomain):
    def tasks(self):
        return ()


class Shuffled(TinyDomain):
    def tasks(self):
        self.lines = dict(reversed(self.lines.items()))
        return super().tasks()


class FactsNotSerialisable(TinyDomain):
    def facts(self, task):
        return {"line": task.payload}


class SharesUnknown(TinyDomain):
    def shared_fields(self, task, state):
        return {"colour": "red"}


class SharesInvalid(TinyDomain):
    def shared_fields(self, task, state):
        return {"tries": 99}


class DoesNotOpen(TinyDomain):
    async def open(self, task, context):
        raise OSError("no such line")


TWO = {"a": Line(), "b": Line()}


@pytest.mark.parametrize(
    ("domain", "primitive", "problem"),
    [
        (TinyDomain(name="two words"), "name", "is 'two words'"),
        (TinyDomain(briefing=" "), "briefing", "is ' '"),
        (TinyDomain(fields=Required), "fields", "must have defaults: needed"),
        (TinyDomain(fields=Clash), "fields", "belong to every declaration: depth"),
        (TinyDomain(fields=InvalidDefault), "fields", "raised ValidationError"),
        (TinyDomain(fields=None), "fields", "raised AttributeError"),
        (OneTaskTwice(), "tasks", "occur twice: line"),
        (NoTasks(), "tasks", "at least one"),
        (Shuffled(TWO), "tasks", "fixed order"),
        (FactsNotSerialisable(), "facts", "must be JSON values"),
        (SharesUnknown(), "shared_fields", "not among the domain's fields: colour"),
        (SharesInvalid(), "shared_fields", "raised ValidationError"),
        (DoesNotOpen(), "open", "raised OSError: no such line"),
    ],
)
def test_a_broken_domain_is_found(domain, primitive, problem):
    found = breaches(domain)
    assert any(b.primitive == primitive and problem in b.problem for b in found), found


def test_every_breach_is_told_at_once_and_once():
    class Several(ChoosesOutOfRange, OutcomeNotFinite, StateOutOfRange):
        pass

    domain = TinyDomain({"a": Line(), "b": Line()}, Several)
    found = breaches(domain)
    assert len(set(found)) == len(found)
    with pytest.raises(DomainError) as error:
        assert_domain(domain)
    told = str(error.value).splitlines()
    assert told[0] == f"domain 'tiny': {len(found)} breaches of contract"
    assert [line.strip() for line in told[1:]] == [str(breach) for breach in found]
    assert {breach.primitive for breach in found if breach.task == "b"} >= {"choose", "outcome", "state"}


@pytest.mark.parametrize("world", [TinyWorld, RolloutRecorded])
def test_a_sound_domain_is_asserted_in_silence(world):
    assert_domain(TinyDomain(world=world))


def test_only_as_many_tasks_are_opened_as_asked_for():
    lines = {str(i): Line(places=(1,)) for i in range(5)}
    counts = {}
    for most in (1, 3, None):
        domain = TinyDomain(lines)
        assert breaches(domain, most_tasks=most) == []
        counts[most] = len(domain.opened)
    assert counts[3] == 3 * counts[1]
    assert counts[None] == 5 * counts[1]
    assert all(world.closed for world in domain.opened)
