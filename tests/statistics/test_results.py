"""What holds of every function: plain results, one line for malformed input, nothing heavy at import."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from planroute import statistics
from planroute.errors import InputError
from planroute.statistics.result import finite
from planroute.statistics.samples import labels, numbers

UNDEFINED = {
    "t": lambda: statistics.t_interval([]),
    "wilson": lambda: statistics.wilson(0, 0),
    "bootstrap": lambda: statistics.bootstrap_interval([1], lambda row: np.nan, name="x"),
    "cluster": lambda: statistics.cluster_bootstrap([], [], name="x"),
    "paired t": lambda: statistics.paired_t([2, 3], [1, 2]),
    "paired": lambda: statistics.paired_bootstrap([], [], name="x"),
    "slope": lambda: statistics.slope([1, 1], [1, 2]),
    "trend": lambda: statistics.logistic_trend([1, 2], [0, 1]),
    "association": lambda: statistics.cramers_v("aa", "bb", name="x"),
    "states": lambda: statistics.state_permutation("aa", "bc", [1, 2], name="x"),
    "entropy": lambda: statistics.normalised_entropy("", 4, name="x"),
    "quantile": lambda: statistics.latency_quantiles([1.0])[1],
    "correlation": lambda: statistics.correlation([1, 1], [1, 2], name="x"),
    "gap": lambda: statistics.gap_closed([1, 2], [1, 1], [1, 2], name="x"),
}
DEFINED = {
    "t": lambda: statistics.t_interval([1, 2, 4]),
    "cluster": lambda: statistics.cluster_bootstrap([1, 2, 4], "aab", name="x"),
    "paired t": lambda: statistics.paired_t([2, 3, 5], [1, 2, 2]),
    "trend": lambda: statistics.logistic_trend([1, 2, 3, 4], [0, 1, 0, 1], [np.int64(k) for k in range(4)]),
    "association": lambda: statistics.cramers_v(np.array(list("aabb")), [1, 2, 2, 2], name="x"),
    "states": lambda: statistics.state_permutation("ab", "bc", np.arange(2), name="x"),
    "entropy": lambda: statistics.normalised_entropy(np.array([1, 1, 3]), 4, name="x"),
    "oracles": lambda: statistics.oracle_shares([[1, 2], [2, 2]]),
    "correlation": lambda: statistics.correlation([1, 2, 4], [1, 2, 2], name="x"),
}


def undefined(values):
    return [name for name, value in values.items() if value is None]


@pytest.mark.parametrize("make", UNDEFINED.values(), ids=UNDEFINED)
def test_what_is_undefined_is_none_in_json(make):
    plain = make().to_dict()
    assert undefined(plain)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


@pytest.mark.parametrize("make", DEFINED.values(), ids=DEFINED)
def test_what_is_defined_is_plain_json_and_equal_each_time(make):
    plain = make().to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert make() == make()
    assert any(isinstance(value, float | dict) for value in plain.values())


def test_results_are_frozen():
    with pytest.raises(AttributeError):
        statistics.t_interval([1, 2]).mean = 3


@pytest.mark.parametrize(("value", "plain"), [(math.nan, None), (math.inf, None), (-0.0, 0.0), (np.float64(2), 2.0)])
def test_only_finite_numbers_are_numbers(value, plain):
    assert repr(finite(value)) == repr(plain)


@pytest.mark.parametrize(
    "values", [[1, math.nan], [1, -math.inf], [1, 1e101], ["1", "2"], [1, None], [[1, 2]], [[1], [1, 2]], 3.0, [1j, 2]]
)
def test_what_is_not_a_flat_row_of_finite_numbers_is_refused_in_one_line(values):
    with pytest.raises(InputError) as caught:
        numbers(values, "values")
    assert str(caught.value).startswith("values must be")
    assert "\n" not in str(caught.value)


def test_numbers_are_copied_and_what_is_next_to_nothing_is_nothing():
    given = np.array([1.0, 1e-101, -1e-300])
    assert numbers(given, "values").tolist() == [1, 0, 0]
    assert given[1] == 1e-101
    assert numbers([True, False], "values").tolist() == [1, 0]
    assert numbers([], "values").shape == (0,)


def test_values_near_the_largest_still_have_intervals():
    found = statistics.t_interval([2e99, 4e99, 1e100])
    assert found.low < found.mean < found.high < math.inf
    assert statistics.slope([1e-99, 2e-99, 3e-99], [1, 3, 2]).slope == pytest.approx(0.5e99)


@pytest.mark.parametrize(
    ("given", "codes", "distinct"),
    [
        ("bab", [1, 0, 1], ("a", "b")),
        (np.array([7, -1, 7]), [1, 0, 1], (-1, 7)),
        (np.array(["b", "a"]), [1, 0], ("a", "b")),
        ([(1, "x"), (0, "y")], [1, 0], ((0, "y"), (1, "x"))),
        (["a", 1, "a"], [0, 1, 0], ("a", 1)),
        ([], [], ()),
    ],
)
def test_labels_are_numbered_in_sorted_order(given, codes, distinct):
    found, names = labels(given, "labels")
    assert found.tolist() == codes
    assert names == distinct


@pytest.mark.parametrize("given", [["a", None], [1.0, math.nan], [["a"], ["b"]], np.array([[1, 2]]), [{}]])
def test_labels_that_cannot_be_told_apart_are_refused(given):
    with pytest.raises(InputError, match=r"^labels must"):
        labels(given, "labels")


def test_all_public_names_are_there():
    assert sorted(statistics.__all__) == statistics.__all__ or set(statistics.__all__) <= set(dir(statistics))
    public = {name for name in vars(statistics) if name[0] != "_" and not isinstance(vars(statistics)[name], type(sys))}
    assert public == set(statistics.__all__)


def test_importing_loads_nothing_heavy():
    code = "import sys, planroute.statistics; print(*{'scipy', 'statsmodels', 'sklearn', 'pandas'} & {*sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []
