"""The program, run in this process."""

import sys

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
