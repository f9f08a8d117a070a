"""Two conditions on the same scenarios."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from planroute.errors import InputError
from planroute.statistics import paired_bootstrap, paired_t
from planroute.streams import stream
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

EIGHTHS = st.integers(-1000, 1000).map(lambda i: i / 8)
PAIRS = st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=2, max_size=12)
FEW = settings(deadline=None, max_examples=30)


def bootstrap(a, b):
    return paired_bootstrap(a, b, name="x", draws=99)


BOTH = pytest.mark.parametrize("test", [paired_t, bootstrap])


def fields(found):
    return [found.difference, found.low, found.high, found.p]


def test_t_by_hand():
    """Differences 1, 2, 3: mean 2, standard error 1 / √3, two degrees of freedom."""
    found = paired_t([2, 4, 6], [1, 2, 3])
    t = 2 * np.sqrt(3)
    assert (found.difference, found.df, found.n) == (2, 2, 3)
    assert found.t == pytest.approx(t)
    assert found.p == pytest.approx(1 - t / np.sqrt(2 + t**2))  # the distribution of t with two degrees of freedom
    assert found.high - 2 == pytest.approx(4.3026527 / np.sqrt(3))


def test_t_agrees_with_scipy():
    a, b = stream(0, "sample").normal(size=(2, 30))
    theirs = stats.ttest_rel(a, b)
    found = paired_t(a, b)
    assert [found.t, found.p] == pytest.approx([theirs.statistic, theirs.pvalue])
    assert [found.low, found.high] == pytest.approx(list(theirs.confidence_interval()))


def test_bootstrap_agrees_with_scipy():
    a, b = stream(0, "sample").normal(size=(2, 40))
    rng = stream(0, "bootstrap", "x")
    theirs = stats.bootstrap((np.sort(a - b),), np.mean, n_resamples=999, method="percentile", rng=rng)
    found = paired_bootstrap(a, b, name="x", draws=999)
    assert [found.low, found.high] == pytest.approx(list(theirs.confidence_interval))


def test_p_of_the_bootstrap_goes_with_its_interval():
    for k in range(200):
        found = paired_bootstrap(stream(k, "sample").normal(0.3, 1, size=30), np.zeros(30), name="x", draws=499)
        if not 0.03 < found.p < 0.07:
            assert (found.p < 0.05) is (not found.low <= 0 <= found.high)


# Where there is no spread, or too little to say


@BOTH
def test_equal_conditions(test):
    assert fields(test([1, 5, 9], [1, 5, 9])) == [0, 0, 0, 1]
    assert test([0.1 + 0.2] * 3, [0.3] * 3).p == 1, "rounding is no difference"


def test_a_constant_difference():
    a, b = np.array([1.0, 5.0, 9.0]), np.array([0.9, 4.9, 8.9])
    found = paired_t(a, b)
    assert fields(found) == [pytest.approx(0.1), pytest.approx(0.1), pytest.approx(0.1), 0]
    assert found.t is None
    assert bootstrap(a, b).p == 2 / 100


@BOTH
def test_too_few_pairs(test):
    assert fields(test([], [])) == [None] * 4
    assert fields(test([3], [1])) == [2, None, None, None]


@BOTH
@pytest.mark.parametrize(
    ("a", "b"),
    [([1, 2], [1]), ([1, np.nan], [1, 2]), ([1, 2], [1, np.inf]), (["1", "2"], [1, 2]), ([[1], [2]], [1, 2])],
)
def test_malformed(test, a, b):
    with pytest.raises(InputError):
        test(a, b)


# What does not change


@BOTH
@FEW
@given(PAIRS, EIGHTHS)
def test_what_a_scenario_adds_to_both_does_not_matter(test, pairs, shift):
    a, b = np.array(pairs).T
    both = np.arange(len(a)) * shift
    assert fields(test(a + both, b + both)) == pytest.approx(fields(test(a, b)), abs=1e-9)


@BOTH
@FEW
@given(PAIRS, st.randoms())
def test_order_does_not_matter(test, pairs, random):
    a, b = np.array(pairs).T
    shuffled = list(pairs)
    random.shuffle(shuffled)
    c, d = np.array(shuffled).T
    assert fields(test(c, d)) == fields(test(a, b))


@BOTH
@FEW
@given(PAIRS, st.sampled_from([0.25, 8.0]))
def test_the_unit_does_not_matter(test, pairs, scale):
    a, b = np.array(pairs).T
    *plain, p = fields(test(a, b))
    assert fields(test(a * scale, b * scale)) == pytest.approx([*(scale * end for end in plain), p], abs=1e-9)


@FEW
@given(PAIRS)
def test_exchanging_the_conditions_turns_the_sign(pairs):
    a, b = np.array(pairs).T
    found, turned = paired_t(a, b), paired_t(b, a)
    assert fields(turned) == pytest.approx([-found.difference, -found.high, -found.low, found.p], abs=1e-12)


@BOTH
@FEW
@given(PAIRS)
def test_p_and_interval_are_in_range(test, pairs):
    a, b = np.array(pairs).T
    found = test(a, b)
    assert found.low - 1e-9 <= found.difference <= found.high + 1e-9
    assert 0 <= found.p <= 1


# Planted effects: scenarios differ far more than conditions


def test_t_is_nominal_and_finds():
    def once(rng):
        scenario, noise = rng.normal(0, 30, size=10), rng.normal(size=(2, 10))
        a, b = scenario + noise
        return [paired_t(a, b).p <= 0.05, paired_t(a + 1.5, b).p <= 0.05]

    rejected, found = rates(once, 11)
    assert nominal(rejected)
    assert powerful(found, TTestPower().power(1.5 / np.sqrt(2), 10, 0.05))


def test_without_pairing_the_same_effect_is_lost():
    rng = np.random.default_rng(13)
    a, b = rng.normal(0, 30, size=(1000, 10)) + rng.normal(size=(2, 1000, 10))
    assert (stats.ttest_ind(a + 1.5, b, axis=1).pvalue <= 0.05).mean() < 0.01


def test_bootstrap_is_nominal_and_finds():
    def once(rng):
        scenario, noise, options = rng.normal(0, 30, size=200), rng.normal(size=(2, 200)), fresh(rng)
        a, b = scenario + noise
        null, planted = (paired_bootstrap(a + d, b, **options) for d in (0.0, 0.25))
        return [null.p <= 0.05, planted.p <= 0.05, outside(null, 0)]

    rejected, found, missed = rates(once, 12)
    assert nominal(rejected)
    assert nominal(missed)
    assert powerful(found, TTestPower().power(0.25 / np.sqrt(2), 200, 0.05))
