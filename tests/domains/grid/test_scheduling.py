"""Schedules: requests keep to capacity, reach what is needed where they can, and follow the order of targets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.domains.grid import TargetRule, make_scenario
from planroute.domains.grid.coefficients import Planning
from planroute.domains.grid.day import make_day
from planroute.domains.grid.power_flow import lindistflow
from planroute.domains.grid.profiles import HOURS
from planroute.domains.grid.scheduling import fill, forecast_multipliers, order_by, priority, schedule

PLANNING = Planning()
NOMINAL = make_scenario()
seeds = st.integers(0, 5000)
nodes_ = st.integers(1, 30)


@given(seeds, nodes_, st.floats(0, 20))
def test_filling_keeps_capacity_and_order_and_reaches_what_is_wanted(seed, nodes, wanted):
    rng = np.random.default_rng(seed)
    capacity = rng.uniform(0.01, 1, nodes)
    order = rng.permutation(nodes)
    requests = fill(order, capacity, np.array(wanted))
    asked = requests > 0
    assert np.array_equal(requests, np.where(asked, capacity, 0.0))
    total = requests.sum()
    assert total >= wanted - 1e-9 or asked.all()
    in_order = asked[order]
    assert not in_order[np.argmin(in_order) :].any() or in_order.all()
    if asked.any():
        last = order[asked.sum() - 1]
        assert total - capacity[last] < wanted + 1e-9


@given(seeds, nodes_)
def test_hours_are_filled_each_for_itself(seed, nodes):
    rng = np.random.default_rng(seed)
    capacity = rng.uniform(0, 1, (5, nodes))
    order = rng.permuted(np.tile(np.arange(nodes), (5, 1)), axis=1)
    wanted = rng.uniform(0, nodes, 5)
    together = fill(order, capacity, wanted)
    alone = [fill(o, c, np.array(w)) for o, c, w in zip(order, capacity, wanted, strict=True)]
    assert np.array_equal(together, alone)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_order_is_by_descending_key_and_equal_keys_keep_the_nodes_order(keys):
    order = order_by(np.array(keys, dtype=float))
    assert order.tolist() == sorted(range(len(keys)), key=lambda i: (-keys[i], i))


@given(seeds, st.sampled_from(TargetRule), st.floats(0.2, 1.0), st.floats(0.5, 4.0), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_schedule_keeps_to_its_bounds(seed, rule, intensity, over_request, per_node):
    day = make_day(NOMINAL, seed % 7)
    forecast = day.forecast
    rng = np.random.default_rng(seed)
    most = intensity * rng.uniform(0.5, 1, day.people.nodes) if per_node else intensity
    key = priority(rule, forecast, day.leverage, rng.random(day.people.nodes))
    hours = forecast.campaign
    requests = schedule(rule, hours, forecast, most, over_request, key, PLANNING)
    rows = list(hours)
    capacity = forecast.flexible[rows] * most
    wanted = forecast.needed_mw[rows] * over_request
    least = PLANNING.least_request_kw / 1000

    assert requests.shape == capacity.shape
    assert (requests <= capacity + 1e-12).all()
    assert ((requests == 0) | (requests >= least)).all()
    short = requests.sum(axis=1) < wanted - 1e-9 - least * capacity.shape[1]
    exhausted = (requests >= capacity - least - 1e-12).all(axis=1)
    assert (~short | exhausted).all()
    if rule is not TargetRule.UNIFORM:
        for row, asked in enumerate(requests > 0):
            hour = key[rows[row]]
            left = ~asked & (capacity[row] >= least)
            assert not left.any() or not asked.any() or hour[left].max() <= hour[asked].min() + 1e-15
    else:
        asked_all = requests[(requests > 0).all(axis=1)]
        shares = asked_all / capacity[(requests > 0).all(axis=1)]
        assert shares == pytest.approx(shares[:, :1] * np.ones_like(shares))


def test_the_rules_order_by_what_they_say():
    day = make_day(NOMINAL, 7)
    compliance = np.linspace(0, 1, day.people.nodes)
    by = {rule: priority(rule, day.forecast, day.leverage, compliance)[17] for rule in TargetRule}
    assert order_by(by[TargetRule.COMPLIANT])[0] == day.people.nodes - 1
    assert order_by(by[TargetRule.LEVERAGE])[0] == np.argmax(day.leverage)
    assert order_by(by[TargetRule.HIGH_LOAD])[0] == np.argmax(day.forecast.gross[17])
    farthest = day.scenario.feeder.depth == day.scenario.feeder.depth.max()
    assert farthest[order_by(by[TargetRule.LEVERAGE])[:4]].all()


def test_an_empty_horizon_is_an_empty_schedule():
    day = make_day(NOMINAL, 7)
    key = priority(TargetRule.HIGH_LOAD, day.forecast, day.leverage, day.leverage)
    assert schedule(TargetRule.HIGH_LOAD, (), day.forecast, 0.7, 1.5, key, PLANNING).shape == (0, 40)


# The forecast


@given(seeds, st.floats(0, 0.25))
@settings(deadline=None)
def test_forecast_noise_scales_one_and_the_same_error(seed, noise):
    """The draws are shared across noise levels: only their size differs."""
    one, other = (forecast_multipliers(seed, 40, level, PLANNING) for level in (0.1, noise))
    free = (one > 0.05 + 1e-12) & (other > 0.05 + 1e-12)
    assert free.mean() > 0.99
    assert (other[free] - 1) == pytest.approx((one[free] - 1) * noise / 0.1, abs=1e-9)


def test_forecast_noise_has_the_size_it_says():
    error = np.array([forecast_multipliers(seed, 40, 0.05, PLANNING) for seed in range(200)]) - 1
    assert error.std() == pytest.approx(0.05, rel=0.02)
    assert error.mean() == pytest.approx(0.0, abs=0.002)
    common = error.mean(axis=-1).std()
    share = PLANNING.forecast_common_mode**2
    assert common == pytest.approx(0.05 * np.sqrt(share + (1 - share) / 40), rel=0.05)


def test_without_noise_the_forecast_is_the_truth():
    day = make_day(make_scenario({"forecast_noise": 0.0}), 7)
    for name in ("net", "reactive", "gross", "flexible", "voltage_pu", "head_mw", "needed_mw"):
        assert np.array_equal(getattr(day.forecast, name), getattr(day.truth, name))
    assert day.truth.campaign == tuple(range(14, 22))


@given(seeds, st.floats(1.0, 2.0), st.floats(0.9, 0.97))
@settings(max_examples=30, deadline=None)
def test_the_needed_reduction_is_just_enough(seed, cap, floor):
    """All loads shrunk alike by what is needed meet cap and floor, and one of them exactly."""
    scenario = make_scenario({"import_cap_mw": cap, "voltage_floor_pu": floor})
    forecast = make_day(scenario, seed % 5).forecast
    keep = 1 - forecast.needed_mw / forecast.head_mw
    flow = lindistflow(scenario.feeder, forecast.net * keep[:, None], forecast.reactive * keep[:, None])
    lowest = flow.v_pu.min(axis=-1)
    assert (flow.head_p_mw <= cap + 1e-9).all()
    assert (lowest >= floor - 1e-9).all()
    for hour in range(HOURS):
        if hour in forecast.campaign:
            assert min(cap - flow.head_p_mw[hour], lowest[hour] - floor) == pytest.approx(0.0, abs=1e-9)
        else:
            assert keep[hour] == 1.0


def test_what_is_flexible_is_part_of_cooling():
    day = make_day(NOMINAL, 7)
    assert day.truth.flexible == pytest.approx(day.people.flexible_share * day.loads.cooling)
    assert (day.truth.flexible <= day.loads.gross).all()
