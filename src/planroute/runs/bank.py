"""Banks: many episodes kept as rows in parts, run in worker processes where no language model is needed.

::

    parts/<identity>.json    rows of some cells, in their order, and what was collected from their traces

A part is named by a hash of all that can change its episodes and written once, as a whole. A part that is there is
read and not run again. With a language model every part is one cell and keeps its trace.
"""

import asyncio
import json
import multiprocessing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from planroute.episode import Episode, EpisodeRow, recounted
from planroute.errors import DamagedFile
from planroute.protocols import Domain
from planroute.runs.billing import BILLING
from planroute.runs.cells import Cell, identity, run_cells
from planroute.runs.execute import cell_identity, ending
from planroute.runs.folder import PARTS, RunFolder, canonical
from planroute.runs.journal import journal
from planroute.runs.manner import Manner
from planroute.runs.stored import read_object, read_row, set_aside

CELLS_PER_PART = 12
FEW_PARTS = 64
"""So many parts are done here before worker processes would have started: each loads everything anew, for seconds."""


class Collector(Protocol):
    """Takes table rows from a finished episode. A function of a module, for worker processes call it by name."""

    __qualname__: str

    def __call__(self, cell: Cell, episode: Episode) -> list[dict[str, Any]]:
        """Return plain rows."""


@runtime_checkable
class Spreading(Protocol):
    """A runner that can also run work of another kind than cells."""

    async def spread(
        self,
        work: Callable[..., Awaitable[dict[str, Any]]],
        common: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        keep: Callable[[int, dict[str, Any]], None],
    ) -> None:
        """Await ``work(*common, *item)`` somewhere for each of ``items``; ``keep`` gets its number and what it gave."""


@dataclass(frozen=True, slots=True)
class Banked:
    """Rows in the order of the cells, what was collected from each, and what was billed by purpose."""

    rows: Sequence[EpisodeRow]
    collected: Sequence[Mapping[str, Any]]
    resumed: int
    billing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Part:
    """``twins`` names for each cell the first one of the part whose episode is the same but for its deadline."""

    identity: str
    cells: tuple[Cell, ...]
    twins: tuple[int, ...]


async def run_bank(
    domain: Domain,
    cells: Sequence[Cell],
    *,
    out: Path | None = None,
    workers: int = 2,
    manner: Manner = Manner(),
    collect: Collector | None = None,
    source: str = "",
    finished: Callable[[int], None] | None = None,
) -> Banked:
    """Run ``cells`` and keep their rows under ``out`` where that is given.

    ``collect`` takes table rows from each finished episode. Without it, and without a model, cells of a part that
    differ only in a deadline that nothing enforces share one episode: their late events are counted anew.
    Without a model they run in ``workers`` processes here, or wherever the runner of ``manner`` has its own.
    ``source`` is hashed into every part: rows of other code are not taken for this one's. ``finished`` is told how
    many cells are done. Rows of episodes that the infrastructure failed are not kept.
    A part that is damaged is set aside and run again. Raises ``RunBudgetReached`` where a limit of ``manner`` is.
    """
    spoken = any(cell.conditions.model is not None or cell.conditions.judge_model is not None for cell in cells)
    cells = [ending(cell, manner.ends_after_s) for cell in cells] if spoken else cells
    facts = {task.id: domain.facts(task) for task in {cell.task.id: cell.task for cell in cells}.values()}
    taken = collect.__qualname__ if collect is not None else ""
    size = 1 if spoken else CELLS_PER_PART
    parts = []
    for at in range(0, len(cells), size):
        some = tuple(cells[at : at + size])
        names = [cell_identity(domain, cell, facts[cell.task.id]) for cell in some]
        alone = spoken or collect is not None
        same = range(len(some)) if alone else _twins([_course(cell, facts[cell.task.id]) for cell in some])
        parts.append(_Part(identity([source, taken, names]), some, tuple(same)))
    folder = RunFolder(out) if out is not None else None
    done: dict[str, dict[str, Any]] = {}
    if folder is not None:
        done = {part.identity: found for part in parts if (found := _believed(folder.path, part)) is not None}
    resumed = sum(len(part.cells) for part in parts if part.identity in done)
    if resumed and finished is not None:
        finished(resumed)
    billing: dict[str, Any] = {}

    def keep(part: _Part, content: dict[str, Any]) -> None:
        done[part.identity] = content
        if folder is not None and all(row["status"] != "infrastructure" for row in content["rows"]):
            folder.write(f"{PARTS}/{part.identity}.json", canonical({"identity": part.identity, **content}))
        if finished is not None:
            finished(len(part.cells))

    missing = [part for part in parts if part.identity not in done]
    if spoken:
        billing = await _run_cells(domain, missing, manner, collect, keep, folder)
    elif isinstance(manner.runner, Spreading):
        await manner.runner.spread(
            part_content,
            (domain, collect),
            [(part.cells, part.twins) for part in missing],
            lambda number, content: keep(missing[number], content),
        )
    else:
        await _run_in_workers(domain, missing, workers, collect, keep)
    contents = [done[part.identity] for part in parts]
    return Banked(
        [read_row(row) for content in contents for row in content["rows"]],
        [row for content in contents for row in content["collected"]],
        resumed,
        billing,
    )


def _course(cell: Cell, facts: Mapping[str, Any]) -> str:
    """Hash what decides on the course of an episode; a gate's deadline does, one that only counts does not."""
    conditions = cell.conditions
    gated = cell.task.id if conditions.gate.deadline_s is not None else None
    what = [facts, cell.task.factors, cell.seed, cell.condition, gated, conditions.baseline]
    return identity([*what, repr(conditions.declarer), asdict(conditions.gate), asdict(conditions.budget)])


def _twins(courses: Sequence[str]) -> list[int]:
    return [courses.index(course) for course in courses]


def _believed(folder: Path, part: _Part) -> dict[str, Any] | None:
    """What is stored of ``part``; a damaged file is set aside, and nothing of it is believed."""
    try:
        return _stored(folder, part)
    except DamagedFile as damage:
        set_aside(folder / PARTS / f"{part.identity}.json", f"{damage.message}; its episodes are run again")
        return None


def _stored(folder: Path, part: _Part) -> dict[str, Any] | None:
    target = folder / PARTS / f"{part.identity}.json"
    if not target.exists():
        return None
    found = read_object(target)
    rows = found.get("rows")
    whole = found.get("identity") == part.identity and isinstance(rows, list) and len(rows) == len(part.cells)
    if not whole or not isinstance(found.get("collected"), list):
        raise DamagedFile(f"{target} is damaged: not the rows of its cells")
    for row, cell in zip(found["rows"], part.cells, strict=True):
        read_row(row, target, {"task": cell.task.id, "seed": cell.seed, "condition": cell.condition})
    return found


def _content(episodes: Sequence[tuple[Cell, Episode]], collect: Collector | None) -> dict[str, Any]:
    """Rows as JSON values, so that what was just run and what was read from a file are the same."""
    collected = [row for cell, episode in episodes for row in (collect(cell, episode) if collect else [])]
    # Not asdict, which copies every value: what is in a row is plain already.
    rows = [{each.name: getattr(episode.row, each.name) for each in fields(EpisodeRow)} for _, episode in episodes]
    plain = {"rows": rows, "collected": collected}
    found: dict[str, Any] = json.loads(canonical(plain))
    return found


async def _run_cells(
    domain: Domain,
    parts: Sequence[_Part],
    manner: Manner,
    collect: Collector | None,
    keep: Callable[[_Part, dict[str, Any]], None],
    folder: RunFolder | None,
) -> dict[str, Any]:
    """Run parts of one cell each by the runner of ``manner``, and return what was billed by cell."""
    if not parts:
        return {}
    part_of = {id(part.cells[0]): part for part in parts}
    with journal(folder, manner) as billed:

        def finished(cell: Cell, episode: Episode) -> None:
            billed.ended(cell.key, episode.billing)
            content = {**_content([(cell, episode)], collect), "trace": json.loads(episode.trace.to_json())}
            keep(part_of[id(cell)], content)

        await manner.runner.run(
            domain,
            [part.cells[0] for part in parts],
            concurrency=manner.concurrency,
            charging=billed.account,
            keep=finished,
        )
    return billed.billing


async def _run_in_workers(
    domain: Domain,
    parts: Sequence[_Part],
    workers: int,
    collect: Collector | None,
    keep: Callable[[_Part, dict[str, Any]], None],
) -> None:
    """Spread ``parts`` over processes; in this one where there is little to do."""
    if workers <= 1 or len(parts) <= FEW_PARTS:
        for part in parts:
            keep(part, await part_content(domain, collect, part.cells, part.twins))
        return
    # A fresh interpreter per worker: forking one that runs threads is not safe.
    context = multiprocessing.get_context("spawn")
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        try:
            jobs = [loop.run_in_executor(pool, run_part, domain, part.cells, part.twins, collect) for part in parts]
            for part, job in zip(parts, jobs, strict=True):
                keep(part, await job)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def run_part(domain: Domain, cells: Sequence[Cell], twins: Sequence[int], collect: Collector | None) -> dict[str, Any]:
    """Run ``cells`` one after the other in a worker process."""
    return asyncio.run(part_content(domain, collect, cells, twins))


async def part_content(
    domain: Domain, collect: Collector | None, cells: Sequence[Cell], twins: Sequence[int]
) -> dict[str, Any]:
    """Run ``cells`` one after the other, those with an earlier twin not again, and return the content of their part."""
    first = sorted(set(twins))
    ran = dict(zip(first, await run_cells(domain, [cells[i] for i in first], concurrency=1), strict=True))
    episodes = []
    for i, (cell, twin) in enumerate(zip(cells, twins, strict=True)):
        episode = ran[twin]
        if i != twin:
            episode = replace(episode, row=recounted(episode.row, cell.task, cell.conditions.deadline_s))
        episodes.append((cell, episode))
    return _content(episodes, collect)


__all__ = ["BILLING", "PARTS", "Banked", "Collector", "Spreading", "part_content", "run_bank", "run_part"]
