"""``planroute select``: could a selector have known the right mode? Selectors on a bank of forced episodes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from planroute.cli.options import Json

PAPER = "Default: the paper's"


def select(
    bank: Annotated[Path, typer.Argument(metavar="BANK", help="Parquet file, or a folder that holds rows.parquet.")],
    cost: Annotated[
        str, typer.Option(help="The metric that is to be small: objective, or objective_ac for full AC power flow.")
    ] = "objective",
    features: Annotated[
        str | None, typer.Option(help=f"What selectors see, as a,b,c: columns of the bank. {PAPER} five.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(help=f"Columns whose combination is held out as a whole. {PAPER} cap and line.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Penalty of the ridge, on standardised features.")] = 10.0,
    draws: Annotated[int, typer.Option(help="Bootstrap draws.", min=1, max=1_000_000)] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.", min=0)] = 0,
    per_scenario: Annotated[
        bool, typer.Option("--per-scenario", help="With --json: each selector's choice and regret in each scenario.")
    ] = False,
    json: Json = False,
) -> None:
    """Judge selectors on a counterfactual bank, each out of the stress group that it is judged on.

    A bank has one row for each forced episode: task, seed, condition, status, late_events, deadline_s, factor_NAME,
    metric_NAME. Regret is cost above the best mode that keeps the deadline; missing it costs 10,000.
    """
    from planroute.cli.show import print_json
    from planroute.selection import FEATURES, STRESS_GROUP, Settings, evaluate, read_bank

    settings = Settings(
        features=FEATURES if features is None else _names(features),
        alpha=alpha,
        group=STRESS_GROUP if group is None else _names(group),
        draws=draws,
        seed=seed,
    )
    result = evaluate(read_bank(bank, cost), settings).as_dict(per_scenario=per_scenario)
    if json:
        print_json({"bank": str(bank), "cost": cost, **result})
    else:
        _print(result)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _print(result: Mapping[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("selector", no_wrap=True)
    for title in ("regret", "95 % interval", "value over fixed SEQUENTIAL", "oracle", "infeasible", "chooses"):
        table.add_column(title, justify="left" if title == "chooses" else "right", no_wrap=title != "chooses")
    rows = {"ridge": result["ridge"], "constraint-aware": result["constraint_aware"]}
    rows |= {f"fixed {mode}": row for mode, row in result["fixed"].items()}
    if result["all_feasible"] is not None:
        rows["all-feasible subset"] = result["all_feasible"]
    for name, row in rows.items():
        table.add_row(
            name,
            f"{row['mean_regret']:.2f}",
            _interval(row["interval"]),
            _value(row["value_vs_fixed_sequential"]) if name != "fixed SEQUENTIAL" else "",
            f"{row['oracle_rate']:.1%}",
            str(row["infeasible_choices"]),
            ", ".join(f"{mode} {count}" for mode, count in row["choices"].items() if count),
        )
    Console(width=max(Console().width, 150)).print(table)
    for line in _verdict(result):
        typer.echo(line)


def _interval(pair: Any) -> str:
    low, high = pair
    return f"{low:.2f} to {high:.2f}"


def _value(value: Mapping[str, float]) -> str:
    return f"{value['mean']:+.2f} [{value['low']:+.2f}, {value['high']:+.2f}]"


def _verdict(result: Mapping[str, Any]) -> list[str]:
    """What the figures say, a line each."""
    oracle = result["oracle"]
    members = ", ".join(f"{mode} {count}" for mode, count in oracle["membership"].items())
    ties = f", {oracle['ties']} tied" if oracle["ties"] else ""
    lines = [f"Best feasible mode of {result['scenarios']} scenarios: {members}{ties}."]
    if result["without_feasible_mode"]:
        lines.append(f"{result['without_feasible_mode']} scenarios have no feasible mode and are left out.")
    closed = result["gap_closed"]
    share = "" if closed is None else f" Constraint-aware closes {closed:.1%} of the gap to it from fixed SEQUENTIAL."
    lines.append(f"Floor, the best choice by feature cell: {result['floor']:.2f}.{share}")
    lines.append(_judged("Ridge", result["ridge"]["value_vs_fixed_sequential"], "fixed SEQUENTIAL"))
    lines.append(
        _judged("Constraint-aware", result["constraint_aware"]["value_vs_fixed_sequential"], "fixed SEQUENTIAL")
    )
    subset = result["all_feasible"]
    if subset is None:
        lines.append("All-feasible subset: not in two held-out groups at least, so nothing is fitted on it.")
    else:
        name = f"All-feasible subset ({subset['scenarios']} scenarios)"
        lines.append(_judged(name, subset["value_vs_fixed_search"], "fixed SEARCH"))
    return lines


def _judged(name: str, value: Mapping[str, float], reference: str) -> str:
    if value["low"] <= 0 <= value["high"]:
        return f"{name}: no detectable value over {reference}, {_value(value)}: the interval covers zero."
    better = "better" if value["mean"] > 0 else "worse"
    return f"{name}: {better} than {reference}, {_value(value)}: the interval excludes zero."
