"""``--runner ray`` from outside: the same bytes as ``local``, options that fit, errors that survive the way back.

What needs many workers, an endpoint or kills is in ``test_on_ray``, which is slow.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from planroute.errors import BudgetExceeded, FaultyInput, InputError, RunBudgetReached
from planroute.runs.folder import CELLS, RESULT
from planroute.runs.ray_worker import Failure


def test_a_command_on_ray_writes_the_bytes_of_a_local_one(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "planroute", "compare", "grid", "--seeds", "7", "--model", "scripted/minimal"]
    said = {}
    for runner in ("local", "ray"):
        options = ["--runner", runner, "--out", str(tmp_path / runner), "--json"]
        ended = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
        said[runner] = ended.stdout
    assert said["ray"] == said["local"]
    here, there = ({path.name: path.read_bytes() for path in (tmp_path / r / CELLS).iterdir()} for r in said)
    assert len(here) >= 5
    assert there == here
    assert (tmp_path / "ray" / RESULT).read_bytes() == (tmp_path / "local" / RESULT).read_bytes()


@pytest.mark.parametrize(
    "error",
    [
        InputError("no such file", hint="give another"),
        FaultyInput("the file", ["one", "two"], hint="mend both"),
        BudgetExceeded("calls", 3),
        RunBudgetReached("tokens", 5),
        KeyError("x"),
        OSError("the disk is full"),
        FileNotFoundError(2, "No such file or directory", "games/one.z8"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_is_the_same_in_another_process(error):
    again = Failure.of(error).error()
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.args == error.args
    assert getattr(again, "hint", "") == getattr(error, "hint", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--address", "127.0.0.1:1"], "--address goes with --runner ray only"),
        (["--runner", "slurm"], "--runner 'slurm' is unknown — choose local or ray"),
        (["--runner", "ray", "--address", "ray://127.0.0.1:1"], "only HOST:PORT or auto"),
        (["--runner", "ray", "--address", "nowhere"], "neither HOST:PORT nor auto"),
        (["--runner", "ray", "--address", "127.0.0.1:1"], "no Ray cluster can be reached at 127.0.0.1:1"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(planroute, options, said):
    for command in (["compare", "grid", "--seeds", "7"], ["experiment", "E1"]):
        if "127.0.0.1:1" in options and "ray" in options and command[0] == "experiment":
            continue
        code, _, err = planroute(*command, *options)
        assert code == 2
        assert said in err
        assert err.count("\n") == 1


def test_without_ray_the_extra_is_named(planroute, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = planroute("compare", "all", "--model", "scripted/minimal", "--runner", "ray")
    assert code == 2
    assert "pip install 'planroute[ray]'" in err
