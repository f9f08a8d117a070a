"""A page as a tree, and as the text that a model reads: cut by structure, around the elements that it is about.

The text has the form of Mind2Web's own prompts: ``<button id=3 submit> Book </button>``, attribute values without
their names, and numbers for the candidates only. Whatever a page says stays within one line of it: markup characters
in its text are escaped, scripts and styles are left out.

Source: Mind2Web (arXiv 2306.06070), appendix on action prediction, for the form, the attributes that count, and the
neighbourhood that is kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import Any, Final

from planroute.domains.mind2web.records import Candidate
from planroute.errors import InputError

ATTRIBUTES: Final = (
    "role", "aria_role", "type", "alt", "aria_description", "aria_label", "label", "title", "name", "text_value",
    "value", "placeholder", "input_checked", "input_value", "option_selected", "class",
)  # fmt: skip
"""Attributes whose values are shown, in this order."""
NODE: Final = "backend_node_id"
LEFT_OUT: Final = frozenset({"script", "style", "noscript", "template"})
SAYS_NOTHING: Final = frozenset({"hidden", "none", "presentation", "null", "undefined"})
FIELDS: Final = frozenset({"input", "select", "textarea"})

VALUE_WORDS, VALUE_CHARACTERS = 5, 14
"""Words shown of one attribute, and the longest that is shown."""
WORDS: Final = 20
"""Words shown of one text, and of all attributes of an element."""
CHOICE_WORDS: Final = 10
"""Words of an element by which it is offered as a choice."""
LONGEST_WORD: Final = 80
DEPTH, DESCENDANTS, SIBLINGS = 5, 50, 3
"""How far below a candidate and beside it the page is kept, and how many elements below it at most."""
ANCESTORS: Final = 32
"""How many elements above a candidate are kept, the nearest ones, and the root."""

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0), 0xFFFE, 0xFFFF), " ")
_ENTITY = re.compile(r"&(?:(\w{1,30});|#([0-9]+);|#x([0-9a-fA-F]+);)?")
_TAG = re.compile(r"<[A-Za-z_]")
_DECLARATION = re.compile(r"<!(?!--|\[CDATA\[)")


@dataclass(slots=True, eq=False)
class Element:
    """One element. ``children`` are elements and pieces of text, in order."""

    tag: str
    attributes: Mapping[str, str]
    parent: "Element | None" = None
    place: int = 0
    children: "list[Element | str]" = field(default_factory=list)
    _words: tuple[str, ...] | None = field(default=None, init=False, repr=False)

    @property
    def node(self) -> str:
        """The identity that candidates name it by; empty where it has none."""
        return self.attributes.get(NODE, "")

    def elements(self) -> "list[Element]":
        """Its children without the text."""
        return [child for child in self.children if isinstance(child, Element)]

    def words(self) -> tuple[str, ...]:
        """What is shown of its attributes, put together once: an element is written again in every cut."""
        if self._words is None:
            self._words = self._shown()
        return self._words

    def _shown(self) -> tuple[str, ...]:
        said: list[str] = []
        shown: list[str] = []
        for name in ATTRIBUTES:
            value = self.attributes.get(name, "").lower()
            if not value or value in SAYS_NOTHING or value.startswith("http"):
                continue
            words = [word for word in clean(value) if len(word) <= VALUE_CHARACTERS][:VALUE_WORDS]
            if words and " ".join(words) not in said:
                said.append(" ".join(words))
                shown += words
        return tuple(shown[:WORDS])

    def text(self, most: int = WORDS) -> list[str]:
        """The first words of text in it and below it."""
        found: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting and len(found) < most:
            item = waiting.pop()
            if isinstance(item, str):
                found += clean(item)
            else:
                waiting += reversed(item.children)
        return found[:most]


@dataclass(frozen=True, slots=True)
class Cut:
    """A page cut to what surrounds some candidates.

    ``numbers`` says by which number each candidate's node is called, ``choices`` how it reads; both in the order in
    which the elements stand on the page.
    """

    text: str
    numbers: Mapping[str, int]
    choices: Mapping[str, str]


class Page:
    """A parsed page. Candidates that it does not hold are added at its end, as far as the record describes them."""

    def __init__(self, html: str, candidates: Sequence[Candidate] = ()) -> None:
        self.root, self.by_node = _read(html)
        for candidate in candidates:
            if candidate.node not in self.by_node:
                attributes = {**candidate.attributes, NODE: candidate.node}
                element = Element(candidate.tag or "div", attributes, self.root, len(self.by_node) + 1_000_000_000)
                self.root.children.append(element)
                self.by_node[candidate.node] = element

    def label(self, node: str) -> str:
        """Return ``[tag] words``, as annotated steps name an element; fields by their attributes, others by text."""
        element = self.by_node[node]
        text, words = element.text(CHOICE_WORDS), list(element.words()[:CHOICE_WORDS])
        said = words or text if element.tag in FIELDS else text or words
        return f"[{clean_tag(element.tag)}] {' '.join(said)}".strip().replace("->", "›")

    def cut(self, nodes: Sequence[str], budget: int) -> Cut:
        """Keep ``nodes``, what is above them, then what is below and beside them, nearest first.

        ``budget`` is the number of elements at which nothing more is added; the nodes and what is above them stay.
        """
        around = sorted({self.by_node[node] for node in nodes}, key=lambda element: element.place)
        kept = {self.root, *around}
        for element in around:
            kept.update(_above(element))
        for element in _near(around):
            if len(kept) >= budget:
                break
            kept.add(element)
        numbers = {element.node: number for number, element in enumerate(around)}
        text, choices = _written(self.root, kept, numbers)
        return Cut(text, numbers, {node: choices[node] for node in numbers})


@lru_cache(maxsize=8192)
def clean(text: str) -> tuple[str, ...]:
    """The words of ``text``: printable, escaped, none endless, and no quotes that could end a quotation."""
    printable = "".join(character if character.isprintable() else " " for character in text[:20_000])
    escaped = printable.replace("<", "&lt;").replace(">", "&gt;").replace('"', " ").replace("'''", "'")
    return tuple(word[:LONGEST_WORD] for word in escaped.split())


def clean_tag(tag: str) -> str:
    """A tag's name without anything that is no name."""
    return re.sub(r"[^\w:.-]", "", tag)[:30] or "div"


def _read(html: str) -> tuple[Element, dict[str, Element]]:
    """Parse ``html``, whatever is wrong with it; no entity is expanded and nothing is fetched.

    What is nested some 2,000 levels deep is not read.
    """
    try:
        from lxml import etree
    except ImportError:
        raise InputError("pages of the web need the mind2web extra", hint="pip install 'planroute[mind2web]'") from None
    parser: Any = etree.XMLParser(
        recover=True,
        huge_tree=True,
        resolve_entities=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    text = _ENTITY.sub(_character, _DECLARATION.sub("&lt;!", html.translate(_CONTROLS)))
    begin = re.search(_TAG, text)
    root = Element("html", {}, children=[] if begin else [html])
    try:
        tree = etree.fromstring(text[begin.start() :].encode("utf-8", "replace"), parser) if begin else None
    except (etree.XMLSyntaxError, ValueError):
        tree = None
    by_node: dict[str, Element] = {}
    open_here: list[Element | None] = [root]
    for place, (event, item) in enumerate(() if tree is None else etree.iterwalk(tree, events=("start", "end")), 1):
        above = open_here[-1]
        if event == "end":
            open_here.pop()
            above = open_here[-1]
            if above is not None and item.tail:
                above.children.append(item.tail)
            continue
        tag = item.tag.rpartition("}")[2]
        if above is None or tag in LEFT_OUT:
            open_here.append(None)
            continue
        inside = above
        if tag != "text":
            named = {str(name).replace("-", "_"): str(value) for name, value in item.attrib.items()}
            inside = Element(tag, named, above, place)
            if item is tree and tag == "html":
                inside = root
                root.attributes = named
            else:
                above.children.append(inside)
            if inside.node:
                by_node.setdefault(inside.node, inside)
        open_here.append(inside)
        if item.text:
            inside.children.append(item.text)
    return root, by_node


def _character(found: re.Match[str]) -> str:
    """A named character as itself; what XML knows stays, and what is no name is an ampersand.

    The number of no character, such as half of one, is a replacement character: the parser would pass it on.
    """
    if number := found[2] or found[3]:
        digits = number.lstrip("0")
        code = int(digits, 10 if found[2] else 16) if 0 < len(digits) < 8 else 0
        return found[0] if 0 < code < 0xD800 or 0xE000 <= code < 0x110000 else "\ufffd"
    if found[1] in ("lt", "gt", "amp", "quot", "apos"):
        return found[0]
    if found[1] is None:
        return "&amp;"
    plain = unescape(found[0])
    return plain if len(plain) == 1 and plain not in "<>&" else " "


def _above(element: Element) -> Iterator[Element]:
    for _ in range(ANCESTORS):
        if element.parent is None:
            return
        element = element.parent
        yield element


def _near(around: Sequence[Element]) -> Iterator[Element]:
    """What is below the elements, level by level, then what is beside them, nearest first."""
    levels = [(element, [element]) for element in around]
    counts = dict.fromkeys(around, 0)
    for _ in range(DEPTH + 1):
        following = []
        for element, level in levels:
            below = [child for each in level for child in each.elements()][: DESCENDANTS - counts[element]]
            counts[element] += len(below)
            yield from below
            following.append((element, below))
        levels = following
    rows = []
    for element in around:
        if element.parent is not None:
            row = element.parent.elements()
            rows.append((row, row.index(element)))
    for distance in range(1, SIBLINGS + 1):
        for row, place in rows:
            yield from (row[at] for at in (place - distance, place + distance) if 0 <= at < len(row))


def _written(root: Element, kept: set[Element], numbers: Mapping[str, int]) -> tuple[str, dict[str, str]]:
    """The kept elements as text; those without any words of their own and at most one part are passed over."""
    inside: dict[Element, dict[Element, str]] = {element: {} for element in kept}
    choices: dict[str, str] = {}
    whole = ""
    for element in sorted(kept, key=lambda each: each.place, reverse=True):
        written = inside.pop(element)
        inner, said = [], False
        for child in element.children:
            text = written.pop(child, "") if isinstance(child, Element) else " ".join(clean(child)[:WORDS])
            said = said or (bool(text) and isinstance(child, str))
            inner += [text] if text else []
        inner += reversed(written.values())
        number, words = numbers.get(element.node), element.words()
        silent = number is None and not words and not said and len(inner) <= 1 and element is not root
        whole = "".join(inner) if silent else _tagged(element, number, words, inner)
        if number is not None:
            choices[element.node] = " ".join(whole.split()[:CHOICE_WORDS])
        above = element.parent
        while above is not None and above not in kept:
            above = above.parent
        if above is not None and whole:
            inside[above][element] = whole
    return whole, choices


def _tagged(element: Element, number: int | None, words: Sequence[str], inner: Sequence[str]) -> str:
    tag = clean_tag(element.tag)
    opening = " ".join([f"<{tag}", *([f"id={number}"] if number is not None else []), *words])
    return f"{opening}> {' '.join(inner)} </{tag}>" if inner else f"{opening} />"
