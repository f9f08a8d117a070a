"""Cells: one episode each, named by everything that can change it, run side by side and returned in their own order."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.episode import Conditions, Episode, run_episode
from planroute.protocols import Domain, Task


@dataclass(frozen=True, slots=True)
class Cell:
    """One episode to run: task, condition by name and by value, and seed."""

    task: Task
    condition: str
    seed: int
    conditions: Conditions

    @property
    def key(self) -> str:
        """A readable name, unique within a run, that is safe as a file name."""
        return cell_name(self.task.id, self.condition, self.seed)


def cell_name(task: str, condition: str, seed: int) -> str:
    """The name of a cell's file, without its ending."""
    raw = f"{task}-{condition}-{seed}"
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in raw)
    safe = safe.encode()[:120].decode(errors="ignore")
    digest = hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
    return safe if safe == raw else f"{safe}-{digest[:8]}"


def identity(values: Any) -> str:
    """SHA-256 of the canonical JSON of ``values``."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


async def run_cells(
    domain: Domain,
    cells: Sequence[Cell],
    *,
    concurrency: int = 8,
    finished: Callable[[Cell, Episode], None] | None = None,
) -> list[Episode]:
    """Run ``cells``, at most ``concurrency`` at once, and return their episodes in the order given.

    ``finished`` is told of each as it ends. The first error that is not about one
    episode cancels the rest and is raised.
    """
    turn = asyncio.Semaphore(concurrency)

    async def run(cell: Cell) -> Episode:
        async with turn:
            episode = await run_episode(domain, cell.task, cell.seed, cell.conditions, condition=cell.condition)
        if finished is not None:
            finished(cell, episode)
        return episode

    pending = [asyncio.ensure_future(run(cell)) for cell in cells]
    try:
        return list(await asyncio.gather(*pending))
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
