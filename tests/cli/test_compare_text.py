"""The options that comparisons on text domains share."""

import json

import pytest

ONE = ("compare", "alfworld", "--tasks", 1, "--seeds", 7, "--steps", 1, "--steps-per-unit", 1, "--json")


@pytest.mark.parametrize(
    ("tasks", "said"), [("", "--tasks names nothing"), ("0", "nothing to compare"), ("y" * 300, "too long")]
)
@pytest.mark.parametrize("domain", ["mind2web", "webarena"])
def test_tasks_that_are_none_are_one_line(planroute, domain, tasks, said):
    status, _, told = planroute("compare", domain, "--tasks", tasks, "--model", "scripted/slip=0", "--no-cache")
    assert (status, told.count("\n")) == (2, 1)
    assert said in told
    assert tasks in told


@pytest.mark.parametrize("judge", [(), ("--judge-model", "scripted/slip=0")])
def test_a_cache_needs_no_judge_of_its_own(planroute, tmp_path, judge):
    cache = tmp_path / "calls.sqlite"
    model = ("--model", "scripted/slip=0", "--cache", cache, "--base-url", "http://127.0.0.1:9/v1")
    _, shown, told = planroute(*ONE, *model, *judge, "--conditions", "FLAT_REACT")
    assert "go with --model" not in told
    assert "FLAT_REACT" in json.loads(shown)["conditions"], told


def test_the_most_candidates_hold_for_what_is_declared(planroute, tmp_path):
    model = ("--model", "scripted/slip=0?declare=SEARCH", "--no-cache", "--candidates", 2)
    _, _, told = planroute(*ONE, *model, "--conditions", "ROUTED", "--out", tmp_path / "run")
    (cell,) = (tmp_path / "run" / "cells").iterdir()
    row = json.loads(cell.read_text())["row"]
    assert (row["executed"], row["declaration"]["branching"]) == ("SEARCH", 2), told
    assert row["declaration"]["clips"] == [{"field": "branching", "given": 4, "used": 2}]
