"""``docs/scaling.md`` holds the tables that its script makes from measured episodes, and the script's options count."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "docs/scaling.py"
DOCUMENT = (ROOT / "docs/scaling.md").read_text()
MEASURED = json.loads((ROOT / "docs/scaling.json").read_text())
_spec = importlib.util.spec_from_file_location("scaling", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
scaling = importlib.util.module_from_spec(_spec)
sys.modules["scaling"] = scaling  # its dataclasses look their module up
_spec.loader.exec_module(scaling)

EVERY = list(scaling.TASKS)


def whole(case: str = "light", **assumed: float):
    return scaling.whole(MEASURED, EVERY, case, scaling.Assumed(**assumed))


def test_the_documents_tables_are_those_of_the_script() -> None:
    assert len(scaling.BLOCK.findall(DOCUMENT)) == DOCUMENT.count("<!-- scaling ") == 3
    assert scaling.rewritten(DOCUMENT, MEASURED) == DOCUMENT
    assert "| light | all | 91,692 |" in DOCUMENT


def test_a_table_that_is_not_the_scripts_is_made_anew() -> None:
    changed = DOCUMENT.replace("| light | all | 91,692 |", "| light | all | 91,693 |")
    assert changed != DOCUMENT
    assert scaling.rewritten(changed, MEASURED) == DOCUMENT


def test_the_matrix_is_multiplied_out() -> None:
    assert whole().episodes == (134 + 252 + 812 + 500) * 6 * 3 * 3
    alone = scaling.whole(MEASURED, ["alfworld"], "light", scaling.Assumed())
    per_task = sum(MEASURED["alfworld"]["light"][name]["calls"] for name in scaling.CONDITIONS)
    assert alone.calls == pytest.approx(134 * 9 * per_task)
    assert alone.prompt_tokens == pytest.approx(
        134 * 9 * sum(row["prompt_tokens"] for row in MEASURED["alfworld"]["light"].values())
    )


def test_seconds_of_a_call_and_calls_at_once_change_the_wall_and_nothing_that_is_paid() -> None:
    before, slower, wider = (
        whole(prompt_price=1, completion_price=4, **more)
        for more in ({}, {"seconds_per_call": 4.0}, {"concurrency": 640})
    )
    assert slower.wall_hours == pytest.approx(2 * before.wall_hours)
    assert wider.wall_hours == pytest.approx(before.wall_hours / 10)
    assert wider.cores == pytest.approx(before.cores * 10)
    assert before.wall_hours == pytest.approx(before.calls * 2 / 64 / 3600)
    for other in (slower, wider):
        assert (other.usd, other.calls, other.cpu_hours) == (before.usd, before.calls, before.cpu_hours)


def test_money_follows_prices_and_answers_and_is_unknown_without_a_price() -> None:
    both = whole(prompt_price=1, completion_price=4, answer_tokens=100)
    assert both.answer_tokens == pytest.approx(100 * both.calls)
    assert both.usd == pytest.approx((both.prompt_tokens + 4 * both.answer_tokens) / 1e6)
    assert whole(prompt_price=0, completion_price=0).usd == 0
    assert whole().usd is whole(prompt_price=1).usd is whole(completion_price=1).usd is None


@pytest.mark.parametrize("domain", EVERY)
@pytest.mark.parametrize("condition", scaling.CONDITIONS)
def test_the_full_case_is_above_both_measured_ones(domain: str, condition: str) -> None:
    light, long, full = (scaling.one(MEASURED, domain, case, condition) for case in scaling.CASES)
    for name in scaling.SUMMED:
        assert full[name] >= long[name] > 0
    assert full["calls"] >= light["calls"]
    assert full["prompt_tokens"] >= light["prompt_tokens"]


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, check=False)


def test_the_command_prints_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    done = run("--answer-tokens", "100", "--prompt-price", "1", "--completion-price", "4")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(table in DOCUMENT for table in done.stdout.strip().split("\n\n"))
    scaling.main(["--json", "--concurrency", "8"])
    found = json.loads(capsys.readouterr().out)
    assert found["assumed"]["concurrency"] == 8
    assert found["assumed"]["prompt_price"] is None
    assert found["plan"]["full"]["all"]["usd"] is None
    assert found["plan"]["light"]["all"]["wall_hours"] == whole(concurrency=8).wall_hours


@pytest.mark.parametrize(
    "options",
    [
        ("--concurrency", "0"),
        ("--concurrency", "2.5"),
        ("--seconds-per-call", "0"),
        ("--seconds-per-call", "nan"),
        ("--prompt-price", "-1"),
        ("--completion-price", "cheap"),
        ("--answer-tokens", "inf"),
        ("--conc", "3"),
    ],
)
def test_an_impossible_value_is_told_in_one_line(options: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        scaling.main(options)
    told = capsys.readouterr()
    assert end.value.code == 2
    assert told.out == ""
    assert told.err.startswith("Error: ")
    assert told.err.count("\n") == 1
    assert options[0] in told.err
