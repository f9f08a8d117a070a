"""Selectors find what was planted out of their own group, claim nothing where nothing was, and see no held-out cost."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.modes import MODES, Mode
from planroute.selection import FEATURES, Settings, cross_fitted, evaluate, fit
from planroute.selection.features import design, labels
from planroute.selection.regret import cell_choices, oracle_of, regrets
from planroute.statistics import paired_bootstrap
from tests.selection.banks import CELLS, bank, crossing, late_at_four, scattered, search_best

FAST = Settings(draws=200)
FEW = settings(deadline=None, max_examples=15)


def test_a_best_mode_that_is_linear_in_a_feature_is_found_out_of_its_group():
    found = evaluate(bank(crossing), FAST)
    assert found.ridge.oracle_rate == 1
    assert found.ridge.mean_regret == 0
    assert found.ridge.choices == {"PREDEFINED": 96, "SEQUENTIAL": 48, "HIERARCHICAL": 0, "SEARCH": 0}
    assert found.ridge.value_vs_fixed_sequential.low > 0
    assert found.floor == 0
    assert found.gap_closed == 1


def test_where_feasibility_alone_decides_the_constraint_wins_and_the_penalty_does_not():
    found = evaluate(bank(search_best, late_at_four), FAST)
    assert found.constraint_aware.mean_regret == 0
    assert found.constraint_aware.choices[Mode.SEARCH] == 72
    assert found.ridge.choices[Mode.SEARCH] == 0, "shrinkage leaves some of the penalty where the mode is feasible"
    assert found.ridge.mean_regret == 50
    assert found.constraint_aware.value_vs_fixed_sequential.low > 0
    assert found.constraint_aware.value_vs_fixed_sequential.mean == pytest.approx(60)


def test_where_nothing_decides_the_interval_holds_zero_about_as_often_as_it_says():
    whole, values = bank(crossing), []
    for draw in range(200):
        one = replace(whole, cost=np.random.default_rng(draw).normal(1000, 100, size=whole.cost.shape))
        regret = regrets(one, cross_fitted(one, "ridge"), 1e4)
        fixed = regrets(one, np.full(len(one), 1), 1e4)
        values.append(paired_bootstrap(fixed, regret, name="null", draws=200))
    assert 0.88 <= np.mean([value.low <= 0 <= value.high for value in values]) <= 0.97
    assert abs(np.mean([value.difference for value in values])) < 3, "four standard errors"
    assert len({value.difference for value in values}) > 190, "ridge does choose"


def test_costs_of_the_held_out_group_do_not_reach_its_own_choices():
    whole = bank(scattered(1), late_at_four)
    group = labels(whole, ("import_cap_mw", "r_pu"))
    for kind in ("ridge", "constraint_aware"):
        before = cross_fitted(whole, kind)
        for held_out in range(4):
            mine = group == held_out
            changed = replace(whole, cost=np.where(mine[:, None], 5000 - 3 * whole.cost, whole.cost))
            after = cross_fitted(changed, kind)
            assert after[mine].tolist() == before[mine].tolist()
            assert after[~mine].tolist() != before[~mine].tolist(), "those costs do matter to the others"


def test_choices_are_those_of_plain_scikit_learn():
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    whole = bank(scattered(2), late_at_four)
    features, groups = design(whole.columns, FEATURES), labels(whole, ("import_cap_mw", "r_pu"))
    cost = whole.cost + 1e4 * ~whole.feasible
    predicted = np.zeros_like(cost)
    for learn, test in LeaveOneGroupOut().split(features, groups=groups):
        for k in range(len(MODES)):
            one = make_pipeline(StandardScaler(), Ridge(alpha=10)).fit(features[learn], cost[learn, k])
            predicted[test, k] = one.predict(features[test])
    assert cross_fitted(whole, "ridge").tolist() == predicted.argmin(axis=1).tolist()


def test_the_all_feasible_subset_is_fitted_and_judged_on_itself():
    whole = bank(scattered(3), late_at_four)
    found = evaluate(whole, FAST)
    subset = whole.take(whole.all_feasible)
    assert found.all_feasible.scenarios == len(subset) == 72
    assert found.all_feasible.chosen.tolist() == cross_fitted(subset, "constraint_aware").tolist()
    assert found.all_feasible.chosen.tolist() == evaluate(subset, FAST).constraint_aware.chosen.tolist()
    search = regrets(subset, np.full(72, 3), 1e4)
    assert found.all_feasible.value_vs_fixed_search.mean == pytest.approx((search - found.all_feasible.regret).mean())
    assert found.ridge.value_vs_fixed_search is None


def test_without_an_all_feasible_subset_there_is_none():
    never = bank(search_best, lambda mode, cell: int(mode == "HIERARCHICAL"))
    assert evaluate(never, FAST).all_feasible is None
    one_group = bank(search_best, lambda mode, cell: int(mode == "SEARCH" and cell["import_cap_mw"] > 1.2))
    only = evaluate(one_group, replace(FAST, group=("import_cap_mw",)))
    assert only.all_feasible is None
    assert only.as_dict()["all_feasible"] is None


def test_missing_the_deadline_is_never_cheap_and_is_counted():
    found = evaluate(bank(search_best, late_at_four), FAST).fixed[Mode.SEARCH]
    assert found.infeasible_choices == 72
    assert found.mean_regret == pytest.approx((10_000 - 100) / 2)
    assert found.mean_regret_feasible == 0


def test_scenarios_without_a_feasible_mode_are_left_out_and_counted():
    def late(mode, cell):
        return int(cell["deadline_s"] < 8 and cell["mean_resistance"] > 0.3) or late_at_four(mode, cell)

    found = evaluate(bank(search_best, late), FAST)
    assert (len(found.bank), found.without_feasible_mode) == (108, 36)
    assert sum(found.constraint_aware.choices.values()) == sum(found.oracle.split.values()) == 108
    assert np.isfinite(found.ridge.regret).all()


def test_ties_count_for_each_and_split_adds_up():
    tied = bank(lambda mode, cell, seed: 100 if mode in ("PREDEFINED", "SEARCH") else 200, late_at_four)
    found = oracle_of(tied)
    assert found.membership == {"PREDEFINED": 144, "SEQUENTIAL": 0, "HIERARCHICAL": 0, "SEARCH": 72}
    assert found.split == {"PREDEFINED": 108, "SEQUENTIAL": 0, "HIERARCHICAL": 0, "SEARCH": 36}
    assert found.ties == 72
    assert evaluate(tied, FAST).fixed[Mode.PREDEFINED].oracle_rate == 1


def test_a_mode_that_was_never_feasible_where_it_was_learnt_is_the_last_resort():
    def late(mode, cell):
        first = cell["import_cap_mw"] < 1.2
        return int((mode == "SEARCH") != first)

    found = evaluate(bank(search_best, late), replace(FAST, group=("import_cap_mw",)))
    assert found.constraint_aware.infeasible_choices == 0


def test_equal_banks_give_equal_figures_and_another_seed_other_intervals():
    whole = bank(scattered(4), late_at_four)
    assert evaluate(whole, FAST).as_dict() == evaluate(whole, FAST).as_dict()
    assert evaluate(whole, FAST).ridge.interval != evaluate(whole, replace(FAST, seed=1)).ridge.interval


@FEW
@given(st.integers(0, 10_000), st.data())
def test_no_choice_by_feature_cell_beats_the_floor(draw, data):
    whole = bank(scattered(draw), late_at_four, seeds=(1, 2), cells=CELLS[::3])
    floor = regrets(whole, cell_choices(whole, FAST), 1e4).mean()
    _, cell = np.unique(design(whole.columns, FEATURES), axis=0, return_inverse=True)
    choice = data.draw(st.lists(st.integers(0, 3), min_size=len(CELLS), max_size=len(CELLS)))
    assert floor <= regrets(whole, np.array(choice)[cell.reshape(-1)], 1e4).mean() + 1e-9
    for kind in ("ridge", "constraint_aware"):
        mine = fit(whole, kind).choices(design(whole.columns, FEATURES), whole.feasible)
        assert floor <= regrets(whole, mine, 1e4).mean() + 1e-9


@FEW
@given(st.integers(0, 10_000), st.floats(-1e4, 1e4), st.lists(st.booleans(), min_size=8, max_size=8))
def test_what_holds_of_every_bank(draw, shift, late):
    cells = [CELLS[i] for i in (0, 1, 12, 13, 24, 25, 36, 37)]
    slow = {(mode, i): late[2 * k + i] for k, mode in enumerate(MODES) for i in range(2)}
    whole = bank(scattered(draw), lambda mode, cell: int(slow[mode, cell["deadline_s"] > 4]), seeds=(1, 2), cells=cells)
    if not whole.feasible.any():
        with pytest.raises(InputError, match="no mode is feasible in any scenario"):
            evaluate(whole, FAST)
        return
    found = evaluate(whole, replace(FAST, draws=20))
    judged = [found.ridge, found.constraint_aware, *found.fixed.values()]
    sequential = found.fixed[Mode.SEQUENTIAL].mean_regret
    for one in judged:
        assert (one.regret >= 0).all()
        assert one.interval[0] <= one.mean_regret <= one.interval[1]
        assert one.value_vs_fixed_sequential.mean == pytest.approx(sequential - one.mean_regret, abs=1e-6)
        assert (one.regret == 0).mean() <= one.oracle_rate + 1e-9
        assert sum(one.choices.values()) == len(found.bank)
        assert found.floor >= 0
    assert found.constraint_aware.infeasible_choices == 0
    assert sum(found.oracle.split.values()) == pytest.approx(len(found.bank))
    assert found.without_feasible_mode + len(found.bank) == len(whole)
    moved = evaluate(replace(whole, cost=whole.cost + shift), replace(FAST, draws=20))
    assert moved.floor == pytest.approx(found.floor, abs=1e-6)
    assert moved.oracle.membership == found.oracle.membership


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"features": ("colour",)}, "feature 'colour' is not in the bank — it has cap_tightness, deadline_s, "),
        ({"group": ("colour",)}, "group column 'colour' is not in the bank — it has deadline_s, "),
        ({"group": ("forecast_noise", "mean_resistance")}, None),
        ({"group": ("seed",)}, None),
        ({"features": ("factor_r_pu", "deadline_s")}, None),
        ({"group": ("status",)}, "group column 'status' is not in the bank"),
    ],
)
def test_features_and_groups_are_columns_of_the_bank(change, line):
    whole = bank(crossing)
    if line is None:
        assert evaluate(whole, replace(FAST, **change)).groups > 1
    else:
        with pytest.raises(InputError) as caught:
            evaluate(whole, replace(FAST, **change))
        assert str(caught.value).startswith(line)


def test_one_group_cannot_be_held_out():
    with pytest.raises(InputError, match="one group of import_cap_mw and r_pu only"):
        evaluate(bank(crossing, cells=CELLS[:12]), FAST)


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": 0},
        {"alpha": float("nan")},
        {"alpha": float("inf")},
        {"features": ()},
        {"features": ("r_pu", "r_pu")},
        {"group": ()},
        {"draws": 0},
        {"seed": -1},
        {"infeasible_cost": -1.0},
    ],
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(InputError):
        Settings(**wrong)
