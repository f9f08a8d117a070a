"""``planroute compare alfworld``: six ways to execute, and ROUTED, on household text games."""

from pathlib import Path
from typing import Annotated, Any

import typer

from planroute.cli.options import (
    BaseUrl,
    CachePath,
    Json,
    MaxTokens,
    NoCache,
    Temperature,
    parse_conditions,
    parse_seeds,
)


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("alfworld")(alfworld)


def alfworld(
    model: Annotated[
        str, typer.Option("--model", help="Language model, or scripted/slip=RATE for an agent with a known slip rate.")
    ],
    games: Annotated[
        Path | None, typer.Option(help="Folder of games. Default: ALFWORLD_DATA, else the project's own games.")
    ] = None,
    conditions: Annotated[
        str, typer.Option(help="all, or some of FLAT_REACT, PLAN_REACT, the four modes, ROUTED.")
    ] = "all",
    seeds: Annotated[str, typer.Option(help="Seeds, such as 7,13,42.")] = "7,13,42",
    declarer: Annotated[
        str, typer.Option(help="Who declares for ROUTED and PLAN_REACT: natural, ranked, few_shot, hybrid or fixed.")
    ] = "natural",
    mode: Annotated[str | None, typer.Option(help="The mode that --declarer fixed declares.")] = None,
    demonstrations: Annotated[
        Path | None, typer.Option(help="Forced run of two seeds from which --declarer few_shot takes its examples.")
    ] = None,
    judge_model: Annotated[
        str | None, typer.Option(help="Model that judges the candidates. Default: the backbone itself.")
    ] = None,
    thinking: Annotated[bool | None, typer.Option("--thinking/--no-thinking", help="Where the model can.")] = None,
    candidates: Annotated[int, typer.Option(help="Most candidates of SEARCH.", min=2, max=4)] = 4,
    steps: Annotated[int, typer.Option(help="Most actions of one trajectory.", min=1)] = 50,
    steps_per_unit: Annotated[int, typer.Option(help="Most actions on one unit of a plan.", min=1)] = 20,
    most_calls: Annotated[int | None, typer.Option(help="Budget of model calls of one episode.", min=1)] = None,
    most_tokens: Annotated[int | None, typer.Option(help="Budget of tokens of one episode.", min=1)] = None,
    tasks: Annotated[int | None, typer.Option(help="Take only the first so many games.", min=1)] = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: MaxTokens = 400,
    out: Annotated[Path | None, typer.Option(help="Folder for rows, traces and report; resumes what is there.")] = None,
    concurrency: Annotated[int, typer.Option(help="Most episodes at once.", min=1)] = 8,
    json: Json = False,
) -> None:
    """Compare baselines, forced modes and the routed condition on ALFWorld games: success, cost, structure."""
    from contextlib import ExitStack
    from dataclasses import asdict

    from planroute.calls import GenerationProfile
    from planroute.cli.setting import declarer_from, opened_model, progress, run
    from planroute.cli.show import exit_on_failures, print_json, print_success
    from planroute.domains.alfworld import find_games
    from planroute.domains.alfworld.domain import AlfworldDomain
    from planroute.domains.text import Limits
    from planroute.errors import InputError
    from planroute.evaluation.judges import RubricJudge
    from planroute.experiments.compare import comparison_cells
    from planroute.experiments.demonstrations import demonstrations_of
    from planroute.experiments.success import summarise_success
    from planroute.ledger import Budget
    from planroute.modes import ROUTED, Baseline, Mode
    from planroute.runs.execute import execute_run
    from planroute.runs.folder import RESULT, RunFolder, canonical

    names, seed_list = parse_conditions(conditions), parse_seeds(seeds)
    shots = demonstrations_of(demonstrations) if demonstrations else ()
    found = [game for game in find_games(games) if game.id not in {shot.task_id for shot in shots}][:tasks]
    if not found:
        raise InputError(f"every game is a demonstration in {demonstrations}", hint="name more with --games")
    profile = GenerationProfile(temperature=temperature, max_new_tokens=max_tokens, thinking=thinking)
    sampling = profile.sampling()
    domain = AlfworldDomain(
        tuple(found), RubricJudge("trajectory"), Limits(steps=steps, steps_per_unit=steps_per_unit), sampling
    )
    who = declarer_from(declarer, mode, sampling, has_model=True, shots=shots)
    config: dict[str, Any] = {
        "command": "compare alfworld",
        "seeds": seed_list,
        "conditions": names,
        "declarer": declarer,
        "model": model,
        "judge_model": judge_model,
        "candidates": candidates,
        "most_calls": most_calls,
        "most_tokens": most_tokens,
        "demonstrations": [shot.task_id for shot in shots],
        "generation_profile": asdict(profile),
    }
    with ExitStack() as opened:
        backbone = opened.enter_context(opened_model(model, base_url, cache, no_cache))
        judge = opened.enter_context(opened_model(judge_model, base_url, cache, no_cache))
        cells = comparison_cells(
            domain.tasks(),
            seed_list,
            [m for m in Mode if m in names],
            model=backbone,
            judge_model=judge,
            budget=Budget(model_calls=most_calls, tokens=most_tokens),
            routed={ROUTED: who} if ROUTED in names else {},
            baselines={b: who for b in Baseline if b in names},
            branching=candidates,
        )
        with progress(len(cells), "episodes", quiet=json) as advance:
            work = execute_run(domain, cells, config=config, out=out, concurrency=concurrency, finished=advance)
            executed = run(work, backbone, judge)
    result = summarise_success(executed.rows)
    if out is not None:
        from planroute.reporting.report import write_report

        RunFolder(out).write(RESULT, canonical(result))
        report = write_report(out)
    if json:
        print_json(result)
    else:
        print_success(result)
        if out is not None:
            typer.echo(f"{len(cells)} episodes on {len(found)} games. Report: {report}")
        else:
            typer.echo("Add --out DIR to keep rows, traces and an HTML report.")
    exit_on_failures(executed.rows)
