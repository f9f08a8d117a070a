"""The best of several executions, held against the enumeration of all draws."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.statistics import expected_best, expected_best_of, fallback
from planroute.streams import stream

FEW = settings(deadline=None, max_examples=60)
EIGHTHS = st.integers(-80, 80).map(lambda i: i / 8)
EXECUTIONS = st.lists(EIGHTHS, min_size=1, max_size=7)
GROUPS = st.lists(st.lists(EIGHTHS, min_size=1, max_size=4), min_size=1, max_size=4)
BETTER = st.sampled_from(["more", "less"])
BEST = {"more": max, "less": min}
SIGN = {"more": 1, "less": -1}


def mean(values):
    return float(np.mean(list(values)))


@FEW
@given(EXECUTIONS, st.integers(1, 8), BETTER)
def test_best_of_repetitions_is_the_mean_over_all_draws(values, k, better):
    found = expected_best(values, k, better)
    if k > len(values):
        assert found is None
    else:
        assert found == pytest.approx(mean(BEST[better](drawn) for drawn in combinations(values, k)), abs=1e-9)


@FEW
@given(st.integers(1, 40), st.data())
def test_of_successes_it_is_pass_at_k(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert expected_best([1] * c + [0] * (n - c), k) == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)


@FEW
@given(EXECUTIONS, BETTER, st.randoms())
def test_more_draws_are_no_worse_and_all_of_them_give_the_best(values, better, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    found = [expected_best(shuffled, k, better) for k in range(1, len(values) + 1)]
    assert found[0] == pytest.approx(np.mean(values))
    assert found[-1] == BEST[better](values)
    assert (np.diff(found) * SIGN[better] >= -1e-9).all()
    assert min(values) <= min(found) <= max(found) <= max(values)
    assert found == pytest.approx([expected_best(values, k, better) for k in range(1, len(values) + 1)])


@FEW
@given(GROUPS, BETTER)
def test_best_of_groups_is_the_mean_over_all_combinations(groups, better):
    every = mean(BEST[better](drawn) for drawn in product(*groups))
    assert expected_best_of(groups, better) == pytest.approx(every, abs=1e-9)
    assert expected_best_of(groups[::-1], better) == pytest.approx(every, abs=1e-9)


@FEW
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(any), min_size=1, max_size=5))
def test_of_successes_it_is_one_less_the_chance_that_all_fail(counts):
    groups = [[1] * won + [0] * lost for won, lost in counts]
    assert expected_best_of(groups) == pytest.approx(1 - np.prod([lost / (won + lost) for won, lost in counts]))


@FEW
@given(GROUPS, BETTER)
def test_fallback_is_the_best_of_the_modes_ranked_first(groups, better):
    found = [fallback(groups, k, better) for k in range(1, len(groups) + 2)]
    assert found.pop() is None
    assert found[0] == pytest.approx(np.mean(groups[0]))
    assert found == [expected_best_of(groups[:k], better) for k in range(1, len(groups) + 1)]
    assert (np.diff(found) * SIGN[better] >= -1e-9).all()


def test_repetitions_of_one_mode_are_unbiased_where_the_best_of_the_same_group_twice_is_not():
    """Two draws from one mode's executions must not be the same execution twice."""
    rng, p, n = stream(0, "executions"), 0.3, 3
    tables = (rng.random((4000, n)) < p).astype(float)
    unbiased = mean(expected_best(row, 2) for row in tables)
    twice = mean(expected_best_of([row, row]) for row in tables)
    assert unbiased == pytest.approx(1 - (1 - p) ** 2, abs=0.02)
    assert twice < 1 - (1 - p) ** 2 - 0.05


def test_a_fallback_to_what_one_mode_could_do_alone():
    """Where all ranked modes are alike, TSR@k is what as many executions of one mode give."""
    rng = stream(0, "fallback")
    tables = (rng.random((3000, 4, 6)) < rng.beta(1, 1, size=(3000, 1, 1))).astype(float)
    ranked = mean(fallback(list(task), 3) for task in tables)
    repeated = mean(expected_best(task[0], 3) for task in tables)
    assert ranked == pytest.approx(repeated, abs=0.02)
    assert ranked == pytest.approx(0.75, abs=0.03)  # E[1 − (1 − p)³] of an even p


def test_nothing_to_go_by():
    assert expected_best([], 1) is None
    assert expected_best([1, 0], 3) is None
    assert expected_best_of([]) is None
    assert expected_best_of([[1], []]) is None
    assert fallback([[1]], 2) is None
    assert fallback([[], [1]], 1) is None
    assert fallback([[1], []], 1) == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: expected_best([1, np.nan], 1),
        lambda: expected_best([1, 0], 0),
        lambda: expected_best([1, 0], 1.5),
        lambda: expected_best([1, 0], 1, "most"),
        lambda: expected_best([[1, 0]], 1),
        lambda: expected_best_of([[1], [np.inf]]),
        lambda: expected_best_of([[1]], "best"),
        lambda: fallback([[1]], 0),
        lambda: fallback([[1]], 2, "best"),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()
