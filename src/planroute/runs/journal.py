"""The account of one start of a run, and its billing in the run's folder: every call as it ends, the sum at the end."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from planroute.errors import PlanrouteError
from planroute.runs.account import Account
from planroute.runs.folder import RunFolder
from planroute.runs.manner import Manner


class Journal:
    """What one start of a run is billed: ``account`` is charged by call, ``billing`` holds it by ended episode.

    With a folder every line is kept at once, with the seconds since the line before.
    """

    def __init__(self, folder: RunFolder | None, manner: Manner, since: float | None = None) -> None:
        self._folder = folder
        self._noted = time.monotonic() if since is None else since
        earlier = folder.all_billing() if folder is not None else None
        self.account = Account(manner.limits, self._note, earlier, manner.account)
        self.billing: dict[str, Any] = {}

    def ended(self, cell: str, billing: Mapping[str, Any]) -> None:
        """Take down that the episode of ``cell`` has ended; its calls are on the account already."""
        self.billing[cell] = billing
        self._note(cell, {})

    def close(self) -> None:
        """Sum up in the folder."""
        if self._folder is not None:
            self._folder.close_billing(self._elapsed())

    def _note(self, cell: str, billed: Mapping[str, Any]) -> None:
        if self._folder is not None:
            self._folder.note_billing(self._elapsed(), cell, billed)

    def _elapsed(self) -> float:
        before, self._noted = self._noted, time.monotonic()
        return self._noted - before


@contextmanager
def journal(folder: RunFolder | None, manner: Manner, since: float | None = None) -> Iterator[Journal]:
    """Open the journal of a start that began at ``since`` (of the monotonic clock; now, if ``None``), and close it.

    Raises ``StorageError`` where it cannot be written; an error of the block comes before one of closing.
    """
    if folder is not None:
        folder.make()
    kept = Journal(folder, manner, since)
    try:
        yield kept
    except BaseException:
        with suppress(PlanrouteError):
            kept.close()
        raise
    kept.close()


__all__ = ["Journal", "journal"]
