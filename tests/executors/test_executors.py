"""The four executors on two domains; what each did is read off the written trace alone."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain, make_scenario
from planroute.episode import Conditions, run_episode
from planroute.modes import MODES, Mode
from planroute.trace import (
    Acted,
    Chosen,
    Collected,
    Decomposed,
    Directed,
    Dispatched,
    Finished,
    Noted,
    Planned,
    Proposed,
    Responded,
    Revised,
    RolledOut,
    Settled,
    Stop,
    Trace,
    UnitFinished,
    UnitStarted,
)
from tests.domains.tiny import Line, TinyDomain, TinyWorld

ENVIRONMENT = (Acted, Directed, Responded, Settled, Noted, UnitStarted, UnitFinished)
GRID = GridDomain({"nominal": make_scenario(), "noisy": make_scenario({"forecast_noise": 0.3, "honesty": 0.5})})

lines = st.builds(
    Line,
    places=st.lists(st.integers(-9, 9), min_size=1, max_size=7).map(tuple),
    slip=st.sampled_from([0.0, 0.3, 0.9]),
    steps=st.integers(1, 80),
)


def run(domain, mode, seed, task=0) -> Trace:
    task = domain.tasks()[task]
    episode = asyncio.run(run_episode(domain, task, seed, Conditions(Fixed(mode))))
    assert episode.row.executed == mode
    assert episode.row.status == "finished"
    return Trace.from_json(episode.trace.to_json())


def started(trace):
    return [event.unit for event in trace.of(UnitStarted)]


def ids(plan):
    return [unit.id for unit in plan.units]


def only(trace, *kinds):
    return [event for event in trace if isinstance(event, kinds)]


def check_common(trace):
    """Units are executed one at a time, none twice, between dispatch and end."""
    units = only(trace, UnitStarted, UnitFinished)
    assert [event.unit for event in units[::2]] == [event.unit for event in units[1::2]]
    assert all(isinstance(event, UnitStarted) for event in units[::2])
    assert len(set(started(trace))) == len(started(trace))
    assert len(trace.of(Dispatched)) == 1
    assert isinstance(list(trace)[-1], Finished)


def check_predefined(trace):
    """One plan; what is executed is its beginning, in its order, and all of it unless the world is done before."""
    assert not only(trace, Revised, Decomposed, Collected, Proposed, RolledOut, Chosen)
    (planned,) = trace.of(Planned)
    done = started(trace)
    assert ids(planned.plan)[: len(done)] == done
    if trace.of(Finished)[0].stop is Stop.PLAN_EXHAUSTED:
        assert done == ids(planned.plan)


def check_sequential(trace):
    """One plan, revised after each unit but the last; what is executed is the first unit of the newest plan."""
    assert not only(trace, Decomposed, Collected, Proposed, RolledOut, Chosen)
    events = only(trace, Planned, Revised, UnitStarted)
    assert [type(event) for event in events] == [
        Planned if i == 0 else Revised if i % 2 == 0 else UnitStarted for i in range(len(events))
    ]
    assert len(trace.of(Revised)) == max(len(started(trace)) - 1, 0)
    for plan, unit in zip(events[::2], events[1::2], strict=True):
        assert ids(plan.plan)[0] == unit.unit


def check_hierarchical(trace):
    """Every unit comes from the newest collected plan, and that from subgoals of the newest decomposition."""
    assert not only(trace, Revised, Proposed, RolledOut, Chosen)
    goals, stage, parts, collected = {}, [], [], []
    for event in only(trace, Decomposed, Planned, Collected, UnitStarted):
        match event:
            case Decomposed():
                goals = {goal.id: i for i, goals in enumerate(event.stages) for goal in goals}
                assert collected == []
            case Planned():
                assert event.subgoal in goals
                stage.append(event.subgoal)
                parts += ids(event.plan)
            case Collected():
                assert list(event.subgoals) == stage
                assert len({goals[goal] for goal in stage}) == 1
                collected, stage, parts = ids(event.plan), [], []
            case UnitStarted():
                assert event.unit == collected.pop(0)
    assert len(trace.of(Decomposed)) >= bool(started(trace))


def check_search(trace):
    """The chosen is among the proposed; each is rolled out once before, and nothing happens to the world meanwhile."""
    assert not only(trace, Revised, Decomposed, Collected)
    (proposed,), (chosen,), (planned,) = trace.of(Proposed), trace.of(Chosen), trace.of(Planned)
    plans = {name: plan for name, _, plan in proposed.candidates}
    assert [event.candidate for event in trace.of(RolledOut)] == list(plans)
    assert chosen.candidate in plans
    assert chosen.among == len(plans)
    order = [type(e) for e in only(trace, Proposed, RolledOut, Chosen, Planned, *ENVIRONMENT)]
    assert order[: 3 + len(plans)] == [Proposed, *[RolledOut] * len(plans), Chosen, Planned]
    costs = {event.candidate: event.cost for event in trace.of(RolledOut)}
    assert costs[chosen.candidate] == min(costs.values())
    assert ids(planned.plan) == ids(plans[chosen.candidate])
    assert ids(planned.plan)[: len(started(trace))] == started(trace)


CHECKS = {
    Mode.PREDEFINED: check_predefined,
    Mode.SEQUENTIAL: check_sequential,
    Mode.HIERARCHICAL: check_hierarchical,
    Mode.SEARCH: check_search,
}


@pytest.mark.parametrize("mode", MODES)
@given(lines, st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_structure_on_the_line(mode, line, seed):
    trace = run(TinyDomain({"line": line}), mode, seed)
    check_common(trace)
    CHECKS[mode](trace)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [7, 13])
@pytest.mark.parametrize("task", [0, 1])
def test_structure_on_the_grid(mode, seed, task):
    trace = run(GRID, mode, seed, task)
    check_common(trace)
    CHECKS[mode](trace)
    assert len(started(trace)) == len(trace.of(Directed))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("executed", MODES)
def test_the_checks_tell_the_modes_apart(mode, executed):
    """No check passes on the trace of another mode: they can fail."""
    trace = run(TinyDomain(), executed, 1)
    if mode is executed:
        CHECKS[mode](trace)
    else:
        with pytest.raises((AssertionError, ValueError)):
            CHECKS[mode](trace)


@given(lines, st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_draws_are_shared_by_all_modes(line, seed):
    """Whether the grip slips at an item's first try does not depend on who fetches it when."""

    def first_tries(mode):
        found = {}
        for event in run(TinyDomain({"line": line}), mode, seed).of(Acted):
            verb, *_, item = event.action.split()
            if verb != "go":
                found.setdefault(int(item), verb)
        return found

    tries = [first_tries(mode) for mode in MODES]
    for item in range(len(line.places)):
        assert len({found[item] for found in tries if item in found}) <= 1


def test_only_a_revised_plan_comes_back_to_what_slipped():
    """All slip at first: who plans once leaves items behind, who replans does not."""
    domain = TinyDomain({"line": Line(places=(1, 2, 3, 4, 5), slip=1.0 - 1e-9, steps=400)})
    domain.shared_fields = lambda task, state: {"grip": "FIRM", "tries": 1}
    task = domain.tasks()[0]
    rows = {mode: asyncio.run(run_episode(domain, task, 3, Conditions(Fixed(mode)))).row for mode in MODES}
    assert rows[Mode.PREDEFINED].success is False
    assert rows[Mode.PREDEFINED].stop == Stop.PLAN_EXHAUSTED
    assert rows[Mode.SEARCH].stop == Stop.PLAN_EXHAUSTED
    assert rows[Mode.SEQUENTIAL].success is True
    assert rows[Mode.HIERARCHICAL].success is True


def test_workers_of_one_stage_plan_from_one_state():
    class Watched(TinyWorld):
        def __init__(self, line, context):
            super().__init__(line, context)
            self.stages = []

        async def decompose(self, state, depth):
            stages = await super().decompose(state, depth)
            self.stages += stages
            return stages

        async def plan(self, state, subgoal=None):
            self.stages[[subgoal in stage for stage in self.stages].index(True)] += (state,)
            return await super().plan(state, subgoal)

    domain = TinyDomain({"line": Line(places=tuple(range(1, 9)), slip=0.0)}, Watched)
    asyncio.run(run_episode(domain, domain.tasks()[0], 0, Conditions(Fixed(Mode.HIERARCHICAL))))
    (world,) = domain.opened
    states = [[part for part in stage if hasattr(part, "summary")] for stage in world.stages]
    assert [len(stage) for stage in states] == [2, 2]
    assert all(one == other for one, other in states)
    assert states[0][0] != states[1][0]


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_executed_once_the_world_is_done(mode):
    trace = run(TinyDomain({"line": Line(places=(1, 2, 3, 4), slip=0.0, steps=5)}), mode, 0)
    assert len(started(trace)) == 2
    assert trace.of(Finished)[0].stop is Stop.DONE


def test_search_without_a_candidate_is_the_domains_failure():
    class ProposesNothing(TinyWorld):
        async def propose(self, state, k):
            return []

    domain = TinyDomain(world=ProposesNothing)
    row = asyncio.run(run_episode(domain, domain.tasks()[0], 0, Conditions(Fixed(Mode.SEARCH)))).row
    assert (row.status, row.stop) == ("infrastructure", Stop.INFRASTRUCTURE)
    assert "no candidate" in row.error
