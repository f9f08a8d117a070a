"""A page as a tree of roles and names, one element a line, elements that can be acted on with a number.

``tree.js`` walks what is displayed and stops at its limits, however large the page is. What it returns came from the
page: it is read as data of known types, cut again, and put between quotes on one line.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

LIMITS: Final = {"nodes": 6000, "items": 1200, "text": 160, "options": 40, "depth": 12}


@dataclass(frozen=True, slots=True)
class Element:
    """An element that can be acted on."""

    number: int
    role: str
    name: str


@dataclass(frozen=True, slots=True)
class Tree:
    """What is in sight of one page: its lines, and the elements that have a number there."""

    text: str
    elements: Mapping[int, Element]


EMPTY: Final = Tree("(nothing is shown)", {})


@cache
def script() -> str:
    """The program that walks a page."""
    return files("planroute.domains.webarena").joinpath("tree.js").read_text(encoding="utf-8")


def tree(items: Any, more: bool, budget: int) -> Tree:
    """Write ``items`` as lines of ``budget`` characters in all; what is deepest and has no number is left out first.

    Elements with a number that still do not fit are left out from the end, and a last line says how many lines were.
    """
    read = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    lines = [(_depth(item), _line(item), _element(item)) for item in read[: LIMITS["items"]]]
    kept = lines
    for level in range(LIMITS["depth"], 0, -1):
        if _size(kept) <= budget:
            break
        kept = [line for line in kept if line[2] is not None or line[0] < level]
    while kept and _size(kept) > budget:
        kept = kept[: max(len(kept) * 9 // 10, len(kept) - 20)] if len(kept) > 20 else kept[:-1]
    left = len(lines) - len(kept)
    text = "\n".join(line for _, line, _ in kept)
    if left or more:
        text += f"\n({left} lines{' and the rest of a very large page' if more else ''} are not shown)"
    found = {element.number: element for _, _, element in kept if element is not None}
    return Tree(text.strip() or EMPTY.text, found)


def quoted(text: str, most: int = LIMITS["text"]) -> str:
    """``text`` between quotes on one line; what is no printable character in it is left out."""
    plain = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    return json.dumps(" ".join(plain.split())[:most], ensure_ascii=False)


def _size(lines: Sequence[tuple[int, str, Element | None]]) -> int:
    return sum(len(line) + 1 for _, line, _ in lines)


def _depth(item: Mapping[str, Any]) -> int:
    depth = item.get("depth")
    return max(0, min(depth, LIMITS["depth"])) if isinstance(depth, int) else 0


def _element(item: Mapping[str, Any]) -> Element | None:
    number = item.get("id")
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return Element(number, _word(item.get("role")), str(item.get("name", "")))


def _word(role: Any) -> str:
    return "".join(char for char in str(role) if char.isalnum())[:30] or "element"


def _line(item: Mapping[str, Any]) -> str:
    number = item.get("id")
    marks = [f"[{number}] " if isinstance(number, int) else "", _word(item.get("role"))]
    if item.get("name"):
        marks.append(" " + quoted(str(item["name"])))
    if item.get("value"):
        marks.append(f" value {quoted(str(item['value']))}")
    options = item.get("options")
    if isinstance(options, list) and options:
        marks.append(" options " + ", ".join(quoted(str(each), 60) for each in options[: LIMITS["options"]]))
    if isinstance(item.get("checked"), bool):
        marks.append(" checked" if item["checked"] else " not checked")
    if item.get("disabled"):
        marks.append(" disabled")
    return " " * _depth(item) + "".join(marks)
