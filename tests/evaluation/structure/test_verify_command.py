"""``planroute verify`` on files, on standard input, and on files that cannot be read."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.cli.show import print_json
from planroute.errors import FaultyInput, InputError
from planroute.plan import Plan, PlanUnit
from planroute.trace import Acted, Dispatched, Planned, Trace

GAME = {
    "problem": "Your task is to: put a mug in desk.",
    "trace": " go to desk 1\nOn it, you see a pen 1.\n> put pen 1 in/on desk 1\nYou put it.\n",
    "plans": [
        "put a mug in desk. at depth 1, success: True",
        "['Find and take mug', 'Put mug in desk'] at depth 2 and logic AND",
        "Find and take mug at depth 2, success: True",
        "Put mug in desk at depth 2, success: False",
    ],
    "reward": 0,
}


@pytest.fixture
def adapt(tmp_path):
    path = tmp_path / "adapt.json"
    path.write_text(json.dumps({"pick": {f"game {n}": GAME for n in range(3)}}))
    return str(path)


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, ["verify", *arguments], input=stdin)


def test_it_says_which_unit_broke_and_where(adapt):
    done = run(adapt, "--limit", "1")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "game 0 (adapt, 2 actions, failed)",
        "  declared plan: not preserved, 0 of 2 units",
        "    1 'Find and take mug': missing, no action completes it",
        "    2 'Put mug in desk': missing, no action completes it",
        "    first divergence: unit 1 at the end of the log",
        "    claimed, but no action shows it: unit 1",
    ]


def test_json_holds_the_whole_verdict(adapt):
    told = json.loads(run(adapt, "--json").stdout)
    assert told["faults"] == []
    assert [one["id"] for one in told["trajectories"]] == ["game 0", "game 1", "game 2"]
    plan = told["trajectories"][0]["plans"][0]
    assert (plan["order_preserved"], plan["adherence"], plan["lexicon"]) == (False, 0.0, "household")
    assert plan["first_divergence"] == {"unit": "1", "action": None, "why": "no action completes it"}
    assert plan["claims_without_evidence"] == ["1"]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(adapt, tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("{")
    done = run(str(bad), adapt, str(tmp_path / "absent"), "--json")
    assert isinstance(done.exception, FaultyInput)
    assert isinstance(done.exception, InputError)
    assert len(done.exception.faults) == 2
    told = json.loads(done.stdout)
    assert len(told["trajectories"]) == 3
    assert ["bad.json" in told["faults"][0], "absent" in told["faults"][1]] == [True, True]


def test_standard_input_and_a_forced_format(adapt, tmp_path):
    content = Path(adapt).read_bytes()
    assert "3 trajectories; 3 plans matched: 0 preserved, 0 undecided" in run("-", stdin=content).stdout
    done = run("-", "--format", "inspect", stdin=content)
    assert "not of the format inspect" in str(done.exception)


def test_what_is_printed_holds_no_control_characters(tmp_path):
    evil = GAME | {
        "plans": ["x at depth 1, success: False", "['Take\\x1b[31m \\u202e\\x9b mug'] at depth 2 and logic AND"]
    }
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"pick": {"game\u001b]0;\u0007\ud800": evil}}))
    for arguments in ([], ["--json"]):
        done = run(str(path), *arguments)
        assert done.exit_code == 0
        assert not set(done.stdout) & {"\x1b", "\x07", "\x9b", "\u202e"}


@pytest.mark.parametrize(
    ("declared", "executed", "line"),
    [
        ("SEQUENTIAL", "SEQUENTIAL", "declared plan: preserved, settled by the dispatch record"),
        ("SEARCH", "SEARCH", "declared plan: not scored, settled by the dispatch record"),
        ("SEQUENTIAL", "PREDEFINED", "declared plan: not preserved, settled by the dispatch record"),
        ("SEARCH", "PLAN_REACT", "declared plan: not applicable, candidates of a search"),
        ("SEQUENTIAL", "PLAN_REACT", "declared plan: preserved, 1 of 1 units"),
    ],
)
def test_own_traces_are_settled_by_their_dispatch_record_or_matched(tmp_path, declared, executed, line):
    trace = Trace(
        [
            Dispatched(declared, executed, ""),
            Planned(Plan((PlanUnit("1", "take mug"),))),
            Acted("take mug 1 from desk 1"),
        ]
    )
    path = tmp_path / "trace.json"
    path.write_text(trace.to_json())
    assert line in run(str(path)).stdout


def test_a_dispatched_plan_lists_its_units_and_what_the_actions_say(tmp_path):
    units = tuple(PlanUnit(str(number), text) for number, text in enumerate(("take mug", "put mug in desk"), 1))
    trace = Trace([Dispatched("PREDEFINED", "PREDEFINED", ""), Planned(Plan(units)), Acted("take mug 1 from desk 1")])
    path = tmp_path / "trace.json"
    path.write_text(trace.to_json())
    assert run(str(path)).stdout.splitlines()[1:] == [
        "  declared plan: preserved, settled by the dispatch record (declared PREDEFINED, executed PREDEFINED)",
        "    by the actions: not preserved, 1 of 2 units",
        "    2 'put mug in desk': missing, no action completes it",
        "    first divergence: unit 2 at the end of the log",
    ]
    plan = json.loads(run(str(path), "--json").stdout)["trajectories"][0]["plans"][0]
    assert (plan["order_preserved"], plan["order_by_actions"], plan["planned"]) == (True, False, 2)


def test_actions_are_numbered_from_1_for_people_and_from_0_in_json(tmp_path):
    units = tuple(PlanUnit(str(number), text) for number, text in enumerate(("put mug in desk", "take mug"), 1))
    acts = [Acted("take mug 1 from desk 1"), Acted("put mug 1 in/on desk 1")]
    path = tmp_path / "trace.json"
    path.write_text(Trace([Dispatched("PREDEFINED", "PLAN_REACT", ""), Planned(Plan(units)), *acts]).to_json())
    plan = json.loads(run(str(path), "--json").stdout)["trajectories"][0]["plans"][0]
    place = plan["first_divergence"]["action"]
    assert place in (0, 1)
    assert f"at action {place + 1}" in run(str(path)).stdout


def test_a_log_of_others_without_an_action_is_not_scored(adapt, tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log("a model")))
    done = run(str(path), adapt)
    assert "  declared plan: not scored, no action is on record" in done.stdout
    assert "4 trajectories; 3 plans matched: 0 preserved, 0 undecided; 1 not scored, as no action" in done.stdout
    plan = json.loads(run(str(path), "--json").stdout)["trajectories"][0]["plans"][0]
    assert (plan["order_preserved"], plan["needed"], plan["adherence"]) == (None, 0, None)


def test_the_real_files(data_dir):
    files = sorted(str(path) for path in (data_dir / "trajectories/swe").iterdir() if ".report." not in path.name)
    told = json.loads(run(*files, "--json").stdout)
    answers = {
        one["id"]: [plan["order_preserved"] for plan in one["plans"]] for one in told["trajectories"] if one["plans"]
    }
    assert answers == {
        "django__django-11951": [True, True, True],
        "django__django-15525": [False, False, True],
        "mini_github_issue.traj.json": [False],
        "pytest-dev__pytest-7521": [False, True],
        "scikit-learn__scikit-learn-26194": [False, True],
        "sympy__sympy-24539": [False, True],
    }


EVIL = "a\x1b]0;owned\x07b\r\x9b31m\u202ec\nd"


def log(model, samples=1):
    turn = {"role": "assistant", "content": "My plan:\n1. List it\n2. Answer"}
    sample = {"id": 1, "epoch": 1, "input": "Guess", "messages": [turn], "scores": {}}
    return {"version": 2, "status": "success", "eval": {"model": model}, "samples": [sample] * samples}


def own(unit):
    plan = Plan((PlanUnit(unit, f"go {unit}"), PlanUnit("2", "take the key")))
    trace = Trace([Dispatched(unit, "PLAN_REACT", ""), Planned(plan), Acted("look")])
    return json.loads(trace.to_json())


@pytest.mark.parametrize("document", [log(EVIL), own(EVIL), log("\ud800")])
def test_what_stands_in_files_does_not_steer_a_terminal(document, tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    for form in ((), ("--json",)):
        done = run(str(path), *form)
        assert done.exit_code == 0, done.exception
        assert all(line.isprintable() for line in done.stdout.split("\n"))


def test_json_escapes_what_cannot_be_seen_and_nothing_else(capsys):
    value = {"é": "漢 \x9b\u202e\ud800 \U0001f600\n"}
    print_json(value)
    shown = capsys.readouterr().out
    assert shown == '{\n "é": "漢 \\u009b\\u202e\\ud800 \U0001f600\\n"\n}\n'
    assert json.loads(shown) == value


def test_a_plan_that_is_too_long_does_not_hide_the_others_of_its_file(tmp_path):
    many = "['Take a mug'" + ", 'Take a mug'" * 300 + "]"
    long = GAME | {"plans": [GAME["plans"][0], f"{many} at depth 2 and logic AND"]}
    path = tmp_path / "adapt.json"
    path.write_text(json.dumps({"pick": {"first": GAME, "long": long, "last": GAME}}))
    done = run(str(path), "--json")
    told = json.loads(done.stdout)
    assert [one["id"] for one in told["trajectories"]] == ["first", "last"]
    assert told["faults"] == [f"{path}: long: a plan of 301 units: the verifier reads at most 300"]
    assert isinstance(done.exception, FaultyInput)


def test_a_log_without_trajectories_says_so(adapt, tmp_path):
    path = tmp_path / "empty.json"
    path.write_text(json.dumps(log("m", samples=0)))
    done = run(str(path), adapt)
    assert (done.exit_code, done.stderr) == (0, f"planroute: no trajectories in {path}\n")
    assert "3 trajectories" in done.stdout


def test_an_empty_name_is_told():
    done = run("", "--json")
    assert json.loads(done.stdout)["faults"] == ["an empty name is not a file"]
