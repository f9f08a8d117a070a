"""``planroute compare``: forced modes and the routed condition on the same tasks and seeds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.compared import Compared
from planroute.cli.options import (
    Address,
    BaseUrl,
    BudgetSeconds,
    BudgetTokens,
    BudgetUsd,
    CachePath,
    Concurrency,
    EpisodeSeconds,
    Factors,
    FixedMode,
    HandBack,
    Json,
    MaxTokens,
    ModelSpec,
    NoCache,
    Price,
    RunnerName,
    RunOut,
    ScenarioFile,
    Temperature,
    parse_modes,
    parse_seeds,
)
from planroute.models.spec import public_spec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planroute.modes import Mode
    from planroute.protocols import Declarer, Domain, Model
    from planroute.runs.manner import Manner

app = typer.Typer(
    help="Compare planning modes on one domain: forced modes, and ROUTED where a declarer chooses.",
    no_args_is_help=True,
)


@app.command()
def grid(
    seeds: Annotated[str, typer.Option(help="Seeds, such as 7,13,42 or 1000-1199.")] = "7,13,42,101,202",
    modes: Annotated[str, typer.Option("--modes", "--conditions", help="Forced modes, or all.")] = "all",
    declarer: Annotated[
        str | None,
        typer.Option(help="Who declares for ROUTED: natural, hybrid or fixed. Default: natural if --model is given."),
    ] = None,
    mode: FixedMode = None,
    communication: Annotated[
        str | None, typer.Option(help="Who speaks to prosumers: calibrated (mean shifts, the default) or model.")
    ] = None,
    intensity: Annotated[
        float | None, typer.Option(help="Intensity that all forced modes share. Default: the calibrated one.")
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Decision deadline in s: gates ROUTED, counts late events elsewhere.", min=0)
    ] = None,
    model: ModelSpec = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: MaxTokens = 400,
    scenario: ScenarioFile = None,
    factors: Factors = None,
    hand_back: HandBack = False,
    out: RunOut = None,
    concurrency: Concurrency = 8,
    runner: RunnerName = "local",
    address: Address = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    price: Price = None,
    episode_seconds: EpisodeSeconds = None,
    beside_paper: Annotated[bool, typer.Option(help="Print the paper's values beside ours.")] = False,
    json: Json = False,
) -> None:
    """Compare planning modes on the demand-response grid; J, regret and every metric, under both referees."""
    from planroute.calls import Sampling
    from planroute.cli.setting import declarer_from, manner_from, opened_model, scenario_from
    from planroute.cli.show import exit_on_failures, print_comparison, print_json, print_oracle, print_routed
    from planroute.domains.grid import GridDomain
    from planroute.domains.grid.scenario import repaired
    from planroute.errors import InputError
    from planroute.experiments.compare import PAPER, PAPER_SEEDS

    seed_list, mode_list = parse_seeds(seeds), parse_modes(modes)
    manner = manner_from(concurrency, runner, address, budget_tokens, budget_usd, budget_seconds, episode_seconds)
    chosen = scenario_from(scenario, factors, communication=communication, intensity=intensity)
    if beside_paper and (sorted(seed_list) != sorted(PAPER_SEEDS) or scenario or factors or hand_back or intensity):
        raise InputError(
            "--beside-paper goes with the paper's own scenario and seeds",
            hint=f"--seeds {','.join(map(str, PAPER_SEEDS))}, without --scenario, --set, --intensity or --hand-back",
        )
    if chosen.factors.communication == "model" and model is None:
        raise InputError("--communication model needs a language model", hint="name one with --model")
    if hand_back:
        chosen = repaired(chosen)
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    who = declarer if declarer is not None else ("natural" if model is not None else None)
    if mode is not None and who != "fixed":
        raise InputError("--mode goes with --declarer fixed only")
    config: dict[str, Any] = {
        "command": "compare grid",
        "seeds": seed_list,
        "modes": [str(m) for m in mode_list],
        "declarer": who,
        "communication": chosen.factors.communication,
        "model": public_spec(model),
        "deadline_s": deadline,
    }
    domain = GridDomain({scenario.stem if scenario else "nominal": chosen}, sampling)
    with opened_model(model, base_url, cache, no_cache, price, manner) as language_model:
        found = compared_grid(
            domain,
            seed_list,
            mode_list,
            declarer_from(who, mode, sampling, has_model=language_model is not None) if who is not None else None,
            language_model,
            deadline=deadline,
            config=config,
            out=out,
            manner=manner,
            quiet=json,
            beside={"paper": {str(m): dict(values) for m, values in PAPER.items()}} if beside_paper else {},
        )
    result = found.result
    if json:
        print_json(result)
    else:
        print_comparison(result, PAPER if beside_paper else None)
        print_oracle(result)
        print_routed(result)
        if found.report is not None:
            resumed = f", {found.resumed} of them from an earlier run" if found.resumed else ""
            typer.echo(f"{found.episodes} episodes{resumed}. Report: {found.report}")
        else:
            typer.echo("Add --out DIR to keep rows, traces and an HTML report.")
    exit_on_failures(found.rows)


def compared_grid(
    domain: "Domain",
    seeds: "Sequence[int]",
    modes: "Sequence[Mode]",
    declarer: "Declarer | None",
    model: "Model | None",
    *,
    config: "Mapping[str, Any]",
    manner: "Manner",
    deadline: float | None = None,
    out: Path | None = None,
    quiet: bool = True,
    beside: "Mapping[str, Any] | None" = None,
) -> Compared:
    """Run forced modes, and ROUTED where there is a ``declarer``; keep all, with ``beside`` in the result, in ``out``.

    Closes ``model``.
    """
    from planroute.cli.setting import progress, run
    from planroute.experiments.compare import comparison_cells, summarise
    from planroute.modes import ROUTED
    from planroute.runs.execute import execute_run
    from planroute.runs.folder import RESULT, RunFolder, canonical

    tasks = domain.tasks()
    routed = {ROUTED: declarer} if declarer is not None else {}
    cells = comparison_cells(tasks, seeds, modes, model=model, deadline_s=deadline, routed=routed)
    with progress(len(cells), "episodes", quiet=quiet) as advance:
        work = execute_run(domain, cells, config=config, out=out, manner=manner, finished=advance)
        executed = run(work, model)
    result = {**summarise(executed.rows, "objective"), **(beside or {})}
    report: Path | None = None
    if out is not None:
        from planroute.reporting.report import write_report

        RunFolder(out).write(RESULT, canonical(result))
        report = write_report(out)
    return Compared(result, executed.rows, len(cells), len(tasks), report, executed.resumed)
