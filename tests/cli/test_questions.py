"""The research questions on real domains with a scripted agent: one run, one report, the same bytes again."""

import json

import pytest

AGENT = "scripted/slip=0.3?declare=random"


def test_all_questions_from_one_run_and_again_from_what_is_kept(planroute, tmp_path):
    command = ("experiment", "RQ", "--model", AGENT, "--tasks", "2", "--seeds", "7,13", "--steps", "8", "--no-cache")
    code, shown, told = planroute(*command, "--out", tmp_path / "a", "--json")
    assert (code, told) == (0, "")
    found = json.loads(shown)
    assert [one["id"] for one in found["questions"]] == ["RQ1", "RQ2", "RQ3", "RQ4"]
    assert {found[part]["status"] for part in ("rq2", "rq3", "rq4")} == {"done"}
    assert found["rq3"]["rollouts"]["status"] == "done"
    assert found["rq2"]["executions"] == 4
    assert list(found["rq2"]["controls"]) == ["3", "4"]
    assert {"ROUTED", "DECLARED_RANKED", "DECLARED_THINKING", "DECLARED_NO_THINKING"} == set(found["rq4"]["policies"])
    assert found["rq4"]["fallback"]["DECLARED_RANKED"]["1"]["fallback"]["episodes"] == 4
    assert "no task among those kept for demonstrations" in found["not_run"]["DECLARED_FEW_SHOT"]
    printed = {(one["question"], one["what"]): one for one in found["published"]}
    assert printed["RQ4", "policy less its task-blind self"]["value"] == "-0.025 to +0.009"
    assert printed["RQ4", "policy less its task-blind self"]["ours"] == found["rq4"]["policies"]["ROUTED"]["delta"]
    assert not any(one["domain"] == "webarena" for one in found["published"])
    for name in ("analysis.html", "result.json", "run/manifest.json"):
        assert (tmp_path / "a" / name).is_file()
    written = (tmp_path / "a" / "run" / "cells").stat().st_mtime_ns
    assert planroute(*command, "--out", tmp_path / "a", "--json") == (0, shown, "")
    assert (tmp_path / "a" / "run" / "cells").stat().st_mtime_ns == written
    again, shown_again, _ = planroute("analyse", tmp_path / "a" / "run", "--json")
    assert again == 0
    assert json.loads(shown_again)["conclusions"] == found["conclusions"]


def test_plans_are_scored_by_a_judge_and_held_against_success(planroute, tmp_path):
    command = ("experiment", "RQ2", "--model", AGENT, "--judge", "scripted/slip=0", "--tasks", "2", "--seeds", "7")
    code, shown, _ = planroute(*command, "--steps", "15", "--no-cache", "--out", tmp_path / "a", "--json")
    quality = json.loads(shown)["rq2"]["quality"]
    assert code == 0
    assert quality["status"] == "done"
    assert set(quality["by_condition"]) == {"PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH"}
    kept = json.loads((tmp_path / "a" / "run" / "quality.json").read_text())
    assert kept["judge"] == "scripted/slip=0"
    assert len(kept["scores"]) == 16


@pytest.mark.parametrize("domain", ["grid", "mind2web"])
def test_one_pass_on_another_domain(planroute, domain):
    command = ("experiment", "RQ4", "--domain", domain, "--model", AGENT, "--seeds", "7,13")
    some = () if domain == "grid" else ("--tasks", "1")
    code, shown, _ = planroute(*command, *some, "--no-cache", "--json")
    found = json.loads(shown)
    assert code == 0
    assert found["measure"]["name"] == ("objective" if domain == "grid" else "success")
    assert found["rq4"]["status"] == "done"
    assert found["rq4"]["policies"]["ROUTED"]["tasks"] == (2 if domain == "grid" else 1)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("RQ1",), "planroute: RQ1 to RQ4 need a language model — name one with --model"),
        (("RQ1", "E2", "--model", AGENT), "planroute: RQ1 to RQ4"),
        (("RQ9", "--model", AGENT), "planroute: there is no question 'RQ9' — choose from RQ1, RQ2, RQ3, RQ4"),
        (("RQ1", "--domain", "atlas", "--model", AGENT), "planroute: --domain 'atlas' is unknown — choose from grid"),
        (("RQ1", "--tasks", "0", "--model", AGENT), "planroute: --tasks 0 leaves nothing to compare"),
        (("RQ1", "--tasks", "9" * 5000, "--model", AGENT), "planroute: the games' folder 9999"),
        (
            ("RQ1", "--domain", "grid", "--tasks", "/nope", "--model", AGENT),
            "planroute: --tasks and --steps go with text",
        ),
        (("RQ1", "--states", "3", "--set", "a=1", "--model", AGENT), "planroute: --set, --states: not for RQ1 to RQ4"),
        (("RQ1", "--judge", AGENT, "--model", AGENT), "planroute: --judge needs --out"),
    ],
)
def test_wrong_input_is_one_line_before_anything_runs(planroute, arguments, line):
    code, shown, told = planroute("experiment", *arguments)
    assert (code, shown) == (2, "")
    assert told.startswith(line)
    assert told.count("\n") == 1
