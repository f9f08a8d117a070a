"""What a section of the analysis page is made of: notes, tables with their lines, figures with their files."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup, escape

from planroute.analysis.wording import Words
from planroute.reporting.figures import draw, save
from planroute.reporting.placing import within
from planroute.reporting.study_files import write_lines

Cell = str | tuple[str, str]
"""What a cell says, and what it says beneath in small."""
NOTHING: Final = "–"
SPARSE: Final = "†"
FEW: Final = 10
"""Fewer episodes than that, or tasks where tasks are compared, are marked as sparse."""
FOOTNOTE: Final = f"{SPARSE} rests on fewer than {FEW} episodes, or than {FEW} tasks where tasks are compared."
EMPTY: Final = {("0", ""), ("0 %", ""), (NOTHING, "")}
PREFIX: Final = "analysis_"
MINUS: Final = re.compile(r"(?<![\w.,)])-(?=\d)")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: what is shown, and under ``name`` the same as numbers. ``apart`` are rows that compare with no other."""

    name: str
    title: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    lines: Sequence[Mapping[str, Any]]
    apart: frozenset[int] = field(default_factory=frozenset)
    texts: bool = False
    """Its cells are texts rather than numbers."""
    folded: bool = False
    """Shown only when asked for, since a figure says the same."""

    optional: frozenset[str] = field(default_factory=frozenset)
    """Heads of columns that are left out where they say 0 or nothing in every row."""

    kind: str = "table"

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Every cell as what it says and what stands beneath, in the columns that are shown."""
        return [[_whole(row[column]) for column in self.columns] for row in self.rows]

    @property
    def columns(self) -> list[int]:
        """Places of the columns that are shown."""
        return [
            place
            for place, name in enumerate(self.heads)
            if name not in self.optional or any(_whole(row[place]) not in EMPTY for row in self.rows)
        ]

    @property
    def sparse(self) -> bool:
        """Whether any cell is marked as sparse."""
        return any(SPARSE in text for row in self.cells for text, _ in row)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of ``figures.KINDS``; where it cannot be drawn, ``otherwise`` says why."""

    name: str
    title: str
    caption: str
    otherwise: str

    kind: str = "figure"


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence between the parts; ``missing`` where it says what was not run and what that needs."""

    text: str
    missing: bool = False

    kind: str = "note"


@dataclass(frozen=True, slots=True)
class Terms:
    """Words and what they mean."""

    title: str
    terms: Sequence[tuple[str, str]]

    kind: str = "terms"


Part = Table | Drawing | Note | Terms


def _whole(cell: Cell) -> tuple[str, str]:
    return (cell, "") if isinstance(cell, str) else cell


def typeset(text: str) -> Markup:
    """``text`` with true minus signs, and with places in long names where a line may break."""
    return escape(minus(text)).replace("_", Markup("_<wbr>"))


def minus(text: str) -> str:
    """``text`` with a true minus sign before every number below 0."""
    return MINUS.sub("\u2212", text)


def said(parts: Iterable[Part]) -> str:
    """All that ``parts`` say, to find out which words a page uses."""
    found: list[str] = []
    for part in parts:
        if isinstance(part, Table):
            found += [part.title, part.caption, *part.heads]
            found += [text for row in part.cells for cell in row for text in cell]
        elif isinstance(part, Drawing):
            found += [part.title, part.caption]
        elif isinstance(part, Note):
            found.append(part.text)
        else:
            found += [text for term in part.terms for text in term]
    return "\n".join(found)


def not_run(what: str, why: str) -> Note:
    """Say that ``what`` was not run, and what it needs."""
    return Note(f"{what}: not run{needed(why)}.", missing=True)


def needed(why: str) -> str:
    """What goes after ``not run``: ``; it needs ...``, or the reason."""
    return f"; {'it ' if why.startswith('needs') else ''}{why}" if why else ""


def written(parts: Sequence[Part], found: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Write the files of ``parts`` under ``folder`` and return what their template shows.

    Raises ``InputError`` where a folder of theirs is a link, ``StorageError`` where a file cannot be written.
    """
    shown: list[dict[str, Any]] = []
    for part in parts:
        one: dict[str, Any] = {"kind": part.kind, "part": part} | _typeset(part)
        if isinstance(part, Table):
            if part.lines:
                write_lines(within(folder, "tables"), f"{PREFIX}{part.name}", part.lines)
        elif isinstance(part, Drawing):
            one["source"] = _drawn(part, found, within(folder, "figures"))
        shown.append(one)
    return shown


def _typeset(part: Part) -> dict[str, Any]:
    """The texts of ``part`` as the page shows them."""
    if isinstance(part, Note):
        return {"text": typeset(part.text)}
    if isinstance(part, Terms):
        return {"terms": [(typeset(name), typeset(about)) for name, about in part.terms]}
    if isinstance(part, Drawing):
        return {"caption": typeset(part.caption)}
    return {
        "caption": typeset(part.caption),
        "heads": [typeset(part.heads[column]) for column in part.columns],
        "cells": [[(typeset(text), typeset(small)) for text, small in row] for row in part.cells],
        "footnote": FOOTNOTE if part.sparse else "",
    }


def _drawn(part: Drawing, found: Mapping[str, Any], folder: Path) -> str | None:
    figure = draw(part.name, found, {})
    if figure is None:
        return None
    svg = save(figure, folder, f"{PREFIX}{part.name}")[0].read_bytes()
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def estimated(words: Words, found: Mapping[str, Any] | None) -> tuple[str, str]:
    """A value over its interval, or over its count where all episodes went one way; marked where those are few."""
    if not found or found.get("mean") is None:
        return NOTHING, ""
    return few(words.plain(found["mean"]), found.get("sparse")), _spread(words, found).replace(" ", "\u00a0")


def _spread(words: Words, found: Mapping[str, Any]) -> str:
    if words.share and found["mean"] in (0, 1) and found.get("episodes"):
        return f"{round(found['mean'] * found['episodes'])} of {found['episodes']}"
    return words.interval(found, signed=False)


def differing(words: Words, found: Mapping[str, Any] | None) -> tuple[str, str]:
    """A difference over its interval; marked where it rests on few tasks."""
    if not found or found.get("mean") is None:
        return NOTHING, ""
    interval = words.interval(found, signed=True)
    if found["low"] is not None and found["low"] == found["high"]:
        interval = f"on each of {found['tasks']} tasks" if found.get("tasks") else ""
    tasks = found.get("tasks", found.get("n"))
    return few(pointed(words, found["mean"]), tasks is not None and tasks < FEW), interval.replace(" ", "\u00a0")


def pointed(words: Words, value: float | None) -> str:
    """A difference with its sign: ``+6 points``, ``-1 point``."""
    text = words.points(value)
    return text.removesuffix("s") if text in ("+1 points", "-1 points") else text


def few(text: str, sparse: bool | None) -> str:
    """``text``, marked where it rests on few episodes or tasks."""
    return f"{text}\u00a0{SPARSE}" if sparse and text != NOTHING else text


def turned(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A difference seen from the other side."""
    if not found or found.get("mean") is None:
        return None
    low, high = found.get("low"), found.get("high")
    return {
        **found,
        "mean": -found["mean"],
        "low": None if high is None else -high,
        "high": None if low is None else -low,
    }


def head(words: Words, measure: Mapping[str, Any]) -> str:
    """The head of a column of values: what is measured, and which way is better where that is not plain."""
    return "success" if words.share else f"{words.name} ({measure['better']} is better)"


def line(name: str, found: Mapping[str, Any] | None) -> dict[str, Any]:
    """An estimate as columns of a table: ``name`` and its interval."""
    one = found or {}
    return {name: one.get("mean"), f"{name}_low": one.get("low"), f"{name}_high": one.get("high")}


def counts(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What an estimate rests on, as columns of a table."""
    one = found or {}
    return {"episodes": one.get("episodes", 0), "tasks": one.get("tasks", 0), "sparse": bool(one.get("sparse"))}


def amount(value: float | None) -> str:
    """An amount with as many digits as it needs: ``12,431``, ``7.6``, ``0.04``."""
    if value is None:
        return NOTHING
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 1 else 2
    return f"{value:,.{digits}f}"


def share(value: float | None) -> str:
    """A share in per cent."""
    return NOTHING if value is None else f"{100 * value:.0f} %"
