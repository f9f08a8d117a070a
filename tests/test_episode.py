"""One episode: what it records, and how every kind of failure ends it."""

import asyncio
import json
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from planroute.declaration import Declaration, forced
from planroute.declarers import Fixed, Natural
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.day import make_day, settle
from planroute.domains.grid.objective import cost
from planroute.episode import Conditions, run_episode
from planroute.errors import (
    DeclarationError,
    DomainError,
    ModelMissing,
    ModelRefused,
    ModelUnavailable,
    StorageError,
)
from planroute.gate import Gate, GateAction
from planroute.ledger import Budget
from planroute.modes import MODES, Mode
from planroute.runs.folder import canonical
from planroute.trace import (
    Declared,
    Directed,
    Dispatched,
    Failed,
    Finished,
    Gated,
    Mended,
    ModelCalled,
    Settled,
    Stop,
    UnitFinished,
    UnitStarted,
)
from tests.declarers.answering import Answering
from tests.domains.tiny import Line, TinyDomain, TinyWorld

GOOD = json.dumps({"mode": "SEQUENTIAL", "replanning": "EVERY_STEP", "confidence": 0.8, "rationale": "it is windy"})


@dataclass
class Says:
    """Declares what it is given, or raises it."""

    what: Declaration | Exception
    name: str = "says"

    async def declare(self, domain, task, state, context):
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


def run(domain, conditions, seed=7):
    return asyncio.run(run_episode(domain, domain.tasks()[0], seed, conditions))


def uncontrolled_objective(scenario):
    day = make_day(scenario, 7)
    nothing = np.zeros((24, day.people.nodes))
    result = settle(day, slice(0, 24), nothing)
    factors = scenario.factors
    return cost(
        result.head_mw,
        result.v_pu,
        nothing,
        factors.import_cap_mw,
        factors.voltage_floor_pu,
        scenario.coefficients.objective,
    ).objective


# An episode that goes well


@pytest.mark.parametrize("mode", MODES)
def test_the_flow_is_recorded_in_order(mode):
    domain = TinyDomain()
    episode = run(domain, Conditions(Fixed(mode)))
    kinds = [type(event) for event in episode.trace]
    assert kinds[:3] == [Declared, Gated, Dispatched]
    assert kinds[-1] is Finished
    row = episode.row
    assert (row.domain, row.task, row.condition, row.declarer, row.seed) == ("tiny", "line", "fixed", "fixed", 7)
    assert (row.declared, row.executed, row.mode_agreement, row.gate) == (mode, mode, True, GateAction.PASSED)
    assert (row.stop, row.error) == (episode.trace.of(Finished)[0].stop, None)
    assert row.declaration == asdict(forced(mode, {"grip": "FIRM", "tries": 2}))
    assert row.spent["environment"]["interactions"] == len(episode.trace.of(UnitStarted))
    (world,) = domain.opened
    assert world.closed == 1
    assert row.success is (len(world.fetched) == 4)


def test_a_model_declares_and_is_charged():
    model = Answering(GOOD)
    episode = run(TinyDomain(), Conditions(Natural(), model=model))
    row = episode.row
    assert (row.declared, row.executed, row.model) == (Mode.SEQUENTIAL, Mode.SEQUENTIAL, "test/answering")
    assert row.declaration["rationale"] == "it is windy"
    (request,) = model.requests
    (call,) = episode.trace.of(ModelCalled)
    assert call.identity == request.identity(model.endpoint)
    spent = row.spent["natural declaration"]
    assert spent["model_calls"] == 1
    assert spent["answer_tokens"] == len(GOOD)
    assert episode.billing["natural declaration"]["latency_s"] > 0


def test_equal_episodes_give_equal_rows_and_traces_whatever_they_waited():
    one, other = (run(TinyDomain(), Conditions(Natural(), model=Answering(GOOD))) for _ in range(2))
    assert one.billing != other.billing
    assert one.row == other.row
    assert one.trace.to_json() == other.trace.to_json()
    assert canonical(asdict(one.row)) == canonical(asdict(other.row))
    assert not {"latency_s", "price_usd", "billed_calls"} & set(one.row.spent["natural declaration"])


@pytest.mark.parametrize("domain", [TinyDomain(), GridDomain()], ids=["tiny", "grid"])
@pytest.mark.parametrize("mode", MODES)
def test_a_row_can_be_written(domain, mode):
    row = run(domain, Conditions(Fixed(mode))).row
    assert json.loads(canonical(asdict(row)))["executed"] == mode


# Failures that are data


class Breaks(TinyWorld):
    error: ClassVar[Exception] = DomainError("the rail is blocked")

    async def execute(self, unit):
        if self.fetched:
            raise self.error
        return await super().execute(unit)


WRONG = json.dumps({"mode": "WANDERING"})
FAILURES = {
    "prose": (Natural(), Answering("I would rather not."), Stop.REPLY, "MODEL", "ReplyError", 1),
    "empty": (Natural(), Answering(""), Stop.REPLY, "MODEL", "ReplyError", 1),
    "wrong mode": (Natural(), Answering(WRONG), Stop.REPLY, "MODEL", "ReplyError", 1),
    "down": (
        Natural(),
        Answering(ModelUnavailable("no route to host", hint="start it")),
        Stop.INFRASTRUCTURE,
        "INFRASTRUCTURE",
        "ModelUnavailable",
        0,
    ),
    "refused": (
        Natural(),
        Answering(ModelRefused("key not accepted")),
        Stop.MODEL_REFUSED,
        "MODEL",
        "ModelRefused",
        0,
    ),
    "rule": (Says(DeclarationError("no such field")), None, Stop.DECLARATION, "DECLARATION", "DeclarationError", 0),
    "domain": (
        Says(DomainError("sensor lost")),
        None,
        Stop.INFRASTRUCTURE,
        "INFRASTRUCTURE",
        "DomainError",
        0,
    ),
}


@pytest.mark.parametrize("case", FAILURES)
@pytest.mark.parametrize("domain", [TinyDomain, GridDomain])
def test_a_failed_declaration_ends_the_episode_as_data(case, domain):
    declarer, model, stop, label, error, calls = FAILURES[case]
    domain = domain()
    episode = run(domain, Conditions(declarer, model=model and replace(model, requests=[])))
    row = episode.row
    infrastructure = stop is Stop.INFRASTRUCTURE
    assert (row.stop, row.failure) == (stop, label)
    assert row.status == ("infrastructure" if infrastructure else "failed")
    assert (row.declared, row.executed, row.mode_agreement, row.gate) == (None, None, None, None)
    failed, finished = list(episode.trace)[-2:] if domain.name == "tiny" else (None, list(episode.trace)[-1])
    assert (episode.trace.of(Failed)[0].error, episode.trace.of(Failed)[0].where) == (error, "declaration")
    assert failed is None or isinstance(failed, Failed)
    assert finished == Finished(stop)
    assert episode.trace.of(Failed)[0].message in row.error
    assert sum(spent["model_calls"] for spent in row.spent.values()) == calls == len(episode.trace.of(ModelCalled))
    assert row.planning == ()
    if domain.name == "tiny":
        assert domain.opened[0].closed == 1
        assert row.success is (None if infrastructure else False)
    else:
        assert len(episode.trace.of(Settled)) == 24
        assert row.metrics["objective"] == pytest.approx(uncontrolled_objective(make_scenario()))
        assert row.metrics["directives"] == 0


def test_a_refused_declaration_is_recorded_with_its_rule():
    broken = replace(forced(Mode.SEARCH), branching=1)
    domain = TinyDomain()
    episode = run(domain, Conditions(Says(broken), Gate(repair=False)))
    row = episode.row
    assert (row.stop, row.status, row.failure) == (Stop.REFUSED, "failed", "DECLARATION")
    assert (row.declared, row.executed, row.gate) == (Mode.SEARCH, None, GateAction.REFUSED)
    assert row.error == row.gate_why == "branching: SEARCH needs at least 2 candidates, got 1"
    assert not episode.trace.of(Dispatched)
    assert not episode.trace.of(UnitStarted)
    assert domain.opened[0].closed == 1


def test_a_refusal_on_the_grid_leaves_the_day_uncontrolled():
    row = run(GridDomain(), Conditions(Fixed(Mode.HIERARCHICAL), Gate(1.0))).row
    assert row.stop == Stop.REFUSED
    assert row.metrics["objective"] == pytest.approx(uncontrolled_objective(make_scenario()))


@pytest.mark.parametrize("mode", MODES)
def test_a_failing_environment_is_no_failure_of_the_task(mode):
    domain = TinyDomain({"line": Line(slip=0.0)}, Breaks)
    episode = run(domain, Conditions(Fixed(mode)))
    row = episode.row
    assert (row.stop, row.status, row.success) == (Stop.INFRASTRUCTURE, "infrastructure", None)
    assert row.error == "the rail is blocked"
    assert episode.trace.of(Failed)[0].where == "execution"
    assert (row.declared, row.executed) == (mode, mode)
    assert row.metrics["fetched"] == 1
    assert len(episode.trace.of(UnitFinished)) == 1
    assert domain.opened[0].closed == 1


def test_a_task_that_does_not_open_is_infrastructure():
    class Shut(TinyDomain):
        async def open(self, task, context):
            raise DomainError("the door is shut", hint="unlock it")

    row = run(Shut(), Conditions(Fixed(Mode.SEARCH))).row
    assert (row.status, row.error, row.metrics) == ("infrastructure", "the door is shut — unlock it", {})


# Budgets


@pytest.mark.parametrize("mode", MODES)
def test_interactions_are_limited(mode):
    domain = TinyDomain({"line": Line(places=(1, 2, 3, 4), slip=0.0)})
    episode = run(domain, Conditions(Fixed(mode), budget=Budget(interactions=2)))
    row = episode.row
    assert (row.stop, row.status, row.failure) == (Stop.BUDGET, "failed", "BUDGET")
    assert row.error == "budget of 2 interactions is spent"
    assert row.spent["environment"]["interactions"] == 2 == row.metrics["fetched"]
    assert domain.opened[0].closed == 1


def test_hours_after_a_spent_budget_run_uncontrolled():
    stopped = run(GridDomain(), Conditions(Fixed(Mode.PREDEFINED), budget=Budget(interactions=3)))
    whole = run(GridDomain(), Conditions(Fixed(Mode.PREDEFINED)))
    assert stopped.row.stop == Stop.BUDGET
    assert stopped.row.metrics["dispatch_hours"] == 3
    assert [event.step for event in stopped.trace.of(Settled)] == list(range(24))
    assert stopped.trace.of(Directed) == whole.trace.of(Directed)[:3]
    assert whole.row.metrics["objective"] < stopped.row.metrics["objective"]
    assert stopped.row.metrics["objective"] < uncontrolled_objective(make_scenario())
    curtailed = [event.values["curtailed_mw"] for event in stopped.trace.of(Settled)]
    assert sum(value > 0 for value in curtailed) == 3


@pytest.mark.parametrize(
    ("budget", "told"),
    [(Budget(model_calls=0), "budget of 0 model calls"), (Budget(tokens=0), "tokens"), (Budget(seconds=0), "seconds")],
)
def test_model_calls_are_limited_before_they_are_made(budget, told):
    model = Answering(GOOD)
    row = run(TinyDomain(), Conditions(Natural(), model=model, budget=budget)).row
    assert (row.stop, row.failure) == (Stop.BUDGET, "BUDGET")
    assert told in row.error
    assert model.requests == []


@pytest.mark.parametrize("calls", [1, 4])
def test_a_call_limit_holds_across_all_interfaces(calls):
    """One declaration, then messages and evaluations: the limit counts them together."""

    def answer(request):
        return GOOD if request.purpose == "natural declaration" else '{"shift": 0.1}'

    model = Answering(answer)
    domain = GridDomain({"spoken": make_scenario({"communication": "model"})})
    row = run(domain, Conditions(Natural(), model=model, budget=Budget(model_calls=calls))).row
    assert row.stop == Stop.BUDGET
    assert len(model.requests) == calls == sum(spent["model_calls"] for spent in row.spent.values())


# Errors that are not about the episode


@pytest.mark.parametrize("error", [KeyError("typo"), StorageError("disk full"), ModelMissing("no weights")])
def test_other_errors_pass_through_and_the_world_is_closed(error):
    domain = TinyDomain()
    with pytest.raises(type(error)) as raised:
        run(domain, Conditions(Says(error)))
    assert raised.value is error
    assert domain.opened[0].closed == 1


def test_a_programming_error_in_a_world_passes_through():
    class Mistaken(Breaks):
        error: ClassVar[Exception] = TypeError("not a place")

    domain = TinyDomain({"line": Line(slip=0.0)}, Mistaken)
    with pytest.raises(TypeError, match="not a place"):
        run(domain, Conditions(Fixed(Mode.PREDEFINED)))
    assert domain.opened[0].closed == 1


def test_a_world_is_closed_although_its_outcome_fails():
    class NoOutcome(TinyWorld):
        def outcome(self):
            raise ZeroDivisionError

    domain = TinyDomain(world=NoOutcome)
    with pytest.raises(ZeroDivisionError):
        run(domain, Conditions(Fixed(Mode.PREDEFINED)))
    assert domain.opened[0].closed == 1


def test_a_declarer_without_its_model_is_told_what_to_do():
    with pytest.raises(ModelMissing, match="natural declaration needs a language model — name one with --model"):
        run(TinyDomain(), Conditions(Natural()))


def test_a_cancelled_episode_closes_its_world():
    class Waits(TinyWorld):
        async def execute(self, unit):
            await asyncio.sleep(3600)

    async def cancel(domain):
        episode = asyncio.create_task(run_episode(domain, domain.tasks()[0], 0, Conditions(Fixed(Mode.SEARCH))))
        while not domain.opened:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        episode.cancel()
        with pytest.raises(asyncio.CancelledError):
            await episode

    domain = TinyDomain(world=Waits)
    asyncio.run(cancel(domain))
    assert domain.opened[0].closed == 1


def test_an_invalid_declaration_is_repaired_and_both_are_kept():
    answer = json.dumps({"mode": "SEARCH", "branching": 1, "confidence": 7, "tries": 2})
    episode = run(TinyDomain(), Conditions(Natural(), model=Answering(answer)))
    (gated,) = episode.trace.of(Gated)
    assert (gated.record.declared.branching, gated.record.admitted.branching) == (1, 2)
    assert episode.trace.of(Mended)[0].clips == (("confidence", 7.0, 1.0),)
    assert episode.row.gate == GateAction.REPLACED
    assert episode.row.mode_agreement is True
    assert episode.row.declaration["branching"] == 1
