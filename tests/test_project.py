"""Rules for the project as a whole: change log, lock file, nothing of one machine, data sets in CI."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# Written so that this file does not match itself.
REGISTRY = re.compile(r"https?://[\w.-]*(?:py[p]i|python[h]osted|npm[j]s|[r]egistry)[\w.-]*|--(?:extra-)?index[-]url")
MACHINE_PATH = re.compile(r"(?<![\w.~:/-])/(?:root|home|work|Users)/[\w.]+")
RECORDED = {".json", ".jsonl", ".html", ".har", ".xml", ".csv", ".patch", ".diff"}
"""Test cases of these kinds were recorded elsewhere and may name paths of the place they come from."""


def declared() -> list[Requirement]:
    extras = PROJECT["project"]["optional-dependencies"].values()
    groups = PROJECT["dependency-groups"].values()
    return [Requirement(r) for r in sum([*extras, *groups], PROJECT["project"]["dependencies"]) if isinstance(r, str)]


def locked() -> dict[str, list[str]]:
    versions: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE):
        versions.setdefault(canonicalize_name(name), []).append(version)
    return versions


def tracked() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [path for name in names.decode().split("\0") if name and (path := ROOT / name).is_file()]


def matches(pattern: re.Pattern[str], *, but_recorded: bool = False) -> list[str]:
    found = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if but_recorded and name.startswith("tests/") and path.suffix in RECORDED:
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [f"{name}:{n}: {m[0]}" for n, line in enumerate(lines, 1) if (m := pattern.search(line))]
    return found


def test_change_log_has_a_place_for_what_comes_next():
    headings = re.findall(r"^## \[?([\w.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_no_package_registry_is_named():
    assert matches(REGISTRY) == []


def test_no_path_of_one_machine_is_named():
    assert matches(MACHINE_PATH, but_recorded=True) == []


ELSEWHERE = {"webarena/apart.py"}
"""What runs in an environment of its own, with libraries of its own."""


def test_every_imported_library_is_declared():
    paths = [path for path in (ROOT / "src").rglob("*.py") if "/".join(path.parts[-2:]) not in ELSEWHERE]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    libraries = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"planroute"}
    known = {canonicalize_name(requirement.name) for requirement in declared()}
    owners = packages_distributions()
    assert [x for x in sorted(libraries) if not {canonicalize_name(d) for d in owners.get(x, [])} & known] == []


@pytest.mark.parametrize("requirement", declared(), ids=str)
def test_lock_holds_what_is_declared(requirement):
    versions = locked().get(canonicalize_name(requirement.name), [])
    assert versions, "not in requirements.lock: make lock"
    assert all(requirement.specifier.contains(version) for version in versions), versions


def test_lock_pins_everything_and_names_no_source():
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    entries = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    assert [line for line in entries if not re.match(r"[\w.-]+==[\w.!+]+( ; .+)?$", line)] == []


@pytest.mark.parametrize(
    ("ci", "data", "outcome"),
    [
        ("", None, "1 skipped"),
        ("true", None, "1 error"),
        ("true", "nowhere", "1 error"),
        ("true", ".", "1 passed"),
    ],
)
def test_missing_data_skips_here_and_fails_in_ci(tmp_path, ci, data, outcome):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text("def test_it(data_dir): assert data_dir.is_dir()")
    env = {k: v for k, v in os.environ.items() if k not in {"PLANROUTE_DATA", "PYTEST_ADDOPTS"}}
    env |= {"CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | ({"PLANROUTE_DATA": data} if data else {})
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert f"{outcome} in" in run.stdout.splitlines()[-1]
