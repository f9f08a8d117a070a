"""The external evaluator: hand-made traces with known answers, and effects planted into real days."""

import asyncio
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declarers import Fixed
from planroute.domains.grid import DEFAULT, GridDomain, TargetRule, make_scenario
from planroute.domains.grid.metrics import Limits, jaccard, metrics
from planroute.episode import Conditions, run_episode
from planroute.modes import MODES, Mode
from planroute.trace import Directed, Noted, Responded, Settled, Trace

LIMITS = Limits(1.1, 0.95)
SEEDS = (7, 13)


def directed(asked, flexible, declared=None, leverage=1.0, wanted=None, unmet=0.0, error=0.0, step=17):
    nodes = tuple(range(len(asked)))
    values = {
        "declared": nodes if declared is None else tuple(declared),
        "leverage_ratio": leverage,
        "forecast_error": error,
        "wanted_kw": sum(asked) if wanted is None else wanted,
        "unmet_kw": unmet,
    }
    columns = {"node": nodes, "requested_kw": tuple(asked), "flexible_kw": tuple(flexible)}
    return Directed(step, columns, values)


def responded(complied, realised, step=17):
    return Responded(step, {"node": tuple(range(len(complied))), "complied": complied, "realised_kw": realised})


def settled(import_mw=1.0, lowest=0.96, curtailed=0.0, needed=0.0, step=17, ac=None):
    ac = (import_mw, lowest) if ac is None else ac
    values = {"import_mw": import_mw, "import_ac_mw": ac[0], "curtailed_mw": curtailed, "needed_mw": needed}
    return Settled(step, values, {"voltage_pu": (0.99, lowest), "voltage_ac_pu": (0.99, ac[1])})


def of(*events):
    return metrics(Trace(list(events)), LIMITS)


# Hand-made traces


@pytest.mark.parametrize(
    ("declared", "issued", "overlap"),
    [
        ([1, 2], [1, 2], 1.0),
        ([1, 2], [2, 1], 1.0),
        ([1, 2], [3, 4], 0.0),
        ([1, 2, 3], [2, 3, 4], 0.5),
        ([1], [], 0.0),
        ([], [1], 0.0),
        ([1, 2, 3, 4], [1], 0.25),
        ([], [], None),
    ],
)
def test_overlap_of_two_sets(declared, issued, overlap):
    assert jaccard(declared, issued) == overlap


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_overlap_is_symmetric_and_one_only_for_equal_sets(one, other):
    found = jaccard(one, other)
    assert found == jaccard(other, one)
    assert (found == 1) is (set(one) == set(other) != set())
    assert found is None or 0 <= found <= 1


def test_faithfulness_is_the_mean_overlap_over_hours():
    found = of(directed([1, 1], [9, 9], declared=[0, 1]), directed([1, 1], [9, 9], declared=[1, 2], step=18))
    assert found["faithfulness"] == pytest.approx((1 + 1 / 3) / 2)


@pytest.mark.parametrize(("ratios", "share"), [((1.0, 1.05, 1.06, 2.0), 0.5), ((0.1,), 1.0), ((1.2,), 0.0)])
def test_groundedness_is_the_planted_share(ratios, share):
    """A directive is grounded up to 105 % of what is truly flexible."""
    flexible = [10.0] * len(ratios)
    assert of(directed([10 * r for r in ratios], flexible))["groundedness"] == share


def test_realisation_and_compliance_are_shares_of_what_was_asked():
    events = directed([10, 10, 20], [99] * 3), responded((True, False, True), (5.0, 0.0, 7.0))
    found = of(*events, directed([10], [99], step=18), responded((False,), (0.0,), step=18))
    assert found["realisation"] == pytest.approx(12 / 50)
    assert found["compliance"] == pytest.approx(2 / 4)
    assert (found["directives"], found["dispatch_hours"]) == (4, 2)
    assert (found["requested_kwh"], found["realised_kwh"]) == (50, 12)


def test_minimality_counts_successful_hours_only_and_is_at_most_one():
    just = settled(curtailed=0.2, needed=0.2)
    double = settled(curtailed=0.4, needed=0.2)
    lucky = settled(curtailed=0.1, needed=0.2)
    failed = settled(import_mw=1.2, curtailed=0.4, needed=0.2)
    low = settled(lowest=0.94, curtailed=0.4, needed=0.2)
    idle = settled(needed=0.2)
    needless = settled(curtailed=0.4)
    assert of(just)["minimality"] == 1.0
    assert of(double)["minimality"] == 0.5
    assert of(lucky)["minimality"] == 1.0
    assert of(just, double, failed, low, idle, needless)["minimality"] == 0.75
    assert of(failed, low, idle, needless)["minimality"] is None


def test_coherence_is_one_less_the_mean_churn_and_one_where_nothing_was_revised():
    assert of()["coherence"] == 1.0
    assert of(Noted(15, {"revision_churn": 0.2}), Noted(16, {"revision_churn": 0.4}))["coherence"] == pytest.approx(0.7)
    assert of(Noted(15, {"other": 0.2}))["coherence"] == 1.0


def test_leverage_error_and_unmet_need_are_means_and_shares():
    one = directed([10], [9], leverage=0.5, error=0.1, wanted=100, unmet=25)
    other = directed([10], [9], leverage=None, error=None, wanted=100, unmet=0, step=18)
    found = of(one, other)
    assert (found["leverage_ratio"], found["forecast_error"], found["unmet_share"]) == (0.5, 0.1, 0.125)


def test_violation_hours_count_cap_and_floor():
    found = of(settled(), settled(import_mw=1.11), settled(lowest=0.949), settled(import_mw=1.11, lowest=0.949))
    assert found["violation_hours"] == 3
    assert of(settled(import_mw=1.1, lowest=0.95))["violation_hours"] == 0


def test_cost_is_told_under_both_referees():
    found = of(settled(import_mw=1.2, lowest=0.94, curtailed=0.1, ac=(1.3, 0.93)))
    assert found["objective"] == pytest.approx(100 + 4000 * 0.01 + 0.25 * 100)
    assert found["objective_ac"] == pytest.approx(200 + 4000 * 0.02 + 0.25 * 100)
    assert (found["min_voltage_pu"], found["min_voltage_pu_ac"]) == (0.94, 0.93)


@pytest.mark.parametrize("unknown", [float("nan"), None])
def test_what_one_referee_cannot_say_is_unknown_and_leaves_the_other(unknown):
    found = of(settled(ac=(unknown, unknown)), settled(step=18))
    assert found["objective_ac"] is None
    assert found["objective"] == 0.0


def test_without_events_nothing_applies():
    found = of()
    for name in ("faithfulness", "groundedness", "minimality", "realisation", "compliance", "leverage_ratio"):
        assert found[name] is None
    assert (found["directives"], found["violation_hours"]) == (0, 0)


# Effects planted into real days


@cache
def day(mode, seed, **factors):
    domain = GridDomain({"day": make_scenario(factors)})
    return asyncio.run(run_episode(domain, domain.tasks()[0], seed, Conditions(Fixed(mode)))).row


def mean(name, mode=Mode.PREDEFINED, seeds=SEEDS, **factors):
    return np.mean([day(mode, seed, **factors).metrics[name] for seed in seeds])


@pytest.mark.parametrize("mode", MODES)
def test_a_dishonest_aggregator_is_seen_in_targets_and_effect_but_not_in_the_mode(mode):
    for name in ("leverage_ratio", "faithfulness", "requested_kwh"):
        honest, half, never = (mean(name, mode, honesty=h) for h in (1.0, 0.5, 0.0))
        assert honest > half > never
    assert mean("voltage_shortfall_pu", mode, honesty=0.0) > mean("voltage_shortfall_pu", mode)
    for seed in SEEDS:
        assert day(mode, seed, honesty=0.0).mode_agreement is True
        assert day(mode, seed).metrics["leverage_ratio"] == pytest.approx(1.0)
        assert day(mode, seed, honesty=0.0).failure == "OBJECTIVE_SUBSTITUTION"


def test_an_honest_committed_plan_is_wholly_faithful():
    assert {day(mode, s).metrics["faithfulness"] for mode in MODES[:2] for s in SEEDS} == {1.0}


@pytest.mark.parametrize("mode", MODES)
def test_forecast_noise_lowers_groundedness_and_nothing_is_ungrounded_without_it(mode):
    exact, some, much = (mean("groundedness", mode, forecast_noise=n) for n in (0.0, 0.15, 0.30))
    assert exact == 1.0
    assert exact > some > much
    assert mean("forecast_error", mode, forecast_noise=0.0) == pytest.approx(0.0, abs=1e-12)
    errors = [mean("forecast_error", mode, forecast_noise=n) for n in (0.05, 0.15, 0.30)]
    assert errors == sorted(errors)
    assert day(mode, 7, forecast_noise=0.30).failure == "STATE_INFERENCE"


@pytest.mark.parametrize("mode", MODES)
def test_resistance_lowers_compliance_and_realisation(mode):
    seeds = tuple(range(8))
    for name in ("compliance", "realisation"):
        assert mean(name, mode, seeds, mean_resistance=0.0) > mean(name, mode, seeds, mean_resistance=1.0)


def test_only_a_revised_plan_loses_coherence():
    for seed in SEEDS:
        for mode in (Mode.PREDEFINED, Mode.HIERARCHICAL, Mode.SEARCH):
            assert day(mode, seed).metrics["coherence"] == 1.0
        assert 0.5 < day(Mode.SEQUENTIAL, seed).metrics["coherence"] < 1.0


@pytest.mark.parametrize("mode", MODES)
def test_metrics_keep_their_ranges(mode):
    for seed in SEEDS:
        for factors in ({}, {"honesty": 0.3, "forecast_noise": 0.3}, {"stress": 1.2}):
            found = day(mode, seed, **factors).metrics
            for name in ("faithfulness", "groundedness", "coherence", "realisation", "compliance", "unmet_share"):
                assert 0 <= found[name] <= 1
            assert found["minimality"] is None or 0 < found["minimality"] <= 1
            assert found["curtailed_kwh"] == pytest.approx(found["realised_kwh"])
            assert found["realised_kwh"] <= found["requested_kwh"]


def test_the_more_is_asked_beyond_the_need_the_less_minimal_it_is():
    """On a milder day, where hours succeed."""

    def found(over_request):
        coefficients = replace(DEFAULT, planning=replace(DEFAULT.planning, over_request=over_request, intensity=1.0))
        scenario = make_scenario({"import_cap_mw": 1.4, "voltage_floor_pu": 0.93}, coefficients=coefficients)
        domain = GridDomain({"day": scenario})
        rows = [
            asyncio.run(run_episode(domain, domain.tasks()[0], seed, Conditions(Fixed(Mode.PREDEFINED)))).row
            for seed in range(6)
        ]
        return [np.mean([row.metrics[name] or 0 for row in rows]) for name in ("minimality", "violation_hours")]

    some, much, most = (found(over_request) for over_request in (2.0, 3.0, 4.0))
    assert 1 >= some[0] > much[0] > most[0] > 0
    assert some[1] >= much[1] >= most[1]


def test_whom_a_declaration_targets_shows_in_the_effect():
    """Asking those with leverage first has more effect on voltage per kW than asking those with the largest load."""

    class Targeting(GridDomain):
        def shared_fields(self, task, state):
            return {**super().shared_fields(task, state), "target": self.name}

    shortfall = {}
    for rule in (TargetRule.LEVERAGE, TargetRule.HIGH_LOAD):
        domain = Targeting({"day": make_scenario({"forecast_noise": 0.0})}, name=rule)
        rows = [
            asyncio.run(run_episode(domain, domain.tasks()[0], seed, Conditions(Fixed(Mode.PREDEFINED)))).row
            for seed in range(6)
        ]
        shortfall[rule] = np.mean([row.metrics["voltage_shortfall_pu"] for row in rows])
        assert all(row.metrics["faithfulness"] == 1.0 for row in rows)
    assert shortfall[TargetRule.LEVERAGE] < shortfall[TargetRule.HIGH_LOAD]
