"""A run's folder: the manifest first, then each cell once, then what is derived from them.

::

    manifest.json            what was asked for: versions, configuration, cells, facts for reports
    cells/<cell>.json        one row, its trace and its identity; written once, by rename
    billing.json             what differs between equal runs: wall times, billed calls
    result.json              the table, derived from the cells
    report.html              the report, derived from the cells

Equal commands give equal bytes in all but ``billing.json`` and the manifest's ``environment``.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planroute.episode import Episode
from planroute.errors import InputError, StorageError

MANIFEST, CELLS, BILLING, RESULT, REPORT = "manifest.json", "cells", "billing.json", "result.json", "report.html"
SCHEMA_VERSION = 1


def canonical(value: Any) -> str:
    """JSON text with sorted keys; the same bytes for equal values."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


class RunFolder:
    """Reads and writes one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, manifest: Mapping[str, Any]) -> None:
        """Create the folder and write the manifest.

        Raises ``InputError`` where another run is already there, ``StorageError`` where it cannot be written.
        """
        wanted = {"schema": SCHEMA_VERSION, **manifest}
        if (self.path / MANIFEST).exists():
            found = self.manifest()
            if found.get("identity") != wanted.get("identity"):
                raise InputError(
                    f"{self.path} already holds another run", hint="choose another --out, or remove that folder"
                )
        self.write(MANIFEST, canonical(wanted))

    def write(self, name: str, text: str) -> Path:
        """Write a file of the run as a whole: readers see the old one or the new one, never a part."""
        target = self.path / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".part-")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(target)
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror or error}") from None
        return target

    def write_cell(self, key: str, identity: str, episode: Episode) -> None:
        """Write one finished cell."""
        content = {"identity": identity, "row": asdict(episode.row), "trace": json.loads(episode.trace.to_json())}
        self.write(f"{CELLS}/{key}.json", canonical(content))

    def manifest(self) -> dict[str, Any]:
        """Read the manifest. Raises ``InputError`` where there is no run or it cannot be read."""
        return self._read(MANIFEST, f"{self.path} is not a run: it has no {MANIFEST}")

    def cell(self, key: str) -> dict[str, Any] | None:
        """Read one cell, or ``None`` where it has not been run. Raises ``InputError`` where it is damaged."""
        if not (self.path / CELLS / f"{key}.json").exists():
            return None
        return self._read(f"{CELLS}/{key}.json", "")

    def cells(self) -> list[dict[str, Any]]:
        """Read all finished cells, in the manifest's order."""
        keys: Sequence[str] = self.manifest()["cells"]
        return [cell for key in keys if (cell := self.cell(key)) is not None]

    def billing(self) -> dict[str, Any]:
        """Read what earlier executions of the run billed; empty where there is nothing to read."""
        try:
            return self._read(BILLING, "")
        except InputError:
            return {}

    def _read(self, name: str, missing: str) -> dict[str, Any]:
        target = self.path / name
        try:
            data = json.loads(target.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise InputError(missing or f"{target} is missing") from None
        except OSError as error:
            raise InputError(f"cannot read {target}: {error.strerror or error}") from None
        except ValueError as error:
            raise InputError(f"{target} is damaged: {error}", hint="remove that file and run again") from None
        if not isinstance(data, dict):
            raise InputError(f"{target} is damaged: not an object", hint="remove that file and run again")
        return data
