"""The table where tasks succeed or fail: planted rows, and whether its intervals cover what they should."""

import asyncio
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declarers import Fixed
from planroute.episode import Conditions, run_episode
from planroute.experiments.success import summarise_success, task_interval
from planroute.modes import MODES, ROUTED, Baseline, Mode
from planroute.runs.folder import canonical
from tests.domains.tiny import TinyDomain

DOMAIN = TinyDomain()
ROW = asyncio.run(run_episode(DOMAIN, DOMAIN.tasks()[0], 1, Conditions(Fixed(Mode.SEARCH)))).row
FAITHFUL = {"plan_order_faithful": 1.0, "order_by_evidence": 1.0, "adherence": 1.0}


def row(condition="SEARCH", task="a", seed=1, success=True, **changes):
    executed = condition if condition in {*MODES, *Baseline} else "SEQUENTIAL"
    given = {"declared": executed, "executed": executed, "metrics": FAITHFUL, "spent": {}, "gate": None, **changes}
    return replace(ROW, condition=condition, task=task, seed=seed, success=success, **given)


def table(*rows, condition="SEARCH"):
    return summarise_success(rows)["conditions"][condition]


# The table


def test_promised_keys():
    promised = {
        "success_rate",
        "success_interval",
        "interactions",
        "model_calls",
        "tokens_thinking",
        "tokens_answer",
        "plan_order_faithful",
        "plan_order_by_actions",
        "adherence",
        "candidates",
        "attribution",
    }
    assert promised <= set(table(row()))
    per_episode = table(row())["per_episode"][0]
    assert {"task", "seed", "success", "status", "stop", "attribution", "attribution_why"} <= set(per_episode)


def test_conditions_stand_in_the_order_of_every_table():
    rows = [row(name) for name in (ROUTED, "SEARCH", "PLAN_REACT", "PREDEFINED", "FLAT_REACT")]
    found = list(summarise_success(rows)["conditions"])
    assert found == ["FLAT_REACT", "PLAN_REACT", "PREDEFINED", "SEARCH", ROUTED]


def test_rates_are_means_over_episodes():
    rows = [row(task=task, seed=seed, success=task == "a") for task in "abc" for seed in (1, 2)]
    assert table(*rows)["success_rate"] == pytest.approx(1 / 3)
    assert (table(*rows)["episodes"], table(*rows)["failed"]) == (6, 0)


def test_costs_are_summed_over_purposes():
    spent = {
        "action": {"model_calls": 3, "prompt_tokens": 30, "answer_tokens": 6, "thinking_tokens": 9},
        "plan": {"model_calls": 1, "prompt_tokens": 5, "answer_tokens": 4, "thinking_tokens": 1},
        "environment": {"interactions": 2},
    }
    found = table(row(spent=spent), row(seed=2))
    names = ("model_calls", "interactions", "tokens_prompt", "tokens_answer", "tokens_thinking")
    assert [found[name] for name in names] == [2.0, 1.0, 17.5, 5.0, 5.0]


def test_a_typed_failure_counts_and_infrastructure_does_not():
    broken = row(seed=3, status="infrastructure", success=None, spent={"action": {"model_calls": 99}})
    spent = row(seed=2, status="failed", stop="BUDGET", success=False, failure="BUDGET")
    found = table(row(), spent, broken)
    assert (found["success_rate"], found["model_calls"]) == (0.5, 0.0)
    assert (found["episodes"], found["failed"], found["infrastructure"]) == (3, 1, 1)
    assert found["attribution"] == {"INFRASTRUCTURE": 1, "NONE": 1, "EXECUTION_FAILURE": 1}
    assert len(found["per_episode"]) == 3


def test_where_everything_was_disturbed_there_is_no_rate():
    found = table(row(status="infrastructure", success=None))
    assert (found["success_rate"], found["success_interval"], found["adherence"]) == (None, None, None)


def test_what_does_not_apply_is_not_averaged_as_zero():
    found = table(row(metrics={"adherence": 0.5}), row(seed=2, metrics={"adherence": None}), row(seed=3, metrics={}))
    assert (found["adherence"], found["candidates"], found["plan_order_faithful"]) == (0.5, None, None)


def test_skipped_units_break_the_order_by_actions_and_not_that_by_dispatch():
    skipped = {"plan_order_faithful": 1.0, "order_by_evidence": 0.0, "adherence": 2 / 3}
    found = table(row(metrics=skipped), row(seed=2))
    assert (found["plan_order_faithful"], found["plan_order_by_actions"]) == (1.0, 0.5)
    assert [one["plan_order_by_actions"] for one in found["per_episode"]] == [0.0, 1.0]
    assert found["attribution"] == {"NONE": 1, "VERIFIER_DISAGREEMENT": 1}
    assert table(row(metrics={"plan_order_faithful": 1.0}))["plan_order_by_actions"] is None


def test_attribution_uses_the_forced_modes_of_the_same_run():
    forced = [row(mode, success=mode == "SEARCH") for mode in MODES]
    routed = [row(ROUTED, success=False), row(ROUTED, seed=2, success=False)]
    result = summarise_success([*forced, *routed])["conditions"]
    assert result[ROUTED]["attribution"] == {"SELECTION_FAILURE": 1, "UNDECIDED": 1}
    first, second = result[ROUTED]["per_episode"]
    assert (first["attribution"], second["attribution"]) == ("SELECTION_FAILURE", "UNDECIDED")
    assert "SEARCH succeeded" in first["attribution_why"]
    assert result["SEARCH"]["attribution"] == {"NONE": 1}


def test_equal_rows_give_equal_bytes_in_any_order_of_conditions():
    rows = [
        row(mode, task, seed, success=(seed + len(mode)) % 2 == 0) for mode in MODES for task in "ab" for seed in (1, 2)
    ]
    once = canonical(summarise_success(rows))
    by_mode = [one for mode in reversed(MODES) for one in rows if one.condition == mode]
    assert canonical(summarise_success(by_mode)) == once
    assert json.loads(once)["conditions"].keys() == set(MODES)


# Intervals


@pytest.mark.parametrize(
    ("by_task", "wanted"),
    [([], None), ([[1.0, 0.0]], None), ([[1.0], [1.0]], [1.0, 1.0]), ([[0.0, 0.0], [0.0]], [0.0, 0.0])],
)
def test_planted_intervals(by_task, wanted):
    assert task_interval(by_task, "x") == wanted


def test_two_opposite_tasks_span_everything():
    assert task_interval([[1.0] * 3, [0.0] * 3], "x") == [0.0, 1.0]


def test_seeds_of_one_task_are_no_independent_evidence():
    """Ten seeds of each of eight tasks that always go the same way say no more than one seed each."""
    once, often = ([[float(task % 2)] * seeds for task in range(8)] for seeds in (1, 10))
    assert task_interval(often, "x") == task_interval(once, "x")
    spread = [[float((task + seed) % 2) for seed in range(10)] for task in range(8)]
    assert task_interval(spread, "x") == [0.5, 0.5]


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=4), min_size=2, max_size=12))
def test_an_interval_holds_the_mean_and_is_the_same_each_time(by_task):
    low, high = task_interval(by_task, "x")
    values = [value for task in by_task for value in task]
    assert 0 <= low <= np.mean(values) <= high <= 1
    assert task_interval(by_task, "x") == [low, high]


def test_the_interval_covers_the_true_rate_of_nested_seeds():
    """Tasks differ in how often they succeed, three seeds each; resampling single episodes would be too narrow."""
    rng = np.random.default_rng(0)
    covered = covered_by_pooling = 0
    repeats = 200
    for _ in range(repeats):
        chances = rng.beta(0.4, 0.4, size=40)
        by_task = (rng.random((40, 3)) < chances[:, None]).astype(float)
        low, high = task_interval(by_task.tolist(), "x")
        covered += low <= 0.5 <= high
        error = 1.96 * by_task.std() / np.sqrt(by_task.size)
        covered_by_pooling += abs(by_task.mean() - 0.5) <= error
    assert 0.90 <= covered / repeats <= 0.98
    assert covered_by_pooling / repeats < 0.85
