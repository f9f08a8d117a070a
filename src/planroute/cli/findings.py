"""What ``planroute doctor`` looks for."""

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def findings() -> list[dict[str, Any]]:
    """Return one record for each thing looked for: name, present, needed, detail, hint."""
    found = [_python(), *map(_package, PACKAGES), _git(), *_sandboxes(), _weights(), _key(), _cache(), _data()]
    return [*found, *_browsing(), _domains()]


PACKAGES: tuple[tuple[str, str, bool, str], ...] = (
    ("numba", "numba", True, "reinstall planroute"),
    ("xllamacpp", "xllamacpp", False, "for embedded and gguf models: pip install 'planroute[embedded]'"),
    ("lxml", "lxml", False, "for the pages of Mind2Web: pip install 'planroute[mind2web]'"),
    ("swebench", "swebench", False, "to grade issues of SWE-bench: pip install 'planroute[swebench]'"),
    ("playwright", "playwright", False, "for the websites of WebArena: pip install 'planroute[webarena]'"),
    ("power-grid-model", "power_grid_model", False, "for referee tests: pip install 'planroute[referees]'"),
    ("pandapower", "pandapower", False, "for referee tests: pip install 'planroute[referees]'"),
)


def _record(name: str, present: bool, detail: str, hint: str = "", *, needed: bool = False) -> dict[str, Any]:
    return {"name": name, "present": present, "needed": needed, "detail": detail, "hint": hint}


def _python() -> dict[str, Any]:
    fits = (3, 11) <= sys.version_info[:2] <= (3, 13)
    return _record("Python", fits, platform.python_version(), "planroute runs on Python 3.11 to 3.13", needed=True)


def _package(item: tuple[str, str, bool, str]) -> dict[str, Any]:
    name, module, needed, hint = item
    if find_spec(module) is None:
        return _record(name, False, "not installed", hint, needed=needed)
    try:
        return _record(name, True, version(name), needed=needed)
    except PackageNotFoundError:
        return _record(name, True, "installed", needed=needed)


def _git() -> dict[str, Any]:
    path = shutil.which("git")
    return _record("git", path is not None, path or "not installed", "for issues of SWE-bench: apt install git")


def _sandboxes() -> list[dict[str, Any]]:
    """What runs the commands of a model: found out by starting one."""
    from planroute.sandbox import problems

    hints = {
        "jail": "for issues of SWE-bench, on Linux: apt install bubblewrap",
        "docker": "for issues of SWE-bench that come with an image: start Docker",
    }
    return [_record(name, not why, why or "works", hints[name]) for name, why in problems().items()]


def _browsing() -> list[dict[str, Any]]:
    """What shows and judges the websites of WebArena."""
    from planroute.domains.webarena.browser import chromium_path
    from planroute.domains.webarena.evaluator import PACKAGE, interpreter
    from planroute.errors import InputError

    found = []
    for name, look in (("chromium", chromium_path), (PACKAGE, interpreter)):
        try:
            found.append(_record(name, True, str(look())))
        except InputError as error:
            found.append(_record(name, False, error.message, f"for the websites of WebArena: {error.hint}"))
    return found


def _weights() -> dict[str, Any]:
    from planroute.models.weights import default_weights

    path = default_weights()
    hint = "they are fetched at first use of --model embedded, with a network"
    return _record("embedded weights", path.exists(), str(path) if path.exists() else "not fetched yet", hint)


def _key() -> dict[str, Any]:
    names = [name for name in ("PLANROUTE_API_KEY", "OPENAI_API_KEY") if os.environ.get(name)]
    hint = "for endpoints that want one: set PLANROUTE_API_KEY"
    return _record("API key", bool(names), f"set in {names[0]}" if names else "not set", hint)


def _cache() -> dict[str, Any]:
    from planroute.models import cache_folder

    folder = cache_folder()
    near = next(parent for parent in (folder, *folder.parents) if parent.exists())
    writable = os.access(near, os.W_OK)
    return _record(
        "cache folder", writable, str(folder), "set PLANROUTE_CACHE to a folder that can be written", needed=True
    )


def _data() -> dict[str, Any]:
    value = os.environ.get("PLANROUTE_DATA")
    hint = "for tests on real benchmark data: set PLANROUTE_DATA to its folder"
    if not value:
        return _record("benchmark data", False, "PLANROUTE_DATA is not set", hint)
    return _record("benchmark data", Path(value).is_dir(), value, f"PLANROUTE_DATA names no folder; {hint}")


def _domains() -> dict[str, Any]:
    names = sorted(point.name for point in entry_points(group="planroute.domains"))
    return _record("domains", bool(names), ", ".join(names) or "none", "reinstall planroute", needed=True)
