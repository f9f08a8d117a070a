"""The report of experiments: every number of the paper beside ours, figures, tables, in one HTML file.

::

    report.html             opens anywhere, without network
    figures/*.svg|pdf|png   one per figure of an experiment's file
    tables/*.csv|parquet    one per table of an experiment's file, and claims
"""

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from planroute.reporting.figures import draw, save
from planroute.reporting.page import Page, Section
from planroute.reporting.placing import within
from planroute.reporting.report import render_page, write_page
from planroute.reporting.study_files import Studied, claims, model_lines, read_study, table, write_lines
from planroute.reporting.wording import label, number

VERDICTS: Sequence[tuple[str, str]] = (
    ("reproduced", "close to the paper's value, on a figure that nothing was fitted to"),
    ("in-sample", "close, on a figure that the calibration was fitted to: no evidence"),
    ("differs", "not close"),
    ("setting", "given by the paper and in force here: no result"),
    ("holds", "a direction that holds"),
    ("fails", "a direction that does not hold"),
    ("context", "the paper's value is of a model that did not run here; not judged"),
    ("not_run", "nothing of ours to compare"),
)


TILES: Sequence[str] = ("reproduced", "in-sample", "differs", "holds", "fails")
"""What stands in large figures at the top."""


def write_study_report(folder: Path) -> Path:
    """Write figures, tables and ``report.html`` of the experiments in ``folder``, and return the report's path.

    Raises ``InputError`` where the folder holds no finished experiment or a file is damaged, ``StorageError`` where
    something cannot be written.
    """
    studied = read_study(folder)
    tables, drawn = within(folder, "tables"), within(folder, "figures")
    lines = claims(studied)
    write_lines(tables, "claims", lines)
    sections = [Section("numbers", "Every number", "study_claims.html.j2", _all_claims(lines))]
    for one in studied:
        for spec in one.definition.get("tables", []):
            write_lines(tables, f"{one.name.lower()}_{spec['name']}", table(one.result, spec))
        figures = [_figure(one, spec, drawn) for spec in one.definition.get("figures", [])]
        if found := model_lines(one.result):
            write_lines(tables, f"{one.name.lower()}_models", found)
        sections.append(Section(one.name.lower(), one.name, "study_experiment.html.j2", _experiment(one, figures)))
    page = Page(
        title=f"{len(studied)} experiments" if len(studied) > 1 else f"experiment {studied[0].name}",
        sentence=_sentence(lines),
        cautions=_cautions(studied),
        figures=_headline(lines),
        sections=sections,
        data={},
    )
    version = next((one.version for one in studied if one.version), "")
    return write_page(folder, render_page(page, version, ("style.css", "study.css"), "study.js", images=True))


def _figure(one: Studied, spec: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    figure = draw(spec["kind"], one.result, spec.get("with", {}))
    name = f"{one.name.lower()}_{spec['name']}"
    if figure is None:
        return {"caption": spec["caption"], "source": None, "name": name}
    svg = save(figure, folder, name)[0].read_bytes()
    return {
        "caption": spec["caption"],
        "source": f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}",
        "name": name,
    }


def _experiment(one: Studied, figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    result = one.result
    ran = [f"{key}: {value}" for key, value in _ran(one)]
    return {
        "result": result,
        "ran": ran,
        "figures": figures,
        "tables": [_shown(result, spec) for spec in one.definition.get("tables", [])],
        "claims": [_cell(line) for line in claims([one])],
        "models": _models(result),
        "not_run": {named(arm): why for arm, why in result.get("not_run", {}).items()},
        "arm_notes": {named(arm): note for arm, note in result.get("arm_notes", {}).items()},
    }


def _models(result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Every number that an interface study found, a column for each model; ``None`` where none ran."""
    lines = model_lines(result)
    if not lines:
        return None
    names = [name for name in lines[0] if name != "figure"]
    return {
        "names": names,
        "rows": [
            [line["figure"], *("–" if line[name] is None else _short(line[name]) for name in names)] for line in lines
        ],
    }


def _ran(one: Studied) -> list[tuple[str, str]]:
    result = one.result
    seeds = [str(seed) for seed in result.get("seeds", [])]
    found = [("seeds", ", ".join(seeds[:8]) + (" …" if len(seeds) > 8 else ""))]
    if "episodes" in result:
        found += [("episodes", number(result["episodes"])), ("messages", str(result.get("communication", "")))]
    if result.get("models"):
        found.append(("models", ", ".join(map(str, result["models"]))))
    billed = [part for cell in one.billing.get("cells", {}).values() for part in cell.values()]
    if billed:
        found.append(("model calls that a model answered", number(sum(part.get("billed_calls", 0) for part in billed))))
    return found


def _shown(result: Mapping[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """A table with each value and its interval in one cell."""
    lines = table(result, spec)
    columns = list(spec["columns"])
    heads = ["condition", *(["scenario"] if any("scenario" in line for line in lines) else []), *columns]
    rows = [
        [
            named(line["condition"]),
            *([line["scenario"]] if "scenario" in heads else []),
            *(_with_interval(line[column], line[f"{column}_low"], line[f"{column}_high"]) for column in columns),
        ]
        for line in lines
    ]
    return {"caption": spec["caption"], "heads": [head.replace("_", " ") for head in heads], "rows": rows}


def named(condition: str) -> str:
    """A condition as a person reads it: ``Routed, hybrid``."""
    first, _, rest = condition.partition("_")
    return f"{label(first)}, {rest.lower()}" if first == "ROUTED" and rest else label(condition)


def _all_claims(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = Counter(line["verdict"] for line in lines)
    return {
        "claims": [_cell(line) for line in lines],
        "verdicts": [(name, about, counts[name]) for name, about in VERDICTS if counts[name]],
    }


def _cell(line: Mapping[str, Any]) -> dict[str, Any]:
    direction = line["kind"] == "direction"
    numbers = [line[name] for name in ("paper", "paper_low", "paper_high") if line[name] is not None]
    return {
        **line,
        "paper": "" if direction else _as_printed(numbers),
        "ours": line["values"] if direction else _with_interval(line["ours"], line["low"], line["high"]),
        "fresh": _with_range(line["fresh"], line["fresh_low"], line["fresh_high"]),
        "numbers": " ".join(f"{x:.10g}" for number_ in numbers for x in (number_, 100 * number_)),
    }


def _as_printed(values: Sequence[float]) -> str:
    """A value of the paper and its interval with the digits that the paper prints."""
    shown = [f"{value:,.10g}".replace("-", "−") for value in values]
    return f"{shown[0]} [{', '.join(shown[1:])}]" if len(shown) > 1 else "".join(shown)


def _with_range(mean: float | None, low: float | None, high: float | None) -> str:
    if mean is None or low is None or high is None:
        return ""
    return f"{_short(mean)} ({_short(low)} to {_short(high)})"


def _with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return _short(value) if low is None or high is None else f"{_short(value)} [{_short(low)}, {_short(high)}]"


def _short(value: float) -> str:
    """A number with about three significant digits."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    size = abs(value)
    digits = 0 if size >= 1000 or value == int(value) else 1 if size >= 100 else 2 if size >= 10 else 3
    return number(value, digits if size >= 0.01 or value == 0 else 5)


def _sentence(lines: Sequence[Mapping[str, Any]]) -> str:
    numbers = Counter(line["verdict"] for line in lines if line["kind"] == "number")
    directions = Counter(line["verdict"] for line in lines if line["kind"] == "direction")
    judged = numbers["reproduced"] + numbers["in-sample"] + numbers["differs"]
    parts = []
    if judged:
        parts.append(
            f"Of {judged} numbers of the paper that can be judged here, {numbers['reproduced']} are reproduced on "
            f"figures that nothing was fitted to, {numbers['in-sample']} are close where the calibration was fitted to "
            f"them, and {numbers['differs']} differ."
        )
    ran = directions["holds"] + directions["fails"]
    if ran:
        parts.append(f"{directions['holds']} of {ran} directions hold.")
    return (
        " ".join(parts) or "No number of the paper can be judged here: its values are of other models, or nothing ran."
    )


def _headline(lines: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    counts = Counter(line["verdict"] for line in lines)
    return [
        (number(counts[name]), name.replace("_", " "), about)
        for name, about in VERDICTS
        if name in TILES and counts[name]
    ]


def _cautions(studied: Sequence[Studied]) -> list[str]:
    found = []
    missing = [one.name for one in studied if one.result["status"] == "not_run"]
    if missing:
        found.append(f"Not run: {', '.join(missing)}. They need a language model.")
    partly = [one.name for one in studied if one.result["status"] == "partly"]
    if partly:
        found.append(f"Partly run: {', '.join(partly)}. Arms that need a language model are left out.")
    broken = [one.name for one in studied for t in one.result.get("conditions", {}).values() if t.get("infrastructure")]
    if broken:
        found.append(f"Episodes that the infrastructure broke off are left out: {', '.join(sorted(set(broken)))}.")
    sliced = [one.name for one in studied if one.result.get("slice")]
    if sliced:
        found.append(f"A slice of the whole: {', '.join(sliced)}.")
    return found
