"""The same flags on every domain, one table, the same bytes again; what cannot run is told and stops nothing."""

import json

import pytest

from planroute.cli.compare_all import best_modes

SMALL = ("compare", "all", "--seeds", "7", "--tasks", "1", "--conditions", "FLAT_REACT,SEARCH,ROUTED")


def test_one_table_over_domains_and_again_from_the_cache_the_same_bytes(planroute, tmp_path):
    command = (*SMALL, "--model", "scripted/slip=0", "--domains", "mind2web,grid,alfworld", "--json")
    code, shown, told = planroute(*command, "--cache", tmp_path / "calls.sqlite")
    assert (code, told) == (0, "")
    result = json.loads(shown)
    lines = {(line["domain"], line["condition"]): line for line in result["table"]}
    assert [name for name, _ in lines] == ["grid"] * 2 + ["alfworld"] * 3 + ["mind2web"] * 3
    assert lines["grid", "SEARCH"]["measure"] == "J"
    assert lines["grid", "ROUTED"]["value"] > lines["grid", "SEARCH"]["value"] > 0
    assert all(line["value"] == 1.0 for (name, _), line in lines.items() if name != "grid")
    assert all(line["tokens_answer"] > 0 for (name, _), line in lines.items() if name != "grid")
    assert result["not_run"] == {}
    assert result["best_modes"] == {"grid": ["SEARCH"], "alfworld": ["SEARCH"], "mind2web": ["SEARCH"]}
    assert planroute(*command, "--cache", tmp_path / "calls.sqlite") == (0, shown, "")


def test_a_domain_that_cannot_run_says_what_is_missing_and_the_others_go_on(planroute, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PLANROUTE_CHROMIUM", raising=False)
    command = (*SMALL, "--model", "scripted/slip=0", "--no-cache", "--domains", "webarena,mind2web", "--out", tmp_path)
    code, shown, _ = planroute(*command)
    assert code == 0
    missing = next(line for line in shown.splitlines() if line.startswith("webarena: not run: "))
    assert "hromium" in missing
    assert (tmp_path / "mind2web" / "report.html").is_file()


@pytest.mark.parametrize(
    ("extra", "line"),
    [
        (("--domains", "atlas"), "planroute: --domains: 1 problem: 'atlas' is not a domain"),
        (("--conditions", "GUESS"), "planroute: --conditions: 1 problem: 'GUESS' is not a condition"),
        (("--model", "nonsense"), "planroute: unknown model 'nonsense'"),
        (("--out", __file__), f"planroute: {__file__}"),
        (("--seeds", "x"), "planroute: --seeds: 1 problem: 'x' is neither a seed nor a range"),
    ],
)
def test_wrong_names_are_told_before_anything_runs(planroute, extra, line):
    code, shown, told = planroute(*SMALL, "--domains", "mind2web", "--model", "scripted/slip=0", *extra)
    assert (code, shown) == (2, "")
    assert told.startswith(line)


def test_the_best_modes_of_a_domain_are_all_that_tie_and_a_cost_is_small():
    def line(domain, condition, value, measure="success"):
        return {"domain": domain, "condition": condition, "value": value, "measure": measure}

    lines = [
        line("grid", "SEARCH", 1400, "J"),
        line("grid", "SEQUENTIAL", 1700, "J"),
        line("games", "SEARCH", 0.5),
        line("games", "SEQUENTIAL", 0.5),
        line("games", "PREDEFINED", None),
        line("games", "FLAT_REACT", 1.0),
    ]
    assert best_modes(lines) == {"grid": ["SEARCH"], "games": ["SEARCH", "SEQUENTIAL"]}
