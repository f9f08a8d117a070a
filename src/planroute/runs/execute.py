"""Executing a run: manifest first, every cell once, what is already there is read and not run again."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from planroute.episode import Episode, EpisodeRow
from planroute.errors import DamagedFile, InputError
from planroute.modes import Baseline
from planroute.protocols import Domain
from planroute.runs.cells import Cell, identity
from planroute.runs.command import environment
from planroute.runs.folder import CELLS, RunFolder
from planroute.runs.journal import journal
from planroute.runs.manner import Manner
from planroute.runs.pack import PACK, unpack_missing
from planroute.runs.stored import set_aside


@dataclass(frozen=True, slots=True)
class Executed:
    """Rows and traces of all cells, in the order of the cells, and what was billed for those run just now."""

    rows: Sequence[EpisodeRow]
    resumed: int
    seconds: float
    billing: Mapping[str, Any] = field(default_factory=dict)


@cache
def package_version() -> str:
    """The installed version of planroute."""
    try:
        return version("planroute")
    except PackageNotFoundError:
        return "unknown"


def cell_identity(domain: Domain, cell: Cell, facts: Mapping[str, Any]) -> str:
    """Hash every input of ``cell`` that can change its episode."""
    conditions = cell.conditions
    rare: dict[str, Any] = {"only_declare": True} if conditions.only_declare else {}
    if conditions.baseline is Baseline.REPEATED_REACT:
        rare["attempts"] = conditions.attempts
    return identity(
        {
            **rare,
            "planroute": package_version(),
            "domain": domain.name,
            "task": cell.task.id,
            "text": cell.task.text,
            "factors": cell.task.factors,
            "facts": facts,
            "seed": cell.seed,
            "condition": cell.condition,
            "declarer": repr(conditions.declarer),
            "gate": asdict(conditions.gate),
            "budget": asdict(conditions.budget),
            "deadline_s": conditions.deadline_s,
            "model": conditions.model.endpoint if conditions.model else None,
            "baseline": conditions.baseline,
            "judge_model": conditions.judge_model.endpoint if conditions.judge_model else None,
        }
    )


def _refuse_equal_names(cells: Sequence[Cell]) -> None:
    for key, count in Counter(cell.key for cell in cells).items():
        if count > 1:
            raise InputError(f"{count} cells are named {key}", hint="give every task, condition and seed once")


def _fields(domain: Domain, cell: Cell) -> dict[str, Any]:
    """What the row of ``cell`` must hold."""
    declarer = cell.conditions.declarer.name
    return {
        "domain": domain.name,
        "task": cell.task.id,
        "condition": cell.condition or declarer,
        "declarer": declarer,
        "seed": cell.seed,
    }


def ending(cell: Cell, ends_after_s: float | None) -> Cell:
    """Return ``cell`` as it is ended after so many seconds; its identity is the same."""
    if ends_after_s is None:
        return cell
    return replace(cell, conditions=replace(cell.conditions, ends_after_s=ends_after_s))


def _unpack(run: Path) -> None:
    """Put packed cells back; a damaged pack is set aside, and the cells that it lost are missing."""
    try:
        unpack_missing(run)
    except DamagedFile as damage:
        set_aside(run / PACK, damage.message)


def _earlier(
    folder: RunFolder, domain: Domain, cells: Sequence[Cell], identities: Mapping[str, str]
) -> dict[str, EpisodeRow]:
    """Rows of the cells that need not run again: all that are there, but for failures of the infrastructure.

    A damaged cell is set aside, and not there.
    """
    found = {}
    for cell in cells:
        try:
            row = folder.cell(cell.key, identities[cell.key], _fields(domain, cell))
        except DamagedFile as damage:
            folder.set_aside(cell.key, damage)
            continue
        if row is not None and row.status != "infrastructure":
            found[cell.key] = row
    return found


async def execute_run(
    domain: Domain,
    cells: Sequence[Cell],
    *,
    config: Mapping[str, Any],
    out: Path | None = None,
    manner: Manner = Manner(),
    finished: Callable[[], None] | None = None,
) -> Executed:
    """Run ``cells`` and keep everything under ``out`` where that is given.

    A cell whose file is there is not run again, unless the infrastructure failed it or the file is damaged; damage is
    set aside. ``finished`` is called once for each cell.
    Raises ``InputError`` where two cells have one name, or ``out`` holds another run or other files or is being run by
    another process; ``StorageError`` where it cannot be written; ``RunBudgetReached`` where a limit of ``manner`` is.
    """
    started = time.monotonic()
    _refuse_equal_names(cells)
    facts = {task.id: domain.facts(task) for task in {cell.task.id: cell.task for cell in cells}.values()}
    identities = {cell.key: cell_identity(domain, cell, facts[cell.task.id]) for cell in cells}
    folder = RunFolder(out) if out is not None else None
    with ExitStack() as stack:
        rows: dict[str, EpisodeRow] = {}
        if folder is not None:
            stack.enter_context(folder.held())
            folder.start(
                {
                    "identity": identity(identities),
                    "planroute": package_version(),
                    "domain": domain.name,
                    "config": config,
                    "facts": facts,
                    "cells": [cell.key for cell in cells],
                    "environment": environment(folder.path),
                },
                identities,
            )
            _unpack(folder.path)
            rows = _earlier(folder, domain, cells, identities)
        resumed = len(rows)
        for _ in range(resumed):
            if finished is not None:
                finished()
        billed = stack.enter_context(journal(folder, manner, started))

        def keep(cell: Cell, episode: Episode) -> None:
            rows[cell.key] = episode.row
            billed.ended(cell.key, episode.billing)
            if folder is not None:
                folder.write_cell(cell.key, identities[cell.key], episode)
            if finished is not None:
                finished()

        missing = [ending(cell, manner.ends_after_s) for cell in cells if cell.key not in rows]
        if missing:
            await manner.runner.run(domain, missing, concurrency=manner.concurrency, charging=billed.account, keep=keep)
    seconds = time.monotonic() - started
    return Executed([rows[cell.key] for cell in cells], resumed, seconds, billed.billing)


__all__ = ["CELLS", "Executed", "cell_identity", "execute_run", "package_version"]
