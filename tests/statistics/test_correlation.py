"""Pearson and Spearman."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from planroute.errors import InputError
from planroute.statistics import correlation
from planroute.streams import stream
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

EIGHTHS = st.integers(-1000, 1000).map(lambda i: i / 8)
PAIRS = st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=3, max_size=12)
FEW = settings(deadline=None, max_examples=30)
BOTH = pytest.mark.parametrize("method", ["pearson", "spearman"])


def of(a, b, method):
    return correlation(a, b, method, name="x", draws=99)


def fields(found):
    return [found.r, found.low, found.high, found.p]


@pytest.mark.parametrize(("method", "r"), [("pearson", 7 / np.sqrt(2 * 26)), ("spearman", 1)])
def test_by_hand(method, r):
    """1, 2, 3 against 1, 2, 8, whose deviations are −8/3, −5/3, 13/3."""
    assert of([1, 2, 3], [1, 2, 8], method).r == pytest.approx(7 / np.sqrt(2 * 86 / 3) if method == "pearson" else r)


@BOTH
def test_agrees_with_scipy(method):
    a, b = stream(0, "sample").normal(size=(2, 40))
    b = b + a
    over = stats.pearsonr if method == "pearson" else stats.spearmanr
    found = correlation(a, b, method, name="x", draws=499)
    assert [found.r, found.p] == pytest.approx([over(a, b).statistic, over(a, b).pvalue])
    order = np.argsort(a)
    theirs = stats.bootstrap(
        (a[order], b[order]),
        lambda x, y: over(x, y).statistic,
        vectorized=False,
        paired=True,
        n_resamples=499,
        method="percentile",
        rng=stream(0, "bootstrap", "x"),
    )
    assert [found.low, found.high] == pytest.approx(list(theirs.confidence_interval))


@BOTH
def test_nothing_to_correlate(method):
    for a, b in (([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [5, 5, 5]), ([0.1 + 0.2, 0.3], [1, 2])):
        assert fields(of(a, b, method)) == [None] * 4
    assert fields(of([1, 2], [5, 3], method)) == [-1, None, None, None]


@BOTH
def test_resamples_that_are_constant_too_often_leave_no_interval(method):
    found = of([0, 0, 0, 0, 0, 1], [1, 2, 3, 4, 5, 6], method)
    assert found.r > 0
    assert (found.low, found.high) == (None, None)
    assert found.p is not None


@pytest.mark.parametrize(
    ("a", "b", "method"),
    [([1, 2], [1], "pearson"), ([1, np.nan], [1, 2], "spearman"), ([1, 2, 3], [1, 2, 3], "kendall")],
)
def test_malformed(a, b, method):
    with pytest.raises(InputError):
        of(a, b, method)


@BOTH
@FEW
@given(PAIRS)
def test_in_range_within_its_interval(method, pairs):
    found = of(*np.array(pairs).T, method)
    if found.r is not None:
        assert -1 <= found.r <= 1
        assert 0 <= found.p <= 1
    if found.low is not None:
        assert -1 <= found.low <= found.r <= found.high <= 1


@BOTH
@FEW
@given(PAIRS, EIGHTHS, st.sampled_from([0.25, 8.0]), st.randoms())
def test_units_shifts_order_and_sides(method, pairs, shift, scale, random):
    a, b = np.array(pairs).T
    found = of(a, b, method)
    assume(found.r is not None)
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert of(*np.array(shuffled).T, method) == found
    assert fields(of(a * scale + shift, b, method)) == pytest.approx(fields(found), abs=1e-6)
    assert of(b, a, method).r == pytest.approx(found.r)
    assert of(a, -b, method).r == pytest.approx(-found.r)


@FEW
@given(PAIRS)
def test_ranks_know_nothing_but_order(pairs):
    a, b = np.array(pairs).T
    assert of(a**3, np.exp(b / 100), "spearman") == of(a, b, "spearman")


@pytest.mark.parametrize(("method", "seed"), [("pearson", 71), ("spearman", 72)])
def test_is_nominal_covers_and_finds(method, seed):
    """Power by Fisher's z, whose variance is 1 / (n − 3), and 1.06 / (n − 3) for ranks."""
    n, rho = 80, 0.25
    truth = rho if method == "pearson" else 6 / np.pi * np.arcsin(rho / 2)

    def once(rng):
        a, noise, options = rng.normal(size=n), rng.normal(size=n), fresh(rng)
        null = correlation(a, noise, method, name="x", draws=1)
        planted = correlation(a, rho * a + np.sqrt(1 - rho**2) * noise, method, **options)
        return [null.p <= 0.05, planted.p <= 0.05, outside(planted, truth)]

    rejected, found, missed = rates(once, seed)
    assert nominal(rejected)
    assert nominal(missed)
    error = np.sqrt((1 if method == "pearson" else 1.06) / (n - 3))
    assert powerful(found, stats.norm.cdf(np.arctanh(truth) / error - 1.96))
