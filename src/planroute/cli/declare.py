"""``planroute declare``: one declaration and what the gate makes of it, without executing anything."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import (
    BaseUrl,
    CachePath,
    Draw,
    Factors,
    FixedMode,
    GateDeadline,
    Json,
    MaxTokens,
    ModelSpec,
    NoCache,
    Reply,
    ScenarioFile,
    Strict,
    Temperature,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planroute.calls import ModelReply, ModelRequest
    from planroute.gate import GateRecord

app = typer.Typer(help="Declare once, and see what the gate makes of it.", no_args_is_help=True)


@app.command()
def grid(
    declarer: Annotated[str, typer.Option(help="natural, hybrid or fixed.")] = "hybrid",
    mode: FixedMode = None,
    reply: Reply = None,
    hour: Annotated[int | None, typer.Option(help="Hour of the state. Default: the campaign's first.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of forecast and sampling.", min=0)] = 7,
    draw: Draw = 0,
    deadline: GateDeadline = None,
    critic: Annotated[
        bool, typer.Option("--critic", help="Have the model review what the gate admitted: approval, risk, intensity.")
    ] = False,
    strict: Strict = False,
    model: ModelSpec = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.2,
    max_tokens: MaxTokens = 400,
    scenario: ScenarioFile = None,
    factors: Factors = None,
    json: Json = False,
) -> None:
    """Declare a policy for the grid's state, by a model, by advice, or read from a model's answer."""
    from planroute.calls import Sampling
    from planroute.cli.setting import declarer_from, opened_model, run, scenario_from
    from planroute.cli.show import print_json
    from planroute.declarers import Natural
    from planroute.domains.grid import GridDomain
    from planroute.domains.grid.critic import Review, review
    from planroute.errors import InputError, ReplyError
    from planroute.gate import Gate, GateRecord
    from planroute.ledger import Ledger
    from planroute.models.metered import MeteredModel
    from planroute.protocols import Context, Declarer, Model, State
    from planroute.trace import Trace

    if critic and (model is None or reply is not None):
        raise InputError("--critic needs a language model that is asked", hint="name one with --model, without --reply")
    text = read_reply(reply) if reply is not None else ""
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens)
    domain = GridDomain({"nominal": scenario_from(scenario, factors)}, sampling)
    task = domain.tasks()[0]
    ledger = Ledger()

    gate = Gate(deadline, repair=not strict)

    async def declared(language_model: Model | None, who: Declarer) -> tuple[State, GateRecord, Review | None]:
        metered = MeteredModel(language_model, ledger) if language_model else None
        context = Context(seed, Trace(), ledger, metered)
        state = await domain.state_at(task, context, hour)
        record = gate.admit(await who.declare(domain, task, state, context))
        if not critic or record.admitted is None:
            return state, record, None
        cost = gate.costs.longest(record.admitted)
        _, answer = await review(context, state, record.admitted, deadline_s=deadline, cost_s=cost, sampling=sampling)
        return state, record, answer

    with opened_model(None if reply is not None else model, base_url, cache, no_cache) as language_model:
        if reply is not None:
            try:
                state, record, answer = run(declared(Given(text), Natural(sampling, draw)))
            except ReplyError as error:
                raise InputError(f"--reply {reply}: {error.message}") from None
        else:
            who = declarer_from(declarer, mode, sampling, has_model=language_model is not None, draw=draw)
            state, record, answer = run(declared(language_model, who), language_model)
    declaration = record.declared
    total = ledger.total
    if json:
        spent = {"model_calls": total.model_calls, "tokens": total.tokens}
        critique = answer.model_dump(mode="json") if answer else None
        print_json(
            {
                "state": state.summary,
                "declaration": asdict(declaration),
                "gate": asdict(record),
                "critic": critique,
                "spent": spent,
            }
        )
    else:
        print_declaration(state.summary, record)
        if answer is not None:
            verdict = "approves" if answer.approve else "does not approve"
            typer.echo(f"Critic:   {verdict}, risk {answer.risk}, intensity {answer.intensity:.3f}")
    if record.admitted is None:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class Given:
    """Stands for whoever wrote the answer that is read."""

    text: str
    endpoint: str = "given"

    async def complete(self, request: "ModelRequest") -> "ModelReply":
        """Return the answer, whatever is asked."""
        from planroute.calls import ModelReply

        return ModelReply(self.text)

    async def aclose(self) -> None:
        """Nothing is held."""


def read_reply(path: Path) -> str:
    """Return what ``--reply`` names. Raises ``InputError`` where it cannot be read."""
    import sys

    from planroute.errors import InputError

    if str(path) == "-" and sys.stdin is None:
        raise InputError("--reply -: there is no standard input")
    try:
        raw = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"--reply {path}: {error.strerror or error}") from None
    return raw.decode("utf-8", errors="replace")


def print_declaration(summary: "Mapping[str, Any]", record: "GateRecord") -> None:
    """Print what was seen, what was declared, and what the gate made of it."""
    from planroute.cli.show import plain

    declaration, admitted, action, why = record.declared, record.admitted, record.action, record.why
    seen = ", ".join(f"{name} {value}" for name, value in summary.items() if value is not None)
    typer.echo("State:    " + plain(seen, 400))
    typer.echo("Declared: " + plain(_policy(declaration), 2000))
    if declaration.rationale:
        typer.echo("Because:  " + plain(" ".join(declaration.rationale.split())))
    for clip in declaration.clips:
        typer.echo(f"Clipped:  {clip.field} from {clip.given:g} to {clip.used:g}")
    for mended in declaration.repairs:
        typer.echo(f"Mended:   {plain(mended)}")
    typer.echo(f"Gate:     {action.lower()}{': ' + why if why else ''}")
    if admitted is not None and admitted != declaration:
        typer.echo("Admitted: " + plain(_policy(admitted), 2000))


def _policy(declaration: Any) -> str:
    parts = [str(declaration.mode)]
    if declaration.depth > 1:
        parts.append(f"depth {declaration.depth}")
    if declaration.branching > 1:
        parts.append(f"branching {declaration.branching}")
    parts += [f"{name} {_field(value)}" for name, value in declaration.fields.items()]
    if declaration.confidence is not None:
        parts.append(f"confidence {declaration.confidence:.2f}")
    return ", ".join(parts)


def _field(value: Any) -> str:
    """A field as a person reads it: of a plan its steps, section by section."""
    if not isinstance(value, list):
        return str(value)
    sections = [section for section in value if isinstance(section, dict)]
    told = [
        f"{section.get('title') or 'steps'}: {'; '.join(map(str, section.get('steps') or ['(to be asked for)']))}"
        for section in sections
    ]
    return " | ".join(told) or "(to be asked for)"
