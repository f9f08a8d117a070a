"""A declaration on a task of a text domain, asked for or read, and what the gate makes of it."""

import json

import pytest


def test_a_model_declares_with_its_plan_in_words(planroute):
    code, shown, told = planroute(
        "declare", "alfworld", "--model", "scripted/slip=0?declare=HIERARCHICAL", "--no-cache"
    )
    assert (code, told) == (0, "")
    lines = dict(line.split(":", 1) for line in shown.splitlines())
    assert "put a clean cloth in drawer" in lines["State"]
    assert lines["Declared"].strip().startswith("HIERARCHICAL, depth 3, plan find and take a cloth")
    assert lines["Gate"].strip() == "passed"


@pytest.mark.parametrize("domain", ["mind2web", "swebench"])
def test_an_answer_is_read_and_mended_on_every_domain(planroute, tmp_path, domain):
    answer = tmp_path / "answer.txt"
    answer.write_text('Sure! {"mode": "search", "branching": 9, "plan": [{"title": "", "steps": ["look\\u001b[31m"]}]}')
    code, shown, _ = planroute("declare", domain, "--reply", answer, "--json")
    result = json.loads(shown)
    assert code == 0
    assert result["declaration"]["mode"] == "SEARCH"
    assert result["declaration"]["branching"] == 4
    assert result["gate"]["action"] == "PASSED"
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("--task", "nowhere"),
            "planroute: --task 'nowhere' is no task of alfworld — there are 6, such as clean-cloth",
        ),
        ((), "planroute: --declarer natural needs a language model — name one with --model"),
        (("--reply", "missing.txt"), "planroute: --reply missing.txt: No such file or directory"),
    ],
)
def test_wrong_input_is_one_line(planroute, arguments, line):
    code, shown, told = planroute("declare", "alfworld", *arguments)
    assert (code, shown) == (2, "")
    assert told.startswith(line)
    assert told.count("\n") == 1


def test_a_refused_declaration_fails(planroute, tmp_path):
    answer = tmp_path / "answer.txt"
    answer.write_text('{"mode": "HIERARCHICAL", "depth": 1}')
    code, shown, _ = planroute("declare", "alfworld", "--reply", answer, "--strict")
    assert code == 1
    assert "Gate:     refused" in shown
