"""An episode that does not end in its time: what it started is ended, and the infrastructure has failed."""

import asyncio
from pathlib import Path

import pytest

from planroute.declarers import Fixed, Natural
from planroute.episode import Conditions, run_episode
from planroute.errors import InputError
from planroute.ledger import Budget
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.modes import Mode
from planroute.testing import Faults, FaultServer
from planroute.trace import Failed, Stop
from tests.declarers.answering import Answering
from tests.domains.tiny import TinyDomain, TinyWorld


def test_a_call_in_flight_is_ended_with_its_episode_and_charged(tmp_path: Path) -> None:
    async def run():
        cache = CallCache(tmp_path / "calls.sqlite")
        async with FaultServer(Faults(hanging=1.0)) as server:
            live = LiveModel(server.base_url, "m")
            domain = TinyDomain()
            conditions = Conditions(Natural(), model=CachedModel(live, cache), ends_after_s=1.5)
            import httpx2  # noqa: F401 - loading it must not use up the time

            episode = await run_episode(domain, domain.tasks()[0], 7, conditions)
            while server.connections:
                await asyncio.sleep(0.01)
            requests = server.told.requests.total()
            tasks = len(asyncio.all_tasks())
            await live.aclose()
        cache.close()
        return episode, domain, requests, tasks

    episode, domain, requests, tasks = asyncio.run(run())
    row = episode.row
    assert (row.status, row.stop, row.success) == ("infrastructure", Stop.INFRASTRUCTURE, None)
    assert row.error.startswith("no end within 1.5 s")
    assert [event.error for event in episode.trace.of(Failed)] == ["EpisodeOverdue"]
    assert domain.opened[0].closed == 1
    assert tasks == 1
    billed = episode.billing["natural declaration"]
    assert (billed["failed_calls"], billed["attempts"], billed["billed_calls"]) == (1, requests, 0)
    assert requests == 1
    assert row.spent == {}


def test_an_episode_that_waits_is_ended_and_its_outcome_not_asked_for() -> None:
    class Waits(TinyWorld):
        async def execute(self, unit):
            await asyncio.Event().wait()

        def outcome(self):
            raise AssertionError("nobody needs to know")

    domain = TinyDomain(world=Waits)
    conditions = Conditions(Fixed(Mode.SEQUENTIAL), ends_after_s=0.05)
    episode = asyncio.run(run_episode(domain, domain.tasks()[0], 7, conditions))
    assert (episode.row.status, episode.row.executed) == ("infrastructure", Mode.SEQUENTIAL)
    assert domain.opened[0].closed == 1


def test_time_that_is_left_changes_nothing() -> None:
    rows = []
    for ends_after_s in (None, 600.0):
        domain = TinyDomain()
        conditions = Conditions(Fixed(Mode.SEARCH), ends_after_s=ends_after_s)
        rows.append(asyncio.run(run_episode(domain, domain.tasks()[0], 7, conditions)).row)
    assert rows[0] == rows[1]


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("inf"), float("nan")])
def test_an_impossible_time_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="cannot end after"):
        Conditions(Fixed(Mode.SEARCH), ends_after_s=seconds)


def test_failed_calls_count_towards_the_limit_and_stay_out_of_the_row() -> None:
    from planroute.errors import BudgetExceeded, ModelRefused
    from planroute.ledger import Ledger
    from planroute.models import MeteredModel
    from tests.models.test_cache import ask

    async def twice() -> Ledger:
        ledger = Ledger(Budget(model_calls=1))
        model = MeteredModel(Answering(ModelRefused("not this key", attempts=2)), ledger)
        with pytest.raises(ModelRefused):
            await model.complete(ask())
        with pytest.raises(BudgetExceeded, match="1 model calls"):
            await model.complete(ask())
        return ledger

    ledger = asyncio.run(twice())
    assert ledger.failures == {"ModelRefused": 1}
    total = ledger.total
    assert (total.model_calls, total.failed_calls, total.attempts, total.billed_tokens) == (0, 1, 2, 0)
