"""The comparison: which cells it has, and what its table says of planted rows."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declarers import Fixed, Hybrid
from planroute.domains.grid import GridDomain
from planroute.episode import Conditions, run_episode
from planroute.experiments.compare import comparison_cells, ordered, summarise
from planroute.ledger import Budget
from planroute.modes import MODES, ROUTED, Mode
from planroute.runs.cells import run_cells
from planroute.runs.folder import canonical
from tests.domains.tiny import Line, TinyDomain

DOMAIN = TinyDomain({"a": Line(), "b": Line(places=(1, 2))})
ROW = asyncio.run(run_episode(DOMAIN, DOMAIN.tasks()[0], 1, Conditions(Fixed(Mode.SEARCH)))).row


def row(condition, seed=1, cost=1.0, task="a", **changes):
    return replace(ROW, condition=condition, seed=seed, task=task, metrics={"cost": cost}, **changes)


# Cells


def test_every_condition_runs_on_every_task_and_seed():
    cells = comparison_cells(DOMAIN.tasks(), [7, 13], MODES, routed={ROUTED: Hybrid(prior_only=True)})
    assert len(cells) == 5 * 2 * 2
    assert len({cell.key for cell in cells}) == len(cells)
    assert {(cell.task.id, cell.seed) for cell in cells if cell.condition == ROUTED} == {
        (task, seed) for task in "ab" for seed in (7, 13)
    }


def test_forced_conditions_differ_in_nothing_but_the_declaration():
    budget = Budget(interactions=5)
    routed = {ROUTED: Hybrid(prior_only=True)}
    cells = comparison_cells(DOMAIN.tasks(), [7], MODES, budget=budget, deadline_s=4.0, routed=routed)
    forced = {cell.condition: cell.conditions for cell in cells if cell.condition != ROUTED}
    assert {mode: conditions.declarer for mode, conditions in forced.items()} == {m: Fixed(m) for m in MODES}
    assert len({replace(conditions, declarer=Fixed(Mode.SEARCH)) for conditions in forced.values()}) == 1
    (one,) = {conditions.gate.deadline_s for conditions in forced.values()}
    assert one is None
    (gated,) = {cell.conditions for cell in cells if cell.condition == ROUTED}
    assert (gated.gate.deadline_s, gated.budget) == (4.0, budget)


@given(st.permutations(MODES), st.lists(st.sampled_from([*MODES, ROUTED, "ROUTED other"]), max_size=8))
def test_conditions_have_one_order_whatever_they_are_asked_in(modes, conditions):
    cells = comparison_cells(DOMAIN.tasks(), [1, 2], modes)
    assert [cell.key for cell in cells] == [cell.key for cell in comparison_cells(DOMAIN.tasks(), [1, 2], MODES)]
    found = ordered(conditions)
    assert sorted(found) == sorted(set(conditions))
    assert [c for c in found if c in MODES] == [m for m in MODES if m in conditions]


# The table of planted rows


def test_regret_and_oracle_of_planted_costs():
    rows = [row("PREDEFINED", 1, 5.0), row("SEARCH", 1, 3.0), row("PREDEFINED", 2, 4.0), row("SEARCH", 2, 6.0)]
    result = summarise(rows, "cost")
    assert result["oracle"] == {"1": ["SEARCH"], "2": ["PREDEFINED"]}
    assert {c: table["regret"] for c, table in result["conditions"].items()} == {"PREDEFINED": 1.0, "SEARCH": 1.0}
    assert {c: table["cost"] for c, table in result["conditions"].items()} == {"PREDEFINED": 4.5, "SEARCH": 4.5}
    assert [seed["regret"] for seed in result["conditions"]["PREDEFINED"]["per_seed"]] == [2.0, 0.0]


def test_ties_have_several_oracles():
    result = summarise([row(mode, 1, 2.0 + 1e-12 * i) for i, mode in enumerate(MODES)], "cost")
    assert result["oracle"] == {"1": [*MODES]}


def test_several_tasks_have_oracles_of_their_own():
    rows = [
        row(m, 1, cost, task)
        for task, costs in {"a": (1, 2), "b": (2, 1)}.items()
        for m, cost in zip(MODES[:2], costs, strict=True)
    ]
    assert summarise(rows, "cost")["oracle"] == {"a:1": ["PREDEFINED"], "b:1": ["SEQUENTIAL"]}


def test_the_routed_condition_is_held_against_the_forced_ones_and_is_no_oracle():
    rows = [row("PREDEFINED", 1, 5.0), row("SEARCH", 1, 3.0), row(ROUTED, 1, 2.0)]
    result = summarise(rows, "cost")
    assert result["oracle"] == {"1": ["SEARCH"]}
    assert result["conditions"][ROUTED]["regret"] == -1.0


def test_an_infrastructure_failure_counts_against_nobody():
    rows = [
        row("PREDEFINED", 1, 5.0),
        row("SEARCH", 1, 0.0, status="infrastructure", failure="INFRASTRUCTURE"),
        row("PREDEFINED", 2, 4.0),
        row("SEARCH", 2, 6.0),
    ]
    result = summarise(rows, "cost")
    assert result["oracle"] == {"2": ["PREDEFINED"]}
    search = result["conditions"]["SEARCH"]
    assert (search["cost"], search["episodes"], search["infrastructure"], search["failed"]) == (6.0, 2, 1, 0)
    assert search["failure_counts"] == {"INFRASTRUCTURE": 1, ROW.failure: 1}
    assert [seed["regret"] for seed in search["per_seed"]] == [None, 2.0]


def test_a_metric_that_does_not_apply_is_not_averaged_as_zero():
    rows = [row("SEARCH", 1, 4.0), row("SEARCH", 2, None)]
    table = summarise(rows, "cost")["conditions"]["SEARCH"]
    assert table["cost"] == 4.0
    assert summarise([row("SEARCH", 1, None)], "cost")["conditions"]["SEARCH"]["cost"] is None


@given(st.dictionaries(st.integers(0, 5), st.lists(st.floats(0, 1e6), min_size=4, max_size=4), min_size=1))
def test_regret_is_never_negative_and_zero_for_the_oracle(costs):
    rows = [row(mode, seed, cost) for seed, four in costs.items() for mode, cost in zip(MODES, four, strict=True)]
    result = summarise(rows, "cost")
    for mode, table in result["conditions"].items():
        for seed in table["per_seed"]:
            assert seed["regret"] >= 0
            if mode in result["oracle"][str(seed["seed"])]:
                assert seed["regret"] <= 1e-9
    assert set(result["oracle"]) == {str(seed) for seed in costs}


# Equal bytes


@pytest.mark.parametrize("domain", [DOMAIN, GridDomain()], ids=["tiny", "grid"])
def test_equal_comparisons_give_equal_bytes(domain):
    cost = {"tiny": "steps", "grid": "objective"}[domain.name]

    def compare(modes, concurrency):
        cells = comparison_cells(domain.tasks(), [7, 13], modes, routed={ROUTED: Hybrid(prior_only=True)})
        episodes = asyncio.run(run_cells(domain, cells, concurrency=concurrency))
        return canonical(summarise([e.row for e in episodes], cost)), [e.trace.to_json() for e in episodes]

    once = compare(MODES, 8)
    assert compare(MODES, 8) == once
    assert compare(MODES[::-1], 1) == once
    assert compare([Mode.SEARCH, Mode.PREDEFINED, Mode.SEQUENTIAL, Mode.HIERARCHICAL], 3) == once
    assert json.loads(once[0])["conditions"].keys() == {*MODES, ROUTED}
