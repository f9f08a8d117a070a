"""What a context lets its pages do: ask the sites, open tabs, raise dialogs. It also tells that a page crashed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, TypeVar

from planroute.domains.webarena.places import REFUSED_CODE, Places
from planroute.errors import DomainError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Dialog, Page, Request, Route

TABS: Final = 8
OUTSIDE: Final = "An address outside the sites of the task was refused."

Result = TypeVar("Result")


class Guard:
    """Watches over the pages of one context.

    ``front`` is the page in front: the one that was opened last, until another is put there. ``notes`` are what was
    refused or closed, in sentences; whoever tells them clears them.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.front: Page | None = None
        self.notes: list[str] = []
        self._context: BrowserContext | None = None
        self._crashed = asyncio.Event()

    async def start(self, context: "BrowserContext") -> None:
        """Watch over ``context``, before its first page is there."""
        self._context = context
        await context.route("**/*", self._pass_or_refuse)
        context.on("page", self._adopt)
        context.on("requestfailed", self._tell_refused)

    async def unless_crashed(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do ``work``. Raises ``DomainError`` as soon as a page crashes: what is asked of it then has no answer."""
        doing, crashed = asyncio.ensure_future(work), asyncio.ensure_future(self._crashed.wait())
        try:
            await asyncio.wait({doing, crashed}, return_when=asyncio.FIRST_COMPLETED)
            if self._crashed.is_set():
                raise DomainError("the page crashed")
            return await doing
        finally:
            for each in (doing, crashed):
                each.cancel()
            await asyncio.gather(doing, crashed, return_exceptions=True)

    async def _pass_or_refuse(self, route: "Route") -> None:
        from playwright.async_api import Error

        url = route.request.url
        try:
            if self.places.hold(url) or url.startswith(("data:", "blob:", "about:")):
                await route.continue_()
            else:
                if route.request.is_navigation_request():
                    self.notes.append(OUTSIDE)
                await route.abort("blockedbyclient")
        except Error:
            return

    def _tell_refused(self, request: "Request") -> None:
        if request.is_navigation_request() and REFUSED_CODE in (request.failure or ""):
            self.notes.append(OUTSIDE)

    def _adopt(self, page: "Page") -> None:
        """Take over a tab, also one that a page opened; beyond a number they are closed."""
        page.on("dialog", _answered)
        page.on("crash", lambda _: self._crashed.set())
        page.on("download", lambda download: _settled(download.cancel))
        if self._context is not None and len(self._context.pages) > TABS:
            _settled(page.close)
            self.notes.append("A page wanted too many tabs.")
        else:
            self.front = page


def _answered(dialog: "Dialog") -> None:
    """A page's question whether one really wants to leave it is answered with yes, every other dialog with no."""
    _settled(dialog.accept if dialog.type == "beforeunload" else dialog.dismiss)


def _settled(work: Callable[[], Awaitable[None]]) -> None:
    """Do ``work`` in the background; that it comes too late is no error."""

    async def quietly() -> None:
        from playwright.async_api import Error

        try:
            await work()
        except Error:
            return

    task = asyncio.ensure_future(quietly())
    _background.add(task)
    task.add_done_callback(_background.discard)


_background: set["asyncio.Future[None]"] = set()
