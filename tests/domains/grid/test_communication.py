"""Who speaks to prosumers: only bounded shifts come back, whatever a model says and in whatever order it answers."""

import asyncio
import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.calls import ModelReply, Sampling
from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.communication import MESSAGE_LIMIT, Appeal, Calibrated, InHours, Spoken
from planroute.domains.grid.day import make_day
from planroute.domains.grid.prosumers import Memory, calibrated_shifts
from planroute.episode import Conditions, run_episode
from planroute.errors import ModelMissing, ModelRefused, ModelUnavailable, ReplyError
from planroute.ledger import Budget, Ledger
from planroute.models.metered import MeteredModel
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.trace import Directed, Failed, Mended, ModelCalled, Observed, Responded, Stop, Trace
from tests.declarers.answering import Answering

DAY = make_day(make_scenario(), 7)
RESPONSE = DAY.scenario.coefficients.response
MESSAGE, EFFECT = "operator message", "prosumer evaluation"


def answering(effect="{}", message="Please save at 17:00."):
    return Answering(lambda request: message if request.purpose == MESSAGE else effect)


def context_for(model, budget=None):
    ledger = Ledger(budget)
    return Context(7, Trace(), ledger, MeteredModel(model, ledger) if model else None)


def appeal(requested=None, sampled=None):
    nodes = DAY.people.nodes
    requested = np.full(nodes, 5.0) if requested is None else requested
    return Appeal(
        hour=17,
        theme="RELIABILITY",
        excess_kw=544.0,
        requested_kw=requested,
        sampled=DAY.draws.narrative[17] < 0.4 if sampled is None else sampled,
        memory=Memory.blank(nodes),
        people=DAY.people,
    )


def spoken(model, budget=None, what=None):
    context = context_for(model, budget)
    return asyncio.run(Spoken(context).shifts(what or appeal())), context


def episode(mode, model=None, seed=7, budget=None, **factors):
    domain = GridDomain({"day": make_scenario(factors)})
    conditions = Conditions(Fixed(mode), model=model, budget=budget or Budget())
    return asyncio.run(run_episode(domain, domain.tasks()[0], seed, conditions))


# The calibrated stand-in


def test_the_stand_in_gives_the_archetypes_means_to_the_sampled_alone():
    what = appeal()
    shifts = asyncio.run(Calibrated(RESPONSE).shifts(what))
    assert np.array_equal(shifts, np.where(what.sampled, calibrated_shifts(DAY.people, RESPONSE), 0.0))


# A model that speaks


def test_one_message_for_the_hour_and_one_evaluation_for_each_sampled():
    model = answering('{"shift": 0.2, "persuaded": true, "reason": "polite"}')
    what = appeal()
    shifts, context = spoken(model, what=what)
    assert np.array_equal(shifts, np.where(what.sampled, 0.2, 0.0))
    purposes = [request.purpose for request in model.requests]
    assert purposes == [MESSAGE] + [EFFECT] * int(what.sampled.sum())
    assert [event.purpose for event in context.trace.of(ModelCalled)] == purposes
    assert [event.text for event in context.trace.of(Observed)] == ["Please save at 17:00."]
    assert "17:00" in model.requests[0].messages[1].content
    assert all("Please save at 17:00." in request.messages[1].content for request in model.requests[1:])
    assert context.ledger.by_purpose[EFFECT].model_calls == what.sampled.sum()


def test_each_prosumer_is_described_as_it_is():
    model = answering('{"shift": 0}')
    memory = replace(Memory.blank(DAY.people.nodes), asked=np.arange(40.0), agreed=np.arange(40.0) // 2)
    what = replace(appeal(), memory=memory)
    spoken(model, what=what)
    nodes = np.flatnonzero(what.sampled)
    for node, request in zip(nodes, model.requests[1:], strict=True):
        text = request.messages[1].content
        assert f"asked {node} times and complied {node // 2} times" in text
        assert "5.0 kW" in text


def test_nobody_asked_nobody_spoken_to():
    model = answering()
    shifts, context = spoken(model, what=appeal(np.zeros(40), np.zeros(40, bool)))
    assert not shifts.any()
    assert (model.requests, len(context.trace)) == ([], 0)


@given(st.floats())
@settings(max_examples=40, deadline=None)
def test_no_answer_shifts_past_the_bound(shift):
    shifts, context = spoken(answering(json.dumps({"shift": shift})))
    assert (np.abs(shifts) <= 0.30).all()
    if not np.isfinite(shift):
        assert context.trace.of(Failed) or context.trace.of(Mended)
    elif abs(shift) <= 0.30:
        assert shifts.sum() == pytest.approx(shift * appeal().sampled.sum())
    else:
        assert context.trace.of(Mended)[0].clips == (("shift", shift, float(np.clip(shift, -0.3, 0.3))),)


@pytest.mark.parametrize("effect", ["", "I think they would agree.", "[]", '{"persuaded": true}'])
def test_an_evaluation_that_cannot_be_read_shifts_nothing_and_is_charged(effect):
    model = answering(effect)
    shifts, context = spoken(model)
    sampled = appeal().sampled
    assert not shifts.any()
    failed = context.trace.of(Failed)
    assert [event.where for event in failed] == [f"prosumer evaluation, node {n}" for n in np.flatnonzero(sampled)]
    assert {event.error for event in failed} == {ReplyError.__name__}
    assert context.ledger.by_purpose[EFFECT].model_calls == sampled.sum()


@pytest.mark.parametrize("message", ["", "   \n "])
def test_an_empty_message_reaches_nobody(message):
    model = answering('{"shift": 0.3}', message)
    shifts, context = spoken(model)
    assert not shifts.any()
    assert [event.where for event in context.trace.of(Failed)] == [MESSAGE]
    assert len(model.requests) == 1


def test_a_long_message_is_cut_and_laid_out_in_one_line():
    _, context = spoken(answering('{"shift": 0}', "save\n\n  power " * 500))
    (observed,) = context.trace.of(Observed)
    assert len(observed.text) <= MESSAGE_LIMIT
    assert observed.text.startswith("save power save power")


@dataclass
class Shuffled(Answering):
    """Answers evaluations late, the first asked last."""

    async def complete(self, request) -> ModelReply:
        turn = len(self.requests)
        if request.purpose == EFFECT:
            self.requests.append(request)
            for _ in range(50 - turn):
                await asyncio.sleep(0)
            node = sum(map(ord, request.messages[1].content)) % 7
            return ModelReply(json.dumps({"shift": node / 100}))
        return await super().complete(request)


def test_the_record_keeps_the_order_of_nodes_not_of_arrival():
    late, prompt = Shuffled("A message."), Shuffled("A message.")
    in_order = Budget(tokens=10**9)
    shifts, context = spoken(late)
    same, one_by_one = spoken(prompt, in_order)
    assert np.array_equal(shifts, same)
    assert len(np.unique(shifts)) > 2
    assert context.trace.to_json() == one_by_one.trace.to_json()


# In an episode


@pytest.mark.parametrize(
    "text", ["Ask everyone for 9999 kW now!", '{"requested_kw": 1e9}', "shift: 5, import_cap_mw: 0"]
)
def test_no_text_becomes_power(text):
    """Requests of a committed plan are the same whatever the model writes; only willingness may move."""
    plain = episode(Mode.PREDEFINED)
    told = episode(Mode.PREDEFINED, answering(text, text), communication="model")
    assert told.trace.of(Directed) == plain.trace.of(Directed)
    bounds = np.concatenate([event.columns["shift"] for event in told.trace.of(Responded)])
    assert (np.abs(bounds) <= 0.30).all()


def test_a_persuasive_model_persuades_and_a_repulsive_one_puts_off():
    realised = {
        shift: np.mean(
            [
                episode(
                    Mode.PREDEFINED, answering(json.dumps({"shift": shift})), seed, communication="model"
                ).row.metrics["realisation"]
                for seed in range(4)
            ]
        )
        for shift in (-0.3, 0.0, 0.3)
    }
    assert realised[-0.3] < realised[0.0] < realised[0.3]


@pytest.mark.parametrize("mode", MODES)
def test_the_model_is_asked_about_the_common_two_fifths(mode):
    model = answering('{"shift": 0.1}')
    found = episode(mode, model, communication="model")
    sampled = sum(sum(event.columns["sampled"]) for event in found.trace.of(Responded))
    assert [r.purpose for r in model.requests].count(EFFECT) == sampled
    for event in found.trace.of(Responded):
        expected = DAY.draws.narrative[event.step, list(event.columns["node"])] < 0.4
        assert event.columns["sampled"] == tuple(expected.tolist())
        assert all(shift == 0.0 for shift, asked in zip(event.columns["shift"], expected, strict=True) if not asked)


def test_a_model_that_answers_the_calibrated_means_gives_the_calibrated_day():
    """The two speakers are interchangeable: equal shifts, equal day."""
    means = dict(
        zip(
            ("idealist", "pragmatist", "conformist", "strategist", "skeptic", "opportunist"),
            RESPONSE.mean_shift,
            strict=True,
        )
    )

    def effect(request):
        if request.purpose == MESSAGE:
            return "Please save."
        archetype = request.messages[1].content.split("Household: ")[1].split(":")[0]
        return json.dumps({"shift": means[archetype]})

    spoken_day = episode(Mode.SEQUENTIAL, Answering(effect), communication="model")
    assert spoken_day.row.metrics == episode(Mode.SEQUENTIAL).row.metrics


def test_the_model_speaks_in_its_hours_alone():
    model = answering('{"shift": 0.1}')
    found = episode(Mode.PREDEFINED, model, communication="model", model_hours=[16, 17])
    messages = [r.messages[1].content for r in model.requests if r.purpose == MESSAGE]
    assert ["16:00" in text or "17:00" in text for text in messages] == [True, True]
    plain = {event.step: event for event in episode(Mode.PREDEFINED).trace.of(Responded)}
    for event in found.trace.of(Responded):
        if event.step < 16:
            assert event == plain[event.step]


def test_whoever_speaks_in_an_hour_is_told_the_hour():
    inside = Spoken(context_for(answering('{"shift": 0.3}')))
    outside = Calibrated(RESPONSE)
    speaker = InHours(frozenset({17}), inside, outside)
    at_17, at_18 = (asyncio.run(speaker.shifts(replace(appeal(), hour=hour))) for hour in (17, 18))
    assert set(at_17) == {0.0, 0.3}
    assert np.array_equal(at_18, asyncio.run(outside.shifts(appeal())))


def test_the_sampling_is_the_domains():
    model = answering('{"shift": 0.1}')
    domain = GridDomain({"day": make_scenario({"communication": "model"})}, Sampling(temperature=0.7, max_tokens=99))
    asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.SEARCH), model=model)))
    assert {(r.sampling.temperature, r.sampling.max_tokens) for r in model.requests} == {(0.7, 99)}


def test_communication_by_a_model_needs_one():
    with pytest.raises(ModelMissing, match="communication by a model needs a language model"):
        episode(Mode.SEARCH, communication="model")


@pytest.mark.parametrize(
    ("error", "stop"),
    [(ModelUnavailable("gone"), Stop.INFRASTRUCTURE), (ModelRefused("no credit"), Stop.MODEL_REFUSED)],
)
@pytest.mark.parametrize("purpose", [MESSAGE, EFFECT])
def test_an_endpoint_that_gives_up_ends_the_episode(error, stop, purpose):
    model = Answering(lambda request: error if request.purpose == purpose else "Please save.")
    found = episode(Mode.PREDEFINED, model, communication="model")
    assert found.row.stop == stop
    assert found.row.metrics["dispatch_hours"] == 1
    calls = {purpose: spent["model_calls"] for purpose, spent in found.row.spent.items()}
    assert calls.get(MESSAGE, 0) == (1 if purpose == EFFECT else 0)
    assert calls.get(EFFECT, 0) == 0


@pytest.mark.parametrize("budget", [Budget(tokens=2000), Budget(model_calls=12)])
def test_a_limit_reached_among_evaluations_gives_equal_episodes(budget):
    one, other = (
        episode(Mode.PREDEFINED, answering('{"shift": 0.1}'), budget=budget, communication="model") for _ in range(2)
    )
    assert one.row.stop == Stop.BUDGET
    assert one.row == other.row
    assert one.trace.to_json() == other.trace.to_json()


def test_cancelling_an_episode_leaves_nothing_running():
    class Waits(Answering):
        async def complete(self, request):
            if request.purpose == EFFECT:
                self.requests.append(request)
                await asyncio.sleep(3600)
            return ModelReply("Please save.")

    problems = []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: problems.append(context))
        model = Waits("")
        domain = GridDomain({"day": make_scenario({"communication": "model"})})
        conditions = Conditions(Fixed(Mode.PREDEFINED), model=model)
        task = asyncio.create_task(run_episode(domain, domain.tasks()[0], 7, conditions))
        while not model.requests:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.sleep(0)
        return left

    assert asyncio.run(run()) == set()
    assert problems == []
