"""What conditions share, and what must not leak from one into another: the comparison stands on this."""

import asyncio
import copy
import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest

from planroute.declaration import forced
from planroute.declarers import Fixed, Hybrid
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.coefficients import Response
from planroute.domains.grid.day import make_day
from planroute.domains.grid.prosumers import latent_draws, population
from planroute.episode import Conditions, run_episode
from planroute.experiments.compare import comparison_cells
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.runs.cells import run_cells
from planroute.trace import (
    Declared,
    Directed,
    Finished,
    Gated,
    ModelCalled,
    Planned,
    Responded,
    Revised,
    RolledOut,
    Settled,
    Trace,
    UnitFinished,
    UnitStarted,
)
from tests.declarers.answering import Answering

SEEDS = (7, 13, 42)
ENVIRONMENT = (Directed, Responded, Settled)


def episode(mode, seed=7, declarer=None, **factors):
    domain = GridDomain({"day": make_scenario(factors)})
    return asyncio.run(run_episode(domain, domain.tasks()[0], seed, Conditions(declarer or Fixed(mode))))


def answers(mode, seed):
    """Of every node asked, by hour and node: probability, compliance, request and realised kW."""
    trace = episode(mode, seed).trace
    found = {}
    for asked, answered in zip(trace.of(Directed), trace.of(Responded), strict=True):
        assert asked.step == answered.step
        assert asked.columns["node"] == answered.columns["node"]
        columns = (answered.columns[name] for name in ("node", "probability", "complied", "realised_kw", "sampled"))
        for i, (node, *rest) in enumerate(zip(*columns, strict=True)):
            requested, flexible = (asked.columns[name][i] for name in ("requested_kw", "flexible_kw"))
            found[asked.step, node] = (*rest, requested, flexible)
    return found


# Latent draws belong to (seed, hour, node)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_follows_from_its_own_latent_draw(mode, seed):
    """Whatever was asked elsewhere or before, hour and node alone say which draw decides."""
    draws = latent_draws.__wrapped__(seed, 40, Response())
    found = answers(mode, seed)
    assert len(found) > 50
    for (hour, node), (probability, complied, realised, sampled, requested, flexible) in found.items():
        assert complied == (draws.compliance[hour, node] < probability)
        assert sampled == (draws.narrative[hour, node] < 0.4)
        given = min(requested * draws.realised[hour, node], flexible) if complied else 0.0
        assert realised == pytest.approx(given)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_asked_in_two_modes_decides_by_one_draw(seed):
    """Seen from outside: whoever complied with a smaller probability complies with a larger one."""
    by_mode = {mode: answers(mode, seed) for mode in MODES}
    compared = 0
    for one, other in itertools.permutations(MODES, 2):
        for key in by_mode[one].keys() & by_mode[other].keys():
            (p, complied, *_), (q, complied_too, *_) = by_mode[one][key], by_mode[other][key]
            if p <= q:
                compared += 1
                assert complied_too or not complied
    assert compared > 300


@pytest.mark.parametrize("seed", SEEDS)
def test_the_common_two_fifths_are_the_same_in_all_modes(seed):
    by_mode = [answers(mode, seed) for mode in MODES]
    for one, other in itertools.combinations(by_mode, 2):
        shared = one.keys() & other.keys()
        assert shared
        assert all(one[key][3] == other[key][3] for key in shared)


# Streams of different purpose do not move one another


def environment(found):
    return [event for event in found.trace if isinstance(event, ENVIRONMENT)]


def test_a_failing_forecast_tool_moves_no_other_draw():
    assert environment(episode(Mode.PREDEFINED)) == environment(episode(Mode.PREDEFINED, tool_failure=0.5))
    costs = [event.cost for event in episode(Mode.SEARCH, 13, tool_failure=0.5).trace.of(RolledOut)]
    healthy = [event.cost for event in episode(Mode.SEARCH, 13).trace.of(RolledOut)]
    assert 0 < costs.count(None) < 4
    assert [cost for cost in costs if cost is not None] == [
        cost for cost, kept in zip(healthy, costs, strict=True) if kept is not None
    ]


def test_a_dishonest_hour_moves_no_honest_one():
    """Up to the first substituted hour a day runs as an honest one."""
    honest, half = episode(Mode.PREDEFINED).trace.of(Directed), episode(Mode.PREDEFINED, honesty=0.5).trace.of(Directed)
    same = [one == other for one, other in zip(honest, half, strict=True)]
    assert True in same
    assert False in same
    declared = [[event.values["declared"] for event in events] for events in (honest, half)]
    assert declared[0] == declared[1]


def test_resistance_moves_neither_forecast_nor_network_nor_draws():
    one, other = (make_day(make_scenario({"mean_resistance": mean}), 7) for mean in (0.2, 0.5))
    assert np.array_equal(one.forecast.net, other.forecast.net)
    assert np.array_equal(one.people.archetype, other.people.archetype)
    assert np.array_equal(one.people.neighbourhood, other.people.neighbourhood)
    assert np.array_equal(one.draws.compliance, other.draws.compliance)


def test_forecast_noise_scales_one_error_and_moves_nobody():
    days = [make_day(make_scenario({"forecast_noise": noise}), 7) for noise in (0.0, 0.05, 0.15, 0.30)]
    truth, small, middle, large = (day.forecast.gross for day in days)
    assert small - truth == pytest.approx((middle - truth) / 3)
    assert small - truth == pytest.approx((large - truth) / 6)
    for day in days[1:]:
        assert np.array_equal(day.truth.net, days[0].truth.net)
        assert np.array_equal(day.draws.compliance, days[0].draws.compliance)
        assert np.array_equal(day.people.resistance, days[0].people.resistance)


def test_how_a_mode_was_drawn_moves_nothing_of_the_day():
    for seed in SEEDS:
        routed = episode(None, seed, Hybrid(prior_only=True))
        assert environment(routed) == environment(episode(Mode(routed.row.executed), seed))


# Forced conditions share everything but the mode


@pytest.mark.parametrize("seed", SEEDS)
def test_forced_conditions_share_forecast_population_and_fields(seed):
    """With every cache cleared in between: they are equal because they are drawn alike."""
    days, fields, states = [], [], []

    class Watched(GridDomain):
        async def open(self, task, context):
            world = await super().open(task, context)
            days.append(world.day)
            states.append(world.state())
            return world

    for mode in MODES:
        for cached in (make_day, population, latent_draws):
            cached.cache_clear()
        domain = Watched()
        found = asyncio.run(run_episode(domain, domain.tasks()[0], seed, Conditions(Fixed(mode))))
        (declared,) = found.trace.of(Declared)
        (gated,) = found.trace.of(Gated)
        assert gated.record.admitted.fields == declared.declaration.fields
        fields.append(declared.declaration.fields)
    assert len({id(day) for day in days}) == 4
    assert all(found == fields[0] for found in fields)
    assert all(state == states[0] for state in states)
    for day in days[1:]:
        for part in ("loads", "people", "draws", "forecast", "truth"):
            one, other = getattr(day, part), getattr(days[0], part)
            for name in type(one).__slots__:
                assert np.array_equal(getattr(one, name), getattr(other, name)), (part, name)


@pytest.mark.parametrize("mode", MODES)
def test_the_aggregator_substitutes_in_the_same_hours_of_all_modes(mode):
    def substituted(mode):
        events = episode(mode, 7, honesty=0.5).trace.of(Directed)
        return [event.step for event in events if event.values["leverage_ratio"] < 0.999]

    assert substituted(mode) == substituted(Mode.PREDEFINED) != []


def test_episodes_that_run_at_once_or_in_another_order_are_the_same():
    domain = GridDomain()
    cells = comparison_cells(domain.tasks(), SEEDS, MODES)
    at_once = asyncio.run(run_cells(domain, cells, concurrency=50))
    one_by_one = asyncio.run(run_cells(domain, cells[::-1], concurrency=1))[::-1]
    assert [e.row for e in at_once] == [e.row for e in one_by_one]
    assert [e.trace.to_json() for e in at_once] == [e.trace.to_json() for e in one_by_one]


# The last scheduled step


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_scheduled_hour_is_executed_and_not_declared_anew(mode, seed):
    day = make_day(make_scenario(), seed)
    trace = episode(mode, seed).trace
    assert tuple(event.step for event in trace.of(Directed)) == day.forecast.campaign
    assert len(trace.of(Declared)) == len(trace.of(Gated)) == 1
    events = list(trace)
    last = max(i for i, event in enumerate(events) if isinstance(event, UnitStarted))
    after = {type(event) for event in events[last + 1 :]}
    assert after == {Directed, Responded, Settled, UnitFinished, Finished}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_hour_but_the_last_is_followed_by_one_revision(seed):
    trace = episode(Mode.SEQUENTIAL, seed).trace
    hours = make_day(make_scenario(), seed).forecast.campaign
    assert [len(event.plan.units) for event in trace.of(Revised)] == list(range(len(hours) - 1, 0, -1))
    assert len(trace.of(Planned)) == 1


# No model where none belongs


def test_forced_comparisons_ask_no_model_and_no_critic():
    model = Answering(AssertionError("a model was asked"))
    domain = GridDomain()
    cells = comparison_cells(domain.tasks(), SEEDS, MODES, model=model)
    found = asyncio.run(run_cells(domain, cells))
    assert model.requests == []
    for one in found:
        assert one.trace.of(ModelCalled) == []
        assert sum(spent["model_calls"] for spent in one.row.spent.values()) == 0
        assert set(one.row.spent) == {"environment", "planning"}
    free = asyncio.run(run_cells(domain, comparison_cells(domain.tasks(), SEEDS, MODES)))
    assert [one.row.metrics for one in found] == [one.row.metrics for one in free]


# Rollouts


def test_a_rollout_leaves_no_mark_on_the_world():
    domain = GridDomain()
    task = domain.tasks()[0]
    context = Context(7, Trace(), Ledger())

    def everything(world):
        kept = {name: value for name, value in vars(world).items() if name not in ("day", "context", "speaker")}
        return pickle.dumps((kept, list(context.trace), context.ledger.total))

    async def run():
        world = await domain.open(task, context)
        day = copy.deepcopy(world.day)
        world.begin(forced(Mode.SEARCH, domain.shared_fields(task, world.state())))
        plan = await world.plan(world.state())
        await world.execute(plan.units[0])
        candidates = await world.propose(world.state(), 4)
        before = everything(world)
        rollouts = [await world.rollout(candidate) for candidate in candidates * 2]
        await world.choose(rollouts)
        assert everything(world) == before
        for part in ("loads", "people", "draws", "forecast", "truth"):
            for name in type(getattr(day, part)).__slots__:
                assert np.array_equal(getattr(getattr(world.day, part), name), getattr(getattr(day, part), name))
        assert [r.cost for r in rollouts[:4]] == [r.cost for r in rollouts[4:]]
        assert len({r.cost for r in rollouts}) == 4

    asyncio.run(run())


def test_what_is_rolled_out_is_the_forecast_and_not_the_day():
    """No rollout sees the truth: with other loads and other people every predicted cost is as it was."""
    domain = GridDomain()
    task = domain.tasks()[0]

    async def costs(world):
        world.begin(forced(Mode.SEARCH, domain.shared_fields(task, world.state())))
        return [(await world.rollout(candidate)).cost for candidate in await world.propose(world.state(), 4)]

    async def run():
        world, other = [await domain.open(task, Context(7, Trace(), Ledger())) for _ in range(2)]
        hotter = make_day(make_scenario({"stress": 1.3, "mean_resistance": 0.9}), 8)
        hidden = {name: getattr(hotter, name) for name in ("truth", "loads", "people", "draws")}
        other.day = replace(world.day, **hidden)
        return await costs(world), await costs(other)

    seen, unseen = asyncio.run(run())
    assert seen == unseen
