"""Where a failure was decided: planted logs for every rule, the judge, scores, and the real logs as reported."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.errors import FaultyInput, InputError, ReplyError
from planroute.evaluation.location import Location, locate
from planroute.evaluation.location_judge import LocationJudge, shown
from planroute.evaluation.location_scores import Labelled, scores
from planroute.importers.who_when import Turn
from planroute.ledger import Ledger
from planroute.models import FACTORIES
from planroute.models.metered import MeteredModel
from planroute.protocols import Context
from planroute.trace import Trace
from tests.declarers.answering import Answering

CODE = "Let us run it.\n```python\nprint(1)\n```"
GOOD, BAD = "exitcode: 0 (execution succeeded)\n1", "exitcode: 1 (execution failed)\nNameError: name 'x' is not defined"


def talk(*turns):
    """Turns as ``(agent, text)``; those of T are the environment's and the outcome of the turn before."""
    made = []
    for agent, text in turns:
        if agent == "T" and made and not made[-1].environment:
            made[-1] = Turn(made[-1].agent, made[-1].text, text)
        made.append(Turn(agent, text, environment=agent == "T"))
    return made


OPEN = ("A", "You are given a task.")


@pytest.mark.parametrize(
    ("turns", "agent", "step", "rule"),
    [
        ([OPEN, ("B", CODE), ("T", GOOD), ("C", "Let's assume we have the file.")], "C", 3, "invented"),
        ([OPEN, ("B", CODE), ("T", BAD), ("C", "Final answer: 7"), ("A", CODE)], "C", 3, "unsupported"),
        ([OPEN, ("B", CODE), ("T", GOOD), ("C", "Final answer: 7")], "B", 1, "fallback"),
        ([OPEN, *[("B", "Searching the same page as ever, again and again")] * 3], "B", 3, "loop"),
        ([OPEN, *[("B", "ok")] * 3], "B", 1, "fallback"),
        ([OPEN, ("B", CODE), ("T", BAD), ("C", "I try again."), ("A", "Yes.")], "C", 3, "after_failure"),
        ([OPEN, ("B", CODE), ("T", BAD)], "B", 1, "failure"),
        ([OPEN, ("B", "hm"), ("C", "hm")], "B", 1, "fallback"),
        ([("A", CODE), ("T", GOOD), ("B", "fine")], "A", 0, "fallback"),
        ([OPEN], "A", 0, "fallback"),
        ([("T", "do it"), ("A", "Assuming we did, done.")], "A", 1, "invented"),
    ],
)
def test_planted_logs(turns, agent, step, rule):
    found = locate(talk(*turns))
    assert (found.agent, found.step, found.rule) == (agent, step, rule)
    assert found.reason


def test_a_divergence_is_taken_where_nothing_comes_before():
    turns = talk(OPEN, ("B", "x"), ("B", "y"), ("B", "hypothetically"))
    assert (locate(turns, 2).rule, locate(turns, 2).step) == ("divergence", 2)
    assert locate(turns).step == 3


def test_without_an_agent_there_is_nothing_to_locate():
    with pytest.raises(InputError, match="no agent has a turn"):
        locate(talk(("T", "x")))


# Scores


def test_scores_and_their_baselines():
    turns = talk(("A", "x"), ("T", "y"), ("B", "z"), ("A", "v"))
    right = Labelled(turns, "b", 2, Location("B", 2, "", ""))
    none = Labelled(turns, "A", 0, None)
    found = scores([right, none])
    means = {name: {measure: value["mean"] for measure, value in row.items()} for name, row in found.items()}
    assert means["located"] == {"agent": 0.5, "step": 0.5, "within_1": 0.5, "within_3": 0.5}
    assert means["always first"] == {"agent": 0.5, "step": 0.5, "within_1": 0.5, "within_3": 1.0}
    assert means["always last"] == {"agent": 0.5, "step": 0.0, "within_1": 0.5, "within_3": 1.0}
    assert means["random"] == pytest.approx(
        {"agent": (1 / 3 + 2 / 3) / 2, "step": 1 / 3, "within_1": (2 / 3 + 1 / 3) / 2, "within_3": 1.0}
    )
    assert found["located"]["step"]["low"] < 0.5 < found["located"]["step"]["high"]
    assert scores([])["random"]["step"]["mean"] is None


# The judge


def judged(answer, turns):
    model, ledger = Answering(answer), Ledger()
    context = Context(7, Trace(), ledger, MeteredModel(model, ledger))
    return asyncio.run(LocationJudge().locate("win", turns, context)), model


def test_a_model_is_asked_with_task_and_turns_and_nothing_else():
    found, model = judged('{"agent": "B", "step": 1, "reason": "wrong"}', talk(OPEN, ("B", CODE), ("T", BAD)))
    assert found == Location("B", 1, "judge", "wrong")
    state = json.loads(model.requests[0].messages[-1].content.removeprefix("State: "))
    assert state == {
        "task": "win",
        "turns": [
            {"step": 0, "agent": "A", "text": OPEN[1]},
            {"step": 1, "agent": "B", "text": CODE},
            {"step": 2, "agent": "T", "text": BAD},
        ],
    }


def test_a_turn_that_is_none_cannot_be_read():
    with pytest.raises(ReplyError, match="names turn 9 of the 1 from 0"):
        judged('{"agent": "A", "step": 9, "reason": ""}', talk(OPEN))


def test_long_logs_are_cut_in_every_turn_alike():
    cut = shown(talk(*[("A", "x" * 5000 + "end")] * 10), 2000)
    assert all(len(turn["text"]) <= 210 and turn["text"].endswith("end") for turn in cut)


# The command


LOG = {
    "question": "How many?",
    "ground_truth": "SECRET",
    "history": [
        {"name": "A", "content": "You are given a task."},
        {"name": "B", "content": CODE},
        {"name": "Computer_terminal", "content": BAD},
        {"name": "C\u001b[31m", "content": "Let's assume it is 4."},
    ],
    "mistake_agent": "B",
    "mistake_step": "1",
    "mistake_reason": "SECRET",
}


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["locate", *map(str, arguments)], input=stdin)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(LOG))
    return path


def test_the_command_names_agent_turn_and_reason_and_scores(log):
    done = run(log)
    assert done.exit_code == 0, done.exception
    lines = done.stdout.splitlines()
    assert lines[:3] == [
        "log.json (algorithm-generated, 4 turns)",
        '  C [31m at turn 3: goes on with data that is not there: "Let\'s assume" (invented)',
        "  by its label: B at turn 1",
    ]
    assert "algorithm-generated, n = 1" in done.stdout
    assert "\x1b" not in done.stdout + run(log, "--json").stdout
    told = json.loads(run(log, "--json").stdout)
    assert told["by"] == "rules"
    assert told["accuracy"]["algorithm-generated"]["random"]["step"]["mean"] == pytest.approx(1 / 3)


def test_the_label_and_the_right_answer_change_nothing(log, tmp_path):
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps({"question": LOG["question"], "history": LOG["history"]}))
    first, second = (json.loads(run(path, "--json").stdout) for path in (log, bare))
    assert first["located"][0]["located"] == second["located"][0]["located"]
    assert second["accuracy"] == {}


@pytest.mark.parametrize(
    ("answer", "status", "step"), [('{"agent": "B", "step": 1}', 0, 1), ("no idea", 1, None), ('{"step": 99}', 1, None)]
)
def test_a_model_locates_and_is_not_shown_the_label(log, monkeypatch, answer, status, step):
    asked = []

    def pointing(name, parameters):
        return lambda request: asked.append(request) or answer

    monkeypatch.setitem(FACTORIES, "pointing", pointing)
    done = run(log, "--model", "scripted/pointing", "--no-cache", "--json")
    assert done.exit_code == status, done.exception
    (told,) = json.loads(done.stdout)["located"]
    assert (told["located"] and told["located"]["step"]) == step
    assert bool(told["error"]) is bool(status)
    assert all("SECRET" not in message.content for request in asked for message in request.messages)


def test_a_trajectory_of_actions_is_located_too(tmp_path):
    ran = [("cat a.py", "<returncode>0</returncode>"), ("foo", "<returncode>127</returncode>"), ("ls", "a.py")]
    messages = [{"role": "user", "content": "Solve it."}]
    for command, answer in ran:
        messages.append({"role": "assistant", "content": f"```bash\n{command}\n```"})
        messages.append({"role": "user", "content": answer})
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"info": {}, "messages": messages}))
    assert "agent at turn 2: answers the failure of turn 1 (after_failure)" in run(path).stdout


def test_bad_files_do_not_stop_the_others(log, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(LOG | {"mistake_step": "99"}))
    done = run(bad, log, tmp_path / "absent", "--json")
    assert isinstance(done.exception, FaultyInput)
    told = json.loads(done.stdout)
    assert [len(told["located"]), len(told["faults"])] == [1, 2]
    assert "bad.json: mistake_step: '99' is no turn of the 4 from 0" in told["faults"][0]


# The real logs, as docs/location.md reports them


def counts(files, kind):
    table = json.loads(run(*files, "--json").stdout)["accuracy"][kind]
    n = table["located"]["agent"]["n"]
    return n, {name: [round(value["mean"] * n, 2) for value in row.values()] for name, row in table.items()}


def test_the_real_logs_as_reported(data_dir):
    folder = data_dir / "trajectories/labels"
    made = sorted((folder / "who_when_algo").glob("*.json"))
    n, table = counts(made[::2], "algorithm-generated")
    assert (n, table["located"]) == (10, [8, 5, 7, 10])  # the rules were developed on these
    n, table = counts(made[1::2], "algorithm-generated")
    assert (n, table["located"]) == (10, [4, 4, 5, 9])
    assert (table["always first"], table["always last"]) == ([3, 1, 4, 6], [7, 0, 1, 5])
    n, table = counts(sorted((folder / "who_when_hand").glob("*.json")), "hand-crafted")
    assert (n, table["located"], table["always last"]) == (28, [17, 4, 5, 6], [17, 4, 5, 7])
