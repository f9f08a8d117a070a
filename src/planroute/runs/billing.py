"""What a run was billed: a line for each call and each finished cell at once, and a summary of all starts.

While cells run, ``billing.jsonl`` gets a line for each billed call and each cell as it ends, so that a killed run loses
no cost. At the end of a start its lines are added to ``billing.json``, which says how much of the file it holds, and
the file is removed: a run that is killed between the two counts nothing twice.
"""

import hashlib
import json
import logging
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planroute.errors import InputError, StorageError
from planroute.runs.stored import read_object, set_aside

BILLING, JOURNAL = "billing.json", "billing.jsonl"

_LOG = logging.getLogger("planroute.runs")


def note_billing(folder: Path, seconds: float, cell: str = "", billed: Mapping[str, Any] | None = None) -> None:
    """Append what ``cell`` was billed, and the ``seconds`` since the line before."""
    target = folder / JOURNAL
    line = json.dumps({"cell": cell, "seconds": seconds, "billed": billed or {}}, sort_keys=True)
    try:
        if target.exists() and not target.is_file():
            raise StorageError(f"cannot write {target}: not a file")
        with target.open("a", encoding="utf-8") as stream:
            # A line that a killed run left unfinished must not swallow this one.
            stream.write(f"\n{line}\n")
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror or error}") from None


def read_billing(folder: Path) -> dict[str, Any] | None:
    """Read the summary; ``None`` where there is none in the right form."""
    try:
        found = read_object(folder / BILLING)
    except InputError:
        return None
    return found if _amount(found.get("seconds")) and _all_billed(found.get("cells")) else None


def merged_billing(folder: Path, *, mend: bool = True) -> dict[str, Any]:
    """Sum the summary and the lines that are not in it yet.

    A damaged summary counts nothing; it is set aside, and that is logged, but without ``mend`` nothing is changed.
    """
    earlier = read_billing(folder)
    if earlier is None and mend:
        _set_aside(folder)
    seconds: float = earlier["seconds"] if earlier else 0.0
    cells: dict[str, dict[str, dict[str, Any]]] = dict(earlier["cells"]) if earlier else {}
    journal = _bytes(folder / JOURNAL)
    for line in _lines(folder / JOURNAL, journal[_summed(earlier, journal) :]):
        seconds += line["seconds"]
        if line["cell"]:
            cells[line["cell"]] = _sum(cells.get(line["cell"], {}), line["billed"])
    return {"seconds": seconds, "cells": cells, "summed": [len(journal), hashlib.sha256(journal).hexdigest()]}


def billed_below(folder: Path) -> dict[str, Any]:
    """Sum what all runs at and below ``folder`` were billed, and change nothing."""
    places = sorted({path.parent for name in (BILLING, JOURNAL) for path in folder.rglob(name)})
    found = [merged_billing(place, mend=False) for place in places]
    return {
        "seconds": sum(each["seconds"] for each in found),
        "cells": {f"{number} {key}": of for number, each in enumerate(found) for key, of in each["cells"].items()},
    }


def forget_lines(folder: Path) -> None:
    """Remove the lines once they are in the summary."""
    try:
        (folder / JOURNAL).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"cannot remove {folder / JOURNAL}: {error.strerror or error}") from None


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        return b""
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from None


def _summed(summary: Mapping[str, Any] | None, journal: bytes) -> int:
    """How many of the first bytes of ``journal`` are in ``summary`` already."""
    mark = summary.get("summed") if summary else None
    if not (isinstance(mark, list) and len(mark) == 2 and type(mark[0]) is int and 0 < mark[0] <= len(journal)):
        return 0
    return mark[0] if hashlib.sha256(journal[: mark[0]]).hexdigest() == mark[1] else 0


def _lines(path: Path, journal: bytes) -> list[dict[str, Any]]:
    found, unreadable = [], 0
    for line in filter(str.strip, journal.decode("utf-8", "replace").split("\n")):
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        if (
            isinstance(data, dict)
            and isinstance(data.get("cell"), str)
            and _amount(data.get("seconds"))
            and _all_billed({"": data.get("billed")})
        ):
            found.append(data)
        else:
            unreadable += 1
    if unreadable:
        _LOG.warning("%s: %d unreadable %s left out", path, unreadable, "line" if unreadable == 1 else "lines")
    return found


def _set_aside(folder: Path) -> None:
    path = folder / BILLING
    if path.exists() or path.is_symlink():
        set_aside(path, f"{path} is damaged: its costs are not in the new one")


def _amount(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= 1e300 and math.isfinite(value)


def _all_billed(cells: Any) -> bool:
    """Whether ``cells`` holds amounts by cell, purpose and name; an amount that is not known is null."""
    return isinstance(cells, dict) and all(
        isinstance(of_cell, dict)
        and all(
            isinstance(spent, dict) and all(value is None or _amount(value) for value in spent.values())
            for spent in of_cell.values()
        )
        for of_cell in cells.values()
    )


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    def total(purpose: str, name: str) -> Any:
        known = [of[purpose][name] for of in (one, other) if name in of.get(purpose, {})]
        return None if None in known else sum(known)

    return {
        purpose: {name: total(purpose, name) for name in {**one.get(purpose, {}), **other.get(purpose, {})}}
        for purpose in {**one, **other}
    }
