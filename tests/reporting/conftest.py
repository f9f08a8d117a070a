"""Runs to report on: made once by the package itself, then copied and changed by each test."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from planroute.calls import ModelReply
from planroute.declarers import Hybrid, Natural
from planroute.domains.grid import GridDomain
from planroute.domains.grid.feeder import Feeder
from planroute.domains.grid.scenario import make_scenario
from planroute.episode import EpisodeRow
from planroute.experiments.compare import comparison_cells, summarise
from planroute.ledger import Usage
from planroute.modes import MODES, ROUTED
from planroute.runs.execute import execute_run
from planroute.runs.folder import RESULT, RunFolder, canonical

CANARY = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'\"&\u2028"


class Talking:
    """Declares, writes messages and judges them; every text of its own carries the canary."""

    endpoint = "embedded:tiny"

    async def complete(self, request):
        if request.purpose == "operator message":
            text = f"Please reduce your cooling. {CANARY}"
        elif request.purpose == "prosumer evaluation":
            text = (
                '{"shift": 0.9, "persuaded": true, "reason": "why not"}'
                if len(request.messages[-1].content) % 3
                else "no"
            )
        else:
            declared = {"mode": "SEARCH", "depth": 1, "branching": 4, "confidence": 0.7, "rationale": CANARY[:190]}
            text = json.dumps(declared | {"target": "HIGH_LOAD", "theme": "RELIABILITY", "intensity": 0.7})
        return ModelReply(text, Usage(100, 20), latency_s=0.1)

    async def aclose(self):
        """Nothing is held."""


def execute(out, scenarios, seeds, forced=MODES, declarer=None, model=None, deadline_s=None):
    domain = GridDomain(scenarios)
    routed = {} if declarer is None else {ROUTED: declarer}
    cells = comparison_cells(domain.tasks(), seeds, forced, model=model, deadline_s=deadline_s, routed=routed)
    config = {"command": "compare grid", "seeds": seeds, "model": model and model.endpoint, "deadline_s": deadline_s}
    executed = asyncio.run(execute_run(domain, cells, config=config, out=out))
    RunFolder(out).write(RESULT, canonical(summarise(executed.rows, "objective")))
    return out


@pytest.fixture(scope="session")
def canary():
    """A text that must never become markup."""
    return CANARY


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
