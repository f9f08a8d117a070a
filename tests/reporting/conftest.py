"""Runs made once, then copied and changed by each test."""

import json
import shutil
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from reporting.planted import CANARY, Talking, execute

from planroute.declarers import Hybrid, Natural
from planroute.domains.grid.feeder import Feeder
from planroute.domains.grid.scenario import make_scenario
from planroute.episode import EpisodeRow
from planroute.experiments.compare import summarise
from planroute.modes import MODES
from planroute.runs.folder import RESULT, RunFolder, canonical


@pytest.fixture(scope="session")
def calibrated(tmp_path_factory):
    """Four forced modes and ROUTED on two seeds, no model."""
    out = tmp_path_factory.mktemp("calibrated")
    return execute(out, {"nominal": make_scenario()}, [7, 13], declarer=Hybrid(prior_only=True))


@pytest.fixture(scope="session")
def spoken(tmp_path_factory):
    """One seed, a model that declares and speaks, a deadline that replaces and makes late, the canary in every text."""
    out = tmp_path_factory.mktemp("spoken")
    names = tuple(CANARY if place == 3 else f"node {place}" for place in range(6))
    feeder = Feeder([-1, 0, 1, -1, 3, 3], [0.03] * 6, [0.02] * 6, name=CANARY, node_names=names)
    scenario = make_scenario({"communication": "model", "import_cap_mw": 0.165}, feeder=feeder)
    modes = (MODES[0], MODES[2])
    return execute(out, {CANARY[:60]: scenario}, [7], modes, Natural(), Talking(), deadline_s=3.0)


@pytest.fixture
def run(calibrated, tmp_path):
    """A copy of the calibrated run that a test may change."""
    return Path(shutil.copytree(calibrated, tmp_path / "run"))


@pytest.fixture
def change():
    """Change a JSON file of a run: ``change(path, function)``."""

    def apply(path, function):
        data = json.loads(path.read_text(encoding="utf-8"))
        function(data)
        path.write_text(json.dumps(data), encoding="utf-8")

    return apply


@pytest.fixture
def summarised():
    """Write ``result.json`` anew from the cells of a run, as the run itself does."""
    adapter = TypeAdapter(EpisodeRow)

    def apply(folder):
        rows = [adapter.validate_python(cell["row"]) for cell in RunFolder(folder).cells()]
        RunFolder(folder).write(RESULT, canonical(summarise(rows, "objective")))
        return folder

    return apply
