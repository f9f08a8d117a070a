"""Where cells run: in this process, or on a cluster. No runner can change a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from planroute.episode import Episode
from planroute.protocols import Domain
from planroute.runs.account import Charging
from planroute.runs.cells import Cell, by_task, drive_cells

Keep = Callable[[Cell, Episode], None]


class Runner(Protocol):
    """Runs cells and hands each finished episode back."""

    async def run(
        self, domain: Domain, cells: Sequence[Cell], *, concurrency: int, charging: Charging | None, keep: Keep
    ) -> None:
        """Run every one of ``cells`` once, in any order, at most ``concurrency`` at once over all that it uses.

        ``keep`` is called in the caller's event loop, once for each cell. Raises ``RunBudgetReached`` once no further
        call may be made and what was under way has ended; the first error that is not about one episode ends the rest.
        """


@dataclass(frozen=True, slots=True)
class Local:
    """Cells side by side in this process's event loop."""

    async def run(
        self, domain: Domain, cells: Sequence[Cell], *, concurrency: int, charging: Charging | None, keep: Keep
    ) -> None:
        """Run ``cells`` here."""
        ordered = [cells[number] for number in by_task(cells)]
        await drive_cells(domain, ordered, concurrency=concurrency, charging=charging, finished=keep)


__all__ = ["Keep", "Local", "Runner"]
