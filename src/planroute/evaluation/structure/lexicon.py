"""Lexicons: what acts and things are called in one kind of environment, kept as data beside this module."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from planroute.errors import InputError

NAMES = ("household", "shell", "web", "generic")
Match = Literal["things", "anchors", "overlap"]


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """One kind of environment.

    ``spoken`` finds a verb, ``boundary`` one at the beginning of a clause, ``purpose`` what only says how or what for.

    ``match`` says how a unit's words are held against an action: ``things`` compares object and places by kind and
    number, ``anchors`` looks for the names of code that the unit mentions, ``overlap`` counts shared words. The other
    fields are explained where they are written, in the files under ``lexicons``.
    """

    name: str
    match: Match
    verbs: Mapping[str, str]
    completed_by: Mapping[str, frozenset[str]]
    after: Mapping[str, str]
    looking: frozenset[str]
    looks: frozenset[str]
    places: frozenset[str]
    implied: frozenset[str]
    sharing: frozenset[str]
    fresh: frozenset[str]
    whole: Mapping[str, frozenset[str]]
    shown_by: Mapping[str, str]
    purposes: tuple[str, ...]
    by_name_only: frozenset[str]
    determiners: frozenset[str]
    others: frozenset[str]
    pronouns: frozenset[str]
    twice: frozenset[str]
    results: frozenset[str]
    broader: Mapping[str, frozenset[str]]
    rewrites: tuple[tuple[re.Pattern[str], str], ...]
    commands: tuple[tuple[re.Pattern[str], str], ...]
    leads: re.Pattern[str]
    nothing_asked: tuple[re.Pattern[str], ...]
    condition: re.Pattern[str]
    range: re.Pattern[str]
    start: re.Pattern[str]
    spoken: re.Pattern[str]
    purpose: re.Pattern[str]
    boundary: re.Pattern[str]
    open_verbs: bool = False

    def completes(self, verb: str) -> frozenset[str]:
        """The classes of act that complete a unit of class ``verb``."""
        return self.completed_by.get(verb, frozenset({verb}))


@cache
def lexicon(name: str) -> Lexicon:
    """Load the lexicon ``name``. Raises ``InputError`` where there is none."""
    if name not in NAMES:
        raise InputError(f"{name!r} is no lexicon", hint=f"choose from {', '.join(NAMES)}")
    return _build(_load(name), _load("common"))


def _load(name: str) -> dict[str, Any]:
    text = files("planroute.evaluation.structure").joinpath("lexicons", f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


def _build(data: Mapping[str, Any], common: Mapping[str, Any]) -> Lexicon:
    kinds, things = data["kinds"], data["things"]
    forms = [(form, verb) for verb, surface in data["verbs"].items() for form in surface]
    forms.sort(key=lambda pair: (-len(pair[0]), pair[0]))
    spoken = "|".join(re.escape(form) for form, _ in forms)
    leads = "|".join(common["leads"])

    def named(table: Mapping[str, list[str]]) -> dict[str, frozenset[str]]:
        return {key: frozenset(values) for key, values in table.items()}

    return Lexicon(
        name=data["name"],
        match=data["match"],
        verbs=dict(forms),
        completed_by=named(data["completed_by"]),
        after=dict(data.get("after", {})),
        looking=frozenset(kinds["looking"]),
        looks=frozenset(kinds["looks"]),
        places=frozenset(kinds["places"]),
        implied=frozenset(kinds["implied"]),
        sharing=frozenset(kinds.get("sharing", ())),
        fresh=frozenset(kinds.get("fresh", ())),
        whole=named(data.get("whole", {})),
        shown_by=dict(data.get("shown_by", {})),
        purposes=tuple(data.get("purposes", {}).get("marks", ())),
        by_name_only=frozenset(data.get("by_name_only", {}).get("acts", ())),
        determiners=frozenset(things["determiners"]),
        others=frozenset(things["others"]),
        pronouns=frozenset(things["pronouns"]),
        twice=frozenset(things.get("twice", ())),
        results=frozenset(things["results"]),
        broader=named(data["broader"]),
        rewrites=tuple((re.compile(r["pattern"], re.IGNORECASE), r["into"]) for r in data.get("rewrites", ())),
        commands=tuple((re.compile(r["pattern"]), r["verb"]) for r in data.get("commands", ())),
        leads=re.compile(rf"^(?:(?:{leads})(?=\W|$)|\s)+"),
        nothing_asked=tuple(re.compile(p) for p in [*common["nothing_asked"], *data.get("nothing_asked", ())]),
        condition=re.compile(common["condition"]),
        range=re.compile(common["range"]),
        start=re.compile(common["start"]),
        open_verbs=bool(data.get("open_verbs", False)),
        purpose=re.compile(rf"\s+(?:by \w+ing\b|until\b|so that\b|(?:in order )?to (?:{spoken})(?=\W|$)).*$"),
        spoken=re.compile(rf"(?:{spoken})(?!\w)"),
        boundary=re.compile(
            rf"(?:^|[.;]\s+|,?\s+\b(?:and|then)\b\s+(?:then\s+)?|,\s+)(?:(?:{leads})\s+){{0,5}}(?P<verb>{spoken})(?=\W|$)"
        ),
    )
