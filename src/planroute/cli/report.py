"""``planroute report``: the HTML report of a finished run."""

from pathlib import Path
from typing import Annotated

import typer

from planroute.cli.options import Json


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run, as --out made it.")], json: Json = False
) -> None:
    """Write the report of a run: one HTML file that opens anywhere, without network."""
    from planroute.cli.show import print_json
    from planroute.reporting.report import write_report

    path = write_report(run)
    if json:
        print_json({"report": str(path)})
    else:
        typer.echo(f"Report: {path}")
