"""The page of an analysis: which mode to use, how sure that is, and what it costs.

::

    analysis.html                    opens anywhere, without network
    figures/analysis_*.svg|pdf|png   one per figure
    tables/analysis_*.csv|parquet    one per table
"""

import re
import stat
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planroute.errors import InputError
from planroute.reporting import (
    analysis_choices,
    analysis_costs,
    analysis_modes,
    analysis_plans,
    analysis_policies,
    analysis_setup,
    analysis_top,
)
from planroute.reporting.analysis_shown import Part, needed, said, typeset, written
from planroute.reporting.page import Page, Section
from planroute.reporting.report import render_page, write_page
from planroute.reporting.wording import listed

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow

ANALYSIS: Final = "analysis.html"
Found = Mapping[str, Any]
TITLE: Final = "analysis of "
_HEAD: Final = 1 << 16
"""Bytes of a page in which its title stands."""
_OURS: Final = re.compile(rb"<title>" + TITLE.encode() + rb"[^<]* \xe2\x80\x93 planroute</title>")

QUESTIONS: Final = {
    "use": "Which mode should I use?",
    "best mode": "Is one fixed mode the best of all?",
    "headroom": "Could choosing a mode for each task do better than one fixed mode?",
    "declaration": "When a mode is declared for each task, does the choice fit the task?",
    "execution": "Does enforcing a plan help?",
    "search": "Is search more than several attempts?",
    "structure": "Is a plan kept when nothing enforces it?",
    "quality": "Do plans that are judged good succeed more often?",
    "handoff": "Whose failure is it?",
    "cost": "What is worth its cost?",
}
MARKS: Final = {
    "clear": ("●", "clear", "the interval, or the corrected p, rules luck out, or what is counted rests on enough"),
    "open": ("○", "not clear", "luck is not ruled out, more tasks may decide"),
    "not_run": ("–", "not run", "this run does not hold what would answer it"),
}


def refuse_other_page(folder: Path) -> None:
    """Raise ``InputError`` where ``analysis.html`` in ``folder`` is anything but a page of an analysis."""
    target = folder / ANALYSIS
    hint = f"move it away: the page of the analysis is called {ANALYSIS}"
    try:
        if not stat.S_ISREG(target.stat().st_mode):
            raise InputError(f"{target} is not a file", hint=hint)
        with target.open("rb") as file:
            head = file.read(_HEAD)
    except FileNotFoundError:
        if target.is_symlink():
            raise InputError(f"{target} is a link to nothing", hint=hint) from None
        return
    except OSError as error:
        raise InputError(f"cannot read {target}: {error.strerror or error}", hint=hint) from None
    if not _OURS.search(head):
        raise InputError(f"{target} is not a page that planroute wrote, and is kept", hint=hint)


def write_analysis(
    folder: Path, found: Found, rows: Sequence["EpisodeRow"], published: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write ``analysis.html``, its figures and tables into ``folder`` and return the page's path.

    ``found`` is what ``planroute.analysis.analyse`` made of ``rows``; ``published`` are values of the paper to set
    beside, as texts: ``what``, ``where``, ``domain``, ``model``, ``value``, ``ours``. Raises ``InputError`` where a
    file of that name is no such page, ``StorageError`` where something cannot be written.
    """
    refuse_other_page(folder)
    names = analysis_setup.names(found)
    cautions, tiles = analysis_top.cautions(found), analysis_top.tiles(found)
    parts: list[tuple[str, str, str, Sequence[Part]]] = [
        ("rq1", "RQ1: Was the plan kept?", "RQ1: plan kept", analysis_plans.kept(found)),
        ("rq2", "RQ2: Is there one best mode?", "RQ2: best mode", analysis_modes.ceiling(found, rows)),
        ("rq3", "RQ3: Does enforcing a plan help?", "RQ3: enforcing", analysis_choices.enforced(found)),
        ("rq4", "RQ4: Are declarations better than luck?", "RQ4: declarations", analysis_policies.declared(found)),
        ("costs", "Costs", "", analysis_costs.costs(found)),
        ("failures", "Whose failure", "", analysis_costs.failures(found)),
    ]
    used = [said([names, *(part for *_, some in parts for part in some)]), *cautions]
    used += [text for tile in tiles for text in tile] + [one["sentence"] for one in found["conclusions"]]
    parts.append(("setup", "Setup", "", analysis_setup.setup(found, rows, "\n".join(used))))
    if published:
        parts.append(("published", "Published values", "", analysis_setup.published(published)))
    first = next(one for one in found["conclusions"] if one["about"] == "use")
    sections = [
        Section(
            "conclusions",
            "Conclusions",
            "analysis_conclusions.html.j2",
            {
                "paper": analysis_setup.PAPER,
                "answers": _answers(found, first),
                "marks": [(key, *MARKS[key]) for key in MARKS],
                "dashes": analysis_setup.DASHES,
                "parts": written([names], found, folder),
            },
        ),
        *(
            Section(id_, title, "analysis_part.html.j2", {"parts": written(some, found, folder)}, short)
            for id_, title, short, some in parts
        ),
    ]
    page = Page(
        title=f"{TITLE}{listed(sorted({row.domain for row in rows}))}",
        sentence=typeset(f"{MARKS[first['sure']][0]} {first['sentence']}"),
        cautions=[typeset(caution) for caution in cautions],
        figures=[(typeset(value), typeset(what), typeset(against)) for value, what, against in tiles],
        sections=sections,
    )
    styles = ("style.css", "study.css", "analysis.css")
    text = render_page(page, _version(), styles, "study.js", stand_in=_stand_in(found) or None, images=True)
    return write_page(folder, text, ANALYSIS)


def _version() -> str:
    try:
        return version("planroute")
    except PackageNotFoundError:
        return ""


def _answers(found: Found, first: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every question with its sentences but the ``first``, which heads the page; one without any says what it needs."""
    told: dict[str, list[Mapping[str, str]]] = {about: [] for about in QUESTIONS}
    for one in found["conclusions"]:
        told.setdefault(one["about"], []).append(one)
    if not told["handoff"] and found["handoff"]["status"] == "done":
        del told["handoff"]
    return [
        {
            "question": QUESTIONS.get(about, about),
            "sentences": [
                (*MARKS[one["sure"]][:2], one["sure"], typeset(one["sentence"]))
                for one in sentences
                if one is not first
            ]
            or [(*MARKS["not_run"][:2], "not_run", typeset(f"Not run{needed(_missing(found, about))}."))],
        }
        for about, sentences in told.items()
        if sentences != [first]
    ]


def _missing(found: Found, about: str) -> str:
    """Why a question has no answer."""
    if found["rq2"]["status"] != "done" and about in ("best mode", "headroom", "execution", "quality"):
        return str(found["rq2"]["why"])
    rq3 = found["rq3"]
    reasons = {
        "execution": rq3.get("why", ""),
        "search": rq3.get("why") or (rq3.get("rollouts") or {}).get("why", ""),
        "quality": (found["rq2"].get("quality") or {}).get("why", ""),
        "handoff": found["handoff"].get("why", ""),
    }
    return str(reasons.get(about, ""))


def _stand_in(found: Found) -> str:
    kinds = {"embedded": "the embedded model", "scripted": "a scripted model"}
    return listed([kind for start, kind in kinds.items() if any(one.startswith(start) for one in found["models"])])
