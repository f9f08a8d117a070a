"""The analysis of a run finds what was planted in its rows, and says that it does not know where nothing was."""

import json
from dataclasses import replace

import pytest

from planroute.analysis import Measure, analyse, measure_of
from planroute.errors import InputError
from planroute.modes import MODES, Mode
from planroute.runs.folder import canonical
from planroute.streams import stream
from tests.analysis.planted import declared, forced, row

TASKS = [f"t{number}" for number in range(40)]
ALIKE = {task: dict.fromkeys(MODES, 0.2 + 0.6 * (place / 39)) for place, task in enumerate(TASKS)}
APART = {task: {mode: 0.9 if mode == MODES[place % 4] else 0.1 for mode in MODES} for place, task in enumerate(TASKS)}
ONE_BEST = {task: {mode: 0.9 if mode is Mode.SEARCH else 0.5 for mode in MODES} for task in TASKS}


def said(found, about):
    return next(one for one in found["conclusions"] if one["about"] == about)


def skilled(share, seed=0):
    draw = stream(seed, "declared")
    return {
        task: [MODES[place % 4] if draw.random() < share else MODES[draw.integers(4)] for _ in range(3)]
        for place, task in enumerate(TASKS)
    }


# RQ2


def test_where_modes_are_alike_headroom_is_no_more_than_attempts():
    found = analyse(forced(ALIKE, 6))
    assert found["rq2"]["headroom"]["low"] > 0.1
    residual = found["rq2"]["controls"]["4"]["residual"]
    assert residual["low"] <= 0 <= residual["high"]
    assert said(found, "headroom")["sure"] == "open"
    assert said(found, "headroom")["sentence"].startswith("Not shown")


def test_where_modes_solve_different_tasks_the_headroom_is_choice():
    found = analyse(forced(APART, 6))
    assert found["rq2"]["controls"]["4"]["residual_cross_fitted"]["low"] > 0
    assert said(found, "headroom")["sure"] == "clear"
    assert "the modes solve different tasks" in said(found, "headroom")["sentence"]


def test_one_clearly_best_mode_is_named_with_its_lead_and_its_price():
    found = analyse(forced(ONE_BEST, 6, tokens={Mode.SEARCH: 400}))
    assert found["rq2"]["best"] == "SEARCH"
    assert said(found, "use")["sure"] == said(found, "best mode")["sure"] == "clear"
    assert said(found, "use")["sentence"].startswith("Use SEARCH: ")
    assert "400 tokens per task" in said(found, "use")["sentence"]


def test_where_nothing_is_clearly_better_the_cheapest_is_named():
    found = analyse(forced(ALIKE, 6, tokens={Mode.PREDEFINED: 40}))
    assert said(found, "use")["sure"] == "open"
    assert said(found, "use")["choice"] == "PREDEFINED"
    assert (
        "Undecided on 40 tasks: PREDEFINED is the cheapest that is not clearly worse" in said(found, "use")["sentence"]
    )


def test_what_is_clearly_better_than_every_mode_is_named_even_if_it_is_none():
    chances = {task: {**dict.fromkeys(MODES, 0.3), "FLAT_REACT": 0.9} for task in TASKS}
    found = said(analyse(forced(chances, 6)), "use")
    assert (found["choice"], found["sure"]) == ("FLAT_REACT", "clear")
    assert found["sentence"].startswith("Use FLAT_REACT, which acts without a plan: ")


def test_a_cheaper_condition_that_may_be_as_good_comes_before_a_mode_that_beats_the_other_modes():
    chances = {task: {**one, "FLAT_REACT": 0.9} for task, one in ONE_BEST.items()}
    found = said(analyse(forced(chances, 6, tokens={"FLAT_REACT": 10})), "use")
    assert (found["choice"], found["sure"]) == ("FLAT_REACT", "open")


def test_a_dearer_condition_that_may_be_better_stands_beside_the_default_with_its_price():
    chances = {task: {"FLAT_REACT": 0.55, "SEQUENTIAL": 0.6} for task in TASKS}
    found = analyse(forced(chances, 3, tokens={"FLAT_REACT": 100, "SEQUENTIAL": 300}))
    picked = found["choice"]
    assert (picked["best"], picked["default"], picked["clear"]) == ("SEQUENTIAL", "FLAT_REACT", False)
    gain = picked["values"]["SEQUENTIAL"]["mean"] - picked["values"]["FLAT_REACT"]["mean"]
    assert picked["price"] == pytest.approx(200 / gain)
    assert "SEQUENTIAL came out first" in said(found, "use")["sentence"]
    assert "at 3.0 times the cost" in said(found, "use")["sentence"]


def test_where_nothing_was_solved_nothing_is_recommended():
    found = analyse(forced({task: dict.fromkeys([*MODES, "FLAT_REACT"], 0.0) for task in TASKS}, 2))
    assert said(found, "use")["sentence"] == "None can be recommended: no condition solved a task."
    assert "choice" not in said(found, "use")


def test_too_few_executions_leave_the_control_out_and_say_so():
    found = analyse(forced(ALIKE, 2))
    assert found["rq2"]["controls"] == {} or all(int(k) <= 2 for k in found["rq2"]["controls"])
    assert "too few executions" in said(found, "headroom")["sentence"]


def test_the_best_mode_of_every_kind_of_task():
    rows = [
        *forced({t: {m: float(m is Mode.SEARCH) for m in MODES} for t in TASKS[:5]}, 2),
        *[
            row(mode, task, 1, mode is Mode.PREDEFINED, factors={"task_type": "two"})
            for task in TASKS[5:9]
            for mode in MODES
        ],
    ]
    kinds = analyse(rows)["rq2"]["by_kind"]
    assert {kind: (one["tasks"], one["best"]) for kind, one in kinds.items()} == {
        "one": (5, ["SEARCH"]),
        "two": (4, ["PREDEFINED"]),
    }


def test_quality_is_correlated_over_what_was_judged():
    rows = forced(ONE_BEST, 1)
    quality = {f"{r.condition}/{r.task}/{r.seed}": 3.0 if r.success else 1.0 for r in rows[::2]}
    found = analyse(rows, quality=quality)["rq2"]["quality"]
    assert found["correlation"]["r"] == pytest.approx(1.0)
    assert found["correlation"]["n"] == len(quality)


# RQ4


def test_a_policy_with_skill_is_found_and_a_blind_one_is_not():
    rows = [
        *forced(APART, 4),
        *declared("DECLARED_SKILLED", skilled(0.6)),
        *declared("DECLARED_BLIND", skilled(0.0)),
        *declared("DECLARED_ALWAYS", {task: ["SEARCH"] for task in TASKS}),
    ]
    found = analyse(rows)
    policies = found["rq4"]["policies"]
    assert policies["DECLARED_SKILLED"]["p_one_sided_holm"] < 0.01
    assert policies["DECLARED_BLIND"]["p_one_sided_holm"] > 0.05
    assert policies["DECLARED_ALWAYS"]["p_one_sided"] is None
    assert policies["DECLARED_ALWAYS"]["delta"] == 0
    told = [one["sentence"] for one in found["conclusions"] if one["about"] == "declaration"]
    assert [(one.startswith("Yes"), one.startswith("No sign"), "chooses nothing" in one) for one in told] == [
        (False, False, True),
        (False, True, False),
        (True, False, False),
    ]
    assert said(found, "use")["sentence"].startswith("Let the model declare (DECLARED_SKILLED)")


def test_a_ranking_beside_as_many_retries_of_the_best_mode():
    rows = [*forced(APART, 4), *declared("DECLARED_RANKED", skilled(1.0), ranking=True)]
    table = analyse(rows)["rq4"]["fallback"]["DECLARED_RANKED"]
    reached = [table[str(k)]["fallback"]["mean"] for k in range(1, 5)]
    assert reached == sorted(reached)
    assert reached[0] > table["1"]["retry"]["mean"]
    assert reached[3] == pytest.approx(analyse(rows)["rq2"]["oracle"])


def test_kinds_of_tasks_are_told_apart_from_tasks():
    kinds = {task: "even" if place % 2 == 0 else "odd" for place, task in enumerate(TASKS)}
    chances = {
        task: {mode: 0.9 if (mode is Mode.SEARCH) == (kinds[task] == "even") else 0.1 for mode in MODES}
        for task in TASKS
    }
    by_kind = {task: ["SEARCH" if kinds[task] == "even" else "PREDEFINED"] * 2 for task in TASKS}
    rows = [
        replace(r, factors={"task_type": kinds[r.task]})
        for r in [*forced(chances, 4), *declared("DECLARED_X", by_kind)]
    ]
    policy = analyse(rows)["rq4"]["policies"]["DECLARED_X"]
    assert policy["p_one_sided"] < 0.01
    assert policy["within_kinds"]["p_one_sided"] is None


# RQ3


def searched(seed, candidates_better):
    """SEARCH, REPEATED_REACT with four attempts and FLAT_REACT; the judge sees half of what is right."""
    draw = stream(seed, "rollouts")

    def tried(chance, count=4):
        metrics, chosen, top = {}, False, -1.0
        for number in range(1, count + 1):
            success = bool(draw.random() < chance)
            score = float(draw.integers(3)) + 2.0 * success
            metrics |= {f"attempt_{number}_success": float(success), f"attempt_{number}_score": score}
            if score > top:
                chosen, top = success, score
        return metrics | {"candidates": float(count)}, chosen

    rows = []
    for task in TASKS:
        for seed_ in range(3):
            metrics, chosen = tried(0.3)
            rows.append(row("REPEATED_REACT", task, seed_, chosen, metrics=metrics))
            metrics, chosen = tried(0.6 if candidates_better else 0.3)
            rows.append(row("SEARCH", task, seed_, chosen, metrics=metrics))
            rows.append(row("FLAT_REACT", task, seed_, bool(draw.random() < 0.3)))
    return rows


@pytest.mark.parametrize("better", [True, False])
def test_searchs_lead_is_split_into_attempts_candidates_and_judge(better):
    found = analyse(searched(1, better))["rq3"]["rollouts"]
    matched = found["matched"]
    assert matched["attempts"]["low"] > 0.2
    assert (matched["candidates"]["low"] > 0) is better
    assert matched["judge"]["mean"] < 0
    assert (matched["over_judged"]["low"] > 0) is better
    assert found["candidates"] == 4.0
    three = found["3"]["means"]
    assert found["3"]["over_flat"]["mean"] == pytest.approx(three["search"] - three["flat"])


# RQ1


def loose(task, mode, kept, units, seed=1):
    metrics = {"plan_order_faithful": float(kept), "units_planned": float(units), "adherence": 1.0 if kept else 0.5}
    return row("PLAN_REACT", task, seed, kept, metrics=metrics, declared=mode, executed="PLAN_REACT")


def test_preservation_by_mode_and_length_with_sparse_bins_marked_and_alternatives_apart():
    rows = [
        *[loose(task, "SEQUENTIAL", True, 3) for task in TASKS[:20]],
        *[loose(task, "HIERARCHICAL", False, 7) for task in TASKS[20:25]],
        *[
            row(
                "PLAN_REACT", task, 1, True, metrics={"alternative_kept": 1.0}, declared="SEARCH", executed="PLAN_REACT"
            )
            for task in TASKS[25:30]
        ],
    ]
    kept = analyse(rows)["rq1"]["preservation"]
    assert kept["overall"]["mean"] == 0.8
    assert kept["overall"]["episodes"] == 25
    assert kept["by_length"]["1-3"]["mean"] == 1.0
    assert not kept["by_length"]["1-3"]["sparse"]
    assert kept["by_length"]["6-7"]["mean"] == 0.0
    assert kept["by_length"]["6-7"]["sparse"]
    assert kept["by_mode"]["HIERARCHICAL"]["mean"] == 0.0
    assert (kept["search"]["episodes"], kept["search"]["mean"]) == (5, 1.0)
    assert "compares with no other row" in kept["search"]["note"]


# Costs and handoff


def test_what_nothing_beats_for_less_is_on_the_frontier():
    chances = {task: {"FLAT_REACT": 0.2, "PREDEFINED": 0.2, "SEQUENTIAL": 0.9, "SEARCH": 0.9} for task in TASKS}
    tokens = {"FLAT_REACT": 50, "PREDEFINED": 80, "SEQUENTIAL": 100, "SEARCH": 900}
    found = analyse(forced(chances, 4, tokens=tokens))["costs"]
    efficient = {point["name"] for point in found["frontier"] if point["efficient"]}
    assert {"FLAT_REACT"} <= efficient
    assert len(efficient & {"SEQUENTIAL", "SEARCH"}) >= 1
    assert found["conditions"]["SEQUENTIAL"]["tokens"]["mean"] == 100
    retried = [point for point in found["frontier"] if point["attempts"] == 3 and point["name"] == "PREDEFINED"]
    assert retried[0]["cost"] == 240
    assert retried[0]["hindsight"]


def test_recovery_is_success_in_spite_of_setbacks():
    rows = [row("SEQUENTIAL", task, 1, place < 10, metrics={"setbacks": 1.0}) for place, task in enumerate(TASKS[:20])]
    rows += [row("SEQUENTIAL", task, 2, True, metrics={"setbacks": 0.0}) for task in TASKS[:20]]
    handoff = analyse(rows)["handoff"]
    assert handoff["total"] == {"failures": 10, "disagreements": 0, "parties": {"executor": 10}}
    recovery = handoff["conditions"]["SEQUENTIAL"]["recovery"]
    assert (recovery["mean"], recovery["episodes"]) == (0.5, 20)


# What is measured


def costing(task, mode, seed, cost, late=None):
    return row(mode, task, seed, None, metrics={"objective": cost}, late_events=late)


def test_a_cost_takes_the_same_path_and_a_seed_is_a_world_of_its_own():
    rows = [
        costing("day", mode, seed, 1000.0 + 100 * (mode is not MODES[seed % 2]) + seed)
        for seed in range(20)
        for mode in MODES
    ]
    found = analyse(rows)
    assert found["measure"] == {"name": "objective", "better": "less", "worlds": True}
    assert found["cases"] == 20
    assert found["rq2"]["headroom"]["mean"] == pytest.approx(50.0)
    assert said(found, "headroom")["sure"] == "clear"
    assert "repeats exactly" in said(found, "headroom")["sentence"]


def test_who_misses_the_deadline_pays_the_papers_price():
    found = analyse([costing("day", mode, 1, 900.0, late=int(mode is Mode.SEARCH)) for mode in MODES])
    assert found["rq2"]["modes"]["SEARCH"]["mean"] == 1e4


def test_infrastructure_failures_count_for_nothing_and_failures_as_no_success():
    rows = [
        row("SEARCH", "a", 1, True),
        row("SEARCH", "a", 2, None, status="infrastructure"),
        row("SEARCH", "a", 3, None, status="failed"),
    ]
    measure = Measure("success")
    assert [measure.of(one) for one in rows] == [1.0, None, 0.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("speed",), "no episode has the metric 'speed'"),
        (("steps",), "--measure steps needs --better"),
        (("success", "less"), "less success is not better"),
    ],
)
def test_a_measure_that_is_not_there_or_has_no_direction_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        measure_of([row("SEARCH", "a", 1, True, metrics={"steps": 3.0})], *arguments)


def test_no_rows_are_refused():
    with pytest.raises(InputError, match="no episode"):
        analyse([])


# As a whole


def test_one_condition_alone_says_what_else_it_needs():
    found = analyse([row("FLAT_REACT", "a", 1, True)])
    assert found["rq2"]["status"] == found["rq4"]["status"] == "not_run"
    assert said(found, "use")["sure"] == "not_run"
    json.loads(canonical(found))


def test_equal_rows_give_equal_answers():
    rows = forced(APART, 2)
    assert canonical(analyse(rows)) == canonical(analyse(list(rows)))
