"""Regret, oracle membership, and the share of a gap that is closed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from planroute.errors import InputError
from planroute.modes import MODES, Mode
from planroute.statistics import gap_closed, oracle_shares, paired_regret, share_of_gap_closed, t_interval, wilson
from planroute.streams import stream
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

EIGHTHS = st.integers(-1000, 1000).map(lambda i: i / 8)
COSTS = st.lists(st.tuples(*[st.integers(0, 3).map(float)] * 4), min_size=1, max_size=20).map(np.array)
FEW = settings(deadline=None, max_examples=30)


# The gap


def test_the_gap_that_the_paper_closes():
    """Fixed sequential is 61.06 above the constraint-aware 29.00; the feature floor is 18.1; 84.8 % are closed."""
    assert share_of_gap_closed(29.00 + 61.06, 29.00, 18.1) == pytest.approx(0.848, abs=1e-3)


@pytest.mark.parametrize(
    ("costs", "share"),
    [((10, 10, 5), 0), ((10, 5, 5), 1), ((10, 12, 5), -0.4), ((10, 4, 5), 1.2), ((5, 4, 5), None), ((5, 4, 6), None)],
)
def test_shares_of_a_gap(costs, share):
    assert share_of_gap_closed(*costs) == share
    assert gap_closed(*([cost] * 3 for cost in costs), name="x").share == share


def test_too_little_to_say():
    assert gap_closed([], [], [], name="x").to_dict() == {"share": None, "low": None, "high": None, "n": 0}
    one = gap_closed([4], [3], [2], name="x")
    assert (one.share, one.low, one.n) == (0.5, None, 1)


def test_a_gap_that_many_resamples_lack_has_no_interval():
    baseline, reference = np.array([1.0, 1.0, 1.0, 4.0]), np.array([1.5, 1.5, 1.5, 1.0])
    found = gap_closed(baseline, baseline - 0.1, reference, name="x")
    assert found.share == pytest.approx(0.1 / 0.375)
    assert (found.low, found.high) == (None, None)


def test_gap_agrees_with_scipy():
    before, after, best = stream(0, "sample").normal(size=(3, 30)) + np.array([[9], [7], [5]])
    order = np.argsort(before)
    theirs = stats.bootstrap(
        (before[order], after[order], best[order]),
        lambda b, a, r, axis: (b - a).mean(axis=axis) / (b - r).mean(axis=axis),
        paired=True,
        n_resamples=499,
        method="percentile",
        rng=stream(0, "bootstrap", "x"),
    )
    found = gap_closed(before, after, best, name="x", draws=499)
    assert [found.low, found.high] == pytest.approx(list(theirs.confidence_interval))


@FEW
@given(
    st.lists(st.tuples(EIGHTHS, EIGHTHS, EIGHTHS), min_size=2, max_size=10),
    EIGHTHS,
    st.sampled_from([0.25, 8.0]),
    st.randoms(),
)
def test_a_share_knows_no_unit_no_shift_and_no_order(costs, shift, scale, random):
    shuffled = list(costs)
    random.shuffle(shuffled)
    plain = gap_closed(*np.array(costs).T, name="x", draws=99)
    moved = gap_closed(*np.array(shuffled).T * scale + shift, name="x", draws=99)
    for end in ("share", "low", "high"):
        one, other = getattr(plain, end), getattr(moved, end)
        assert (one is None) is (other is None)
        assert one is None or other == pytest.approx(one, rel=1e-6, abs=1e-9)
    assert plain.low is None or plain.low <= plain.share <= plain.high


def test_a_share_covers_and_finds():
    """The power is that of the delta method for a ratio of means."""
    share, n = 0.25, 200

    def once(rng):
        scenario = rng.normal(100, 20, size=n)
        before, best, noise = scenario + rng.normal(size=n), scenario - rng.gamma(4, 1, size=n), rng.normal(size=n)
        options = fresh(rng)
        after = scenario + 5 * noise
        planted = after - 4 * share
        return [outside(gap_closed(before, achieved, best, **options), 0) for achieved in (after, planted)]

    missed, found = rates(once, 81)
    variance = 1 + 25 - 2 * share * 1 + share**2 * (1 + 4)  # of (before − after) − share · (before − best)
    assert nominal(missed)
    assert powerful(found, stats.norm.cdf(4 * share / np.sqrt(variance / n) - 1.96))


# Regret


def test_regret_by_hand():
    costs = np.array([[4.0, 1.0, 3.0], [2.0, 2.0, 9.0]])
    assert paired_regret(costs, [2, 0]).tolist() == [2, 0]
    assert paired_regret(costs, np.array([0, 2])).tolist() == [3, 7]
    by_mode = {mode: [4.0, 2.0] if mode is Mode.SEARCH else [1.0, 5.0] for mode in MODES}
    assert paired_regret(by_mode, [Mode.SEARCH, "SEARCH"]).tolist() == [3, 0]


def test_no_scenarios():
    assert paired_regret(np.zeros((0, 4)), []).tolist() == []
    found = oracle_shares(np.zeros((0, 4)))
    assert (found.split, found.members, found.n) == ((0,) * 4, (0,) * 4, 0)


@FEW
@given(COSTS, EIGHTHS, st.data())
def test_regret_is_never_negative_and_knows_no_level(costs, shift, data):
    chosen = data.draw(st.lists(st.integers(0, 3), min_size=len(costs), max_size=len(costs)))
    regret = paired_regret(costs, chosen)
    assert (regret >= 0).all()
    assert paired_regret(costs + shift * np.arange(len(costs))[:, None], chosen).tolist() == regret.tolist()
    assert paired_regret(costs, costs.argmin(axis=1)).tolist() == [0] * len(costs)


def test_regret_of_a_selector_that_knows_something_is_told_from_chance():
    """Of two modes with normal costs the worse one costs E|d| = 2/√π more; chance takes it every other time."""
    n, chance, planted = 400, 0.5, 0.42
    gap = 2 / np.sqrt(np.pi)

    def once(rng):
        costs = rng.normal(size=(n, 2))
        worse, luck = costs.argmax(axis=1), rng.random(n)
        return [
            outside(t_interval(paired_regret(costs, np.where(luck < share, worse, 1 - worse))), chance * gap)
            for share in (chance, planted)
        ]

    missed, found = rates(once, 82)
    spread = np.sqrt(planted * 2 - (planted * gap) ** 2)  # E[d²] = 2
    assert nominal(missed)
    assert powerful(found, TTestPower().power((chance - planted) * gap / spread, n, 0.05), 0.06)


# Oracles


def test_the_memberships_that_the_paper_counts():
    """144 scenarios: search among the best in 59, predefined in 44, sequential in 43; two tie search and predefined."""
    costs = np.full((144, 4), 9.0)
    costs[:57, 3] = costs[57:99, 0] = costs[99:142, 1] = 1.0
    costs[142:, [0, 3]] = 1.0
    found = oracle_shares({mode: costs[:, column] for column, mode in enumerate(MODES)})
    assert found.to_dict() == {
        "members": {"PREDEFINED": 44, "SEQUENTIAL": 43, "HIERARCHICAL": 0, "SEARCH": 59},
        "split": {"PREDEFINED": 43.0, "SEQUENTIAL": 43.0, "HIERARCHICAL": 0.0, "SEARCH": 58.0},
        "ties": 2,
        "infeasible": 0,
        "n": 144,
    }


def test_only_feasible_modes_count():
    costs = np.array([[1.0, 2.0], [1.0, 2.0], [np.nan, 2.0], [1.0, 1.0]])
    feasible = np.array([[1, 1], [0, 1], [0, 1], [0, 0]], dtype=bool)
    found = oracle_shares(costs, feasible)
    assert (found.split, found.members, found.ties, found.infeasible) == ((1, 2), (1, 2), 0, 1)


@pytest.mark.parametrize(("tolerance", "ties"), [(0, 0), (0.1, 0), (0.25, 1)])
def test_ties_are_within_the_tolerance(tolerance, ties):
    assert oracle_shares([[1.0, 1.25, 1.5]], tolerance=tolerance).ties == ties


@FEW
@given(COSTS, st.permutations(range(4)))
def test_splits_add_up_and_modes_have_no_rank(costs, order):
    found = oracle_shares(costs)
    assert sum(found.split) == pytest.approx(len(costs))
    assert sum(found.members) >= len(costs)
    assert (sum(found.members) == len(costs)) is (found.ties == 0)
    moved = oracle_shares(costs[:, order])
    assert moved.split == pytest.approx([found.split[column] for column in order])
    assert oracle_shares(costs[::-1] * 8 - 3).members == found.members
    assert [paired_regret(costs, [column] * len(costs)).tolist().count(0) for column in range(4)] == list(found.members)


@pytest.mark.parametrize(
    "call",
    [
        lambda: share_of_gap_closed(1, np.nan, 0),
        lambda: gap_closed([1, 2], [1], [0, 0], name="x"),
        lambda: gap_closed([1, 2], [1, 2], [0, 0], name="x", draws=0),
        lambda: paired_regret([[1, 2]], [2]),
        lambda: paired_regret([[1, 2]], [-1]),
        lambda: paired_regret([[1, 2]], [0, 1]),
        lambda: paired_regret([[1, np.inf]], [0]),
        lambda: paired_regret([1, 2], [0, 0]),
        lambda: paired_regret({}, []),
        lambda: paired_regret({"a": [1, 2], "b": [1]}, ["a", "a"]),
        lambda: oracle_shares([[1, np.nan]]),
        lambda: oracle_shares([[1, 2]], [[True]]),
        lambda: oracle_shares({"a": [1], "b": [2]}, {"b": [True], "a": [True]}),
        lambda: oracle_shares([[1, 2]], tolerance=-1),
        lambda: oracle_shares([["a", "b"]]),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()


def test_oracle_shares_of_alike_modes_are_even_and_a_better_one_is_found():
    """How often one of four alike modes wins is binomial, and Wilson leaves a quarter out where the score test does."""
    n, planted = 200, 0.35
    k = np.arange(n + 1)
    rejects = np.abs(k / n - 0.25) / np.sqrt(0.25 * 0.75 / n) > stats.norm.ppf(0.975)

    def once(rng):
        costs = rng.normal(size=(n, 4))
        better = np.where(rng.random(n) < (planted - 0.25) / 0.75, 10.0, 0.0)  # wins for certain, else as the others do
        wins = [oracle_shares(costs).members[0], oracle_shares(costs - better[:, None] * [1, 0, 0, 0]).members[0]]
        return [not low <= won / n <= high for won in wins]

    low, high = k[~rejects].min() / n, k[~rejects].max() / n
    assert outside(wilson(int(low * n) - 1, n), 0.25)
    assert not outside(wilson(round(low * n), n), 0.25)
    rejected, found = rates(once, 83)
    assert nominal(rejected)
    assert powerful(found, stats.binom.pmf(k, n, planted)[rejects].sum())
