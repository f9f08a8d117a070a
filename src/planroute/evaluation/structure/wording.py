"""Reading a unit of a plan: what it asks for, or that it asks for nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.phrases import TARGET, Phrase, anchors, content_words, parts, phrase, quoted

_SENTENCES = re.compile(r"(?<=[.!?])\s+")
_ALSO = re.compile(r"\s*(?:,|\band\b|\bor\b)\s*")
_UNREAD = re.compile(r"\bthen\s+\w")
LONGEST = 2000


class Asks(StrEnum):
    """Whether a unit asks for acts, for nothing, or in words that the lexicon does not know."""

    ACTS = "acts"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Demand:
    """One act that a unit asks for.

    ``looking`` demands are met by what is seen. A ``ranged`` one asks to look at places one by one, from ``start`` on.
    ``words``, ``quoted`` and ``anchors`` are for lexicons that compare words and not things.
    """

    verb: str
    object: Phrase | None = None
    places: tuple[tuple[str, Phrase], ...] = ()
    words: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    looking: bool = False
    ranged: bool = False
    start: Phrase | None = None


@dataclass(frozen=True, slots=True)
class Meant:
    """What "it" stands for: the thing last handled, or for an act on places the place last named."""

    thing: Phrase | None = None
    place: Phrase | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What one unit asks for, and what a pronoun in the next unit stands for."""

    asks: Asks
    demands: tuple[Demand, ...] = ()
    conditional: bool = False
    meant: Meant = Meant()


def read_unit(text: str, lexicon: Lexicon, meant: Meant | None = None) -> Reading:
    """Read one unit. Sentences that ask for nothing are dropped; a clause with two verbs becomes two demands."""
    meant = meant or Meant()
    told = text.strip()[:LONGEST]
    lower = told.lower()
    for pattern, into in lexicon.rewrites:
        lower = pattern.sub(into, lower)
    kept = [s for s in _SENTENCES.split(lower) if re.search(r"[a-z]", s) and not _asks_nothing(s, lexicon)]
    if not kept:
        return Reading(Asks.NOTHING, meant=meant)
    lower = " ".join(sentence.rstrip(".! ") + "." for sentence in kept).rstrip(".")
    conditional = bool(lexicon.condition.match(lexicon.leads.sub("", lower)))
    clauses = list(_clauses(lower, lexicon))
    unread = not lexicon.open_verbs and any(_UNREAD.search(rest) for _, rest in clauses)
    if not clauses or unread:
        return Reading(Asks.UNKNOWN, conditional=conditional, meant=meant)
    demands: list[Demand] = []
    for verb, rest in clauses:
        about_places = verb in lexicon.places
        found = _demands(verb, rest, told, lexicon, meant.place if about_places else meant.thing)
        named = next((demand.object for demand in found if demand.object), None)
        if named:
            meant = replace(meant, place=named) if about_places else replace(meant, thing=named)
        demands += found
    return Reading(Asks.ACTS, _without_idle_looks(_shared(demands)), conditional, meant)


def _asks_nothing(sentence: str, lexicon: Lexicon) -> bool:
    bare = lexicon.leads.sub("", sentence)
    return any(pattern.search(sentence) or pattern.search(bare) for pattern in lexicon.nothing_asked)


def _clauses(lower: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Every verb at the beginning of a clause, with what follows it."""
    found = list(lexicon.boundary.finditer(lower))
    if found and (len(found) > 1 or not lexicon.open_verbs or found[0].start() == 0):
        for place, match in enumerate(found):
            end = found[place + 1].start() if place + 1 < len(found) else len(lower)
            yield lexicon.verbs[match["verb"]], lower[match.end() : end].strip(" ,;.")
    elif lexicon.open_verbs:
        verb, _, rest = lexicon.leads.sub("", lower).partition(" ")
        if verb:
            yield lexicon.verbs.get(verb, verb), rest.strip(" .")


def _demands(verb: str, rest: str, told: str, lexicon: Lexicon, it: Phrase | None) -> list[Demand]:
    looking = verb in lexicon.looking
    if lexicon.match != "things":
        words = content_words(rest, lexicon)
        if verb in lexicon.whole and not words & lexicon.whole[verb]:
            verb = "part"
        return [Demand(verb, None, (), words, quoted(told), anchors(told), looking)]
    start = lexicon.start.search(rest)
    ranged = looking and bool(start or lexicon.range.search(rest))
    rest = lexicon.purpose.sub("", lexicon.range.sub(" ", lexicon.start.sub(" ", rest)))
    named, placed = parts(rest)
    places = tuple((role, found) for role, text in placed for found in _phrases(text, lexicon))
    things: Sequence[Phrase | None] = _phrases(named, lexicon) or [it if named else None]
    if looking and verb in lexicon.places:  # one of the places will do
        places = (*((TARGET, thing) for thing in things if thing), *places)
        things = [None]
    demands = [
        Demand(
            verb,
            thing,
            places,
            looking=looking,
            ranged=ranged,
            start=phrase(start["place"], lexicon) if start else None,
        )
        for thing in things
    ]
    if not looking:
        second = [d for d in demands if d.object and d.object.count > 1]
        demands += [replace(d, object=replace(d.object, other=True)) for d in second if d.object]
    return demands


def _phrases(text: str, lexicon: Lexicon) -> list[Phrase]:
    """The things of an enumeration."""
    return [found for one in _ALSO.split(text) if (found := phrase(one, lexicon))]


def _shared(demands: list[Demand]) -> list[Demand]:
    """Two verbs may share what follows the second: "find and take a mug"."""
    for place in range(len(demands) - 2, -1, -1):
        this, later = demands[place], demands[place + 1]
        if this.object is None and not this.places and not this.words and not this.ranged:
            demands[place] = replace(this, object=later.object, places=later.places, words=later.words)
    return demands


def _without_idle_looks(demands: list[Demand]) -> tuple[Demand, ...]:
    """Looking that serves an act in the same unit needs no action of its own."""
    doing = [place for place, demand in enumerate(demands) if not demand.looking]
    return tuple(d for place, d in enumerate(demands) if not d.looking or d.ranged or not doing or place > doing[-1])
