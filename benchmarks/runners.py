"""The same cells by the local runner and on Ray: equal bytes, and what Ray costs for each cell and each model call.

Two banks: the 576 forced episodes of experiment E7, which ask no model, and episodes of Mind2Web by a scripted agent
that slips, which ask one at every step. Each is run here one after the other, then by one Ray worker one after the
other, so that the difference is what Ray and the desk add; then by as many workers as there are processors. Nothing is
taken from an earlier run. Ray's start is told apart.

Run it with ``python benchmarks/runners.py [--workers N] [--json]`` on a machine with the ``ray`` extra.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planroute.declarers import Natural
from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.domain import Mind2WebDomain
from planroute.evaluation.judges import RubricJudge
from planroute.experiments.compare import comparison_cells
from planroute.experiments.definition import load_experiment
from planroute.experiments.scenes import scene
from planroute.experiments.setting import Setting
from planroute.models.cache import CachedModel, CallCache
from planroute.models.scripted import scripted
from planroute.modes import MODES, ROUTED, Baseline
from planroute.protocols import Domain
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from planroute.runs.folder import CELLS
from planroute.runs.manner import Manner
from planroute.runs.on_ray import OnRay
from planroute.runs.ray_cluster import connected, disconnect
from planroute.runs.runner import Local, Runner

SEEDS = 2


def e7(folder: Path) -> tuple[Domain, Sequence[Cell], CallCache | None]:
    staged = scene(load_experiment("E7"), Setting())
    return staged.domain, staged.cells, None


def mind2web(folder: Path) -> tuple[Domain, Sequence[Cell], CallCache | None]:
    domain = Mind2WebDomain(tuple(find_tasks()), RubricJudge("trajectory"))
    cache = CallCache(folder / "calls.sqlite")
    model = CachedModel(scripted("slip=0.1"), cache)
    baselines = {Baseline.FLAT_REACT: Natural(), Baseline.PLAN_REACT: Natural()}
    routed = {ROUTED: Natural()}
    cells = comparison_cells(domain.tasks(), range(SEEDS), MODES, model=model, routed=routed, baselines=baselines)
    return domain, cells, cache


BANKS = {"E7": e7, "mind2web": mind2web}


def run(bank: str, runner: Runner, concurrency: int, folder: Path) -> dict[str, Any]:
    """Run all cells of ``bank`` into an empty folder; ``bytes`` maps a cell's file to what is in it."""
    folder.mkdir()
    domain, cells, cache = BANKS[bank](folder)
    out = folder / "run"
    manner = Manner(concurrency=concurrency, runner=runner)
    ended: list[float] = []
    begun = time.perf_counter()
    asyncio.run(
        execute_run(
            domain,
            cells,
            config={"benchmark": bank},
            out=out,
            manner=manner,
            finished=lambda: ended.append(time.perf_counter()),
        )
    )
    seconds = time.perf_counter() - begun
    each = (ended[-1] - ended[0]) / (len(ended) - 1)
    calls = len(cache) if cache is not None else 0
    if cache is not None:
        cache.close()
    kept = {path.name: path.read_bytes() for path in (out / CELLS).iterdir()}
    first = ended[0] - begun
    return {"cells": len(cells), "calls": calls, "seconds": seconds, "first_s": first, "each_s": each, "bytes": kept}


def compared(bank: str, workers: int, folder: Path) -> dict[str, Any]:
    here = run(bank, Local(), 1, folder / f"{bank}-local")
    one = run(bank, OnRay(workers=1), 1, folder / f"{bank}-one")
    all_ = run(bank, OnRay(workers=workers), 2 * workers, folder / f"{bank}-all")
    more = 1000 * (one["each_s"] - here["each_s"])
    return {
        "cells": here["cells"],
        "calls": here["calls"],
        "seconds_local": here["seconds"],
        "seconds_one_worker": one["seconds"],
        f"seconds_{workers}_workers": all_["seconds"],
        "equal_bytes": here["bytes"] == one["bytes"] == all_["bytes"],
        "bytes": sum(map(len, here["bytes"].values())),
        "seconds_to_the_first_cell": {"local": here["first_s"], "one worker": one["first_s"]},
        "local_ms_per_cell": 1000 * here["each_s"],
        "overhead_ms_per_cell": more,
        "overhead_ms_per_call": more * here["cells"] / here["calls"] if here["calls"] else None,
        "times_as_fast_as_local": here["seconds"] / all_["seconds"],
    }


def show(found: dict[str, Any]) -> None:
    print(f"Ray's own start: {found['start_s']:.1f} s")
    for bank, figures in found["banks"].items():
        calls = f", {figures['calls']} model calls" if figures["calls"] else ""
        print(f"{bank}: {figures['cells']} cells{calls}, {figures['bytes'] / 1e6:.1f} MB of cells")
        same = "equal bytes" if figures["equal_bytes"] else "THE BYTES DIFFER"
        print(f"  local and Ray: {same}")
        here, one = figures["seconds_local"], figures["seconds_one_worker"]
        per_call = figures["overhead_ms_per_call"]
        more = f", {per_call:+.2f} ms a call" if per_call is not None else ""
        print(f"  local, one at a time {here:7.2f} s, {figures['local_ms_per_cell']:.2f} ms a cell")
        print(
            f"  Ray, one worker      {one:7.2f} s, the first cell after "
            f"{figures['seconds_to_the_first_cell']['one worker']:.2f} s, "
            f"from there {figures['overhead_ms_per_cell']:+.2f} ms a cell{more}"
        )
        seconds, times = figures[f"seconds_{found['workers']}_workers"], figures["times_as_fast_as_local"]
        print(f"  Ray, {found['workers']} workers       {seconds:7.2f} s, {times:.2f} times as fast as local")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="Ray workers (default: processors)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    if arguments.workers < 1:
        parser.error("--workers must be at least 1")
    begun = time.perf_counter()
    connected(None, arguments.workers)
    start = time.perf_counter() - begun
    try:
        with tempfile.TemporaryDirectory() as name:
            banks = {bank: compared(bank, arguments.workers, Path(name)) for bank in BANKS}
    finally:
        disconnect()
    found = {"start_s": start, "workers": arguments.workers, "banks": banks}
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    if not all(figures["equal_bytes"] for figures in banks.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
