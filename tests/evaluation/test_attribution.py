"""Attribution across the handoff, on planted episodes: each label, their order, and what each must not be taken for."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.evaluation.attribution import PARTIES, Attribution, attribute, forced_matrix
from planroute.gate import GateAction
from planroute.modes import MODES, Baseline
from planroute.trace import Stop


@dataclass(frozen=True)
class Row:
    """A faithful episode that failed after its whole plan was carried out."""

    task: str = "a"
    seed: int = 7
    condition: str = "ROUTED"
    declared: str | None = "SEQUENTIAL"
    executed: str | None = "SEQUENTIAL"
    gate: str | None = "PASSED"
    gate_why: str = ""
    status: str = "finished"
    stop: str = "DONE"
    success: bool | None = False
    metrics: dict = field(
        default_factory=lambda: {"plan_order_faithful": 1.0, "order_by_evidence": 1.0, "adherence": 1.0}
    )


FAILED = Row()
WON = replace(FAILED, success=True)
A7 = ("a", 7)
ALL_LOST = {A7: dict.fromkeys(MODES, False)}
SEARCH_WON = {A7: {**dict.fromkeys(MODES, False), "SEARCH": True}}


def changed(row, **metrics):
    return replace(row, metrics={**row.metrics, **metrics})


def labels(row, matrix=None):
    found = attribute(row, matrix)
    return found.label, found.also


# One planted episode for each label


@pytest.mark.parametrize(
    ("row", "matrix", "label", "why"),
    [
        (WON, None, "NONE", ""),
        (WON, SEARCH_WON, "NONE", ""),
        (replace(WON, success=None), None, "NONE", ""),
        (replace(FAILED, status="infrastructure", stop="INFRASTRUCTURE"), ALL_LOST, "INFRASTRUCTURE", "stopped by"),
        (
            replace(FAILED, status="failed", stop="REPLY", declared=None, executed=None, gate=None),
            None,
            "PLANNER_FAILURE",
            "no declaration was dispatched: stopped by REPLY",
        ),
        (
            replace(FAILED, status="failed", stop="REFUSED", executed=None, gate="REFUSED", gate_why="depth: too low"),
            None,
            "PLANNER_FAILURE",
            "refused by the gate: depth: too low",
        ),
        (
            replace(WON, executed="PREDEFINED"),
            None,
            "DISPATCH_FAILURE",
            "declared SEQUENTIAL, executed PREDEFINED, and no gate record says why",
        ),
        (
            replace(WON, executed="PREDEFINED", gate="REPLACED", gate_why="deadline: too slow"),
            None,
            "GATE_REPLACEMENT",
            "declared SEQUENTIAL, executed PREDEFINED: deadline: too slow",
        ),
        (
            changed(WON, order_by_evidence=0.0),
            None,
            "VERIFIER_DISAGREEMENT",
            "order kept by the dispatch record, broken by the actions",
        ),
        (
            FAILED,
            SEARCH_WON,
            "SELECTION_FAILURE",
            "SEQUENTIAL was selected, SEARCH succeeded on this task and seed",
        ),
        (FAILED, ALL_LOST, "EXECUTION_FAILURE", "no mode succeeded"),
        (changed(FAILED, adherence=0.5), ALL_LOST, "EXECUTION_FAILURE", "adherence 0.50, no mode succeeded"),
        (FAILED, None, "UNDECIDED", "not run on this task and seed: PREDEFINED, HIERARCHICAL, SEARCH"),
    ],
)
def test_planted(row, matrix, label, why):
    found = attribute(row, matrix)
    assert (found.label, found.also) == (label, ())
    assert why in found.why
    assert bool(found.why) is (label != "NONE")
    assert found.party == PARTIES.get(found.label)


def test_parties_are_those_of_the_handoff():
    assert set(PARTIES.values()) == {"planner", "router", "executor", "verifier"}
    assert set(Attribution) - set(PARTIES) == {"INFRASTRUCTURE", "UNDECIDED", "NONE"}


# Order, and what holds beside


def test_a_dispatch_failure_that_carried_out_its_own_plan_in_order_is_one_and_a_disagreement():
    row = changed(replace(FAILED, executed="PREDEFINED"), plan_order_faithful=0.0)
    assert labels(row, SEARCH_WON) == ("DISPATCH_FAILURE", ("VERIFIER_DISAGREEMENT",))


def test_a_replacement_on_record_is_no_disagreement():
    row = changed(replace(FAILED, executed="PREDEFINED", gate=GateAction.REPLACED), plan_order_faithful=0.0)
    assert labels(row, SEARCH_WON) == ("GATE_REPLACEMENT", ())


def test_a_declaration_that_the_gate_repaired_within_its_mode_was_not_replaced():
    assert labels(replace(WON, gate="REPLACED", gate_why="depth")) == ("NONE", ())


def test_a_disputed_failure_whose_plan_was_carried_out_is_the_verifiers_first():
    row = changed(FAILED, order_by_evidence=0.0)
    assert labels(row, SEARCH_WON) == ("VERIFIER_DISAGREEMENT", ("SELECTION_FAILURE",))
    assert labels(row, ALL_LOST) == ("VERIFIER_DISAGREEMENT", ("EXECUTION_FAILURE",))


def test_units_that_were_skipped_are_the_executors_before_the_verifiers_or_the_planners():
    row = changed(FAILED, order_by_evidence=0.0, adherence=0.5)
    assert labels(row, SEARCH_WON) == ("EXECUTION_FAILURE", ("VERIFIER_DISAGREEMENT", "SELECTION_FAILURE"))
    assert labels(changed(row, adherence=0.0)) == ("EXECUTION_FAILURE", ("VERIFIER_DISAGREEMENT", "UNDECIDED"))
    assert labels(replace(row, success=True)) == ("VERIFIER_DISAGREEMENT", ())


@pytest.mark.parametrize(
    "metrics", [{"order_by_evidence": None}, {"plan_order_faithful": None, "order_by_evidence": 0.0}]
)
def test_what_one_side_does_not_say_is_no_disagreement(metrics):
    assert labels(changed(WON, **metrics)) == ("NONE", ())


def test_a_wrong_mode_that_was_not_carried_out_either_has_both_labels():
    assert labels(changed(FAILED, adherence=0.5), SEARCH_WON) == ("EXECUTION_FAILURE", ("SELECTION_FAILURE",))


def test_low_adherence_decides_without_the_matrix():
    assert labels(changed(FAILED, adherence=0.5)) == ("EXECUTION_FAILURE", ("UNDECIDED",))


@pytest.mark.parametrize("stop", [Stop.BUDGET, Stop.REPLY, Stop.MODEL_REFUSED])
def test_what_stopped_a_dispatched_episode_is_told(stop):
    found = attribute(replace(FAILED, status="failed", stop=stop), ALL_LOST)
    assert found.label == "EXECUTION_FAILURE"
    assert f"stopped by {stop}" in found.why


def test_a_stop_without_the_referees_word_is_a_failure():
    row = replace(FAILED, status="failed", stop=Stop.BUDGET, success=None)
    assert attribute(row, ALL_LOST).label == "EXECUTION_FAILURE"


# The forced matrix


def forced(mode, success, **changes):
    return replace(FAILED, condition=mode, declared=mode, executed=mode, success=success, gate=None, **changes)


def test_the_matrix_holds_forced_modes_only_and_no_disturbed_ones():
    rows = [
        forced("SEARCH", True),
        forced("PREDEFINED", False, seed=13),
        forced("SEQUENTIAL", False, status="infrastructure"),
        forced("HIERARCHICAL", None),
        WON,
        replace(WON, condition="PLAN_REACT", executed="PLAN_REACT"),
    ]
    assert forced_matrix(rows) == {("a", 7): {"SEARCH": True}, ("a", 13): {"PREDEFINED": False}}


@pytest.mark.parametrize("other", [("b", 7), ("a", 13)])
def test_only_the_same_task_and_seed_count(other):
    assert labels(FAILED, {other: dict.fromkeys(MODES, True)}) == ("UNDECIDED", ())


def test_the_same_mode_that_succeeded_when_forced_makes_no_selection_failure():
    matrix = {A7: {**dict.fromkeys(MODES, False), "SEQUENTIAL": True}}
    found = attribute(FAILED, matrix)
    assert (found.label, found.why) == ("EXECUTION_FAILURE", "forced SEQUENTIAL succeeded")


def test_one_success_decides_and_one_gap_does_not():
    assert labels(FAILED, {A7: {"SEARCH": True}}) == ("SELECTION_FAILURE", ())
    found = attribute(FAILED, {A7: {"SEQUENTIAL": False, "PREDEFINED": False, "SEARCH": False}})
    assert (found.label, found.why) == ("UNDECIDED", "not run on this task and seed: HIERARCHICAL")


def test_a_forced_mode_was_selected_by_the_experiment():
    """So its failure is not the planner's, whether its plan was carried out or not."""
    found = attribute(forced("PREDEFINED", False), SEARCH_WON)
    assert (found.label, found.party, found.also) == ("EXECUTION_FAILURE", "executor", ("SELECTION_FAILURE",))
    assert found.why == "PREDEFINED was forced, SEARCH succeeded on this task and seed"
    part = attribute(changed(forced("PREDEFINED", False), adherence=0.25), ALL_LOST)
    assert (part.label, part.also) == ("EXECUTION_FAILURE", ())
    assert part.why == "PREDEFINED was forced, adherence 0.25, no mode succeeded"
    assert labels(forced("PREDEFINED", False)) == ("EXECUTION_FAILURE", ("UNDECIDED",))


@pytest.mark.parametrize("baseline", Baseline)
def test_a_baseline_selects_no_mode(baseline):
    declared = None if baseline is Baseline.FLAT_REACT else "SEARCH"
    row = replace(FAILED, condition=baseline, executed=baseline, declared=declared, gate=None)
    assert labels(row, SEARCH_WON) == ("EXECUTION_FAILURE", ())
    assert labels(replace(row, success=True), SEARCH_WON) == ("NONE", ())
    assert "adherence 0.25" in attribute(changed(row, adherence=0.25, plan_order_faithful=0.0)).why


# Always


rows = st.builds(
    Row,
    condition=st.sampled_from([*MODES, *Baseline, "ROUTED"]),
    declared=st.sampled_from([None, *MODES]),
    executed=st.sampled_from([None, *MODES, *Baseline]),
    gate=st.sampled_from([None, *GateAction]),
    status=st.sampled_from(["finished", "failed", "infrastructure"]),
    stop=st.sampled_from([str(stop) for stop in Stop]),
    success=st.sampled_from([None, True, False]),
    metrics=st.dictionaries(
        st.sampled_from(["plan_order_faithful", "order_by_evidence", "adherence"]),
        st.sampled_from([None, 0.0, 0.5, 1.0]),
    ),
)
matrices = st.one_of(st.none(), st.dictionaries(st.sampled_from(MODES), st.booleans()).map(lambda one: {A7: one}))


@given(rows, matrices)
def test_every_row_has_one_label_and_a_reason_for_it(row, matrix):
    found = attribute(row, matrix)
    assert found.label in set(Attribution)
    assert found.label not in found.also
    assert len(set(found.also)) == len(found.also)
    assert bool(found.why) is (found.label is not Attribution.NONE)
    if row.status == "infrastructure":
        assert found.label is Attribution.INFRASTRUCTURE
    elif row.executed is not None and row.status == "finished" and row.success:
        assert not {found.label, *found.also} & {"SELECTION_FAILURE", "EXECUTION_FAILURE", "UNDECIDED"}


@given(rows)
def test_knowing_more_only_settles_what_was_undecided(row):
    without, known = attribute(row), attribute(row, ALL_LOST)
    if without.label is not Attribution.UNDECIDED:
        assert known.label == without.label
    else:
        assert known.label is Attribution.EXECUTION_FAILURE
