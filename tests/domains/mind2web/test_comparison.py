"""``planroute compare mind2web``: the table, equal bytes, resuming, options, wrong input."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.domains.mind2web.tasks import OWN_TASKS
from planroute.errors import FaultyInput, InputError
from planroute.modes import ROUTED, SIX
from planroute.runs.folder import RunFolder
from tests.domains.mind2web.records import raw

pytest.importorskip("lxml", reason="needs the mind2web extra")

ALL = (*map(str, SIX), ROUTED)
OWN_METRICS = ("ssr", "tsr", "element_accuracy", "operation_f1")


def compare(*arguments, model="scripted/slip=0.1?declare=random"):
    options = ["--model", model, "--no-cache", *map(str, arguments)]
    return CliRunner().invoke(app, ["compare", "mind2web", *options])


def told(*arguments, **options):
    done = compare(*arguments, "--json", **options)
    assert done.exit_code == 0, (done.exception, done.output)
    return json.loads(done.stdout)["conditions"]


def contents(folder: Path):
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in ("billing.json", "report.html"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = compare("--conditions", "all", "--seeds", "7,13", "--limit", 2, "--out", folder, "--json")
    assert done.exit_code == 0, (done.exception, done.output)
    return folder, json.loads(done.stdout)["conditions"]


def test_every_condition_has_the_benchmarks_metrics(whole):
    folder, table = whole
    assert set(table) == set(ALL)
    rows = [cell["row"] for cell in RunFolder(folder).cells()]
    for condition, values in table.items():
        mine = [row for row in rows if row["condition"] == condition]
        assert values["episodes"] == len(mine) == 4
        for name in OWN_METRICS:
            assert values[name] == pytest.approx(sum(row["metrics"][name] for row in mine) / 4)
        assert values["tsr"] == values["success_rate"]
        assert all(name in entry for entry in values["per_episode"] for name in OWN_METRICS)
        assert values["model_calls"] > 0


def test_the_keys_are_those_of_the_household_games(whole):
    from planroute.experiments.success import summarise_success

    _, table = whole
    assert summarise_success([])["conditions"] == {}
    for name in ("success_interval", "interactions", "plan_order_faithful", "adherence", "candidates", "attribution"):
        assert name in table["SEARCH"]


def test_the_report_stands_by_itself(whole):
    report = (whole[0] / "report.html").read_text()
    assert "Step success" in report
    assert "Travel / Ground" in report
    assert "default-src &#39;none&#39;" in report or "default-src 'none'" in report


def test_equal_commands_give_equal_bytes_and_what_is_missing_is_run(whole, tmp_path):
    folder = tmp_path / "run"
    arguments = ("--conditions", "FLAT_REACT,SEQUENTIAL", "--seeds", "7,13", "--limit", 2, "--out", folder)
    assert compare(*arguments).exit_code == 0
    before = contents(folder)
    for path in list((folder / "cells").iterdir())[:2]:
        path.unlink()
    assert compare(*arguments).exit_code == 0
    assert contents(folder) == before
    cells = {path.name: path.read_bytes() for path in (whole[0] / "cells").iterdir()}
    assert all(cells[path.name] == path.read_bytes() for path in (folder / "cells").iterdir())


@pytest.mark.parametrize("form", ["multichoice", "direct"])
def test_the_scripted_agent_solves_what_is_given(form):
    table = told("--form", form, "--conditions", "all", "--seeds", "7", "--limit", 2, model="scripted/slip=0")
    assert {name: values["tsr"] for name, values in table.items()} == dict.fromkeys(ALL, 1.0)


def test_tasks_of_ones_own(tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps([raw(name="mine")]))
    for given in (tmp_path, tmp_path / "mine.json"):
        table = told("--tasks", given, "--conditions", "FLAT_REACT", "--seeds", "7")
        assert {entry["task"] for entry in table["FLAT_REACT"]["per_episode"]} == {"mine"}


@pytest.mark.parametrize("arguments", [("--tasks", 2), ("--limit", 2), ("--tasks", OWN_TASKS, "--limit", 2)])
def test_a_number_takes_the_first_so_many(arguments):
    table = told(*arguments, "--conditions", "FLAT_REACT", "--seeds", "7")
    assert [e["task"] for e in table["FLAT_REACT"]["per_episode"]] == ["brookrail-day-trip", "elm-library-reader"]


def test_what_is_offered_and_shown_can_be_bounded():
    few = told("--top", 5, "--conditions", "FLAT_REACT", "--seeds", "7", model="scripted/slip=0")["FLAT_REACT"]
    many = told("--conditions", "FLAT_REACT", "--seeds", "7", model="scripted/slip=0")["FLAT_REACT"]
    assert few["model_calls"] == few["steps"] < many["model_calls"]
    cut = told("--elements", 1, "--conditions", "FLAT_REACT", "--seeds", "7", model="scripted/slip=0")["FLAT_REACT"]
    assert cut["tokens_prompt"] < many["tokens_prompt"]


def test_a_budget_binds_every_condition(tmp_path):
    compare("--most-calls", 3, "--limit", 1, "--seeds", "7", "--out", tmp_path / "run")
    found = [cell["row"] for cell in RunFolder(tmp_path / "run").cells()]
    assert {(row["stop"], row["error"]) for row in found} == {("BUDGET", "budget of 3 model calls is spent")}


def test_a_model_that_answers_nonsense_fails_as_data(tmp_path):
    done = compare("--limit", 1, "--seeds", "7", "--out", tmp_path / "run", model="scripted/garbage?seed=1")
    assert done.exception is None or isinstance(done.exception, SystemExit)
    found = [cell["row"] for cell in RunFolder(tmp_path / "run").cells()]
    assert len(found) == len(ALL)
    assert {row["status"] for row in found} <= {"finished", "failed"}
    assert not any(row["success"] for row in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--conditions", "SEARCH,DREAM"), "'DREAM' is not a condition"),
        (("--declarer", "few_shot"), "needs --demonstrations"),
        (("--form", "guess"), "form 'guess' is unknown"),
        (("--form", "direct", "--shots", "x.json"), "multichoice only"),
        (("--shots", "nowhere.json"), "nowhere.json"),
        (("--tasks", "nowhere"), "nowhere does not exist"),
        (("--tasks", "0"), "leaves nothing"),
    ],
)
def test_wrong_input_is_one_line(arguments, message):
    error = compare(*arguments).exception
    assert isinstance(error, InputError)
    assert message in str(error)
    assert "\n" not in str(error)


def test_every_faulty_record_is_told(tmp_path):
    (tmp_path / "bad.json").write_text(json.dumps([raw(name="x") | {"actions": []}, raw() | {"website": 4}]))
    error = compare("--tasks", tmp_path).exception
    assert isinstance(error, FaultyInput)
    assert [fault.partition(":")[0] for fault in error.faults] == ["bad.json"] * 2
