"""Waiting for the page that an action leads to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.async_api import Page, Request

GOTO_MS: Final = 20_000
"""Longest wait for a page, in milliseconds."""
SETTLE_S: Final = 0.3
"""A navigation that has not begun so many seconds after an action is none."""


@asynccontextmanager
async def arriving(page: "Page") -> AsyncIterator[None]:
    """Carry out what is within and, where it leads to another page, wait until that one is there.

    Pages that change in place are given ``SETTLE_S`` to do so.
    """
    left, there = asyncio.Event(), asyncio.Event()

    def asked(request: "Request") -> None:
        if request.is_navigation_request() and request.frame == page.main_frame:
            left.set()
            there.clear()

    def failed(request: "Request") -> None:
        if request.is_navigation_request() and request.frame == page.main_frame:
            there.set()

    def arrived(_: "Page") -> None:
        if left.is_set():
            there.set()

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
            await asyncio.wait_for(left.wait(), SETTLE_S)
        if left.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(there.wait(), GOTO_MS / 2000)
    finally:
        for event, handler in handlers:
            page.remove_listener(event, handler)
