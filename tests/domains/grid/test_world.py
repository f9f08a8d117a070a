"""The grid's primitives: what each returns, and what dispatching an hour does."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.declaration import forced
from planroute.declarers import Fixed
from planroute.domains.grid import DEFAULT, GridDomain, TargetRule, Theme, make_scenario
from planroute.domains.grid.feeder import straight_laterals
from planroute.episode import Conditions, run_episode
from planroute.errors import DomainError
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.plan import Plan
from planroute.protocols import Context
from planroute.trace import Directed, Noted, Responded, RolledOut, Settled, Trace

KW = 1000


def open_world(seed=7, fields=None, scenario=None, **factors):
    domain = GridDomain({"day": scenario or make_scenario(factors)})
    task = domain.tasks()[0]
    world = asyncio.run(domain.open(task, Context(seed, Trace(), Ledger())))
    world.begin(forced(Mode.SEQUENTIAL, {**domain.shared_fields(task, world.state()), **(fields or {})}))
    return world


def call(awaitable):
    return asyncio.run(awaitable)


def requests_of(plan):
    return np.array([unit.payload.requests for unit in plan.units])


def execute(world, units):
    return [call(world.execute(unit)) for unit in units]


# State


def test_the_first_state_describes_the_first_hour_of_the_campaign():
    world = open_world()
    state = world.state()
    hour = world.day.forecast.campaign[0]
    assert state.step == state.summary["hour"] == hour
    assert state.summary["remaining_hours"] == len(world.day.forecast.campaign)
    assert state.summary["import_cap_mw"] == 1.1
    assert state.summary["previous_min_voltage_pu"] is state.summary["recent_compliance"] is None
    assert set(state.features) == {"stress", "burden", "horizon", "volatility", "spread", "compliance"}


def test_the_state_follows_what_is_seen():
    world = open_world()
    plan = call(world.plan(world.state()))
    execute(world, plan.units[:3])
    state = world.state()
    answered = world.context.trace.of(Responded)
    asked = sum(len(event.columns["node"]) for event in answered)
    agreed = sum(sum(event.columns["complied"]) for event in answered)
    assert state.summary["hour"] == world.day.forecast.campaign[3]
    assert state.summary["recent_compliance"] == round(agreed / asked, 3)
    lowest = min(world.context.trace.of(Settled)[-1].columns["voltage_pu"])
    assert state.summary["previous_min_voltage_pu"] == round(lowest, 4)


@given(
    st.integers(0, 50),
    st.sampled_from([0.0, 0.6, 1.0, 1.6, 3.0]),
    st.sampled_from([0.5, 1.1, 1.5]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=25, deadline=None)
def test_features_keep_their_range_on_any_day(seed, stress, cap, noise):
    world = open_world(seed, stress=stress, import_cap_mw=cap, forecast_noise=noise)
    for unit in [*call(world.plan(world.state())).units, None]:
        assert all(0 <= value <= 1 for value in world.state().features.values())
        if unit is not None:
            execute(world, [unit])
    assert world.done


# Planning


def test_a_plan_holds_each_hour_left_once_in_order():
    world = open_world()
    hours = world.day.forecast.campaign
    plan = call(world.plan(world.state()))
    assert tuple(unit.payload.hour for unit in plan.units) == hours
    execute(world, plan.units[:2])
    assert tuple(unit.payload.hour for unit in call(world.plan(world.state())).units) == hours[2:]


def test_fields_of_the_declaration_shape_the_plan():
    plans = {
        name: requests_of(call(open_world(fields=fields).plan(None)))
        for name, fields in {
            "load": {"target": TargetRule.HIGH_LOAD},
            "leverage": {"target": TargetRule.LEVERAGE},
            "uniform": {"target": TargetRule.UNIFORM},
            "gentle": {"intensity": 0.3},
            "theme": {"theme": Theme.CLIMATE},
        }.items()
    }
    assert np.array_equal(plans["theme"], plans["load"])
    assert not np.array_equal(plans["leverage"] > 0, plans["load"] > 0)
    assert (plans["uniform"] > 0).sum() > (plans["load"] > 0).sum()
    assert plans["gentle"].max() < plans["load"].max()


def test_a_revision_follows_the_realised_share():
    """Who got less than the target asks for more, per node, and the other way round."""
    world = open_world()
    plan = call(world.plan(world.state()))
    (observation,) = execute(world, plan.units[:1])
    target = world.day.scenario.coefficients.planning.realisation_target
    highest = {}
    for share in (0.2, target, 0.9):
        world._realised_share = share
        revised = call(world.revise(plan.rest(), observation))
        assert [u.payload.hour for u in revised.units] == [u.payload.hour for u in plan.units[1:]]
        highest[share] = requests_of(revised).max()
    assert highest[0.2] > highest[target] > highest[0.9]


def test_a_revision_asks_those_for_more_who_complied():
    gain = replace(DEFAULT.planning, realisation_gain=0.0)
    world = open_world(scenario=make_scenario(coefficients=replace(DEFAULT, planning=gain)))
    plan = call(world.plan(world.state()))
    (observation,) = execute(world, plan.units[:1])
    (answered,) = world.context.trace.of(Responded)
    before = requests_of(plan)[1]
    after = requests_of(call(world.revise(plan.rest(), observation)))[0]
    both = (before > 0) & (after > 0)
    ratio = np.divide(after, before, out=np.ones_like(after), where=both)
    said = dict(zip(answered.columns["node"], answered.columns["complied"], strict=True))
    yes, no = (
        np.mean([ratio[n] for n, complied in said.items() if complied is wanted and both[n]])
        for wanted in (True, False)
    )
    assert yes > no


def test_a_revision_notes_how_much_it_changed():
    world = open_world()
    plan = call(world.plan(world.state()))
    (observation,) = execute(world, plan.units[:1])
    revised = call(world.revise(plan.rest(), observation))
    before, after = requests_of(plan.rest()), requests_of(revised)
    churn = np.abs(after - before).sum() / (after + before).sum()
    assert world.context.trace.of(Noted)[-1].values == {"revision_churn": pytest.approx(churn)}
    assert 0 < churn < 1


def test_nothing_left_is_revised_to_nothing():
    world = open_world()
    observation = execute(world, call(world.plan(world.state())).units[:1])[0]
    assert call(world.revise(Plan(()), observation)) == Plan(())
    assert world.context.trace.of(Noted)[-1].values == {"revision_churn": 0.0}


@pytest.mark.parametrize(("depth", "workers"), [(2, 4), (3, 8)])
def test_a_decomposition_is_one_stage_of_workers_for_the_next_hour(depth, workers):
    world = open_world()
    (stage,) = call(world.decompose(world.state(), depth))
    assert len(stage) == workers
    assert all((goal.parent is None) is (depth == 2) for goal in stage)
    parts = [call(world.plan(world.state(), goal)) for goal in stage]
    collected = call(world.collect(parts))
    (unit,) = collected.units
    assert unit.payload.hour == world.day.forecast.campaign[0]
    assert unit.payload.requests == pytest.approx(sum(requests_of(part)[0] for part in parts))
    asked = np.array([requests_of(part)[0] > 0 for part in parts])
    assert (asked.sum(axis=0) <= 1).all()
    assert call(world.collect([])) == Plan(())


def test_nothing_is_left_to_decompose_on_a_calm_day():
    world = open_world(stress=0.3)
    assert world.done
    assert call(world.decompose(world.state(), 3)) == ()
    assert call(world.plan(world.state())) == Plan(())


# Alternatives


def test_the_declared_schedule_is_among_the_proposed():
    world = open_world()
    candidates = call(world.propose(world.state(), 4))
    assert len(candidates) == 4
    declared = requests_of(call(world.plan(world.state())))
    assert np.array_equal(requests_of(candidates[0].plan), declared)
    assert len({requests_of(candidate.plan).tobytes() for candidate in candidates}) == 4
    assert len(call(world.propose(world.state(), 2))) == 2
    for candidate in candidates:
        assert np.array_equal(candidate.payload.requests, requests_of(candidate.plan))


def test_a_prediction_is_what_happens_when_people_do_as_expected():
    """On a day without noise on which everyone gives exactly the expected part, predicted and settled J agree."""
    world = open_world(forecast_noise=0.0)
    candidate = call(world.propose(world.state(), 2))[1]
    predicted = call(world.rollout(candidate)).cost
    expected = world.day.scenario.coefficients.planning.expected_realisation
    for hour, requests in zip(candidate.payload.hours, candidate.payload.requests, strict=True):
        world.curtailed[hour] = requests * expected
    assert world.outcome().metrics["objective"] == pytest.approx(predicted)


def test_the_least_predicted_cost_is_chosen_and_the_first_of_equals():
    world = open_world()
    rollouts = [call(world.rollout(c)) for c in call(world.propose(world.state(), 4))]
    assert rollouts[call(world.choose(rollouts))].cost == min(rollout.cost for rollout in rollouts)
    assert call(world.choose([rollouts[2], rollouts[2]])) == 0
    assert call(world.choose([replace(rollouts[0], cost=None), rollouts[3]])) == 1
    assert call(world.choose([replace(rollout, cost=None) for rollout in rollouts])) == 0


def test_without_a_forecast_tool_the_declared_schedule_is_dispatched():
    domain = GridDomain({"day": make_scenario({"tool_failure": 1.0})})
    blind = call(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.SEARCH))))
    once = call(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.PREDEFINED))))
    assert [event.cost for event in blind.trace.of(RolledOut)] == [None] * 4
    assert blind.trace.of(Directed) == once.trace.of(Directed)
    assert blind.row.metrics == once.row.metrics


# Dispatch


def test_dispatching_records_what_was_asked_answered_and_settled():
    world = open_world()
    unit = call(world.plan(world.state())).units[0]
    observation = call(world.execute(unit))
    (directed,), (responded,) = world.context.trace.of(Directed), world.context.trace.of(Responded)
    requests, hour = unit.payload.requests, unit.payload.hour
    assert directed.columns["node"] == tuple(np.flatnonzero(requests).tolist())
    assert directed.columns["requested_kw"] == pytest.approx((KW * requests[requests > 0]).tolist())
    assert directed.columns["flexible_kw"] == pytest.approx((KW * world.day.flexible[hour][requests > 0]).tolist())
    assert [event.step for event in world.context.trace.of(Settled)] == list(range(hour + 1))
    last = world.context.trace.of(Settled)[-1]
    assert last.values["curtailed_mw"] == pytest.approx(sum(responded.columns["realised_kw"]) / KW)
    assert (observation.unit, observation.completed) == (unit.id, True)
    assert world.context.ledger.total.interactions == 1


def test_curtailment_takes_its_reactive_power_along_and_lifts_every_voltage():
    world, idle = open_world(), open_world()
    execute(world, call(world.plan(world.state())).units)
    call(idle.aclose())
    for with_, without in zip(world.context.trace.of(Settled), idle.context.trace.of(Settled), strict=True):
        curtailed = with_.values["curtailed_mw"]
        assert without.values["import_mw"] - with_.values["import_mw"] == pytest.approx(curtailed)
        lift = np.array(with_.columns["voltage_pu"]) - np.array(without.columns["voltage_pu"])
        assert (lift >= -1e-12).all()
        assert bool(lift.max() > 0) is (curtailed > 0)


def test_an_hour_out_of_order_is_refused():
    world = open_world()
    plan = call(world.plan(world.state()))
    with pytest.raises(DomainError, match="is not the next hour of the campaign"):
        call(world.execute(plan.units[1]))
    execute(world, plan.units)
    with pytest.raises(DomainError, match=f"unit {plan.units[-1].id}"):
        call(world.execute(plan.units[-1]))
    assert world.context.ledger.total.interactions == len(plan.units)


def test_the_outcome_so_far_leaves_no_mark():
    curious, calm = open_world(), open_world()
    for world in (curious, calm):
        for unit in call(world.plan(world.state())).units:
            if world is curious:
                assert curious.outcome() == curious.outcome()
            execute(world, [unit])
        call(world.aclose())
        call(world.aclose())
    assert curious.context.trace.to_json() == calm.context.trace.to_json()
    assert curious.outcome() == calm.outcome()


def test_hours_that_nobody_dispatched_run_uncontrolled():
    world = open_world()
    execute(world, call(world.plan(world.state())).units[:2])
    told = world.outcome()
    call(world.aclose())
    assert [event.step for event in world.context.trace.of(Settled)] == list(range(24))
    assert world.outcome() == told


# The aggregator


def test_a_dishonest_aggregator_asks_as_many_but_those_with_the_least_leverage():
    world = open_world(honesty=0.0)
    unit = call(world.plan(world.state())).units[0]
    execute(world, [unit])
    (directed,) = world.context.trace.of(Directed)
    declared = unit.payload.requests
    leverage = world.day.leverage
    asked = list(directed.columns["node"])
    assert len(asked) == (declared > 0).sum()
    left_out = np.setdiff1d(np.arange(len(leverage)), asked)
    assert leverage[asked].max() <= leverage[left_out].min() + 1e-12
    assert max(directed.columns["requested_kw"]) <= 0.6 * KW * declared.max() + 1e-9
    assert directed.values["leverage_ratio"] < 0.6
    assert set(directed.values["declared"]) == set(np.flatnonzero(declared).tolist())


def test_an_honest_one_passes_on_what_was_declared():
    world = open_world()
    execute(world, call(world.plan(world.state())).units)
    assert all(event.values["leverage_ratio"] == pytest.approx(1.0) for event in world.context.trace.of(Directed))


# Feeders of other shapes


@pytest.mark.parametrize(("laterals", "nodes"), [(1, 1), (1, 2), (2, 3), (5, 7)])
@pytest.mark.parametrize("mode", MODES)
def test_a_day_runs_on_a_feeder_of_any_size(laterals, nodes, mode):
    scenario = make_scenario(feeder=straight_laterals(laterals, nodes))
    domain = GridDomain({"day": scenario})
    row = call(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(mode)))).row
    assert row.status == "finished"
    assert row.metrics["directives"] > 0
    assert np.isfinite(row.metrics["objective"])
