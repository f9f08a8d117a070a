"""``scripted/slip``: what it answers, and that it slips as often and in the way that it says."""

import asyncio
import json
from collections import Counter

import pytest

from planroute.calls import Message, ModelRequest, Sampling
from planroute.declaration import Declaration, Replanning
from planroute.declarers.hybrid import Advice
from planroute.errors import InputError
from planroute.gate import check
from planroute.models import open_model
from planroute.models import slip as slip_module
from planroute.models.slip import Slipping, solver_of
from planroute.modes import MODES, Mode

DOORS = [f"go {n}" for n in range(10)]


class Solver:
    """Solves a task whose answer is written on it."""

    def plan(self, state):
        return ["one", "two"]

    def subgoals(self, state):
        return ["first", "second"]

    def steps_of(self, state, subgoal):
        return [f"{subgoal} step"]

    def alternative(self, state, others):
        return [f"way {len(others) + 1}"]

    def act(self, state, step):
        return state["right"]

    def score(self, goal, trajectory):
        return len(trajectory)


@pytest.fixture(autouse=True)
def solver(monkeypatch):
    known = slip_module.solver_of
    monkeypatch.setattr(slip_module, "solver_of", lambda domain: Solver() if domain == "doors" else known(domain))


def request(purpose="action", seed=7, before="", **state):
    state = {"domain": "doors", "right": "go 3", "admissible": DOORS, **state}
    content = f"{before}State: {json.dumps(state)}"
    return ModelRequest(purpose, (Message("user", content),), Sampling(seed=seed))


def action(rate, **state):
    return json.loads(Slipping(rate, None)(request(**state)))["action"]


def drawn(rate, count=2000, **state):
    return Counter(action(rate, number=number, **state) for number in range(count))


# Actions


def test_without_slips_it_does_what_the_solver_says():
    assert drawn(0.0, 50) == {"go 3": 50}
    assert drawn(0.0, 50, step="open it") == {"go 3": 50}


@pytest.mark.parametrize("rate", [0.1, 0.3, 1.0])
def test_within_a_step_half_of_the_slips_call_it_finished(rate):
    found = drawn(rate, step="open it")
    total = sum(found.values())
    slips = 1 - found["go 3"] / total
    assert slips == pytest.approx(rate, abs=0.04)
    assert found["finished"] / total == pytest.approx(rate / 2, abs=0.04)
    others = [found[door] for door in DOORS if door != "go 3"]
    assert min(others) > 0
    assert max(others) <= 3 * min(others)


@pytest.mark.parametrize("rate", [0.1, 0.3, 1.0])
def test_outside_a_step_every_slip_is_another_action(rate):
    found = drawn(rate)
    assert found["finished"] == 0
    assert 1 - found["go 3"] / sum(found.values()) == pytest.approx(rate, abs=0.04)


def test_a_finished_step_slips_into_an_action():
    found = drawn(1.0, 300, right="finished", step="open it")
    assert found["finished"] == 0
    assert set(found) <= set(DOORS)


def test_where_nothing_else_can_be_done_it_cannot_slip():
    assert drawn(1.0, 20, admissible=["go 3"]) == {"go 3": 20}


def test_equal_questions_slip_alike_and_another_seed_slips_elsewhere():
    def slips(seed):
        return [action(0.5, seed=seed, number=number) != "go 3" for number in range(100)]

    assert slips(7) == slips(7)
    assert slips(7) != slips(13)


# Plans, and the other interfaces


@pytest.mark.parametrize(
    ("purpose", "before", "answer"),
    [
        ("plan", "", {"steps": ["one", "two"]}),
        ("revision", "", {"steps": ["one", "two"]}),
        ("decomposition", "", {"subgoals": ["first", "second"]}),
        ("subgoal plan", "You work on one subgoal of a larger task: second\n", {"steps": ["second step"]}),
        ("proposal", 'how it goes about: [["way 1"], ["way 2"]]\n', {"steps": ["way 3"]}),
        ("proposal", "", {"steps": ["way 1"]}),
    ],
)
def test_plans_do_not_slip(purpose, before, answer):
    assert json.loads(Slipping(1.0, None)(request(purpose, before=before))) == answer


@pytest.mark.parametrize(("trajectory", "score"), [("", 3), ("ab", 2)])
def test_it_judges_by_the_transcript(trajectory, score):
    told = json.loads(Slipping(1.0, None)(request("trajectory judge", trajectory=trajectory)))
    assert told["score"] == score


@pytest.mark.parametrize("mode", MODES)
def test_it_declares_a_mode_that_passes_the_gate_with_a_plan(mode):
    told = json.loads(Slipping(0.0, mode)(request("ranked declaration")))
    assert told["mode"] == told["ranking"][0] == mode
    assert sorted(told["ranking"]) == sorted(MODES)
    declared = Declaration(mode, told["depth"], told["branching"], Replanning(told["replanning"]))
    assert check(declared) == ()
    steps = [section["steps"] for section in told["plan"]]
    assert steps == {
        Mode.HIERARCHICAL: [["first step"], ["second step"]],
        Mode.SEARCH: [["way 1"], ["way 2"], ["way 3"], ["way 4"]],
    }.get(mode, [["one", "two"]])


def test_it_ranks_the_modes_only_where_that_is_asked_for():
    assert "ranking" not in json.loads(Slipping(0.0, Mode.SEARCH)(request("natural declaration")))


def test_it_gives_no_advice_to_the_hybrid_declarer():
    advice = Advice.model_validate_json(Slipping(1.0, None)(request("hybrid advice")))
    assert set(advice.shifts().values()) == {0.0}


def test_at_random_it_declares_every_mode_and_each_seed_its_own():
    modes = [json.loads(Slipping(0.0, None)(request("natural declaration", seed=seed)))["mode"] for seed in range(80)]
    assert set(modes) == set(MODES)
    assert min(Counter(modes).values()) >= 10


# As a model


def test_it_is_a_model_by_name():
    model = open_model("scripted/slip=0.5?declare=search")
    assert model.endpoint == "scripted/slip=0.5?declare=search"
    reply = asyncio.run(model.complete(request("natural declaration")))
    assert json.loads(reply.text)["mode"] == "SEARCH"
    assert (reply.price_usd, reply.usage.answer_tokens > 0) == (0.0, True)


@pytest.mark.parametrize("spec", ["slip=2", "slip=-0.1", "slip=much", "slip=nan", "slip=0?declare=WANDERING"])
def test_a_wrong_rate_or_mode_is_one_line(spec):
    with pytest.raises(InputError):
        open_model(f"scripted/{spec}")


@pytest.mark.parametrize("content", ["hello", "State: {", 'State: {"domain": "moon"}', "State: [1]", 'State: {"x": 1}'])
def test_a_question_that_it_cannot_answer_is_one_line(content):
    asked = ModelRequest("action", (Message("user", content),))
    with pytest.raises(InputError, match="scripted/slip"):
        Slipping(0.0, None)(asked)


def test_the_solver_of_a_domain_is_found_by_its_entry_point():
    assert type(solver_of("alfworld")).__name__ == "AlfworldSolver"
