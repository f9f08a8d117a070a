"""Ranked declaration: an order over all modes, of which the first is executed."""

import asyncio
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.calls import Sampling
from planroute.declarers import Ranked
from planroute.episode import Conditions
from planroute.errors import ReplyError
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.trace import Declared, Gated, ModelCalled, Trace
from tests.declarers.answering import Answering
from tests.domains.text.rooms import Player, RoomsDomain, played

DOMAIN = RoomsDomain()


def answer(*ranking, mode=None, **changes):
    return json.dumps({"mode": mode or ranking[0], "ranking": list(ranking), **changes})


def declare(text, declarer=None, seed=7):
    model = Answering(text)
    context = Context(seed, Trace(), Ledger(), model)

    async def run():
        task = DOMAIN.tasks()[0]
        world = await DOMAIN.open(task, context)
        return await (declarer or Ranked()).declare(DOMAIN, task, world.state(), context)

    return asyncio.run(run()), model, context


@pytest.mark.parametrize("order", list(itertools.permutations(MODES)), ids="-".join)
def test_the_order_is_kept_and_its_first_is_the_mode(order):
    declaration, _, _ = declare(answer(*order))
    assert (declaration.mode, declaration.ranking) == (order[0], order)


@given(st.permutations(MODES).flatmap(lambda order: st.integers(1, 4).map(lambda size: order[:size])))
def test_modes_that_were_left_out_follow_in_the_order_of_every_table(given_modes):
    declaration, _, _ = declare(answer(*given_modes))
    rest = [mode for mode in MODES if mode not in given_modes]
    assert declaration.ranking == (*given_modes, *rest)


def test_the_ranking_wins_over_the_mode_field():
    declaration, _, _ = declare(answer("SEARCH", "SEQUENTIAL", mode="PREDEFINED"))
    assert declaration.mode is Mode.SEARCH


@pytest.mark.parametrize("ranking", [["SEARCH", "SEARCH"], ["SEARCH", "PREDEFINED", "SEARCH", "SEQUENTIAL"]])
def test_a_mode_that_is_ranked_twice_is_a_reply_error(ranking):
    with pytest.raises(ReplyError, match="ranked twice"):
        declare(answer(*ranking))


@pytest.mark.parametrize("text", ["", "SEARCH first", '{"mode": "SEARCH"}', '{"mode": "SEARCH", "ranking": []}'])
def test_an_answer_without_a_ranking_is_a_reply_error(text):
    with pytest.raises(ReplyError):
        declare(text)


def test_what_is_asked():
    _, model, context = declare(answer("SEARCH"), Ranked(Sampling(temperature=0.9), draw=2), seed=42)
    (request,) = model.requests
    assert (request.purpose, request.draw) == ("ranked declaration", 2)
    assert (request.sampling.temperature, request.sampling.seed) == (0.9, 42)
    assert "rank all four modes" in request.messages[0].content
    assert DOMAIN.briefing in request.messages[0].content
    assert {"mode", "ranking", "plan"} <= set(request.schema["required"])
    assert len(context.trace.of(ModelCalled)) == 1


@pytest.mark.parametrize("mode", MODES)
def test_the_first_of_the_ranking_is_executed_and_the_ranking_stays_on_record(mode):
    others = [other for other in MODES if other is not mode]
    player = Player({"ranked declaration": {"mode": mode, "ranking": [mode, *others], "depth": 2, "branching": 2}})
    episode = asyncio.run(played(RoomsDomain(), Conditions(Ranked(), model=player)))
    row = episode.row
    assert (row.declarer, row.declared, row.executed, row.mode_agreement) == ("ranked", mode, mode, True)
    assert row.declaration["ranking"] == (mode, *others)
    assert episode.trace.of(Declared)[0].declaration.ranking == (mode, *others)
    assert len(episode.trace.of(Gated)) == 1


def test_a_bad_ranking_ends_the_episode_as_the_planners_failure():
    player = Player({"ranked declaration": {"mode": "SEARCH", "ranking": ["SEARCH", "SEARCH"]}})
    row = asyncio.run(played(RoomsDomain(), Conditions(Ranked(), model=player))).row
    assert (row.status, row.stop, row.declared, row.executed) == ("failed", "REPLY", None, None)
    assert row.spent["ranked declaration"]["model_calls"] == 1
