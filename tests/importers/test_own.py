"""Planroute's own traces: which plan is active, and which actions were taken."""

import json

import pytest

from planroute.errors import InputError
from planroute.importers import from_trace, read
from planroute.plan import Plan, PlanUnit, Subgoal
from planroute.trace import (
    Acted,
    Chosen,
    Collected,
    Decomposed,
    Dispatched,
    Failed,
    Finished,
    Observed,
    Planned,
    Proposed,
    Revised,
    Stop,
    Trace,
    UnitFinished,
    UnitStarted,
)


def plan(*ids: str) -> Plan:
    return Plan(tuple(PlanUnit(id_, f"do {id_}") for id_ in ids))


def active(trace: Trace) -> list[str]:
    return [leaf.id for leaf in from_trace(trace).plans[-1].root.leaves()]


def test_actions_with_their_observations():
    trace = Trace(
        [
            Dispatched("SEQUENTIAL", "PLAN_REACT", "forced"),
            Planned(plan("a", "b")),
            Acted("take mug 1"),
            Observed("You pick up the mug 1."),
            Observed("more"),
            Acted("fly", admissible=False),
            Acted("open safe 1"),
            Observed("Nothing happens."),
            Finished(Stop.BUDGET),
        ]
    )
    found = from_trace(trace, "x")
    assert (found.declared, found.executed, found.failure) == ("SEQUENTIAL", "PLAN_REACT", "BUDGET")
    assert [(a.index, a.text, a.observation, a.executed) for a in found.actions] == [
        (0, "take mug 1", "You pick up the mug 1.", True),
        (1, "fly", "", False),
        (2, "open safe 1", "Nothing happens.", False),
    ]


def test_a_revision_replaces_what_had_not_begun():
    trace = Trace(
        [
            Planned(plan("a", "b", "c")),
            UnitStarted("a"),
            Acted("one"),
            UnitFinished("a", True),
            Revised(plan("b2", "c")),
            UnitStarted("b2"),
            UnitFinished("b2", False),
            Revised(plan("d")),
        ]
    )
    assert active(trace) == ["a", "b2", "d"]
    assert [plan.before for plan in from_trace(trace).plans] == [0, 1, 1]


def test_a_workers_plan_stands_below_its_subgoal_until_it_is_collected():
    goals = (Subgoal("g1", "left"), Subgoal("g2", "right"))
    trace = Trace([Decomposed((goals,)), Planned(plan("a"), "g1")])
    assert active(trace) == ["a", "g2"]
    trace.append(Planned(plan("b"), "g2"))
    assert active(trace) == ["a", "b"]
    trace.append(Collected(plan("ab"), ("g1", "g2")))
    assert active(trace) == ["ab"]
    trace.append(Decomposed(((Subgoal("g3", "again"),),)))
    assert active(trace) == ["ab", "g3"]
    trace.extend([Planned(plan("c"), "g3"), Collected(plan("c2"), ("g3",)), Decomposed(())])
    assert active(trace) == ["ab", "c2"]


def test_of_the_rollouts_only_the_chosen_one_is_the_episode():
    trace = Trace(
        [
            Acted("look", branch="c1"),
            Observed("a desk", branch="c1"),
            Acted("take mug 1", branch="c2"),
            Observed("You pick up the mug 1.", branch="c2"),
            Chosen("c2", 2),
            Planned(plan("a")),
            Acted("put mug 1 in/on desk 1"),
        ]
    )
    found = from_trace(trace)
    assert [(a.index, a.text, a.observation) for a in found.actions] == [
        (0, "take mug 1", "You pick up the mug 1."),
        (1, "put mug 1 in/on desk 1", ""),
    ]


def test_the_chosen_candidate_is_the_plan():
    proposed = Proposed((("c1", "one", plan("a")), ("c2", "two", plan("b", "c"))))
    trace = Trace([proposed, Chosen("c2", 2), Planned(Plan(()))])
    assert [unit.id for unit in from_trace(trace).plans[-1].units] == ["b", "c"]
    assert len(from_trace(trace).plans) == 1
    trace = Trace([proposed, Chosen("c1", 2), Planned(plan("a", "d"))])
    assert active(trace) == ["a", "d"]


def test_a_failure_says_why():
    trace = Trace([Planned(plan("a")), Failed("BudgetExceeded", "budget of 3 calls is spent", "act")])
    assert from_trace(trace).failure == "budget of 3 calls is spent"
    assert from_trace(trace, success=True).failure == ""
    assert from_trace(Trace()).plans == ()


def test_a_trace_and_a_cell_are_read():
    trace = Trace([Dispatched("SEARCH", "SEARCH", "as declared"), Planned(plan("a")), Finished(Stop.DONE)])
    (found,) = read(trace.to_json().encode(), "x")
    assert (found.source, found.declared, found.id) == ("planroute", "SEARCH", "x")
    row = {"domain": "tiny", "task": "t1", "condition": "ROUTED", "seed": 7, "success": False, "failure": "TASK"}
    cell = {"identity": "1", "row": row, "trace": json.loads(trace.to_json())}
    (found,) = read(json.dumps(cell).encode(), "x")
    assert (found.id, found.success, found.failure) == ("tiny/t1/ROUTED/7", False, "TASK")


@pytest.mark.parametrize("success", ["yes", 1])
def test_a_cell_with_an_odd_verdict_is_refused(success):
    cell = {"row": {"success": success}, "trace": json.loads(Trace().to_json())}
    with pytest.raises(InputError, match="neither true nor false"):
        read(json.dumps(cell).encode(), "x")
