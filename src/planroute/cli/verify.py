"""``planroute verify``: was a declared plan executed in its order? For trajectories of many formats."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import (
    FileFormat,
    Json,
    MostFiles,
)

if TYPE_CHECKING:
    from planroute.evaluation.structure import Lexicon
    from planroute.importers import DeclaredPlan, Trajectory

WIDEST = 100
ANSWERS = {True: "preserved", False: "not preserved", None: "undecided"}


def verify(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Trajectories of any format; - is standard input.")
    ],
    form: FileFormat = None,
    lexicon: Annotated[
        str | None,
        typer.Option(help="household, shell, web or generic. Default: the one that knows most of the actions."),
    ] = None,
    limit: MostFiles = None,
    json: Json = False,
) -> None:
    """Match declared plans to what was done: preserved or not, which unit broke and where.

    A file that cannot be read does not stop the others; all such files are listed at the end.
    """
    from planroute.cli.cases import say_empty
    from planroute.cli.show import plain, print_json
    from planroute.errors import FaultyInput, InputError
    from planroute.evaluation.structure import lexicon as lexicon_named

    words = lexicon_named(lexicon) if lexicon else None
    results: list[dict[str, Any]] = []
    faults: list[str] = []
    for file in files:
        room = None if limit is None else limit - len(results)
        if room == 0:
            break
        try:
            found = _read(file, form)
        except InputError as error:
            faults.append(plain(str(error), 400))
            continue
        if not found:
            say_empty(file)
        for trajectory in found[:room]:
            try:
                results.append(_result(file, trajectory, words))
            except InputError as error:
                faults.append(plain(f"{file}: {trajectory.id}: {error}", 400))
                continue
            if not json:
                _print(results[-1])
    if json:
        print_json({"trajectories": results, "faults": faults})
    elif len(results) > 1:
        _print_sum(results)
    if faults:
        raise FaultyInput("not every file could be read", faults)


def _read(file: str, form: str | None) -> "list[Trajectory]":
    from planroute.cli.cases import content_of
    from planroute.importers import read, read_file

    if file in ("", "-"):
        return read(content_of(file), "standard input", form)
    return read_file(Path(file), form)


def _result(file: str, trajectory: "Trajectory", words: "Lexicon | None") -> dict[str, Any]:
    from planroute.cli.show import cleaned

    active = trajectory.plans[-1:] if trajectory.source == "planroute" else trajectory.plans
    told: dict[str, Any] = cleaned(
        {
            "file": file,
            "id": trajectory.id,
            "source": trajectory.source,
            "success": trajectory.success,
            "failure": trajectory.failure,
            "actions": len(trajectory.actions),
            "plans": [_plan_result(trajectory, plan, words) for plan in active],
        }
    )
    return told


def _plan_result(trajectory: "Trajectory", plan: "DeclaredPlan", words: "Lexicon | None") -> dict[str, Any]:
    from dataclasses import asdict

    from planroute.evaluation.structure import Status, Verdict, verify_dispatched

    since = 0 if trajectory.source == "planroute" else plan.before
    actions = [action for action in trajectory.actions if action.index >= since]
    if trajectory.source != "planroute" and not trajectory.actions:
        verdict = Verdict(None, "not_applicable", reason="no action is on record")
    else:
        verdict = verify_dispatched(trajectory.declared, trajectory.executed, plan.units, actions, words)
    done = {unit.unit: unit.status in {Status.COMPLETED, Status.OUT_OF_ORDER} for unit in verdict.units}
    refuted = sorted(unit for unit, claim in trajectory.claims.items() if claim and done.get(unit) is False)
    return {
        "kind": "instructed" if plan.instructed else "declared",
        "text": plan.root.text,
        "since_action": since,
        "claims_without_evidence": refuted,
        **asdict(verdict),
        "adherence": verdict.adherence,
    }


def _print(result: dict[str, Any]) -> None:
    success = {True: ", succeeded", False: ", failed", None: ""}[result["success"]]
    typer.echo(f"{result['id'][:WIDEST]} ({result['source']}, {result['actions']} actions{success})")
    if not result["plans"]:
        typer.echo("  no plan is declared")
    for plan in result["plans"]:
        answer = ANSWERS[plan["order_preserved"]]
        if plan["settled_by"] == "dispatch":
            answer = answer if plan["order_preserved"] is not None else "not scored"
            typer.echo(f"  {plan['kind']} plan: {answer}, settled by the dispatch record ({plan['reason']})")
            order = "" if plan["order_by_actions"] is None else f"{ANSWERS[plan['order_by_actions']]}, "
            typer.echo(f"    by the actions: {order}{plan['completed']} of {plan['needed']} units")
        elif plan["settled_by"] == "not_applicable":
            what = "not applicable" if result["actions"] else "not scored"
            typer.echo(f"  {plan['kind']} plan: {what}, {plan['reason']}")
            continue
        else:
            counts = f"{plan['completed']} of {plan['needed']} units" if plan["needed"] else plan["reason"]
            typer.echo(f"  {plan['kind']} plan: {answer}, {counts}")
        for unit in plan["units"]:
            if unit["needed"] and unit["status"] not in {"completed", "not_actionable"}:
                typer.echo(f"    {unit['unit']} {unit['text'][:WIDEST]!r}: {unit['status']}, {unit['reason']}")
        first = plan["first_divergence"]
        if first:
            where = "at the end of the log" if first["action"] is None else f"at action {first['action'] + 1}"
            typer.echo(f"    first divergence: unit {first['unit']} {where}")
        if plan["claims_without_evidence"]:
            typer.echo(f"    claimed, but no action shows it: unit {', '.join(plan['claims_without_evidence'])}")


def _print_sum(results: list[dict[str, Any]]) -> None:
    plans = [plan for result in results for plan in result["plans"] if plan["settled_by"] == "matching"]
    kept = sum(plan["order_preserved"] is True for plan in plans)
    open_ = sum(plan["order_preserved"] is None for plan in plans)
    blank = sum(
        plan["settled_by"] == "not_applicable"
        for result in results
        if not result["actions"]
        for plan in result["plans"]
    )
    unscored = f"; {blank} not scored, as no action is on record" if blank else ""
    typer.echo(
        f"{len(results)} trajectories; {len(plans)} plans matched: {kept} preserved, {open_} undecided{unscored}"
    )
