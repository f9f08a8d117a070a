"""``planroute judge``: a language model scores plans and trajectories by a rubric; for trajectories of many formats."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import BaseUrl, CachePath, Json, MaxTokens, NoCache, Temperature

if TYPE_CHECKING:
    from planroute.importers import Trajectory
    from planroute.ledger import Ledger
    from planroute.plan import PlanUnit
    from planroute.protocols import Model

UNKNOWN = "not on record"
SHELL = "Shell commands in a checkout of the project: look around, read, search, edit and run files."
WIDEST = 100


@dataclass(frozen=True, slots=True)
class Case:
    """One trajectory as a judge may see it: no success label, no hidden state.

    ``first`` is the plan as it was first written, ``active`` the units of the plan that execution is held against,
    ``writer`` the model that wrote the trajectory, where that is known.
    """

    file: str
    trajectory: "Trajectory"
    goal: str
    domain: str
    tools: str
    first: str
    active: "tuple[PlanUnit, ...]"
    since: int
    writer: str | None

    def evidence(self, rubric: str) -> dict[str, Any] | None:
        """Return what the judge of ``rubric`` is shown; ``None`` where there is no plan to judge."""
        seen: dict[str, Any] = {"domain": self.domain}
        if rubric == "quality":
            return seen | {"what_can_be_done": self.tools, "plan": self.first} if self.first else None
        if rubric == "adherence":
            if not self.active:
                return None
            seen["plan"] = written(self.active)
        return seen | {"trajectory": self.transcript(rubric)}

    def transcript(self, rubric: str) -> str:
        """The actions and what was observed, line by line; for adherence those since the plan was declared."""
        since = self.since if rubric == "adherence" else 0
        lines = ["The attempt begins."]
        for action in self.trajectory.actions:
            if action.index >= since:
                lines += [f"> {action.text}", action.observation]
        return "\n".join(lines)


def judge(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Trajectories of any format; - is standard input.")
    ],
    model: Annotated[
        str, typer.Option("--model", help="The judging language model: another than the one that is judged.")
    ],
    rubric: Annotated[str, typer.Option(help="quality, adherence or trajectory.")] = "adherence",
    goal: Annotated[str | None, typer.Option(help="The goal, where the files do not say it.")] = None,
    tools: Annotated[str | None, typer.Option(help="What can be done, where the files do not say it.")] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="Read the files as this format instead of detecting it.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Stop after this many trajectories.", min=1)] = None,
    thinking: Annotated[bool | None, typer.Option("--thinking/--no-thinking", help="Where the model can.")] = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 400,
    concurrency: Annotated[int, typer.Option(help="Most questions at once.", min=1)] = 4,
    json: Json = False,
) -> None:
    """Score plans (quality), how far they were carried out (adherence) or how far attempts got (trajectory), 0 to 3.

    Quality sees goal, what can be done and the first plan; execution is withheld. No rubric sees success.
    """
    from planroute.calls import Sampling
    from planroute.cli.setting import opened_model, run
    from planroute.cli.show import print_json
    from planroute.errors import FaultyInput, InputError
    from planroute.evaluation.judges import RUBRICS
    from planroute.ledger import Ledger

    if rubric not in RUBRICS:
        raise InputError(f"--rubric {rubric!r} is unknown", hint=f"choose from {', '.join(sorted(RUBRICS))}")
    cases, faults = read_cases(files, form, limit, goal, tools)
    sampling = Sampling(temperature=temperature, max_tokens=max_tokens, thinking=thinking)
    ledger = Ledger()
    with opened_model(model, base_url, cache, no_cache) as language_model:
        assert language_model is not None  # noqa: S101  (--model is required)
        work = _judged(cases, rubric, sampling, language_model, ledger, concurrency)
        results = run(work, language_model)
    if json:
        total = ledger.total
        spent = {"model_calls": total.model_calls, "tokens": total.tokens}
        print_json({"rubric": rubric, "judged": results, "faults": faults, "spent": spent})
    else:
        for result in results:
            _print(result)
        _print_sum(results, rubric)
    if faults:
        raise FaultyInput("not every file could be read", faults)
    if any(result["error"] for result in results):
        raise typer.Exit(1)


def read_cases(
    files: list[str], form: str | None, limit: int | None, goal: str | None, tools: str | None
) -> tuple[list[Case], list[str]]:
    """Read ``files``; return their trajectories and a line for each file that cannot be read."""
    import sys

    from planroute.cli.verify import _plain
    from planroute.errors import InputError
    from planroute.importers import read

    cases: list[Case] = []
    faults: list[str] = []
    for file in files:
        if limit is not None and len(cases) >= limit:
            break
        try:
            data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
            found = read(data, "standard input" if file == "-" else Path(file).name, form)
            cases += [_case(file, data, trajectory, goal, tools) for trajectory in found]
        except OSError as error:
            faults.append(_plain(f"{file}: {error.strerror or error}", 400))
        except InputError as error:
            faults.append(_plain(str(error), 400))
    return cases[:limit], faults


def _case(file: str, data: bytes, trajectory: "Trajectory", goal: str | None, tools: str | None) -> Case:
    if trajectory.source == "planroute":
        return _own_case(file, data, trajectory, goal, tools)
    declared = [plan for plan in trajectory.plans if not plan.instructed] or list(trajectory.plans)
    household = trajectory.source in ("adapt", "knowagent")
    shell = trajectory.source in ("mini-swe-agent", "swe-agent")
    domain = "alfworld" if household else "swebench" if shell else "unknown"
    return Case(
        file,
        trajectory,
        goal or trajectory.task or UNKNOWN,
        domain,
        tools or (SHELL if shell else _briefing(domain)),
        written(declared[0].units) if declared else "",
        tuple(declared[-1].units) if declared else (),
        declared[-1].before if declared else 0,
        trajectory.source.partition(" ")[2] or None,
    )


def _own_case(file: str, data: bytes, trajectory: "Trajectory", goal: str | None, tools: str | None) -> Case:
    import json

    from planroute.process import chosen_plan
    from planroute.trace import Decomposed, ModelCalled, Planned, Proposed, Trace

    document = json.loads(data)
    row = document.get("row") or {}
    trace = Trace.from_json(json.dumps(document.get("trace", document)))
    domain = str(row.get("domain", "unknown"))
    first = next((event for event in trace if isinstance(event, Planned | Decomposed | Proposed)), None)
    if isinstance(first, Proposed):
        plans = enumerate((plan for _, _, plan in first.candidates), 1)
        told = "\n".join(f"alternative {number}:\n{written(plan.units)}" for number, plan in plans)
    else:
        told = written(trajectory.plans[0].units) if trajectory.plans else ""
    active = chosen_plan(trace) or (trajectory.plans[-1].units if trajectory.plans else ())
    writers = {event.model for event in trace.of(ModelCalled) if not event.purpose.endswith(" judge")}
    return Case(
        file,
        trajectory,
        goal or trajectory.task or _goal_of(file, row) or UNKNOWN,
        domain,
        tools or _briefing(domain),
        told,
        tuple(active),
        0,
        str(row["model"]) if row.get("model") else min(writers, default=None),
    )


def _goal_of(file: str, row: Any) -> str:
    """The goal of a cell's task, as the manifest of its run has it."""
    from planroute.errors import InputError
    from planroute.runs.folder import RunFolder

    try:
        facts = RunFolder(Path(file).resolve().parent.parent).manifest().get("facts", {})
    except (InputError, OSError):
        return ""
    known = facts.get(row.get("task")) if isinstance(facts, dict) else None
    return str(known.get("goal", "")) if isinstance(known, dict) else ""


def _briefing(domain: str) -> str:
    """What can be done in a text domain, in the words that its backbone reads."""
    if domain == "alfworld":
        from planroute.domains.alfworld import domain as household

        return household.BRIEFING
    if domain == "mind2web":
        from planroute.domains.mind2web import domain as pages

        return pages.BRIEFING
    return UNKNOWN


def written(units: "tuple[PlanUnit, ...]", before: str = "") -> str:
    """Return a plan as numbered lines, nested plans as nested numbers."""
    lines = []
    for number, unit in enumerate(units, 1):
        any_one = " (any one of these)" if unit.children and unit.logic == "OR" else ""
        lines.append(f"{before}{number} {unit.text}{any_one}".rstrip())
        if unit.children:
            lines.append(written(unit.children, f"{before}{number}."))
    return "\n".join(lines)


async def _judged(
    cases: list[Case], rubric: str, sampling: Any, model: "Model", ledger: "Ledger", concurrency: int
) -> list[dict[str, Any]]:
    import asyncio

    from planroute.errors import ReplyError
    from planroute.evaluation.judges import RubricJudge
    from planroute.models.metered import MeteredModel
    from planroute.protocols import Context
    from planroute.trace import Trace

    judging = RubricJudge(rubric, sampling)
    context = Context(0, Trace(), ledger, MeteredModel(model, ledger))
    turn = asyncio.Semaphore(concurrency)

    async def one(case: Case) -> dict[str, Any]:
        evidence = case.evidence(rubric)
        if evidence is None:
            return _result(case, rubric, None, "no plan is declared", "", model.endpoint)
        async with turn:
            try:
                judged = await judging.judge(case.goal, evidence, context)
            except ReplyError as error:
                unread = f"the judge's answer cannot be read: {error.message}"
                return _result(case, rubric, None, "", unread, model.endpoint)
        return _result(case, rubric, judged.score, judged.reason, "", model.endpoint)

    return list(await asyncio.gather(*(one(case) for case in cases)))


def _result(case: Case, rubric: str, score: int | None, reason: str, error: str, endpoint: str) -> dict[str, Any]:
    from planroute.cli.verify import _plain

    units = _units(case) if rubric == "adherence" and case.active else None
    return {
        "file": _plain(case.file, 400),
        "id": _plain(case.trajectory.id, 400),
        "source": _plain(case.trajectory.source, 100),
        "rubric": rubric,
        "score": score,
        "reason": _plain(reason, 400),
        "error": _plain(error, 400),
        "judge": f"{rubric} judge {endpoint}",
        "writer": _plain(case.writer, 200) if case.writer else None,
        "judge_is_writer": same_model(endpoint, case.writer) if case.writer else None,
        "units": units,
    }


def _units(case: Case) -> dict[str, Any] | None:
    """Planned, needed and completed units, by the verifier: evidence in the actions, no judge's word."""
    from planroute.errors import InputError
    from planroute.evaluation.structure import verify

    try:
        verdict = verify(case.active, [action for action in case.trajectory.actions if action.index >= case.since])
    except InputError:  # too long a plan
        return None
    return {
        "planned": verdict.planned,
        "needed": verdict.needed,
        "completed": verdict.completed,
        "adherence": verdict.adherence,
    }


def same_model(one: str, other: str) -> bool:
    """Whether two names of models, each perhaps behind an address or a provider, end in the same name."""
    import re

    def name(whole: str) -> str:
        return re.split(r"[#/]", whole.strip().lower())[-1]

    return name(one) == name(other)


def _print(result: dict[str, Any]) -> None:
    typer.echo(f"{result['id'][:WIDEST]} ({result['source']})")
    if result["error"]:
        typer.echo(f"  {result['rubric']} -: {result['error']}")
    else:
        score = "-" if result["score"] is None else result["score"]
        typer.echo(f"  {result['rubric']} {score}: {result['reason'] or 'no reason given'}")
    units = result["units"]
    if units:
        adherence = "" if units["adherence"] is None else f"; adherence {units['adherence']:.2f}"
        counts = f"{units['planned']} planned, {units['needed']} needed, {units['completed']} completed"
        typer.echo(f"  units by the verifier: {counts}{adherence}")


def _print_sum(results: list[dict[str, Any]], rubric: str) -> None:
    scores = [result["score"] for result in results if result["score"] is not None]
    mean = f", mean {sum(scores) / len(scores):.2f}" if scores else ""
    by = f" by the {results[0]['judge']}" if results else ""
    typer.echo(f"{len(results)} trajectories, {len(scores)} scored for {rubric}{mean}{by}")
    own = sum(bool(result["judge_is_writer"]) for result in results)
    if own:
        typer.echo(f"warning: the judge is the model that wrote {own} of them; take another judge")
