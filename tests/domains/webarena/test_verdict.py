"""The verdict is webarena-verified's own: on the project's tasks, some of the benchmark's, and what goes wrong."""

import pytest

from planroute.domains.webarena import browser, evaluator
from planroute.domains.webarena.evaluator import EVALUATOR, interpreter
from planroute.domains.webarena.records import read_records
from planroute.errors import InputError
from tests.domains.webarena.playing import episode, play, ready, stop


@pytest.fixture(scope="module")
def domain():
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


def test_a_wrong_end_page_fails(domain):
    environment = episode(domain, 260)
    environment.reset()
    environment.step("goto [__SHOPPING__/electronics/headphones.html]")
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


def test_an_episode_without_an_end_fails(domain):
    environment = episode(domain, 260)
    environment.reset()
    environment.close()
    assert not environment.verdict()


def test_an_empty_trace_fails_by_the_evaluators_own_word(domain):
    record = episode(domain, 260).record
    said = EVALUATOR.verdict(record.raw, {"__SHOPPING__": "http://127.0.0.1:1"}, stop("NAVIGATE")[6:-1], [])
    assert (said.success, said.status, said.score) == (False, "error", 0.0)
    assert "empty" in said.error


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
