"""The router dispatches what the gate admitted, to the executor of its mode, and says so."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.declaration import Declaration, Replanning, forced
from planroute.executors import hierarchical, predefined, search, sequential
from planroute.gate import Gate, GateAction
from planroute.modes import MODES, Mode
from planroute.router import EXECUTORS, route

declarations = st.builds(
    Declaration,
    mode=st.sampled_from(MODES),
    depth=st.integers(-1, 5),
    branching=st.integers(-1, 6),
    replanning=st.sampled_from(Replanning),
)


def test_each_mode_has_its_own_executor():
    assert dict(EXECUTORS) == {
        Mode.PREDEFINED: predefined,
        Mode.SEQUENTIAL: sequential,
        Mode.HIERARCHICAL: hierarchical,
        Mode.SEARCH: search,
    }
    with pytest.raises(TypeError):
        EXECUTORS[Mode.SEARCH] = predefined


@pytest.mark.parametrize("mode", MODES)
def test_a_declaration_that_passed_is_dispatched_as_declared(mode):
    dispatched, executor = route(Gate().admit(forced(mode)))
    assert (dispatched.declared, dispatched.executed, dispatched.why) == (mode, mode, "as declared")
    assert executor is EXECUTORS[mode]


def test_what_the_gate_replaced_is_dispatched_with_its_reason():
    dispatched, executor = route(Gate(deadline_s=2).admit(forced(Mode.HIERARCHICAL)))
    assert (dispatched.declared, dispatched.executed) == (Mode.HIERARCHICAL, Mode.SEQUENTIAL)
    assert executor is sequential
    assert dispatched.why.startswith("gate: deadline: an event of HIERARCHICAL takes 5.67 s, allowed are 2 s")


@given(declarations, st.one_of(st.none(), st.floats(0.1, 30)), st.booleans())
def test_only_what_was_admitted_is_dispatched(declaration, deadline_s, repair):
    record = Gate(deadline_s, repair=repair).admit(declaration)
    if record.admitted is None:
        with pytest.raises(ValueError, match="refused"):
            route(record)
        return
    dispatched, executor = route(record)
    assert dispatched.declared == declaration.mode
    assert dispatched.executed == record.admitted.mode
    assert executor is EXECUTORS[record.admitted.mode]
    if record.action is GateAction.PASSED:
        assert dispatched.executed == dispatched.declared


def test_a_mode_that_stays_is_dispatched_as_declared_although_repaired():
    record = Gate().admit(replace(forced(Mode.SEARCH), branching=1))
    assert record.action is GateAction.REPLACED
    assert route(record)[0].why == "as declared"
