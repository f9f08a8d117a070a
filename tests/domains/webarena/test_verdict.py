"""The verdict is webarena-verified's own: on the project's tasks, some of the benchmark's, and what goes wrong."""

import asyncio

import pytest

from planroute.declarers import Natural
from planroute.domains.webarena import browser, evaluator
from planroute.domains.webarena.evaluator import EVALUATOR, Evaluator, interpreter
from planroute.domains.webarena.records import read_records
from planroute.episode import Conditions, run_episode
from planroute.errors import InputError
from planroute.modes import Baseline
from tests.domains.webarena.playing import Walker, episode, hurried, play, ready, stop


@pytest.fixture(scope="module")
def domain():
    with hurried():
        yield ready()
    browser.close_all()
    EVALUATOR.close()


def test_the_benchmarks_tasks_are_the_benchmarks():
    """Five records of the benchmark stand in the project letter by letter, when the evaluator brings them."""
    try:
        (found,) = interpreter().parents[1].glob("lib/python*/site-packages/webarena_verified/assets/dataset")
    except InputError as error:
        pytest.skip(str(error))
    theirs = {record.task_id: record.raw for record in read_records(found / "webarena-verified.json")}
    assert len(theirs) == 812
    mine = [record for record in read_records() if record.task_id < 812]
    assert len(mine) == 5
    assert all(record.raw == theirs[record.task_id] for record in mine)


@pytest.mark.parametrize("number", [260, 274, 900003, 900007, 900105])
def test_the_solver_passes(domain, number):
    environment = episode(domain, number)
    play(environment)
    assert environment.verdict()
    assert environment.judged().status == "success"
    assert set(environment.measures().values()) <= {1.0, None}


WRONG_PAGES = {260: "/electronics/headphones.html", 274: "/catalogsearch/result/?q=xbox", 900004: "/oolong-tea.html"}
"""Tasks of the benchmark and of the project's own that ask for a page, and another page."""


@pytest.mark.parametrize("number", WRONG_PAGES)
def test_a_wrong_end_page_fails(domain, number):
    environment = episode(domain, number)
    environment.reset()
    environment.step(f"goto [__SHOPPING__{WRONG_PAGES[number]}]")
    environment.step(stop("NAVIGATE"))
    assert not environment.verdict()
    assert environment.measures() == {"answer_right": 1.0, "events_right": 0.0}


@pytest.mark.parametrize("answer", [stop("RETRIEVE", [12.5]), "stop [12.40]", "stop"])
def test_a_wrong_answer_fails(domain, answer):
    environment = episode(domain, 900001)
    environment.reset()
    environment.step(answer)
    assert not environment.verdict()
    assert environment.judged().parts["AgentResponseEvaluator"] == 0.0


@pytest.mark.parametrize("number", [260, 900004])
def test_the_right_page_with_a_wrong_answer_or_nothing_recorded_fails(domain, number):
    """One recording, judged with other answers; and the right answer with other recordings."""
    environment = episode(domain, number)
    play(environment)
    assert environment.verdict()
    known, entries, right = environment._addresses.by_placeholder, environment._entries, stop("NAVIGATE")[6:-1]
    for answer in (stop("RETRIEVE", ["x"])[6:-1], right.replace("SUCCESS", "NOT_FOUND_ERROR"), "", None):
        said = EVALUATOR.verdict(environment.record.raw, known, answer, entries)
        assert (said.success, said.parts["AgentResponseEvaluator"]) == (False, 0.0)
        assert said.parts["NetworkEventEvaluator"] == 1.0
    said = EVALUATOR.verdict(environment.record.raw, known, right, [])
    assert (said.success, said.status, said.score) == (False, "error", 0.0)
    assert "empty" in said.error
    started = [entry for entry in entries if entry["request"]["url"] == f"{known['__SHOPPING__']}/"]
    said = EVALUATOR.verdict(environment.record.raw, known, right, started)
    assert (said.success, said.parts["NetworkEventEvaluator"]) == (False, 0.0)


@pytest.mark.parametrize(("actions", "success"), [(["click [6]"], True), (["click [7]"], False), ([], False)])
def test_the_row_has_the_evaluators_verdict(domain, monkeypatch, actions, success):
    asked = []

    def noted(*given):
        asked.append(Evaluator.verdict(EVALUATOR, *given))
        return asked[-1]

    monkeypatch.setattr(EVALUATOR, "verdict", noted)
    (task,) = [each for each in domain.tasks() if each.id == "260"]
    conditions = Conditions(Natural(), model=Walker([*actions, stop("NAVIGATE")]), baseline=Baseline.FLAT_REACT)
    row = asyncio.run(run_episode(domain, task, 7, conditions)).row
    assert (row.status, row.success, asked[-1].success) == ("finished", success, success)
    assert row.metrics["events_right"] == asked[-1].parts["NetworkEventEvaluator"] == float(success)


def test_an_episode_without_an_end_fails(domain):
    environment = episode(domain, 260)
    environment.reset()
    environment.close()
    assert not environment.verdict()


def test_each_episode_starts_anew(domain):
    one, other = episode(domain, 900006), episode(domain, 900006)
    play(one)
    other.reset()
    other.step("goto [__SHOPPING__/checkout/cart/]")
    assert "The cart is empty." in other.sight()["page"]
    other.close()
    one.close()
    assert one.verdict()


def test_a_missing_evaluator_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv(evaluator.VARIABLE, str(tmp_path))
    with pytest.raises(InputError, match="is not installed — python -m planroute") as caught:
        interpreter()
    assert "\n" not in str(caught.value)
