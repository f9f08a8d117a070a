"""``planroute grid``: what the grid domain shows of itself, without any planning; and banks of its episodes."""

import typer

from planroute.cli import grid_bank
from planroute.cli.options import Factors, Json, ScenarioFile

app = typer.Typer(
    help="Look at the grid: the uncontrolled day, every coefficient, and banks of episodes.", no_args_is_help=True
)
grid_bank.attach(app)


@app.command()
def day(scenario: ScenarioFile = None, factors: Factors = None, json: Json = False) -> None:
    """Show the uncontrolled day hour by hour: import, lowest voltage, violations."""
    from planroute.cli.setting import scenario_from
    from planroute.cli.show import print_json
    from planroute.domains.grid import uncontrolled

    rows = uncontrolled(scenario_from(scenario, factors))
    if json:
        print_json({"hours": rows, "violation_hours": [row["hour"] for row in rows if row["violation"]]})
        return
    typer.echo("hour  import MW  min V pu  violation")
    for row in rows:
        mark = "yes" if row["violation"] else ""
        typer.echo(f"{row['hour']:4d}  {row['import_mw']:9.3f}  {row['min_voltage_pu']:8.4f}  {mark}".rstrip())


@app.command()
def coefficients(json: Json = False) -> None:
    """List every coefficient of the grid: value, unit, meaning, and whether it is the paper's or the project's own."""
    from planroute.cli.show import print_json
    from planroute.domains.grid import DEFAULT

    rows = list(DEFAULT.table())
    if json:
        print_json({"coefficients": rows})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("coefficient", "value", "unit", "origin", "meaning"):
        table.add_column(title)
    for row in rows:
        table.add_row(f"{row['group']}.{row['name']}", str(row["value"]), row["unit"], row["origin"], row["about"])
    Console(width=max(Console().width, 150)).print(table)
