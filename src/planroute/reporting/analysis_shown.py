"""What a section of the analysis page is made of: notes, tables with their lines, figures with their files."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.errors import StorageError
from planroute.reporting.figures import draw, save
from planroute.reporting.study_files import write_lines

Cell = str | tuple[str, str]
"""What a cell says, and what it says beneath in small."""
NOTHING: Final = "–"
SPARSE: Final = "†"
PREFIX: Final = "analysis_"


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

    kind: str = "table"

    @property
    def cells(self) -> list[list[tuple[str, str]]]:
        """Every cell as what it says and what stands beneath."""
        return [[(cell, "") if isinstance(cell, str) else cell for cell in row] for row in self.rows]


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


def not_run(what: str, why: str) -> Note:
    """Say that ``what`` was not run, and what it needs."""
    return Note(f"{what}: not run{needed(why)}.", missing=True)


def needed(why: str) -> str:
    """What goes after ``not run``: ``; it needs ...``, or the reason."""
    return f"; {'it ' if why.startswith('needs') else ''}{why}" if why else ""


def written(parts: Sequence[Part], found: Mapping[str, Any], folder: Path) -> list[dict[str, Any]]:
    """Write the files of ``parts`` under ``folder`` and return what their template shows.

    Raises ``StorageError`` where a file cannot be written.
    """
    shown: list[dict[str, Any]] = []
    for part in parts:
        one: dict[str, Any] = {"kind": part.kind, "part": part}
        if isinstance(part, Table):
            if part.lines:
                write_lines(folder / "tables", f"{PREFIX}{part.name}", part.lines)
        elif isinstance(part, Drawing):
            one["source"] = _drawn(part, found, folder / "figures")
        shown.append(one)
    return shown


def _drawn(part: Drawing, found: Mapping[str, Any], folder: Path) -> str | None:
    figure = draw(part.name, found, {})
    if figure is None:
        return None
    try:
        svg = save(figure, folder, f"{PREFIX}{part.name}")[0].read_bytes()
    except OSError as error:
        raise StorageError(f"cannot write {folder / part.name}: {error.strerror or error}") from None
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def estimated(words: Words, found: Mapping[str, Any] | None) -> tuple[str, str]:
    """A value over its interval, marked where it rests on few episodes."""
    value, between = _cell(found, words.plain, lambda one: words.interval(one, signed=False))
    return (f"{value} {SPARSE}" if found and found.get("sparse") and value != NOTHING else value), between


def differing(words: Words, found: Mapping[str, Any] | None) -> tuple[str, str]:
    """A difference over its interval."""
    return _cell(found, words.points, lambda one: words.interval(one, signed=True))


def _cell(
    found: Mapping[str, Any] | None,
    said: Callable[[float | None], str],
    between: Callable[[Mapping[str, Any]], str],
) -> tuple[str, str]:
    if not found or found.get("mean") is None:
        return NOTHING, ""
    return said(found["mean"]), between(found).replace(" ", "\u00a0")


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
