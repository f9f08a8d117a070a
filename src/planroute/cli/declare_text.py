"""``planroute declare`` for text domains: one declaration on one task, and what the gate makes of it."""

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.compare_all import TEXT
from planroute.cli.compare_text import Setup, own_options
from planroute.cli.options import (
    BaseUrl,
    CachePath,
    Draw,
    FixedMode,
    GateDeadline,
    Json,
    MaxTokens,
    ModelSpec,
    NoCache,
    Reply,
    Strict,
    Temperature,
)

if TYPE_CHECKING:
    from planroute.calls import Sampling
    from planroute.protocols import Declarer, Domain, Model, Task


def _options(
    task: Annotated[str | None, typer.Option("--task", help="Identity of the task. Default: the first.")] = None,
    declarer: Annotated[str, typer.Option(help="natural, ranked, hybrid or fixed.")] = "natural",
    mode: FixedMode = None,
    reply: Reply = None,
    seed: Annotated[int, typer.Option(help="Seed of sampling.", min=0)] = 7,
    draw: Draw = 0,
    deadline: GateDeadline = None,
    strict: Strict = False,
    model: ModelSpec = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: MaxTokens = 400,
    json: Json = False,
) -> None:
    """Only its signature is used: the options of every text domain's command."""


def declare_text(name: str, load: "Callable[..., Domain]", own: Mapping[str, Any], given: dict[str, Any]) -> None:
    """Declare on one task of ``name`` and print it. Raises ``InputError`` for wrong input."""
    from dataclasses import asdict

    from planroute.calls import Sampling
    from planroute.cli.declare import Given, print_declaration, read_reply
    from planroute.cli.setting import declarer_from, opened_model, run
    from planroute.cli.show import print_json
    from planroute.declarers import Natural
    from planroute.episode import Conditions, run_episode
    from planroute.errors import InputError
    from planroute.gate import Gate

    reply, model = given["reply"], given["model"]
    sampling = Sampling(temperature=given["temperature"], max_tokens=given["max_tokens"])
    domain = _domain(load, own, sampling)
    task = _task(domain, given["task"])
    gate = Gate(given["deadline"], repair=not given["strict"])
    source = (given["base_url"], given["cache"], given["no_cache"])
    with opened_model(None if reply is not None else model, *source) as language_model:
        asked: Model | None
        who: Declarer
        if reply is not None:
            asked, who = Given(read_reply(reply)), Natural(sampling, given["draw"])
        else:
            asked = language_model
            has = language_model is not None
            who = declarer_from(given["declarer"], given["mode"], sampling, has_model=has, draw=given["draw"])
        conditions = Conditions(who, gate, model=asked, deadline_s=given["deadline"], only_declare=True)
        episode = run(run_episode(domain, task, given["seed"], conditions), asked)
    row = episode.row
    record = next((event.record for event in episode.trace if event.kind == "gated"), None)
    if record is None:
        where = f"--reply {reply}" if reply is not None else f"{domain.name}, task {task.id}"
        raise InputError(f"{where}: {row.error}")
    if given["json"]:
        spent = {"model_calls": sum(one.get("model_calls", 0) for one in row.spent.values())}
        declared = asdict(record.declared)
        print_json(
            {"task": task.id, "goal": task.text, "declaration": declared, "gate": asdict(record), "spent": spent}
        )
    else:
        print_declaration({"task": task.id, "goal": task.text}, record)
    if record.admitted is None:
        raise typer.Exit(1)


def _domain(load: "Callable[..., Domain]", own: Mapping[str, Any], sampling: "Sampling") -> "Domain":
    from planroute.domains.text import Limits
    from planroute.evaluation.judges import RubricJudge

    return load(Setup(RubricJudge("trajectory"), Limits(), sampling), **own)


def _task(domain: "Domain", name: str | None) -> "Task":
    from planroute.errors import InputError

    tasks = domain.tasks()
    found = next((task for task in tasks if name is None or task.id == name), None)
    if found is None:
        some = ", ".join(task.id for task in tasks[:5])
        raise InputError(f"--task {name!r} is no task of {domain.name}", hint=f"there are {len(tasks)}, such as {some}")
    return found


def _command(name: str, load: "Callable[..., Domain]") -> Callable[..., None]:
    own = own_options(load)
    shared = list(inspect.signature(_options).parameters.values())

    def command(**given: Any) -> None:
        mine = {each.name: given.pop(each.name) for each in own}
        declare_text(name, load, mine, given)

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *shared)]
    command.__name__ = name
    command.__doc__ = f"Declare how to plan one task of {name}, by a model or read from a model's answer."
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def attach(app: typer.Typer) -> None:
    """Add a command for each text domain to ``planroute declare``."""
    for name, (load, _, _) in TEXT.items():
        app.command(name)(_command(name, load))
