"""``planroute experiment``: the papers' experiments, one by one or all, from their files to one report."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import (
    Address,
    BaseUrl,
    BudgetSeconds,
    BudgetTokens,
    BudgetUsd,
    CachePath,
    EpisodeSeconds,
    Factors,
    Json,
    NoCache,
    Price,
    RunnerName,
    Temperature,
    parse_factors,
    parse_seeds,
)
from planroute.cli.questions import SEEDS, Asked, answer, is_question

if TYPE_CHECKING:
    from planroute.experiments.definition import Experiment
    from planroute.experiments.setting import Setting
    from planroute.protocols import Model
    from planroute.runs.manner import Manner


def experiment(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="E1 … E7, M0 … M5, all of these, or a .toml file; RQ1 … RQ4, or RQ. Without: the list."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows, tables, figures and report; resumes what is there.")
    ] = None,
    communication: Annotated[
        str, typer.Option(help="Who speaks to prosumers: calibrated (mean shifts) or model.")
    ] = "calibrated",
    model: Annotated[
        str | None,
        typer.Option("--model", "--models", help="Language models, comma separated; episodes use the first."),
    ] = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: Annotated[
        int | None, typer.Option(help="Most tokens of one answer. Default: 400, or the domain's own.", min=1)
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds in place of the experiment's own, such as 7 or 7,13.")
    ] = None,
    factors: Factors = None,
    model_hours: Annotated[
        str | None, typer.Option(help="Hours with model messages, such as 14,17; calibrated in all others.")
    ] = None,
    states: Annotated[int | None, typer.Option(help="Most states of an interface study: a slice.", min=1)] = None,
    draws: Annotated[int | None, typer.Option(help="Draws per state of an interface study: a slice.", min=1)] = None,
    fresh_triples: Annotated[
        int | None,
        typer.Option(help="Newly drawn seeds of E1 to E7, in triples; 0 for none. Default: theirs.", min=0, max=1000),
    ] = None,
    domain: Annotated[str, typer.Option(help="Domain of RQ1 to RQ4.")] = "alfworld",
    tasks: Annotated[
        str | None, typer.Option(help="Tasks of RQ1 to RQ4: a file or folder, or how many of the project's own.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Model that scores the plans of RQ2, another than --model.")] = None,
    steps: Annotated[int | None, typer.Option(help="Most actions of one course in RQ1 to RQ4.", min=1)] = None,
    workers: Annotated[int, typer.Option(help="Worker processes for episodes without a model.", min=1)] = 2,
    concurrency: Annotated[
        int | None, typer.Option(help="Most episodes at once with a model. Default: 8, or the domain's own.", min=1)
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
    """Run experiments of the papers and print each figure beside the paper's.

    What needs a language model and has none is told as not run. With --out everything is kept, and the same command
    runs only what is missing.
    """
    from planroute.calls import Sampling
    from planroute.cli.claims import print_claims, print_experiments
    from planroute.cli.setting import manner_from
    from planroute.cli.show import print_json
    from planroute.errors import InputError
    from planroute.experiments.definition import available, load_experiment
    from planroute.experiments.kept import start_study
    from planroute.experiments.setting import Setting, check_runner

    if not names:
        print_experiments([load_experiment(name) for name in available()], as_json=json)
        return
    budget = (budget_tokens, budget_usd, budget_seconds, episode_seconds)
    manner = manner_from(concurrency or 8, runner, address, *budget).over(out)
    if any(map(is_question, names)):
        if not all(map(is_question, names)):
            raise InputError(
                "RQ1 to RQ4 are run apart from other experiments", hint="name them in a command of their own"
            )
        foreign = {
            "--communication": communication != "calibrated",
            "--set": factors,
            "--model-hours": model_hours,
            "--states": states,
            "--draws": draws,
            "--fresh-triples": fresh_triples is not None,
        }
        if given := [option for option, value in foreign.items() if value]:
            raise InputError(f"{', '.join(given)}: not for RQ1 to RQ4")
        if model is None:
            raise InputError("RQ1 to RQ4 need a language model", hint="name one with --model")
        questions = [part for name in names for part in name.split(",") if part.strip()]
        asked_for = Asked(
            domain.strip().lower(),
            tasks,
            parse_seeds(seeds) if seeds else SEEDS,
            model,
            judge,
            base_url,
            cache,
            no_cache,
            price,
            temperature,
            max_tokens,
            steps,
            concurrency,
            manner,
            out,
        )
        answer(questions, asked_for, json=json)
        return
    asked = list(dict.fromkeys(_spread(names, available())))
    if not asked:
        raise InputError("no experiment is named", hint=f"choose from {', '.join(available())}, all, or a .toml file")
    chosen: dict[str, Experiment] = {}
    for one in map(load_experiment, asked):
        if chosen.setdefault(one.id, one) != one:
            raise InputError(f"two experiments are called {one.id}", hint="give each file an id of its own")
        check_figures(one)
    if communication not in ("calibrated", "model"):
        raise InputError(f"--communication {communication!r} is unknown", hint="choose calibrated or model")
    specs = [spec.strip() for spec in model.split(",") if spec.strip()] if model else []
    if model is not None and not specs:
        raise InputError("--model names no model")
    if len(set(specs)) < len(specs):
        raise InputError("--model names one model twice")
    if communication == "model" and not specs:
        raise InputError("--communication model needs a language model", hint="name one with --model")
    with ExitStack() as opened:
        models = _models(opened, specs, base_url, cache, no_cache, price, manner)
        setting = Setting(
            seeds=tuple(parse_seeds(seeds)) if seeds else None,
            communication="model" if communication == "model" else "calibrated",
            models=models,
            sampling=Sampling(temperature=temperature, max_tokens=max_tokens or 400),
            factors=parse_factors(factors),
            model_hours=tuple(parse_seeds(model_hours, "--model-hours")) if model_hours else None,
            draws=draws,
            states=states,
            fresh_triples=fresh_triples,
            workers=workers,
            manner=manner,
        )
        for one in chosen.values():
            check_runner(one, setting)
        if out is not None:
            start_study(out, list(chosen))
        results, ran = _studies(chosen, setting, out, quiet=json)
    if out is not None and (ran or not (out / "report.html").is_file()):
        from planroute.reporting.study import write_study_report

        write_study_report(out)
    if json:
        print_json(next(iter(results.values())) if len(results) == 1 else {"experiments": results})
    else:
        for result in results.values():
            print_claims(result)
        if out is not None:
            typer.echo(f"{len(results)} experiments, {ran} run now. Report: {out / 'report.html'}")
        else:
            typer.echo("Add --out DIR to keep rows, tables, figures and an HTML report.")
    if any(_broken(result) for result in results.values()):
        raise typer.Exit(1)


def check_figures(experiment: "Experiment") -> None:
    """Raise ``FaultyInput`` where a figure of ``experiment`` is of no known kind or its parameters do not fit."""
    from planroute.errors import FaultyInput, InputError
    from planroute.reporting.figures import check

    faults = []
    for figure in experiment.figures:
        try:
            check(figure.kind, figure.with_)
        except InputError as error:
            faults.append(f"{figure.name}: {error}")
    if faults:
        raise FaultyInput(f"experiment {experiment.id}, figures", faults)


def _spread(names: list[str], known: list[str]) -> Iterator[str]:
    for name in names:
        for part in (piece.strip() for piece in name.split(",")):
            if part.lower() == "all":
                yield from known
            elif part:
                yield part


def _models(
    opened: ExitStack,
    specs: list[str],
    base_url: str | None,
    cache: Path | None,
    no_cache: bool,
    price: str | None,
    manner: "Manner",
) -> dict[str, "Model"]:
    """Open every model. Its endpoint is its name in tables, so that a recording of it gives the same bytes."""
    from planroute.cli.setting import opened_model

    if not specs:
        opened.enter_context(opened_model(None, base_url, cache, no_cache, price))
    found = {}
    for spec in specs:
        address = base_url if spec.startswith("openai:") else None
        model = opened.enter_context(opened_model(spec, address, cache, no_cache, price, manner))
        if model is not None:
            found[model.endpoint] = model
    return found


def _studies(
    chosen: Mapping[str, "Experiment"], setting: "Setting", out: Path | None, *, quiet: bool
) -> tuple[dict[str, Any], int]:
    """Run what is missing, in order, and return all results and how many experiments were run now."""
    from planroute.cli.setting import run
    from planroute.experiments.kept import finished_result

    results: dict[str, Any] = {}
    missing = {}
    for name, one in chosen.items():
        there = finished_result(one, setting, out / name.lower()) if out is not None else None
        if there is None:
            missing[name] = one
        else:
            results[name] = there
    if missing:
        from planroute.experiments.study import run_studies

        with _bar(quiet=quiet) as advance:
            results |= run(run_studies(missing, setting, out=out, advance=advance), *setting.models.values())
    return {name: results[name] for name in chosen}, len(missing)


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A line per experiment on standard error: how many cells are done; nothing where nobody looks."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda _name, _count: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed:.0f} done"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def advance(name: str, count: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=None)
            bar.advance(tasks[name], count)

        yield advance


def _broken(result: Mapping[str, Any]) -> bool:
    """Whether the infrastructure broke episodes off: the same command runs those again."""
    return any(table.get("infrastructure") for table in result.get("conditions", {}).values())
