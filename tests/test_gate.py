"""The gate: static rules by field, repair or refusal, deadlines, and the stipulated costs that E4 rests on."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declaration import Declaration, Replanning, forced, type_valid
from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain
from planroute.episode import Conditions, run_episode
from planroute.gate import Gate, GateAction, PlanningCosts, check
from planroute.modes import MODES, Mode

COSTS = PlanningCosts()
FALLBACKS = (Mode.SEARCH, Mode.SEQUENTIAL, Mode.PREDEFINED)

declarations = st.builds(
    Declaration,
    mode=st.sampled_from(MODES),
    depth=st.integers(-2, 6),
    branching=st.integers(-2, 6),
    replanning=st.sampled_from(Replanning),
    decision_budget_s=st.one_of(st.none(), st.floats(-5, 60), st.just(float("nan"))),
)
deadlines = st.one_of(st.none(), st.floats(0.01, 60))


# Static rules


@pytest.mark.parametrize("mode", MODES)
def test_a_forced_declaration_breaks_no_rule(mode):
    assert check(forced(mode)) == ()
    record = Gate().admit(forced(mode))
    assert (record.admitted, record.action, record.why) == (forced(mode), GateAction.PASSED, "")


@pytest.mark.parametrize(
    ("mode", "change", "field", "rule"),
    [
        (Mode.HIERARCHICAL, {"depth": 1}, "depth", "HIERARCHICAL needs a depth of at least 2, got 1"),
        (Mode.SEARCH, {"branching": 1}, "branching", "SEARCH needs at least 2 candidates, got 1"),
        (Mode.SEARCH, {"branching": 0}, "branching", "SEARCH needs at least 2 candidates, got 0"),
        (Mode.SEQUENTIAL, {"replanning": Replanning.NONE}, "replanning", "SEQUENTIAL needs a replanning trigger"),
        (Mode.PREDEFINED, {"replanning": Replanning.EVERY_STEP}, "replanning", "PREDEFINED never replans"),
        (Mode.SEARCH, {"decision_budget_s": 0.0}, "decision_budget_s", "must be above 0 s, got 0"),
        (Mode.SEARCH, {"decision_budget_s": float("nan")}, "decision_budget_s", "must be above 0 s, got nan"),
    ],
)
def test_a_fault_names_field_and_rule_and_is_repaired_or_refused(mode, change, field, rule):
    broken = replace(forced(mode), **change)
    (fault,) = check(broken)
    assert fault.field == field
    assert rule in fault.rule

    repaired = Gate().admit(broken)
    assert repaired.action is GateAction.REPLACED
    assert repaired.declared == broken or "nan" in rule
    assert repaired.admitted.mode is mode
    assert check(repaired.admitted) == ()
    assert rule in repaired.why

    refused = Gate(repair=False).admit(broken)
    assert (refused.admitted, refused.action) == (None, GateAction.REFUSED)
    assert refused.faults == (fault,)
    assert refused.why == f"{field}: {fault.rule}"


def test_all_faults_are_told_at_once():
    broken = replace(forced(Mode.SEARCH), branching=1, decision_budget_s=-1.0)
    record = Gate(repair=False).admit(broken)
    assert [fault.field for fault in record.faults] == ["branching", "decision_budget_s"]


def test_a_repair_keeps_what_is_valid():
    own = {"fields": {"intensity": 0.4}, "rationale": "because", "confidence": 0.3}
    record = Gate().admit(replace(forced(Mode.SEARCH), branching=1, **own))
    assert {name: getattr(record.admitted, name) for name in own} == own
    assert record.admitted.branching == 2
    assert type_valid(replace(forced(Mode.HIERARCHICAL), depth=2)).depth == 2
    assert type_valid(forced(Mode.SEARCH)).branching == 4


@given(declarations, deadlines, st.booleans())
def test_what_is_admitted_is_sound_and_in_time(declaration, deadline_s, repair):
    record = Gate(deadline_s, repair=repair).admit(declaration)
    assert (record.admitted is None) is (record.action is GateAction.REFUSED)
    if record.admitted is None:
        assert record.why
        return
    assert check(record.admitted) == ()
    limits = [s for s in (deadline_s, record.admitted.decision_budget_s) if s is not None]
    assert all(COSTS.longest(record.admitted) <= limit for limit in limits)
    changed = record.admitted != declaration
    assert changed is (record.action is GateAction.REPLACED) is bool(record.why)


@given(declarations, deadlines)
def test_the_gate_is_inert_on_what_it_admitted(declaration, deadline_s):
    admitted = Gate(deadline_s).admit(declaration).admitted
    if admitted is not None:
        assert Gate(deadline_s, repair=False).admit(admitted).action is GateAction.PASSED


# Deadlines: cyber-physical paper, section V-C


@pytest.mark.parametrize(
    ("deadline_s", "mode", "executed", "branching"),
    [
        (2, Mode.HIERARCHICAL, Mode.SEQUENTIAL, 1),
        (2, Mode.SEARCH, Mode.SEQUENTIAL, 1),
        (2, Mode.SEQUENTIAL, Mode.SEQUENTIAL, 1),
        (2, Mode.PREDEFINED, Mode.PREDEFINED, 1),
        (4, Mode.HIERARCHICAL, Mode.SEARCH, 2),
        (4, Mode.SEARCH, Mode.SEARCH, 2),
        (4, Mode.SEQUENTIAL, Mode.SEQUENTIAL, 1),
        (8, Mode.HIERARCHICAL, Mode.HIERARCHICAL, 1),
        (8, Mode.SEARCH, Mode.SEARCH, 4),
        (30, Mode.HIERARCHICAL, Mode.HIERARCHICAL, 1),
        (1.3, Mode.HIERARCHICAL, Mode.PREDEFINED, 1),
    ],
)
def test_a_deadline_replaces_what_is_too_slow(deadline_s, mode, executed, branching):
    record = Gate(deadline_s).admit(forced(mode))
    assert (record.admitted.mode, record.admitted.branching) == (executed, branching)
    inert = (executed, branching) == (mode, forced(mode).branching)
    assert record.action is (GateAction.PASSED if inert else GateAction.REPLACED)


def test_a_deadline_that_nothing_meets_refuses():
    record = Gate(1.0).admit(forced(Mode.HIERARCHICAL))
    assert (record.admitted, record.action) == (None, GateAction.REFUSED)
    assert "takes 5.67 s, allowed are 1 s" in record.why


def test_the_declarers_own_limit_counts_like_a_deadline():
    declared = replace(forced(Mode.HIERARCHICAL), decision_budget_s=4.0)
    assert Gate().admit(declared).admitted.mode is Mode.SEARCH
    assert Gate(2.0).admit(declared).admitted.mode is Mode.SEQUENTIAL
    assert Gate(30.0).admit(declared).admitted.mode is Mode.SEARCH


@given(declarations, st.floats(1.2, 60), st.floats(1.2, 60))
def test_a_longer_deadline_never_admits_less(declaration, one, other):
    declaration = replace(declaration, decision_budget_s=None)
    short, long = sorted((one, other))
    early, late = (Gate(deadline).admit(declaration).admitted for deadline in (short, long))
    rank = [*FALLBACKS[::-1], declaration.mode]
    if late.mode is not declaration.mode:
        assert rank.index(late.mode) >= rank.index(early.mode)
    if early.mode is declaration.mode:
        assert late.mode is declaration.mode


# Costs, measured on real episodes of the nominal day


def day(mode, gate=None, **options):
    domain = GridDomain()
    conditions = Conditions(Fixed(mode), gate or Gate(), **options)
    return asyncio.run(run_episode(domain, domain.tasks()[0], 7, conditions)).row


@pytest.mark.parametrize(
    ("mode", "gate", "events", "seconds"),
    [
        (Mode.HIERARCHICAL, Gate(), 9, 51.03),
        (Mode.SEQUENTIAL, Gate(), 9, 13.33),
        (Mode.SEARCH, Gate(4), 1, 2.75),
        (Mode.SEARCH, Gate(), 1, 5.5),
        (Mode.PREDEFINED, Gate(), 1, 1.2),
        (Mode.HIERARCHICAL, Gate(2), 9, 13.33),
        (Mode.HIERARCHICAL, Gate(4), 1, 2.75),
    ],
)
def test_planning_costs_of_a_day(mode, gate, events, seconds):
    row = day(mode, gate)
    assert row.spent["planning"]["planning_events"] == len(row.planning) == events
    assert row.spent["planning"]["planning_s"] == pytest.approx(seconds, abs=1e-9)
    assert not row.late_events


@pytest.mark.parametrize(("deadline_s", "late"), [(2, 9), (4, 9), (8, 0), (30, 0)])
def test_late_events_without_a_gate(deadline_s, late):
    row = day(Mode.HIERARCHICAL, deadline_s=deadline_s)
    assert row.late_events == late == sum(event["late"] for event in row.planning)
    assert row.failure == ("DEADLINE_MISS" if late else day(Mode.HIERARCHICAL).failure)
    assert row.mode_agreement is True


@pytest.mark.parametrize("deadline_s", [8, 30])
def test_a_deadline_that_is_met_changes_nothing(deadline_s):
    gated, free = (day(Mode.HIERARCHICAL, gate) for gate in (Gate(deadline_s), Gate()))
    assert gated.late_events == 0
    assert free.late_events is None
    assert replace(gated, deadline_s=None, late_events=None) == free


def test_a_replaced_mode_is_on_record_and_no_mismatch():
    row = day(Mode.HIERARCHICAL, Gate(2))
    assert (row.declared, row.executed, row.mode_agreement) == (Mode.HIERARCHICAL, Mode.SEQUENTIAL, False)
    assert row.gate == GateAction.REPLACED
    assert "HIERARCHICAL takes 5.67 s" in row.gate_why
    assert row.failure == day(Mode.SEQUENTIAL).failure
    assert row.metrics == day(Mode.SEQUENTIAL).metrics


def test_costs_of_depths_and_branchings():
    assert [COSTS.declare(forced(Mode.HIERARCHICAL, depth=d)) for d in (2, 3, 4)] == pytest.approx([4.2, 5.67, 7.14])
    assert [COSTS.declare(forced(Mode.SEARCH, branching=k)) for k in (2, 4)] == [2.75, 5.5]
    assert COSTS.longest(forced(Mode.SEQUENTIAL)) == 1.5
