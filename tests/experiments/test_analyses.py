"""Every analysis finds what was planted in its rows, and stays silent where nothing was."""

import asyncio

import numpy as np
import pytest

from planroute.errors import FaultyInput, InputError
from planroute.experiments.analyses import analyse
from planroute.experiments.analyses.attribution import archetypes, position
from planroute.experiments.analyses.choice import declarations, oracle, referees
from planroute.experiments.analyses.fresh_runs import fresh_seeds
from planroute.experiments.analyses.sweep import contrast, label_shares, paired, slopes
from planroute.experiments.analyses.uncontrolled import uncontrolled
from planroute.experiments.definition import Analysis
from planroute.modes import MODES
from tests.experiments.rows import inputs, row

LEVELS = (0.0, 0.1, 0.2, 0.3)


def noisy(slope: float, seed: int, spread: float = 1.0):
    """Rows whose objective rises by ``slope`` per unit of noise, with normal spread."""
    draws = np.random.default_rng(seed)
    return [
        row(
            "SEARCH",
            s,
            f"forecast_noise={level:g}",
            factors={"forecast_noise": level},
            metrics={"objective": 100 + slope * level + spread * draws.normal()},
            failure="STATE_INFERENCE" if level > 0.15 else "NONE",
        )
        for level in LEVELS
        for s in range(6)
    ]


def test_a_planted_slope_is_found_and_its_interval_holds_it_as_often_as_it_says() -> None:
    held = rejected = 0
    for study in range(300):
        found = slopes(inputs(noisy(50, study, 5.0)), x="forecast_noise", y=["objective"])["SEARCH"]["objective"]
        held += found["low"] <= 50 <= found["high"]
        none = slopes(inputs(noisy(0, study, 5.0)), x="forecast_noise", y=["objective"])["SEARCH"]["objective"]
        rejected += none["p"] < 0.05
    assert 0.91 <= held / 300 <= 0.985
    assert 0.015 <= rejected / 300 <= 0.09


def test_label_shares_are_shares_of_each_level() -> None:
    found = label_shares(inputs(noisy(0, 1)), x="forecast_noise")
    assert found["0.1"]["all"] == {"NONE": 1.0}
    assert found["0.2"]["SEARCH"] == {"STATE_INFERENCE": 1.0}
    assert list(found) == ["0", "0.1", "0.2", "0.3"]


def test_a_level_that_rows_do_not_have_is_an_input_error() -> None:
    with pytest.raises(InputError, match="honesty"):
        slopes(inputs(noisy(0, 1)), x="honesty", y=["objective"])


def substituted(effect: float, seed: int):
    draws = np.random.default_rng(seed)
    base = draws.normal(10, 2, size=5)
    return [
        row(
            "SEQUENTIAL",
            s,
            f"honesty={h:g}",
            factors={"honesty": h},
            metrics={"voltage_shortfall_pu": float(base[s] + (effect if h == 0 else 0) + draws.normal(0, 0.5))},
        )
        for h in (1.0, 0.0)
        for s in range(5)
    ]


def test_a_contrast_pairs_seeds_and_finds_what_changed() -> None:
    kind = {"condition": "SEQUENTIAL", "factor": "honesty", "start": 1.0, "end": 0.0}
    found = contrast(inputs(substituted(8, 1)), metrics=["voltage_shortfall_pu"], **kind)["voltage_shortfall_pu"]
    assert found["ratio"] == pytest.approx(found["end"] / found["start"])
    assert found["paired"]["low"] < 8 < found["paired"]["high"]
    assert found["paired"]["p"] < 0.001
    rejected = sum(
        contrast(inputs(substituted(0, s)), metrics=["voltage_shortfall_pu"], **kind)["voltage_shortfall_pu"]["paired"][
            "p"
        ]
        < 0.05
        for s in range(300)
    )
    assert 0.015 <= rejected / 300 <= 0.09


def test_pairs_are_of_equal_tasks_and_seeds_and_a_missing_condition_is_left_out() -> None:
    rows = [
        row(mode, s, metrics={"objective": s * 100 + extra}) for s in range(4) for mode, extra in (("A", 7), ("B", 0))
    ]
    rows += [row("A", 9, metrics={"objective": 1e6})]
    found = paired(inputs(rows), pairs=[["A", "B"], ["A", "C"]], metrics=["objective"])
    assert list(found) == ["A-B"]
    assert found["A-B"]["objective"]["difference"] == pytest.approx(7)
    assert found["A-B"]["objective"]["n"] == 4


def test_pairs_can_be_taken_at_each_level_apart() -> None:
    rows = [
        row(mode, s, f"deadline_s={level:g}", deadline_s=level, metrics={"objective": s + level * extra})
        for mode, extra in (("A", 10), ("B", 0))
        for s in range(4)
        for level in (2.0, 0.0)
    ]
    found = paired(inputs(rows), pairs=[["A", "B"]], metrics=["objective"], by="deadline_s")
    assert {level: one["A-B"]["objective"]["difference"] for level, one in found.items()} == {"0": 0, "2": 20}
    assert found["2"]["A-B"]["objective"]["n"] == 4


def forced(costs: dict[str, float], seed: int, late: tuple[str, ...] = (), ac: float = 1.0):
    return [
        row(mode, seed, metrics={"objective": cost, "objective_ac": ac * cost}, late_events=int(mode in late))
        for mode, cost in costs.items()
    ]


def test_the_oracle_is_the_least_of_those_in_time_and_ties_are_split() -> None:
    costs = dict(zip(MODES, (3.0, 3.0, 9.0, 1.0), strict=True))
    rows = [*forced(costs, 1), *forced(costs, 2, late=("SEARCH",)), *forced(costs, 3, late=tuple(MODES))]
    found = oracle(inputs(rows, forced=list(MODES)))
    assert found["members"] == {"PREDEFINED": 1, "SEQUENTIAL": 1, "HIERARCHICAL": 0, "SEARCH": 1}
    assert found["split"] == {"PREDEFINED": 0.5, "SEQUENTIAL": 0.5, "HIERARCHICAL": 0.0, "SEARCH": 1.0}
    assert (found["ties"], found["infeasible"], found["scenarios"]) == (1, 1, 3)
    assert found["shares"]["SEARCH"] == found["shares"]["SEQUENTIAL"] == pytest.approx(1 / 3)


def test_the_other_referee_is_compared_in_order_and_oracle() -> None:
    costs = dict(zip(MODES, (3.0, 2.0, 9.0, 1.0), strict=True))
    same = referees(inputs([r for s in range(4) for r in forced(costs, s, ac=1.3)], forced=list(MODES)))
    assert same["order"] == same["order_ac"] == ["SEARCH", "SEQUENTIAL", "PREDEFINED", "HIERARCHICAL"]
    assert (same["same_order"], same["same_oracle"], same["rank_correlation"]["r"]) == (1.0, 1.0, pytest.approx(1.0))
    turned = referees(inputs([r for s in range(4) for r in forced(costs, s, ac=-1.0)], forced=list(MODES)))
    assert (turned["same_order"], turned["same_oracle"]) == (0.0, 0.0)


def test_declarations_are_counted_by_routed_condition_with_their_entropy() -> None:
    rows = [row("ROUTED_NATURAL", s, declared="SEARCH") for s in range(5)]
    rows += [row("ROUTED_HYBRID", s, declared=MODES[s % 4]) for s in range(8)]
    rows += [row("SEARCH", 1), row("ROUTED_NATURAL", 9, declared=None, executed=None)]
    found = declarations(inputs(rows))
    assert set(found) == {"ROUTED_NATURAL", "ROUTED_HYBRID"}
    assert found["ROUTED_NATURAL"]["counts"]["SEARCH"] == 5
    assert found["ROUTED_NATURAL"]["unreadable"] == 1
    assert found["ROUTED_NATURAL"]["entropy"]["h"] == 0
    assert found["ROUTED_HYBRID"]["entropy"]["h"] == pytest.approx(1)


def asked(seed: int, *, by_position: float = 0.0, by_fatigue: float = 0.0, far_first: bool = False):
    """Directives of 40 people over eight hours; who sits far out may be asked more often, and tires."""
    draws = np.random.default_rng(seed)
    rows = []
    before = np.zeros(40, dtype=int)
    for hour in range(8):
        for node in range(40):
            place = node % 10 + 1
            if draws.random() > (0.2 + 0.08 * place if far_first else 0.6):
                continue
            chance = 0.7 - by_position * place - by_fatigue * before[node]
            rows.append(
                {
                    "seed": seed,
                    "task": "nominal",
                    "condition": "SEARCH",
                    "hour": hour,
                    "node": node,
                    "position": place,
                    "archetype": "idealist" if node < 20 else "opportunist",
                    "depth": 0.7,
                    "requested_kw": 1.0,
                    "realised_kw": 0.5,
                    "sampled": bool(draws.random() < 0.4),
                    "shift": 0.1 if node < 20 else -0.05,
                    "complied": bool(draws.random() < chance + (0.15 if node < 20 else -0.15)),
                    "asked_before": int(before[node]),
                }
            )
            before[node] += 1
    return rows


def test_archetypes_are_told_apart_in_compliance_and_shift() -> None:
    found = archetypes(inputs([], asked(1)))
    ideal, opportune = found["archetypes"]["idealist"], found["archetypes"]["opportunist"]
    assert found["order"] == ["idealist", "opportunist"]
    assert ideal["compliance_interval"][0] > opportune["compliance_interval"][1]
    assert ideal["mean_shift"] == pytest.approx(0.1)
    assert opportune["mean_shift"] == pytest.approx(-0.05)
    assert ideal["directives"] + opportune["directives"] == found["directives"]
    assert found["rank"] == found["shift_rank"] == {"idealist": 1, "opportunist": 2}
    assert found["evaluated_share"] == pytest.approx(0.4, abs=0.1)
    assert ideal["realisation"] == pytest.approx(0.5)


def test_an_effect_of_position_is_found_and_one_of_fatigue_is_not_taken_for_it() -> None:
    real = position(inputs([], [r for s in range(6) for r in asked(s, by_position=0.04)]))
    assert real["raw"]["high"] < 0
    assert real["stratified"]["beta"] < 0
    tired = position(inputs([], [r for s in range(6) for r in asked(s, by_fatigue=0.08, far_first=True)]))
    assert tired["raw"]["high"] < 0, "fatigue of those asked more often looks like position"
    assert tired["stratified"]["low"] < 0 < tired["stratified"]["high"], "and not among those asked for the first time"
    assert tired["asked_before_correlation"]["low"] > 0.3


def test_the_uncontrolled_day_is_the_scenarios_own() -> None:
    found = uncontrolled(inputs([]))
    assert (found["peak_hour"], found["violation_hours"], found["prosumers"], found["laterals"]) == (17, 8, 40, 4)
    assert found["above_cap_kw"] == pytest.approx(544, abs=0.5)
    assert found["import_ac_mw"] > found["import_mw"], "losses"
    higher = uncontrolled(inputs([], fixed={"import_cap_mw": 1.3}))
    assert higher["above_cap_kw"] == pytest.approx(344, abs=0.5)
    assert higher["violation_hours"] < found["violation_hours"]


def test_fresh_seeds_are_distinct_stable_and_only_added_to() -> None:
    few, many = fresh_seeds(5), fresh_seeds(30)
    assert many[:5] == few
    flat = [seed for triple in many for seed in triple]
    assert len(set(flat)) == 90
    assert min(flat) >= 1_000_000


@pytest.mark.parametrize(
    ("kind", "parameters", "told"),
    [("guess", {}, "there is no kind 'guess'"), ("slopes", {"x": "a", "y": [], "z": 1}, "z"), ("slopes", {}, "x")],
)
def test_a_faulty_analysis_is_told(kind: str, parameters: dict[str, object], told: str) -> None:
    with pytest.raises(FaultyInput, match=told):
        asyncio.run(analyse(Analysis(name="a", kind=kind, **{"with": parameters}), inputs(noisy(0, 1))))
