"""``planroute report``: the HTML report of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from planroute.cli.options import Json


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, as --out made it.")], json: Json = False
) -> None:
    """Write the report of a run or of experiments: one HTML file that opens anywhere, without network."""
    from planroute.cli.show import print_json
    from planroute.evidence import evidence
    from planroute.reporting.report import write_report
    from planroute.reporting.study import write_study_report
    from planroute.reporting.study_files import is_study

    path = write_study_report(run) if is_study(run) else write_report(run, evidence)
    if json:
        print_json({"report": str(path)})
    else:
        typer.echo(f"Report: {path}")
