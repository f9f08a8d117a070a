"""Match what a model wrote to one admissible command, or to none: it never chooses between two.

The rules, in this order; the first that fits at least one command decides, and if it fits several there is no match:

1. **exact**: the text is a command, letter by letter.
2. **spelling**: equal after dropping case, spaces, punctuation and articles.
3. **wording**: equal if ``put``, ``place`` and ``move X`` mean the same, and so do ``in``, ``on``, ``in/on``, ``into``,
   ``onto`` and ``to Y``.
4. **number**: equal under rule 3 if one or more object numbers are left out. A number that is written must be right.

Before that, the line is found that holds the answer: lines marked ``Action:`` (or ``Command:``, ``Answer:``) count
alone; without such a mark every line counts, and lines that fit nothing are passed over. Marks such as ``>``, ``-`` or
``1.`` and quotes around the command are dropped.
"""

import difflib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_LONGEST_LINE: Final = 200
_MOST_CANDIDATES: Final = 5
_PLACING: Final = {"put", "place", "move"}
_PREPOSITIONS: Final = {"in", "on", "into", "onto", "to"}
_ARTICLES: Final = {"a", "an", "the"}
_BULLET = re.compile(r"^[\s>*_`#\"'“”‘’\-–•]*(?:\d+[.)]\s+)?[\s>*_`\"'“”‘’]*")
_MARK = re.compile(r"^(?:next |my )?(?:action|command|answer)\s*\d*\s*[*_`]*\s*[:=]", re.IGNORECASE)
_TOKEN = re.compile(r"\d+|[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Match:
    """The command that a text means, or ``None``. ``reason`` names the rule that fitted, or says why none did.

    ``candidates`` are the commands that a text without a match fits alike, or the nearest ones.
    """

    command: str | None
    reason: str
    candidates: tuple[str, ...] = ()


def match(text: str, admissible: Sequence[str]) -> Match:
    """Find the one command of ``admissible`` that ``text`` means."""
    lines = list(_answers(text))
    if not lines:
        too_long = any(len(line) > _LONGEST_LINE for line in text.splitlines())
        return Match(None, "no line is short enough for a command" if too_long else "the text is empty")
    commands = [_Command(command) for command in dict.fromkeys(admissible)]
    fits: dict[str, str] = {}
    for line in dict.fromkeys(lines):
        fits.update(_fits(line, commands))
    if len(fits) == 1:
        return Match(*next(iter(fits.items())))
    if fits:
        return Match(None, f"ambiguous: {len(fits)} commands fit", tuple(sorted(fits))[:_MOST_CANDIDATES])
    return Match(None, "no admissible command fits", _nearest(lines, commands))


class _Command:
    """A command in the forms that the rules compare."""

    def __init__(self, text: str) -> None:
        self.text = text
        tokens = _tokens(text)
        self.spelling = _join(tokens)
        self.wording = _join(_one_wording(tokens))
        parts = re.split(r"(\d+)", self.wording)
        self.numbers_optional = re.compile(
            "".join(f"(?:{part})?" if part.isdigit() else re.escape(part) for part in parts)
        )


def _fits(line: str, commands: Sequence[_Command]) -> dict[str, str]:
    """Return the commands that the first fitting rule gives, each with the rule's name."""
    tokens = _tokens(line)
    spelling, wording = _join(tokens), _join(_one_wording(tokens))
    for rule, fitting in (
        ("exact", [each for each in commands if each.text == line.strip()]),
        ("spelling", [each for each in commands if spelling and each.spelling == spelling]),
        ("wording", [each for each in commands if wording and each.wording == wording]),
        ("number", [each for each in commands if wording and each.numbers_optional.fullmatch(wording)]),
    ):
        if fitting:
            return {each.text: rule for each in fitting}
    return {}


def _answers(text: str) -> Iterator[str]:
    """Yield the lines that may hold the answer, without marks."""
    plain: list[str] = []
    marked: list[str] = []
    for line in text.splitlines():
        bare = _BULLET.sub("", line, count=1).strip()
        mark = _MARK.match(bare)
        content = bare[mark.end() :] if mark else bare
        if content.strip() and len(content) <= _LONGEST_LINE:
            (marked if mark else plain).append(_BULLET.sub("", content, count=1) if mark else content)
    yield from marked or plain


def _tokens(text: str) -> list[str]:
    """Return words and numbers in lower case, without articles. Letters and digits of every script are kept."""
    return [word for word in _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()) if word not in _ARTICLES]


def _join(tokens: Sequence[str]) -> str:
    """Join words without spaces, but keep two numbers apart: ``desk 1 1`` is not ``desk 11``."""
    joined = ""
    for token in tokens:
        joined += f" {token}" if joined[-1:].isdigit() and token[0].isdigit() else token
    return joined


def _one_wording(tokens: list[str]) -> list[str]:
    """Write ``put X in/on Y`` and its likes as ``put X to Y``; leave other commands alone."""
    if not tokens or tokens[0] not in _PLACING:
        return tokens
    places = [i for i, token in enumerate(tokens) if token in _PREPOSITIONS]
    if not places or places[0] < 2:
        return tokens
    start = end = places[0]
    while end < len(tokens) and tokens[end] in _PREPOSITIONS | {"or"}:
        end += 1
    return ["put", *tokens[1:start], "to", *tokens[end:]]


def _nearest(lines: Sequence[str], commands: Sequence[_Command]) -> tuple[str, ...]:
    wanted = _join(_one_wording(_tokens(lines[-1])))
    by_form = {each.wording: each.text for each in commands}
    return tuple(by_form[form] for form in difflib.get_close_matches(wanted, by_form, n=3, cutoff=0.5))
