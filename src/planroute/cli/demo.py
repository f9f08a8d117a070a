"""``planroute demo``: a grid day and its verdict, with a language model in it."""

from pathlib import Path
from typing import Annotated

import typer

from planroute.cli.options import BaseUrl, CachePath, Json, NoCache
from planroute.models.spec import public_spec

DEMO_HOUR = 14
"""The campaign's first hour: its messages and evaluations are real model calls in every condition."""


def demo(
    model: Annotated[
        str, typer.Option("--model", help="Language model; see planroute compare grid --help.")
    ] = "embedded",
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    seed: Annotated[int, typer.Option(help="Seed of the day.", min=0)] = 7,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows, traces and report. Default: a new one under planroute-demo.")
    ] = None,
    json: Json = False,
) -> None:
    """Show one hot day on the feeder: real declarations, four forced modes, one hour of real messages, a verdict."""
    from planroute.calls import Sampling
    from planroute.cli.setting import opened_model, progress, run, scenario_from
    from planroute.cli.show import exit_on_failures, print_comparison, print_json, print_oracle, print_routed
    from planroute.declarers import Hybrid, Natural
    from planroute.domains.grid import GridDomain
    from planroute.experiments.compare import comparison_cells, summarise
    from planroute.modes import MODES
    from planroute.reporting.report import write_report
    from planroute.runs.cells import identity
    from planroute.runs.execute import execute_run, package_version
    from planroute.runs.folder import RESULT, RunFolder, canonical

    def say(line: str) -> None:
        if not json:
            typer.echo(line)

    sampling = Sampling()
    domain = GridDomain({"demo": scenario_from(None, None, communication="model", model_hours=(DEMO_HOUR,))}, sampling)
    say(f"A hot day on a feeder with 40 prosumers, seed {seed}. Language model: {model}.")
    if model == "embedded":
        say("The embedded model (135 M parameters) is for trying out: it shows that every interface runs, no more.")
        say("Name a better one with --model gguf:PATH, --model openai:NAME or --model http://HOST/v1#NAME.")
    say("The first run asks the model some thirty times, which takes a minute or two; a second one seconds.")
    config = {
        "command": "demo",
        "seeds": [seed],
        "model": public_spec(model),
        "model_hours": [DEMO_HOUR],
        "declarer": "natural, hybrid",
    }
    with opened_model(model, base_url, cache, no_cache) as language_model:
        cells = comparison_cells(
            domain.tasks(),
            [seed],
            MODES,
            model=language_model,
            routed={"ROUTED natural": Natural(sampling), "ROUTED hybrid": Hybrid(sampling)},
        )
        if out is None:
            named = identity([package_version(), seed, language_model.endpoint if language_model else None])
            out = Path("planroute-demo") / named[:8]
        with progress(len(cells), "episodes", quiet=json) as advance:
            executed = run(execute_run(domain, cells, config=config, out=out, finished=advance), language_model)
    result = summarise(executed.rows, "objective")
    RunFolder(out).write(RESULT, canonical(result))
    report = write_report(out)
    if json:
        print_json({**result, "report": str(report)})
        exit_on_failures(executed.rows)
        return
    say("")
    print_comparison(result)
    print_oracle(result)
    print_routed(result)
    calls = sum(spent.get("model_calls", 0) for row in executed.rows for spent in row.spent.values())
    billed = sum(s["billed_calls"] for cell in executed.billing.values() for s in cell.values())
    say(f"{calls} model calls: {billed} asked just now, {calls - billed} repeats answered without asking again.")
    say(f"Report: {report}")
    exit_on_failures(executed.rows)
