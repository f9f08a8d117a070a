"""The Python that a record's commands find: a virtual environment of this machine, shown read-only in the jail."""

import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from planroute.domains.swebench.git import IDENTITY
from planroute.domains.swebench.records import Record
from planroute.domains.swebench.sources import below
from planroute.errors import InputError
from planroute.sandbox import WORK

VARIABLES: Final = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    **IDENTITY,
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONPATH": f"{WORK}/src:{WORK}",
}
"""What every command of a jail finds in its environment; no variable of this process is among them."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """A Python and its packages. ``shown`` and ``links`` are what a jail must have of it, ``bin`` is first in PATH."""

    bin: Path
    shown: tuple[Path, ...]
    links: tuple[tuple[Path, Path], ...]
    name: str
    plugins: bool = True

    def variables(self) -> dict[str, str]:
        """The environment of every command."""
        own = {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin"}
        return {**VARIABLES, **own} if self.plugins else {**VARIABLES, **own, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def own_equipment() -> Equipment:
    """This process's own Python, for repositories that need pytest and nothing else. Raises ``InputError`` without."""
    if find_spec("pytest") is None:
        raise InputError("the project's own repositories are tested by pytest", hint="pip install pytest")
    try:
        pytest = version("pytest")
    except PackageNotFoundError:
        pytest = "unknown"
    found = _equipment(Path(sys.prefix), Path(sys.base_prefix))
    name = f"python {sys.version_info.major}.{sys.version_info.minor}, pytest {pytest}"
    return Equipment(found.bin, found.shown, found.links, name, plugins=False)


def find_equipment(folder: Path, record: Record) -> Equipment:
    """Find the environment of ``record`` in ``folder``: by instance, or by repository and version.

    Raises ``InputError`` where there is none.
    """
    owner, name = record.repo.split("/")
    names = (record.instance_id, f"{owner}__{name}-{record.version}", f"{owner}__{name}")
    for prefix in (below(folder, each) for each in names):
        if (prefix / "bin" / "python").exists():
            return _equipment(prefix.absolute(), _base_of(prefix))
    raise InputError(
        f"no environment for {record.repo} {record.version} in {folder}",
        hint=f"python3 -m venv {folder / names[1]}, and what its tests need into it: see docs/swebench.md",
    )


def _base_of(prefix: Path) -> Path:
    """The installation that an environment was made from."""
    settings = prefix / "pyvenv.cfg"
    if not settings.is_file():
        return prefix.absolute()
    return (prefix / "bin" / "python").resolve().parent.parent


def _equipment(prefix: Path, base: Path) -> Equipment:
    """What a jail must have of ``prefix`` and ``base``. Raises ``InputError`` where either is no installation."""
    program = prefix / "bin" / "python"
    shown = [prefix]
    for folder in (base, program.resolve().parent.parent):
        if not any(folder.glob("lib*/python3*/os.py")):
            raise InputError(f"{folder} holds no Python: it is not shown to commands", hint="build it from another one")
        shown.append(folder)
    for folder in shown:
        if folder in (Path("/"), Path.home()) or folder in Path.home().parents:
            raise InputError(f"{folder} holds more than a Python: it is not shown to commands")
    links, step = [], program
    while step.is_symlink():
        target = step.readlink() if step.readlink().is_absolute() else step.parent / step.readlink()
        if not any(step.is_relative_to(folder) for folder in (*shown, Path("/usr"))):
            links.append((step, step.resolve()))
        step = target
    if not any(step.is_relative_to(folder) for folder in (*shown, Path("/usr"))):
        links.append((step, step.resolve()))
    return Equipment(prefix / "bin", tuple(dict.fromkeys(shown)), tuple(links), prefix.name)
