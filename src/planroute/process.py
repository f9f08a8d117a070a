"""Process metrics of a finished trace: was the plan's order kept, how much of it was carried out, among how many.

Sources: Planning-as-Routing 3.3, appendix E.1 (order, adherence), appendix D (realised candidates). A routed episode's
order is settled by its dispatch record; adherence is by evidence in the actions, never by an executor's own word.
"""

from collections.abc import Sequence

from planroute.evaluation.structure import lexicon, verify, verify_dispatched
from planroute.importers.own import from_trace
from planroute.plan import PlanUnit
from planroute.trace import Acted, Chosen, Dispatched, Observed, Proposed, RolledOut, Trace


def process_metrics(trace: Trace, words: str | None) -> dict[str, float | None]:
    """Return ``plan_order_faithful``, ``adherence``, the unit counts and ``candidates`` of an episode.

    ``order_by_evidence`` is by one criterion for every condition: each needed unit of the plan is matched to an action,
    in declared order, so that a skipped unit breaks it. Where it differs from ``plan_order_faithful``, verifier and
    dispatch record disagree. ``words`` names the lexicon of the domain's actions, ``None`` the one that knows most of
    them. A measure that does not apply (no plan, alternatives without an order, an end before
    anything was planned or done) is ``None``.
    """
    dispatched = trace.of(Dispatched)
    rolled_out = len(trace.of(RolledOut))
    result: dict[str, float | None] = {
        "plan_order_faithful": None,
        "order_by_evidence": None,
        "adherence": None,
        "units_needed": None,
        "units_completed": None,
        "candidates": float(rolled_out) if rolled_out else None,
    }
    if not dispatched:
        return result
    trajectory = from_trace(own_course(trace))
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
        result["units_needed"], result["units_completed"] = float(matched.needed), float(matched.completed)
    return result


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
