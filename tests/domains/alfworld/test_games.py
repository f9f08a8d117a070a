import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planroute.domains.alfworld.game_file import read_rules
from planroute.domains.alfworld.games import OWN_GAMES, find_games, survey
from planroute.domains.alfworld.wording import (
    TASK_TYPES,
    goal_of,
    placing_template,
    readable,
    task_type_of,
    wording_of,
)
from planroute.errors import FaultyInput, InputError

GRAMMAR = (
    '"rhs": "Your task is to: put a mug in desk."\n'
    'action PutObject {\n    template :: "move {o} to {r}";\n    feedback :: "#PutObject.feedback#";\n}'
)
GAME = {"pddl_domain": "(define)", "grammar": GRAMMAR, "pddl_problem": "(define)", "solvable": True}
PLACE = "json_2.1.2/valid_seen/pick_and_place_simple-Mug-None-Desk-3/trial_1"


@pytest.fixture(autouse=True)
def no_data_named(monkeypatch):
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)


@pytest.fixture
def write(tmp_path):
    """Write one game's files below ``data``; ``None`` leaves a file out, a string is written as it is."""

    def write(where=PLACE, game=GAME, trajectory=None, root=tmp_path / "data"):
        folder = root / where
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in {"game.tw-pddl": game, "traj_data.json": trajectory}.items():
            if content is not None:
                (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return root

    return write


def write_own(folder):
    folder.mkdir()
    (folder / "problem.pddl").write_text("(define (problem x)")
    (folder / "task.json").write_text(json.dumps({"task_type": TASK_TYPES[0], "goal": "put a mug in desk"}))


def faults_of(folder: Path) -> tuple[str, ...]:
    with pytest.raises(FaultyInput) as error:
        find_games(folder)
    assert "alfworld-download" in str(error.value)
    return error.value.faults


def test_own_games_cover_the_six_task_types():
    games = find_games()
    assert sorted(game.task_type for game in games) == sorted(TASK_TYPES)
    assert [game.id for game in games] == sorted(game.id for game in games)
    assert {game.split for game in games} == {"own"}
    assert {game.wording for game in games} == {"2.1.2"}
    assert all(game.solvable and game.path.is_file() for game in games)


def test_real_games(data_dir):
    games = find_games(data_dir / "alfworld")
    assert len(games) == 12
    assert {(game.task_type, game.split) for game in games} == {
        (kind, split) for kind in TASK_TYPES for split in ("valid_seen", "valid_unseen")
    }
    assert {game.wording for game in games} == {"2.1.1"}
    assert all(task_type_of(game.goal) == game.task_type for game in games)
    assert "valid_seen/look_at_obj_in_light-Bowl-None-DeskLamp-316/trial_T20190908_230702_962704" in [
        g.id for g in games
    ]


def test_ids_do_not_depend_on_where_one_points(data_dir):
    root = data_dir / "alfworld" / "json_2.1.1"
    whole = [game.id for game in find_games(root) if game.split == "valid_seen"]
    assert [game.id for game in find_games(root / "valid_seen")] == whole
    one = find_games(root)[0]
    assert [game.id for game in find_games(one.path.parent)] == [one.id]


def test_reading_starts_no_engine():
    code = (
        "import sys; from planroute.domains.alfworld.games import find_games; find_games();"
        "import planroute.domains.alfworld.environment;"
        "print(*[name for name in ('textworld', 'alfworld', 'fast_downward') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_named_folder_wins_over_the_variable(write, monkeypatch, tmp_path):
    named = write()
    variable = write(where="valid_unseen/pick_two_obj_and_place-Mug-None-Desk-3/trial_2", root=tmp_path / "other")
    monkeypatch.setenv("ALFWORLD_DATA", str(variable))
    assert [game.split for game in find_games()] == ["valid_unseen"]
    assert [game.split for game in find_games(named)] == ["valid_seen"]


def test_an_empty_variable_names_nothing(monkeypatch):
    monkeypatch.setenv("ALFWORLD_DATA", "")
    assert len(find_games()) == 6


def test_what_a_game_tells(write):
    (game,) = find_games(write(trajectory={"task_type": "pick_and_place_simple"}))
    assert game.id == "valid_seen/pick_and_place_simple-Mug-None-Desk-3/trial_1"
    assert (game.task_type, game.split, game.wording, game.goal, game.solvable) == (
        "pick_and_place_simple",
        "valid_seen",
        "2.1.2",
        "put a mug in desk",
        True,
    )


@pytest.mark.parametrize(
    ("where", "grammar"),
    [
        ("valid_seen/pick_heat_then_place_in_recep-Mug-None-Desk-3/trial_1", GRAMMAR),
        ("pick_heat_then_place_in_recep-7", GRAMMAR),
        ("somewhere", GRAMMAR.replace("a mug", "a hot mug")),
    ],
)
def test_task_type_without_trajectory(write, where, grammar):
    (game,) = find_games(write(where=where, game={**GAME, "grammar": grammar}))
    assert game.task_type == "pick_heat_then_place_in_recep"


def test_same_game_in_two_versions_has_two_ids(write):
    root = write()
    write(where=PLACE.replace("2.1.2", "2.1.1"))
    assert [game.id for game in find_games(root)] == [PLACE.replace("2.1.2", "2.1.1"), PLACE]


def test_skipped_games_are_counted_by_reason(write):
    root = write()
    write(where="valid_seen/pick_two_obj_and_place-A/t", game={**GAME, "solvable": False})
    write(where="valid_seen/pick_two_obj_and_place-B/t", game={**GAME, "solvable": None})
    write(where="valid_seen/pick_two_obj_and_place-C/t", game={k: v for k, v in GAME.items() if k != "solvable"})
    write(where="valid_seen/pick_two_obj_and_place-D/t", game=None, trajectory={"task_type": "x"})
    write(where="valid_seen/pick_and_place_with_movable_recep-E/t")
    write(where="valid_seen/F/t", trajectory={"task_type": "stack"})
    found = survey(root)
    assert len(found.games) == 1
    assert found.summary() == (
        f"1 game in {root}; skipped 6: 2 never tried for a solution, 1 of a kind that has no text games (movable or "
        "sliced), 1 of task type stack, 1 unsolvable, 1 without game.tw-pddl"
    )


@pytest.mark.parametrize(
    ("game", "trajectory", "line"),
    [
        ("{", None, "game.tw-pddl is not JSON"),
        ("[" * 100_000, None, "game.tw-pddl is nested too deeply"),
        ([1], None, "game.tw-pddl holds a list, not an object"),
        (
            {"solvable": True},
            None,
            "game.tw-pddl is not an ALFWorld game: it has no pddl_domain, grammar, pddl_problem",
        ),
        ({**GAME, "grammar": 3}, None, "it has no grammar"),
        (
            {**GAME, "grammar": GRAMMAR.replace("move {o} to {r}", "drop {o}")},
            None,
            "has the wording 'drop {o}', not 'put",
        ),
        ({**GAME, "grammar": GRAMMAR.replace("put a mug in desk", "UNKNOWN GOAL")}, None, "game.tw-pddl names no goal"),
        (GAME, "}", "traj_data.json is not JSON"),
        (GAME, {}, "traj_data.json names no task_type"),
    ],
)
def test_damaged_files_are_named(write, game, trajectory, line):
    (fault,) = faults_of(write(game=game, trajectory=trajectory))
    assert fault.startswith(PLACE)
    assert line in fault


def test_what_cannot_be_written_is_refused(write, tmp_path):
    write(game=GAME | {"grammar": GRAMMAR.replace("a mug", "a \ud800mug")})
    write(where="x\udcff")
    half, name = sorted(faults_of(tmp_path / "data"))
    assert half.startswith(f"{PLACE}/game.tw-pddl is not an ALFWorld game: its grammar holds half a character")
    assert name == "x\udcff is a folder whose name is not UTF-8: rename it"


def test_unknown_task_type_without_trajectory(write):
    grammar = GRAMMAR.replace("put a mug in desk", "dance")
    (fault,) = faults_of(write(where="x", game={**GAME, "grammar": grammar}))
    assert fault == "x/traj_data.json is missing, and neither folder nor goal tells the task type"


def test_all_faults_at_once_but_not_thousands(write):
    for number in range(30):
        root = write(where=f"g{number:02}", game="{")
    faults = faults_of(root)
    assert len(faults) == 21
    assert faults[-1] == "... and 10 more"


def test_not_utf8(write):
    root = write()
    (root / PLACE / "game.tw-pddl").write_bytes(b"\xff\xfe")
    assert faults_of(root) == (f"{PLACE}/game.tw-pddl is not text in UTF-8",)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may read everything")
def test_unreadable_file(write):
    root = write()
    (root / PLACE / "game.tw-pddl").chmod(0)
    assert "cannot be read: Permission denied" in faults_of(root)[0]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "no playable games in {}: the folder is empty"),
        ("readme.txt", "no playable games in {}: no game.tw-pddl below it; it holds readme.txt"),
        ("traj_data.json", "no playable games in {}: skipped 1: 1 without game.tw-pddl"),
    ],
)
def test_folders_without_games(tmp_path, content, problem):
    if content:
        (tmp_path / content).write_text("{}")
    with pytest.raises(InputError, match="alfworld-download") as error:
        find_games(tmp_path)
    assert error.value.message == problem.replace("{}", f"{tmp_path} (--games)")


@pytest.mark.parametrize(("name", "state"), [("nowhere", "does not exist"), ("file", "is not a folder")])
def test_no_folder(tmp_path, monkeypatch, name, state):
    (tmp_path / "file").touch()
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / name))
    with pytest.raises(InputError, match=f"ALFWORLD_DATA\\) {state}") as error:
        find_games()
    assert "alfworld-download" in error.value.hint


@pytest.mark.parametrize("what", ["file", "folder"])
def test_links_that_lead_out_are_refused(write, tmp_path, what):
    outside = write(root=tmp_path / "outside") / PLACE
    root = write(where="valid_seen/pick_two_obj_and_place-A/t")
    if what == "file":
        link = root / PLACE / "game.tw-pddl"
        link.parent.mkdir(parents=True)
        link.symlink_to(outside / "game.tw-pddl")
    else:
        link = root / "train"
        link.symlink_to(outside.parent, target_is_directory=True)
    assert faults_of(root) == (f"{link.relative_to(root)} is a link that leads out of the folder",)


def test_nothing_is_read_behind_a_refused_link(tmp_path):
    write_own(tmp_path / "x")
    (tmp_path / "x" / "task.json").unlink()
    (tmp_path / "x" / "task.json").symlink_to("/dev/zero")
    assert faults_of(tmp_path) == ("x/task.json is a link that leads out of the folder",)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["task.json", "problem.pddl"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_named(tmp_path, name, make):
    write_own(tmp_path / "good")
    write_own(tmp_path / "x")
    (tmp_path / "x" / name).unlink()
    make(tmp_path / "x" / name)
    assert faults_of(tmp_path) == (f"x/{name} is not a file",)


def test_a_problem_that_is_missing_is_named(tmp_path):
    write_own(tmp_path / "good")
    write_own(tmp_path / "x")
    (tmp_path / "x" / "problem.pddl").unlink()
    assert faults_of(tmp_path) == ("x/problem.pddl is missing",)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    write_own(tmp_path / "x")
    with (tmp_path / "x" / "problem.pddl").open("wb") as sparse:
        sparse.truncate(1 << 32)
    assert faults_of(tmp_path) == ("x/problem.pddl is larger than 64 MB, the most that is read",)


def test_links_inside_are_followed_for_files_only(write):
    root = write()
    link = root / "valid_seen/pick_two_obj_and_place-A/t/game.tw-pddl"
    link.parent.mkdir(parents=True)
    link.symlink_to(root / PLACE / "game.tw-pddl")
    (root / "again").symlink_to(root / "json_2.1.2", target_is_directory=True)
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert len(find_games(root)) == 2


def test_the_folder_itself_may_be_a_link(write, tmp_path):
    (tmp_path / "link").symlink_to(write(), target_is_directory=True)
    assert len(find_games(tmp_path / "link")) == 1


@pytest.mark.parametrize(
    ("task", "problem", "line"),
    [
        (None, "(define (problem x)", "x/task.json is missing"),
        ({"task_type": "stack", "goal": "stack"}, "(define (problem x)", "x/task.json has task_type 'stack'"),
        ({"task_type": TASK_TYPES[0], "goal": 'put "a"'}, "(define (problem x)", "x/task.json has goal"),
        (
            {"task_type": TASK_TYPES[0], "goal": "put a mug"},
            "(define (domain x)",
            "x/problem.pddl holds no PDDL problem",
        ),
    ],
)
def test_damaged_own_format(tmp_path, task, problem, line):
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "problem.pddl").write_text(problem)
    if task is not None:
        (folder / "task.json").write_text(json.dumps(task))
    assert line in faults_of(tmp_path)[0]


def test_own_games_need_the_rules_of_the_right_wording(tmp_path):
    game = find_games()[0]
    domain, grammar = tmp_path / "alfred.pddl", tmp_path / "alfred.twl2"
    domain.write_text("(define)")
    grammar.write_text(GRAMMAR.replace("move {o} to {r}", "put {o} in/on {r}"))
    with pytest.raises(InputError, match=r"not of the 2\.1\.2 wording"):
        read_rules(game, (domain, grammar))
    grammar.write_text(GRAMMAR.replace("put a mug in desk", "UNKNOWN GOAL"))
    assert goal_of(read_rules(game, (domain, grammar)).grammar) == game.goal


def test_a_game_that_changed_since_it_was_found(write):
    (game,) = find_games(write())
    game.path.write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        read_rules(game)
    game.path.write_text("{}")
    with pytest.raises(InputError, match="pddl_domain"):
        read_rules(game)


def test_own_problems_tell_their_goal():
    for folder in OWN_GAMES.iterdir():
        goal = json.loads((folder / "task.json").read_text())["goal"]
        assert f";; The goal: {goal}." in (folder / "problem.pddl").read_text().splitlines()
        assert task_type_of(goal) == json.loads((folder / "task.json").read_text())["task_type"]


def test_wordings():
    assert wording_of(GRAMMAR) == "2.1.2"
    assert wording_of(GRAMMAR.replace("move {o} to {r}", "put {o} in/on {r}")) == "2.1.1"
    assert wording_of("") is None
    assert placing_template("") == ""


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("You arrive at loc 12. On the desk 1, you see nothing.", "On the desk 1, you see nothing."),
        ("You arrive at desk 1. On the desk 1, you see nothing.", "On the desk 1, you see nothing."),
        ("-= Welcome to TextWorld, ALFRED! =-\n\nYou are in a room.\n\nYour task", "You are in a room.\n\nYour task"),
        ("You open the safe 1.", "You open the safe 1."),
    ],
)
def test_readable(raw, plain):
    assert readable(raw) == plain
