"""Intervals of one sample: by hand, against other libraries, and whether they cover."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from planroute.errors import InputError
from planroute.statistics import bootstrap_interval, cluster_bootstrap, t_interval, wilson
from planroute.streams import stream
from tests.statistics.planted import fresh, nominal, outside, powerful, rates

EIGHTHS = st.integers(-1000, 1000).map(lambda i: i / 8)
SAMPLE = st.lists(EIGHTHS, min_size=2, max_size=12)
VALUES = stream(0, "sample").normal(size=30)
FEW = settings(deadline=None, max_examples=30)
FUNCTIONS = {
    "t": t_interval,
    "mean": lambda values: bootstrap_interval(values, name="x", draws=99),
    "median": lambda values: bootstrap_interval(values, "median", name="x", draws=99),
    "function": lambda values: bootstrap_interval(values, np.max, name="x", draws=99),
    "cluster": lambda values: cluster_bootstrap(values, np.arange(len(values)) // 2, name="x", draws=99),
}
EVERY = pytest.mark.parametrize("interval", FUNCTIONS.values(), ids=FUNCTIONS)


def ends(interval):
    return [interval.low, interval.mean, interval.high]


# Values known otherwise


def test_t_by_hand():
    half = 2.7764451 * np.sqrt(2.5 / 5)
    assert ends(t_interval([1, 2, 3, 4, 5])) == pytest.approx([3 - half, 3, 3 + half])


def test_t_agrees_with_statsmodels():
    values = stream(0, "sample").normal(size=17)
    assert ends(t_interval(values, 0.9))[::2] == pytest.approx(DescrStatsW(values).tconfint_mean(0.1))


@pytest.mark.parametrize(("successes", "low", "high"), [(8, 0.4902, 0.9433), (0, 0.0, 0.2775), (10, 0.7225, 1.0)])
def test_wilson_of_ten(successes, low, high):
    assert ends(wilson(successes, 10)) == pytest.approx([low, successes / 10, high], abs=5e-5)


def test_wilson_agrees_with_statsmodels():
    assert ends(wilson(3, 144, 0.99))[::2] == pytest.approx(proportion_confint(3, 144, 0.01, "wilson"))


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_bootstrap_agrees_with_scipy(statistic):
    values = np.sort(stream(0, "sample").exponential(size=40))
    rng = stream(5, "bootstrap", "mine")
    theirs = stats.bootstrap((values,), getattr(np, statistic), n_resamples=999, method="percentile", rng=rng)
    mine = bootstrap_interval(values, statistic, name="mine", seed=5, draws=999)
    assert ends(mine)[::2] == pytest.approx(list(theirs.confidence_interval))


def test_many_rows_are_resampled_in_batches_as_at_once():
    values = np.sort(stream(0, "sample").normal(size=3001))
    picks = stream(0, "bootstrap", "x").integers(3001, size=(1501, 3001))
    wanted = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    assert ends(bootstrap_interval(values, name="x", draws=1501))[::2] == pytest.approx(wanted)


def test_clusters_of_one_row_are_rows():
    values = np.sort(stream(0, "sample").normal(size=20))
    rows = bootstrap_interval(values, name="x")
    assert ends(cluster_bootstrap(values, range(20), name="x")) == pytest.approx(ends(rows))


def test_rows_weigh_the_same_whatever_their_cluster():
    found = cluster_bootstrap([1, 1, 1, 0], ["a", "a", "a", "b"], name="x")
    assert (found.mean, found.n, found.clusters) == (0.75, 4, 2)
    assert (found.low, found.high) == (0, 1)


def test_repeating_every_row_of_a_cluster_is_no_evidence():
    values = stream(0, "sample").normal(size=10)
    once = cluster_bootstrap(values, range(10), name="x")
    often = cluster_bootstrap(np.repeat(values, 7), np.repeat(range(10), 7), name="x")
    assert ends(often) == pytest.approx(ends(once))


# What cannot be answered


@EVERY
def test_equal_values_have_an_interval_without_width(interval):
    assert ends(interval([2.5] * 4)) == [2.5] * 3


@pytest.mark.parametrize("name", FUNCTIONS)
def test_too_few_rows(name):
    none, one = FUNCTIONS[name]([]), FUNCTIONS[name]([3.0])
    assert (ends(none), none.n) == ([None] * 3, 0)
    assert (ends(one), one.n) == ([None, 3.0, None], 1)


def test_one_cluster_has_no_interval():
    assert ends(cluster_bootstrap([1, 0, 1, 0], ["a"] * 4, name="x")) == [None, 0.5, None]


def test_no_trials():
    assert ends(wilson(0, 0)) == [None] * 3


@pytest.mark.parametrize(("often", "there"), [(0.99, True), (0.8, False)])
def test_a_statistic_undefined_in_many_resamples_has_no_interval(often, there):
    values = np.arange(50.0)
    edge = np.quantile([np.mean(stream(1, str(i)).choice(values, 50)) for i in range(500)], often)
    found = bootstrap_interval(values, lambda row: row.mean() if row.mean() <= edge else np.nan, name="x")
    assert found.mean == 24.5
    assert (found.low is not None) is there


def test_a_statistic_undefined_on_the_sample_has_neither():
    assert ends(bootstrap_interval([1, 2, 3], lambda row: np.nan, name="x")) == [None] * 3


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(3, 2),
        lambda: wilson(-1, 2),
        lambda: wilson(0.5, 2),
        lambda: wilson(np.nan, 2),
        lambda: wilson(1, np.inf),
        lambda: wilson(1, 2, 1.0),
        lambda: t_interval([1, 2], 0),
        lambda: bootstrap_interval([1, 2], "mode", name="x"),
        lambda: bootstrap_interval([1, 2], name="x", level=95),
        lambda: cluster_bootstrap([1, 2], ["a"], name="x"),
        lambda: cluster_bootstrap([1, 2], ["a", None], name="x"),
        lambda: cluster_bootstrap([1, 2], ["a", "b"], name="x", draws=0),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()


# What does not change


@EVERY
@FEW
@given(SAMPLE)
def test_an_interval_holds_its_estimate(interval, values):
    found = interval(values)
    if found.low is not None:
        assert found.low - 1e-9 <= found.mean <= found.high + 1e-9


@EVERY
@FEW
@given(SAMPLE, EIGHTHS, st.sampled_from([0.25, 1.0, 8.0]))
def test_shift_and_scale_carry_over(interval, values, shift, scale):
    plain, moved = interval(values), interval(np.array(values) * scale + shift)
    if plain.low is not None:
        assert ends(moved) == pytest.approx([end * scale + shift for end in ends(plain)], abs=1e-9)


@EVERY
@FEW
@given(st.lists(EIGHTHS, min_size=3, max_size=12), st.randoms())
def test_order_of_rows_does_not_matter(interval, values, random):
    rows = [(value, k // 2) for k, value in enumerate(values)]
    random.shuffle(rows)
    shuffled, clusters = zip(*rows, strict=True)
    if interval is FUNCTIONS["cluster"]:
        found = cluster_bootstrap(shuffled, clusters, name="x", draws=99)
    else:
        found = interval(shuffled)
    assert ends(found) == pytest.approx(ends(interval(values)), abs=1e-12)


def test_order_within_a_cluster_changes_no_bit():
    values, tasks = stream(0, "sample").normal(size=40) * 1e3, np.arange(40) // 8
    for k in range(5):
        order = stream(k, "order").permutation(40)
        assert cluster_bootstrap(values[order], tasks[order], name="x") == cluster_bootstrap(values, tasks, name="x")


@FEW
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_share_and_mirrors(trial):
    k, n = trial
    found, mirrored = wilson(k, n), wilson(n - k, n)
    assert 0 <= found.low <= k / n + 1e-12
    assert k / n - 1e-12 <= found.high <= 1
    assert found.high > found.low
    assert ends(mirrored) == pytest.approx([1 - end for end in ends(found)][::-1])


def test_draws_belong_to_the_name_and_seed():
    first = bootstrap_interval(VALUES, name="a")
    assert first == bootstrap_interval(VALUES, name="a")
    assert first != bootstrap_interval(VALUES, name="b")
    assert first != bootstrap_interval(VALUES, name="a", seed=1)


@pytest.mark.parametrize(
    "interval",
    [
        lambda level: t_interval(VALUES, level),
        lambda level: wilson(7, 30, level),
        lambda level: bootstrap_interval(VALUES, name="x", level=level),
        lambda level: cluster_bootstrap(VALUES, range(30), name="x", level=level),
    ],
)
def test_more_confidence_is_wider(interval):
    narrow, wide = interval(0.8), interval(0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


# Planted effects. An effect of d on every value is as if the interval were asked about −d.


def test_t_covers_and_finds():
    missed, found = rates(
        lambda rng: [outside(t_interval(rng.normal(size=8)), 0), outside(t_interval(rng.normal(1, 1, size=8)), 0)], 1
    )
    assert nominal(missed)
    assert powerful(found, TTestPower().power(1.0, 8, 0.05))


def test_wilson_covers_and_finds():
    """The interval leaves p out exactly where the score test rejects p, whose power is a sum over the binomial."""
    n, p, planted = 100, 0.3, 0.4
    k = np.arange(n + 1)
    every = [wilson(successes, n) for successes in k]
    rejects = np.abs(k / n - p) / np.sqrt(p * (1 - p) / n) > stats.norm.ppf(0.975)
    missed, found = rates(
        lambda rng: [
            outside(every[rng.binomial(n, p)], p),
            outside(every[rng.binomial(n, planted)], p),
        ],
        2,
    )
    assert nominal(missed)
    assert powerful(found, stats.binom.pmf(k, n, planted)[rejects].sum())


def test_bootstrap_of_the_mean_covers_and_finds():
    def once(rng):
        found = bootstrap_interval(rng.normal(size=200), **fresh(rng))
        return [outside(found, 0), outside(found, 0.17)]

    missed, found = rates(once, 3)
    assert nominal(missed)
    assert powerful(found, TTestPower().power(0.17, 200, 0.05))


def test_bootstrap_of_the_median_covers_and_finds():
    """The power is that of the median's asymptotic distribution."""

    def once(rng):
        found = bootstrap_interval(rng.normal(size=61), "median", **fresh(rng))
        return [outside(found, 0), outside(found, 0.4)]

    missed, found = rates(once, 4)
    assert nominal(missed)
    error = np.sqrt(np.pi / 2 / 61)
    assert powerful(found, stats.norm.cdf(0.4 / error - 1.96), 0.06)


def test_cluster_bootstrap_covers_and_finds_where_pooling_rejects_too_often():
    """100 tasks of three seeds each, half of the variance between tasks."""
    tasks = np.repeat(np.arange(100), 3)

    def once(rng):
        values = rng.normal(size=100)[tasks] + rng.normal(size=300)
        found = cluster_bootstrap(values, tasks, **fresh(rng))
        return [outside(found, 0), outside(found, 0.3), outside(t_interval(values), 0)]

    missed, found, pooled = rates(once, 5)
    assert nominal(missed)
    assert powerful(found, TTestPower().power(0.3 / np.sqrt(1 + 1 / 3), 100, 0.05))
    assert pooled > 0.12
