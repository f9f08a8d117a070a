"""``planroute judge``: a language model scores plans and trajectories by a rubric; for trajectories of many formats."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.cases import Case, read_cases
from planroute.cli.options import (
    BaseUrl,
    CachePath,
    FileFormat,
    Json,
    MaxTokens,
    MostFiles,
    NoCache,
    QuestionsAtOnce,
    Temperature,
    Thinking,
)

if TYPE_CHECKING:
    from planroute.ledger import Ledger
    from planroute.protocols import Model

WIDEST = 100


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
    form: FileFormat = None,
    limit: MostFiles = None,
    thinking: Thinking = None,
    base_url: BaseUrl = None,
    cache: CachePath = None,
    no_cache: NoCache = False,
    temperature: Temperature = 0.0,
    max_tokens: MaxTokens = 400,
    concurrency: QuestionsAtOnce = 4,
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
        work = judged(cases, rubric, sampling, language_model, ledger, concurrency)
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


async def judged(
    cases: list[Case], rubric: str, sampling: Any, model: "Model", ledger: "Ledger", concurrency: int
) -> list[dict[str, Any]]:
    """Have ``model`` score ``cases`` by ``rubric``, in their order; a case without a plan has no score."""
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
    from planroute.cli.show import cleaned

    told: dict[str, Any] = cleaned(
        {
            "file": case.file,
            "id": case.trajectory.id,
            "source": case.trajectory.source,
            "rubric": rubric,
            "score": score,
            "reason": reason,
            "error": error,
            "judge": f"{rubric} judge {endpoint}",
            "writer": case.writer or None,
            "judge_is_writer": same_model(endpoint, case.writer) if case.writer else None,
            "units": _units(case) if rubric == "adherence" and case.active else None,
        }
    )
    return told


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
