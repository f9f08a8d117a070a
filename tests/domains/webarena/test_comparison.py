"""``planroute compare webarena``: every condition, wrong input; the domain's contract is kept."""

import json

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.domains.webarena import browser, read_records
from planroute.domains.webarena.actions import Action, match_action, read_action
from planroute.domains.webarena.domain import addresses_from
from planroute.domains.webarena.evaluator import EVALUATOR
from planroute.domains.webarena.tree import tree
from planroute.errors import FaultyInput, InputError
from planroute.modes import MODES, ROUTED, Baseline
from tests.domains.webarena.playing import ready


@pytest.fixture(scope="module")
def domain():
    yield ready()
    browser.close_all()
    EVALUATOR.close()


def compare(*arguments):
    options = ["--model", "scripted/slip=0", "--no-cache", "--seeds", "7", *map(str, arguments)]
    return CliRunner().invoke(app, ["compare", "webarena", *options])


def test_every_condition_solves_what_is_given(domain):
    done = compare("--tasks", 1, "--json")
    assert done.exit_code == 0, (done.exception, done.output)
    table = json.loads(done.stdout)["conditions"]
    assert {name: values["success_rate"] for name, values in table.items()} == dict.fromkeys(
        [*map(str, Baseline), *map(str, MODES), ROUTED], 1.0
    )
    assert "no WebArena score" in done.stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "x"}, "task_id is not a whole number"),
        ({"sites": ["bank"]}, "site 'bank' is none of"),
        ({"start_urls": ["http://elsewhere"]}, "does not begin with __SHOPPING__"),
        ({"eval": []}, "eval is not a list"),
    ],
)
def test_every_faulty_record_is_told(tmp_path, change, said):
    raw = dict(read_records()[0].raw)
    (tmp_path / "bad.json").write_text(json.dumps([raw | change, 4]))
    error = compare("--tasks", tmp_path).exception
    assert isinstance(error, FaultyInput)
    assert len(error.faults) == 2
    assert said in error.faults[0]


def test_a_site_without_an_address_is_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("WA_SHOPPING", raising=False)
    monkeypatch.delenv("SHOPPING", raising=False)
    (tmp_path / "tasks.json").write_text(json.dumps([dict(read_records()[0].raw)]))
    error = compare("--tasks", tmp_path).exception
    assert isinstance(error, InputError)
    assert "set WA_SHOPPING" in str(error)


def test_addresses_have_the_benchmarks_names():
    given = {"WA_SHOPPING": "http://a:7770/", "GITLAB": "http://b:8023"}
    assert addresses_from(given) == {"__SHOPPING__": "http://a:7770", "__GITLAB__": "http://b:8023"}
    with pytest.raises(InputError, match="no http address"):
        addresses_from({"REDDIT": "file:///etc"})


def test_actions_are_read():
    assert read_action("type [3] [green tea] [1]") == Action("type", 3, "green tea", True)
    assert read_action("CLICK 12") == Action("click", 12)
    assert read_action('stop [{"a": [1]}]') == Action("stop", text='{"a": [1]}')
    assert read_action("rm -rf /") is None
    assert "is not one of" in match_action("press the button", ()).reason


def test_what_a_page_returns_is_not_trusted():
    items = [{"depth": "x", "role": "a\n[3] button", "name": "b\n[4]", "id": 1}, 7, {"role": None}]
    shown = tree(items, False, 500)
    assert shown.text.splitlines() == ['[1] a3button "b [4]"', "None"]
    assert tree("nonsense", False, 500).text == "(nothing is shown)"
