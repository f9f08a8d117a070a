"""One game's files: reading them into a `Game`, and into the `Rules` that the engine plays by."""

import json
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from planroute.domains.alfworld.wording import (
    PLACING,
    TASK_TYPES,
    UNKNOWN_GOAL,
    Wording,
    goal_of,
    placing_template,
    task_type_of,
    wording_of,
)
from planroute.domains.text.task_files import HALVED, halved
from planroute.errors import InputError

REAL: Final = "game.tw-pddl"
OWN: Final = "problem.pddl"
TRAJECTORY: Final = "traj_data.json"
TASK: Final = "task.json"
FOUND_BY: Final = frozenset({REAL, OWN, TRAJECTORY, TASK})
"""The names of files that make a folder a game's."""

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a game's file."""

_PARTS: Final = ("pddl_domain", "grammar", "pddl_problem")


@dataclass(frozen=True, slots=True)
class Game:
    """A game that can be played. ``goal`` is what the player reads, without the full stop."""

    id: str
    """Path of the game's folder from its split on, or from the folder of the games: the same on every machine."""
    task_type: str
    split: str
    """``train``, ``valid_seen``, ``valid_unseen``, ``own`` for the project's, or empty where the path names none."""
    path: Path
    wording: Wording
    goal: str
    solvable: bool

    def named(self, name: str) -> "Game":
        """Return the game under another id."""
        return replace(self, id=name)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A game that was left out, with the reason."""

    where: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not what its name says."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where} {self.problem}"


@dataclass(frozen=True, slots=True)
class Rules:
    """The texts that the engine plays by."""

    domain: str
    grammar: str
    problem: str


class _Faulty(Exception):
    """A file is not what its name says; the message says how."""


def read_game(path: Path, where: str, split: str) -> Game | Skipped | Fault:
    """Read the game whose main file is ``path``; ``where`` is its folder relative to the folder of the games."""
    if halved(where):
        return Fault(where, "is a folder whose name is not UTF-8: rename it")
    try:
        return _own(path, where) if path.name == OWN else _real(path, where, split)
    except _Faulty as fault:
        name, _, problem = str(fault).partition(" ")
        return Fault(f"{where}/{name}" if where != "." else name, problem)


def _own(path: Path, where: str) -> Game:
    task = _json(path.with_name(TASK))
    kind, goal = task.get("task_type"), task.get("goal")
    if kind not in TASK_TYPES:
        raise _Faulty(f"{TASK} has task_type {kind!r}, not one of the six")
    if not isinstance(goal, str) or not goal.strip() or '"' in goal or "\\" in goal or not goal.isprintable():
        raise _Faulty(f"{TASK} has goal {goal!r}, which is not one line of plain text")
    if "(define (problem" not in _text(path):
        raise _Faulty(f"{OWN} holds no PDDL problem")
    return Game(where, kind, "own", path, "2.1.2", goal.strip(), True)


def _real(path: Path, where: str, split: str) -> Game | Skipped:
    data = _json(path)
    missing = [part for part in _PARTS if not isinstance(data.get(part), str)]
    if missing:
        raise _Faulty(f"{REAL} is not an ALFWorld game: it has no {', '.join(missing)}")
    if broken := [part for part in _PARTS if halved(data[part])]:
        raise _Faulty(f"{REAL} is not an ALFWorld game: its {broken[0]} {HALVED}")
    grammar = data["grammar"]
    kind, goal = _task_type(path, grammar), goal_of(grammar)
    if kind not in TASK_TYPES:
        return Skipped(where, f"of task type {kind}")
    if data.get("solvable") is not True:
        return Skipped(where, "unsolvable" if data.get("solvable") is False else "never tried for a solution")
    if not goal:
        raise _Faulty(f"{REAL} names no goal")
    wording = wording_of(grammar)
    if wording is None:
        known = " or ".join(f"{template!r} ({version})" for template, version in PLACING.items())
        raise _Faulty(f"{REAL} has the wording {placing_template(grammar)!r}, not {known}")
    return Game(where, kind, split, path, wording, goal, True)


def _task_type(path: Path, grammar: str) -> str:
    """Return the task type by ``traj_data.json``, or by the folder's name or the goal where that file is missing."""
    trajectory = path.with_name(TRAJECTORY)
    if trajectory.exists():
        kind = _json(trajectory).get("task_type")
        if not isinstance(kind, str):
            raise _Faulty(f"{TRAJECTORY} names no task_type")
        return kind
    for name in (path.parent.name, path.parent.parent.name):
        if name.startswith(TASK_TYPES):
            return str(task_type_of(name))
    inferred = task_type_of(goal_of(grammar))
    if inferred is None:
        raise _Faulty(f"{TRAJECTORY} is missing, and neither folder nor goal tells the task type")
    return inferred


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(_text(path))
    except RecursionError:
        raise _Faulty(f"{path.name} is nested too deeply") from None
    except ValueError as error:
        raise _Faulty(f"{path.name} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise _Faulty(f"{path.name} holds a {type(data).__name__}, not an object")
    return data


def _text(path: Path) -> str:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            raise _Faulty(f"{path.name} is not a file")
        if about.st_size > LARGEST:
            raise _Faulty(f"{path.name} is larger than {LARGEST >> 20} MB, the most that is read")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise _Faulty(f"{path.name} is missing") from None
    except UnicodeDecodeError:
        raise _Faulty(f"{path.name} is not text in UTF-8") from None
    except OSError as error:
        raise _Faulty(f"{path.name} cannot be read: {error.strerror}") from None


def read_rules(game: Game, installed: tuple[Path, Path] | None = None) -> Rules:
    """Read what the engine needs to play ``game``.

    The project's own games take domain and grammar from ``installed``, the files of the alfworld package.
    """
    try:
        if game.path.name != OWN:
            data = _json(game.path)
            return Rules(*(str(data[part]) for part in _PARTS))
        if installed is None:
            raise _Faulty("alfred.pddl and alfred.twl2 of the alfworld package are not given")
        domain, grammar = (_text(path) for path in installed)
        if wording_of(grammar) != game.wording or UNKNOWN_GOAL not in grammar:
            raise _Faulty(f"{installed[1].name} of the installed alfworld is not of the {game.wording} wording")
        return Rules(domain, grammar.replace(UNKNOWN_GOAL, game.goal), _text(game.path))
    except (_Faulty, KeyError) as error:
        raise InputError(f"game {game.id}: {error}") from None
