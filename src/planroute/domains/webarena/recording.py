"""The recording of a context's network, which can be looked at while it goes on."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planroute.errors import DomainError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

KEPT: Final = ("json", "urlencoded", "multipart")
"""Words of the media types whose contents an evaluator reads."""


class Recording:
    """A context's requests and answers as entries of a HAR, in files of a folder that ``discard`` removes."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="planroute-web-", ignore_cleanup_errors=True)
        self._context: BrowserContext | None = None
        self._parts = 0

    async def start(self, context: "BrowserContext") -> None:
        """Begin to record what ``context`` asks for."""
        self._context = context
        self._parts += 1
        await context.tracing.start_har(self._part(self._parts), content="embed", mode="full")

    async def go_on(self) -> None:
        """Write what was recorded so far, and record what follows."""
        if self._context is not None:
            await self._context.tracing.stop_har()
            await self.start(self._context)

    def entries(self) -> list[dict[str, Any]]:
        """What is written: all of it once the context is closed. Raises ``DomainError`` where a file is broken."""
        parts = [self._part(number) for number in range(1, self._parts + 1)]
        return [entry for part in parts if part.exists() for entry in _entries(part)]

    def discard(self) -> None:
        """Remove the files."""
        self._folder.cleanup()

    def _part(self, number: int) -> Path:
        return Path(self._folder.name) / f"{number}.har"


def _entries(har: Path) -> list[dict[str, Any]]:
    """The entries of a file; of contents only those stay that hold data, since no evaluator reads the others."""
    try:
        entries: list[dict[str, Any]] = json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]
    except (ValueError, KeyError) as error:
        raise DomainError(f"the recording of the network is broken: {error}") from None
    for entry in entries:
        content = entry.get("response", {}).get("content", {})
        kind = str(content.get("mimeType", ""))
        if not any(word in kind for word in KEPT):
            content.pop("text", None)
    return entries
