"""The scripted solver: it reads goal, history and page, and nothing else."""

import pytest

from planroute.domains.mind2web.solver import Mind2WebSolver, elements, wanted

SOLVER = Mind2WebSolver()
GOAL = 'Order: type "Ann" as the name, set "Price: low" to sort by, and press "Send. Now".'
PAGE = (
    "<html> <input id=0 text name your name /> <select id=1 sort by> <option 1> Price: low </option> <option 2> "
    "Price: high </option> </select> <button id=2> Send. Now </button> <p> Ann </p> <input id=3 street /> </html>"
)


def state(done=0, **more):
    acted = ["[input] name -> TYPE: Ann", "[select] sort by -> SELECT: Price: low", "[button] Send. Now -> CLICK"]
    return {"goal": GOAL, "page": PAGE, "history": [{"action": each} for each in acted[:done]], **more}


def test_a_goal_is_its_clauses_with_something_quoted():
    assert wanted(GOAL) == ['type "Ann" as the name', 'set "Price: low" to sort by', 'press "Send. Now"']
    assert wanted("Find a flight to Boston") == []


def test_a_page_is_its_numbered_elements():
    seen = {each.number: each for each in elements(PAGE)}
    assert [each.tag for each in seen.values()] == ["input", "select", "button", "input"]
    assert (seen[0].words, seen[1].options, seen[2].text) == (
        "text name your name",
        ["Price: low", "Price: high"],
        ["Send. Now"],
    )


@pytest.mark.parametrize("done", range(4))
def test_what_is_done_is_read_off_the_history(done):
    actions = ["TYPE [0] Ann", "SELECT [1] Price: low", "CLICK [2]", "NONE"]
    assert SOLVER.plan(state(done)) == wanted(GOAL)[done:]
    assert SOLVER.act(state(done), None) == actions[done]


def test_a_step_before_or_after_its_turn_is_finished():
    for number, clause in enumerate(wanted(GOAL)):
        answers = [SOLVER.act(state(done), clause) for done in range(4)]
        assert [answer != "finished" for answer in answers] == [done == number for done in range(4)]
    assert SOLVER.act(state(), "dance") == "finished"


def test_subgoals_and_alternatives_hold_every_step():
    assert [step for goal in SOLVER.subgoals(state()) for step in SOLVER.steps_of(state(), goal)] == wanted(GOAL)
    plans = []
    for _ in range(4):
        plans.append(SOLVER.alternative(state(), plans))
    assert len({tuple(plan) for plan in plans}) == 4
    assert all(SOLVER.act(state(), plan[0]) == "TYPE [0] Ann" for plan in plans)


def test_wrong_actions_are_others():
    assert SOLVER.wrong(state(), "CLICK [2]") == ["CLICK [0]", "CLICK [1]", "CLICK [3]", "NONE"]


@pytest.mark.parametrize(
    ("actions", "score"),
    [
        (["[input] name -> TYPE: Ann", "[select] x -> SELECT: Price: low", "[button] Send. Now -> CLICK"], 3),
        (["[input] name -> TYPE: Ann", "none of these", "[button] Send. Now -> CLICK"], 2),
        (["[button] Send. Now -> CLICK"], 0),
        ([], 0),
    ],
)
def test_a_score_is_by_what_the_transcript_shows(actions, score):
    transcript = "\n".join(["A page.", *(f"> {each}\nThe next page is shown." for each in actions)])
    assert SOLVER.score(GOAL, transcript) == score
    assert SOLVER.score("Find a flight", transcript) == 0


def test_another_question_is_not_read():
    assert SOLVER.read("Choose one action that leads to the goal.") is None
