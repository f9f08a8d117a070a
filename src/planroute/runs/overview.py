"""What there is of runs: their state from their folders alone, and what of a folder nobody needs any more."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planroute.errors import InputError
from planroute.runs.billing import merged_billing
from planroute.runs.folder import CELLS, MANIFEST, RESULT, RunFolder
from planroute.runs.lock import is_held
from planroute.runs.pack import PACK
from planroute.runs.stored import DAMAGED

DEEPEST: Final = 4
"""How many folders below the one that is asked for runs are looked for."""


@dataclass(frozen=True, slots=True)
class Overview:
    """One run.

    ``state`` is ``complete``, ``partial``, ``running``, ``packed`` or ``damaged``; ``fault`` says what is damaged.
    ``cells`` is how many episodes were asked for, ``None`` for an experiment, whose episodes are kept in parts.
    ``usd`` is ``None`` where a price is not known.
    """

    path: Path
    state: str
    what: str = ""
    domain: str = ""
    planroute: str = ""
    cells: int | None = None
    finished: int = 0
    missing: tuple[str, ...] = ()
    status: Mapping[str, int] = field(default_factory=dict)
    billed_calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    leftovers: int = 0
    fault: str = ""
    command: tuple[str, ...] = ()


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield every folder at or below ``folder`` that has a manifest, by name.

    Raises ``InputError`` where ``folder`` is none.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder", hint="name the folder that runs were written to with --out")
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in (CELLS, "parts"))
        if len(Path(place).relative_to(folder).parts) >= DEEPEST:
            folders.clear()
        if MANIFEST in files:
            yield Path(place)


def overview(run: Path, *, whole: bool = False) -> Overview:
    """Return the state of the run in ``run``. With ``whole`` every cell is read, for ``status`` and damage.

    Raises ``InputError`` where it is no run.
    """
    folder = RunFolder(run)
    if not (run / MANIFEST).exists():
        folder.manifest()
    left = sum(1 for _ in leftovers(run, damaged=True))
    try:
        manifest = folder.manifest()
    except InputError as error:
        return Overview(run, "damaged", leftovers=left, fault=error.message)
    keys: Sequence[str] = manifest["cells"]
    packed, fault = _packed(run)
    there = {path.name.removesuffix(".json") for path in _files(run / CELLS)} | packed.keys()
    finished = [key for key in keys if key in there]
    environment, config = manifest.get("environment"), manifest.get("config")
    command = environment.get("command") if isinstance(environment, dict) else None
    status: dict[str, int] = {}
    if whole and keys and not fault:
        try:
            ended = [str(cell["row"]["status"]) for cell in folder.cells()]
            ended += [packed[key] for key in keys if key in packed and not (run / CELLS / f"{key}.json").exists()]
            status = dict(Counter(ended))
        except InputError as error:
            fault = error.message
    experiment = manifest.get("experiment")
    state = "complete" if (len(finished) == len(keys) if keys else (run / RESULT).is_file()) else "partial"
    if (run / PACK).is_file():
        state = "packed"
    return Overview(
        path=run,
        state="damaged" if fault else "running" if is_held(run) else state,
        what=str(
            experiment or (config.get("command") if isinstance(config, dict) else None) or manifest.get("kind", "")
        ),
        domain=str(manifest.get("domain", "")),
        planroute=str(manifest.get("planroute", "")),
        cells=len(keys) if keys else None,
        finished=len(finished) if keys else len(list(_files(run / "parts"))),
        missing=tuple(key for key in keys if key not in there),
        status=status,
        leftovers=left,
        fault=fault,
        command=tuple(str(each) for each in command) if isinstance(command, list) else (),
        **_billed(run),
    )


def _billed(run: Path) -> dict[str, Any]:
    billing = merged_billing(run, mend=False)
    spent = [amounts for of_cell in billing["cells"].values() for amounts in of_cell.values()]
    prices = [amounts.get("price_usd", 0.0) for amounts in spent]
    return {
        "billed_calls": int(sum(amounts.get("billed_calls") or 0 for amounts in spent)),
        "failed_calls": int(sum(amounts.get("failed_calls") or 0 for amounts in spent)),
        "tokens": int(sum(amounts.get("billed_tokens") or 0 for amounts in spent)),
        "usd": None if None in prices else float(sum(prices)),
        "seconds": float(billing["seconds"]),
    }


def _packed(run: Path) -> tuple[dict[str, str], str]:
    """How each packed episode ended, by its cell's name, and what is damaged. Nothing but these columns is read."""
    if not (run / PACK).is_file():
        return {}, ""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(run / PACK) as file:
            lines = file.read(["cell", "status"]).to_pylist()
        return {str(line["cell"]): str(line["status"]) for line in lines}, ""
    except (pa.ArrowException, KeyError, UnicodeError, OSError) as error:
        return {}, f"{run / PACK} is damaged: {str(error).splitlines()[0]}"


def _files(folder: Path) -> Iterator[Path]:
    try:
        yield from (path for path in folder.iterdir() if path.suffix == ".json" and not path.name.startswith("."))
    except OSError:
        return


def leftovers(run: Path, *, damaged: bool = False) -> Iterator[Path]:
    """Yield files that nothing reads any more: what a killed run was writing, and episodes that are not of this run.

    With ``damaged``, also what was set aside as damaged. Links are not followed.
    """
    try:
        known = set(RunFolder(run).manifest()["cells"])
    except InputError:
        known = None
    for folder in (run, run / CELLS, run / "parts"):
        if folder.is_symlink() or not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            if path.is_dir() and not path.is_symlink():
                continue
            stray = folder.name == CELLS and known is not None and path.name.removesuffix(".json") not in known
            aside = DAMAGED in path.name
            if path.name.startswith(".part-") or (aside and damaged) or (stray and not aside):
                yield path


__all__ = ["Overview", "find_runs", "leftovers", "overview"]
