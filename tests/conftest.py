"""What all tests share: where large data sets are, and what becomes of a test that misses its own."""

import os
import sys
from pathlib import Path

import pytest

from planroute.cli import main


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
