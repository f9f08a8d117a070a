"""A browser context of its own: tabs, what is in sight, actions, and the recording of the network."""

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from planroute.domains.webarena.actions import Action
from planroute.domains.webarena.arriving import GOTO_MS, SETTLE_S, arriving
from planroute.domains.webarena.browser import Shared
from planroute.domains.webarena.guard import TABS, Guard
from planroute.domains.webarena.places import Places
from planroute.domains.webarena.recording import Recording
from planroute.domains.webarena.tree import EMPTY, LIMITS, Element, Tree, quoted, script, tree
from planroute.errors import DomainError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, ElementHandle, JSHandle, Page

ACT_MS: Final = 5_000
LOOK_S: Final = 8.0
LOOKS: Final = 4
CALL_S: Final = 90.0
VIEW: Final = {"width": 1280, "height": 720}
STOP: Final = "() => { if (document.readyState === 'loading') window.stop() }"


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
        self._found: JSHandle | None = None
        self._guard = Guard(self.places)

    def open(self, urls: Sequence[str]) -> str:
        """Open a tab for each of ``urls`` (with placeholders), the first in front."""
        return self.shared.call(self._guard.unless_crashed(self._open(urls)), CALL_S)

    def act(self, action: Action) -> tuple[str, bool]:
        """Carry out ``action``: what happened in words, and whether it was done."""
        return self.shared.call(self._guard.unless_crashed(self._act(action)), CALL_S)

    def entries(self) -> list[dict[str, Any]]:
        """What the recording of the network holds so far. Raises ``DomainError`` where page or browser are gone."""
        self.shared.call(self._guard.unless_crashed(self._written()), CALL_S)
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
            await self._guard.start(context)
            for url in urls:
                page = await context.new_page()
                response = await page.goto(self.places.rendered(url), timeout=GOTO_MS, wait_until="load")
                if response is not None and response.status >= 500:
                    raise DomainError(f"{url} answers {response.status}")
            self._guard.front = context.pages[0]
            await context.pages[0].bring_to_front()
        except Error as error:
            raise DomainError(f"{urls[0]} cannot be opened: {self.places.told(_line(error))}") from None
        await self._look()
        return f"The page {self.tabs[0]} is shown."

    async def _act(self, action: Action) -> tuple[str, bool]:
        from playwright.async_api import Error

        self._guard.notes.clear()
        try:
            said, done = await self._do(action)
        except Error as error:
            said, done = f"That failed: {self.places.told(_line(error))}.", False
            await self._stop_arriving()
        await asyncio.sleep(SETTLE_S)
        await self._look()
        if self._guard.front is not None:
            said += f" Now at {self._shown(self._guard.front)}."
        return " ".join([said, *dict.fromkeys(self._guard.notes[:5])])[:1000], done

    async def _do(self, action: Action) -> tuple[str, bool]:
        context, page = self._context, self._guard.front
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
                self._guard.front = await context.new_page()
                return "Opened a tab.", True
            case "tab":
                if not 1 <= action.number <= len(context.pages):
                    return f"There is no tab {action.number}.", False
                self._guard.front = context.pages[action.number - 1]
                await self._guard.front.bring_to_front()
                return f"Tab {action.number} is in front.", True
        if len(context.pages) == 1:
            return "The only tab stays open.", False
        await page.close(run_before_unload=False)
        self._guard.front = context.pages[-1]
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
            self._guard.notes.append("The page has not finished loading.")
            await self._stop_arriving()

    async def _stop_arriving(self) -> None:
        """Have the page in front make do with what is there of it, so that one without an end has an end."""
        if self._guard.front is not None:
            await self._within(self._guard.front.evaluate(STOP))

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
        context, page = self._context, self._guard.front
        if context is None or page is None or page.is_closed():
            page = self._guard.front = context.pages[-1] if context is not None and context.pages else None
        if context is None or page is None:
            raise DomainError("the browser is gone")
        if page.url.startswith(("http:", "https:")) and not self.places.hold(page.url):
            await self._replace(page, "That led outside the sites of the task and was closed.")
        found = await self._seen()
        if found is None:
            await self._replace(self._guard.front, "The page did not answer and was closed.")
            found = await self._seen()
        self.tree = found or EMPTY
        here = enumerate(context.pages, 1)
        front = self._guard.front
        self.tabs = tuple(f"{n}{' (in front)' if each is front else ''}: {self._shown(each)}" for n, each in here)

    async def _seen(self) -> Tree | None:
        """What is in sight of the page in front, ``None`` where it does not answer or goes from page to page."""
        from playwright.async_api import Error

        page = self._guard.front
        for _ in range(LOOKS):
            if page is None or page.is_closed():
                break
            try:
                return await asyncio.wait_for(self._read(page), LOOK_S)
            except TimeoutError:
                break
            except Error:  # most likely another page came meanwhile
                await asyncio.sleep(SETTLE_S)
        self._found = None
        return None

    async def _read(self, page: "Page") -> Tree:
        found = await page.evaluate_handle(script(), LIMITS)
        read = await found.evaluate("(found) => JSON.stringify([found.items, found.more])")
        try:
            items, more = json.loads(read) if isinstance(read, str) and len(read) < 4_000_000 else ([], True)
        except (ValueError, TypeError):
            items, more = [], True
        self._found = found
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
        self._guard.notes.append(why)
        self._guard.front = await self._context.new_page()
        if page is not None:
            try:
                await asyncio.wait_for(page.close(run_before_unload=False), LOOK_S)
            except (Error, TimeoutError):
                raise DomainError("a page that does not answer could not be closed") from None

    async def _written(self) -> None:
        from playwright.async_api import Error

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


def _label(element: Element) -> str:
    return f"{element.role} {quoted(element.name)}"


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
