"""Process metrics of planted traces: who settles the order, what counts as carried out, whose actions count."""

from dataclasses import replace

import pytest

from planroute.declaration import forced
from planroute.modes import MODES, Baseline, Mode
from planroute.plan import Plan, PlanUnit, Subgoal
from planroute.process import chosen_plan, own_course, process_metrics
from planroute.trace import (
    Acted,
    Chosen,
    Collected,
    Declared,
    Decomposed,
    Dispatched,
    Observed,
    Planned,
    Proposed,
    Revised,
    RolledOut,
    Trace,
    UnitFinished,
    UnitStarted,
)


def plan(*texts, name="p"):
    return Plan(tuple(PlanUnit(f"{name}{number}", text) for number, text in enumerate(texts, 1)))


TEXTS = ("take a mug", "clean the mug", "put the mug on the desk")
MUG = plan(*TEXTS)
DONE = ("take mug 1 from shelf 1", "clean mug 1 with sinkbasin 1", "move mug 1 to desk 1")


def acted(*actions, branch=None):
    return [event for action in actions for event in (Acted(action, branch=branch), Observed("Done.", branch))]


def metrics(*events, words="household"):
    return process_metrics(Trace(list(events)), words)


def routed(mode, *events, executed=None):
    return metrics(Dispatched(mode, executed or mode, ""), *events)


def test_an_episode_that_was_never_dispatched_has_no_metrics():
    assert set(metrics(*acted(*DONE)).values()) == {None}


@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_was_planned_or_done_no_order_was_kept(mode):
    assert set(routed(mode).values()) == {None}


@pytest.mark.parametrize("mode", [Mode.PREDEFINED, Mode.SEQUENTIAL, Mode.HIERARCHICAL])
@pytest.mark.parametrize(
    ("actions", "evidence", "adherence"),
    [
        (DONE, 1.0, 1.0),
        (DONE[:2], 0.0, 2 / 3),
        (DONE[1:], 0.0, 2 / 3),
        ((DONE[0], DONE[2]), 0.0, 2 / 3),
        ((DONE[1], DONE[0], DONE[2]), 0.0, 1.0),
        ((), 0.0, 0.0),
        (("look", *DONE, "go to bed 1"), 1.0, 1.0),
    ],
)
def test_the_record_settles_the_order_and_the_actions_adherence(mode, actions, evidence, adherence):
    found = routed(mode, Planned(MUG), *acted(*actions))
    assert (found["plan_order_faithful"], found["order_by_evidence"]) == (1.0, evidence)
    assert found["adherence"] == pytest.approx(adherence)
    assert found["units_needed"] == 3.0
    assert found["units_completed"] == pytest.approx(3 * adherence)


def test_what_an_executor_calls_completed_counts_for_nothing():
    events = [event for unit in MUG.units for event in (UnitStarted(unit.id), UnitFinished(unit.id, True))]
    found = routed(Mode.PREDEFINED, Planned(MUG), *events)
    assert (found["adherence"], found["units_completed"]) == (0.0, 0.0)


def test_an_action_that_was_not_executed_completes_nothing():
    refused = [Acted(action, admissible=False) for action in DONE]
    assert routed(Mode.PREDEFINED, Planned(MUG), *refused)["adherence"] == 0.0
    without_effect = [event for action in DONE for event in (Acted(action), Observed("Nothing happens."))]
    assert routed(Mode.PREDEFINED, Planned(MUG), *without_effect)["adherence"] == 0.0


@pytest.mark.parametrize(("mode", "executed"), [(Mode.SEQUENTIAL, Mode.PREDEFINED), (Mode.SEARCH, Mode.PREDEFINED)])
def test_another_mode_than_declared_is_not_faithful_whatever_was_done(mode, executed):
    found = routed(mode, Planned(MUG), *acted(*DONE), executed=executed)
    assert (found["plan_order_faithful"], found["order_by_evidence"], found["adherence"]) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode is not Mode.SEARCH])
def test_a_plan_in_sight_only_is_matched(mode):
    def found(*actions):
        return routed(mode, Planned(MUG), *acted(*actions), executed=Baseline.PLAN_REACT)

    assert found(*DONE)["plan_order_faithful"] == 1.0
    assert found(*DONE[::-1])["plan_order_faithful"] == 0.0
    assert found(*DONE[:2])["plan_order_faithful"] == 0.0
    assert found(*DONE[:2])["adherence"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("actions", [DONE, DONE[::-1], DONE[:2], DONE[1:], (DONE[0], DONE[2]), ()])
def test_the_actions_are_held_to_one_criterion_whoever_executed(actions):
    executors = (Mode.PREDEFINED, Mode.SEQUENTIAL, Mode.HIERARCHICAL, Baseline.PLAN_REACT)
    found = {
        executed: routed(Mode.PREDEFINED, Planned(MUG), *acted(*actions), executed=executed)["order_by_evidence"]
        for executed in executors
    }
    assert found == dict.fromkeys(executors, float(actions == DONE))


def test_alternatives_in_sight_only_have_no_order():
    found = routed(Mode.SEARCH, Planned(MUG), *acted(*DONE), executed=Baseline.PLAN_REACT)
    assert (found["plan_order_faithful"], found["order_by_evidence"], found["adherence"]) == (None, None, 1.0)


def test_flat_react_has_no_plan():
    found = routed("NONE", *acted(*DONE), executed=Baseline.FLAT_REACT)
    assert found.pop("setbacks") == 0.0
    assert set(found.values()) == {None}


@pytest.mark.parametrize(("done", "kept"), [(DONE, 1.0), (DONE[:1], 0.0), (DONE[::-1], 0.0)])
def test_of_alternatives_that_nothing_enforces_one_kept_in_order_is_enough(done, kept):
    sections = [{"title": "", "steps": ["open the safe", "use the lamp"]}, {"title": "", "steps": list(TEXTS)}]
    declared = replace(forced(Mode.SEARCH), fields={"plan": sections})
    found = metrics(
        Declared("natural", declared), Dispatched(Mode.SEARCH, Baseline.PLAN_REACT, ""), Planned(MUG), *acted(*done)
    )
    assert found["alternative_kept"] == kept
    assert found["plan_order_faithful"] is None


def test_setbacks_count_units_and_actions_that_came_to_nothing():
    found = routed(
        Mode.SEQUENTIAL,
        Planned(MUG),
        *acted(*DONE[:1]),
        Acted("dance", "p2", admissible=False),
        Observed("Nothing happens."),
        UnitFinished("p2", completed=False),
        UnitFinished("p3", completed=True),
    )
    assert found["setbacks"] == 2.0
    assert found["units_planned"] == 3.0


def test_a_valid_revision_changes_what_is_needed():
    """What was begun stays needed, what was dropped before it began is not."""
    rest = plan("put the mug on the desk", name="q")
    started = [UnitStarted("p1"), *acted(DONE[0]), UnitFinished("p1", True)]
    found = routed(Mode.SEQUENTIAL, Planned(MUG), *started, Revised(rest), *acted(DONE[2]))
    assert (found["units_needed"], found["adherence"]) == (2.0, 1.0)


def test_units_of_workers_are_the_leaves():
    stages = ((Subgoal("g1", "have a clean mug"),), (Subgoal("g2", "put it on the desk"),))
    first, second = plan("take a mug", "clean the mug", name="a"), plan("put the mug on the desk", name="b")
    events = [
        Decomposed(stages),
        Planned(first, "g1"),
        Collected(first, ("g1",)),
        *acted(*DONE[:2]),
        Planned(second, "g2"),
        Collected(second, ("g2",)),
        *acted(DONE[2]),
    ]
    found = routed(Mode.HIERARCHICAL, *events)
    assert (found["units_needed"], found["adherence"], found["order_by_evidence"]) == (3.0, 1.0, 1.0)


def searched(chosen="c2"):
    other, mine = plan("take a pan", name="x"), plan(*[unit.text for unit in MUG.units], name="y")
    return [
        Proposed((("c1", "pan", other), ("c2", "mug", mine))),
        *acted("take pan 1 from shelf 1", branch="c1"),
        RolledOut("c1", None),
        *acted(*DONE, branch="c2"),
        RolledOut("c2", None),
        *([Chosen(chosen, 2), Planned(Plan(()))] if chosen else []),
    ]


@pytest.mark.parametrize(("chosen", "needed", "completed"), [("c2", 3.0, 3.0), ("c1", 1.0, 1.0)])
def test_of_alternatives_the_adopted_one_counts_with_its_own_actions(chosen, needed, completed):
    found = routed(Mode.SEARCH, *searched(chosen))
    assert (found["plan_order_faithful"], found["order_by_evidence"], found["candidates"]) == (None, None, 2.0)
    assert (found["units_needed"], found["units_completed"]) == (needed, completed)


def test_where_nothing_was_adopted_only_the_number_is_known():
    found = routed(Mode.SEARCH, *searched(None))
    assert found.pop("candidates") == 2.0
    assert set(found.values()) == {None}


def test_the_own_course_leaves_out_what_was_not_adopted():
    trace = Trace(searched())
    assert [event.action for event in own_course(trace).of(Acted)] == list(DONE)
    assert len(own_course(trace).of(Observed)) == 3
    assert own_course(Trace(searched(None))).of(Acted) == []
    assert [unit.text for unit in chosen_plan(trace)] == [unit.text for unit in MUG.units]
    assert chosen_plan(Trace()) == ()


def test_without_a_named_lexicon_the_one_that_knows_the_actions_is_used():
    events = [Dispatched(Mode.PREDEFINED, Mode.PREDEFINED, ""), Planned(MUG), *acted(*DONE)]
    assert metrics(*events, words=None) == metrics(*events)
