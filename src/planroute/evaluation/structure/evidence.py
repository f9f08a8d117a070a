"""Whether an action is evidence that a demand was met."""

import math
import re
from enum import IntEnum

from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.phrases import FOR, SOURCE, Phrase, same
from planroute.evaluation.structure.wording import Demand

OVERLAP = 0.5
ANCHORS = 0.5
_INSTANCE = re.compile(r"\b([a-z]+) (\d{1,9})\b")


class Fit(IntEnum):
    """How an action meets a demand: it implies it and stays free for another unit, or it does it and is used up."""

    IMPLIES = 1
    DOES = 2


def fit(demand: Demand, act: Act, lexicon: Lexicon) -> Fit | None:
    """Hold ``act`` against ``demand``. What was not executed is no evidence."""
    if not act.executed:
        return None
    match lexicon.match:
        case "things":
            return _things(demand, act, lexicon)
        case "anchors":
            return _anchors(demand, act, lexicon)
        case _:
            return _overlap(demand, act, lexicon)


def unreadable(demand: Demand, act: Act, lexicon: Lexicon) -> bool:
    """Whether ``act`` is of the right class but does not say what it acts on."""
    return act.opaque and act.executed and bool(demand.words) and bool(act.verbs & lexicon.completes(demand.verb))


def _things(demand: Demand, act: Act, lexicon: Lexicon) -> Fit | None:
    allowed = act.verbs & lexicon.completes(demand.verb)
    if demand.verb == "find":
        return Fit.IMPLIES if allowed and _found(demand, act, lexicon) else None
    if demand.looking:
        asked = _named(demand)[:1] if demand.object else _named(demand)
        looked = [act.object, *(place for _, place in act.places)]
        seen = not asked or any(_is(a, g, lexicon) for a in asked for g in looked)
        return Fit.IMPLIES if allowed and seen else None
    if demand.verb in lexicon.implied and not allowed:
        at = [place for _, place in act.places] + ([act.object] if act.verbs & lexicon.looks else [])
        asked = _named(demand)
        return Fit.IMPLIES if any(_is(a, g, lexicon) for a in asked for g in at) else None
    if not allowed:
        return None
    if demand.verb not in allowed:
        asked = _named(demand)
        return Fit.DOES if any(_is(a, act.object, lexicon) for a in asked) else None
    if demand.object is not None and not _is(demand.object, act.object, lexicon):
        return None
    return Fit.DOES if _placed(demand, act, lexicon) else None


def _named(demand: Demand) -> list[Phrase]:
    """What the unit names: its object and its places."""
    places = [place for role, place in demand.places if role != FOR]
    return [demand.object, *places] if demand.object else places


def _found(demand: Demand, act: Act, lexicon: Lexicon) -> bool:
    thing = demand.object
    if not act.verbs & lexicon.looks:
        return _is(thing, act.object, lexicon) and _placed(demand, act, lexicon)
    at = act.object
    places = [place for role, place in demand.places if role != FOR]
    if places and not any(_is(place, at, lexicon) for place in places):
        return False
    return thing is not None and (bool(seen_instances(thing, act, lexicon)) or _is(thing, at, lexicon))


def seen_instances(thing: Phrase, act: Act, lexicon: Lexicon) -> set[str]:
    """The things of the kind of ``thing`` that ``act`` shows, each with its number."""
    return {
        match[0]
        for match in _INSTANCE.finditer(act.seen)
        if same(thing, Phrase((match[1],), frozenset({int(match[2])})), lexicon)
    }


def _placed(demand: Demand, act: Act, lexicon: Lexicon) -> bool:
    """One of the places that the unit names is the action's place of that role, where the action names one."""
    for source in (True, False):
        asked = [place for role, place in demand.places if role != FOR and (role == SOURCE) is source]
        given = [place for role, place in act.places if (role == SOURCE) is source]
        if asked and given and not any(_is(a, g, lexicon) for a in asked for g in given):
            return False
    return True


def _is(asked: Phrase | None, given: Phrase | None, lexicon: Lexicon) -> bool:
    return asked is not None and given is not None and same(asked, given, lexicon)


def _anchors(demand: Demand, act: Act, lexicon: Lexicon) -> Fit | None:
    allowed = act.verbs & lexicon.completes(demand.verb)
    if not allowed or (allowed <= lexicon.by_name_only and not demand.anchors):
        return None
    if (needs := lexicon.after.get(demand.verb)) and needs not in act.earlier:
        return None
    if demand.verb in lexicon.fresh and not act.fresh:
        return None
    shown = f"{act.text}\n{act.seen}" if demand.looking else act.text
    if demand.anchors and demand.verb not in lexicon.after:
        pattern = lexicon.shown_by.get(demand.verb, "{name}")
        met = sum(1 for anchor in demand.anchors if re.search(pattern.replace("{name}", re.escape(anchor)), shown))
        if met < math.ceil(ANCHORS * len(demand.anchors)):
            return None
    if demand.verb in lexicon.sharing:
        told = demand.anchors or _overlap_share(demand, act) >= OVERLAP
        return Fit.IMPLIES if told else None
    return Fit.IMPLIES if demand.looking else Fit.DOES


def _overlap(demand: Demand, act: Act, lexicon: Lexicon) -> Fit | None:
    if not act.verbs & lexicon.completes(demand.verb):
        return None
    enough = not demand.words or _overlap_share(demand, act) >= OVERLAP
    if demand.quoted:
        enough = all(quote in act.text for quote in demand.quoted)
    if not enough:
        return None
    return Fit.IMPLIES if demand.looking else Fit.DOES


def _overlap_share(demand: Demand, act: Act) -> float:
    return len(demand.words & act.words) / len(demand.words) if demand.words else 0.0
