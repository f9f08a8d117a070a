"""The words of an action: ``click [12]``, ``type [3] [tea] [1]``, ``stop [...]`` and the others, read into parts."""

import re
from dataclasses import dataclass
from typing import Final

from planroute.domains.text.environment import Match

FORMS: Final = """\
click [id]; type [id] [text] [1] (the last is 1 to press Enter, 0 not to); select [id] [option]; scroll [down] or \
scroll [up]; goto [address]; back; new_tab; tab [number]; close_tab; stop [answer]"""

_NUMBERED: Final = re.compile(r"(click|tab) \[?(\d{1,6})\]?$")
_TYPE: Final = re.compile(r"type \[?(\d{1,6})\]? \[(.*?)\](?: \[?([01])\]?)?$")
_SELECT: Final = re.compile(r"select \[?(\d{1,6})\]? \[?(.*?)\]?$")
_SCROLL: Final = re.compile(r"scroll \[?(up|down)\]?$")
_GOTO: Final = re.compile(r"goto \[?([^\s\]]+)\]?$")
_STOP: Final = re.compile(r"stop(?: \[(.*)\]| (.*))?$")
_ALONE: Final = ("back", "new_tab", "close_tab")


@dataclass(frozen=True, slots=True)
class Action:
    """One action: its verb, the number that it names, its text, and whether Enter follows the text."""

    verb: str
    number: int = 0
    text: str = ""
    enter: bool = False


def read_action(words: str) -> Action | None:
    """Read an action, or return ``None`` for what is none."""
    line = " ".join(words.split())
    verb, _, rest = line.partition(" ")
    line = f"{verb.lower()} {rest}".strip()
    if found := _NUMBERED.match(line):
        return Action(found[1], int(found[2]))
    if found := _TYPE.match(line):
        return Action("type", int(found[1]), found[2], found[3] == "1")
    if found := _SELECT.match(line):
        return Action("select", int(found[1]), found[2])
    if found := _SCROLL.match(line):
        return Action("scroll", text=found[1])
    if found := _GOTO.match(line):
        return Action("goto", text=found[1])
    if found := _STOP.match(line):
        return Action("stop", text=(found[1] if found[1] is not None else found[2] or "").strip())
    return Action(line) if line in _ALONE else None


def match_action(words: str, admissible: tuple[str, ...]) -> Match:
    """Take the words where they are an action."""
    line = " ".join(words.split())
    if not line:
        return Match(None, "no action was named")
    if read_action(line) is None:
        return Match(None, f"{line[:80]!r} is not one of: {FORMS}")
    return Match(line)
