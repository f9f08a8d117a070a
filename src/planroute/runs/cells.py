"""Cells: one episode each, named by everything that can change it, run side by side and returned in their own order."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planroute.episode import Conditions, Episode, run_episode
from planroute.errors import RunBudgetReached
from planroute.protocols import Domain, Task
from planroute.runs.account import Charging, OnAccount


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


def by_task(cells: Sequence[Cell]) -> list[int]:
    """Return the numbers of ``cells`` in the order in which to run them: conditions and seeds of a task together.

    What is opened for a task then serves all its cells, and a run that a budget ends has whole comparisons.
    """
    first: dict[str, int] = {}
    return sorted(range(len(cells)), key=lambda number: first.setdefault(cells[number].task.id, number))


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
    found: dict[int, Episode] = {}

    def keep(cell: Cell, episode: Episode) -> None:
        found[id(cell)] = episode
        if finished is not None:
            finished(cell, episode)

    ordered = [cells[number] for number in by_task(cells)]
    await drive_cells(domain, ordered, concurrency=concurrency, finished=keep)
    return [found[id(cell)] for cell in cells]


async def drive_cells(
    domain: Domain,
    cells: Sequence[Cell],
    *,
    concurrency: int,
    finished: Callable[[Cell, Episode], None],
    charging: Charging | None = None,
) -> None:
    """Run ``cells`` as they come, at most ``concurrency`` at once, and hand each to ``finished``; none is held here.

    With ``charging``, every billed call goes on that account. Where its budget is reached no further cell begins and no
    further call is made, but calls under way end; then ``RunBudgetReached`` is raised. Any other error that is not
    about one episode cancels the rest and is raised.
    """
    waiting = iter(cells)
    reached: list[RunBudgetReached] = []

    async def work() -> None:
        for cell in waiting:
            if reached:
                return
            try:
                if charging is not None:
                    charging.check()
                conditions = _on_account(cell, charging)
                episode = await run_episode(domain, cell.task, cell.seed, conditions, condition=cell.condition)
            except RunBudgetReached as limit:
                reached.append(limit)
                return
            finished(cell, episode)

    pending = [asyncio.ensure_future(work()) for _ in range(min(concurrency, len(cells)))]
    try:
        await asyncio.gather(*pending)
    finally:
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
    if reached:
        raise reached[0]


def _on_account(cell: Cell, charging: Charging | None) -> Conditions:
    conditions = cell.conditions
    if charging is None:
        return conditions
    model, judge = (
        None if of is None else OnAccount(of, charging, cell.key) for of in (conditions.model, conditions.judge_model)
    )
    return replace(conditions, model=model, judge_model=judge)
