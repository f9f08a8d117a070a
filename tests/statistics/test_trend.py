"""Slopes and logistic trends."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.regression.linear_model import OLS

from planroute.errors import InputError
from planroute.statistics import logistic_trend, slope
from planroute.streams import stream
from tests.statistics.planted import nominal, powerful, rates

EIGHTHS = st.integers(-1000, 1000).map(lambda i: i / 8)
POINTS = st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=3, max_size=12)
TRIALS = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30)
FEW = settings(deadline=None, max_examples=30)
NOISE = np.repeat([0.0, 0.05, 0.1, 0.2, 0.3, 0.4], 3)
STRESS = np.tile([0.0, 0.5, 1.0, 1.5], 50)


def line(found):
    return [found.slope, found.intercept, found.low, found.high, found.p]


def trend(found):
    return [found.beta, found.low, found.high, found.p]


def with_constant(x):
    return np.column_stack([np.ones(len(x)), x])


# Slopes


def test_slope_by_hand():
    """x = 1, 2, 3 and y = 1, 3, 2: slope 1/2, residual variance 1.5, so its standard error is √0.75 on one degree."""
    found = slope([1, 2, 3], [1, 3, 2])
    assert line(found)[:2] == pytest.approx([0.5, 1.0])
    assert found.high - 0.5 == pytest.approx(12.7062047 * np.sqrt(0.75))
    assert found.p == pytest.approx(1 - 2 / np.pi * np.arctan(0.5 / np.sqrt(0.75)))


def test_slope_agrees_with_statsmodels():
    x, y = stream(0, "sample").normal(size=(2, 25)) * [[1e-3], [1e6]]
    theirs = OLS(y, with_constant(x)).fit()
    assert line(slope(x, y)) == pytest.approx([*theirs.params[::-1], *theirs.conf_int()[1], theirs.pvalues[1]])


def test_slopes_that_cannot_be_told():
    assert line(slope([], [])) == line(slope([1], [2])) == line(slope([3, 3, 3], [1, 2, 3])) == [None] * 5
    assert line(slope([0, 2], [1, 5])) == [2, 1, None, None, None]
    assert line(slope([1, 2, 3], [4, 4, 4])) == [0, 4, 0, 0, 1]
    assert line(slope([1, 2], [4, 4])) == [0, 4, None, None, None]


def test_a_line_without_residue():
    found = slope([0, 1, 2, 3], [1, 3, 5, 7])
    assert line(found) == pytest.approx([2, 1, 2, 2, 0], abs=1e-6)


@FEW
@given(POINTS, EIGHTHS, st.sampled_from([0.25, 8.0]))
def test_slope_follows_units_and_shifts(points, shift, scale):
    x, y = np.array(points).T
    assume(np.ptp(x) > 0)
    plain, moved = slope(x, y), slope(x * scale + shift, y + shift)
    wanted = [end / scale for end in (plain.slope, plain.low, plain.high)]
    assert [moved.slope, moved.low, moved.high] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert moved.p == pytest.approx(plain.p, rel=1e-6, abs=1e-6)
    assert plain.low - 1e-9 <= plain.slope <= plain.high + 1e-9


def test_slope_is_nominal_and_finds():
    """The power is that of the noncentral t with the design's own noncentrality."""
    beta, n = 3.5, len(NOISE)

    def once(rng):
        y = rng.normal(size=n)
        return [slope(NOISE, y).p <= 0.05, slope(NOISE, y + beta * NOISE).p <= 0.05]

    rejected, found = rates(once, 21)
    shift, edge = beta * np.sqrt(n) * NOISE.std(), stats.t.ppf(0.975, n - 2)
    assert nominal(rejected)
    assert powerful(found, stats.nct.sf(edge, n - 2, shift) + stats.nct.cdf(-edge, n - 2, shift))


# Logistic trends


def test_trend_by_hand():
    """Two levels: beta is the difference of log odds, its variance the sum of the four reciprocal counts."""
    x = [0] * 10 + [1] * 10
    success = [1] * 2 + [0] * 8 + [1] * 7 + [0] * 3
    found = logistic_trend(x, success)
    beta, error = np.log(7 / 3) - np.log(2 / 8), np.sqrt(1 / 2 + 1 / 8 + 1 / 7 + 1 / 3)
    assert trend(found) == pytest.approx(
        [beta, beta - 1.959964 * error, beta + 1.959964 * error, 2 * stats.norm.sf(beta / error)], rel=1e-5
    )
    ratio = 2 * sum(k * np.log(k / n) for k, n in ((2, 10), (8, 10), (7, 10), (3, 10))) - 2 * (
        9 * np.log(9 / 20) + 11 * np.log(11 / 20)
    )
    assert found.p_likelihood_ratio == pytest.approx(stats.chi2.sf(ratio, 1))


@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_trend_agrees_with_another_fit(scale):
    x, noise = stream(0, "sample").normal(size=(2, 80))
    success, clusters = (x + 2 * noise > 0).astype(int), np.arange(80) // 4
    theirs = GLM(success, with_constant(x), Binomial()).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    found = logistic_trend(x * scale, success, clusters)
    error = (found.high - found.beta) * scale / stats.t.ppf(0.975, 19)
    assert [found.beta * scale, error] == pytest.approx([theirs.params[1], theirs.bse[1]], rel=1e-5)
    assert found.p == pytest.approx(2 * stats.t.sf(theirs.params[1] / theirs.bse[1], 19), rel=1e-4)
    assert found.p_likelihood_ratio is None


@pytest.mark.parametrize(
    ("x", "success", "separated"),
    [
        ([0, 1, 2, 3], [0, 0, 1, 1], True),
        ([0, 1, 2, 3], [1, 1, 0, 0], True),
        ([0, 1, 1, 2], [0, 0, 1, 1], True),
        ([0, 1, 2, 3], [1, 1, 1, 1], True),
        ([0, 1, 2, 3], [0, 0, 0, 0], True),
        ([2, 2, 2, 2], [0, 1, 0, 1], False),
        ([], [], False),
    ],
)
def test_a_trend_without_a_finite_value(x, success, separated):
    found = logistic_trend(x, success)
    assert trend(found) == [None] * 4
    assert found.separated is separated


def test_the_likelihood_ratio_of_separated_outcomes():
    """Complete: the likelihood reaches 1. Quasi-complete: only the rows on the edge, one of each, stay uncertain."""
    complete = logistic_trend([0, 1, 2, 3], [0, 0, 1, 1]).p_likelihood_ratio
    assert complete == pytest.approx(stats.chi2.sf(8 * np.log(2), 1))
    quasi = logistic_trend([0, 1, 1, 2], [0, 0, 1, 1]).p_likelihood_ratio
    assert quasi == pytest.approx(stats.chi2.sf(4 * np.log(2), 1))
    assert logistic_trend([0, 1, 2], [1, 1, 1]).p_likelihood_ratio is None


def test_two_clusters_are_too_few_for_an_interval():
    found = logistic_trend([0, 1, 1, 2, 0, 2], [0, 1, 0, 1, 1, 1], ["a", "a", "a", "b", "b", "b"])
    assert found.beta is not None
    assert (found.p, found.low, found.clusters, found.separated) == (None, None, 2, False)


def test_values_over_many_orders_of_magnitude_give_no_nonsense():
    rng, answered = stream(0, "sample"), set()
    for _ in range(80):
        found = logistic_trend(np.exp(rng.normal(size=8) * 12), rng.random(8) < 0.5)
        answered.add((found.separated, found.beta is None))
        assert trend(found) == [None] * 4 or (found.low < found.beta < found.high and 0 <= found.p <= 1)
    assert answered == {(True, True), (False, True), (False, False)}


@pytest.mark.parametrize(
    "call",
    [
        lambda: slope([1, 2], [1]),
        lambda: slope([1, np.nan], [1, 2]),
        lambda: slope([1, 2], [1, 2], 2),
        lambda: logistic_trend([1, 2], [0, 2]),
        lambda: logistic_trend([1, 2], [0, 0.5]),
        lambda: logistic_trend([1, np.inf], [0, 1]),
        lambda: logistic_trend([1, 2], [0, 1, 1]),
        lambda: logistic_trend([1, 2], [0, 1], ["a"]),
        lambda: logistic_trend([1, 2], [0, 1], ["a", None]),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()


@FEW
@given(TRIALS)
def test_a_trend_is_separated_exactly_where_levels_do_not_overlap(trials):
    x, success = (np.array(column) for column in zip(*trials, strict=True))
    found = logistic_trend(x, success)
    failed, succeeded = x[~success], x[success]
    constant = len(failed) == 0 or len(succeeded) == 0
    overlap = bool(not constant and failed.min() < succeeded.max() and succeeded.min() < failed.max())
    if np.ptp(x) > 0 or constant:
        assert found.separated is not overlap
        assert (found.beta is not None) is overlap
    if overlap:
        assert found.low < found.beta < found.high
        assert 0 <= found.p <= 1


@FEW
@given(TRIALS, st.sampled_from([0.25, 8.0]), EIGHTHS, st.randoms())
def test_a_trend_follows_units_and_order(trials, scale, shift, random):
    x, success = (np.array(column) for column in zip(*trials, strict=True))
    random.shuffle(trials)
    y, shuffled = (np.array(column) for column in zip(*trials, strict=True))
    plain, moved = logistic_trend(x, success), logistic_trend(y * scale + shift, shuffled)
    assert moved.separated is plain.separated
    if plain.beta is not None:
        wanted = [end / scale for end in trend(plain)[:3]]
        assert trend(moved) == pytest.approx([*wanted, plain.p], rel=1e-4, abs=1e-6)
        turned = logistic_trend(x, ~success)
        assert turned.beta == pytest.approx(-plain.beta, rel=1e-4, abs=1e-6)


def information(x, intercept, beta):
    """Standard error of the trend under the model itself."""
    chance = 1 / (1 + np.exp(-intercept - beta * x))
    design = with_constant(x)
    return np.sqrt(np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))[1, 1])


def test_trend_is_nominal_and_finds():
    intercept, beta = -0.5, 0.7

    def once(rng):
        draws = rng.random(len(STRESS))
        null = logistic_trend(STRESS, draws < 1 / (1 + np.exp(-intercept)))
        planted = logistic_trend(STRESS, draws < 1 / (1 + np.exp(-intercept - beta * STRESS)))
        return [null.p <= 0.05, null.p_likelihood_ratio <= 0.05, planted.p <= 0.05, planted.p_likelihood_ratio <= 0.05]

    wald, ratio, found, found_by_ratio = rates(once, 22)
    power = stats.norm.cdf(beta / information(STRESS, intercept, beta) - 1.96)
    assert nominal(wald)
    assert nominal(ratio)
    assert powerful(found, power)
    assert powerful(found_by_ratio, power)


def test_clustered_trend_is_nominal_where_the_plain_one_is_not():
    """50 states of three declarations each, which a state makes alike."""
    states = np.repeat(np.arange(50), 3)

    def sample(rng):
        x, liking = rng.normal(size=50)[states], rng.normal(0, 2, size=50)[states]
        return x, rng.random(150) < 1 / (1 + np.exp(-liking))

    (clustered,) = rates(lambda rng: [logistic_trend(*sample(rng), states).p <= 0.05], 23)
    assert nominal(clustered)
    rng = np.random.default_rng(23)
    assert np.mean([logistic_trend(*sample(rng)).p <= 0.05 for _ in range(200)]) > 0.1


def test_clustered_trend_finds():
    """Where rows of a cluster are independent after all, only the t in place of the normal costs power."""
    beta, states = 0.7, np.repeat(np.arange(50), 4)
    x = STRESS[states]

    def once(rng):
        return [logistic_trend(x, rng.random(200) < 1 / (1 + np.exp(0.5 - beta * x)), states).p <= 0.05]

    (found,) = rates(once, 24)
    edge = stats.t.ppf(0.975, 49)
    assert powerful(found, stats.norm.cdf(beta / information(x, -0.5, beta) - edge))
