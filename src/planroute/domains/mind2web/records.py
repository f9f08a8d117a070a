"""A task of Mind2Web as it was annotated: pages, candidate elements, and what was done to which of them.

Source: Mind2Web (arXiv 2306.06070), section 2 and the fields of its released files.
"""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

OPERATIONS: Final = ("CLICK", "TYPE", "SELECT")
"""What can be done to an element; hovering and pressing Enter are annotated as CLICK."""

LENGTHS: Final = ((1, 3), (4, 5), (6, 7), (8, 10))
"""Bins of the number of annotated steps; what is longer goes into one more."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done to an element: ``op`` is one of ``OPERATIONS``, ``value`` what is typed or selected."""

    op: str
    value: str = ""

    def __str__(self) -> str:
        return f"{self.op} {self.value}".strip()


@dataclass(frozen=True, slots=True)
class Candidate:
    """An element that may be the one to act on.

    ``rank`` (from 0) and ``score`` are a candidate generator's, where the record has them. ``attributes`` are kept
    where the page does not hold the element.
    """

    node: str
    tag: str = ""
    rank: int | None = None
    score: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Markup:
    """The HTML of a page, packed: a whole test split fits into memory."""

    packed: bytes = field(repr=False)

    @classmethod
    def of(cls, html: str) -> "Markup":
        """Pack ``html``."""
        return cls(zlib.compress(html.encode("utf-8", "replace"), 1))

    @property
    def html(self) -> str:
        """The page's text."""
        return zlib.decompress(self.packed).decode()


@dataclass(frozen=True, slots=True)
class Step:
    """One annotated step: the page before it, the elements that are right, the others, and the operation.

    ``description`` is the step in words, ``[tag] text -> OP: value``; ``previous`` are those of the steps before it.
    A step may have no right element: where the page lost it, nothing can be right, and the step counts all the same.
    """

    uid: str
    markup: Markup
    operation: Operation
    positives: tuple[Candidate, ...]
    negatives: tuple[Candidate, ...]
    description: str
    previous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WebTask:
    """All steps of one annotation. ``split`` is read off the file's name, empty where it says nothing."""

    id: str
    goal: str
    website: str
    domain: str
    subdomain: str
    steps: tuple[Step, ...]
    split: str = ""

    @property
    def category(self) -> str:
        """Domain and subdomain, as the benchmark groups its tasks."""
        return " / ".join(part for part in (self.domain, self.subdomain) if part) or "unknown"

    @property
    def length(self) -> str:
        """The bin of the number of steps."""
        count = len(self.steps)
        return next((f"{low}-{high}" for low, high in LENGTHS if low <= count <= high), f"{LENGTHS[-1][1] + 1}+")

    @property
    def unsolvable(self) -> int:
        """Steps that have no right element."""
        return sum(not step.positives for step in self.steps)

    def sha256(self) -> str:
        """A hash of everything in it that can change an episode."""
        digest = hashlib.sha256(json.dumps([self.id, self.goal, self.website, self.domain, self.subdomain]).encode())
        for step in self.steps:
            candidates = [
                [c.node, c.tag, c.rank, c.score, dict(c.attributes)] for c in (*step.positives, *step.negatives)
            ]
            told = [step.uid, str(step.operation), len(step.positives), candidates, step.description, step.previous]
            digest.update(json.dumps(told).encode())
            digest.update(step.markup.html.encode())
        return digest.hexdigest()
