"""The page of an analysis: which mode to use, how sure that is, and what it costs.

::

    analysis.html                    opens anywhere, without network
    figures/analysis_*.svg|pdf|png   one per figure
    tables/analysis_*.csv|parquet    one per table
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planroute.analysis.wording import Words
from planroute.reporting import (
    analysis_choices,
    analysis_costs,
    analysis_modes,
    analysis_plans,
    analysis_policies,
    analysis_setup,
)
from planroute.reporting.analysis_shown import Part, amount, head, needed, written
from planroute.reporting.page import Page, Section
from planroute.reporting.report import render_page, write_page
from planroute.reporting.wording import counted, listed

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow

ANALYSIS: Final = "analysis.html"
FEW: Final = 30
"""Fewer tasks than that are said to be few."""
Found = Mapping[str, Any]

QUESTIONS: Final = {
    "use": "Which mode should I use?",
    "best mode": "Is one fixed mode the best of all?",
    "headroom": "Could choosing a mode for each task do better than one fixed mode?",
    "declaration": "When a mode is declared for each task, does the choice fit the task?",
    "execution": "Does enforcing a plan help?",
    "search": "Is search more than several attempts?",
    "structure": "Is a plan kept when nothing enforces it?",
    "quality": "Do plans that are judged good succeed more often?",
    "cost": "What is worth its cost?",
}
MARKS: Final = {
    "clear": (
        "●",
        "clear",
        "the interval leaves out 0, the corrected p is below 0.05, or what is only counted rests on enough",
    ),
    "open": ("○", "open", "may be chance: more tasks may decide it"),
    "not_run": ("–", "not run", "this run does not hold what would answer it"),
}


def write_analysis(
    folder: Path, found: Found, rows: Sequence["EpisodeRow"], published: Sequence[Mapping[str, Any]] = ()
) -> Path:
    """Write ``analysis.html``, its figures and tables into ``folder`` and return the page's path.

    ``found`` is what ``planroute.analysis.analyse`` made of ``rows``; ``published`` are values of the paper to set
    beside, as texts: ``what``, ``where``, ``domain``, ``model``, ``value``, ``ours``. Raises ``StorageError`` where
    something cannot be written.
    """
    parts: list[tuple[str, str, str, Sequence[Part]]] = [
        ("rq1", "RQ1: Was the plan kept?", "RQ1: plan kept", analysis_plans.kept(found)),
        ("rq2", "RQ2: Is there one best mode?", "RQ2: best mode", analysis_modes.ceiling(found, rows)),
        ("rq3", "RQ3: Does enforcing a plan help?", "RQ3: enforcing", analysis_choices.enforced(found)),
        ("rq4", "RQ4: Are declarations better than luck?", "RQ4: declarations", analysis_policies.declared(found)),
        ("costs", "Costs", "", analysis_costs.costs(found)),
        ("failures", "Whose failure", "", analysis_costs.failures(found)),
        ("setup", "Setup", "", analysis_setup.setup(found, rows)),
    ]
    if published:
        parts.append(("published", "Published values", "", analysis_setup.published(published)))
    sections = [
        Section(
            "conclusions",
            "Conclusions",
            "analysis_conclusions.html.j2",
            {
                "answers": _answers(found),
                "marks": [(key, *MARKS[key]) for key in MARKS],
                "parts": written([analysis_setup.names(found)], found, folder),
            },
        ),
        *(
            Section(id_, title, "analysis_part.html.j2", {"parts": written(some, found, folder)}, short)
            for id_, title, short, some in parts
        ),
    ]
    page = Page(
        title=f"analysis of {listed(sorted({row.domain for row in rows}))}",
        sentence=next(one["sentence"] for one in found["conclusions"] if one["about"] == "use"),
        cautions=_cautions(found),
        figures=_tiles(found),
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


def _answers(found: Found) -> list[dict[str, Any]]:
    """Every question with its sentences; one without any says what it needs."""
    said: dict[str, list[Mapping[str, str]]] = {about: [] for about in QUESTIONS}
    for one in found["conclusions"]:
        said.setdefault(one["about"], []).append(one)
    return [
        {
            "question": QUESTIONS.get(about, about),
            "sentences": [(*MARKS[one["sure"]][:2], one["sure"], one["sentence"]) for one in sentences]
            or [(*MARKS["not_run"][:2], "not_run", f"Not run{needed(_missing(found, about))}.")],
        }
        for about, sentences in said.items()
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
    }
    return str(reasons.get(about, ""))


def _tiles(found: Found) -> list[tuple[str, str, str]]:
    rq2, rq4, words = found["rq2"], found["rq4"], Words(found["measure"])
    if rq2["status"] != "done":
        return []
    measured = {**(found["rq3"].get("conditions") or {}), **rq2["modes"]}
    named = found["conclusions"][0].get("choice", "")
    choice = named if named in measured else rq2["best"]
    one, apart = measured[choice], ", the best fixed mode" if choice == rq2["best"] else ""
    spent, unit = found["costs"]["conditions"], found["costs"]["unit"]
    cheapest = min(spent, key=lambda name: (spent[name][unit]["mean"], name))
    tiles = [
        (
            words.plain(one["mean"]),
            f"{head(words, found['measure'])} with {choice}{apart}",
            _rests(words.interval(one, signed=False), one),
        ),
        (
            amount(round(spent[choice][unit]["mean"])),
            f"{words.unit(unit)} per task with {choice}",
            f"cheapest is {cheapest} with {amount(spent[cheapest][unit]['mean'])}",
        ),
        _left(rq2, words),
    ]
    if rq4["status"] == "done":
        policy = rq4["policies"][rq4["base"]]
        p = policy["p_one_sided_holm"]
        luck = (
            "declares one mode for every task"
            if p is None
            else f"luck alone: {words.range(policy['low'], policy['high'])}; p = {p:.2g}"
        )
        tiles.append(
            (_figure(words.points(policy["delta"])), f"gain of {rq4['base']}'s declared modes over luck", luck)
        )
    else:
        tiles.append(("–", "gain of declared modes over luck", "not run"))
    return tiles


def _left(rq2: Found, words: Words) -> tuple[str, str, str]:
    k, control = list(rq2["controls"].items())[-1]
    left = control["residual"]
    if left.get("mean") is None:
        return "–", "left for choosing a mode for each task", "too few executions to tell"
    after = "beyond" if k == "1" else f"beyond {k} attempts with"
    interval = words.interval(left, signed=True)
    return (
        _figure(words.points(left["mean"])),
        "left for choosing a mode for each task" if words.share else f"{words.name} left to save by choosing",
        f"{after} {rq2['best']} alone{', ' if interval else ''}{interval}",
    )


def _figure(text: str) -> str:
    return text.removesuffix(" points") + (" pt" if text.endswith(" points") else "")


def _rests(interval: str, one: Found) -> str:
    rests = f"{counted(one['episodes'], 'episode')} of {counted(one['tasks'], 'task')}"
    return f"{interval}, {rests}" if interval else rests


def _stand_in(found: Found) -> str:
    kinds = {"embedded": "the embedded model", "scripted": "a scripted model"}
    return listed([kind for start, kind in kinds.items() if any(one.startswith(start) for one in found["models"])])


def _cautions(found: Found) -> list[str]:
    said = []
    if found["cases"] < FEW:
        said.append(
            f"Only {counted(found['cases'], 'task')}: intervals are wide, and what is open here may be clear with more."
        )
    if found["infrastructure"]:
        said.append(
            f"Left out, since they were broken off from outside: {counted(found['infrastructure'], 'episode')}."
        )
    if not found["models"]:
        said.append("No language model took part: nothing here is about language models.")
    rq2 = found["rq2"]
    if rq2["status"] == "done":
        if rq2["executions"] < 2 and not found["measure"]["worlds"]:
            said.append("Each task was executed once in each mode: headroom cannot be told from luck.")
        sparse = [mode for mode, one in rq2["modes"].items() if one["sparse"]]
        if sparse:
            said.append(f"Fewer than 10 episodes: {listed(sparse)}.")
    return said
