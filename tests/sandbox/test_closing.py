"""Closing a box from another thread: what runs in it ends then, and nothing of it is left."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from planroute.errors import DomainError
from planroute.sandbox import Bounds, Jail, Room
from tests.sandbox.needs import needs_jail

pytestmark = needs_jail

SLEEP_S = "7263"


def sleeping() -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and folder.name != str(os.getpid()):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:2] == [b"sleep", SLEEP_S.encode()]:
                found.append(folder.name)
    return found


def wait_until_it_sleeps() -> None:
    while not sleeping():
        threading.Event().wait(0.01)


def test_a_script_ends_with_its_box():
    box = Jail().open(Room(), Bounds(seconds=60))
    raised: list[BaseException] = []

    def run() -> None:
        try:
            box.run(f"sleep {SLEEP_S}")
        except DomainError as error:
            raised.append(error)

    running = threading.Thread(target=run)
    running.start()
    wait_until_it_sleeps()
    box.close()
    running.join()
    assert [str(error) for error in raised] == ["the jail was closed while a script ran in it"]
    assert sleeping() == []
    assert not box.folder.exists()
    with pytest.raises(DomainError, match="the jail is closed"):
        box.run("true")
    assert not box.folder.exists()


def test_cancelling_what_waits_for_a_script_and_closing_ends_it():
    async def cancelled() -> None:
        box = Jail().open(Room(), Bounds(seconds=60))
        step = asyncio.create_task(asyncio.to_thread(box.run, f"sleep {SLEEP_S}"))
        await asyncio.to_thread(wait_until_it_sleeps)
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        box.close()
        assert sleeping() == []

    asyncio.run(cancelled())
