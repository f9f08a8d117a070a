"""Quantiles of latency."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from planroute.errors import InputError
from planroute.statistics import latency_quantiles
from tests.statistics.planted import outside, powerful, rates

SECONDS = st.lists(st.integers(0, 1000).map(lambda i: i / 8), min_size=1, max_size=30)
FEW = settings(deadline=None, max_examples=30)


def test_by_hand():
    """Of eleven values, those of rank 2 and 10 hold the median in 1 − 2 · 12 / 2048 of samples; rank 3 is too near."""
    (median,) = latency_quantiles(range(1, 12), (0.5,))
    assert (median.value, median.low, median.high, median.n) == (6, 2, 10, 11)
    assert 1 - 2 * stats.binom.cdf(1, 11, 0.5) > 0.95 > 1 - 2 * stats.binom.cdf(2, 11, 0.5)


@pytest.mark.parametrize(("n", "bounded"), [(71, False), (72, True)])
def test_a_tail_that_the_sample_cannot_bound(n, bounded):
    """All n values lie below p95 with a chance of .95ⁿ, which must fall under .025."""
    _, p95 = latency_quantiles(range(n))
    assert p95.value == pytest.approx(0.95 * (n - 1))
    assert p95.low < p95.value
    assert (p95.high is not None) is bounded is (0.95**n < 0.025)


def test_equal_values():
    (median,) = latency_quantiles([2.5] * 10, (0.5,))
    assert (median.low, median.value, median.high) == (2.5, 2.5, 2.5)


def test_too_few_values():
    assert [(q.value, q.low, q.high) for q in latency_quantiles([])] == [(None, None, None)] * 2
    assert [(q.value, q.low, q.high) for q in latency_quantiles([3])] == [(3, None, None)] * 2


@pytest.mark.parametrize(
    ("values", "qs", "level"),
    [
        ([1, -1], [0.5], 0.95),
        ([1, np.inf], [0.5], 0.95),
        ([1, 2], [0], 0.95),
        ([1, 2], [1], 0.95),
        ([], [95], 0.95),
        ([1, 2], [0.5], 1),
    ],
)
def test_malformed(values, qs, level):
    with pytest.raises(InputError):
        latency_quantiles(values, qs, level)


@FEW
@given(SECONDS, st.randoms())
def test_order_and_unit(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    found = latency_quantiles(values)
    assert latency_quantiles(shuffled) == found
    for plain, scaled in zip(found, latency_quantiles(np.array(values) * 1000), strict=True):
        for end in ("low", "value", "high"):
            before, after = getattr(plain, end), getattr(scaled, end)
            assert after == (None if before is None else pytest.approx(before * 1000))


@FEW
@given(SECONDS, st.floats(0.01, 0.99))
def test_an_interval_holds_its_quantile(values, q):
    (found,) = latency_quantiles(values, (q,))
    assert found.value == pytest.approx(np.quantile(values, q))
    assert found.low is None or found.low in [*values, found.value]
    assert found.low is None or found.low <= found.value
    assert found.high is None or found.value <= found.high


def test_covers_and_finds_as_the_binomial_says():
    """Both rates are known exactly: that an end lies beyond a point is how many of n values lie below that point."""
    n, q, shift = 300, 0.9, 1.3
    truth = stats.expon.ppf(q)
    low, high = (end + 1 for end in _ranks(n, q))

    def once(rng):
        (found,) = latency_quantiles(rng.exponential(size=n), (q,))
        return [outside(found, truth), outside(found, truth / shift)]

    missed, found = rates(once, 51)

    def beyond(below):  # the low end is above the point, or the high end under it
        return stats.binom.cdf(low - 1, n, below) + stats.binom.sf(high - 1, n, below)

    assert 0.03 <= beyond(q) <= 0.05
    assert abs(missed - beyond(q)) <= 0.016
    assert missed <= 0.066
    assert powerful(found, beyond(stats.expon.cdf(truth / shift)))


def _ranks(n, q):
    (found,) = latency_quantiles(range(n), (q,))
    return int(found.low), int(found.high)
