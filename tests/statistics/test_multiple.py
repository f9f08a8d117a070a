"""Holm's correction."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from planroute.errors import InputError
from planroute.statistics import holm
from tests.statistics.planted import powerful, rates

MANY = st.lists(st.floats(0, 1), min_size=1, max_size=12)
FEW = settings(deadline=None, max_examples=30)


@pytest.fixture(autouse=True, scope="module")
def no_collection():
    """Statsmodels collects garbage at every call, which takes longer than all else in a thousand of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        yield


def test_by_hand():
    """Sorted .01, .02, .03, .04 times 4, 3, 2, 1 is .04, .06, .06, .04; none may be less than the one before."""
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx((0.06, 0.04, 0.06, 0.06))


def test_tests_that_could_not_be_made_do_not_count():
    assert holm([None, 0.02, None, 0.04]) == (None, pytest.approx(0.04), None, pytest.approx(0.04))
    assert holm([None]) == (None,)
    assert holm([]) == ()


@pytest.mark.parametrize("p", [-0.01, 1.01, float("nan"), float("inf"), "0.5"])
def test_malformed(p):
    with pytest.raises(InputError):
        holm([0.5, p])


@FEW
@given(MANY)
def test_order_is_kept_and_nothing_becomes_smaller(given_p):
    adjusted = holm(given_p)
    assert all(p <= a <= min(1, len(given_p) * p) + 1e-12 for p, a in zip(given_p, adjusted, strict=True))
    in_order = np.array(adjusted)[np.argsort(given_p, kind="stable")]
    assert (np.diff(in_order) >= 0).all()


@FEW
@given(MANY, st.randoms())
def test_order_of_tests_does_not_matter(given_p, random):
    places = list(range(len(given_p)))
    random.shuffle(places)
    adjusted = holm(given_p)
    assert holm([given_p[place] for place in places]) == pytest.approx([adjusted[place] for place in places])


@FEW
@given(MANY, st.floats(0, 1))
def test_a_smaller_p_makes_no_adjusted_p_larger(given_p, smaller):
    lowered = [min(given_p[0], smaller), *given_p[1:]]
    assert all(a <= b + 1e-12 for a, b in zip(holm(lowered), holm(given_p), strict=True))


def test_any_false_rejection_is_as_rare_as_one_test_and_an_effect_is_found():
    """Four true nulls: 1 − (1 − .05/4)⁴. One effect: found at .05/4, or at .05/3 after one of three nulls."""
    shift = 2.8

    def once(rng):
        z = rng.normal(size=4)
        null = holm(2 * stats.norm.sf(np.abs(z)))
        planted = holm(2 * stats.norm.sf(np.abs(z + shift * np.eye(4)[0])))
        return [min(null) <= 0.05, planted[0] <= 0.05]

    any_false, found = rates(once, 61, 4000)
    assert abs(any_false - (1 - (1 - 0.05 / 4) ** 4)) <= 0.008  # 2.3 standard errors of 4000

    def at(alpha):
        return stats.norm.sf(stats.norm.isf(alpha / 2) - shift)

    another = 1 - (1 - 0.05 / 4) ** 3
    assert powerful(found, at(0.05 / 4) + (at(0.05 / 3) - at(0.05 / 4)) * another)
