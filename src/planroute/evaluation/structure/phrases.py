"""Phrases: what a unit or an action is about, by kind and number."""

import re
from dataclasses import dataclass

from planroute.evaluation.structure.lexicon import Lexicon

SOURCE, TARGET, FOR = "source", "target", "for"
_ROLES = {"from": SOURCE, "out of": SOURCE, "off": SOURCE, "for": FOR}
_PREPOSITION = re.compile(
    r"\s*\b(in/on|in or on|on/in|into|onto|inside|in|on top of|on|to|at|with|using|under|near|by|out of|off|from|for)"
    r"(?=\s|$)"
)
_TOKEN = re.compile(r"\d{1,9}\s*-\s*\d{1,9}|\d{1,9}|[a-z][a-z0-9_']*")
_IRREGULAR = {"shelves": "shelf", "knives": "knife", "loaves": "loaf", "leaves": "leaf"}
_ANCHOR = re.compile(r"`([^`]+)`|([\w~-]*[/._]+[\w/.-]*\w(?:\(\))?|\b[A-Z]+[a-z]+[A-Z]\w*)")
_QUOTED = re.compile(r"\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|[“‘]([^”’]+)[”’]")
WIDEST_RANGE = 200


@dataclass(frozen=True, slots=True)
class Phrase:
    """A thing or a place: the words of its kind, and its numbers if it has any.

    ``other`` asks for another one than before, a ``count`` of 2 for two of them.
    """

    words: tuple[str, ...]
    numbers: frozenset[int] = frozenset()
    other: bool = False
    count: int = 1

    @property
    def kind(self) -> str:
        """The kind as one word: "desk lamp" and "desklamp" are the same."""
        return "".join(self.words)


def singular(word: str) -> str:
    """Take the plural off ``word``; the same rule serves both sides of a comparison."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "toes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith(("ss", "us")) else word


def phrase(text: str, lexicon: Lexicon) -> Phrase | None:
    """Read ``text`` as a thing or place; ``None`` where it names none, as with "it"."""
    words: list[str] = []
    numbers: set[int] = set()
    other, count = False, 1
    for token in _TOKEN.findall(text):
        if token[0].isdigit():
            low, _, high = token.partition("-")
            numbers.update(range(int(low), min(int(high or low), int(low) + WIDEST_RANGE) + 1))
        elif token in lexicon.others:
            other = True
        elif token in lexicon.twice:
            count = 2
        elif token not in lexicon.determiners | lexicon.results | lexicon.pronouns:
            words.append(singular(token))
    return Phrase(tuple(words), frozenset(numbers), other, count) if words else None


def parts(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Split what follows a verb into its object and the places, each with the role of its preposition."""
    pieces = _PREPOSITION.split(text)
    return pieces[0].strip(), [
        (_ROLES.get(preposition, TARGET), place.strip())
        for preposition, place in zip(pieces[1::2], pieces[2::2], strict=True)
    ]


def same(asked: Phrase, given: Phrase, lexicon: Lexicon) -> bool:
    """Whether ``given``, of an action, is what ``asked``, of a unit, names."""
    if asked.numbers and given.numbers and not asked.numbers & given.numbers:
        return False
    kinds = {"".join(asked.words[start:]) for start in range(len(asked.words))}
    if given.kind in kinds:
        return True
    wider = lexicon.broader.get(asked.kind, frozenset())
    return "*" in wider or given.kind in wider


def content_words(text: str, lexicon: Lexicon) -> frozenset[str]:
    """The words of ``text`` that say something, in their singular."""
    found = re.findall(r"[a-z0-9][a-z0-9_]*", text)
    return frozenset(singular(word) for word in found if word not in lexicon.determiners and len(word) > 1)


def anchors(text: str) -> tuple[str, ...]:
    """Names of code, files and symbols that ``text`` mentions, in lower case."""
    found = [(ticked or plain).strip().lower() for ticked, plain in _ANCHOR.findall(text)]
    return tuple(dict.fromkeys(name.removesuffix("()") for name in found if len(name) > 1))


def quoted(text: str) -> tuple[str, ...]:
    """What stands in quotation marks, in lower case."""
    return tuple("".join(groups).strip().lower() for groups in _QUOTED.findall(text))
