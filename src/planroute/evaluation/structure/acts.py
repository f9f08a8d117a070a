"""Reading actions: in plain words here, shell commands next door."""

import re
from collections.abc import Sequence

from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.commands import read_commands
from planroute.evaluation.structure.lexicon import NAMES, Lexicon, lexicon
from planroute.evaluation.structure.phrases import content_words, parts, phrase
from planroute.evaluation.structure.verdict import Taken

LONGEST = 2000
_ELEMENT = re.compile(r"^\[\s*\d+\s*\]\s*")


def read_acts(actions: Sequence[Taken], lexicon: Lexicon) -> tuple[Act, ...]:
    """Read all actions of a trajectory, in order."""
    if lexicon.commands:
        return read_commands(actions, lexicon)
    return tuple(_read(action, lexicon) for action in actions)


def lexicon_for(actions: Sequence[Taken]) -> Lexicon:
    """The lexicon that knows most of ``actions``; the first in the order of ``NAMES`` where several know as many."""
    known = [lexicon(name) for name in NAMES if name != "generic"]
    sample = actions[:200]
    counts = [sum(1 for act in read_acts(sample, one) if act.verbs) for one in known]
    best = max(counts, default=0)
    return known[counts.index(best)] if best * 2 > len(sample) else lexicon("generic")


def _read(action: Taken, lexicon: Lexicon) -> Act:
    text = " ".join(action.text[:LONGEST].lower().split())
    for pattern, into in lexicon.rewrites:
        text = pattern.sub(into, text)
    spoken = lexicon.spoken.match(text)
    form, verb = (spoken[0], lexicon.verbs[spoken[0]]) if spoken else ("", "")
    if not verb and lexicon.open_verbs:
        form, _, _ = text.partition(" ")
        verb = form
    rest = text[len(form) :].strip()
    rest = _ELEMENT.sub("", rest)
    named, placed = parts(rest) if lexicon.match == "things" else ("", [])
    thing = phrase(named, lexicon)
    places = tuple((role, found) for role, place in placed if (found := phrase(place, lexicon)))
    words = content_words(rest, lexicon) if lexicon.match == "overlap" else frozenset()
    things = [thing, *(place for _, place in places)]
    key = " ".join([verb, *(f"{t.kind} {sorted(t.numbers)}" for t in things if t)]) if verb and thing else text
    return Act(
        action.index,
        action.executed,
        frozenset({verb}) if verb else frozenset(),
        text,
        key,
        thing,
        places,
        words,
        action.observation.lower(),
        opaque=lexicon.match == "overlap" and bool(verb) and not any(re.search("[a-z]", word) for word in words),
    )
