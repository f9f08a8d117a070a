"""``planroute compare all``: the same conditions on every domain, in one table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from planroute.cli import compare_alfworld, compare_mind2web, compare_swebench, compare_webarena
from planroute.cli.compare_text import Setup, Words, compared, own_options, shared_defaults
from planroute.cli.compared import Compared
from planroute.cli.options import (
    Address,
    BaseUrl,
    BudgetSeconds,
    BudgetTokens,
    BudgetUsd,
    CachePath,
    EpisodeSeconds,
    Json,
    JudgeModel,
    NoCache,
    Price,
    RunnerName,
    Seeds,
    Temperature,
    parse_conditions,
    parse_seeds,
)
from planroute.errors import PlanrouteError
from planroute.models.spec import public_spec

if TYPE_CHECKING:
    from planroute.protocols import Domain
    from planroute.runs.account import Account

GRID: Final = "grid"


class CannotRun(PlanrouteError):
    """A domain cannot be opened here: something is missing on this machine, or the conditions do not apply to it."""


TEXT: Final[Mapping[str, tuple[Callable[..., "Domain"], Words, Mapping[str, Any]]]] = {
    "alfworld": (compare_alfworld.load, compare_alfworld.WORDS, {}),
    "mind2web": (compare_mind2web.load, compare_mind2web.WORDS, {}),
    "webarena": (compare_webarena.load, compare_webarena.WORDS, compare_webarena.DEFAULTS),
    "swebench": (compare_swebench.load, compare_swebench.WORDS, compare_swebench.DEFAULTS),
}
"""How each text domain is opened, on the project's own tasks, and its own defaults."""


def compare_all(
    model: Annotated[str, typer.Option("--model", help="Language model, or scripted/slip=RATE for a scripted agent.")],
    domains: Annotated[str, typer.Option(help="all, or some of grid, alfworld, mind2web, webarena, swebench.")] = "all",
    conditions: Annotated[
        str, typer.Option(help="all, or some of FLAT_REACT, PLAN_REACT, the four modes, ROUTED.")
    ] = "all",
    seeds: Seeds = "7,13,42",
    tasks: Annotated[int | None, typer.Option(help="Take only the first so many tasks of each domain.", min=1)] = None,
    judge_model: JudgeModel = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    out: Annotated[
        Path | None, typer.Option(help="Folder with a run of each domain, and its report; resumes what is there.")
    ] = None,
    runner: RunnerName = "local",
    address: Address = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    price: Price = None,
    episode_seconds: EpisodeSeconds = None,
    json: Json = False,
) -> None:
    """Compare the same conditions on every domain, each on the project's own tasks, in one table.

    A domain that cannot run on this machine is told as not run, with what is missing. What is measured differs:
    success in the text domains, cost J (less is better) on the grid.
    """
    from planroute.cli.setting import manner_from
    from planroute.cli.show import exit_on_failures, print_json
    from planroute.errors import InputError

    chosen = _named(domains)
    parse_conditions(conditions), parse_seeds(seeds)
    whole = manner_from(1, runner, address, budget_tokens, budget_usd, budget_seconds, episode_seconds).over(out)
    common = {"model": model, "base_url": base_url, "cache": cache, "no_cache": no_cache, "temperature": temperature}
    common |= {"runner": runner, "address": address, "price": price, "episode_seconds": episode_seconds}
    found: dict[str, Compared] = {}
    not_run: dict[str, str] = {}
    for name in chosen:
        folder = out / name if out is not None else None
        try:
            if name == GRID:
                found[name] = _grid(conditions, seeds, folder, common, whole.account, quiet=json)
            else:
                given = {**common, "conditions": conditions, "seeds": seeds, "judge_model": judge_model}
                found[name] = _text(name, {**given, "first": tasks, "out": folder}, whole.account, quiet=json)
        except CannotRun as error:
            not_run[name] = str(error)
    lines = [line for name, one in found.items() for line in table(name, one.result)]
    result = {
        "table": lines,
        "best_modes": best_modes(lines),
        "domains": {name: one.result for name, one in found.items()},
        "not_run": not_run,
    }
    if json:
        print_json(result)
    else:
        _print(lines, not_run)
        for one in found.values():
            if one.report is not None:
                typer.echo(f"Report: {one.report}")
    if not found:
        raise InputError("no domain could run", hint="planroute doctor lists what is missing")
    exit_on_failures([row for one in found.values() for row in one.rows])


def table(domain: str, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of one domain's result: what is measured, its value and interval, and what it cost."""
    lines = []
    for condition, row in result["conditions"].items():
        costs = row.get("objective") is not None and "success_rate" not in row
        interval = row.get("success_interval") or [None, None]
        lines.append(
            {
                "domain": domain,
                "condition": condition,
                "measure": "J" if costs else "success",
                "value": row["objective"] if costs else row["success_rate"],
                "low": interval[0],
                "high": interval[1],
                **{name: row.get(name) for name in SPENT},
                "plan_order_by_actions": row.get("plan_order_by_actions"),
                "episodes": row["episodes"],
                "failed": row["failed"],
                "infrastructure": row["infrastructure"],
            }
        )
    return lines


def best_modes(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """By domain the forced modes with the best mean, all of those that tie; how sure that is, ``analyse`` says."""
    from planroute.modes import MODES

    found: dict[str, list[str]] = {}
    for domain in dict.fromkeys(line["domain"] for line in lines):
        mine = [line for line in lines if line["domain"] == domain and line["condition"] in set(MODES)]
        values = {
            line["condition"]: line["value"] * (-1 if line["measure"] == "J" else 1)
            for line in mine
            if line["value"] is not None
        }
        if values:
            top = max(values.values())
            found[domain] = [mode for mode, value in values.items() if value >= top - 1e-9]
    return found


SPENT: Final = ("interactions", "model_calls", "tokens_prompt", "tokens_thinking", "tokens_answer")


def _named(domains: str) -> list[str]:
    from planroute.errors import FaultyInput

    known = [GRID, *TEXT]
    if domains.strip().lower() == "all":
        return known
    names = [name.strip().lower() for name in domains.split(",")]
    faults = [f"{name!r} is not a domain" for name in names if name not in known]
    if faults:
        raise FaultyInput("--domains", faults, hint=f"choose from {', '.join(known)}")
    return [name for name in known if name in names]


def _text(name: str, given: Mapping[str, Any], account: "Account | None", *, quiet: bool) -> Compared:
    from planroute.cli.setting import manner_of
    from planroute.errors import InputError

    load, words, defaults = TEXT[name]
    options = {**shared_defaults(), **defaults, **given}
    manner = replace(manner_of(options), account=account)
    own = {each.name: each.default for each in own_options(load)}

    def opened(setup: Setup) -> "Domain":
        try:
            return load(setup, **own)
        except InputError as error:
            raise CannotRun(error.message, hint=error.hint) from None

    return compared(name, opened, words, manner=manner, quiet=quiet, **options)


def _grid(
    conditions: str,
    seeds: str,
    out: Path | None,
    common: Mapping[str, Any],
    account: "Account | None",
    *,
    quiet: bool,
) -> Compared:
    """The grid has no baselines: nothing can be done there without a plan."""
    from planroute.calls import Sampling
    from planroute.cli.compare import compared_grid
    from planroute.cli.setting import declarer_from, manner_of, opened_model
    from planroute.domains.grid import GridDomain
    from planroute.modes import MODES, ROUTED

    names = parse_conditions(conditions)
    modes = [mode for mode in MODES if mode in names]
    if not modes and ROUTED not in names:
        raise CannotRun(f"the grid has none of {', '.join(names)}: nothing can be done there without a plan")
    sampling = Sampling(temperature=common["temperature"])
    spec = {name: common[name] for name in ("base_url", "cache", "no_cache", "price")}
    shown = public_spec(common["model"])
    manner = replace(manner_of({"concurrency": 8, **common}), account=account)
    with opened_model(common["model"], **spec, manner=manner) as model:
        declarer = declarer_from("natural", None, sampling, has_model=True) if ROUTED in names else None
        config = {"command": "compare all", "seeds": parse_seeds(seeds), "modes": modes, "model": shown}
        return compared_grid(
            GridDomain(sampling=sampling),
            parse_seeds(seeds),
            modes,
            declarer,
            model,
            config=config,
            out=out,
            manner=manner,
            quiet=quiet,
        )


def _print(lines: Sequence[Mapping[str, Any]], not_run: Mapping[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table

    from planroute.cli.show import number, plain

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for title in ("domain", "condition", "measure"):
        shown.add_column(title, no_wrap=True)
    for title in ("value", "95 % interval", "interactions", "calls", "answer tokens", "order by actions", "episodes"):
        shown.add_column(title, justify="right")
    last = ""
    for line in lines:
        digits = 0 if line["measure"] == "J" else 3
        between = "-" if line["low"] is None else f"{line['low']:.2f} to {line['high']:.2f}"
        shown.add_row(
            line["domain"] if line["domain"] != last else "",
            line["condition"],
            line["measure"],
            number(line["value"], digits),
            between,
            number(line["interactions"], 1),
            number(line["model_calls"], 1),
            number(line["tokens_answer"], 0),
            number(line["plan_order_by_actions"], 2),
            str(line["episodes"]),
        )
        last = line["domain"]
    Console(width=max(Console().width, 130)).print(shown)
    for domain, modes in best_modes(lines).items():
        typer.echo(f"{domain}: the best mode came out as {' or '.join(modes)}.")
    for name, why in not_run.items():
        typer.echo(f"{name}: not run: {plain(why)}")


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("all")(compare_all)
