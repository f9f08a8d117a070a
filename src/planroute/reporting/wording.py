"""How numbers and names are written in a report."""

import re
from collections.abc import Sequence
from zlib import crc32

NAMES = {
    "PREDEFINED": "Predefined",
    "SEQUENTIAL": "Sequential",
    "HIERARCHICAL": "Hierarchical",
    "SEARCH": "Search",
    "FLAT_REACT": "Flat ReAct",
    "PLAN_REACT": "Plan+ReAct",
    "ROUTED": "Routed",
    "UNCONTROLLED": "Uncontrolled",
}
NONE = "n/a"


def label(name: str | None) -> str:
    """The name of a condition or mode as a person reads it; ``ROUTED natural`` keeps what follows its first word."""
    if name is None:
        return NONE
    first, space, rest = name.partition(" ")
    return NAMES.get(name) or f"{NAMES.get(first, first)}{space}{rest}"


def prose(name: str) -> str:
    """As ``label``, within a sentence."""
    first, space, rest = name.partition(" ")
    lower = first in NAMES and "ReAct" not in NAMES[first]
    return f"{NAMES[first].lower()}{space}{rest}" if lower else label(name)


def css(name: str) -> str:
    """The class that gives a condition its colour; names that are not known share four, so no text becomes markup."""
    return f"c-{name.lower()}" if name in NAMES else f"c-other c-other-{crc32(name.encode('utf-8', 'replace')) % 4}"


def number(value: float | None, digits: int = 0, *, sign: bool = False) -> str:
    """A number with thousands separated and a true minus; ``n/a`` for None."""
    if value is None:
        return NONE
    text = f"{value:{'+' if sign else ''},.{digits}f}"
    if not text.strip("+-0.,"):
        text = text.lstrip("+-")
    return text.replace("-", "−")


def amount(value: float | None, digits: int = 1) -> str:
    """A number with up to ``digits`` decimals, none where it is whole: ``8``, ``7.6``."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float | None, digits: int = 0) -> str:
    """A share as percent."""
    if share is not None and 0 < share < 0.005 and not digits:
        return "under 1 %"
    return NONE if share is None else f"{number(100 * share, digits)} %"


def unbroken(text: str) -> str:
    """``text`` with no line break between a number and its unit."""
    return re.sub(r"(?<=\d) (?=(?:%|h|s|J|kWh)(?!\w))", "\u00a0", text)


def listed(items: Sequence[str], last: str = "and") -> str:
    """``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def counted(count: int, noun: str) -> str:
    """``1 seed``, ``2 seeds``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def capital(sentence: str) -> str:
    """``sentence`` with its first letter large."""
    return sentence[:1].upper() + sentence[1:]


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of what is known, None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
