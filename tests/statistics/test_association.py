"""Cramér's V and the permutation of states."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from planroute.errors import InputError
from planroute.statistics import cramers_v, state_permutation
from planroute.streams import stream
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

MODE = st.sampled_from(["PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH"])
BAND = st.sampled_from(["none", "moderate", "high"])
ROWS = st.lists(st.tuples(MODE, BAND), min_size=1, max_size=30)
FEW = settings(deadline=None, max_examples=30)
BANDED = np.array([[6, 8, 4, 0], [3, 9, 3, 3], [2, 4, 4, 12]]) / 58
"""Shares of four modes in three bands, much like a declarer that answers to stress."""


def rows_of(table):
    """Return the two labels of every row that the counts of ``table`` stand for."""
    return tuple(np.repeat(index.ravel(), np.ravel(table)) for index in np.indices(np.shape(table)))


def v_of(shares):
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return np.sqrt(((shares - expected) ** 2 / expected).sum() / (min(shares.shape) - 1))


def association(a, b, **options):
    return cramers_v(a, b, name="x", draws=99, **options)


# V


def test_v_by_hand():
    """10, 20, 20, 10: chi-squared is 60 (0.25 · 1/3)² · 4 ... = 20/3, so V is a third."""
    found = association(*rows_of(np.array([[10, 20], [20, 10]])))
    assert found.v == pytest.approx(1 / 3)
    assert found.p_chi2 == pytest.approx(stats.chi2.sf(20 / 3, 1))


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (4, 3), (6, 2)])
def test_v_agrees_with_scipy_and_its_resamples_too(shape):
    rng = stream(0, "sample")
    table = rng.integers(1, 9, size=shape)
    found = cramers_v(*rows_of(table), name="x", draws=50)
    assert found.v == pytest.approx(stats.contingency.association(table, method="cramer"))
    shares = table.ravel() / table.sum()
    resamples = stream(0, "bootstrap", "x").multinomial(table.sum(), shares, size=50).reshape(50, *shape)
    resampled = [stats.contingency.association(one, method="cramer") for one in resamples]
    assert min(resampled) - 1e-9 <= found.low <= found.v <= found.high <= max(resampled) + 1e-9
    below = stats.norm.ppf((np.sum(np.array(resampled) < found.v - 1e-9) + 0.5) / 51)
    ends = np.quantile(resampled, stats.norm.cdf(2 * below + stats.norm.ppf([0.025, 0.975])))
    assert [found.low, found.high] == pytest.approx([min(ends[0], found.v), max(ends[1], found.v)])


@pytest.mark.parametrize(("a", "b"), [([], []), (["x"], ["y"]), (["x"] * 4, [1, 2, 1, 2]), ([1, 2, 3], ["y"] * 3)])
def test_nothing_to_associate(a, b):
    found = association(a, b)
    assert (found.v, found.low, found.high, found.p_chi2, found.n) == (None, None, None, None, len(a))


def test_clusters_of_alike_rows_widen_the_interval_and_leave_no_p():
    a, b = rows_of(np.array([[10, 20], [20, 10]]))
    states = np.concatenate([np.arange(count) // 5 + 10 * k for k, count in enumerate((10, 20, 20, 10))])
    plain, clustered = cramers_v(a, b, name="x"), cramers_v(a, b, name="x", clusters=states)
    assert clustered.v == plain.v
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
    assert clustered.p_chi2 is None
    assert cramers_v(a, b, name="x", clusters=["one"] * 60).low is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: association(["a", "b"], ["a"]),
        lambda: association(["a", None], ["a", "b"]),
        lambda: association(["a", float("nan")], ["a", "b"]),
        lambda: association([["a"], ["b"]], ["a", "b"]),
        lambda: association(["a", "b"], ["a", "b"], clusters=[1]),
        lambda: association(["a", "b"], ["a", "b"], level=0),
        lambda: state_permutation(["a", "b"], ["x"], [1, 2], name="x"),
        lambda: state_permutation(["a", "b"], ["x", "y"], [1, 2, 3], name="x"),
        lambda: state_permutation(["a", "b"], ["x", "y"], [1, 1], name="x"),
        lambda: state_permutation(["a", "b"], ["x", "y"], [1, 2], name="x", draws=0),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()


@FEW
@given(ROWS)
def test_v_is_between_0_and_1_within_its_interval(rows):
    a, b = zip(*rows, strict=True)
    found = association(a, b)
    if found.v is not None:
        assert 0 <= found.v <= 1
        assert 0 <= found.p_chi2 <= 1
    if found.low is not None:
        assert 0 <= found.low <= found.v <= found.high <= 1


@FEW
@given(ROWS, st.randoms())
def test_v_knows_no_order_no_names_and_no_sides(rows, random):
    a, b = zip(*rows, strict=True)
    found = association(a, b)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert association(*zip(*shuffled, strict=True)) == found
    turned = association(b, [f"{len(mode)} {mode}" for mode in a])
    assert (turned.v, turned.p_chi2) == (pytest.approx(found.v), pytest.approx(found.p_chi2))


@FEW
@given(st.lists(MODE, min_size=2, max_size=20).filter(lambda modes: len(set(modes)) > 1))
def test_what_determines_the_other_has_v_1(modes):
    assert association(modes, [mode.lower() for mode in modes]).v == pytest.approx(1)


def test_chi_squared_is_nominal_and_v_covers_and_finds():
    """Power by the noncentral chi-squared distribution, whose noncentrality is n V² (min(r, c) − 1)."""
    n, weak = 150, 0.6 * BANDED + 0.4 * np.outer(BANDED.sum(axis=1), BANDED.sum(axis=0))
    independent = np.outer(BANDED.sum(axis=1), BANDED.sum(axis=0))

    def once(rng):
        null, planted = (rng.multinomial(n, shares.ravel()).reshape(3, 4) for shares in (independent, weak))
        return [
            cramers_v(*rows_of(null), name="x", draws=1).p_chi2 <= 0.05,
            cramers_v(*rows_of(planted), name="x", draws=1).p_chi2 <= 0.05,
        ]

    rejected, found = rates(once, 31)
    edge = stats.chi2.ppf(0.95, 6)
    assert nominal(rejected)
    assert powerful(found, stats.ncx2.sf(edge, 6, n * v_of(weak) ** 2 * 2))


def test_the_interval_of_v_covers():
    def once(rng):
        rows = rows_of(rng.multinomial(1000, BANDED.ravel()).reshape(3, 4))
        return [outside(cramers_v(*rows, **fresh(rng)), v_of(BANDED))]

    (missed,) = rates(once, 32)
    assert nominal(missed)


# Permutation of states


def test_p_is_that_of_all_rearrangements():
    """Five states, two of them high: of ten arrangements two are as uneven as the observed one."""
    outcomes = ["A", "A", "A", "A", "B", "B", "A", "A", "B", "B"]
    states, groups = np.repeat(range(5), 2), np.repeat(["low", "low", "high", "low", "high"], 2)
    counts = np.array([[2, 0], [2, 0], [0, 2], [2, 0], [0, 2]])
    high = np.array([False, False, True, False, True])

    def uneven(chosen):
        return abs(counts[list(chosen), 0].mean() - counts[~np.isin(range(5), list(chosen)), 0].mean())

    arrangements = {tuple(sorted(np.flatnonzero(np.array(order)))) for order in permutations(high)}
    observed = uneven(np.flatnonzero(high))
    exact = np.mean([uneven(chosen) >= observed - 1e-9 for chosen in arrangements])
    found = state_permutation(outcomes, groups, states, name="x", draws=20000)
    assert found.v == pytest.approx(1)
    assert found.p == pytest.approx(exact, abs=0.01)
    assert found.states == 5


def test_p_with_every_row_a_state_agrees_with_scipy():
    a, b = rows_of(np.array([[9, 4, 2], [5, 6, 7]]))
    theirs = stats.permutation_test(
        (a,),
        lambda shuffled: stats.contingency.association(np.histogram2d(shuffled, b, bins=(2, 3))[0].astype(int)),
        permutation_type="pairings",
        alternative="greater",
        n_resamples=500,
        rng=stream(1, "theirs"),
    )
    found = state_permutation(b, a, range(len(a)), name="x", draws=20000)
    assert found.v == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue, abs=4 * np.sqrt(theirs.pvalue / 500))


def test_p_is_never_below_its_own_arrangement():
    outcomes, states = ["A"] * 30 + ["B"] * 30, range(60)
    assert state_permutation(outcomes, outcomes, states, name="x", draws=99).p == 0.01


def test_nothing_to_permute():
    nothing = state_permutation([], [], [], name="x")
    one_group = state_permutation(["A", "B"], ["x", "x"], [1, 2], name="x")
    constant = state_permutation(["A", "A"], ["x", "y"], [1, 2], name="x")
    assert [(found.v, found.p) for found in (nothing, one_group, constant)] == [(None, None), (None, None), (None, 1)]


@FEW
@given(st.lists(st.tuples(st.lists(MODE, min_size=1, max_size=3), BAND), min_size=2, max_size=10), st.randoms())
def test_p_knows_no_order_and_no_names_of_states(states, random):
    rows = [(mode, band, k) for k, (modes, band) in enumerate(states) for mode in modes]
    found = state_permutation(*zip(*rows, strict=True), name="x", draws=99)
    renamed = [(mode, band, f"state {97 - k}") for mode, band, k in rows]
    random.shuffle(renamed)
    assert state_permutation(*zip(*renamed, strict=True), name="x", draws=99) == found
    assert found.p is None or 0.01 <= found.p <= 1


def test_state_permutation_holds_its_level_where_rows_are_alike_and_chi_squared_does_not():
    """20 states of three declarations, all three the same: sixty rows that are worth twenty."""
    states, bands = np.repeat(range(20), 3), np.repeat(["none", "high"], 30)

    def once(rng):
        modes = rng.choice(4, p=[0.1, 0.4, 0.2, 0.3], size=20)[states]
        return [state_permutation(modes, bands, states, **fresh(rng)).p <= 0.05]

    (rejected,) = rates(once, 33)
    assert rejected <= 0.066
    rng = np.random.default_rng(33)
    samples = [rng.choice(4, p=[0.1, 0.4, 0.2, 0.3], size=20)[states] for _ in range(200)]
    assert np.mean([cramers_v(modes, bands, name="x", draws=1).p_chi2 <= 0.05 for modes in samples]) > 0.25


@pytest.mark.parametrize("alike", [True, False], ids=["alike", "independent"])
def test_state_permutation_finds(alike):
    """Its power is that of chi-squared on as many rows as are independent: the states, or every declaration."""
    many = 90 if alike else 30
    states, bands = np.repeat(range(many), 3), np.repeat(np.repeat(["none", "high"], many // 2), 3)
    low, high = np.array([0.15, 0.5, 0.2, 0.15]), np.array([0.1, 0.3, 0.2, 0.4])

    def once(rng):
        size = many // 2 if alike else 3 * many // 2
        modes = np.concatenate([rng.choice(4, p=low, size=size), rng.choice(4, p=high, size=size)])
        return [state_permutation(modes[states] if alike else modes, bands, states, **fresh(rng)).p <= 0.05]

    (found,) = rates(once, 34)
    shares = np.array([low, high]) / 2
    assert powerful(found, stats.ncx2.sf(stats.chi2.ppf(0.95, 3), 3, 90 * v_of(shares) ** 2), 0.06)
