import gc
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from planroute.domains.alfworld import engine as engine_module
from planroute.domains.alfworld import games as games_module
from planroute.domains.alfworld.engine import Engine
from planroute.domains.alfworld.environment import AlfworldEnvironment
from planroute.domains.alfworld.expressions import ForbiddenExpression, evaluate
from planroute.domains.alfworld.game_file import read_rules
from planroute.domains.alfworld.games import OWN_GAMES, find_games, installed_rules
from planroute.errors import DomainError, InputError

pytest.importorskip("textworld", reason="needs the alfworld extra")

KEYS = ("go to drawer 2", "open drawer 2", "take keychain 1 from drawer 2", "go to sofa 1", "move keychain 1 to sofa 1")
SHORT_REAL = "valid_unseen/pick_and_place_simple-SoapBottle-None-Toilet-424/trial_T20190907_004321_405868"


@pytest.fixture(scope="session")
def own():
    return {game.id: game for game in find_games(OWN_GAMES)}


@pytest.fixture
def play():
    """Start environments that are closed at the end."""
    opened = []

    def play(game, step_limit=50):
        opened.append(AlfworldEnvironment(game, step_limit))
        return opened[-1]

    yield play
    for environment in opened:
        environment.close()


stock_games_run = pytest.mark.skipif(
    sys.version_info >= (3, 13), reason="textworld 1.7.0 itself cannot play these games on Python 3.13"
)


def walk(environment, steps=12, stride=7):
    """A transcript of arbitrary but fixed actions."""
    lines = [environment.reset(), *environment.admissible]
    for i in range(steps):
        action = environment.admissible[(i * stride + 3) % len(environment.admissible)]
        lines += [action, environment.step(action).observation, *environment.admissible]
    return lines


def stock_walk(game, steps=12, stride=7):
    """The same through the environment of the libraries."""
    import textworld
    from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
    from textworld.envs import PddlEnv

    rules = read_rules(game, installed_rules())
    stock = AlfredDemangler(PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True)), shuffle=False)
    stock.load({"pddl_domain": rules.domain, "grammar": rules.grammar, "pddl_problem": rules.problem})
    state = stock.reset()
    lines = [state.feedback, *state["admissible_commands"]]
    for i in range(steps):
        action = state["admissible_commands"][(i * stride + 3) % len(state["admissible_commands"])]
        state, _, _ = stock.step(action)
        lines += [action, state.feedback, *state["admissible_commands"]]
    return lines


def as_real(tmp_path, game, **changes):
    """Write a game of the project's own in the format of ALFWorld."""
    rules = read_rules(game, installed_rules())
    texts = {"pddl_domain": rules.domain, "grammar": rules.grammar, "pddl_problem": rules.problem}
    path = tmp_path / "game.tw-pddl"
    path.write_text(json.dumps({**texts, "solvable": True, **changes}))
    return replace(game, path=path)


def test_a_game_from_start_to_goal(own, play):
    environment = play(own["place-keychain"])
    assert (environment.admissible, environment.won, environment.done) == ((), False, False)
    first = environment.reset()
    assert first.startswith("-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room.")
    assert first.endswith("Your task is to: put some keychain on sofa.")
    assert environment.goal == "put some keychain on sofa"
    assert "look" in environment.admissible
    for number, action in enumerate(KEYS, 1):
        assert action in environment.admissible
        step = environment.step(action)
        assert step.executed
        assert (step.won, step.done) == (action == KEYS[-1],) * 2
        assert step.admissible == environment.admissible == tuple(sorted(step.admissible))
        assert environment.interactions == number
    assert step.observation == "You move the keychain 1 to the sofa 1."
    assert environment.won
    with pytest.raises(DomainError, match="is over after 5 interactions"):
        environment.step("look")


@pytest.mark.parametrize(
    "action", ["open drawer 2", "take keychain 1 from drawer 2", "dance", "", "Look", "go to drawer"]
)
def test_inadmissible_actions_are_charged_but_change_nothing(own, play, action):
    environment = play(own["place-keychain"])
    environment.reset()
    before = environment.admissible
    step = environment.step(action)
    assert (step.observation, step.executed, step.admissible) == ("Nothing happens.", False, before)
    assert environment.interactions == 1


def test_step_limit(own, play):
    environment = play(own["place-keychain"], 2)
    environment.reset()
    assert not environment.step("look").done
    step = environment.step("dance")
    assert step.done
    assert not step.won
    with pytest.raises(DomainError, match="is over after 2 interactions"):
        environment.step("look")
    environment.reset()
    assert not environment.done
    with pytest.raises(InputError, match="step limit 0"):
        AlfworldEnvironment(own["place-keychain"], 0)


def test_reaching_the_goal_with_the_last_step_is_a_win(own, play):
    environment = play(own["place-keychain"], len(KEYS))
    environment.reset()
    for action in KEYS:
        step = environment.step(action)
    assert step.done
    assert step.won


def test_not_started(own, play):
    environment = play(own["place-keychain"])
    for use in (lambda: environment.step("look"), lambda: environment.engine):
        with pytest.raises(DomainError, match="not started"):
            use()


def test_reset_leaves_nothing_behind(own, play):
    environment = play(own["two-pencils"])
    first = walk(environment)
    assert walk(environment) == first
    environment.step("look")
    assert walk(environment) == first
    assert environment.interactions == 12


def test_closed_and_started_again(own, play):
    environment = play(own["two-pencils"])
    first = walk(environment)
    environment.close()
    environment.close()
    assert environment.admissible == ()
    assert walk(environment) == first


def test_environments_share_no_state(own, play):
    names = ("two-pencils", "two-pencils", "heat-potato")
    alone = [walk(play(own[name]), stride=stride) for name, stride in zip(names, (7, 5, 7), strict=True)]
    together = [play(own[name]) for name in names]
    lines = [[each.reset(), *each.admissible] for each in together]
    for i in range(12):
        for each, told, stride in zip(together, lines, (7, 5, 7), strict=True):
            action = each.admissible[(i * stride + 3) % len(each.admissible)]
            told += [action, each.step(action).observation, *each.admissible]
    assert lines == alone


def test_fresh_is_independent_and_keeps_the_limit(own, play):
    environment = play(own["place-keychain"], 9)
    environment.reset()
    for action in KEYS[:-1]:
        environment.step(action)
    fresh = environment.fresh()
    with fresh:
        assert "go to drawer 2" in (fresh.reset(), fresh.admissible)[1]
        assert fresh.interactions == 0
        assert fresh.step_limit == 9
        fresh.step("look")
        assert environment.step(KEYS[-1]).won
        assert not fresh.won


def test_libraries_are_used_again(own):
    gc.collect()
    for _ in range(3):
        with AlfworldEnvironment(own["place-keychain"]) as environment:
            environment.reset()
            held = environment.engine._library
            assert held not in engine_module._IDLE_LIBRARIES
        assert engine_module._IDLE_LIBRARIES.count(held) == 1
    forgotten = Engine(own["place-keychain"])
    held = forgotten._library
    del forgotten
    gc.collect()
    assert engine_module._IDLE_LIBRARIES.count(held) == 1


def test_threads_do_not_disturb_one_another(own):
    names = ["two-pencils", "heat-potato", "place-keychain", "two-pencils"]

    def run(name):
        with AlfworldEnvironment(own[name]) as environment:
            return walk(environment)

    alone = [run(name) for name in names]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, names)) == alone


@stock_games_run
@pytest.mark.parametrize("name", ["examine-book", "heat-potato"])
def test_own_games_show_what_the_library_shows(own, play, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stock = stock_walk(own[name])
    assert walk(play(own[name])) == stock


@stock_games_run
def test_real_games_show_what_the_library_shows(data_dir, play):
    game = next(game for game in find_games(data_dir / "alfworld") if game.id == SHORT_REAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stock = stock_walk(game, steps=30)
    assert walk(play(game), steps=30) == stock


def test_same_text_in_every_process_and_no_traces(tmp_path):
    code = (
        "import hashlib, os, sys; from planroute.domains.alfworld import AlfworldEnvironment, find_games\n"
        "game = next(game for game in find_games() if game.id == 'two-pencils'); arguments = list(sys.argv)\n"
        "environment = AlfworldEnvironment(game); lines = [environment.reset()]\n"
        "for i in range(15): lines.append(environment.step(environment.admissible[i * 5 % 12]).observation)\n"
        "assert 'ALFWORLD_DATA' not in os.environ and sys.argv == arguments\n"
        "print(hashlib.sha256('\\n'.join(lines).encode()).hexdigest())\n"
    )
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    kept = {name: value for name, value in os.environ.items() if name not in {"ALFWORLD_DATA", "XDG_CACHE_HOME"}}
    outputs = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env={**kept, "HOME": str(tmp_path / "home"), "PYTHONHASHSEED": seed},
            cwd=tmp_path / "work",
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert list(tmp_path.rglob("*/*")) == []


def test_missing_extra(own, monkeypatch):
    monkeypatch.setattr(games_module.importlib.util, "find_spec", lambda name: None)
    engine_module._libraries.cache_clear()
    with pytest.raises(InputError, match="alfworld extra") as error:
        AlfworldEnvironment(own["place-keychain"]).reset()
    assert error.value.hint == "pip install 'planroute[alfworld]'"


def test_half_installed_extra(own, monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(engine_module.importlib, "import_module", missing)
    monkeypatch.setenv("ALFWORLD_DATA", "before")
    engine_module._libraries.cache_clear()
    try:
        with pytest.raises(InputError, match=r"alfworld extra \(No module named 'fast_downward'\)"):
            AlfworldEnvironment(own["place-keychain"]).reset()
        assert os.environ["ALFWORLD_DATA"] == "before"
    finally:
        engine_module._libraries.cache_clear()


@pytest.mark.parametrize(
    ("changes", "doing"),
    [
        (
            {"pddl_problem": "(define (problem x) (:domain alfred) (:objects a - nothing) (:init) (:goal (and)))"},
            "starting",
        ),
        ({"pddl_problem": "("}, "starting"),
        ({"grammar": "action"}, "loading"),
    ],
)
def test_a_game_that_the_library_cannot_read_is_damaged(own, play, tmp_path, changes, doing):
    game = as_real(tmp_path, own["place-keychain"], **changes)
    with pytest.raises(InputError) as error:
        play(game).reset()
    assert error.value.message.startswith(f"game place-keychain: {game.path} is damaged: {doing} failed: ")
    assert error.value.hint == "replace that file, or leave its folder out"


@pytest.mark.parametrize("failure", [OSError("no space"), MemoryError()])
def test_a_machine_that_fails_is_no_fault_of_the_game(own, play, monkeypatch, failure):
    def fail(*_):
        raise failure

    monkeypatch.setattr(engine_module, "_prepare", fail)
    with pytest.raises(DomainError, match="game place-keychain: loading failed: "):
        play(own["place-keychain"]).reset()


def test_a_failed_step_is_an_error_of_the_domain(own, play, monkeypatch):
    environment = play(own["place-keychain"])
    environment.reset()
    monkeypatch.setattr(environment.engine._prepared.logic.grammar, "derive", lambda *_: 1 / 0)
    with pytest.raises(DomainError, match="'look' failed: ZeroDivisionError"):
        environment.step("look")


def test_a_game_that_vanished(own, play, tmp_path):
    game = as_real(tmp_path, own["place-keychain"])
    game.path.unlink()
    with pytest.raises(InputError, match="cannot be read: No such file"):
        play(game).reset()


def test_a_game_file_cannot_run_code(own, play, tmp_path):
    trap = tmp_path / "trap"
    grammar = read_rules(own["place-keychain"], installed_rules()).grammar
    evil = grammar.replace("{r.indefinite} {r.name or r.id}", f"{{open('{trap}', 'w')}}")
    assert evil != grammar
    with pytest.raises(InputError, match="ForbiddenExpression"):
        play(as_real(tmp_path, own["place-keychain"], grammar=evil)).reset()
    assert not trap.exists()


class Thing:
    name, id, indefinite, desc = "", "mug_1", "a", None


@pytest.mark.parametrize(
    ("expression", "value"),
    [("o.indefinite + ' ' + o.id", "a mug_1"), ("o.name or o.id", "mug_1"), ("'x' + o.desc", "x"), (" o.id ", "mug_1")],
)
def test_expressions(expression, value):
    assert evaluate(expression, {"o": Thing}) == value


@pytest.mark.parametrize(
    "expression",
    ["o.__class__", "o.name.upper()", "print(o)", "1", "o.name * 9", "[o]", "o.", "", "(lambda: o)()", "o[0]"],
)
def test_forbidden_expressions(expression):
    with pytest.raises(ForbiddenExpression):
        evaluate(expression, {"o": Thing})


def test_unknown_name():
    with pytest.raises(KeyError):
        evaluate("x.name", {"o": Thing})
