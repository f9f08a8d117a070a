"""Printing for people: tables and lines, and JSON for programs."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow

COLUMNS: Sequence[tuple[str, str, int]] = (
    ("objective", "J", 0),
    ("objective_ac", "J (AC)", 0),
    ("regret", "regret", 0),
    ("faithfulness", "faithful", 2),
    ("realisation", "realised", 3),
    ("groundedness", "grounded", 3),
    ("minimality", "minimal", 2),
    ("coherence", "coherent", 2),
    ("overcap_kwh", "overcap kWh", 0),
    ("voltage_shortfall_pu", "shortfall pu", 3),
    ("curtailed_kwh", "curtailed kWh", 0),
    ("planning_s", "planning s", 2),
    ("late_events", "late", 1),
    ("failed", "failed", 0),
)


def print_json(value: Any) -> None:
    """Print ``value`` as JSON with sorted keys: the same bytes for equal values. What cannot be seen is escaped."""
    lines = json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False).split("\n")
    typer.echo("\n".join(line if line.isprintable() else _escaped(line) for line in lines))


def _escaped(line: str) -> str:
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in line)


def plain(text: str, longest: int | None = None) -> str:
    """Text on one line without control or format characters: what others wrote must not steer a terminal.

    With ``longest``, runs of white space are one blank, and no more than so many characters are kept.
    """
    if longest is not None:
        text = " ".join(text[: longest * 4].split())[:longest]
    return "".join(character if character.isprintable() else " " for character in text)


def cleaned(value: Any, longest: int = 400) -> Any:
    """Return ``value`` with every text in its mappings and lists made ``plain``."""
    if isinstance(value, str):
        return plain(value, longest)
    if isinstance(value, Mapping):
        return {name: cleaned(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item, longest) for item in value]
    return value


def exit_on_failures(rows: "Sequence[EpisodeRow]") -> None:
    """Say on standard error what failed and why, and exit 1 where the run cannot stand as it is.

    That is where infrastructure broke an episode off, or where every episode failed.
    """
    broken = [row for row in rows if row.status == "infrastructure"]
    failed = [row for row in rows if row.status == "failed"]
    for some, what in ((broken, "broken off by the infrastructure"), (failed, "failed")):
        if some:
            why = plain(next((row.error for row in some if row.error), str(some[0].stop)))
            typer.echo(f"planroute: {len(some)} of {len(rows)} episodes {what}: {why}", err=True)
    if broken:
        typer.echo("planroute: the same command, with --out, runs those again and no others", err=True)
    if broken or (failed and len(failed) == len(rows)):
        raise typer.Exit(1)


def number(value: float | None, digits: int) -> str:
    """A number for a table; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def print_comparison(result: Mapping[str, Any], paper: Mapping[str, Mapping[str, float]] | None = None) -> None:
    """Print the table of a comparison; with ``paper``, each condition's printed values below its own."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("condition", no_wrap=True)
    for _, title, _ in COLUMNS:
        table.add_column(title, justify="right")
    for condition, row in result["conditions"].items():
        table.add_row(condition, *(number(row.get(key), digits) for key, _, digits in COLUMNS))
        printed = (paper or {}).get(condition)
        if printed:
            values = (number(printed.get(key), digits) if key in printed else "" for key, _, digits in COLUMNS)
            table.add_row("  paper", *values, style="dim")
    Console(width=max(Console().width, 150)).print(table)


SUCCESS_COLUMNS: Sequence[tuple[str, str, int]] = (
    ("success_rate", "success", 3),
    ("success_interval", "95 % interval", 2),
    ("interactions", "interactions", 1),
    ("model_calls", "calls", 1),
    ("tokens_answer", "answer tokens", 0),
    ("tokens_thinking", "thinking", 0),
    ("tokens_prompt", "prompt", 0),
    ("plan_order_faithful", "order by dispatch", 2),
    ("plan_order_by_actions", "order by actions", 2),
    ("adherence", "adherence", 2),
    ("candidates", "candidates", 2),
)

OWN_COLUMNS: Sequence[tuple[str, str, int]] = (
    ("ssr", "SSR", 3),
    ("tsr", "TSR", 3),
    ("element_accuracy", "element", 3),
    ("operation_f1", "op. F1", 3),
    ("psr", "PSR", 3),
    ("pass_to_pass", "kept", 3),
    ("patched", "patched", 2),
)
"""Measures of single domains; shown where a table has them."""
BY_CONSTRUCTION = (
    "† by construction: an executor dispatched as declared counts as keeping the order, whatever was done; "
    "order by actions is one criterion for all."
)


def print_success(result: Mapping[str, Any]) -> None:
    """Print the table of a comparison where tasks succeed or fail."""
    from rich.console import Console
    from rich.table import Table

    from planroute.modes import Baseline

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("condition", no_wrap=True)
    shown: Mapping[str, Mapping[str, Any]] = result["conditions"]
    tables = shown.values()
    own = [column for column in OWN_COLUMNS if any(column[0] in row for row in tables)]
    columns = [*SUCCESS_COLUMNS[:2], *own, *SUCCESS_COLUMNS[2:]]
    for _, title, _ in columns:
        table.add_column(title, justify="right")
    for condition, row in shown.items():
        cells = []
        for key, _, digits in columns:
            value: Any = row.get(key)
            both = isinstance(value, list)
            cell = f"{value[0]:.{digits}f} to {value[1]:.{digits}f}" if both else number(value, digits)
            if key == "plan_order_faithful":
                cell = "-" if condition in set(Baseline) or value is None else f"{cell}†"
            cells.append(cell)
        table.add_row(condition, *cells)
    Console(width=max(Console().width, 160 + 10 * len(own))).print(table)
    if any(row.get("plan_order_faithful") is not None and name not in set(Baseline) for name, row in shown.items()):
        typer.echo(BY_CONSTRUCTION)


def print_routed(result: Mapping[str, Any]) -> None:
    """Say what each routed condition declared, what the gate did, what was executed, and what its regret is made of."""
    for condition, row in result["conditions"].items():
        if "declared_counts" not in row or not condition.startswith("ROUTED"):
            continue
        parts = [f"declared {_counted(row['declared_counts'])}", f"executed {_counted(row['executed_counts'])}"]
        replaced = {name: count for name, count in row["gate_counts"].items() if name != "PASSED"}
        if replaced:
            parts.append(f"gate {_counted(replaced)}")
        if row["mode_regret"] is not None:
            parts.append(
                f"regret {row['regret']:.0f} = {row['mode_regret']:.0f} mode {row['policy_gap']:+.0f} rest of policy"
            )
        typer.echo(f"{condition}: {'; '.join(parts)}.")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "nothing"


def print_oracle(result: Mapping[str, Any]) -> None:
    """Say which mode had the least cost, on how many seeds; those that missed the deadline do not count."""
    oracle: Mapping[str, Sequence[str]] = result["oracle"]
    if any(row.get("late_events") for row in result["conditions"].values()):
        typer.echo("Modes with late planning events missed the deadline; the least J is among the others.")
    lacking: Mapping[str, int] = {}
    for row in result["conditions"].values():
        lacking = row["lacking"]
    for metric, count in lacking.items():
        typer.echo(
            f"{metric}: {count} day{'s' * (count != 1)} without a value in some condition, left out of its means."
        )
    counts: dict[str, int] = {}
    for modes in oracle.values():
        for mode in modes:
            counts[mode] = counts.get(mode, 0) + 1
    if counts:
        parts = [f"{mode} on {count}" for mode, count in sorted(counts.items(), key=lambda item: -item[1])]
        typer.echo(f"Least J: {', '.join(parts)} of {len(oracle)} seed{'s' if len(oracle) != 1 else ''}.")
