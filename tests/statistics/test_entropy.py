"""How evenly declarations spread."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from planroute.errors import InputError
from planroute.statistics import normalised_entropy
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

MODES = st.lists(st.sampled_from("PSHX"), min_size=1, max_size=30)
FEW = settings(deadline=None, max_examples=30)


def entropy(categories, k=4, **options):
    return normalised_entropy(categories, k, name="x", draws=99, **options)


@pytest.mark.parametrize(
    ("categories", "k", "h"), [("PSHX", 4, 1), ("PS", 4, 0.5), ("PPPP", 4, 0), ("PPS", 2, 0.918296), ("P", 2, 0)]
)
def test_by_hand(categories, k, h):
    assert entropy(categories, k).h == pytest.approx(h, abs=1e-6)


def test_agrees_with_scipy():
    counts = [2, 58]
    assert entropy("P" * 2 + "S" * 58).h == pytest.approx(stats.entropy(counts, base=4))


def test_one_category_has_an_interval_without_width():
    found = entropy("SSSSS")
    assert (found.h, found.low, found.high) == (0, 0, 0)
    assert str(found.h) == "0.0"


def test_too_little_to_say():
    assert entropy("").to_dict() == {"h": None, "low": None, "high": None, "n": 0, "k": 4}
    assert (entropy("P").h, entropy("P").low) == (0, None)
    assert entropy("PS", clusters=[1, 1]).low is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: entropy("PSH", 2),
        lambda: entropy("PP", 1),
        lambda: entropy(["P", None]),
        lambda: entropy("PS", clusters=[1]),
        lambda: entropy("PS", level=1.5),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()


@FEW
@given(MODES, st.randoms())
def test_in_range_within_its_interval_whatever_order_and_names(modes, random):
    found = entropy(modes)
    assert 0 <= found.h <= 1
    if len(modes) > 1:
        assert 0 <= found.low <= found.h <= found.high <= 1
    shuffled = list(modes)
    random.shuffle(shuffled)
    assert entropy(shuffled) == found
    assert entropy([ord(mode) * -7 for mode in modes]).h == pytest.approx(found.h)


@FEW
@given(MODES, st.integers(2, 4))
def test_repeating_everything_changes_nothing_but_the_width(modes, times):
    once, often = entropy(modes), entropy(modes * times)
    assert often.h == pytest.approx(once.h)
    states = list(range(len(modes))) * times
    assert (entropy(modes * times, clusters=states).low is None) == (len(modes) < 2)


def test_more_possible_categories_make_it_less_even():
    assert entropy("PPS", 2).h > entropy("PPS", 3).h > entropy("PPS", 4).h > 0


def test_covers_and_finds():
    """The power is that of the delta method: the variance of H is that of −ln p(category), over n."""
    n, shares, planted = 2500, np.array([0.35, 0.45, 0.12, 0.08]), np.array([0.33, 0.486, 0.112, 0.072])

    def h_of(p):
        return -(p * np.log(p)).sum() / np.log(4)

    def once(rng):
        options = fresh(rng)
        return [
            outside(normalised_entropy(rng.choice(4, p=p, size=n), 4, **options), h_of(shares))
            for p in (shares, planted)
        ]

    missed, found = rates(once, 41)
    assert nominal(missed)
    variance = (planted * np.log(planted) ** 2).sum() - (h_of(planted) * np.log(4)) ** 2
    error = np.sqrt(variance / n) / np.log(4)
    assert powerful(found, stats.norm.cdf((h_of(shares) - h_of(planted)) / error - 1.96), 0.06)


def test_clusters_cover_where_rows_do_not():
    """600 states of three declarations, all three the same."""
    shares, states = np.array([0.35, 0.45, 0.12, 0.08]), np.repeat(range(600), 3)
    truth = -(shares * np.log(shares)).sum() / np.log(4)

    def once(rng):
        modes = rng.choice(4, p=shares, size=600)[states]
        return [outside(normalised_entropy(modes, 4, clusters=states, **fresh(rng)), truth)]

    (missed,) = rates(once, 42)
    assert nominal(missed)
    rng = np.random.default_rng(42)
    samples = [rng.choice(4, p=shares, size=600)[states] for _ in range(200)]
    assert np.mean([outside(normalised_entropy(modes, 4, **fresh(rng)), truth) for modes in samples]) > 0.2
