"""Executing a run: manifest first, every cell once, what is already there is read and not run again."""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from planroute.episode import Episode, EpisodeRow
from planroute.errors import InputError
from planroute.protocols import Domain
from planroute.runs.cells import Cell, identity, run_cells
from planroute.runs.folder import BILLING, CELLS, RunFolder, canonical

_ROW: TypeAdapter[EpisodeRow] = TypeAdapter(EpisodeRow)


@dataclass(frozen=True, slots=True)
class Executed:
    """Rows and traces of all cells, in the order of the cells, and what was billed for those run just now."""

    rows: Sequence[EpisodeRow]
    resumed: int
    seconds: float
    billing: Mapping[str, Any] = field(default_factory=dict)


def package_version() -> str:
    """The installed version of planroute."""
    try:
        return version("planroute")
    except PackageNotFoundError:
        return "unknown"


def cell_identity(domain: Domain, cell: Cell, facts: Mapping[str, Any]) -> str:
    """Hash every input of ``cell`` that can change its episode."""
    conditions = cell.conditions
    return identity(
        {
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


def _row(stored: Mapping[str, Any], path: Path) -> EpisodeRow:
    try:
        return _ROW.validate_python(stored["row"])
    except (KeyError, ValidationError) as error:
        what = str(error).splitlines()[0]
        raise InputError(f"{path} is damaged: row: {what}", hint="remove that file and run again") from None


async def execute_run(
    domain: Domain,
    cells: Sequence[Cell],
    *,
    config: Mapping[str, Any],
    out: Path | None = None,
    concurrency: int = 8,
    finished: Callable[[], None] | None = None,
) -> Executed:
    """Run ``cells`` and keep everything under ``out`` where that is given.

    A cell whose file is there with the same identity is not run again. ``finished`` is called once for each cell.
    Raises ``InputError`` where ``out`` holds another run, ``StorageError`` where it cannot be written.
    """
    started = time.monotonic()
    facts = {task.id: domain.facts(task) for task in {cell.task.id: cell.task for cell in cells}.values()}
    identities = {cell.key: cell_identity(domain, cell, facts[cell.task.id]) for cell in cells}
    folder = RunFolder(out) if out is not None else None
    rows: dict[str, EpisodeRow] = {}
    if folder is not None:
        folder.start(
            {
                "identity": identity(identities),
                "planroute": package_version(),
                "domain": domain.name,
                "config": config,
                "facts": facts,
                "cells": [cell.key for cell in cells],
                "environment": {"python": platform.python_version(), "system": platform.system()},
            }
        )
        for cell in cells:
            stored = folder.cell(cell.key)
            if stored is not None and stored.get("identity") == identities[cell.key]:
                rows[cell.key] = _row(stored, folder.path / CELLS / f"{cell.key}.json")
    resumed = len(rows)
    for _ in range(resumed):
        if finished is not None:
            finished()
    billing: dict[str, Any] = {}

    def keep(cell: Cell, episode: Episode) -> None:
        rows[cell.key] = episode.row
        billing[cell.key] = episode.billing
        if folder is not None:
            folder.write_cell(cell.key, identities[cell.key], episode)
        if finished is not None:
            finished()

    missing = [cell for cell in cells if cell.key not in rows]
    await run_cells(domain, missing, concurrency=concurrency, finished=keep)
    seconds = time.monotonic() - started
    if folder is not None:
        earlier = folder.billing()
        whole = {"seconds": earlier.get("seconds", 0.0) + seconds, "cells": {**earlier.get("cells", {}), **billing}}
        folder.write(BILLING, canonical(whole))
    return Executed([rows[cell.key] for cell in cells], resumed, seconds, billing)


__all__ = ["CELLS", "Executed", "cell_identity", "execute_run", "package_version"]
