"""What is a bank and what is none: each fault is one line that says what, where, and what to do."""

import numpy as np
import pandas as pd
import pytest

from planroute.errors import InputError
from planroute.modes import MODES
from planroute.selection import Bank, evaluate, read_bank
from tests.selection.banks import bank, crossing, late_at_four, rows


@pytest.fixture(scope="module")
def good():
    return rows(crossing, late_at_four)


def test_a_bank_holds_every_mode_of_every_scenario_in_the_order_of_the_table(good):
    found = Bank.from_rows(good)
    assert (len(found), found.cost.shape, found.feasible.shape) == (144, (144, 4), (144, 4))
    assert found.columns.keys() == {"import_cap_mw", "r_pu", "forecast_noise", "mean_resistance", "deadline_s"}
    (task, seed), costs = found.scenarios[5], found.cost[5]
    mine = good[(good["task"] == task) & (good["seed"] == seed)].set_index("condition")["metric_objective"]
    assert costs.tolist() == [mine[str(mode)] for mode in MODES]
    assert found.feasible.sum(axis=0).tolist() == [144, 144, 72, 72]


def test_the_order_of_rows_does_not_matter(good):
    shuffled = Bank.from_rows(good.sample(frac=1, random_state=3))
    assert evaluate(shuffled).as_dict(per_scenario=True) == evaluate(Bank.from_rows(good)).as_dict(per_scenario=True)


def test_a_file_and_a_folder_are_read_alike_and_keep_what_was_written(good, tmp_path):
    good.to_parquet(tmp_path / "rows.parquet")
    for place in (tmp_path, tmp_path / "rows.parquet", str(tmp_path)):
        found = read_bank(place)
        assert found.scenarios == Bank.from_rows(good).scenarios
        assert np.array_equal(found.cost, Bank.from_rows(good).cost)


def test_an_index_that_was_written_is_read_as_columns(good, tmp_path):
    good.set_index(["task", "seed"]).to_parquet(tmp_path / "rows.parquet")
    assert read_bank(tmp_path).scenarios == Bank.from_rows(good).scenarios


def test_routed_rows_and_baselines_are_left_out(good):
    others = good[good["condition"] == "SEARCH"]
    more = [others.assign(condition=name, metric_objective=0.0) for name in ("ROUTED", "ROUTED_HYBRID", "FLAT_REACT")]
    assert np.array_equal(Bank.from_rows(pd.concat([good, *more])).cost, Bank.from_rows(good).cost)


def test_without_a_deadline_every_mode_is_feasible(good):
    found = Bank.from_rows(good.assign(deadline_s=None, late_events=None))
    assert found.feasible.all()
    with pytest.raises(InputError, match="feature deadline_s is not known in every scenario"):
        evaluate(found)


def test_the_other_referee_has_costs_of_its_own(good):
    other = good.assign(metric_objective_ac=good["metric_objective"] * 2)
    assert np.array_equal(Bank.from_rows(other, "objective_ac").cost, 2 * Bank.from_rows(good).cost)


def damaged(good, column, value, row=0):
    frame = good.astype({column: object}) if isinstance(value, str) else good.copy()
    frame.loc[row, column] = value
    return frame


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda f: f.drop(columns="late_events"), "bank: no column late_events — a bank has task, seed, "),
        (lambda f: f.drop(columns="metric_objective"), "bank: no metric 'objective' — its metrics are none"),
        (lambda f: f.iloc[:0], "bank holds no forced episode — "),
        (lambda f: f.drop(index=0), "bank: 1 problem: 1.1-0.022-0.05-0.2-4, seed 7: no row of PREDEFINED — "),
        (lambda f: pd.concat([f, f.iloc[[3]]]), "bank: 1 problem: 1.1-0.022-0.05-0.2-4, seed 7: 2 rows of SEARCH — "),
        (lambda f: f[f["condition"] != "SEARCH"], "bank: 144 problems: 1.1-0.018-0.05-0.2-4, seed 7: no row of SEARCH"),
        (lambda f: damaged(f, "metric_objective", np.nan), "bank: 1 problem: PREDEFINED of 1.1-0.022-0.05-0.2-4, "),
        (lambda f: damaged(f, "metric_objective", np.inf), "bank: 1 problem: PREDEFINED of 1.1-0.022-0.05-0.2-4, "),
        (lambda f: f.assign(metric_objective="x"), "bank: metric_objective must hold numbers, it holds "),
        (lambda f: f.assign(metric_objective=None), "bank: 576 problems: PREDEFINED of "),
        (lambda f: f.assign(late_events="no"), "bank: late_events must hold numbers, it holds "),
        (
            lambda f: damaged(f, "late_events", np.nan),
            "bank: 1 problem: PREDEFINED of 1.1-0.022-0.05-0.2-4, seed 7, has",
        ),
        (
            lambda f: damaged(f, "status", "infrastructure"),
            "bank: 1 problem: PREDEFINED of 1.1-0.022-0.05-0.2-4, seed ",
        ),
        (lambda f: damaged(f, "condition", "search"), "bank: 1 problem: 'search' is not a mode — the modes are PREDEF"),
        (
            lambda f: damaged(f, "factor_r_pu", 0.03),
            "bank: 1 problem: 1.1-0.022-0.05-0.2-4, seed 7: factor_r_pu differs",
        ),
        (lambda f: f.assign(seed=f["seed"] + 0.5), "bank: seeds must be whole numbers, the column holds float64"),
        (lambda f: f.assign(task=None), "bank: task or seed or condition of some rows is null"),
        (lambda f: pd.concat([f, f["seed"]], axis=1), "bank: several columns are named seed"),
    ],
)
def test_a_fault_is_one_line(good, damage, line):
    with pytest.raises(InputError) as caught:
        Bank.from_rows(damage(good))
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_columns_of_any_kind_beside_those_that_are_needed_do_no_harm(good):
    frame = good.assign(factor_hours=[[1, 2]] * len(good), factor_who="x", metric_other=None, note=object())
    assert np.array_equal(Bank.from_rows(frame).cost, Bank.from_rows(good).cost)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "is not a Parquet file that can be read: "),
        (b"task,seed\n1,2\n", "is not a Parquet file that can be read: "),
        (b"PAR1" + b"\x00" * 64 + b"PAR1", "is not a Parquet file that can be read: "),
    ],
)
def test_a_file_that_is_no_parquet_is_one_line(tmp_path, content, line):
    (tmp_path / "rows.parquet").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_bank(tmp_path)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_truncated_file_is_one_line(good, tmp_path):
    file = tmp_path / "rows.parquet"
    good.to_parquet(file)
    file.write_bytes(file.read_bytes()[:-2000])
    with pytest.raises(InputError, match="is not a Parquet file that can be read"):
        read_bank(file)


def test_no_file_says_what_to_name(tmp_path):
    with pytest.raises(InputError, match="there is no such file — name a Parquet file of forced episodes, or a folder"):
        read_bank(tmp_path)


def test_a_part_of_a_bank_keeps_its_columns_together():
    whole = bank(crossing, late_at_four)
    part = whole.take(whole.all_feasible)
    assert len(part) == 72
    assert set(part.columns["deadline_s"]) == {8.0}
    assert all(
        whole.cost[whole.scenarios.index(name)].tolist() == cost.tolist()
        for name, cost in zip(part.scenarios, part.cost, strict=True)
    )
