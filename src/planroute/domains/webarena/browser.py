"""One Chromium for the whole process, driven from one thread of its own; an episode gets a context that shares nothing.

Playwright's objects belong to one event loop. Environments are called from many threads, so every call is handed to
the loop of the browser's thread and waited for, with a deadline that a page cannot move.
"""

import asyncio
import atexit
import os
import shutil
import threading
from collections.abc import Coroutine
from concurrent.futures import TimeoutError as LateError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from planroute.domains.webarena.surroundings import surroundings
from planroute.errors import DomainError, InputError

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

VARIABLE: Final = "PLANROUTE_CHROMIUM"
NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run",
)
LAUNCH_S: Final = 90.0

Result = TypeVar("Result")


def chromium_path(given: Path | None = None) -> Path:
    """Return the browser to drive: ``given``, PLANROUTE_CHROMIUM, or one on the path. Raises ``InputError``."""
    named = str(given) if given is not None else os.environ.get(VARIABLE, "")
    if named:
        if not os.access(named, os.X_OK) or Path(named).is_dir():
            raise InputError(f"{named} is no browser that can be run", hint=f"name Chromium's program with {VARIABLE}")
        return Path(named)
    for name in NAMES:
        if found := shutil.which(name):
            return Path(found)
    raise InputError("there is no Chromium", hint=f"apt-get install chromium, or name its program with {VARIABLE}")


def need_playwright() -> None:
    """Raise ``InputError`` where Playwright is not installed."""
    from importlib.util import find_spec

    if find_spec("playwright") is None:
        raise InputError("playwright is not installed", hint="pip install 'planroute[webarena]'")


class Shared:
    """The browser that episodes share, one for each set of hosts that it may look up.

    No other host has an address in it: whatever a page tries, by redirect or script, stays among those hosts.
    """

    def __init__(self, program: Path, hosts: frozenset[str]) -> None:
        self.program = program
        self.hosts = hosts
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="chromium", daemon=True)
        self._thread.start()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._starting: asyncio.Lock | None = None

    def call(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Do ``work`` in the browser's thread. Raises ``DomainError`` where it takes more than ``seconds``."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds)
        except LateError:
            future.cancel()
            raise DomainError(f"the browser did not answer within {seconds:g} s") from None

    async def browser(self) -> "Browser":
        """The running browser, started where it is not. To be awaited in the browser's thread."""
        from playwright.async_api import Error, async_playwright

        if self._starting is None:
            self._starting = asyncio.Lock()
        async with self._starting:
            if self._browser is not None and self._browser.is_connected():
                return self._browser
            try:
                if self._playwright is None:
                    self._playwright = await async_playwright().start()
                rules = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in sorted(self.hosts))])
                self._browser = await self._playwright.chromium.launch(
                    executable_path=self.program,
                    headless=True,
                    args=[*FLAGS, f"--host-resolver-rules={rules}"],
                    chromium_sandbox=os.geteuid() != 0,
                    timeout=LAUNCH_S * 1000,
                    env={**surroundings()},
                )
            except Error as error:
                line = str(error).strip().splitlines()[0]
                raise DomainError(f"{self.program} does not start: {line}") from None
            return self._browser

    def close(self) -> None:
        """End the browser and its driver. May be called twice."""
        if self._loop.is_closed() or not self._thread.is_alive():
            return
        try:
            self.call(self._end(), 20)
        except DomainError:
            pass
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(5)
            if not self._thread.is_alive():
                self._loop.close()

    async def _end(self) -> None:
        if self._browser is not None:
            await self._browser.close()
        if self._playwright is not None:
            await self._playwright.stop()
        self._browser = self._playwright = None


_shared: dict[tuple[Path, frozenset[str]], Shared] = {}
_lock = threading.Lock()


def shared(program: Path, hosts: frozenset[str]) -> Shared:
    """Return the process's browser for these hosts; it is closed when the process ends, or by ``close_all``."""
    with _lock:
        if not _shared:
            atexit.register(close_all)
        if (program, hosts) not in _shared:
            _shared[program, hosts] = Shared(program, hosts)
        return _shared[program, hosts]


def close_all() -> None:
    """End every browser of the process."""
    with _lock:
        for each in _shared.values():
            each.close()
        _shared.clear()
        atexit.unregister(close_all)
