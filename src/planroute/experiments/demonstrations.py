"""Demonstrations for few-shot declaration, from a stored run of forced modes under two seeds."""

from pathlib import Path

from planroute.declarers import Demonstration, demonstrations
from planroute.errors import InputError
from planroute.modes import Mode
from planroute.runs.folder import RunFolder


def demonstrations_of(run: Path) -> tuple[Demonstration, ...]:
    """Build demonstrations from the forced episodes of ``run``; their tasks must not be scored afterwards.

    Raises ``InputError`` where the run cannot be read or no task qualifies.
    """
    folder = RunFolder(run)
    facts = folder.manifest().get("facts", {})
    results = []
    for cell in folder.cells():
        row = cell["row"]
        if row["condition"] in set(Mode) and row["status"] != "infrastructure":
            text = str(facts.get(row["task"], {}).get("goal", row["task"]))
            results.append((row["task"], text, Mode(row["condition"]), row["seed"], bool(row["success"])))
    found = demonstrations(results)
    if not results and (run / "cells.parquet").is_file():
        raise InputError(f"the episodes of {run} are packed", hint=f"planroute runs unpack {run}")
    if not found:
        raise InputError(
            f"{run} holds no task that one and the same single mode solved under both of two seeds",
            hint="run all four modes with --seeds A,B on more tasks first",
        )
    return found
