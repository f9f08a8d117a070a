"""What ``planroute compare`` has in common for text domains: options, cells, table, report.

A domain brings a loader: a function that takes a ``Setup`` and then options of its own, as a command does, and returns
the domain. ``text_command`` makes the command of it.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    FixedMode,
    Json,
    JudgeModel,
    MaxTokens,
    NoCache,
    Price,
    RunnerName,
    RunOut,
    Seeds,
    Temperature,
    Thinking,
    parse_conditions,
    parse_seeds,
)
from planroute.models.spec import public_spec

if TYPE_CHECKING:
    from planroute.calls import Sampling
    from planroute.domains.text import Limits
    from planroute.protocols import Domain, Judge
    from planroute.runs.manner import Manner


@dataclass(frozen=True, slots=True)
class Setup:
    """What every text domain is opened with: the judge of alternatives, bounds of an episode, sampling."""

    judge: "Judge"
    limits: "Limits"
    sampling: "Sampling"


TasksOrCount = Annotated[
    str | None,
    typer.Option(
        "--tasks", help="File or folder of tasks. Default: our own; a number takes the first so many.", metavar="PATH"
    ),
]
"""Tasks of one's own, or how many of the project's."""


def tasks_or_count(text: str | None) -> tuple[Path | None, int | None]:
    """Read ``--tasks``: a path, or how many of the project's own. Raises ``InputError`` for none of them."""
    from planroute.errors import InputError

    if text is None or not (text.isdecimal() and len(text) < 9):
        if text == "":
            raise InputError("--tasks names nothing", hint="give a file or folder, or a number; . is where you are")
        return (None if text is None else Path(text)), None
    if int(text) == 0:
        raise InputError("--tasks 0 leaves nothing to compare")
    return None, int(text)


@dataclass(frozen=True, slots=True)
class Words:
    """How a command calls what it compares on: one task, and the options that name them and take the first so many."""

    task: str
    source: str
    first: str


def _options(
    model: Annotated[
        str, typer.Option("--model", help="Language model, or scripted/slip=RATE for an agent with a known slip rate.")
    ],
    conditions: Annotated[
        str,
        typer.Option(help="all (FLAT_REACT, PLAN_REACT, the four modes, ROUTED), or some of them and REPEATED_REACT."),
    ] = "all",
    seeds: Seeds = "7,13,42",
    declarer: Annotated[
        str, typer.Option(help="Who declares for ROUTED and PLAN_REACT: natural, ranked, few_shot, hybrid or fixed.")
    ] = "natural",
    mode: FixedMode = None,
    demonstrations: Annotated[
        Path | None, typer.Option(help="Forced run of two seeds from which --declarer few_shot takes its examples.")
    ] = None,
    judge_model: JudgeModel = None,
    thinking: Thinking = None,
    candidates: Annotated[int, typer.Option(help="Most candidates of SEARCH.", min=2, max=4)] = 4,
    steps: Annotated[int, typer.Option(help="Most actions of one trajectory.", min=1)] = 50,
    steps_per_unit: Annotated[int, typer.Option(help="Most actions on one unit of a plan.", min=1)] = 20,
    most_calls: Annotated[int | None, typer.Option(help="Budget of model calls of one episode.", min=1)] = None,
    most_tokens: Annotated[int | None, typer.Option(help="Budget of tokens of one episode.", min=1)] = None,
    first: int | None = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: MaxTokens = 400,
    out: RunOut = None,
    concurrency: Concurrency = 8,
    runner: RunnerName = "local",
    address: Address = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_seconds: BudgetSeconds = None,
    price: Price = None,
    episode_seconds: EpisodeSeconds = None,
    json: Json = False,
) -> None:
    """Only its signature is used: the options that all text domains share."""


def own_options(load: "Callable[..., Domain]") -> list[inspect.Parameter]:
    """The options that are a domain's own: all parameters of its ``load`` but the first."""
    return list(inspect.signature(load).parameters.values())[1:]


def shared_defaults() -> dict[str, Any]:
    """The defaults of the shared options of ``compared``, by name; ``--model`` has none."""
    shared = inspect.signature(_options).parameters.values()
    return {each.name: each.default for each in shared if each.name not in ("model", "json")}


def text_command(
    name: str, load: "Callable[..., Domain]", words: Words, defaults: Mapping[str, Any] | None = None
) -> Callable[..., None]:
    """Return the command that compares conditions on the domain of ``load``; its help is the docstring of ``load``.

    Its options are ``--model``, then those of ``load`` (all but its first parameter), then the shared ones, of which
    some may have ``defaults`` of the domain's own.
    """
    own = own_options(load)
    model, *shared = inspect.signature(_options).parameters.values()
    first = typer.Option(words.first, help=f"Take only the first so many {words.task}s.", min=1)
    shared = [
        each.replace(annotation=Annotated[int | None, first]) if each.name == "first" else each for each in shared
    ]

    shared = [each.replace(default=(defaults or {}).get(each.name, each.default)) for each in shared]

    def command(**given: Any) -> None:
        mine = {each.name: given.pop(each.name) for each in own}
        compare_text(name, lambda setup: load(setup, **mine), words, **given)

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (model, *own, *shared)]
    command.__name__ = name
    command.__doc__ = load.__doc__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def compare_text(name: str, load: "Callable[[Setup], Domain]", words: Words, **given: Any) -> None:
    """Run the comparison, keep it under ``--out``, print its table. Raises ``InputError`` for wrong input."""
    from planroute.cli.setting import manner_of
    from planroute.cli.show import exit_on_failures, print_json, print_success

    json = given.pop("json")
    manner = manner_of(given)
    found = compared(name, load, words, manner=manner, quiet=json, **given)
    if json:
        print_json(found.result)
    else:
        print_success(found.result)
        if found.report is not None:
            typer.echo(f"{found.episodes} episodes on {found.tasks} {words.task}s. Report: {found.report}")
        else:
            typer.echo("Add --out DIR to keep rows, traces and an HTML report.")
    exit_on_failures(found.rows)


def compared(
    name: str,
    load: "Callable[[Setup], Domain]",
    words: Words,
    *,
    manner: "Manner",
    quiet: bool,
    price: str | None = None,
    model: str,
    conditions: str,
    seeds: str,
    declarer: str,
    mode: str | None,
    demonstrations: Path | None,
    judge_model: str | None,
    thinking: bool | None,
    candidates: int,
    steps: int,
    steps_per_unit: int,
    most_calls: int | None,
    most_tokens: int | None,
    first: int | None,
    base_url: str | None,
    cache: Path | None,
    no_cache: bool,
    temperature: float,
    max_tokens: int,
    out: Path | None,
) -> Compared:
    """Run the comparison and keep it under ``out`` where that is given. Raises ``InputError`` for wrong input."""
    from contextlib import ExitStack
    from dataclasses import asdict

    from planroute.calls import GenerationProfile
    from planroute.cli.setting import declarer_from, opened_model, progress, run
    from planroute.declaration import DEFAULT_BRANCHING
    from planroute.declarers import Bounded
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
    profile = GenerationProfile(temperature=temperature, max_new_tokens=max_tokens, thinking=thinking)
    sampling = profile.sampling()
    domain = load(Setup(RubricJudge("trajectory"), Limits(steps=steps, steps_per_unit=steps_per_unit), sampling))
    shown = {shot.task_id for shot in shots}
    tasks = [task for task in domain.tasks() if task.id not in shown][:first]
    if not tasks:
        raise InputError(
            f"every {words.task} is a demonstration in {demonstrations}", hint=f"name more with {words.source}"
        )
    who = declarer_from(declarer, mode, sampling, has_model=True, shots=shots)
    if candidates < DEFAULT_BRANCHING:
        who = Bounded(who, candidates)
    config: dict[str, Any] = {
        "command": f"compare {name}",
        "seeds": seed_list,
        "conditions": names,
        "declarer": declarer,
        "model": public_spec(model),
        "judge_model": public_spec(judge_model),
        "candidates": candidates,
        "most_calls": most_calls,
        "most_tokens": most_tokens,
        "demonstrations": [shot.task_id for shot in shots],
        "generation_profile": asdict(profile),
    }
    with ExitStack() as opened:
        source = (base_url, cache, no_cache, price, manner)
        backbone = opened.enter_context(opened_model(model, *source))
        judge = opened.enter_context(opened_model(judge_model, *source)) if judge_model else None
        cells = comparison_cells(
            tasks,
            seed_list,
            [m for m in Mode if m in names],
            model=backbone,
            judge_model=judge,
            budget=Budget(model_calls=most_calls, tokens=most_tokens),
            routed={ROUTED: who} if ROUTED in names else {},
            baselines={b: who for b in Baseline if b in names},
            branching=candidates,
        )
        with progress(len(cells), "episodes", quiet=quiet) as advance:
            work = execute_run(domain, cells, config=config, out=out, manner=manner, finished=advance)
            executed = run(work, backbone, judge)
    result = summarise_success(executed.rows, getattr(domain, "measures", ()))
    report: Path | None = None
    if out is not None:
        from planroute.evidence import evidence
        from planroute.reporting.report import write_report

        RunFolder(out).write(RESULT, canonical(result))
        report = write_report(out, evidence)
    return Compared(result, executed.rows, len(cells), len(tasks), report, executed.resumed)
