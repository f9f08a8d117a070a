"""An episode whose time is over is overdue, whatever the code under way made of being cancelled."""

import asyncio

import pytest

from planroute.declarers import Fixed
from planroute.episode import Conditions, run_episode
from planroute.errors import DomainError, ModelUnavailable, RunBudgetReached, StorageError
from planroute.modes import Mode
from planroute.trace import Failed, Stop
from tests.domains.tiny import TinyDomain, TinyWorld


def overdue(end):
    """Run an episode whose world does ``end`` when it is cancelled: raises it, or goes on; return its domain too."""

    class Waits(TinyWorld):
        async def execute(self, unit):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if isinstance(end, Exception):
                    raise end from None
            self.steps = self.line.steps
            return await super().execute(unit)

        def outcome(self):
            raise AssertionError("nobody needs to know")

    domain = TinyDomain(world=Waits)
    conditions = Conditions(Fixed(Mode.SEQUENTIAL), ends_after_s=0.05)
    return domain, lambda: asyncio.run(run_episode(domain, domain.tasks()[0], 7, conditions))


class OfAnotherLibrary(Exception):
    pass


@pytest.mark.parametrize(
    "end",
    [
        "a result",
        DomainError("the page is closed"),
        ModelUnavailable("broken off"),
        TimeoutError("of its own"),
        OfAnotherLibrary("target closed"),
    ],
    ids=lambda end: type(end).__name__,
)
def test_what_cancelled_code_ends_as_is_overdue(end) -> None:
    domain, run = overdue(end)
    episode = run()
    assert (episode.row.status, episode.row.stop, episode.row.success) == ("infrastructure", Stop.INFRASTRUCTURE, None)
    assert episode.row.error.startswith("no end within 0.05 s")
    assert [failed.error for failed in episode.trace.of(Failed)] == ["EpisodeOverdue"]
    assert domain.opened[0].closed == 1


@pytest.mark.parametrize(
    "end", [StorageError("the disk is full"), RunBudgetReached("tokens", 5)], ids=lambda end: type(end).__name__
)
def test_what_holds_for_the_whole_run_passes(end) -> None:
    domain, run = overdue(end)
    with pytest.raises(type(end)):
        run()
    assert domain.opened[0].closed == 1


def test_an_error_in_time_is_told_as_it_is() -> None:
    class Broken(TinyWorld):
        async def execute(self, unit):
            raise TimeoutError("of its own")

    domain = TinyDomain(world=Broken)
    with pytest.raises(TimeoutError, match="of its own"):
        asyncio.run(run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.SEQUENTIAL), ends_after_s=600.0)))


def test_being_cancelled_from_outside_is_no_end_of_the_time() -> None:
    class Waits(TinyWorld):
        async def execute(self, unit):
            begun.set()
            await asyncio.Event().wait()

    domain = TinyDomain(world=Waits)

    async def run() -> None:
        episode = asyncio.create_task(
            run_episode(domain, domain.tasks()[0], 7, Conditions(Fixed(Mode.SEQUENTIAL), ends_after_s=600.0))
        )
        await begun.wait()
        episode.cancel()
        with pytest.raises(asyncio.CancelledError):
            await episode

    begun = asyncio.Event()
    asyncio.run(run())
    assert domain.opened[0].closed == 1
