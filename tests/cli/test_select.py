"""``planroute select``: the table and its verdict, the JSON, and every wrong input in one line."""

import json

import pytest

from tests.selection.banks import bank, late_at_four, rows, scattered, search_best

MODES = ["PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bank")
    rows(search_best, late_at_four).to_parquet(path / "rows.parquet")
    return path


def test_json_has_each_selector_at_the_top(planroute, folder):
    status, shown, _ = planroute("select", folder, "--json", "--draws", 200)
    assert status == 0
    result = json.loads(shown)
    for name in ("ridge", "constraint_aware", "all_feasible"):
        one = result[name]
        assert one["interval"][0] <= one["mean_regret"] <= one["interval"][1]
        assert one["value_vs_fixed_sequential"].keys() == {"mean", "low", "high"}
        assert list(one["choices"]) == sorted(MODES)
        assert "per_scenario" not in one
    assert result["all_feasible"]["value_vs_fixed_search"] == {"mean": 0, "low": 0, "high": 0}
    assert result["ridge"]["mean_regret"] == 50
    assert result["constraint_aware"]["mean_regret"] == 0
    assert set(result["fixed"]) == set(MODES)
    assert result["oracle"]["membership"]["SEARCH"] == 72
    assert (result["scenarios"], result["groups"], result["floor"], result["gap_closed"]) == (144, 4, 0, 1)
    assert (result["cost"], result["settings"]["alpha"], result["settings"]["draws"]) == ("objective", 10, 200)


def test_every_scenario_is_listed_where_that_is_asked_for(planroute, folder):
    _, shown, _ = planroute("select", folder, "--json", "--draws", 20, "--per-scenario")
    result = json.loads(shown)
    listed = result["constraint_aware"]["per_scenario"]
    assert len(listed) == 144
    assert {one["choice"] for one in listed} == {"PREDEFINED", "SEARCH"}
    assert sum(one["regret"] for one in result["ridge"]["per_scenario"]) / 144 == result["ridge"]["mean_regret"]
    assert len(result["all_feasible"]["per_scenario"]) == 72


def test_the_table_says_what_the_figures_mean(planroute, folder):
    status, shown, _ = planroute("select", folder, "--draws", 200)
    assert status == 0
    lines = shown.splitlines()
    assert lines[0].split()[0] == "selector"
    (constraint_aware,) = (line for line in lines if line.startswith("constraint-aware"))
    assert constraint_aware.endswith("PREDEFINED 72, SEARCH 72")
    assert "Best feasible mode of 144 scenarios: PREDEFINED 72, SEQUENTIAL 0, HIERARCHICAL 0, SEARCH 72." in lines
    assert any(
        line.startswith("Floor, the best choice by feature cell: 0.00. Constraint-aware closes") for line in lines
    )
    assert any(line.startswith("Constraint-aware: better than fixed SEQUENTIAL, +60.00 [") for line in lines)
    assert lines[-1].endswith("no detectable value over fixed SEARCH, +0.00 [+0.00, +0.00]: the interval covers zero.")


def test_equal_commands_give_equal_bytes(planroute, folder):
    arguments = ("select", folder, "--json", "--draws", 50, "--alpha", 3, "--group", "seed", "--features", "deadline_s")
    first, second = planroute(*arguments), planroute(*arguments)
    assert first == second
    assert json.loads(first[1])["groups"] == 3


def test_scenarios_that_are_left_out_are_told(planroute, tmp_path):
    def late(mode, cell):
        return int(cell["deadline_s"] < 8)

    rows(scattered(1), late).to_parquet(tmp_path / "rows.parquet")
    _, shown, _ = planroute("select", tmp_path, "--draws", 20)
    assert "72 scenarios have no feasible mode and are left out." in shown.splitlines()


def test_no_all_feasible_subset_is_told(planroute, tmp_path):
    rows(search_best, lambda mode, cell: int(mode == "HIERARCHICAL")).to_parquet(tmp_path / "rows.parquet")
    _, shown, _ = planroute("select", tmp_path, "--draws", 20)
    assert shown.splitlines()[-1].startswith("All-feasible subset: not in two held-out groups at least")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--features", "colour"), "planroute: feature 'colour' is not in the bank — it has cap_tightness, "),
        (("--features", ","), "planroute: features: name at least one, and each once, not nothing"),
        (("--features", "r_pu,r_pu"), "planroute: features: name at least one, and each once, not r_pu, r_pu"),
        (("--group", "colour"), "planroute: group column 'colour' is not in the bank — it has deadline_s, "),
        (("--cost", "money"), "planroute: bank {}/rows.parquet: no metric 'money' — its metrics are objective"),
        (("--alpha", "0"), "planroute: alpha must be a number above 0, not 0"),
        (("--alpha", "nan"), "planroute: alpha must be a number above 0, not nan"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_2(planroute, folder, arguments, line):
    status, shown, told = planroute("select", folder, *arguments)
    assert (status, shown) == (2, "")
    assert told.startswith(line.format(folder))
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("content", [None, b"", b"rows"])
def test_a_file_that_is_no_bank_is_one_line_and_exit_2(planroute, tmp_path, content):
    file = tmp_path / "rows.parquet"
    if content is not None:
        file.write_bytes(content)
    status, shown, told = planroute("select", file)
    assert (status, shown) == (2, "")
    assert told.startswith(f"planroute: bank {file}")
    assert len(told.splitlines()) == 1


def test_missing_rows_are_one_line_however_many(planroute, tmp_path):
    frame = rows(search_best, late_at_four)
    frame[frame["condition"] != "SEARCH"].to_parquet(tmp_path / "rows.parquet")
    status, _, told = planroute("select", tmp_path)
    assert status == 2
    assert "144 problems: " in told
    assert "; and 139 more — a scenario is one task under one seed" in told


def test_the_bank_of_the_tests_is_what_it_says():
    assert bank(search_best, late_at_four).feasible.sum(axis=0).tolist() == [144, 144, 72, 72]
