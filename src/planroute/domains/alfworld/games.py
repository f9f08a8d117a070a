"""Find household games in a folder, and read what one needs to know of them before playing.

Nothing here starts the game engine. A game is a folder with ``game.tw-pddl`` (and ``traj_data.json``) as
``alfworld-download`` leaves it, or one of the project's own with ``problem.pddl`` and ``task.json``.
"""

import importlib.util
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from planroute.domains.alfworld.game_file import FOUND_BY, OWN, REAL, TASK, Fault, Game, Skipped, read_game
from planroute.errors import FaultyInput, InputError

SPLITS: Final = ("train", "valid_seen", "valid_unseen")
OWN_GAMES: Final = Path(__file__).parent / "data" / "games"
FETCH: Final = "`alfworld-download --data-dir DIR` fetches the data; give the folder with --games DIR or ALFWORLD_DATA"
"""What to do where the data is missing or damaged."""

_SHOWN_FAULTS: Final = 20
_UNSUPPORTED: Final = ("movable", "Sliced")
"""What names the kinds of tasks that ALFWorld itself leaves out of its text games."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The games of a folder in a fixed order, and what was left out."""

    folder: Path
    games: tuple[Game, ...]
    skipped: tuple[Skipped, ...]

    def summary(self) -> str:
        """Say in one line how many games there are, and how many were skipped for which reason."""
        line = f"{len(self.games)} game{'s' * (len(self.games) != 1)} in {self.folder}"
        if not self.skipped:
            return line
        counts = Counter(each.reason for each in self.skipped)
        reasons = sorted(counts, key=lambda reason: (-counts[reason], reason))
        return f"{line}; skipped {len(self.skipped)}: " + ", ".join(f"{counts[reason]} {reason}" for reason in reasons)


def find_games(folder: Path | None = None) -> list[Game]:
    """Return the playable games of ``folder``, of ALFWORLD_DATA where that is set, or else the project's own.

    Raises `InputError` if there are none, `FaultyInput` with every damaged file.
    """
    return list(survey(folder).games)


def survey(folder: Path | None = None) -> Collection:
    """Like `find_games`, and say what was skipped."""
    chosen, origin = _choose(folder)
    try:
        there = chosen.is_dir()
    except OSError as error:
        name = str(chosen)[:80]
        raise InputError(f"the games' folder {name} ({origin}) cannot be read: {error.strerror}", hint=FETCH) from None
    if not there:
        state = "is not a folder" if chosen.exists() else "does not exist"
        raise InputError(f"the games' folder {chosen} ({origin}) {state}", hint=FETCH)
    root = chosen.resolve()
    found, skipped, faults = [], list[Skipped](), list[Fault]()
    for place in _places(root, faults):
        result = _read(root, place)
        match result:
            case Game():
                found.append(result)
            case Skipped():
                skipped.append(result)
            case Fault():
                faults.append(result)
    if faults:
        lines = [str(fault) for fault in faults[:_SHOWN_FAULTS]]
        if len(faults) > _SHOWN_FAULTS:
            lines.append(f"... and {len(faults) - _SHOWN_FAULTS} more")
        raise FaultyInput(f"games in {chosen}", lines, hint=FETCH)
    if not found:
        raise InputError(f"no playable games in {chosen} ({origin}): {_what_is_there(root, skipped)}", hint=FETCH)
    games = sorted(_with_distinct_ids(root, found), key=lambda game: game.id)
    return Collection(chosen, tuple(games), tuple(skipped))


def _choose(folder: Path | None) -> tuple[Path, str]:
    if folder is not None:
        return Path(folder), "--games"
    if named := os.environ.get("ALFWORLD_DATA"):
        return Path(named).expanduser(), "ALFWORLD_DATA"
    return OWN_GAMES, "the project's own games"


class _Place(NamedTuple):
    folder: Path
    files: frozenset[str]


def _places(root: Path, faults: list[Fault]) -> Iterator[_Place]:
    """Yield every folder that holds a file of a game.

    Links that lead out of ``root`` become faults, and nothing of a game with such a file is read.
    """

    def unreadable(error: OSError) -> None:
        faults.append(Fault(str(error.filename), f"cannot be read: {error.strerror}"))

    for here, folders, files in os.walk(root, onerror=unreadable):
        folders.sort()
        known = frozenset((*files, *folders)) & FOUND_BY
        folder = Path(here)
        links = [folder / name for name in sorted({*folders, *known}) if (folder / name).is_symlink()]
        leading_out = [link for link in links if not link.resolve().is_relative_to(root)]
        faults.extend(Fault(_relative(root, link), "is a link that leads out of the folder") for link in leading_out)
        if known.isdisjoint(link.name for link in leading_out) and known:
            yield _Place(folder, known)


def _read(root: Path, place: _Place) -> Game | Skipped | Fault | None:
    where = _relative(root, place.folder)
    if OWN in place.files or (TASK in place.files and REAL not in place.files):
        return read_game(place.folder / OWN, where, "own")
    if any(word in where for word in _UNSUPPORTED):
        return Skipped(where, "of a kind that has no text games (movable or sliced)")
    if REAL not in place.files:
        return Skipped(where, f"without {REAL}") if "traj_data.json" in place.files else None
    return read_game(place.folder / REAL, where, _split(root, place.folder))


def _split(root: Path, folder: Path) -> str:
    """Return the last part of the path that names a split; above ``root`` only the nearest folders count."""
    parts = (*root.parts[-3:], *folder.relative_to(root).parts)
    return next((part for part in reversed(parts) if part in SPLITS), "")


def _with_distinct_ids(root: Path, found: list[Game]) -> list[Game]:
    """Shorten the ids to begin with the split, so that they do not depend on where above it one points."""
    short = [_short_id(root, game) for game in found]
    counts = Counter(short)
    return [game.named(name) if counts[name] == 1 else game for game, name in zip(found, short, strict=True)]


def _short_id(root: Path, game: Game) -> str:
    parts = (*root.parts[-3:], *game.path.parent.relative_to(root).parts)
    if game.split in parts:
        start = len(parts) - 1 - parts[::-1].index(game.split)
        return "/".join(parts[start:])
    return game.id if game.id != "." else root.name


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _what_is_there(root: Path, skipped: list[Skipped]) -> str:
    if skipped:
        return Collection(root, (), tuple(skipped)).summary().partition("; ")[2]
    names = sorted(path.name for path in root.iterdir())
    if not names:
        return "the folder is empty"
    return f"no {REAL} below it; it holds " + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def installed_rules() -> tuple[Path, Path]:
    """Return the paths of ``alfred.pddl`` and ``alfred.twl2`` in the installed alfworld, without importing it."""
    spec = importlib.util.find_spec("alfworld")
    if spec is None or spec.origin is None:
        raise InputError("ALFWorld games need the alfworld extra", hint="pip install 'planroute[alfworld]'")
    data = Path(spec.origin).parent / "data"
    return data / "alfred.pddl", data / "alfred.twl2"
