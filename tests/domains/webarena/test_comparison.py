"""``planroute compare webarena``: every condition, wrong input; the domain's contract is kept."""

import asyncio
import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.declarers import Natural
from planroute.domains.text import Limits
from planroute.domains.webarena import browser, evaluator, read_records
from planroute.domains.webarena.actions import Action, match_action, read_action
from planroute.domains.webarena.domain import addresses_from
from planroute.domains.webarena.evaluator import EVALUATOR
from planroute.domains.webarena.places import Places
from planroute.domains.webarena.storage import check_storage
from planroute.domains.webarena.tree import tree
from planroute.errors import FaultyInput, InputError
from planroute.experiments.compare import comparison_cells
from planroute.ledger import Budget
from planroute.models import open_model
from planroute.modes import MODES, ROUTED, Baseline
from planroute.runs.cells import run_cells
from planroute.trace import Stop
from tests.domains.webarena.playing import hurried, ready

TIMED = ("billing.json", "manifest.json", "report.html")
"""What differs between equal runs: time and money, and where a run was."""


@pytest.fixture(scope="module")
def domain():
    with hurried():
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
        [Baseline.FLAT_REACT, Baseline.PLAN_REACT, *MODES, ROUTED], 1.0
    )
    assert "no WebArena score" in done.stderr


@pytest.mark.slow
def test_every_condition_solves_every_task(domain):
    done = compare("--json")
    assert done.exit_code == 0, (done.exception, done.output)
    table = json.loads(done.stdout)["conditions"]
    assert {name: (values["episodes"], values["success_rate"]) for name, values in table.items()} == dict.fromkeys(
        [Baseline.FLAT_REACT, Baseline.PLAN_REACT, *MODES, ROUTED], (20, 1.0)
    )


def test_a_run_is_repeated_byte_for_byte(domain, tmp_path):
    found = []
    for name in ("first", "second"):
        arguments = ["--model", "scripted/slip=0.3", "--cache", tmp_path / "calls", "--out", tmp_path / name]
        conditions = ["--seeds", "7", "--tasks", "1", "--conditions", "SEQUENTIAL,SEARCH"]
        done = CliRunner().invoke(app, ["compare", "webarena", *map(str, arguments), *conditions])
        assert done.exit_code == 0, (done.exception, done.output)
        files = [path for path in (tmp_path / name).rglob("*") if path.is_file() and path.name not in TIMED]
        found.append({str(path.relative_to(tmp_path / name)): path.read_bytes() for path in files})
    assert found[0] == found[1]
    assert len([name for name in found[0] if name.startswith("cells")]) == 2
    assert "127.0.0.1" not in repr(found)


@pytest.mark.slow
def test_with_a_real_language_model_every_condition_ends_with_a_typed_stop(domain):
    """A model of 135 million parameters is not expected to succeed; browser, prompts and evaluator have to stand it."""
    pytest.importorskip("xllamacpp")
    model = open_model("embedded")
    short = replace(domain, found=domain.found[:1], limits=Limits(3, 2, 2, 1), budget=1200)
    cells = comparison_cells(
        short.tasks(),
        [7],
        MODES,
        model=model,
        budget=Budget(model_calls=12),
        baselines={Baseline.FLAT_REACT: Natural(), Baseline.PLAN_REACT: Natural()},
        branching=2,
    )

    async def run():
        try:
            return await run_cells(short, cells, concurrency=1)
        finally:
            await model.aclose()

    found = asyncio.run(run())
    assert len(found) == 6
    for played in found:
        assert played.row.status in ("finished", "failed")
        assert played.row.stop in (Stop.DONE, Stop.PLAN_EXHAUSTED, Stop.BUDGET, Stop.REPLY)
        assert sum(one["model_calls"] for one in played.row.spent.values()) > 0


@pytest.mark.parametrize("lacking", ["chromium", "evaluator"])
def test_what_is_missing_is_one_line_and_the_doctor_says_it_too(domain, tmp_path, monkeypatch, lacking):
    if lacking == "chromium":
        monkeypatch.delenv(browser.VARIABLE, raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        name, said = "chromium", "there is no Chromium — apt-get install chromium, or name its program with PLANROUTE"
    else:
        monkeypatch.setenv(evaluator.VARIABLE, str(tmp_path))
        name, said = evaluator.PACKAGE, "webarena-verified is not installed — python -m planroute.domains.webarena"
    error = compare("--tasks", 1).exception
    assert isinstance(error, InputError)
    assert said in str(error)
    assert "\n" not in str(error)
    (line,) = [line for line in CliRunner().invoke(app, ["doctor"]).stdout.splitlines() if f" {name}:" in line]
    assert line.startswith("absent")
    assert said.rpartition(" — ")[2] in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"task_id": "x"}, "task_id is not a whole number"),
        ({"task_id": int("9" * 4000)}, f"bad.json: task {'9' * 40}: task_id is not from 0 to 9007199254740991"),
        ({"task_id": -1}, "task_id is not from 0 to"),
        ({"intent_template_id": 2**53}, "intent_template_id is not from 0 to"),
        ({"intent": "a\ud800"}, "intent holds half a character"),
        ({"start_urls": ["__SHOPPING__/\ud800"]}, "start_urls: one holds half a character"),
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


def test_lines_are_records(tmp_path):
    one, two = (dict(record.raw) for record in read_records()[:2])
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{json.dumps(two)}\n\n{json.dumps([one])}\n")
    assert read_records(path) == read_records()[:2] == read_records(tmp_path)
    path.write_text(f"{json.dumps(one)}\n{json.dumps(one)}\n{{\n")
    with pytest.raises(FaultyInput) as told:
        read_records(path)
    assert told.value.faults[0] == f"tasks.jsonl: task {one['task_id']}: stands there twice"
    assert told.value.faults[1].startswith("tasks.jsonl: line 3 is not JSON")
    path.write_text("")
    with pytest.raises(InputError, match="holds no task"):
        read_records(path)


COOKIE = {"name": "a", "value": "b", "domain": "h", "path": "/", "expires": -1, "sameSite": "Lax"}


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ("not json", "it is not JSON"),
        ("[]", "it: Input should be"),
        ('{"cookies": 1}', "cookies: Input should be a valid list"),
        (json.dumps({"cookies": [COOKIE, COOKIE | {"value": 1}]}), "cookies.1.value: Input should be a valid string"),
        (json.dumps({"cookies": [COOKIE | {"domain": ""}]}), "a cookie has a url, or a domain and a path"),
        (json.dumps({"origins": [{"origin": "http://h", "localStorage": [{}]}]}), "origins.0.localStorage.0.name: "),
        (b"\xff", "is not UTF-8 text"),
        (None, "does not exist"),
    ],
)
def test_a_state_that_is_none_is_one_line_at_once(tmp_path, held, said):
    path = tmp_path / "state"
    if held is not None:
        path.write_bytes(held if isinstance(held, bytes) else held.encode())
    error = compare("--tasks", 1, "--storage", path).exception
    assert isinstance(error, InputError)
    assert str(error).startswith(f"--storage {path}: {said}") or said in str(error)
    assert "\n" not in str(error)


def test_a_state_as_playwright_saves_one_passes(tmp_path):
    kept = [{"origin": "http://h", "localStorage": [{"name": "a", "value": "b"}], "indexedDB": []}]
    for held in ({"cookies": [COOKIE], "origins": kept}, {"cookies": [], "origins": []}):
        (tmp_path / "state").write_text(json.dumps(held))
        check_storage(tmp_path / "state")


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


@pytest.mark.parametrize("url", ["file:///etc", "http://", "http://[::1", "http://h:99999", "http://h:x", "http://a,b"])
def test_what_is_no_address_is_one_line(url):
    with pytest.raises(InputError, match="no http address"):
        addresses_from({"REDDIT": url})
    assert not Places({"__REDDIT__": "http://a"}).hold(url)


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
