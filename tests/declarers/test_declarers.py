"""Who declares: a model alone, a model that advises code, and nobody."""

import asyncio
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.ask import wanted
from planroute.calls import Sampling
from planroute.declaration import Clip, Replanning, forced
from planroute.declarers import Bounded, Fixed, Hybrid, Natural
from planroute.declarers.hybrid import SHIFT_LIMIT, Advice, base_scores, probabilities
from planroute.declarers.natural import Policy, policy_schema
from planroute.domains.grid import GridDomain, GridFields, make_scenario
from planroute.errors import ModelMissing, ReplyError
from planroute.gate import check
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.trace import Mended, ModelCalled, Trace
from tests.declarers.answering import Answering
from tests.domains.tiny import TinyDomain

GRID = GridDomain()
VALID = {
    "mode": "SEARCH",
    "depth": 1,
    "branching": 3,
    "replanning": "NONE",
    "confidence": 0.75,
    "rationale": "the afternoon is the hardest",
    "target": "LEVERAGE",
    "theme": "CLIMATE",
    "intensity": 0.5,
}


def declare(declarer, model=None, seed=7, domain=GRID):
    context = Context(seed, Trace(), Ledger(), model)

    async def run():
        task = domain.tasks()[0]
        world = await domain.open(task, context)
        return await declarer.declare(domain, task, world.state(), context)

    return asyncio.run(run()), context


# Bounded


def test_a_comparison_s_limit_of_candidates_holds_for_whoever_declares():
    answer = json.dumps(VALID | {"branching": 4})
    declared, _ = declare(Bounded(Natural(), 2), Answering(answer))
    assert (declared.branching, declared.clips) == (2, (Clip("branching", 4, 2),))
    free, _ = declare(Bounded(Natural(), 4), Answering(answer))
    assert (free.branching, free.clips) == (4, ())
    assert Bounded(Natural(), 2).name == "natural"


# Fixed


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("domain", [GRID, TinyDomain()], ids=["grid", "tiny"])
def test_fixed_declares_its_mode_and_what_all_conditions_share(mode, domain):
    model = Answering("never asked")
    declaration, context = declare(Fixed(mode), model, domain=domain)
    shared = {"grid": GridFields().model_dump(), "tiny": {"grip": "FIRM", "tries": 2}}[domain.name]
    assert declaration == forced(mode, shared)
    assert check(declaration) == ()
    assert (model.requests, len(context.trace)) == ([], 0)


# Natural


def test_the_schema_holds_the_common_fields_and_the_domains_own():
    schema = policy_schema(GridFields, Policy).model_json_schema()
    assert set(schema["properties"]) == {*Policy.model_fields, *GridFields.model_fields}
    assert schema["required"] == ["mode"]
    assert schema["$defs"]["Mode"]["enum"] == [*MODES]
    assert (schema["properties"]["intensity"]["minimum"], schema["properties"]["intensity"]["maximum"]) == (0.2, 1.0)


def test_the_model_sees_briefing_and_state_and_is_held_to_the_schema():
    model = Answering(json.dumps(VALID))
    _, context = declare(Natural(Sampling(temperature=0.9), draw=3), model)
    (request,) = model.requests
    system, user = (message.content for message in request.messages)
    assert GRID.briefing in system
    assert '"import_cap_mw": 1.1' in user
    assert request.schema == wanted(policy_schema(GridFields, Policy))
    assert set(request.schema["required"]) == set(request.schema["properties"])
    assert (request.sampling.temperature, request.draw, request.purpose) == (0.9, 3, "natural declaration")
    assert [type(event) for event in context.trace] == [ModelCalled]


def test_a_valid_answer_is_declared_as_it_is():
    declaration, _ = declare(Natural(), Answering(json.dumps(VALID)))
    assert declaration.mode is Mode.SEARCH
    assert (declaration.depth, declaration.branching, declaration.replanning) == (1, 3, Replanning.NONE)
    assert (declaration.confidence, declaration.rationale) == (0.75, "the afternoon is the hardest")
    assert declaration.fields == {"target": "LEVERAGE", "theme": "CLIMATE", "intensity": 0.5}
    assert (declaration.clips, declaration.repairs) == ((), ())
    assert check(declaration) == ()


def test_what_is_not_said_takes_its_default():
    declaration, _ = declare(Natural(), Answering('{"mode": "PREDEFINED"}'))
    assert declaration.fields == GridFields().model_dump()
    assert (declaration.depth, declaration.branching, declaration.confidence) == (1, 1, 0.5)


def test_numbers_out_of_range_are_clipped_and_the_clipping_is_recorded():
    answer = {**VALID, "intensity": 1.7, "branching": 9, "confidence": -2}
    declaration, context = declare(Natural(), Answering(json.dumps(answer)))
    assert (declaration.fields["intensity"], declaration.branching, declaration.confidence) == (1.0, 4, 0.0)
    wanted = {Clip("intensity", 1.7, 1.0), Clip("branching", 9.0, 4.0), Clip("confidence", -2.0, 0.0)}
    assert set(declaration.clips) == wanted
    (mended,) = context.trace.of(Mended)
    assert {Clip(*clip) for clip in mended.clips} == wanted


def test_prose_around_the_answer_is_dropped_and_that_is_recorded():
    text = f"Let me think.\n```json\n{json.dumps(VALID)}\n```\nGood luck!"
    declaration, context = declare(Natural(), Answering(text))
    assert declaration.mode is Mode.SEARCH
    assert declaration.repairs == context.trace.of(Mended)[0].repairs != ()


@pytest.mark.parametrize("text", ["", "no", "{}", '{"mode": "WANDERING"}', '{"depth": 2}', "[1, 2]", "null"])
def test_an_answer_without_a_mode_is_a_reply_error_that_is_charged(text):
    context = Context(7, Trace(), Ledger(), Answering(text))
    task = GRID.tasks()[0]

    async def run():
        world = await GRID.open(task, context)
        await Natural().declare(GRID, task, world.state(), context)

    with pytest.raises(ReplyError):
        asyncio.run(run())
    assert len(context.trace.of(ModelCalled)) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_declaration_that_breaks_a_rule_is_for_the_gate(mode):
    declaration, _ = declare(Natural(), Answering(json.dumps({"mode": mode})))
    faults = {fault.field for fault in check(declaration)}
    wanted = {Mode.SEQUENTIAL: {"replanning"}, Mode.HIERARCHICAL: {"depth"}, Mode.SEARCH: {"branching"}}
    assert faults == wanted.get(mode, set())


@given(
    st.dictionaries(
        st.sampled_from([*VALID, "other"]),
        st.one_of(
            st.none(), st.booleans(), st.integers(-9, 9), st.floats(), st.text(max_size=5), st.sampled_from(MODES)
        ),
    )
)
@settings(max_examples=100, deadline=None)
def test_any_object_is_either_in_range_or_a_reply_error(answer):
    try:
        declaration, _ = declare(Natural(), Answering(json.dumps(answer)))
    except ReplyError:
        return
    assert declaration.mode in MODES
    assert 1 <= declaration.depth <= 3
    assert 1 <= declaration.branching <= 4
    assert 0 <= declaration.confidence <= 1
    assert GridFields.model_validate(declaration.fields).model_dump() == declaration.fields


# Hybrid

features = st.dictionaries(
    st.sampled_from(["stress", "burden", "horizon", "volatility", "spread", "compliance", "other"]), st.floats(0, 1)
)


def advising(**shifts):
    return Answering(json.dumps({**Advice(reason="so").model_dump(), **shifts}))


def test_the_prior_of_the_nominal_day_prefers_to_decompose():
    modes = Counter(declare(Hybrid(prior_only=True), seed=seed)[0].mode for seed in range(51))
    assert modes[Mode.HIERARCHICAL] > 45


def test_the_prior_asks_no_model():
    model = Answering("never asked")
    declaration, context = declare(Hybrid(prior_only=True), model)
    assert (model.requests, len(context.trace)) == ([], 0)
    assert check(declaration) == ()
    assert declaration.fields == GridFields().model_dump()


def test_advice_needs_a_model():
    with pytest.raises(ModelMissing, match="hybrid advice needs a language model"):
        declare(Hybrid())


def test_advice_of_no_shift_is_the_prior():
    for seed in range(10):
        prior, advised = declare(Hybrid(prior_only=True), seed=seed)[0], declare(Hybrid(), advising(), seed=seed)[0]
        assert replace(advised, rationale="") == prior
        assert advised.rationale == "so"


def test_shifts_can_change_the_mode_but_not_past_their_bound():
    advice = {"hierarchical": -5, "search": 5}
    declaration, context = declare(Hybrid(), advising(**advice))
    assert declare(Hybrid(prior_only=True))[0].mode is Mode.HIERARCHICAL
    assert declaration.mode is Mode.SEARCH
    assert set(declaration.clips) == {Clip("hierarchical", -5.0, -0.3), Clip("search", 5.0, 0.3)}
    assert context.trace.of(Mended)
    bounded, _ = declare(Hybrid(), advising(hierarchical=-0.3, search=0.3))
    assert replace(declaration, clips=(), repairs=()) == replace(bounded, repairs=())


def test_the_model_is_shown_the_scores_and_cannot_name_the_mode():
    model = Answering(json.dumps({"mode": "PREDEFINED", "search": 0.01}))
    declaration, _ = declare(Hybrid(), model)
    system, user = (message.content for message in model.requests[0].messages)
    assert GRID.briefing in system
    assert '"hierarchical": ' in user
    assert "mode" not in model.requests[0].schema["properties"]
    assert declaration.mode is declare(Hybrid(prior_only=True))[0].mode


def test_the_draw_belongs_to_the_planning_stream_and_the_seed_alone():
    """The day's own draws, and what the domain is, do not move it; the number of the draw does."""
    noisy = GridDomain({"noisy": make_scenario({"honesty": 0.0, "tool_failure": 1.0, "mean_resistance": 0.5})})
    for seed in range(20):
        once, again = (declare(Hybrid(prior_only=True), seed=seed)[0] for _ in range(2))
        assert once == again == declare(Hybrid(prior_only=True), seed=seed, domain=noisy)[0]
    close = {"hierarchical": -0.21, "predefined": 0.2, "sequential": 0.3, "search": 0.1}
    by_seed = Counter(declare(Hybrid(), advising(**close), seed=seed)[0].mode for seed in range(60))
    by_draw = Counter(declare(Hybrid(draw=draw), advising(**close))[0].mode for draw in range(60))
    assert len(by_seed) > 1
    assert len(by_draw) > 1


@given(features, st.lists(st.floats(-SHIFT_LIMIT, SHIFT_LIMIT), min_size=4, max_size=4))
def test_probabilities_are_a_distribution_that_follows_the_scores(values, shifts):
    scores = {mode: score + shift for (mode, score), shift in zip(base_scores(values).items(), shifts, strict=True)}
    chances = probabilities(scores)
    assert sum(chances.values()) == pytest.approx(1.0)
    assert min(chances.values()) >= 0.0
    assert chances[max(scores, key=scores.get)] == max(chances.values())


def test_modes_are_drawn_as_often_as_their_probability_says():
    advice = Advice(hierarchical=-0.21, predefined=0.2, sequential=0.3, search=0.1)
    draws = [declare(Hybrid(draw=i), advising(**advice.model_dump(exclude={"reason"})))[0] for i in range(300)]
    counts = Counter(declaration.mode for declaration in draws)
    shares = {declaration.mode: declaration.confidence for declaration in draws}
    for mode, share in shares.items():
        assert counts[mode] / 300 == pytest.approx(share, abs=4 * np.sqrt(0.25 / 300))


@pytest.mark.parametrize("text", ["", "search, please", '{"search": "much"}'])
def test_advice_that_cannot_be_read_is_a_reply_error(text):
    with pytest.raises(ReplyError):
        declare(Hybrid(), Answering(text))


@given(features)
def test_a_missing_feature_counts_as_zero(values):
    full = {**dict.fromkeys(("stress", "burden", "horizon", "volatility", "spread", "compliance"), 0.0), **values}
    assert base_scores(values) == base_scores(full)
