"""Rubric judges, and ``planroute judge`` on traces, cells and the trajectories of others."""

import asyncio
import json
import re

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.cli.cases import UNKNOWN, read_cases, written
from planroute.cli.judge import same_model
from planroute.declarers import Fixed
from planroute.episode import Conditions
from planroute.errors import FaultyInput, InputError, ReplyError
from planroute.evaluation.judges import RUBRICS, RubricJudge, Score
from planroute.ledger import Ledger
from planroute.models import FACTORIES
from planroute.models.metered import MeteredModel
from planroute.modes import Baseline, Mode
from planroute.plan import Logic, PlanUnit
from planroute.protocols import Context
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from planroute.trace import Trace
from tests.declarers.answering import Answering
from tests.domains.text.rooms import GOAL, Player, RoomsDomain

ADAPT = {
    "problem": "You are in a room. Your task is to: put a mug in desk.",
    "trace": " go to desk 1\nOn it, you see a mug 1.\n> take mug 1 from desk 1\nYou pick up the mug 1.\n",
    "plans": [
        "put a mug in desk. at depth 1, success: True",
        "['Find and take mug', 'Put mug in desk'] at depth 2 and logic AND",
        "Find and take mug at depth 2, success: True",
        "Put mug in desk at depth 2, success: False",
    ],
    "reward": 1,
}


@pytest.fixture
def asked(monkeypatch):
    """``scripted/remembering=SCORE`` keeps every question; the score may be any text."""
    requests = []

    def remembering(score, parameters):
        def script(request):
            requests.append(request)
            return json.dumps({"score": int(score), "reason": "so"}) if score.isdigit() else score

        return script

    monkeypatch.setitem(FACTORIES, "remembering", remembering)
    return requests


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A stored run of four conditions in the house of three rooms, under a player that succeeds."""
    folder = tmp_path_factory.mktemp("run")
    domain, ways = RoomsDomain(lexicon="household"), iter([["go kitchen"], ["go vault"]] * 20)
    player = Player({"proposal": lambda request, state: {"steps": next(ways)}}, name="writer")
    task = domain.tasks()[0]
    conditions = {mode: Conditions(Fixed(mode, branching=2), model=player) for mode in Mode}
    conditions[Baseline.FLAT_REACT] = Conditions(Fixed(Mode.PREDEFINED), model=player, baseline=Baseline.FLAT_REACT)
    cells = [Cell(task, name, 7, given) for name, given in conditions.items()]
    asyncio.run(execute_run(domain, cells, config={}, out=folder))
    return folder


def cell(run_folder, condition):
    return str(run_folder / "cells" / f"vault-{condition}-7.json")


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["judge", *arguments, "--no-cache"], input=stdin)


def told(*arguments, stdin=None):
    done = run(*arguments, "--json", stdin=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return json.loads(done.stdout)


def shown(request):
    return json.loads(request.messages[-1].content.removeprefix("State: "))


# The judge itself


def judged(answer, rubric="trajectory", *, judge=None, evidence=None):
    model, ledger, trace = Answering(answer), Ledger(), Trace()
    context = Context(7, trace, ledger, MeteredModel(model, ledger), MeteredModel(judge, ledger) if judge else None)
    evidence = {"trajectory": "> wait"} if evidence is None else evidence
    return asyncio.run(RubricJudge(rubric).judge("win", evidence, context)), model, ledger


@pytest.mark.parametrize("rubric", RUBRICS)
def test_a_rubric_is_asked_with_goal_and_evidence_and_nothing_else(rubric):
    judgement, model, ledger = judged('{"score": 2, "reason": "nearly"}', rubric)
    assert (judgement.score, judgement.reason, judgement.judge) == (2, "nearly", f"{rubric} judge test/answering")
    (request,) = model.requests
    assert [message.content for message in request.messages] == [
        RUBRICS[rubric],
        'State: {"goal": "win", "trajectory": "> wait"}',
    ]
    assert (request.purpose, request.sampling.temperature) == (f"{rubric} judge", 0.0)
    assert ledger.by_purpose[f"{rubric} judge"].model_calls == 1


def test_rubrics_name_all_four_scores_and_never_ask_for_success():
    for text in RUBRICS.values():
        assert re.findall(r"\b([0-3]):", text) == ["0", "1", "2", "3"]
    assert "succeeded, does not matter" in RUBRICS["adherence"]
    assert "before anything was done" in RUBRICS["quality"]


@pytest.mark.parametrize(("answer", "score"), [('{"score": 7}', 3), ('{"score": -1}', 0), ("It is {'score': 3}", 3)])
def test_a_score_is_mended_into_its_range(answer, score):
    assert judged(answer)[0].score == score


@pytest.mark.parametrize("answer", ["", "excellent", '{"reason": "x"}', '{"score": "high"}'])
def test_an_answer_without_a_score_is_a_reply_error_that_is_charged(answer):
    model, ledger = Answering(answer), Ledger()
    context = Context(7, Trace(), ledger, MeteredModel(model, ledger))
    with pytest.raises(ReplyError):
        asyncio.run(RubricJudge("quality").judge("win", {}, context))
    assert ledger.total.model_calls == 1


def test_the_judges_own_model_is_asked_where_there_is_one():
    judge = Answering('{"score": 1}', name="judge")
    judgement, backbone, _ = judged('{"score": 3}', judge=judge)
    assert (judgement.score, judgement.judge, backbone.requests) == (1, "trajectory judge test/judge", [])


def test_scores_are_whole_numbers_from_0_to_3():
    schema = Score.model_json_schema()["properties"]["score"]
    assert (schema["type"], schema["minimum"], schema["maximum"]) == ("integer", 0, 3)


# What the command shows to a judge


def test_quality_withholds_execution(run_folder, asked):
    files = [cell(run_folder, mode) for mode in Mode]
    results = told(*files, "--rubric", "quality", "--model", "scripted/remembering=2")["judged"]
    assert [result["score"] for result in results] == [2] * 4
    for request in asked:
        state = shown(request)
        assert set(state) == {"goal", "domain", "what_can_be_done", "plan"}
        assert state["goal"] == GOAL
        for word in ("> ", "You are in", "take key", "success"):
            assert word not in request.messages[-1].content


def test_quality_sees_the_first_plan(run_folder, asked):
    files = [cell(run_folder, mode) for mode in Mode]
    told(*files, "--rubric", "quality", "--model", "scripted/remembering=2")
    plans = [shown(request)["plan"] for request in asked]
    assert plans == [
        "1 fetch the key\n2 enter the vault",
        "1 fetch the key\n2 enter the vault",
        "1 have the key\n2 be in the vault",
        "alternative 1:\n1 go kitchen\nalternative 2:\n1 go vault",
    ]


@pytest.mark.parametrize("rubric", ["adherence", "trajectory"])
def test_the_others_see_what_was_done_and_no_success_label(run_folder, asked, rubric):
    told(cell(run_folder, "SEARCH"), "--rubric", rubric, "--model", "scripted/remembering=3")
    (request,) = asked
    state = shown(request)
    assert set(state) == {"goal", "domain", "trajectory"} | ({"plan"} if rubric == "adherence" else set())
    assert state["trajectory"].count("> ") == 4
    assert "success" not in request.messages[-1].content.lower()
    if rubric == "adherence":
        assert state["plan"] == "1 go kitchen"


def test_adherence_comes_with_the_verifiers_units(run_folder, asked):
    (result,) = told(cell(run_folder, "SEARCH"), "--model", "scripted/remembering=3")["judged"]
    assert result["units"] == {"planned": 1, "needed": 1, "completed": 1, "adherence": 1.0}
    assert result["rubric"] == "adherence"
    (result,) = told(cell(run_folder, "SEARCH"), "--rubric", "trajectory", "--model", "scripted/remembering=3")[
        "judged"
    ]
    assert result["units"] is None


def test_without_a_plan_there_is_nothing_to_judge_but_the_trajectory(run_folder, asked):
    file = cell(run_folder, "FLAT_REACT")
    for rubric in ("quality", "adherence"):
        (result,) = told(file, "--rubric", rubric, "--model", "scripted/remembering=3")["judged"]
        assert (result["score"], result["reason"], result["error"]) == (None, "no plan is declared", "")
    assert asked == []
    (result,) = told(file, "--rubric", "trajectory", "--model", "scripted/remembering=3")["judged"]
    assert result["score"] == 3


def test_foreign_trajectories(tmp_path, asked):
    path = tmp_path / "adapt.json"
    path.write_text(json.dumps({"pick": {"game": ADAPT}}))
    (result,) = told(str(path), "--model", "scripted/remembering=1")["judged"]
    assert (result["source"], result["writer"], result["judge_is_writer"]) == ("adapt", None, None)
    assert result["units"] == {"planned": 2, "needed": 2, "completed": 1, "adherence": 0.5}
    state = shown(asked[0])
    assert state["goal"] == "put a mug in desk."
    assert state["plan"] == "1 Find and take mug\n2 Put mug in desk"
    assert "> take mug 1 from desk 1\nYou pick up the mug 1." in state["trajectory"]
    assert "success" not in asked[0].messages[-1].content
    told(str(path), "--rubric", "quality", "--model", "scripted/remembering=1")
    assert "sinkbasin" in shown(asked[1])["what_can_be_done"]


def test_what_a_file_does_not_say_can_be_given(run_folder, tmp_path, asked):
    stored = json.loads((run_folder / "cells" / "vault-PREDEFINED-7.json").read_text())
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(stored["trace"]))
    told(str(path), "--rubric", "quality", "--model", "scripted/remembering=1")
    told(str(path), "--rubric", "quality", "--goal", "win", "--tools", "walk", "--model", "scripted/remembering=1")
    assert [(shown(r)["goal"], shown(r)["what_can_be_done"]) for r in asked] == [(UNKNOWN, UNKNOWN), ("win", "walk")]


def test_nested_and_alternative_plans_are_written_out():
    leaf = [PlanUnit(str(n), f"step {n}") for n in range(3)]
    plan = (PlanUnit("a", "either", children=(leaf[0], leaf[1]), logic=Logic.OR), leaf[2])
    assert written(plan) == "1 either (any one of these)\n1.1 step 0\n1.2 step 1\n2 step 2"


def test_the_real_files(data_dir, asked):
    folder = data_dir / "trajectories"
    files = [path for path in folder.rglob("*.*") if path.parent.name in ("alfworld", "swe", "inspect")]
    domains = set()
    for file in sorted(str(path) for path in files if ".report." not in path.name):
        cases, faults = read_cases([file], None, 5, None, None)
        assert (faults, len(cases) > 0) == ([], True)
        domains |= {case.domain for case in cases}
        for case in cases:
            shown_to_judges = [case.evidence(rubric) for rubric in RUBRICS]
            assert shown_to_judges[0] is not None
            assert json.dumps(shown_to_judges)
    assert domains == {"alfworld", "swebench", "unknown"}


# Judge and backbone apart


def test_the_writer_is_known_from_a_cell_and_from_a_trace(run_folder, tmp_path, asked):
    stored = json.loads((run_folder / "cells" / "vault-SEARCH-7.json").read_text())
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(stored["trace"]))
    results = told(cell(run_folder, "SEARCH"), str(path), "--model", "scripted/remembering=1")["judged"]
    assert [(result["writer"], result["judge_is_writer"]) for result in results] == [("test/writer", False)] * 2
    assert "warning" not in run(cell(run_folder, "SEARCH"), "--model", "scripted/remembering=1").stdout


def test_a_judge_of_its_own_trajectory_is_warned_about(run_folder, tmp_path, asked):
    stored = json.loads((run_folder / "cells" / "vault-SEARCH-7.json").read_text())
    stored["row"]["model"] = "scripted/remembering=1"
    path = tmp_path / "cell.json"
    path.write_text(json.dumps(stored))
    (result,) = told(str(path), "--model", "scripted/remembering=1")["judged"]
    assert result["judge_is_writer"] is True
    lines = run(str(path), cell(run_folder, "SEARCH"), "--model", "scripted/remembering=1").stdout.splitlines()
    assert lines[-1] == "warning: the judge is the model that wrote 1 of them; take another judge"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://api.openai.com/v1#gpt-4o", "openai/gpt-4o", True),
        ("http://localhost:8000/v1#Qwen/Qwen3", "http://elsewhere/v1#qwen/qwen3", True),
        ("http://localhost:8000/v1#a", "http://localhost:8000/v1#b", False),
        ("scripted/slip=0", "scripted/slip=0.1", False),
        ("embedded:SmolLM2@abc", "embedded:SmolLM2@abc", True),
    ],
)
def test_models_are_the_same_by_their_last_name(one, other, same):
    assert same_model(one, other) is same


# Output and bad input


def test_printed_lines(tmp_path, asked):
    path = tmp_path / "adapt.json"
    path.write_text(json.dumps({"pick": {"game": ADAPT}}))
    done = run(str(path), "--model", "scripted/remembering=2")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "game (adapt)",
        "  adherence 2: so",
        "  units by the verifier: 2 planned, 2 needed, 1 completed; adherence 0.50",
        "1 trajectories, 1 scored for adherence, mean 2.00 by the adherence judge scripted/remembering=2",
    ]


def test_standard_input_and_limit(asked):
    data = json.dumps({"pick": {f"game {n}": ADAPT for n in range(5)}})
    result = told("-", "--limit", "2", "--model", "scripted/remembering=2", stdin=data)
    assert [one["id"] for one in result["judged"]] == ["game 0", "game 1"]
    assert result["spent"]["model_calls"] == len(asked) == 2


def test_an_unreadable_judgement_is_told_and_charged_and_the_others_go_on(tmp_path, asked):
    path = tmp_path / "adapt.json"
    path.write_text(json.dumps({"pick": {f"game {n}": ADAPT for n in range(2)}}))
    done = run(str(path), "--model", "scripted/remembering=splendid", "--json")
    assert done.exit_code == 1
    result = json.loads(done.stdout)
    assert [one["score"] for one in result["judged"]] == [None, None]
    assert all("cannot be read" in one["error"] for one in result["judged"])
    assert result["spent"]["model_calls"] == 2


def test_files_that_cannot_be_read_are_one_line_and_do_not_stop_the_others(tmp_path, asked):
    good, bad = tmp_path / "adapt.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"pick": {"game": ADAPT}}))
    bad.write_text("{")
    done = run(
        str(bad), str(tmp_path / "absent"), str(tmp_path), str(good), "--model", "scripted/remembering=1", "--json"
    )
    assert isinstance(done.exception, FaultyInput)
    assert len(done.exception.faults) == 3
    assert "\n" not in str(done.exception)
    assert len(json.loads(done.stdout)["judged"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "--model", "scripted/minimal", "--rubric", "beauty"], "--rubric 'beauty' is unknown"),
        (["x", "--model", "nonsense"], "unknown model 'nonsense'"),
    ],
)
def test_wrong_options_are_one_line(arguments, message):
    error = run(*arguments).exception
    assert isinstance(error, InputError)
    assert message in str(error)


def test_what_is_printed_holds_no_control_characters(tmp_path, asked):
    evil = ADAPT | {"plans": ["x at depth 1, success: False", "['Take\\x1b[31m mug'] at depth 2 and logic AND"]}
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"pick": {"game\u001b]0;\u0007\ud800": evil}}))
    for arguments in ([], ["--json"]):
        done = run(str(path), "--model", "scripted/remembering=1", *arguments)
        assert done.exit_code == 0
        assert not set(done.stdout) & {"\x1b", "\x07"}


def test_a_task_that_is_no_text_has_no_goal(run_folder, asked, tmp_path):
    stored = json.loads((run_folder / "cells" / "vault-SEARCH-7.json").read_text())
    stored["row"]["task"] = [{}]
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "odd.json").write_text(json.dumps(stored))
    told(str(tmp_path / "cells" / "odd.json"), "--model", "scripted/remembering=1")
    assert shown(asked[0])["goal"] == UNKNOWN


def test_a_damaged_manifest_asks_for_a_goal(run_folder, asked, tmp_path):
    (tmp_path / "cells").mkdir()
    file = tmp_path / "cells" / "vault-SEARCH-7.json"
    file.write_bytes((run_folder / "cells" / file.name).read_bytes())
    (tmp_path / "manifest.json").write_text("{")
    done = run(str(file), "--model", "scripted/remembering=1", "--json")
    (fault,) = json.loads(done.stdout)["faults"]
    assert fault.startswith(f"{file}: no goal: {tmp_path / 'manifest.json'} is damaged: ")
    assert fault.endswith(" — name it with --goal")
    told(str(file), "--goal", "win", "--model", "scripted/remembering=1")
    assert shown(asked[0])["goal"] == "win"


def test_a_writer_that_is_no_valid_text_is_shown_as_well_as_it_can_be(asked, tmp_path):
    turn = {"role": "assistant", "content": "My plan:\n1. List \ud800\n2. Answer"}
    sample = {"id": "\ud800", "input": "Guess \ud800", "messages": [turn]}
    log = {"version": 2, "status": "success", "eval": {"model": "\ud800"}, "samples": [sample]}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    assert told(str(path), "--model", "scripted/remembering=1")["judged"][0]["score"] == 1
    assert run(str(path), "--model", "scripted/remembering=1").exit_code == 0
