"""Printing experiments and the paper's values beside ours."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from planroute.cli.show import number, plain, print_json

if TYPE_CHECKING:
    from planroute.experiments.definition import Experiment

STYLES: Mapping[str, str] = {
    "reproduced": "green",
    "holds": "green",
    "in-sample": "cyan",
    "setting": "dim",
    "differs": "yellow",
    "fails": "red",
    "context": "dim",
    "not_run": "dim",
}


def print_experiments(experiments: "Sequence[Experiment]", *, as_json: bool) -> None:
    """Print the experiments that there are."""
    if as_json:
        print_json([{"id": one.id, "title": one.title, "question": one.question} for one in experiments])
        return
    for one in experiments:
        typer.echo(f"{one.id:4} {one.title}")
    typer.echo("Run some with planroute experiment NAME..., or all with planroute experiment all --out DIR.")


def print_claims(result: Mapping[str, Any]) -> None:
    """Print one experiment: what ran, and every number of the paper beside ours with its verdict."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=max(Console().width, 120), highlight=False)
    console.print(Text(f"{result['experiment']}  {plain(result['title'])}", style="bold"))
    if result["status"] == "not_run":
        console.print(Text(f"  not_run: {plain(str(result.get('why', '')))}"))
        return
    for arm, why in {**result.get("not_run", {}), **result.get("arm_notes", {})}.items():
        kind = "not_run: " if arm in result.get("not_run", {}) else ""
        console.print(Text(f"  {plain(arm)}: {kind}{plain(why)}"))
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("figure")
    table.add_column("where", no_wrap=True)
    for title in ("paper", "ours", "our 95 %"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for claim in result["claims"]:
        verdict = Text(claim["verdict"], style=STYLES.get(claim["verdict"], ""))
        if "values" in claim:
            shown = ", ".join(_short(one["value"]) for one in claim["values"])
            table.add_row(Text(plain(claim["what"])), Text(plain(claim["where"])), "", shown[:34], "", verdict)
        else:
            table.add_row(
                Text(plain(claim["what"])),
                Text(plain(claim["where"])),
                _short(claim["paper"]),
                _short(claim["ours"]),
                _span(claim["interval"]),
                verdict,
            )
    if result["claims"]:
        console.print(table)


def _short(value: float | None) -> str:
    """Three significant digits after the point for small numbers, none for large ones."""
    if value is None:
        return "-"
    size = abs(value)
    if size >= 1e9 or (0 < size < 1e-4):
        return f"{value:.1e}"
    if value == int(value):
        return number(value, 0)
    return number(value, 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3 if size >= 0.01 else 4)


def _span(interval: Sequence[float] | None) -> str:
    return "" if interval is None else f"[{_short(interval[0])}, {_short(interval[1])}]"
