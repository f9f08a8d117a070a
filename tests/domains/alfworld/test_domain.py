"""Household games as a domain: tasks, facts, the game as an environment of text domains, and the contract."""

import asyncio
import json
from dataclasses import replace

import pytest

from planroute.calls import Sampling
from planroute.contract import check_domain
from planroute.declarers import Fixed
from planroute.domains.alfworld import find_games
from planroute.domains.alfworld.domain import BRIEFING, AlfworldDomain, Play, match_command
from planroute.domains.alfworld.games import OWN_GAMES
from planroute.domains.text import Limits, TextFields
from planroute.domains.text.world import TextWorld
from planroute.episode import Conditions, run_episode
from planroute.evaluation.judges import RubricJudge
from planroute.gate import check
from planroute.ledger import Ledger
from planroute.models import open_model
from planroute.modes import MODES
from planroute.protocols import Context, Domain
from planroute.trace import Trace
from tests.domains.text.replaying import Replaying

pytest.importorskip("textworld", reason="needs the alfworld extra")

OWN = {game.id: game for game in find_games(OWN_GAMES)}
SMALL = tuple(OWN[name] for name in ("examine-book", "place-keychain"))
DOMAIN = AlfworldDomain(tuple(OWN.values()), RubricJudge("trajectory"))


def opened(domain=DOMAIN, task=0, model=None):
    return asyncio.run(domain.open(domain.tasks()[task], Context(7, Trace(), Ledger(), model)))


# Tasks and facts


def test_it_is_a_domain_with_a_task_for_each_game():
    assert isinstance(DOMAIN, Domain)
    tasks = DOMAIN.tasks()
    assert [task.id for task in tasks] == list(OWN)
    assert all(task.text == OWN[task.id].goal for task in tasks)
    assert {task.factors["task_type"] for task in tasks} == {game.task_type for game in OWN.values()}
    assert (DOMAIN.name, DOMAIN.lexicon, DOMAIN.fields) == ("alfworld", "household", TextFields)
    assert DOMAIN.briefing == BRIEFING


def test_facts_hold_what_can_change_an_episode():
    task = DOMAIN.tasks()[0]
    facts = DOMAIN.facts(task)
    assert json.dumps(facts, allow_nan=False)
    assert facts["goal"] == task.text
    for changed in (
        replace(DOMAIN, limits=Limits(steps=49)),
        replace(DOMAIN, sampling=Sampling(temperature=0.9)),
        replace(DOMAIN, judge=RubricJudge("adherence")),
    ):
        assert changed.facts(task) != facts
    hashes = {DOMAIN.facts(task)["game_sha256"] for task in DOMAIN.tasks()}
    assert len(hashes) == len(OWN)


@pytest.mark.parametrize("mode", MODES)
def test_a_forced_declaration_passes_the_gate_and_holds_no_plan(mode):
    task = DOMAIN.tasks()[0]
    world = opened()
    declaration = asyncio.run(Fixed(mode).declare(DOMAIN, task, world.state(), Context(7, Trace(), Ledger())))
    asyncio.run(world.aclose())
    assert check(declaration) == ()
    assert declaration.fields == {"plan": []}


# The game as an environment


def test_a_game_is_played_through_turns():
    play = Play(OWN["examine-book"], 50)
    assert play.admissible == ()
    assert "Your task is to: examine the book with the desklamp" in play.reset()
    action = play.admissible[0]
    turn = play.step(action)
    assert (turn.executed, turn.done, turn.success) == (True, False, False)
    assert play.step("dance").executed is False
    play.close()
    play.close()


def test_the_step_limit_ends_a_game_without_success():
    play = Play(OWN["examine-book"], 2)
    play.reset()
    turns = [play.step("look") for _ in range(2)]
    assert [(turn.done, turn.success) for turn in turns] == [(False, False), (True, False)]
    play.close()


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("go to desk 1", "go to desk 1"),
        ("Action: Go to the desk 1.", "go to desk 1"),
        ("use the desklamp", "use desklamp 1"),
        ("fly to desk 1", None),
        ("", None),
        ("go to drawer", None),
    ],
)
def test_words_are_read_by_the_rules_of_matching(words, action):
    admissible = ("go to desk 1", "go to drawer 1", "go to drawer 2", "use desklamp 1")
    found = match_command(words, admissible)
    assert found.action == action
    assert found.reason


def test_a_world_shows_what_a_player_sees():
    world = opened()
    assert isinstance(world, TextWorld)
    state = world.state()
    asyncio.run(world.aclose())
    assert state.summary["domain"] == "alfworld"
    assert state.summary["goal"] == DOMAIN.tasks()[0].text
    assert state.summary["start"].endswith(f"Your task is to: {DOMAIN.tasks()[0].text}.")
    assert "look" in state.summary["admissible"]
    text = json.dumps(state.summary)
    for hidden in ("_bar_", "isReceptacle", "pddl", "won"):
        assert hidden not in text


def test_a_replayed_game_gives_the_same_episode(monkeypatch):
    """What other tests of these games rely on: a course that was played once may be repeated from memory."""
    model = open_model("scripted/slip=0.2")
    task = DOMAIN.tasks()[0]

    def rows():
        for mode in MODES:
            episode = asyncio.run(run_episode(DOMAIN, task, 7, Conditions(Fixed(mode, 2), model=model)))
            yield episode.row, episode.trace.to_json()

    real, known = list(rows()), {}
    monkeypatch.setattr(
        "planroute.domains.alfworld.domain.Play",
        lambda game, steps: Replaying((game.id, steps), lambda: Play(game, steps), known),
    )
    assert [list(rows()), list(rows())] == [real, real]


# The contract


def test_no_breach_of_contract():
    domain = replace(DOMAIN, games=SMALL)
    assert asyncio.run(check_domain(domain, seed=7, model=open_model("scripted/slip=0"))) == []


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_no_breach_under_slips(rate):
    domain = replace(DOMAIN, games=SMALL, limits=Limits(steps=12))
    assert asyncio.run(check_domain(domain, seed=7, model=open_model(f"scripted/slip={rate}"))) == []
