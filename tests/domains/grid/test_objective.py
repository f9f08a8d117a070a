"""Equation (4): nothing without violation and curtailment, additive over hours and parts; and equation (5)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.domains.grid.coefficients import Objective
from planroute.domains.grid.objective import cost, oracle, regret

CAP, FLOOR = 1.1, 0.95
WEIGHTS = Objective()
seeds = st.integers(0, 10_000)
costs = st.dictionaries(st.sampled_from("abcd"), st.floats(0, 1e6), min_size=1)


def some_day(seed, hours=24, nodes=5):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.5, 2, hours), rng.uniform(0.9, 1, (hours, nodes)), rng.uniform(0, 0.02, (hours, nodes))


@given(seeds)
def test_nothing_violated_and_nothing_curtailed_costs_nothing(seed):
    head, voltage, curtailed = some_day(seed)
    found = cost(np.minimum(head, CAP), np.maximum(voltage, FLOOR), 0 * curtailed, CAP, FLOOR, WEIGHTS)
    assert (found.objective, found.overcap_kwh, found.voltage_shortfall_pu, found.curtailed_kwh) == (0, 0, 0, 0)


@given(seeds, st.integers(1, 23))
def test_cost_adds_up_over_hours_and_parts(seed, cut):
    head, voltage, curtailed = some_day(seed)
    whole = cost(head, voltage, curtailed, CAP, FLOOR, WEIGHTS)
    parts = [cost(head[s], voltage[s], curtailed[s], CAP, FLOOR, WEIGHTS) for s in (slice(cut), slice(cut, None))]
    for name in ("objective", "overcap_kwh", "voltage_shortfall_pu", "curtailed_kwh"):
        assert getattr(whole, name) == pytest.approx(sum(getattr(part, name) for part in parts))
    terms = whole.overcap_kwh + 4000 * whole.voltage_shortfall_pu + 0.25 * whole.curtailed_kwh
    assert whole.objective == pytest.approx(terms)


def test_the_terms_of_a_day_by_hand():
    head, voltage = np.array([1.3, 1.0]), np.array([[0.94, 0.96], [0.95, 0.93]])
    found = cost(head, voltage, np.array([[0.01, 0.0], [0.0, 0.03]]), CAP, FLOOR, WEIGHTS)
    assert found.overcap_kwh == pytest.approx(200)
    assert found.voltage_shortfall_pu == pytest.approx(0.03)
    assert found.curtailed_kwh == pytest.approx(40)
    assert found.objective == pytest.approx(200 + 120 + 10)


@given(seeds, st.integers(0, 23), st.integers(0, 4))
def test_more_of_any_part_costs_more(seed, hour, node):
    head, voltage, curtailed = some_day(seed)
    before = cost(head, voltage, curtailed, CAP, FLOOR, WEIGHTS).objective
    worse = (head.copy(), voltage.copy(), curtailed.copy())
    worse[0][hour] = max(worse[0][hour], CAP) + 0.1
    worse[1][hour, node] = min(worse[1][hour, node], FLOOR) - 0.01
    worse[2][hour, node] += 0.01
    for i in range(3):
        case = [head, voltage, curtailed]
        case[i] = worse[i]
        assert cost(*case, CAP, FLOOR, WEIGHTS).objective > before


@given(costs)
def test_regret_is_never_negative_and_zero_exactly_for_the_least(found):
    regrets = regret(found)
    assert regrets.keys() == found.keys()
    assert min(regrets.values()) == 0
    assert all((regrets[key] == 0) is (found[key] == min(found.values())) for key in found)


@given(costs)
def test_the_oracle_has_no_regret(found):
    best = oracle(found)
    assert best
    assert all(regret(found)[key] <= 1e-9 for key in best)
    assert all(regret(found)[key] > 1e-9 for key in set(found) - set(best))


def test_ties_are_all_oracles():
    assert oracle({"a": 1.0, "b": 1.0 + 1e-12, "c": 2.0}) == ["a", "b"]
