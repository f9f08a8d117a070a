"""Declarations against themselves, shuffled over the tasks: the exact null, planted skill, and planted luck."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.modes import MODES
from planroute.statistics import task_blind
from tests.statistics.planted import fresh, nominal, rates

FEW = settings(deadline=None, max_examples=20)
MOST_FALSE = 0.066
"""Of 1000 studies a right test at .05 calls at most this share significant: 2.3 standard errors."""
CASES = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(st.sampled_from(MODES), min_size=1, max_size=3), min_size=n, max_size=n),
        st.lists(st.lists(st.integers(0, 8).map(lambda i: i / 8), min_size=4, max_size=4), min_size=n, max_size=n),
    )
)


def by_mode(table):
    return [dict(zip(MODES, row, strict=True)) for row in table]


def named(columns):
    return [[MODES[column] for column in row] for row in columns]


def executed(rng, p, times=4):
    """The share of successes in some forced executions, for success probabilities (tasks, modes)."""
    return by_mode(rng.binomial(times, p) / times)


def significant(found):
    return [found.p_one_sided <= 0.05, found.p_two_sided <= 0.05]


def test_by_hand():
    first, last = MODES[0], MODES[3]
    declared = [[first, first], [last, last], [first, last]]
    outcomes = [{first: 1, last: 0}, {first: 0, last: 0.5}, {first: 1, last: 1, "never": None}]
    found = task_blind(declared, outcomes, name="x").to_dict()
    assert found["policy"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert found["blind"] == pytest.approx((2 / 3 + 0.5) / 2)
    assert found["delta"] == pytest.approx(found["policy"] - found["blind"])
    assert found["frequencies"] == {"PREDEFINED": 0.5, "SEARCH": 0.5}
    assert (found["tasks"], found["strata"], found["draws"]) == (3, 1, 5000)
    assert found["low"] < 0 < found["high"]


def test_p_is_the_share_of_all_orders():
    declared, outcomes = [["a"], ["b"], ["b"]], [{"a": 1, "b": 0}, {"a": 0, "b": 0.25}, {"a": 0.5, "b": 1}]
    found = task_blind(declared, outcomes, name="x", draws=20_000)
    deltas = [
        np.mean([outcome[mode] for (mode,), outcome in zip(order, outcomes, strict=True)]) - found.blind
        for order in permutations(declared)
    ]
    assert found.blind == pytest.approx(found.blind + np.mean(deltas))
    assert found.p_one_sided == pytest.approx(np.mean(np.array(deltas) >= found.delta - 1e-9), abs=0.02)
    assert found.p_two_sided == pytest.approx(np.mean(np.abs(deltas) >= found.delta - 1e-9), abs=0.02)


@FEW
@given(CASES, st.booleans(), st.randoms())
def test_the_null_mean_is_exact_and_order_does_not_matter(case, stratify, random):
    declared, table = case
    strata = [task % 2 for task in range(len(declared))] if stratify else [0] * len(declared)
    found = task_blind(declared, by_mode(table), strata, name="x", draws=99)
    totals = []
    for order in permutations(range(len(declared))):
        if [strata[task] for task in order] == strata:
            rows = [np.mean([table[t][MODES.index(m)] for m in declared[task]]) for t, task in enumerate(order)]
            totals.append(np.mean(rows))
    assert found.blind == pytest.approx(np.mean(totals), abs=1e-9)
    assert found.policy == pytest.approx(totals[0])
    assert sum(found.frequencies) == pytest.approx(1)
    order = list(range(len(declared)))
    random.shuffle(order)
    again = [declared[t] for t in order], [by_mode(table)[t] for t in order], [strata[t] for t in order]
    assert task_blind(*again, name="x", draws=99) == found


@FEW
@given(CASES)
def test_costs_are_successes_turned_round(case):
    declared, table = case
    gains = task_blind(declared, by_mode(table), name="x", draws=99)
    costs = task_blind(declared, by_mode(1 - np.array(table)), better="less", name="x", draws=99)
    assert costs.delta == pytest.approx(gains.delta, abs=1e-9)
    assert costs.policy == pytest.approx(1 - gains.policy)
    if gains.p_one_sided is None:
        assert costs.p_one_sided is None
    else:
        assert gains.low - 1e-9 <= gains.high


def test_where_no_shuffle_changes_anything_there_is_no_test():
    one = task_blind([["a"], ["a", "a"]], [{"a": 1}, {"a": 0}], name="x")
    assert (one.policy, one.blind, one.delta, one.low, one.p_one_sided, one.p_two_sided) == (0.5, 0.5, 0, *[None] * 3)
    kinds = task_blind([["a"], ["a"], ["b"]], [{"a": 1, "b": 0}] * 3, [0, 0, 1], name="x")
    assert (kinds.delta, kinds.p_two_sided, kinds.strata) == (0, None, 2)
    mixed = task_blind([["a", "b", "c"], ["c", "a", "b"]], [{"a": 1, "b": 0, "c": 1}] * 2, name="x")
    assert (mixed.delta, mixed.p_one_sided) == (0, None)
    none = task_blind([], [], name="x")
    assert (none.policy, none.delta, none.p_one_sided, none.tasks, none.frequencies) == (None, None, None, 0, ())


def test_ties_count_in_spite_of_rounding():
    """One mode is better by the same on every task, so every order gives the same sum, but for its rounding."""
    easy = np.random.default_rng(0).random(30)
    outcomes = [{"a": one, "b": one + 0.1} for one in easy]
    found = task_blind([["a"], ["b"], ["b"]] * 10, outcomes, name="x", draws=199)
    assert found.delta == pytest.approx(0, abs=1e-12)
    assert (found.p_one_sided, found.p_two_sided) == (1, 1)


def test_skill_is_found():
    """100 tasks, 3 seeds, 4 executions: one mode solves a task in .8, others in .4; .38 instead of .25 declare it."""

    def once(rng):
        suits = rng.integers(4, size=100)
        p = np.where(np.arange(4) == suits[:, None], 0.8, 0.4)
        skilled = rng.random((100, 3)) < (0.38 - 0.25) / 0.75
        columns = np.where(skilled, suits[:, None], rng.integers(4, size=(100, 3)))
        return significant(task_blind(named(columns), executed(rng, p), **fresh(rng)))

    one_sided, two_sided = rates(once, 91, 300)
    assert one_sided >= 0.8
    assert two_sided >= 0.8


def test_luck_is_not_called_skill():
    """Tasks differ in difficulty, modes in strength and frequency, seeds of a task agree: none of it is skill.

    20 executions make ties rare; with 4 of them the test is right in a little more than its share, about .955.
    """

    def once(rng):
        p = np.clip(rng.beta(2, 2, size=(40, 1)) + [0.2, 0, 0, -0.2] + 0.2 * rng.normal(size=(40, 4)), 0, 1)
        usual = rng.choice(4, size=(40, 1), p=[0.4, 0.3, 0.2, 0.1])
        columns = np.where(rng.random((40, 3)) < 0.7, usual, rng.integers(4, size=(40, 3)))
        return significant(task_blind(named(columns), executed(rng, p, 20), **fresh(rng)))

    one_sided, two_sided = rates(once, 92, 1000)
    assert nominal(one_sided)
    assert nominal(two_sided)


def test_few_possible_values_make_it_careful():
    """Eight tasks, one declaration and one execution each: ties count, so it errs on the side of luck."""

    def once(rng):
        columns = rng.permutation([0, 0, 0, 0, 1, 1, 1, 1])[:, None]
        return significant(task_blind(named(columns), executed(rng, np.full((8, 4), 0.5), 1), **fresh(rng)))

    assert (rates(once, 93, 1000) <= MOST_FALSE).all()


def test_strata_keep_telling_kinds_apart_from_fitting_tasks():
    """Two kinds of task, each with a mode that suits it and is declared more often there, whatever the task."""
    kinds = np.repeat([0, 1], 30)
    p = np.where(kinds[:, None] == [0, 1, 1, 0], 0.7, 0.4)

    def once(rng, strata):
        often = rng.random((60, 3)) < 0.4
        columns = np.where(often, kinds[:, None], rng.integers(4, size=(60, 3)))
        difficulty = 0.15 * rng.normal(size=(60, 1))
        outcomes = executed(rng, np.clip(p + difficulty, 0, 1), 20)
        return significant(task_blind(named(columns), outcomes, strata, **fresh(rng)))

    one_sided, two_sided = rates(lambda rng: once(rng, kinds), 95, 1000)
    assert nominal(one_sided)
    assert nominal(two_sided)
    assert (rates(lambda rng: once(rng, None), 95, 100) >= 0.5).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: task_blind([["a"]], [{"b": 1}], name="x"),
        lambda: task_blind([["a"], ["b"]], [{"a": 1, "b": 0}, {"b": 1}], name="x"),
        lambda: task_blind([["a"]], [{"a": None}], name="x"),
        lambda: task_blind([["a"]], [{"a": np.nan}], name="x"),
        lambda: task_blind([["a"], []], [{"a": 1}] * 2, name="x"),
        lambda: task_blind([["a"]], [], name="x"),
        lambda: task_blind([["a"]], [{"a": 1}], [0, 1], name="x"),
        lambda: task_blind([["a"]], [{"a": 1}], [None], name="x"),
        lambda: task_blind([["a"]], [{"a": 1}], name="x", better="most"),
        lambda: task_blind([["a"]], [{"a": 1}], name="x", draws=0),
        lambda: task_blind([["a"]], [{"a": 1}], name="x", level=1),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()
