"""Waiting for the page that an action leads to."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

GOTO_MS: Final = 20_000
"""Longest wait for a page, in milliseconds."""
SETTLE_S: Final = 0.3
"""A page that has not asked for another one so many seconds of its own time after an action leads nowhere."""
PAUSE: Final = "(ms) => new Promise((done) => setTimeout(done, ms))"


@asynccontextmanager
async def arriving(page: "Page") -> AsyncIterator[None]:
    """Carry out what is within and, where it leads to another page, wait until that one is there.

    Pages that change in place are given ``SETTLE_S`` to do so. This is the page's time and not that of a clock, and
    the page itself says that it asks for another one: so a busy machine makes the wait longer and not the page stale.
    """
    from playwright.async_api import Error

    left, there = asyncio.Event(), asyncio.Event()

    def asked(request: "Request") -> None:
        if request.is_navigation_request() and request.frame == page.main_frame:
            left.set()
            there.clear()

    def failed(request: "Request") -> None:
        if request.is_navigation_request() and request.frame == page.main_frame:
            there.set()

    def arrived(_: Any) -> None:
        if left.is_set():
            there.set()

    session = await page.context.new_cdp_session(page)
    await session.send("Page.enable")
    main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]

    def wanted(event: Mapping[str, Any]) -> None:
        if event.get("frameId") == main and event.get("disposition") == "currentTab":
            left.set()

    def stopped(event: Mapping[str, Any]) -> None:
        if event.get("frameId") == main:
            arrived(event)

    session.on("Page.frameRequestedNavigation", wanted)
    session.on("Page.frameStoppedLoading", stopped)
    handlers: tuple[tuple[Any, Any], ...] = (
        ("request", asked),
        ("requestfailed", failed),
        ("domcontentloaded", arrived),
    )
    for event, handler in handlers:
        page.on(event, handler)
    try:
        yield
        with suppress(TimeoutError):
            await asyncio.wait_for(_left(page, left), GOTO_MS / 2000)
        if left.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(there.wait(), GOTO_MS / 2000)
    finally:
        for event, handler in handlers:
            page.remove_listener(event, handler)
        with suppress(Error):
            await session.detach()


async def _left(page: "Page", left: asyncio.Event) -> None:
    """Wait until the page is left, or its time to leave is over."""
    leaving = asyncio.ensure_future(left.wait())
    pausing = asyncio.ensure_future(page.evaluate(PAUSE, SETTLE_S * 1000))
    try:
        await asyncio.wait({leaving, pausing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in (leaving, pausing):
            each.cancel()
        await asyncio.gather(leaving, pausing, return_exceptions=True)
