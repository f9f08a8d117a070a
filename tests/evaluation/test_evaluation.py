"""Planning events and failure labels of finished episodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declaration import forced
from planroute.evaluation.deadline import planning_events
from planroute.evaluation.failure import FailureLabel, FailureThresholds, failure_label
from planroute.gate import PlanningCosts
from planroute.modes import MODES, Mode
from planroute.plan import Plan, Subgoal
from planroute.trace import (
    Collected,
    Decomposed,
    Dispatched,
    Planned,
    Proposed,
    Revised,
    Stop,
    Trace,
    UnitStarted,
)

COSTS = PlanningCosts(
    predefined=1,
    sequential_declare=2,
    sequential_revise=3,
    hierarchical_base=5,
    hierarchical_per_level=0.2,
    search_per_candidate=7,
)
NOTHING = Plan(())
DISPATCHED = Dispatched("", "", "")


def planned(trace, mode, deadline_s=None):
    events = planning_events(Trace(trace), forced(mode), COSTS, deadline_s)
    return [(event.kind, event.after_units, event.cost_s) for event in events], [event.late for event in events]


# Planning events


def test_sequential_plans_at_every_dispatch():
    trace = [DISPATCHED, Planned(NOTHING), UnitStarted("1"), Revised(NOTHING), UnitStarted("2"), Revised(NOTHING)]
    events, _ = planned([*trace, UnitStarted("3")], Mode.SEQUENTIAL)
    assert events == [("declare", 0, 2), ("plan", 0, 3), ("revise", 1, 3), ("revise", 2, 3)]


def test_hierarchical_plans_once_for_each_decomposition_whoever_works_on_it():
    stages = ((Subgoal("a", ""), Subgoal("b", "")),)
    step = [Decomposed(stages), Planned(NOTHING, "a"), Planned(NOTHING, "b"), Collected(NOTHING, ("a", "b"))]
    trace = [DISPATCHED, *step, UnitStarted("1"), *step, UnitStarted("2"), Decomposed(())]
    events, _ = planned(trace, Mode.HIERARCHICAL)
    assert events == [("declare", 0, 6), ("decompose", 0, 6), ("decompose", 1, 6)]


@pytest.mark.parametrize(("mode", "cost"), [(Mode.PREDEFINED, 1), (Mode.SEARCH, 28)])
def test_the_others_plan_as_they_declare(mode, cost):
    trace = [DISPATCHED, Proposed(()), Planned(NOTHING), UnitStarted("1"), UnitStarted("2")]
    assert planned(trace, mode)[0] == [("declare", 0, cost)]


@pytest.mark.parametrize("mode", MODES)
def test_what_was_never_dispatched_has_no_planning_event(mode):
    assert planned([], mode) == ([], [])


def test_late_are_the_events_above_the_deadline_and_not_at_it():
    trace = [DISPATCHED, Planned(NOTHING), UnitStarted("1"), Revised(NOTHING)]
    assert planned(trace, Mode.SEQUENTIAL, 2)[1] == [False, True, True]
    assert planned(trace, Mode.SEQUENTIAL, 3)[1] == [False, False, False]
    assert planned(trace, Mode.SEQUENTIAL, 1.9)[1] == [True, True, True]
    assert planned(trace, Mode.SEQUENTIAL, None)[1] == [False, False, False]


# Failure labels

FINE = {
    "stop": Stop.DONE,
    "late_events": 0,
    "mode_agreement": True,
    "replaced_by_gate": False,
    "success": None,
    "metrics": {"leverage_ratio": 1.0, "forecast_error": 0.01, "realisation": 0.55, "unmet_share": 0.0},
}
# From the last to the first of the priority: each is planted on top of those before it.
PLANTED = [
    (FailureLabel.TASK, {"success": False}),
    (FailureLabel.UNMET_NEED, {"metrics": {"unmet_share": 0.3}}),
    (FailureLabel.NON_COMPLIANCE, {"metrics": {"realisation": 0.4}}),
    (FailureLabel.STATE_INFERENCE, {"metrics": {"forecast_error": 0.1}}),
    (FailureLabel.OBJECTIVE_SUBSTITUTION, {"metrics": {"leverage_ratio": 0.5}}),
    (FailureLabel.DISPATCH_MISMATCH, {"mode_agreement": False}),
    (FailureLabel.DEADLINE_MISS, {"late_events": 1}),
    (FailureLabel.MODEL, {"stop": Stop.REPLY}),
]


def label(facts):
    return failure_label(**facts)


def with_(facts, change):
    merged = {**facts, **change}
    merged["metrics"] = {**facts["metrics"], **change.get("metrics", {})}
    return merged


def test_an_episode_without_a_fault_has_none():
    assert label(FINE) is FailureLabel.NONE


@pytest.mark.parametrize(("wanted", "change"), PLANTED)
def test_each_fault_alone_has_its_label(wanted, change):
    assert label(with_(FINE, change)) is wanted


def test_the_first_by_priority_is_the_label():
    facts = FINE
    for wanted, change in PLANTED:
        facts = with_(facts, change)
        assert label(facts) is wanted
    order = list(FailureLabel)
    assert [order.index(wanted) for wanted, _ in PLANTED] == sorted(
        (order.index(wanted) for wanted, _ in PLANTED), reverse=True
    )


@pytest.mark.parametrize(
    ("stop", "wanted"),
    [
        (Stop.INFRASTRUCTURE, FailureLabel.INFRASTRUCTURE),
        (Stop.REFUSED, FailureLabel.DECLARATION),
        (Stop.DECLARATION, FailureLabel.DECLARATION),
        (Stop.BUDGET, FailureLabel.BUDGET),
        (Stop.REPLY, FailureLabel.MODEL),
        (Stop.MODEL_REFUSED, FailureLabel.MODEL),
        (Stop.DONE, FailureLabel.NONE),
        (Stop.DECLARED, FailureLabel.NONE),
        (Stop.PLAN_EXHAUSTED, FailureLabel.NONE),
    ],
)
def test_a_stop_that_is_a_failure_is_its_own_label(stop, wanted):
    assert label({**FINE, "stop": stop}) is wanted


def test_every_stop_is_tried():
    assert len(Stop) == 9


def test_a_mode_that_the_gate_replaced_is_no_mismatch():
    assert label({**FINE, "mode_agreement": False, "replaced_by_gate": True}) is FailureLabel.NONE


@given(st.sampled_from(["leverage_ratio", "forecast_error", "realisation", "unmet_share"]))
def test_a_metric_that_is_unknown_is_no_fault(name):
    assert label(with_(FINE, {"metrics": {name: None}})) is FailureLabel.NONE
    assert label({**FINE, "metrics": {}}) is FailureLabel.NONE


@pytest.mark.parametrize(
    ("name", "limit", "side"),
    [("forecast_error", 0.075, 1), ("realisation", 0.45, -1), ("leverage_ratio", 0.95, -1), ("unmet_share", 0.25, 1)],
)
def test_thresholds_are_not_faults_themselves(name, limit, side):
    assert label(with_(FINE, {"metrics": {name: limit}})) is FailureLabel.NONE
    assert label(with_(FINE, {"metrics": {name: limit + side * 1e-6}})) is not FailureLabel.NONE


def test_thresholds_can_be_set():
    strict = FailureThresholds(realisation=0.6)
    assert failure_label(**FINE, thresholds=strict) is FailureLabel.NON_COMPLIANCE
