"""Prosumers: bounded shifts, nobody gives more than was asked or is there, and memory is never changed in place."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.domains.grid.coefficients import ARCHETYPES, Response
from planroute.domains.grid.prosumers import (
    Answer,
    Memory,
    answer,
    attenuated,
    calibrated_shifts,
    latent_draws,
    population,
    remember,
    sampled,
    willingness,
)

NODES = 40
RESPONSE = Response()
seeds = st.integers(0, 100_000)
sizes = st.integers(1, 60)
means = st.floats(0, 1)


def people_of(seed, mean=0.3):
    return population(seed, NODES, mean, RESPONSE)


def some_memory(rng, shape=(NODES,)):
    asked = rng.integers(0, 9, shape).astype(float)
    return Memory(
        fatigue=rng.uniform(0, 3, shape),
        exploitation=rng.integers(0, 5, shape).astype(float),
        complied=rng.choice([0.0, 0.5, 1.0], shape),
        asked=asked,
        agreed=np.floor(asked * rng.random(shape)),
    )


def some_hour(seed, cases=()):
    """Requests (some above the flexible load, some none), flexible load, shifts far past their bound, and a memory."""
    rng = np.random.default_rng(seed)
    shape = (*cases, NODES)
    flexible = rng.uniform(0.001, 0.03, shape)
    requests = rng.uniform(0, 0.05, shape) * (rng.random(shape) < 0.7)
    return requests, flexible, rng.normal(0, 1, shape), some_memory(rng, shape)


def answered(seed, cases=()):
    requests, flexible, shift, memory = some_hour(seed, cases)
    people, draws = people_of(seed), latent_draws(seed, NODES, RESPONSE)
    base = willingness(requests, flexible, memory, people, RESPONSE)
    moved = attenuated(shift, people, RESPONSE)
    return answer(requests, flexible, base, moved, draws.compliance[17], draws.realised[17], RESPONSE)


# Who they are


@given(seeds, st.integers(6, 60), means)
@settings(deadline=None)
def test_a_population_is_of_the_seed_and_keeps_its_bounds(seed, nodes, mean):
    people = population(seed, nodes, mean, RESPONSE)
    again = population.__wrapped__(seed, nodes, mean, RESPONSE)
    assert all(np.array_equal(getattr(people, f.name), getattr(again, f.name)) for f in fields(people))
    assert people.nodes == nodes
    spread = RESPONSE.resistance_spread
    low, high = max(mean - spread, 0), min(mean + spread, 1)
    assert ((people.resistance >= low - 1e-12) & (people.resistance <= high + 1e-12)).all()
    assert people.neighbourhood.sum(axis=1) == pytest.approx(1.0)
    assert (np.diag(people.neighbourhood) == 0).all()


@given(seeds)
@settings(deadline=None)
def test_every_run_of_six_nodes_holds_every_archetype(seed):
    kinds = people_of(seed).archetype[:36].reshape(6, 6)
    assert (np.sort(kinds, axis=1) == np.arange(len(ARCHETYPES))).all()


@pytest.mark.parametrize("nodes", [1, 2, 3, 4, 5])
def test_few_are_a_population_too(nodes):
    people = population(7, nodes, 0.3, RESPONSE)
    assert people.neighbourhood.shape == (nodes, nodes)
    assert np.isfinite(people.neighbourhood).all()


def test_mean_resistance_moves_everyone_alike_and_nobody_else():
    low, high = people_of(7, 0.3), people_of(7, 0.5)
    assert high.resistance - low.resistance == pytest.approx(0.2)
    assert np.array_equal(low.archetype, high.archetype)
    assert np.array_equal(low.neighbourhood, high.neighbourhood)


def test_the_population_of_seeds_differs():
    assert not np.array_equal(people_of(1).archetype, people_of(2).archetype)
    assert not np.array_equal(people_of(1).neighbourhood, people_of(2).neighbourhood)


# How they answer


@given(seeds)
@settings(deadline=None)
def test_nobody_curtails_more_than_asked_or_flexible(seed):
    requests, flexible, *_ = some_hour(seed)
    given_ = answered(seed)
    assert (given_.realised <= requests).all()
    assert (given_.realised <= flexible).all()
    assert (given_.realised >= 0).all()
    assert (given_.realised[~given_.complied] == 0).all()
    assert not given_.complied[requests == 0].any()


@given(seeds)
@settings(deadline=None)
def test_probability_is_bounded_and_decides_with_the_latent_draw(seed):
    requests, *_ = some_hour(seed)
    given_ = answered(seed)
    low, high = RESPONSE.probability_bounds
    assert ((given_.probability >= low) & (given_.probability <= high)).all()
    draw = latent_draws(seed, NODES, RESPONSE).compliance[17]
    assert np.array_equal(given_.complied, (requests > 0) & (draw < given_.probability))


@given(seeds, means)
@settings(deadline=None)
def test_a_shift_is_bounded_by_what_resistance_leaves_of_it(seed, mean):
    people = people_of(seed, mean)
    shift = np.random.default_rng(seed).normal(0, 1, NODES)
    left = attenuated(shift, people, RESPONSE)
    assert (np.abs(left) <= 0.30 * (1 - people.resistance) + 1e-15).all()
    assert (np.sign(left) * np.sign(shift) >= 0).all()
    calm = attenuated(shift / 100, people, RESPONSE)
    inside = np.abs(shift / 100) <= 0.30
    assert calm[inside] == pytest.approx((shift / 100 * (1 - people.resistance))[inside])


@given(seeds)
@settings(deadline=None)
def test_calibrated_shifts_are_the_archetypes(seed):
    people = people_of(seed)
    shifts = calibrated_shifts(people, RESPONSE)
    assert {(int(a), float(s)) for a, s in zip(people.archetype, shifts, strict=True)} == set(
        enumerate(RESPONSE.mean_shift)
    )
    assert np.abs(shifts).max() <= RESPONSE.shift_limit


# Whose message is evaluated


@given(seeds, st.integers(0, 23))
@settings(deadline=None)
def test_the_sampled_are_the_targeted_of_the_common_two_fifths(seed, hour):
    draw = latent_draws(seed, NODES, RESPONSE).narrative[hour]
    one, other = (np.random.default_rng((seed, i)).uniform(-1, 1, NODES).clip(0) for i in (1, 2))
    picked, picked_other = sampled(one, draw, RESPONSE), sampled(other, draw, RESPONSE)
    assert np.array_equal(picked, (one > 0) & (draw < 0.4))
    both = (one > 0) & (other > 0)
    assert np.array_equal(picked[both], picked_other[both])
    assert np.array_equal(sampled(10 * one, draw, RESPONSE), picked)


def test_two_fifths_of_the_targeted_are_sampled():
    everyone = np.ones(NODES)
    shares = [
        sampled(everyone, hour, RESPONSE).mean()
        for s in range(50)
        for hour in latent_draws(s, NODES, RESPONSE).narrative
    ]
    assert np.mean(shares) == pytest.approx(0.40, abs=4 * np.sqrt(0.24 / (50 * 24 * NODES)))


def test_the_three_draws_are_independent():
    draws = [latent_draws(seed, NODES, RESPONSE) for seed in range(20)]
    columns = [np.concatenate([getattr(d, f.name).ravel() for d in draws]) for f in fields(draws[0])]
    between = np.corrcoef(columns) - np.eye(3)
    assert np.abs(between).max() < 5 / np.sqrt(columns[0].size)
    mean = RESPONSE.realised_beta[0] / sum(RESPONSE.realised_beta)
    assert columns[2].mean() == pytest.approx(mean, abs=0.005)
    assert ((columns[2] >= 0) & (columns[2] <= 1)).all()


# What moves willingness, and which way


@given(seeds, st.sampled_from(["fatigue", "exploitation"]), st.floats(0.01, 3))
@settings(deadline=None)
def test_fatigue_and_exploitation_put_people_off(seed, name, more):
    requests, flexible, _, memory = some_hour(seed)
    worse = replace(memory, **{name: getattr(memory, name) + more})
    before, after = (willingness(requests, flexible, m, people_of(seed), RESPONSE) for m in (memory, worse))
    weight = {"fatigue": RESPONSE.fatigue_weight, "exploitation": RESPONSE.exploitation_weight}[name]
    assert before - after == pytest.approx(weight * more)


@given(seeds)
@settings(deadline=None)
def test_neighbours_who_comply_encourage(seed):
    requests, flexible, _, memory = some_hour(seed)
    all_did, none_did = (replace(memory, complied=np.full(NODES, v)) for v in (1.0, 0.0))
    more, less = (willingness(requests, flexible, m, people_of(seed), RESPONSE) for m in (all_did, none_did))
    assert more - less == pytest.approx(RESPONSE.reciprocity_weight)


def test_only_what_is_asked_beyond_the_flexible_load_costs_goodwill():
    people, memory, flexible = people_of(7), Memory.blank(NODES), np.full(NODES, 0.02)
    ratios = (0.5, 0.95, 1.2, 1.5)
    levels = [willingness(r * flexible, flexible, memory, people, RESPONSE).mean() for r in ratios]
    assert levels[0] == pytest.approx(levels[1])
    assert levels[1] - levels[2] == pytest.approx(0.25 * RESPONSE.over_ask_weight)
    assert levels[2] - levels[3] == pytest.approx(0.30 * RESPONSE.over_ask_weight)


# What they remember


@given(seeds)
@settings(deadline=None)
def test_memory_counts_recovers_and_is_never_changed_in_place(seed):
    requests, flexible, _, memory = some_hour(seed)
    before = {f.name: getattr(memory, f.name).copy() for f in fields(memory)}
    people, given_ = people_of(seed), answered(seed)
    after = remember(memory, requests, flexible, given_, people, RESPONSE)
    assert all(np.array_equal(getattr(memory, name), value) for name, value in before.items())
    assert np.array_equal(after.asked - memory.asked, requests > 0)
    assert np.array_equal(after.agreed - memory.agreed, given_.complied)
    rested = ~given_.complied
    assert after.fatigue[rested] == pytest.approx(RESPONSE.fatigue_decay * memory.fatigue[rested])
    assert (after.fatigue[given_.complied] > RESPONSE.fatigue_decay * memory.fatigue[given_.complied]).all()
    assert np.array_equal(after.complied[requests == 0], memory.complied[requests == 0])
    exploited = after.exploitation > memory.exploitation
    assert not exploited[rested].any()
    assert np.array_equal(exploited, given_.complied & (after.neighbours_complied(people) < 0.5 - 1e-9))


def test_exactly_half_of_the_neighbours_is_not_less_than_half():
    """However many they are: the mean of a half is not always added up to 0.5."""
    people = people_of(7)
    for node in range(NODES):
        neighbours = np.flatnonzero(people.neighbourhood[node])
        for agreed in range(len(neighbours) + 1):
            complied = np.zeros(NODES, bool)
            complied[neighbours[:agreed]] = True
            complied[node] = True
            given_ = Answer(complied * 0.5, complied, complied * 0.0)
            everyone = np.ones(NODES)
            after = remember(Memory.blank(NODES), everyone, everyone, given_, people, RESPONSE)
            assert after.exploitation[node] == (2 * agreed < len(neighbours))


def test_where_nothing_is_flexible_nothing_is_given():
    requests = np.full(NODES, 0.01)
    people, draws = people_of(7), latent_draws(7, NODES, RESPONSE)
    base = willingness(requests, np.zeros(NODES), Memory.blank(NODES), people, RESPONSE)
    given_ = answer(requests, np.zeros(NODES), base, 0 * base, draws.compliance[17], draws.realised[17], RESPONSE)
    assert (given_.realised == 0).all()
    assert (given_.probability == RESPONSE.probability_bounds[0]).all()


@given(seeds, st.integers(1, 9))
@settings(deadline=None)
def test_rest_is_counted_by_the_hour(seed, hours):
    _, flexible, _, memory = some_hour(seed)
    nothing = np.zeros(NODES)
    given_ = replace(answered(seed), complied=np.zeros(NODES, bool))
    after = remember(memory, nothing, flexible, given_, people_of(seed), RESPONSE, hours)
    assert after.fatigue == pytest.approx(RESPONSE.fatigue_decay**hours * memory.fatigue)


def test_a_blank_memory_expects_one_half():
    blank = Memory.blank(NODES)
    assert (blank.compliance_rate() == 0.5).all()
    assert blank.neighbours_complied(people_of(7)) == pytest.approx(0.5)


@given(seeds)
@settings(deadline=None)
def test_leading_axes_are_cases_of_their_own(seed):
    requests, flexible, shift, memory = some_hour(seed, (3, 2))
    people, draws = people_of(seed), latent_draws(seed, NODES, RESPONSE)
    latent = draws.compliance[17], draws.realised[17], RESPONSE
    base = willingness(requests, flexible, memory, people, RESPONSE)
    moved = attenuated(shift, people, RESPONSE)
    together = answer(requests, flexible, base, moved, *latent)
    after = remember(memory, requests, flexible, together, people, RESPONSE)
    for case in np.ndindex(3, 2):
        alone_memory = Memory(*(getattr(memory, f.name)[case] for f in fields(memory)))
        alone = answer(
            requests[case],
            flexible[case],
            willingness(requests[case], flexible[case], alone_memory, people, RESPONSE),
            attenuated(shift[case], people, RESPONSE),
            *latent,
        )
        assert np.array_equal(alone.complied, together.complied[case])
        assert alone.realised == pytest.approx(together.realised[case])
        alone_after = remember(alone_memory, requests[case], flexible[case], alone, people, RESPONSE)
        assert alone_after.exploitation == pytest.approx(after.exploitation[case])
        assert alone_after.fatigue == pytest.approx(after.fatigue[case])
