"""Decomposition: quotas add up, workers keep to their nodes and caps, and handing back meets more."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.allocation import allocate, segments, worker_requests
from planroute.domains.grid.coefficients import Allocation
from planroute.domains.grid.feeder import straight_laterals
from planroute.domains.grid.scenario import repaired
from planroute.episode import Conditions, run_episode
from planroute.modes import Mode

RULES = Allocation()
REPAIRED = replace(RULES, hand_back=True)
feeders = st.builds(straight_laterals, st.integers(1, 5), st.integers(1, 9))
seeds = st.integers(0, 10_000)
wants = st.floats(0, 2)


def hour(feeder, seed, spread=0.5):
    rng = np.random.default_rng(seed)
    voltage = 1 - rng.uniform(0, 0.08, feeder.n)
    flexible = 0.01 * rng.uniform(1 - spread, 1 + spread, feeder.n)
    return voltage, flexible


def leaves(quotas):
    parents = {quota.parent for quota in quotas}
    return [quota for quota in quotas if quota.name not in parents]


def requested(feeder, wanted, voltage, flexible, depth, rules, key=None):
    quotas = leaves(allocate(feeder, wanted, voltage, flexible, depth, rules))
    key = np.arange(feeder.n, dtype=float) if key is None else key
    return quotas, [worker_requests(quota, flexible, key, depth, 1.0, rules) for quota in quotas]


@given(feeders)
def test_segments_part_a_lateral_by_distance(feeder):
    for lateral in range(len(feeder.laterals)):
        near, far = segments(feeder, lateral)
        assert sorted(near + far) == np.flatnonzero(feeder.lateral == lateral).tolist()
        assert len(near) - len(far) in (0, 1)
        assert not far or feeder.depth[list(near)].max() <= feeder.depth[list(far)].min()


@given(feeders, seeds, wants, st.integers(2, 4))
def test_quotas_add_up(feeder, seed, wanted, depth):
    voltage, flexible = hour(feeder, seed)
    quotas = allocate(feeder, wanted, voltage, flexible, depth, RULES)
    laterals = [quota for quota in quotas if quota.parent is None]
    assert sum(quota.quota_mw for quota in laterals) == pytest.approx(wanted)
    assert sorted(node for quota in laterals for node in quota.nodes) == list(range(feeder.n))
    for lateral in laterals:
        parts = [quota for quota in quotas if quota.parent == lateral.name]
        assert bool(parts) is (depth >= 3)
        if parts:
            assert sum(part.quota_mw for part in parts) == pytest.approx(lateral.quota_mw)
            assert sorted(node for part in parts for node in part.nodes) == sorted(lateral.nodes)


@given(feeders, seeds, wants)
def test_handing_back_gives_no_segment_more_than_its_room_and_loses_nothing_that_fits(feeder, seed, wanted):
    voltage, flexible = hour(feeder, seed)
    parts = leaves(allocate(feeder, wanted, voltage, flexible, 3, REPAIRED))
    room = [REPAIRED.node_cap_of_flexible * flexible[list(part.nodes)].sum() for part in parts]
    assert all(part.quota_mw <= most + 1e-12 for part, most in zip(parts, room, strict=True))
    assert sum(part.quota_mw for part in parts) == pytest.approx(min(wanted, sum(room)))


@given(feeders, seeds, wants, st.sampled_from([2, 3]), st.sampled_from([RULES, REPAIRED]))
def test_workers_keep_to_their_nodes_quota_and_caps(feeder, seed, wanted, depth, rules):
    voltage, flexible = hour(feeder, seed)
    key = np.random.default_rng(seed).random(feeder.n)
    quotas, parts = requested(feeder, wanted, voltage, flexible, depth, rules, key)
    for quota, requests in zip(quotas, parts, strict=True):
        inside = np.zeros(feeder.n, bool)
        inside[list(quota.nodes)] = True
        asked = requests > 0
        assert not asked[~inside].any()
        assert requests.sum() <= quota.quota_mw + 1e-12
        assert (requests <= rules.node_cap_of_flexible * flexible + 1e-12).all()
        if not rules.hand_back:
            assert asked.sum() <= rules.nodes_per_segment * (1 if depth >= 3 else 2)
            assert not asked.any() or key[asked].min() >= max(key[inside & ~asked], default=-1)


@given(st.integers(1, 5), st.integers(2, 9), seeds, wants)
def test_handing_back_meets_more_where_nodes_are_alike(laterals, nodes, seed, wanted):
    feeder = straight_laterals(laterals, nodes)
    voltage, flexible = hour(feeder, seed, spread=0.0)
    met = [
        sum(part.sum() for part in requested(feeder, wanted, voltage, flexible, 3, rules)[1])
        for rules in (RULES, REPAIRED)
    ]
    assert met[1] >= met[0] - 1e-9
    assert met[1] == pytest.approx(min(wanted, REPAIRED.node_cap_of_flexible * flexible.sum()))


def test_the_worse_lateral_and_its_far_end_are_asked_for_more():
    feeder = straight_laterals(2, 4)
    voltage = np.where(feeder.lateral == 0, 0.93, 0.97)
    quotas = {q.name: q.quota_mw for q in allocate(feeder, 1.0, voltage, np.ones(feeder.n), 3, RULES)}
    first, second = (f"lateral {label}" for label in feeder.laterals)
    assert quotas[first] / quotas[second] == pytest.approx((0.07 / 0.03) ** RULES.severity_power)
    assert quotas[f"{first} far"] == pytest.approx(RULES.far_segment_share * quotas[first])


def test_without_any_voltage_drop_laterals_share_alike():
    feeder = straight_laterals(4, 2)
    quotas = allocate(feeder, 1.0, np.full(feeder.n, feeder.v_head_pu), np.ones(feeder.n), 2, RULES)
    assert [quota.quota_mw for quota in quotas] == pytest.approx([0.25] * 4)


def test_a_repaired_day_leaves_less_unmet_and_costs_less():
    """The rank of a decomposition hangs on this detail: handing back beats planning once."""
    nominal = make_scenario()

    def metrics(scenario, mode):
        domain = GridDomain({"day": scenario})
        return asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(mode)))).row.metrics

    as_is, better = (metrics(s, Mode.HIERARCHICAL) for s in (nominal, repaired(nominal)))
    once = metrics(nominal, Mode.PREDEFINED)
    assert better["unmet_share"] < as_is["unmet_share"] / 2
    assert better["objective"] < once["objective"] < as_is["objective"]
    assert metrics(repaired(nominal), Mode.PREDEFINED) == once
