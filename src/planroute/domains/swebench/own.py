"""The project's own repositories: small enough to be kept as text, made into repositories when they are asked for."""

import tempfile
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from planroute.domains.swebench.git import commit_all, git
from planroute.domains.swebench.records import Record, read_record
from planroute.errors import FaultyInput

NAMES = ("clocks", "ledgers", "slugs", "tables")
FIXED = "Resolve the issue"
"""Message of the commit after the base commit: a later history, as real repositories have one."""


@cache
def _told(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads(files(__package__).joinpath("data", f"{name}.toml").read_text("utf-8"))


def own_records() -> tuple[Record, ...]:
    """The records of the project's own repositories, in the order of their names."""
    found = []
    for name in NAMES:
        record, faults = read_record(_told(name)["record"])
        if record is None:
            raise FaultyInput(f"{name}.toml", faults)
        found.append(record)
    return tuple(found)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Where repositories are made; removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="planroute-own-")


@cache
def own_repository(name: str) -> Path:
    """Make the repository called ``name`` and return it: its base commit, and after it the commit with the patch."""
    record = next(each for each in own_records() if each.repo == f"planroute/{name}")
    folder = Path(_folder().name) / name
    folder.mkdir()
    git(folder, "init", "--quiet")
    for path, text in _told(name)["files"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(str(text), encoding="utf-8")
    commit_all(folder, f"{name} {record.version}")
    git(folder, "apply", "-", input=(record.patch + record.test_patch).encode())
    commit_all(folder, FIXED)
    return folder
