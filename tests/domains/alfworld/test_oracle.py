import pytest

from planroute.domains.alfworld.engine import Engine
from planroute.domains.alfworld.environment import AlfworldEnvironment
from planroute.domains.alfworld.games import OWN_GAMES, find_games
from planroute.domains.alfworld.matching import match
from planroute.domains.alfworld.oracle import next_oracle_action, oracle_actions
from planroute.domains.alfworld.wording import TASK_TYPES
from planroute.errors import DomainError, InputError

pytest.importorskip("textworld", reason="needs the alfworld extra")

OWN = {game.id: game for game in find_games(OWN_GAMES)}


@pytest.fixture(scope="session")
def real(data_dir):
    return {(game.task_type, game.split): game for game in find_games(data_dir / "alfworld")}


def wins(game):
    actions = oracle_actions(game)
    with AlfworldEnvironment(game, len(actions)) as environment:
        environment.reset()
        for action in actions:
            step = environment.step(match(action, environment.admissible).command)
            assert step.executed
        return step.won


@pytest.mark.parametrize("name", OWN)
def test_the_oracle_wins_every_own_game(name):
    assert wins(OWN[name])


@pytest.mark.parametrize("split", ["valid_seen", "valid_unseen"])
@pytest.mark.parametrize("kind", TASK_TYPES)
def test_the_oracle_wins_every_real_game(real, kind, split):
    assert wins(real[kind, split])


def test_planned_anew_after_each_deviation():
    with AlfworldEnvironment(OWN["place-keychain"]) as environment:
        environment.reset()
        for deviation in ("go to cabinet 1", "open cabinet 1", "take candle 1 from cabinet 1", "dance"):
            environment.step(deviation)
        while (action := next_oracle_action(environment)) is not None:
            assert environment.step(action).executed
        assert environment.won
        assert environment.interactions < 15


def test_the_plan_is_the_same_each_time():
    assert oracle_actions(OWN["clean-cloth"]) == oracle_actions(OWN["clean-cloth"])


def test_two_plans_do_not_mix():
    with AlfworldEnvironment(OWN["clean-cloth"]) as one, AlfworldEnvironment(OWN["examine-book"]) as other:
        one.reset()
        other.reset()
        for environment in (one, other, one, other):
            action = next_oracle_action(environment)
            assert action in environment.admissible
            environment.step(action)


def test_the_planner_finds_nothing(monkeypatch):
    monkeypatch.setattr(Engine, "plan", lambda self: ())
    with pytest.raises(DomainError, match="game examine-book: the planner finds no way to the goal"):
        oracle_actions(OWN["examine-book"])


def test_a_goal_out_of_reach(tmp_path):
    source = OWN["examine-book"].path.parent
    text = (source / "problem.pddl").read_text().replace("(pickupable Book_bar_a)", "")
    (tmp_path / "locked").mkdir()
    (tmp_path / "locked" / "problem.pddl").write_text(text)
    (tmp_path / "locked" / "task.json").write_text((source / "task.json").read_text())
    with pytest.raises(InputError, match=r"game locked: .* is damaged: starting failed: no actions lead to the goal"):
        oracle_actions(find_games(tmp_path)[0])
