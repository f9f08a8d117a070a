"""The report of a run on text tasks: verdict, success with intervals, trajectories, untrusted text."""

import asyncio
import html
import json
import re
import shutil
import subprocess

import pytest

from planroute.domains.alfworld import find_games
from planroute.domains.alfworld.domain import AlfworldDomain
from planroute.errors import InputError
from planroute.evaluation.judges import RubricJudge
from planroute.experiments.compare import comparison_cells
from planroute.experiments.success import summarise_success
from planroute.models import open_model
from planroute.modes import MODES
from planroute.reporting import render_report, text, write_report
from planroute.runs.execute import execute_run
from planroute.runs.folder import RESULT, RunFolder, canonical

CHROMIUM = shutil.which("chromium")
CONDITIONS = ("FLAT_REACT", "PLAN_REACT", "PREDEFINED", "SEQUENTIAL", "ROUTED")


def words(page):
    """What a person reads, without markup."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def script_of(page):
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def headline(page):
    return html.unescape(re.search(r"<h1>(.*?)</h1>", page, re.DOTALL).group(1))


def trace_of(condition, mark=""):
    unit = None if condition.endswith("REACT") else "p1.1"
    acted = {"kind": "acted", "action": f"take cup{mark}", "unit": unit, "admissible": True, "branch": None}
    events = [acted, {"kind": "observed", "text": f"You take the cup.{mark}", "branch": None}]
    if unit:
        start, end = {"kind": "unit_started", "unit": unit}, {"kind": "unit_finished", "unit": unit, "completed": True}
        events = [start, *events, end]
    if condition != "FLAT_REACT":
        unit_ = {"id": "p1.1", "text": f"find a cup{mark}", "children": []}
        events.insert(0, {"kind": "planned", "plan": {"units": [unit_]}, "subgoal": None})
    return events


def row_of(condition, task, seed, success, mark=""):
    spent = {
        "action": {"model_calls": 4, "prompt_tokens": 100, "answer_tokens": 20},
        "environment": {"interactions": 1},
    }
    row = {"task": task, "condition": condition, "seed": seed, "status": "finished", "spent": spent}
    row |= {"factors": {"task_type": f"pick{mark}"}, "stop": "DONE" if success else "PLAN_EXHAUSTED"}
    row |= {"metrics": {"success": float(success)}, "model": "a model", "executed": condition, "declarer": "natural"}
    if condition in ("PLAN_REACT", "ROUTED"):
        fields = {"plan": [{"title": "", "steps": [f"find a cup{mark}", "store it"]}]}
        row["declared"] = "SEQUENTIAL"
        row["declaration"] = {"mode": "SEQUENTIAL", "fields": fields, "rationale": f"because{mark}"}
    return row


def write_run(folder, outcomes, intervals=None, mark="", **config):
    """A run with ``outcomes`` by condition: successes by task, a list over seeds."""
    (folder / "cells").mkdir(parents=True)
    conditions, names = {}, []
    for condition, tasks in outcomes.items():
        flat = [won for seeds in tasks.values() for won in seeds]
        conditions[condition] = {
            "success_rate": sum(flat) / len(flat),
            "success_interval": (intervals or {}).get(condition),
            "interactions": 1.0,
            "model_calls": 4.0,
            "tokens_prompt": 100.0,
            "tokens_answer": 20.0,
            "tokens_thinking": 0.0,
            "plan_order_faithful": {"PLAN_REACT": 0.25, "PREDEFINED": 1.0}.get(condition),
            "plan_order_by_actions": {"PLAN_REACT": 0.25, "PREDEFINED": 0.5}.get(condition),
            "adherence": None,
            "candidates": None,
            "per_episode": [],
        }
        for place, (task, seeds) in enumerate(tasks.items()):
            for seed, won in enumerate(seeds, 7):
                name = f"{place}-{condition if condition.isidentifier() else 'ODD'}-{seed}"
                names.append(name)
                cell = {"row": row_of(condition, task, seed, won, mark), "trace": {"events": trace_of(condition, mark)}}
                (folder / "cells" / f"{name}.json").write_text(json.dumps(cell), encoding="utf-8")
                episode = {"task": task, "seed": seed, "success": bool(won)}
                conditions[condition]["per_episode"].append(episode)
    facts = {task: {"goal": f"have a cup{mark}", "limits": {"steps": 50}, "judge": "rubric"} for task in tasks}
    settings = {"command": "compare alfworld", "generation_profile": {"temperature": 0.2, "thinking": None}} | config
    manifest = {"domain": "alfworld", "cells": names, "facts": facts, "config": settings}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "result.json").write_text(json.dumps({"conditions": conditions}), encoding="utf-8")
    return folder


def tasks_of(*wins):
    """Two seeds for each of several tasks, of which so many were won."""
    return {f"task {n}": [int(win > 0), int(win > 1)] for n, win in enumerate(wins)}


@pytest.fixture
def mixed(tmp_path):
    outcomes = {
        "FLAT_REACT": tasks_of(1, 0),
        "PLAN_REACT": tasks_of(1, 1),
        "PREDEFINED": tasks_of(1, 2),
        "SEQUENTIAL": tasks_of(2, 2),
        "ROUTED": tasks_of(2, 1),
    }
    intervals = {
        "FLAT_REACT": [0.0, 0.5],
        "PLAN_REACT": [0.5, 0.5],
        "PREDEFINED": [0.5, 1.0],
        "SEQUENTIAL": [1.0, 1.0],
        "ROUTED": [0.5, 1.0],
    }
    return write_run(tmp_path / "run", outcomes, intervals)


@pytest.fixture
def unsafe(tmp_path, canary):
    mark = f" {canary}"
    outcomes = {name: {canary: [0], f"{canary} again": [1]} for name in ("PLAN_REACT", "SEQUENTIAL", canary)}
    return write_run(tmp_path / "unsafe", outcomes, mark=mark, declarer=canary)


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    """One game in three conditions, run by the package itself."""
    out = tmp_path_factory.mktemp("real")
    model = open_model("scripted/slip=0.1")
    domain = AlfworldDomain(tuple(find_games(None)[:1]), RubricJudge("trajectory"))
    cells = comparison_cells(domain.tasks(), [7], MODES[1:], model=model, branching=2)
    executed = asyncio.run(execute_run(domain, cells, config={"command": "compare alfworld"}, out=out))
    RunFolder(out).write(RESULT, canonical(summarise_success(executed.rows)))
    return out


# The verdict


def test_the_sentence_says_who_succeeded_most_by_how_much_and_at_what_price(mixed):
    said = headline(render_report(mixed))
    assert said.startswith("Sequential had the highest success, 100 % (4 of 4 episodes; 95 % interval 100 to 100 %): ")
    assert "75 points above Flat ReAct (25 % [0 to 50 %]) and 50 points above Plan+ReAct (50 % [50 to 50 %])" in said
    assert "and the intervals do not overlap; " in said
    assert "routed trails the best fixed mode, sequential, by 25 points (75 % [50 to 100 %] against 100 %" in said
    assert (
        "their intervals overlap); calls and tokens of an episode: 4 and 120 (sequential), 4 and 120 (routed)" in said
    )


@pytest.mark.parametrize(
    ("routed", "said"),
    [
        ((2, 2), "routed beats the best fixed mode, sequential, by 50 points"),
        ((1, 1), "routed equals the best fixed mode, sequential (50 %)"),
        ((0, 1), "outed trails the best fixed mode, sequential, by 25 points"),
    ],
)
def test_routed_against_the_best_fixed_mode(tmp_path, routed, said):
    outcomes = {"SEQUENTIAL": tasks_of(1, 1), "PREDEFINED": tasks_of(0, 0), "ROUTED": tasks_of(*routed)}
    assert said in headline(render_report(write_run(tmp_path / "run", outcomes)))


def test_baselines_that_nobody_beats_are_named(tmp_path):
    outcomes = {"FLAT_REACT": tasks_of(2, 2), "SEQUENTIAL": tasks_of(2, 2), "PREDEFINED": tasks_of(1, 2)}
    said = headline(render_report(write_run(tmp_path / "run", outcomes)))
    assert said.startswith("Flat ReAct and sequential share the highest success, 100 % (4 of 4 episodes each), so none")
    assert "none did better than Flat ReAct;" in said


def test_a_baseline_ahead_of_everything_is_held_against_the_next(tmp_path):
    outcomes = {"FLAT_REACT": tasks_of(2, 2), "SEQUENTIAL": tasks_of(1, 2), "PREDEFINED": tasks_of(1, 1)}
    assert "25 points above sequential" in headline(render_report(write_run(tmp_path / "run", outcomes)))


def test_where_nothing_succeeded_nothing_is_praised(tmp_path):
    outcomes = {name: tasks_of(0, 0) for name in CONDITIONS}
    said = headline(render_report(write_run(tmp_path / "run", outcomes)))
    assert said.startswith("No condition reached a goal in 20 episodes; calls and tokens")


def test_one_condition_one_task_and_one_seed_make_a_report(tmp_path):
    page = render_report(write_run(tmp_path / "run", {"SEQUENTIAL": {"only": [1]}}))
    assert headline(page).startswith("Only sequential was run: 100 % (1 of 1 episode)")
    assert "One task: there is no interval" in words(page)
    assert "One seed: how much results change" in words(page)
    assert "no interval" in words(page)


def test_episodes_of_the_infrastructure_count_nowhere(mixed, change):
    def fail(data):
        data["row"].update(status="infrastructure", stop="INFRASTRUCTURE", error="endpoint is down", metrics={})

    change(mixed / "cells" / "0-FLAT_REACT-7.json", fail)
    page = render_report(mixed)
    assert "1 episode ended by the infrastructure, not by the task (Flat ReAct 1)" in words(page)
    assert re.search(r"Flat ReAct\s+1 left out", words(page))
    assert 'class="mark left-out"' in page


def test_what_has_not_been_run_is_told(mixed):
    (mixed / "cells" / "1-ROUTED-8.json").unlink()
    assert "1 episode of 20 had not been run yet." in words(render_report(mixed))


# Success, cost, types


def test_the_table_has_every_condition_with_interval_and_cost(mixed):
    page = render_report(mixed)
    table = re.search(r'<table class="results scores">.*?</table>', page, re.DOTALL).group(0)
    rows = [words(row) for row in re.findall(r"<tr><th scope=\"row\">.*?</tr>", table, re.DOTALL)]
    assert rows[0] == "Flat ReAct 0 to 50 % 25 % 1 of 4 1.0 4.0 20 0 100 n/a n/a n/a n/a"
    assert rows[1] == "Plan+ReAct 50 to 50 % 50 % 2 of 4 1.0 4.0 20 0 100 n/a 25 % n/a n/a"
    assert rows[2].endswith("20 0 100 100 %† 50 % n/a n/a")
    assert "† Full by construction" in words(page)
    assert [row.split()[0] for row in rows] == ["Flat", "Plan+ReAct", "Predefined", "Sequential", "Routed"]
    assert table.count('class="point"') == 5
    assert table.count('class="span"') == 5
    assert "2 tasks, 2 seeds, 20 episodes" in words(page)


def test_the_key_figure_of_calls_is_held_against_every_condition(tmp_path):
    outcomes = {"FLAT_REACT": tasks_of(2, 2), "PLAN_REACT": tasks_of(1, 1)}
    page = words(render_report(write_run(tmp_path / "run", outcomes)))
    assert "least 4.0 (Flat ReAct), most 4.0 (Plan+ReAct)" in page
    assert "highest success: Flat ReAct" in page


def test_where_nothing_was_reached_nothing_is_called_the_highest(tmp_path):
    page = words(render_report(write_run(tmp_path / "run", {"FLAT_REACT": tasks_of(0, 0), "SEARCH": tasks_of(0, 0)})))
    assert "success: no condition reached a goal" in page
    assert "highest success" not in page


def test_success_by_type_is_shaded(mixed, change):
    for cell in (mixed / "cells").glob("1-*.json"):
        change(cell, lambda data: data["row"].update(factors={"task_type": "heat_then_place"}))
    page = render_report(mixed)
    heat = re.search(r'<table class="heat">.*?</table>', page, re.DOTALL).group(0)
    assert re.search(r"heat then place 1 task 0 % 0 of 2 50 % 1 of 2 100 % 2 of 2", words(heat))
    assert re.findall(r'<td class="(h\d)">', heat)[:3] == ["h0", "h3", "h5"]


def test_without_types_there_is_no_table_of_types(mixed, change):
    for cell in (mixed / "cells").iterdir():
        change(cell, lambda data: data["row"].update(factors={}))
    assert "Success by type" not in render_report(mixed)


def test_how_it_was_made_tells_profile_judge_and_limits(mixed, change):
    change(mixed / "manifest.json", lambda data: data["config"].update(judge_model=None, most_calls=90))
    text_ = words(render_report(mixed))
    assert "generation profile temperature 0.2, thinking not set" in text_
    assert "judge model none of its own: the language model judges itself" in text_
    assert "limits of an episode steps 50" in text_
    assert "most calls 90" in text_


def test_declared_plans_stand_in_words_and_observations_are_no_messages(mixed):
    text_ = words(render_report(mixed))
    assert "plan: 1. find a cup; 2. store it" in text_
    assert "Messages to prosumers" not in text_


# Trajectories


def test_the_first_failed_trajectory_is_shown_without_the_script(mixed):
    page = render_report(mixed)
    course = words(re.search(r'<article class="course".*?</article>', page, re.DOTALL).group(0))
    assert course.startswith("task 0, Flat ReAct, seed 8 have a cup Failure: every unit of the plan had had its turn.")
    assert "take cup You take the cup." in course


def test_where_all_succeeded_the_first_trajectory_is_shown(tmp_path):
    page = render_report(write_run(tmp_path / "run", {"SEQUENTIAL": tasks_of(2, 2)}))
    assert re.search(r'<article class="course" id="course" data-course="0">', page)
    assert "data-next" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_every_trajectory_is_in_the_scripts_data(mixed):
    data = script_of(render_report(mixed))
    assert len(data["episodes"]) == len(data["names"]) == len(data["keys"]) == 20
    assert data["names"][0] == "task 0, Flat ReAct, seed 7"
    assert data["goals"] == ["have a cup", "have a cup"]


def test_marks_lead_to_their_trajectories(mixed):
    page = render_report(mixed)
    data = script_of(page)
    for outcome, place in re.findall(r'<a class="mark ([a-z-]+)" href="#episode-(\d+)"', page):
        assert data["strings"][data["episodes"][int(place)][0]] == outcome


def test_too_many_trajectories_keep_the_failed_and_say_so(mixed, monkeypatch):
    monkeypatch.setattr(text, "LIMIT", 1900)
    page = render_report(mixed)
    data = script_of(page)
    outcomes = [data["strings"][episode[0]] for episode in data["episodes"]]
    assert outcomes.count("failure") == 7
    assert 7 < len(outcomes) < 20
    note = f"This page holds {len(outcomes)} of 20 trajectories: all 7 that failed and a fixed sample of the others."
    assert note in words(page)
    assert page == render_report(mixed)
    monkeypatch.setattr(text, "LIMIT", 900)
    assert re.search(r"trajectories: [1-6] of 7 that failed", words(render_report(mixed)))


def test_whose_failure_it_was_is_told_where_the_table_knows(mixed, change):
    def blame(data):
        told = {"attribution": "EXECUTION_FAILURE", "attribution_why": "no other mode succeeded"}
        data["conditions"]["FLAT_REACT"]["per_episode"][1].update(told)

    change(mixed / "result.json", blame)
    assert "attributed to execution failure (no other mode succeeded)" in words(render_report(mixed))


def test_a_run_of_the_package_itself_is_reported(real):
    page = render_report(real)
    assert len(page.encode()) < 150_000
    strings = set(script_of(page)["strings"])
    assert {"Subgoals", "The plan as made first", "go to shelf 1"} <= strings
    assert strings & {"Candidate c1, chosen", "Candidate c2, chosen"}


# What a run says is untrusted


def test_no_text_of_a_run_becomes_markup(unsafe, canary):
    page = render_report(unsafe)
    assert canary in html.unescape(page)
    for piece in ("<script>document", "<img", 'onerror="', canary):
        assert piece not in page
    assert page.count("<script") == page.count("</script") == 2


@pytest.mark.parametrize(
    "pattern",
    [
        r"<p dir=\"auto\">You take the cup\. &lt;/script&gt;",
        r"<code dir=\"auto\">take cup &lt;/script&gt;",
        r"<(a|span)[^>]* dir=\"auto\">find a cup &lt;/script&gt;",
        r"<h3 [^>]*data-name[^>]*>&lt;/script&gt;",
        r"<option value=\"0\" selected>&lt;/script&gt;",
        r"<th scope=\"row\">pick &lt;/script&gt;",
        r"<p class=\"goal\"[^>]*>have a cup &lt;/script&gt;",
    ],
)
def test_the_canary_is_shown_as_text(unsafe, pattern):
    assert re.search(pattern, render_report(unsafe))


def test_script_data_survives_the_canary(unsafe, canary):
    strings = script_of(render_report(unsafe))["strings"]
    assert f"You take the cup. {canary}" in strings
    assert f"find a cup {canary}" in strings


def test_the_script_never_makes_markup_of_data(mixed):
    page = render_report(mixed)
    assert not re.search(r"\s(style|on[a-z]+)=", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL))
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(", script)


def dom(path, profile):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={profile}", "--virtual-time-budget=2000", "--dump-dom"]
    return subprocess.run([CHROMIUM, *flags, path], capture_output=True, text=True, timeout=90).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_browser_draws_a_trajectory_as_the_page_does_and_nothing_else(unsafe, tmp_path):
    path = write_report(unsafe)
    place = re.search(r'data-course="(\d+)"', path.read_text(encoding="utf-8")).group(1)
    still = dom(path.as_uri(), tmp_path / "one")
    moved = dom(f"{path.as_uri()}#episode-{place}", tmp_path / "two")
    for shown in (still, moved):
        assert 'class="js"' in shown
        assert "<title>Planning modes on text tasks – planroute</title>" in shown
        assert "<img" not in shown
    sides = [re.search(r'<div class="sides">(.*?)</article>', shown, re.DOTALL).group(1) for shown in (still, moved)]
    assert " ".join(sides[0].split()).replace("> <", "><") == " ".join(sides[1].split()).replace("> <", "><")


# Runs of another form


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data["trace"]["events"].append({"kind": "acted"}),
        lambda data: data["trace"]["events"].append({"kind": "planned", "plan": "much"}),
        lambda data: data["row"].pop("task"),
    ],
)
def test_a_cell_of_another_form_is_named_in_one_line(mixed, change, damage):
    change(mixed / "cells" / "0-ROUTED-7.json", damage)
    with pytest.raises(InputError) as caught:
        render_report(mixed)
    assert "0-ROUTED-7.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change_to",
    [
        {"success_rate": None, "success_interval": None},
        {"success_rate": "all", "success_interval": [1]},
        {"success_interval": ["low", "high"], "per_episode": 3},
        {"per_episode": [3, {"task": "task 0"}], "model_calls": None},
    ],
)
def test_a_table_that_lacks_values_is_still_a_report(mixed, change, change_to):
    def spoil(data):
        for table in data["conditions"].values():
            table.update(change_to)

    change(mixed / "result.json", spoil)
    assert "How this was made" in words(render_report(mixed))
