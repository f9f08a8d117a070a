"""What all tests share: where large data sets are, and what becomes of a test that misses its own."""

import os
import sys
from pathlib import Path

import pytest

from planroute.cli import main

LONGEST = (
    "cli/test_questions.py",
    "inspect_/test_evaluations.py",
    "domains/webarena/test_hostile.py",
    "test_docs.py",
    "domains/webarena/test_comparison.py",
    "domains/webarena/test_contract.py",
    "domains/webarena/test_verdict.py",
    "domains/alfworld/test_executors.py",
    "domains/swebench/test_domain.py",
    "domains/alfworld/test_oracle.py",
    "security/test_keys.py",
    "security/test_pages.py",
    "domains/alfworld/test_comparison.py",
    "inspect_/test_webarena.py",
    "inspect_/test_mind2web.py",
)
"""Files that take long, which are begun first: workers that share files out then end together."""


def pytest_collection_modifyitems(items):
    """Begin with the longest files; all others stay in their order."""
    here = Path(__file__).parent
    place = {here / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(LONGEST)))


@pytest.fixture
def planroute(monkeypatch, capsys):
    """Run the program in this process; exit status, standard output, standard error."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["planroute", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    return run


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of data sets that are not kept in the project; skips the test where there is none."""
    folder = os.environ.get("PLANROUTE_DATA")
    if not folder:
        pytest.skip("PLANROUTE_DATA is not set: it names the folder of the data sets that are not kept here")
    if not Path(folder).is_dir():
        pytest.skip(f"PLANROUTE_DATA names no folder: {folder}")
    return Path(folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With CI set, a test that is skipped for missing data has failed: there the data must be."""
    report = yield
    if report.skipped and os.environ.get("CI") and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2]
        if "PLANROUTE_DATA" in reason:
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: in CI this is a failure: {reason}"
    return report
