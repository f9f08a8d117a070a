"""A run's folder: the manifest first, then each cell once, then what is derived from them.

::

    manifest.json            what was asked for: versions, configuration, cells, facts for reports
    cells/<cell>.json        one row, its trace and its identity; written once, by rename
    parts/<identity>.json    of an experiment: rows of some cells, see ``planroute.runs.bank``
    billing.json             what differs between equal runs: wall times, billed calls
    billing.jsonl            while cells run: the same, a line for each as it ends
    result.json              the table, derived from the cells
    report.html              the report, derived from the cells

Equal commands give equal bytes in all but ``billing.json``, the manifest's ``environment``, and the line of the report
that says what was billed.
"""

import errno
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planroute.episode import Episode, EpisodeRow
from planroute.errors import DamagedFile, DomainError, InputError, StorageError
from planroute.reporting.placing import within
from planroute.runs.billing import BILLING, JOURNAL, forget_lines, merged_billing, note_billing, read_billing
from planroute.runs.lock import held
from planroute.runs.stored import AGAIN, DAMAGED, checked_manifest, read_object, set_aside, stored_row

MANIFEST, CELLS, PARTS, RESULT, REPORT = "manifest.json", "cells", "parts", "result.json", "report.html"
SCHEMA_VERSION = 1

_PART = ".part-"
_OTHER = "choose another --out"
_KEEP = "choose another --out, or put back the manifest that the run was started with"


def canonical(value: Any) -> str:
    """JSON text with sorted keys; the same bytes for equal values. What is no valid Unicode is escaped."""
    text = json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()


class RunFolder:
    """Reads and writes one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, manifest: Mapping[str, Any], identities: Mapping[str, str] | None = None) -> None:
        """Create the folder and write the manifest; of two runs that start at once the first has the folder.

        Cells without a manifest are taken up where ``identities`` (by cell) says that they are all of this run.
        Raises ``InputError`` where another run or anything else is already there, ``StorageError`` where the folder
        cannot be written.
        """
        text = canonical({"schema": SCHEMA_VERSION, **manifest})
        self._refuse_no_folder()
        if not self._there(MANIFEST):
            self._refuse_other_content(identities or {})
            if self._create(MANIFEST, text):
                return
        try:
            same = self.manifest()["identity"] == manifest.get("identity")
        except DamagedFile as damage:
            if not self._refuse_other_content(identities or {}):
                raise  # nothing tells whose it was
            set_aside(self.path / MANIFEST, f"{damage.message}, and made again")
            same = True
        if not same:
            raise InputError(
                f"{self.path} already holds another run", hint="choose another --out, or remove that folder"
            )
        self.write(MANIFEST, text)

    def restart(self, manifest: Mapping[str, Any], same: str) -> None:
        """Write the manifest of a run whose content is named by what made it, over an earlier one of the same kind.

        ``same`` names the manifest's field that must not change. Raises ``InputError`` where the folder holds anything
        else, ``StorageError`` where it cannot be written.
        """
        self._refuse_no_folder()
        if not self._there(MANIFEST):
            if any(name != MANIFEST for name in self._names(self.path)):
                raise InputError(f"{self.path} is not empty and holds no run", hint=_OTHER)
        elif not self._may_restart(manifest, same):
            raise InputError(f"{self.path} already holds another run", hint=_OTHER)
        self.write(MANIFEST, canonical({"schema": SCHEMA_VERSION, **manifest}))

    def _may_restart(self, manifest: Mapping[str, Any], same: str) -> bool:
        """Whether the manifest that is there is of the same kind; a damaged one beside parts is set aside."""
        try:
            return bool(self.manifest().get(same) == manifest[same])
        except DamagedFile as damage:
            if PARTS not in self._names(self.path):
                raise
            set_aside(self.path / MANIFEST, f"{damage.message}, and made again")
            return True

    def write(self, name: str, text: str) -> Path:
        """Write a file of the run as a whole: readers see the old one or the new one, never a part.

        A link of that name is replaced. Raises ``InputError`` where the folder that it is to be in is a link.
        """
        place, _, file = name.rpartition("/")
        target = (within(self.path, place) if place else self.path) / file
        try:
            with _part(target, text) as part:
                part.replace(target)
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror or error}") from None
        return target

    def write_cell(self, key: str, identity: str, episode: Episode) -> None:
        """Write one finished cell. Raises ``DomainError`` where it holds a number that is not finite."""
        content = {"identity": identity, "row": asdict(episode.row), "trace": json.loads(episode.trace.to_json())}
        try:
            text = canonical(content)
        except ValueError:
            raise DomainError(f"{key}: the episode holds a number that is not finite") from None
        self.write(f"{CELLS}/{key}.json", text)

    def held(self) -> AbstractContextManager[None]:
        """Make the folder where there is none, and hold it against other processes.

        Raises ``InputError`` where one is running it just now, it cannot be a folder, or a link is in the place of what
        is written in it; ``StorageError`` where it cannot be made.
        """
        self.make()
        for name in (CELLS, PARTS, JOURNAL):
            within(self.path, name)
        return held(self.path)

    def make(self) -> None:
        """Make the folder where there is none. Raises ``InputError`` and ``StorageError`` where it cannot be one."""
        self._refuse_no_folder()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot write {self.path}: {error.strerror or error}") from None

    def set_aside(self, key: str, damage: DamagedFile) -> None:
        """Set the damaged file of a cell aside, and log what was wrong with it."""
        set_aside(self.path / CELLS / f"{key}.json", f"{damage.message}; its episode is run again")

    def note_billing(self, seconds: float, key: str, billed: Mapping[str, Any]) -> None:
        """Keep at once what a finished cell was billed, and the ``seconds`` since the cell before."""
        note_billing(self.path, seconds, key, billed)

    def close_billing(self, seconds: float) -> None:
        """Add everything that was billed, and the last ``seconds``, to the summary of all starts."""
        note_billing(self.path, seconds)
        self.write(BILLING, canonical(merged_billing(self.path)))
        forget_lines(self.path)

    def manifest(self) -> dict[str, Any]:
        """Read the manifest. Raises ``InputError`` where there is no run or it cannot be read."""
        target = self.path / MANIFEST
        found = read_object(target, missing=f"{self.path} is not a run: it has no {MANIFEST}", hint=_KEEP)
        return checked_manifest(found, target, SCHEMA_VERSION, _KEEP)

    def cell(self, key: str, identity: str, expected: Mapping[str, Any]) -> EpisodeRow | None:
        """Read the row of one cell, or ``None`` where it has not been run.

        Raises ``InputError`` where the file is damaged or is not of this cell, which ``identity`` and the
        ``expected`` fields of its row tell.
        """
        if not self._there(f"{CELLS}/{key}.json"):
            return None
        target = self.path / CELLS / f"{key}.json"
        stored = read_object(target)
        if stored.get("identity") != identity:
            raise DamagedFile(f"{target} is damaged: identity: not the one of this run's cell", hint=AGAIN)
        return stored_row(stored, target, expected)

    def cells(self) -> list[dict[str, Any]]:
        """Read all finished cells, in the manifest's order. Raises ``InputError`` where one is damaged."""
        keys: Sequence[str] = self.manifest()["cells"]
        found = []
        for key in keys:
            if self._there(f"{CELLS}/{key}.json"):
                target = self.path / CELLS / f"{key}.json"
                stored = read_object(target)
                stored_row(stored, target)
                found.append(stored)
        return found

    def billing(self) -> dict[str, Any]:
        """Read what earlier executions of the run billed; empty where there is nothing to read."""
        found = read_billing(self.path) or {}
        return {name: found[name] for name in ("seconds", "cells") if name in found}

    def all_billing(self) -> dict[str, Any]:
        """Read what earlier executions of the run billed, with what a killed one has not summed up."""
        return merged_billing(self.path)

    def _there(self, name: str) -> bool:
        """Whether there is anything of that name. Raises ``InputError`` where that cannot be told."""
        try:
            (self.path / name).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise InputError(f"cannot read {self.path / name}: {error.strerror or error}") from None
        except ValueError as error:
            raise InputError(f"cannot read {self.path} / {name!r}: {error}") from None
        return True

    def _refuse_no_folder(self) -> None:
        try:
            mode = self.path.stat().st_mode
        except OSError as error:
            if error.errno in (errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR):
                raise InputError(f"{self.path} cannot be a folder: {error.strerror}", hint=_OTHER) from None
            return
        except ValueError as error:
            raise InputError(f"{str(self.path)!r} cannot be a folder: {error}", hint=_OTHER) from None
        if not stat.S_ISDIR(mode):
            raise InputError(f"{self.path} is {'a file' if stat.S_ISREG(mode) else 'not a folder'}", hint=_OTHER)

    def _refuse_other_content(self, identities: Mapping[str, str]) -> bool:
        """Raise ``InputError`` unless the folder, without its manifest, is empty or holds cells of this run only.

        Return whether there are any.
        """
        found = [name for name in self._names(self.path) if name != MANIFEST]
        cells = [name for name in self._names(self.path / CELLS) if name.endswith(".json")] if CELLS in found else []
        if not cells and any(name != CELLS for name in found):
            raise InputError(f"{self.path} is not empty and holds no run", hint=_OTHER)
        for name in cells:
            wanted = identities.get(name.removesuffix(".json"))
            if wanted is None or self._identity_of(name) not in (wanted, None):
                raise InputError(f"{self.path} holds cells of another run, and no {MANIFEST}", hint=_KEEP)
        return bool(cells)

    def _identity_of(self, name: str) -> Any:
        """The identity that a cell's file names; ``None`` where the file is damaged."""
        try:
            return read_object(self.path / CELLS / name).get("identity")
        except DamagedFile:
            return None

    @staticmethod
    def _names(folder: Path) -> list[str]:
        """What is in ``folder``, but for files that a killed run was writing, and damage that was set aside."""
        try:
            names = (path.name for path in folder.iterdir())
            return sorted(name for name in names if not name.startswith(_PART) and DAMAGED not in name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise InputError(f"cannot read {folder}: {error.strerror or error}") from None

    def _create(self, name: str, text: str) -> bool:
        """Write a file as a whole where there is none yet, and tell whether that was so."""
        target = self.path / name
        try:
            with _part(target, text) as part:
                try:
                    os.link(part, target)
                except FileExistsError:
                    return False
                except OSError:  # a file system without hard links
                    target.touch(exist_ok=False)
                    part.replace(target)
        except FileExistsError:
            return False
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror or error}") from None
        return True


@contextmanager
def _part(target: Path, text: str) -> Iterator[Path]:
    """Write ``text`` to a file beside ``target``, for the caller to put in its place; nothing of it stays behind."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_PART)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
        part.chmod(0o644)
        yield part
    finally:
        part.unlink(missing_ok=True)


__all__ = ["BILLING", "CELLS", "MANIFEST", "PARTS", "REPORT", "RESULT", "RunFolder", "canonical"]
