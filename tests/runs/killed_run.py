"""The run that tests kill: ``python killed_run.py OUT CACHE URL SEEDS [ray]``. Says when it begins."""

import asyncio
import sys
from pathlib import Path

from planroute.calls import Sampling
from planroute.declarers import Natural
from planroute.experiments.compare import comparison_cells, summarise
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.modes import MODES
from planroute.runs.execute import execute_run
from planroute.runs.folder import RESULT, RunFolder, canonical
from planroute.runs.manner import Manner
from planroute.runs.on_ray import OnRay
from planroute.runs.runner import Local, Runner
from tests.domains.tiny import Line, TinyDomain

LINES = {"short": Line(places=(1, 3)), "long": Line(places=(2, 5, 1, 9))}


def main(out: Path, cache: Path, url: str, seeds: int, runner: Runner) -> None:
    """Run cells with forced modes and with modes that the model declares."""
    model = CachedModel(LiveModel(url, "tiny", backoff_s=0.01), CallCache(cache))
    domain = TinyDomain(LINES)
    cells = comparison_cells(
        domain.tasks(), range(seeds), MODES, model=model, routed={"ROUTED": Natural(Sampling(max_tokens=50))}
    )

    async def run() -> None:
        try:
            executed = await execute_run(domain, cells, config={"command": "killed"}, out=out, manner=Manner(4, runner))
        finally:
            await model.aclose()
        RunFolder(out).write(RESULT, canonical(summarise(executed.rows, "steps")))

    print("begun", flush=True)
    asyncio.run(run())


if __name__ == "__main__":
    chosen: Runner = OnRay() if sys.argv[5:] == ["ray"] else Local()
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), chosen)
