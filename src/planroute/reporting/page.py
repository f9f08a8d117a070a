"""A page as its domain composes it: what stands at its top, then sections, each with its own template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a page. ``template`` is given ``values`` under their names."""

    id: str
    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    short: str = ""
    """The title in the row of links, where the whole one is too long for it."""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. ``data`` is what the page's script shows instead of the static selection, or None."""

    title: str
    sentence: str
    cautions: Sequence[str]
    figures: Sequence[tuple[str, str, str]]
    sections: Sequence[Section]
    data: Mapping[str, Any] | None = None
