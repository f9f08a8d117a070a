"""A browser context of its own: tabs, what is in sight, actions, and the recording of the network."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from planroute.domains.webarena.actions import Action
from planroute.domains.webarena.arriving import GOTO_MS, SETTLE_S, arriving
from planroute.domains.webarena.browser import Shared
from planroute.domains.webarena.places import REFUSED_CODE, Places
from planroute.domains.webarena.recording import Recording
from planroute.domains.webarena.tree import EMPTY, LIMITS, Element, Tree, quoted, script, tree
from planroute.errors import DomainError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ElementHandle, JSHandle, Page, Request, Route

ACT_MS: Final = 5_000
LOOK_S: Final = 8.0
CALL_S: Final = 90.0
TABS: Final = 8
VIEW: Final = {"width": 1280, "height": 720}
OUTSIDE: Final = "An address outside the sites of the task was refused."


class Visit:
    """A visit to the sites at ``addresses`` (by placeholder). Its methods may be called from any thread."""

    def __init__(self, shared: Shared, addresses: Mapping[str, str], budget: int, state: Path | None = None) -> None:
        self.shared = shared
        self.places = Places(addresses)
        self.budget = budget
        self.state = state
        self.tree: Tree = EMPTY
        self.tabs: tuple[str, ...] = ()
        self._recording = Recording()
        self._context: BrowserContext | None = None
        self._page: Page | None = None
        self._found: JSHandle | None = None
        self._notes: list[str] = []
        self._crashed = False

    def open(self, urls: Sequence[str]) -> str:
        """Open a tab for each of ``urls`` (with placeholders), the first in front."""
        return self.shared.call(self._open(urls), CALL_S)

    def act(self, action: Action) -> tuple[str, bool]:
        """Carry out ``action``: what happened in words, and whether it was done."""
        return self.shared.call(self._act(action), CALL_S)

    def entries(self) -> list[dict[str, Any]]:
        """What the recording of the network holds so far. Raises ``DomainError`` where page or browser are gone."""
        self.shared.call(self._written(), CALL_S)
        return self._recording.entries()

    def close(self) -> list[dict[str, Any]]:
        """End the context and return what the recording of the network holds."""
        try:
            if self._context is not None:
                self.shared.call(self._close(), CALL_S)
            return self._recording.entries()
        finally:
            self._recording.discard()

    # -- in the browser's thread ---------------------------------------------------------------------------------

    async def _open(self, urls: Sequence[str]) -> str:
        from playwright.async_api import Error

        browser = await self.shared.browser()
        try:
            self._context = context = await browser.new_context(
                proxy=self.places.connections(),  # type: ignore[arg-type]
                accept_downloads=False,
                service_workers="block",
                viewport=VIEW,  # type: ignore[arg-type]
                locale="en-US",
                timezone_id="UTC",
                storage_state=self.state,
            )
            context.set_default_timeout(ACT_MS)
            await self._recording.start(context)
            await context.route("**/*", self._pass_or_refuse)
            context.on("page", self._adopt)
            context.on("requestfailed", self._tell_refused)
            for url in urls:
                page = await context.new_page()
                response = await page.goto(self.places.rendered(url), timeout=GOTO_MS, wait_until="load")
                if response is not None and response.status >= 500:
                    raise DomainError(f"{url} answers {response.status}")
            self._page = context.pages[0]
            await self._page.bring_to_front()
        except Error as error:
            raise DomainError(f"{urls[0]} cannot be opened: {_line(error)}") from None
        await self._look()
        return f"The page {self.tabs[0]} is shown."

    async def _act(self, action: Action) -> tuple[str, bool]:
        from playwright.async_api import Error

        self._notes = []
        try:
            said, done = await self._do(action)
        except Error as error:
            said, done = f"That failed: {_line(error)}.", False
        await asyncio.sleep(SETTLE_S)
        await self._look()
        if self._page is not None:
            said += f" Now at {self._shown(self._page)}."
        return " ".join([said, *dict.fromkeys(self._notes[:5])])[:1000], done

    async def _do(self, action: Action) -> tuple[str, bool]:
        context, page = self._context, self._page
        if context is None or page is None or page.is_closed():
            raise DomainError("the page is closed")
        match action.verb:
            case "click" | "type" | "select":
                return await self._on_element(page, action)
            case "scroll":
                await page.mouse.wheel(0, VIEW["height"] * (0.9 if action.text == "down" else -0.9))
                return f"Scrolled {action.text}.", True
            case "goto":
                return await self._goto(page, action.text)
            case "back":
                moved = await page.go_back(timeout=GOTO_MS)
                if moved is None and page.url == "about:blank":
                    await page.go_forward(timeout=GOTO_MS)
                return ("Went back.", True) if moved is not None else ("There is no page before.", False)
            case "new_tab":
                if len(context.pages) >= TABS:
                    return "There are too many tabs.", False
                self._page = await context.new_page()
                return "Opened a tab.", True
            case "tab":
                if not 1 <= action.number <= len(context.pages):
                    return f"There is no tab {action.number}.", False
                self._page = context.pages[action.number - 1]
                await self._page.bring_to_front()
                return f"Tab {action.number} is in front.", True
        if len(context.pages) == 1:
            return "The only tab stays open.", False
        await page.close(run_before_unload=False)
        self._page = context.pages[-1]
        return "Closed the tab.", True

    async def _on_element(self, page: "Page", action: Action) -> tuple[str, bool]:
        element = self.tree.elements.get(action.number)
        handle = await self._handle(action.number)
        if element is None or handle is None:
            return f"There is no element [{action.number}] in sight.", False
        label = _label(element)
        async with arriving(page):
            said = await self._carried_out(handle, action, label)
        await self._page_loaded(page)
        return said, True

    @staticmethod
    async def _carried_out(handle: "ElementHandle", action: Action, label: str) -> str:
        if action.verb == "click":
            await handle.click(timeout=ACT_MS, no_wait_after=True)
            return f"Clicked {label}."
        if action.verb == "select":
            await handle.select_option(label=action.text, timeout=ACT_MS, no_wait_after=True)
            return f"Selected {quoted(action.text)} in {label}."
        await handle.fill(action.text, timeout=ACT_MS, no_wait_after=True)
        if action.enter:
            await handle.press("Enter", timeout=ACT_MS, no_wait_after=True)
        return f"Typed {quoted(action.text)} into {label}{' and pressed Enter' if action.enter else ''}."

    async def _page_loaded(self, page: "Page") -> None:
        from playwright.async_api import Error

        try:
            await page.wait_for_load_state("load", timeout=GOTO_MS / 2)
        except Error:
            self._notes.append("The page has not finished loading.")

    async def _goto(self, page: "Page", text: str) -> tuple[str, bool]:
        url = self.places.rendered(text)
        if "://" not in url:
            url = urljoin(page.url, url)
        if not self.places.hold(url):
            return f"{quoted(text)} is outside the sites of the task.", False
        await page.goto(url, timeout=GOTO_MS, wait_until="load")
        return f"Opened {quoted(self.places.derendered(url))}.", True

    async def _handle(self, number: int) -> "ElementHandle | None":
        if self._found is None:
            return None
        handle = await self._within(self._found.evaluate_handle("(found, at) => found.elements[at]", number - 1))
        return handle.as_element() if handle is not None else None

    async def _look(self) -> None:
        """Read what is in sight. A page outside the sites, or one that does not answer, is closed."""
        context, page = self._context, self._page
        if self._crashed:
            raise DomainError("the page crashed")
        if context is None or page is None or page.is_closed():
            page = self._page = context.pages[-1] if context is not None and context.pages else None
        if context is None or page is None:
            raise DomainError("the browser is gone")
        if page.url.startswith(("http:", "https:")) and not self.places.hold(page.url):
            await self._replace(page, "That led outside the sites of the task and was closed.")
        found = await self._seen()
        if found is None:
            await self._replace(self._page, "The page did not answer and was closed.")
            found = await self._seen()
        self.tree = found or EMPTY
        here = enumerate(context.pages, 1)
        self.tabs = tuple(f"{n}{' (in front)' if each is self._page else ''}: {self._shown(each)}" for n, each in here)

    async def _seen(self) -> Tree | None:
        page = self._page
        if page is None:
            return None
        self._found = await self._within(page.evaluate_handle(script(), LIMITS))
        if self._found is None:
            return None
        read = await self._within(self._found.evaluate("(found) => JSON.stringify([found.items, found.more])"))
        try:
            items, more = json.loads(read) if isinstance(read, str) and len(read) < 4_000_000 else ([], True)
        except (ValueError, TypeError):
            items, more = [], True
        return tree(items, bool(more), self.budget)

    async def _within(self, work: Awaitable[Any]) -> Any:
        """What a page answers, ``None`` where it does not in time or navigates away meanwhile."""
        from playwright.async_api import Error

        try:
            return await asyncio.wait_for(work, LOOK_S)
        except (Error, TimeoutError):
            return None

    async def _replace(self, page: "Page | None", why: str) -> None:
        from playwright.async_api import Error

        if self._context is None:
            return
        self._notes.append(why)
        self._page = await self._context.new_page()
        if page is not None:
            try:
                await asyncio.wait_for(page.close(run_before_unload=False), LOOK_S)
            except (Error, TimeoutError):
                raise DomainError("a page that does not answer could not be closed") from None

    async def _pass_or_refuse(self, route: "Route") -> None:
        from playwright.async_api import Error

        url = route.request.url
        try:
            if self.places.hold(url) or url.startswith(("data:", "blob:", "about:")):
                await route.continue_()
            else:
                if route.request.is_navigation_request():
                    self._notes.append(OUTSIDE)
                await route.abort("blockedbyclient")
        except Error:
            return

    def _tell_refused(self, request: "Request") -> None:
        if request.is_navigation_request() and REFUSED_CODE in (request.failure or ""):
            self._notes.append(OUTSIDE)

    def _adopt(self, page: "Page") -> None:
        """Take over a tab, also one that a page opened; beyond a number they are closed."""
        page.on("dialog", lambda dialog: _settled(dialog.dismiss))
        page.on("crash", lambda _: self._mark_crashed())
        page.on("download", lambda download: _settled(download.cancel))
        if self._context is not None and len(self._context.pages) > TABS:
            _settled(page.close)
            self._notes.append("A page wanted too many tabs.")
        elif self._page is not None:
            self._page = page

    def _mark_crashed(self) -> None:
        self._crashed = True

    async def _written(self) -> None:
        from playwright.async_api import Error

        if self._crashed:
            raise DomainError("the page crashed")
        try:
            await self._recording.go_on()
        except Error as error:
            raise DomainError(f"the recording of the network cannot be written: {_line(error)}") from None

    async def _close(self) -> None:
        from playwright.async_api import Error

        context, self._context = self._context, None
        if context is None:
            return
        try:
            await asyncio.wait_for(context.close(), CALL_S / 3)
        except (Error, TimeoutError) as error:
            raise DomainError(f"the browser's context does not close: {_line(error)}") from None

    def _shown(self, page: "Page") -> str:
        return self.places.derendered(page.url)[:300]


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


def _label(element: Element) -> str:
    return f"{element.role} {quoted(element.name)}"


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
