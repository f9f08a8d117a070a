"""Logs that real evaluations wrote: in empty folders, without a network, against one cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

INSPECT = Path(sys.executable).parent / "inspect"
MODEL = "planroute/scripted/slip=0.1"
RUNS = {"forced": ("--solver", "planroute/forced"), "routed": ("-T", "seeds=7,13")}
"""What the command is given for each log."""

MORE = """
import sys
from inspect_ai import eval
from planroute.inspect_.solvers import flat_react, forced, routed
from planroute.models.live import LiveModel

def run(name, solver, model="planroute/scripted/slip=0.1", **options):
    logs = f"{sys.argv[1]}/{name}"
    eval("planroute/alfworld", solver=solver, model=model, limit=2, display="none", log_dir=logs, **options)

run("flat_react", flat_react())
run("search", forced("search", candidates=2), log_format="json")
run("tokens", routed(), token_limit=1000)
run("messages", routed(), message_limit=8)
LiveModel.__init__.__kwdefaults__["backoff_s"] = 0.01
run("down", flat_react(), "planroute/http://127.0.0.1:9/v1#none", model_args={"no_cache": True})
"""
"""More logs, written by one process: most of the time goes into starting."""


class Evaluations:
    """Runs evaluations in ``home`` and finds their logs."""

    def __init__(self, home: Path) -> None:
        self.home = home
        env = {name: value for name, value in os.environ.items() if not name.startswith(("INSPECT_", "PLANROUTE_"))}
        env.pop("ALFWORLD_DATA", None)
        self.env = env | {"PLANROUTE_CACHE": str(home / "cache"), "XDG_DATA_HOME": str(home / "data")}

    def start(self, name: str, *command: object) -> subprocess.Popen[str]:
        folder = self.home / f"in-{name}"
        folder.mkdir()
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=self.env | {"INSPECT_LOG_DIR": str(self.home / name)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self, name: str, process: subprocess.Popen[str]) -> None:
        said, _ = process.communicate(timeout=400)
        assert process.returncode == 0, f"{name}: {said}"
        assert list((self.home / f"in-{name}").iterdir()) == []

    def command(self, runs: dict[str, tuple[str, ...]]) -> None:
        """``inspect eval planroute/alfworld`` with the options of each run, all at once."""
        begun = {}
        for name, options in runs.items():
            model = () if "--model" in options else ("--model", MODEL)
            fixed = "eval", "planroute/alfworld", "--limit", "2", "--display", "none"
            begun[name] = self.start(name, INSPECT, *fixed, *model, *options)
        for name, process in begun.items():
            self.finish(name, process)

    def log(self, name: str) -> Path:
        (found,) = (self.home / name).iterdir()
        return found


@pytest.fixture(scope="session")
def evaluations(tmp_path_factory: pytest.TempPathFactory) -> Evaluations:
    pytest.importorskip("inspect_ai")
    pytest.importorskip("textworld")
    return Evaluations(tmp_path_factory.mktemp("inspect"))


@pytest.fixture(scope="session")
def cold(evaluations: Evaluations) -> Evaluations:
    evaluations.command(RUNS)
    return evaluations


@pytest.fixture(scope="session")
def again(cold: Evaluations) -> Evaluations:
    """Runs after the first ones, which filled the cache."""
    more = cold.start("more", sys.executable, "-c", MORE, cold.home)
    cold.command({"warm": RUNS["forced"]})
    cold.finish("more", more)
    return cold
