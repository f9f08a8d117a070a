"""``planroute analyse``: which mode to use, how sure that is, and what it costs, from the rows of any run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import Json
from planroute.cli.paths import named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from planroute.episode import EpisodeRow

QUALITY = "quality.json"
BEST_PLAN = 3
"""The highest score that a judge gives to a plan; the lowest is 0."""


def analyse(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Folder of a run or of an experiment, or a Parquet table of episodes.", parser=named
        ),
    ],
    measure: Annotated[
        str | None,
        typer.Option(help="success, or a metric. Default: success, else the domain's cost."),
    ] = None,
    better: Annotated[str | None, typer.Option(help="Which way a metric is better: more or less.")] = None,
    json: Json = False,
) -> None:
    """Say which mode to use, how sure that is and what it costs: ceilings, controls for luck, declarations, structure.

    Writes analysis.html beside the run. What lacks a condition says what it needs.
    """
    from planroute.analysis import analyse as analysed
    from planroute.analysis import measure_of
    from planroute.cli.show import print_json
    from planroute.errors import InputError
    from planroute.reporting.analysis import refuse_other_page, write_analysis

    if better is not None and better not in ("more", "less"):
        raise InputError(f"--better {better!r} is unknown", hint="choose more or less")
    rows, folder = rows_of(run)
    quality = quality_of(folder, rows)
    refuse_other_page(folder)
    chosen = measure_of(rows, measure, "more" if better == "more" else "less" if better == "less" else None)
    found = analysed(rows, chosen, quality=quality)
    page = write_analysis(folder, found, rows)
    if json:
        print_json(found)
    else:
        print_conclusions(found)
        typer.echo(f"Analysis: {page}")


def rows_of(run: Path) -> tuple[list["EpisodeRow"], Path]:
    """Return the rows of ``run`` and the folder that it is in. Raises ``InputError`` where there are none."""
    from planroute.errors import InputError
    from planroute.runs.folder import CELLS, RunFolder
    from planroute.runs.pack import PACK
    from planroute.runs.stored import read_row
    from planroute.runs.table import read_rows

    if run.is_file():
        return read_rows(run), run.parent
    if (run / "rows.parquet").is_file():
        return read_rows(run / "rows.parquet"), run
    rows = [read_row(cell["row"]) for cell in RunFolder(run).cells()]
    if not rows:
        if (run / PACK).is_file():
            raise InputError(f"the episodes of {run} are packed", hint=f"planroute runs unpack {run}")
        raise InputError(f"{run} holds no finished episode", hint=f"let the run go on until there is one in {CELLS}")
    _refuse_strangers(rows, run)
    return rows, run


def _refuse_strangers(rows: "Sequence[EpisodeRow]", run: Path) -> None:
    """Raise ``InputError`` where a cell of ``run`` is of another domain, or not of the episode it is named after."""
    from planroute.errors import InputError
    from planroute.runs.cells import cell_name
    from planroute.runs.folder import CELLS, RunFolder
    from planroute.runs.stored import AGAIN

    manifest = RunFolder(run).manifest()
    files = [file for key in manifest["cells"] if (file := run / CELLS / f"{key}.json").is_file()]
    for file, row in zip(files, rows, strict=True):
        if manifest.get("domain", row.domain) != row.domain:
            what = f"row.domain: {row.domain!r} in a run of {manifest['domain']!r}"
            raise InputError(f"{file} is damaged: {what}", hint=AGAIN)
        if file.name != f"{cell_name(row.task, row.condition, row.seed)}.json":
            what = f"row: {row.condition} on {row.task!r} with seed {row.seed}, which is the cell of another file"
            raise InputError(f"{file} is damaged: {what}", hint=AGAIN)


def quality_of(folder: Path, rows: "Sequence[EpisodeRow]") -> dict[str, float]:
    """Return the scores of plans that a judge gave to the run in ``folder``; empty where none did.

    Raises ``InputError`` that names the first score which is no number from 0 to 3, or of no episode of ``rows``.
    """
    import os

    from planroute.errors import InputError
    from planroute.runs.stored import read_object

    path = folder / QUALITY
    if not os.path.lexists(path):
        return {}
    hint = "remove that file, or have the plans judged again"
    scores = read_object(path, hint=hint).get("scores")
    if not isinstance(scores, dict):
        raise InputError(f"{path} is damaged: scores: missing or not an object", hint=hint)
    episodes = {f"{row.condition}/{row.task}/{row.seed}" for row in rows}
    for key, value in scores.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= BEST_PLAN:
            raise InputError(f"{path} is damaged: scores: {key!r}: no number from 0 to {BEST_PLAN}", hint=hint)
        if key not in episodes:
            raise InputError(f"{path} is damaged: scores: {key!r} is no episode of this run", hint=hint)
    return {key: float(value) for key, value in scores.items()}


MARKS = {"clear": "●", "open": "○", "not_run": "–"}


def print_conclusions(found: dict[str, Any]) -> None:
    """Print what an analysis came to, a sentence for each question."""
    from planroute.cli.show import plain

    for one in found["conclusions"]:
        typer.echo(f"{MARKS[one['sure']]} {plain(one['sentence'])}")
    typer.echo("● the interval excludes chance   ○ it does not   – not run")
