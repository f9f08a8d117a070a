"""What an agent can do to a repository, and how a text is read as one of those things.

An action is a shell command, or one of three words of its own: ``view``, ``edit`` and ``submit``. They are written
alike in prompts, answers and traces.
"""

import re
import shlex
from dataclasses import dataclass
from typing import Final

from planroute.domains.text.environment import Match

LONGEST: Final = 30_000
"""Characters of an action."""
OLD, BETWEEN, NEW = "<<<<<<< OLD", "=======", ">>>>>>> NEW"
SUBMIT: Final = "submit"
FORM: Final = (
    f"write an edit as the line 'edit FILE', then {OLD!r}, the text as it is, {BETWEEN!r}, the new text, {NEW!r}"
)

_FENCE: Final = re.compile(r"```[\w+-]*\n(.*?)\n?```", re.DOTALL)
_MARK: Final = re.compile(r"(?:Action|Command):\s*", re.IGNORECASE)
_RANGE: Final = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")


@dataclass(frozen=True, slots=True)
class Command:
    """A script for the shell."""

    script: str


@dataclass(frozen=True, slots=True)
class View:
    """Show lines ``first`` to ``last`` of a file, counted from 1; all of it where there is no ``last``."""

    path: str
    first: int = 1
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``old``, which must occur exactly once, by ``new``; without ``old`` make a new file."""

    path: str
    old: str
    new: str

    def __str__(self) -> str:
        lines = [f"edit {shlex.quote(self.path)}", OLD, *([self.old] if self.old else []), BETWEEN]
        return "\n".join([*lines, *([self.new] if self.new else []), NEW])


@dataclass(frozen=True, slots=True)
class Submit:
    """The work is done."""


Action = Command | View | Edit | Submit


class Unreadable(Exception):
    """Words that are no action, and why not."""


def read_action(text: str) -> Action:
    """Read ``text`` as an action. Raises ``Unreadable``."""
    first, _, rest = text.partition("\n")
    words = first.split()
    match words[0] if words else "":
        case "":
            raise Unreadable("no action was named")
        case "submit" if len(words) == 1 and not rest.strip():
            return Submit()
        case "view":
            return _view(text)
        case "edit":
            return _edit(first, rest)
        case _:
            return Command(text)


def match_action(words: str, admissible: tuple[str, ...]) -> Match:
    """Read a model's words as one action: without a fence or a mark around it, and nothing else changed."""
    text = words.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").strip("\n")
    fenced = _FENCE.findall(text)
    if len(fenced) > 1:
        return Match(None, "several blocks of code were written: one action at a time")
    text = fenced[0] if fenced else _MARK.sub("", text, count=1) if _MARK.match(text) else text
    text = text.removeprefix("$ ").strip()
    if "\0" in text:
        return Match(None, "an action cannot hold a character of value 0")
    if len(text) > LONGEST:
        return Match(None, f"the action is longer than {LONGEST} characters")
    try:
        read_action(text)
    except Unreadable as error:
        return Match(None, str(error))
    return Match(text)


def _view(text: str) -> View:
    try:
        words = shlex.split(text)[1:]
    except ValueError as error:
        raise Unreadable(f"the file's name cannot be read: {error}") from None
    if not 1 <= len(words) <= 2:
        raise Unreadable("write 'view FILE' or 'view FILE FIRST-LAST'")
    if len(words) == 1:
        return View(words[0])
    found = _RANGE.fullmatch(words[1])
    if found is None or int(found[1]) < 1 or (found[2] and int(found[2]) < int(found[1])):
        raise Unreadable(f"{words[1]!r} are no lines: write 'view FILE FIRST-LAST'")
    return View(words[0], int(found[1]), int(found[2] or found[1]))


def _edit(first: str, rest: str) -> Edit:
    try:
        words = shlex.split(first)[1:]
    except ValueError as error:
        raise Unreadable(f"the file's name cannot be read: {error}") from None
    lines = rest.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if len(words) != 1 or len(lines) < 3 or not (lines[0].startswith(OLD[:7]) and lines[-1].startswith(NEW[:7])):
        raise Unreadable(FORM)
    between = [place for place, line in enumerate(lines) if line == BETWEEN]
    if len(between) != 1:
        how = "no" if not between else "more than one"
        raise Unreadable(f"the edit holds {how} line {BETWEEN!r}: {FORM}, or use a shell command")
    return Edit(words[0], "\n".join(lines[1 : between[0]]), "\n".join(lines[between[0] + 1 : -1]))
