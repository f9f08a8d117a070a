"""Analyses of a bank: what the ridge's penalty does, and intervals that are too narrow are told."""

import asyncio
from dataclasses import replace
from itertools import product

import numpy as np

from planroute.experiments.analyses.selectors import _coverage, fresh, selectors, shrinkage
from planroute.modes import MODES
from tests.experiments.rows import inputs, row

COSTS = dict(zip(MODES, (1000.0, 990.0, 1500.0, 900.0), strict=True))
FACTORS = ("import_cap_mw", "r_pu", "forecast_noise", "mean_resistance", "deadline_s")
LEVELS = ((1.1, 1.3), (0.022, 0.018), (0.05, 0.15, 0.3), (0.2, 0.5), (4.0, 8.0))


def bank():
    """144 scenarios: SEARCH is best wherever it is in time, which it and HIERARCHICAL are at 8 s only."""
    draws = np.random.default_rng(1)
    rows = []
    for levels in product(*LEVELS):
        factors = dict(zip(FACTORS, levels, strict=True))
        deadline = factors.pop("deadline_s")
        task = ",".join(f"{name}={value:g}" for name, value in zip(FACTORS, levels, strict=True))
        for seed in range(3):
            for mode in MODES:
                cost = COSTS[mode] + float(draws.normal(0, 1))
                late = int(deadline < 5 and mode in ("SEARCH", "HIERARCHICAL"))
                metrics = {"objective": cost, "objective_ac": cost + 1}
                rows.append(
                    row(mode, seed, task, factors=factors, deadline_s=deadline, late_events=late, metrics=metrics)
                )
    return replace(inputs(rows, forced=list(MODES)), draws=50)


def test_a_strong_penalty_shrinks_the_cost_of_a_missed_deadline_until_search_is_never_chosen() -> None:
    found = shrinkage(bank(), alphas=[10.0, 0.01])
    assert list(found) == ["10", "0.01"]
    assert found["10"]["ridge"]["choices"]["SEARCH"] == 0, "what is kept back of the penalty outweighs 90 of cost"
    assert found["0.01"]["ridge"]["choices"]["SEARCH"] == 72
    assert found["0.01"]["ridge"]["infeasible_choices"] == 0
    assert {one["constraint_aware"]["choices"]["SEARCH"] for one in found.values()} == {72}


def test_selectors_are_judged_under_both_referees() -> None:
    found = selectors(bank())
    assert found["oracle"]["membership"]["SEARCH"] == found["ac"]["oracle"]["membership"]["SEARCH"] == 72
    assert found["all_feasible"]["scenarios"] == 72


def judged(mean: float, half: float):
    value = {"mean": mean, "low": mean - half, "high": mean + half}
    one = {"value_vs_fixed_sequential": value, "value_vs_fixed_search": value}
    return dict.fromkeys(("ridge", "constraint_aware", "all_feasible"), one)


def test_coverage_is_the_share_of_intervals_that_hold_the_mean_of_all() -> None:
    found = _coverage([judged(mean, 1.5) for mean in (-3, -1, 0, 1, 3)])
    assert set(found.values()) == {0.6}
    assert _coverage([{**judged(0, 1), "all_feasible": None}]).keys() == {
        "ridge value vs fixed sequential",
        "constraint_aware value vs fixed sequential",
    }


def test_no_fresh_triples_are_told() -> None:
    asked = bank()
    found = asyncio.run(fresh(replace(asked, setting=replace(asked.setting, fresh_triples=0))))
    assert found["status"] == "not_run"


def test_fresh_triples_are_banks_of_their_own() -> None:
    levels = dict(zip(FACTORS, LEVELS, strict=True)) | {"forecast_noise": [0.05], "mean_resistance": [0.2]}
    asked = inputs([], forced=list(MODES), levels=levels)
    found = asyncio.run(fresh(replace(asked, setting=replace(asked.setting, fresh_triples=2, workers=1))))
    assert found["episodes"] == 2 * 3 * 8 * 4
    assert found["figures"]["ridge mean regret"]["n"] == 2
    assert found["figures"]["oracle SEARCH"]["high"] <= 24
    assert found["together"]["scenarios"] == 48
    assert all(0 <= share <= 1 for share in found["coverage"].values())
