"""``planroute locate``: whose turn decided a failure, by fixed rules or by a language model; and how often rightly."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import (
    BaseUrl,
    CachePath,
    FileFormat,
    Json,
    MaxTokens,
    ModelSpec,
    NoCache,
    QuestionsAtOnce,
    Temperature,
)

if TYPE_CHECKING:
    from planroute.evaluation.location import Location, Turn
    from planroute.importers import Trajectory
    from planroute.protocols import Model

WIDEST = 100
ACTOR = "agent"
"""Whose the actions are in a trajectory of one agent."""


@dataclass(frozen=True, slots=True)
class Log:
    """What can be located in: turns, the plan's divergence where there is a plan, and the gold label kept apart."""

    file: str
    id: str
    task: str
    kind: str
    turns: "tuple[Turn, ...]"
    divergence: int | None = None
    gold: Any = None


def locate(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Logs of talk among agents, or trajectories of any format; - is stdin."),
    ],
    form: FileFormat = None,
    model: ModelSpec = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 400,
    concurrency: QuestionsAtOnce = 4,
    json: Json = False,
) -> None:
    """Name agent and turn that decided a failure, from what was said and done alone; with --model a model names them.

    Neither sees labels or right answers. Where files hold gold labels, the accuracy stands below, beside baselines.
    """
    from planroute.calls import Sampling
    from planroute.cli.setting import opened_model, run
    from planroute.cli.show import print_json
    from planroute.errors import FaultyInput

    logs, faults = _read(files, form)
    located: list[tuple[Location | None, str]]
    with opened_model(model, base_url, cache, no_cache) as language_model:
        if language_model is None:
            located = [_by_rules(log) for log in logs]
        else:
            sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
            located = run(_by_model(logs, language_model, sampling, concurrency), language_model)
    by = "rules" if language_model is None else f"location judge {language_model.endpoint}"
    results = [_result(log, found, error) for log, (found, error) in zip(logs, located, strict=True)]
    accuracy = _accuracy(logs, [found for found, _ in located])
    if json:
        print_json({"by": by, "located": results, "accuracy": accuracy, "faults": faults})
    else:
        for result in results:
            _print(result)
        for kind, table in accuracy.items():
            _print_accuracy(kind, table, by)
    if faults:
        raise FaultyInput("not every file could be read", faults)
    if any(error for _, error in located):
        raise typer.Exit(1)


def _read(files: list[str], form: str | None) -> tuple[list[Log], list[str]]:
    from planroute.cli.cases import content_of, say_empty
    from planroute.cli.show import plain
    from planroute.errors import InputError
    from planroute.importers import detect, read
    from planroute.importers.who_when import read_conversation

    logs: list[Log] = []
    faults: list[str] = []
    for file in files:
        name = "standard input" if file == "-" else Path(file).name
        try:
            data = content_of(file)
            found = read(data, name, form)
            if (form or detect(data, name)) == "who-when":
                talk = read_conversation(data, name)
                logs.append(Log(file, talk.id, talk.task, talk.kind, talk.turns, gold=talk.gold))
                continue
            if not found:
                say_empty(file)
            logs += [_log(file, trajectory) for trajectory in found]
        except InputError as error:
            faults.append(plain(str(error), 400))
    return logs, faults


def _log(file: str, trajectory: "Trajectory") -> Log:
    """The actions of one agent as turns, and where they left the plan that was declared last."""
    from planroute.evaluation.structure import verify
    from planroute.importers.who_when import Turn

    turns = tuple(Turn(ACTOR, action.text, action.observation) for action in trajectory.actions)
    declared = [plan for plan in trajectory.plans if not plan.instructed]
    divergence = None
    if declared and turns and trajectory.executed in (None, "PLAN_REACT"):
        since = declared[-1].before
        parted = verify(declared[-1].units, [one for one in trajectory.actions if one.index >= since]).first_divergence
        divergence = parted.action if parted else None
    return Log(file, trajectory.id, trajectory.task, trajectory.source.split()[0], turns, divergence)


def _by_rules(log: Log) -> "tuple[Location | None, str]":
    from planroute.errors import InputError
    from planroute.evaluation.location import locate as by_rules

    try:
        return by_rules(log.turns, log.divergence), ""
    except InputError as error:
        return None, error.message


async def _by_model(
    logs: list[Log], model: "Model", sampling: Any, concurrency: int
) -> "list[tuple[Location | None, str]]":
    import asyncio

    from planroute.errors import ReplyError
    from planroute.evaluation.location_judge import LocationJudge
    from planroute.ledger import Ledger
    from planroute.models.metered import MeteredModel
    from planroute.protocols import Context
    from planroute.trace import Trace

    ledger = Ledger()
    context = Context(0, Trace(), ledger, MeteredModel(model, ledger))
    turn = asyncio.Semaphore(concurrency)

    async def one(log: Log) -> "tuple[Location | None, str]":
        if not log.turns:
            return None, "no agent has a turn: there is nothing to locate"
        async with turn:
            try:
                return await LocationJudge(sampling).locate(log.task, log.turns, context), ""
            except ReplyError as error:
                return None, f"the answer cannot be read: {error.message}"

    return list(await asyncio.gather(*(one(log) for log in logs)))


def _result(log: Log, found: "Location | None", error: str) -> dict[str, Any]:
    from dataclasses import asdict

    from planroute.cli.show import cleaned

    told: dict[str, Any] = cleaned(
        {
            "file": log.file,
            "id": log.id,
            "kind": log.kind,
            "turns": len(log.turns),
            "located": None if found is None else asdict(found),
            "error": error,
            "gold": None if log.gold is None else asdict(log.gold),
        }
    )
    return told


def _accuracy(logs: list[Log], located: "list[Location | None]") -> dict[str, Any]:
    """The scores of every kind of log that has gold labels."""
    from planroute.evaluation.location_scores import Labelled, scores

    kinds: dict[str, list[Labelled]] = {}
    for log, found in zip(logs, located, strict=True):
        if log.gold is not None:
            kinds.setdefault(log.kind, []).append(Labelled(log.turns, log.gold.agent, log.gold.step, found))
    return {kind: scores(cases) for kind, cases in sorted(kinds.items())}


def _print(result: dict[str, Any]) -> None:
    typer.echo(f"{result['id'][:WIDEST]} ({result['kind']}, {result['turns']} turns)")
    found, gold = result["located"], result["gold"]
    if found is None:
        typer.echo(f"  not located: {result['error']}")
    else:
        typer.echo(f"  {found['agent'][:WIDEST]} at turn {found['step']}: {found['reason']} ({found['rule']})")
    if gold is not None:
        typer.echo(f"  by its label: {gold['agent'][:WIDEST]} at turn {gold['step']}")


def _print_accuracy(kind: str, table: dict[str, Any], by: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from planroute.cli.show import plain

    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column(Text(f"{plain(kind)}, n = {table['located']['agent']['n']}"), no_wrap=True)
    for title in ("agent", "turn", "within 1", "within 3"):
        shown.add_column(title, justify="right")
    for name, row in table.items():
        shown.add_row(
            Text(plain(f"by {by}") if name == "located" else name), *(_share(value) for value in row.values())
        )
    console = Console(width=max(Console().width, 120))
    console.print()
    console.print(shown)


def _share(value: dict[str, Any]) -> str:
    if value["mean"] is None:
        return "-"
    return (
        f"{value['mean']:.2f} [{value['low']:.2f}, {value['high']:.2f}]" if "low" in value else f"{value['mean']:.2f}"
    )
