"""Many episodes at once against an endpoint that fails now and then leave no task and no descriptor behind."""

import asyncio
import gc
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.soak import DOMAINS, FAULTS, endpoint, soak, usage, verdict

AT_ONCE = 16


@pytest.fixture(autouse=True)
def nothing_collected():
    """What is not closed stays open: the garbage collector must not hide it."""
    gc.disable()
    yield
    gc.enable()


def left() -> tuple[float, float]:
    """Tasks and descriptors."""
    now = usage()
    return now["tasks"], now["descriptors"]


@pytest.fixture(scope="module")
def address():
    with endpoint(120, {name: 4 * share for name, share in FAULTS.items()}) as address:
        yield address


def test_finished_episodes_leave_nothing_behind(address: str, tmp_path: Path) -> None:
    domain = DOMAINS["mind2web"]()

    async def run(name: str, cells: int):
        soaked = await soak(address, domain, tmp_path / name, lambda number: number < cells, concurrency=AT_ONCE)
        return soaked, left()

    async def both():
        return await run("first", AT_ONCE), await run("second", 2 * AT_ONCE)

    (_, before), (soaked, after) = asyncio.run(both())
    assert soaked.stops == {"DONE": 2 * AT_ONCE}
    assert soaked.attempts > soaked.answered > 2 * AT_ONCE
    assert before == after


def test_episodes_that_are_broken_off_leave_nothing_behind(address: str, tmp_path: Path) -> None:
    domain = DOMAINS["mind2web"]()

    async def run(name: str):
        under_way = asyncio.Event()

        def going(number: int) -> bool:
            if number == 2 * AT_ONCE:
                under_way.set()
            return True

        running = asyncio.create_task(soak(address, domain, tmp_path / name, going, concurrency=AT_ONCE))
        begun = asyncio.create_task(under_way.wait())
        await asyncio.wait({begun, running}, return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        return running.cancelled(), left()

    async def both():
        return await run("first"), await run("second")

    (first, before), (second, after) = asyncio.run(both())
    assert first
    assert second
    assert before == after


def sample(number: int, **changes: float) -> dict[str, float]:
    return {"rss_mb": 100.0, "descriptors": 50.0, "threads": 5.0, "tasks": 80.0} | changes


def test_what_grows_all_the_time_is_told_from_what_goes_up_and_down() -> None:
    grown = verdict([sample(n, descriptors=50 + n, tasks=80 + 40 * (n % 3), rss_mb=100 + 0.01 * n) for n in range(100)])
    assert {name for name, each in grown.items() if each["grew"]} == {"descriptors"}
    assert (grown["descriptors"]["early"], grown["descriptors"]["late"]) == (79.5, 139.5)
