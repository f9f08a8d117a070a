"""Banks of any size in one Parquet file, worked off in chunks of seeds: memory follows the chunk, not the count.

::

    .part-NAME/<identity>.parquet    one chunk's lines, written as a whole by whoever worked it off
    NAME                             all of them, in order; put in place when the last line is in it

A chunk that is there is not run again. Neither the size of chunks nor the number of workers changes a byte of the file.
"""

import multiprocessing
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from planroute.batched.table import Episodes, table, table_schema
from planroute.errors import InputError, PlanrouteError, StorageError
from planroute.runs.cells import identity
from planroute.runs.execute import package_version

Seeds = Sequence[range]
"""Seeds as ranges without a step, in order: a million of them take no room."""

CHUNK = 2048
"""Seeds of a chunk: with four modes some 60 MB of work for each worker."""
MOST_CHUNKS = 100_000
SEEDS_PER_WORKER = 5000
"""So many seeds are done here before a worker process would have started: each loads everything anew, for seconds."""
GROUP = 65_536
"""Lines of a row group at most, whatever the chunks were."""


@dataclass(frozen=True, slots=True)
class Filled:
    """How a bank came to be: lines in all, seeds that an earlier run had left, and mean J by task and mode.

    A mean is over the seeds under which J is known, ``None`` where it is under none.
    """

    episodes: int
    resumed: int
    means: Mapping[str, Mapping[str, float | None]]


def count(seeds: Seeds) -> int:
    """How many seeds there are."""
    return sum(len(part) for part in seeds)


def chunks(seeds: Seeds, size: int) -> Iterator[Seeds]:
    """Cut ``seeds`` into runs of ``size``."""
    some: list[range] = []
    room = size
    for part in seeds:
        while part:
            some.append(part[:room])
            part, room = part[room:], room - len(some[-1])
            if not room:
                yield tuple(some)
                some, room = [], size
    if some:
        yield tuple(some)


def fill(
    episodes: Episodes,
    seeds: Seeds,
    out: Path,
    *,
    chunk: int = CHUNK,
    workers: int = 1,
    source: str = "",
    finished: Callable[[], None] | None = None,
) -> Filled:
    """Run ``episodes`` under every seed and write their lines to ``out``, a Parquet file that ``read_rows`` reads.

    ``source`` is hashed into every chunk: lines of other code are not taken for this one's. ``finished`` is told of
    each chunk. Raises ``InputError`` where there is nothing to run or ``out`` is a folder, ``StorageError`` where a
    file cannot be written, and ``PlanrouteError`` where a worker is lost; what is finished is kept for the next time.
    """
    if not count(seeds) or not episodes.per_seed:
        raise InputError("a bank needs at least one episode")
    if chunk < 1 or workers < 1:
        raise InputError("chunk and workers must be at least 1")
    if count(seeds) > MOST_CHUNKS * chunk:
        raise InputError(f"more than {MOST_CHUNKS} chunks", hint="choose larger chunks")
    if out.is_dir():
        raise InputError(f"{out} is a folder", hint="name a file")
    parts = parts_of(out)
    what = identity([package_version(), source, _described(episodes)])
    with _writing(out):
        parts.mkdir(parents=True, exist_ok=True)
        paths = [(some, parts / f"{identity([what, *map(repr, some)])}.parquet") for some in chunks(seeds, chunk)]
        missing = [(some, path) for some, path in paths if not _kept(path, count(some) * episodes.per_seed)]
        told = finished or (lambda: None)
        for _ in range(len(paths) - len(missing)):
            told()
        left = sum(count(some) for some, _ in missing)
        _work(episodes, missing, min(workers, len(missing), left // SEEDS_PER_WORKER), told)
        whole = parts / "whole"
        means = _join(episodes, [path for _, path in paths], whole)
        whole.replace(out)
        shutil.rmtree(parts, ignore_errors=True)
    return Filled(count(seeds) * episodes.per_seed, count(seeds) - left, means)


def parts_of(out: Path) -> Path:
    """The folder in which chunks wait for the rest of the bank ``out``."""
    return out.with_name(f".part-{out.name}")


def fill_chunk(episodes: Episodes, seeds: Seeds, path: Path) -> None:
    """Run one chunk and write its lines to ``path`` as a whole."""
    import pyarrow.parquet as pq

    part = path.with_suffix(".part")
    pq.write_table(table(episodes, [seed for part in seeds for seed in part]), part, compression="NONE")
    part.replace(path)


def _kept(path: Path, lines: int) -> bool:
    """Whether a chunk is there with all its lines."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return path.exists() and pq.read_metadata(path).num_rows == lines
    except (OSError, pa.ArrowException):
        return False


def _work(episodes: Episodes, missing: Sequence[tuple[Seeds, Path]], workers: int, told: Callable[[], None]) -> None:
    """Spread chunks over processes; in this one where one is enough."""
    if workers <= 1:
        for seeds, path in missing:
            fill_chunk(episodes, seeds, path)
            told()
        return
    # A fresh interpreter per worker: forking one that runs threads is not safe.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawned, initializer=_start_worker) as pool:
        pending: set[Future[None]] = set()
        try:
            for seeds, path in missing:
                if len(pending) >= 2 * workers:
                    pending = _one_ended(pending, told)
                pending.add(pool.submit(fill_chunk, episodes, seeds, path))
            while pending:
                pending = _one_ended(pending, told)
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, BrokenProcessPool):
                raise PlanrouteError(
                    "a worker process ended before its chunk was done",
                    hint="the same command goes on from there; a smaller --chunk needs less memory",
                ) from None
            raise


def _start_worker() -> None:
    """Leave an interrupt to the main process, and end with it however it ends: else a worker would wait for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _one_ended(pending: set[Future[None]], told: Callable[[], None]) -> set[Future[None]]:
    done, rest = wait(pending, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()
        told()
    return rest


def _join(episodes: Episodes, paths: Sequence[Path], whole: Path) -> dict[str, dict[str, float | None]]:
    """Write the lines of all chunks into one file, in row groups that hold whole seeds and do not follow the chunks.

    Returns the mean J by task and mode, taken group by group.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = table_schema(episodes)
    group = max(GROUP // episodes.per_seed, 1) * episodes.per_seed
    texts = [field.name for field in schema if field.type == pa.string()]
    with pq.ParquetWriter(whole, schema, use_dictionary=texts) as writer:
        waiting = schema.empty_table()
        total, known = np.zeros(episodes.per_seed), np.zeros(episodes.per_seed)

        def write(lines: pa.Table) -> None:
            writer.write_table(lines.combine_chunks(), row_group_size=group)
            values = lines["metric_objective"].to_numpy().reshape(-1, episodes.per_seed)
            np.add(total, np.nansum(values, axis=0), out=total)
            np.add(known, np.isfinite(values).sum(axis=0), out=known)

        for path in paths:
            waiting = pa.concat_tables([waiting, pq.read_table(path)])
            while len(waiting) >= group:
                write(waiting[:group])
                waiting = waiting[group:]
        if len(waiting):
            write(waiting)
    means = [float(total[i] / known[i]) if known[i] else None for i in range(episodes.per_seed)]
    by_mode = iter(means)
    return {name: {str(mode): next(by_mode) for mode in episodes.modes} for name in episodes.scenarios}


def _described(episodes: Episodes) -> Any:
    """Everything that can change a line."""
    scenarios = {
        name: [one.factors.model_dump(mode="json"), one.feeder.to_dict(), asdict(one.coefficients)]
        for name, one in episodes.scenarios.items()
    }
    return [list(scenarios), scenarios, list(map(str, episodes.modes)), episodes.deadline_s, episodes.branching]


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except (NotADirectoryError, FileExistsError):
        raise InputError(f"cannot write {out}: what stands above it is no folder", hint="name another file") from None
    except OSError as error:
        raise StorageError(f"cannot write {out}: {error.strerror or error}") from None
