"""``planroute analyse``: which mode to use, how sure that is, and what it costs, from the rows of any run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import Json

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow


def analyse(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of a run or of an experiment, or a Parquet table of episodes.")
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
    from planroute.reporting.analysis import write_analysis

    if better is not None and better not in ("more", "less"):
        raise InputError(f"--better {better!r} is unknown", hint="choose more or less")
    rows, folder = rows_of(run)
    chosen = measure_of(rows, measure, "more" if better == "more" else "less" if better == "less" else None)
    found = analysed(rows, chosen, quality=quality_of(folder))
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
    from planroute.runs.stored import read_row
    from planroute.runs.table import read_rows

    if run.is_file():
        return read_rows(run), run.parent
    if (run / "rows.parquet").is_file():
        return read_rows(run / "rows.parquet"), run
    rows = [read_row(cell["row"]) for cell in RunFolder(run).cells()]
    if not rows:
        raise InputError(f"{run} holds no finished episode", hint=f"let the run go on until there is one in {CELLS}")
    return rows, run


def quality_of(folder: Path) -> dict[str, float]:
    """Return the scores of plans that a judge gave to the run in ``folder``; empty where none did."""
    from planroute.runs.stored import read_object

    path = folder / "quality.json"
    if not path.is_file():
        return {}
    scores = read_object(path).get("scores", {})
    return {key: float(value) for key, value in scores.items() if isinstance(value, int | float)}


MARKS = {"clear": "●", "open": "○", "not_run": "–"}


def print_conclusions(found: dict[str, Any]) -> None:
    """Print what an analysis came to, a sentence for each question."""
    for one in found["conclusions"]:
        typer.echo(f"{MARKS[one['sure']]} {one['sentence']}")
    typer.echo("● the interval excludes chance   ○ it does not   – not run")
