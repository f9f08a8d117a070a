"""Process metrics of a finished trace: was the plan's order kept, how much of it was carried out, among how many.

Sources: Planning-as-Routing 3.3, appendix E.1 (order, adherence), appendix D (realised candidates). A routed episode's
order is settled by its dispatch record; adherence is by evidence in the actions, never by an executor's own word.
"""

from collections.abc import Sequence

from planroute.evaluation.structure import lexicon, verify, verify_dispatched
from planroute.importers.own import from_trace
from planroute.modes import Baseline, Mode
from planroute.plan import PlanUnit
from planroute.trace import Acted, Chosen, Declared, Dispatched, Observed, Proposed, RolledOut, Trace, UnitFinished


def process_metrics(trace: Trace, words: str | None) -> dict[str, float | None]:
    """Return ``plan_order_faithful``, ``adherence``, the unit counts, ``setbacks`` and ``candidates`` of an episode.

    ``order_by_evidence`` is by one criterion for every condition: each needed unit of the plan is matched to an action,
    in declared order, so that a skipped unit breaks it. Where it differs from ``plan_order_faithful``, verifier and
    dispatch record disagree. ``alternative_kept`` is for a declared search that nothing enforced: whether any one of
    its alternatives was carried out in order. ``setbacks`` counts units and actions that came to nothing. ``words``
    names the lexicon of the domain's actions, ``None`` the one that knows most of them. A measure that does not apply
    (no plan, alternatives without an order, an end before anything was planned or done) is ``None``.
    """
    dispatched = trace.of(Dispatched)
    rolled_out = len(trace.of(RolledOut))
    result: dict[str, float | None] = {
        "plan_order_faithful": None,
        "order_by_evidence": None,
        "adherence": None,
        "alternative_kept": None,
        "setbacks": None,
        "units_planned": None,
        "units_needed": None,
        "units_completed": None,
        "candidates": float(rolled_out) if rolled_out else None,
    }
    if not dispatched:
        return result
    own = own_course(trace)
    trajectory = from_trace(own)
    if trajectory.actions:
        failed = sum(not event.completed for event in own.of(UnitFinished))
        result["setbacks"] = float(failed + sum(not event.admissible for event in own.of(Acted)))
    plan = chosen_plan(trace) or (trajectory.plans[-1].units if trajectory.plans else ())
    vocabulary = lexicon(words) if words else None
    record = dispatched[-1]
    settled = verify_dispatched(record.declared, record.executed, plan, trajectory.actions, vocabulary)
    if settled.order_preserved is not None and (plan or trajectory.actions):
        result["plan_order_faithful"] = float(settled.order_preserved)
    if plan:
        matched = settled if settled.units else verify(plan, trajectory.actions, vocabulary)
        result["adherence"] = matched.adherence
        if settled.order_by_actions is not None:
            result["order_by_evidence"] = float(settled.order_by_actions)
        result["units_planned"] = float(matched.planned)
        result["units_needed"], result["units_completed"] = float(matched.needed), float(matched.completed)
    if record.declared == Mode.SEARCH and record.executed in set(Baseline) and trajectory.actions:
        verdicts = [verify(units, trajectory.actions, vocabulary) for units in alternatives(trace)]
        known = [verdict.order_preserved for verdict in verdicts if verdict.order_preserved is not None]
        result["alternative_kept"] = float(any(known)) if known else None
    return result


def alternatives(trace: Trace) -> list[tuple[PlanUnit, ...]]:
    """Return the declared alternatives of a trace, section by section; none where no plan was declared in words."""
    declared = trace.of(Declared)
    sections = declared[-1].declaration.fields.get("plan") if declared else None
    found = []
    for number, section in enumerate(sections if isinstance(sections, list) else [], 1):
        steps = section.get("steps", []) if isinstance(section, dict) else []
        units = tuple(PlanUnit(f"s{number}.{place}", str(text)) for place, text in enumerate(steps, 1) if str(text))
        if units:
            found.append(units)
    return found


def own_course(trace: Trace) -> Trace:
    """Return ``trace`` without the rollouts that were not adopted."""
    chosen = trace.of(Chosen)
    adopted = chosen[-1].candidate if chosen else None
    return Trace(
        [event for event in trace if not isinstance(event, Acted | Observed) or event.branch in (None, adopted)]
    )


def chosen_plan(trace: Trace) -> Sequence[PlanUnit]:
    """Return the units of the alternative that was adopted; none where there was no choice."""
    chosen = trace.of(Chosen)
    if not chosen:
        return ()
    plans = {name: plan.units for event in trace.of(Proposed) for name, _, plan in event.candidates}
    return plans.get(chosen[-1].candidate, ())
