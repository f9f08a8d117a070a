"""The trace: appended to, written and read without loss, and refused with a reason where it cannot be read."""

import asyncio
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute import trace as events
from planroute.declaration import Clip, Declaration, Replanning
from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.metrics import Limits, metrics
from planroute.episode import Conditions, run_episode
from planroute.errors import InputError
from planroute.gate import Fault, GateAction, GateRecord
from planroute.ledger import Usage
from planroute.modes import MODES, Mode
from planroute.plan import Logic, Plan, PlanUnit, Subgoal
from planroute.trace import SCHEMA_VERSION, Acted, Finished, Observed, Stop, Trace
from tests.domains.tiny import TinyDomain

words = st.text(max_size=8)
counts = st.integers(-1000, 1000)
reals = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.none(), st.booleans(), counts, reals, words)
values = st.dictionaries(words, scalars, max_size=3)
columns = st.dictionaries(words, st.lists(scalars, max_size=3).map(tuple), max_size=2)
modes = st.sampled_from(MODES)


def tuples(of):
    return st.lists(of, max_size=3).map(tuple)


units = st.recursive(
    st.builds(PlanUnit, words, words),
    lambda inner: st.builds(PlanUnit, words, words, children=tuples(inner), logic=st.sampled_from(Logic)),
    max_leaves=4,
)
plans = st.builds(Plan, tuples(units))
declarations = st.builds(
    Declaration,
    mode=modes,
    depth=counts,
    branching=counts,
    replanning=st.sampled_from(Replanning),
    decision_budget_s=st.none() | reals,
    confidence=st.none() | reals,
    rationale=words,
    fields=values,
    plan=st.none() | plans,
    ranking=tuples(modes),
    clips=tuples(st.builds(Clip, words, reals, reals)),
    repairs=tuples(words),
)
records = st.builds(
    GateRecord,
    declarations,
    st.none() | declarations,
    st.sampled_from(GateAction),
    words,
    tuples(st.builds(Fault, words, words)),
)
stages = tuples(tuples(st.builds(Subgoal, words, words, st.none() | words)))
BUILT = {
    events.Declared: st.builds(events.Declared, words, declarations),
    events.Gated: st.builds(events.Gated, records),
    events.Dispatched: st.builds(events.Dispatched, words, words, words),
    events.Planned: st.builds(events.Planned, plans, st.none() | words),
    events.Revised: st.builds(events.Revised, plans),
    events.Decomposed: st.builds(events.Decomposed, stages),
    events.Collected: st.builds(events.Collected, plans, tuples(words)),
    events.Proposed: st.builds(events.Proposed, tuples(st.tuples(words, words, plans))),
    events.RolledOut: st.builds(events.RolledOut, words, st.none() | reals),
    events.Chosen: st.builds(events.Chosen, words, counts),
    events.UnitStarted: st.builds(events.UnitStarted, words),
    events.UnitFinished: st.builds(events.UnitFinished, words, st.booleans()),
    events.Acted: st.builds(events.Acted, words, st.none() | words, st.booleans()),
    events.Observed: st.builds(events.Observed, words),
    events.Directed: st.builds(events.Directed, counts, columns, values),
    events.Responded: st.builds(events.Responded, counts, columns),
    events.Settled: st.builds(events.Settled, counts, values, columns),
    events.Noted: st.builds(events.Noted, counts, values),
    events.ModelCalled: st.builds(events.ModelCalled, words, words, words, st.builds(Usage, counts, counts), words),
    events.Mended: st.builds(events.Mended, words, tuples(words), tuples(st.tuples(words, reals, reals))),
    events.Failed: st.builds(events.Failed, words, words, words),
    events.Finished: st.builds(events.Finished, st.sampled_from(Stop)),
}


def test_every_kind_of_event_is_tried():
    kinds = {kind for kind in vars(events).values() if isinstance(kind, type) and hasattr(kind, "kind")}
    assert kinds == set(BUILT)
    names = [kind.__dataclass_fields__["kind"].default for kind in kinds]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", BUILT, ids=lambda kind: kind.__name__)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_an_event_survives_writing_and_reading(kind, data):
    written = Trace([data.draw(BUILT[kind])])
    read = Trace.from_json(written.to_json())
    assert list(read) == list(written)
    assert read.to_json() == written.to_json()


@given(st.lists(st.one_of(*BUILT.values()), max_size=8))
@settings(max_examples=50, deadline=None)
def test_order_is_kept_and_equal_traces_have_equal_bytes(found):
    written = Trace(found)
    read = Trace.from_json(written.to_json())
    assert [type(event) for event in read] == [type(event) for event in found]
    assert Trace(list(found)).to_json() == written.to_json() == read.to_json()


def test_payloads_of_domains_are_not_written():
    unit = PlanUnit("u", "fetch", payload=object(), children=(PlanUnit("v", "go", payload={1, 2}),))
    goal = Subgoal("g", "all", payload=lambda: None)
    written = Trace([events.Planned(Plan((unit,))), events.Decomposed(((goal,),))]).to_json()
    assert "payload" not in written
    assert Trace.from_json(written).of(events.Planned)[0].plan == Plan((unit,))


def test_a_trace_is_written_under_its_schema_version():
    data = json.loads(Trace([Finished(Stop.DONE)]).to_json())
    assert data == {"schema": SCHEMA_VERSION, "events": [{"kind": "finished", "stop": "DONE"}]}


def test_events_are_found_by_type_and_appended_in_order():
    trace = Trace()
    trace.append(Acted("a"))
    trace.extend([Observed("b"), Acted("c")])
    assert len(trace) == 3
    assert [event.action for event in trace.of(Acted)] == ["a", "c"]
    assert trace.of(Finished) == []


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_schema_version_is_told(version):
    with pytest.raises(InputError, match=f"schema version {version!r}, this planroute reads 1 — install"):
        Trace.from_json(json.dumps({"schema": version, "events": []}))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "Expecting value"),
        ('{"schema":1,"events":[', "Expecting value"),
        ("[]", "TypeError"),
        ("null", "TypeError"),
        ("{}", "schema"),
        ('{"schema":1}', "events"),
        ('{"schema":1,"events":5}', "list"),
        ('{"schema":1,"events":[{"kind":"dreamt"}]}', "event 0: .*'dreamt'"),
        ('{"schema":1,"events":[{"kind":"observed","text":"x"},{"kind":"finished","stop":"TIRED"}]}', "event 1.*stop"),
        ("[" * 100_000, "RecursionError"),
    ],
)
def test_a_damaged_trace_is_refused_in_one_line(text, told):
    with pytest.raises(InputError, match=f"not a readable trace: .*{told}") as error:
        Trace.from_json(text)
    assert "\n" not in str(error.value)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_damage_raises_anything_else(data):
    whole = Trace([data.draw(BUILT[events.Planned]), Finished(Stop.DONE)]).to_json()
    at = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.sampled_from(["", "{", "}", "]", '"', "null", "-1", "NaN"]))
    with suppress(InputError):
        Trace.from_json(whole[:at] + piece + whole[at + 1 :])


@pytest.mark.parametrize("mode", MODES)
def test_a_real_trace_holds_all_that_its_metrics_need(mode):
    domain = GridDomain()
    episode = asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(mode))))
    read = Trace.from_json(episode.trace.to_json())
    assert metrics(read, Limits(1.1, 0.95)) == episode.row.metrics


def test_metrics_that_no_referee_could_give_stay_unknown_after_reading():
    domain = GridDomain({"collapse": make_scenario({"stress": 3.0, "r_pu": 0.05})})
    episode = asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.PREDEFINED))))
    read = Trace.from_json(episode.trace.to_json())
    assert episode.row.metrics["objective_ac"] is None
    assert metrics(read, Limits(1.1, 0.95)) == episode.row.metrics


def test_nothing_that_changes_between_equal_runs_is_in_a_trace():
    traces = set()
    for _ in range(2):
        domain = TinyDomain()
        episode = asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.SEQUENTIAL))))
        traces.add(episode.trace.to_json())
    assert len(traces) == 1
