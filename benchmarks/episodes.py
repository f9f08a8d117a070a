"""576 calibrated grid episodes, both referees and all metrics, on one core; and how the time splits over the modes.

Run it with ``python benchmarks/episodes.py``; ``--json`` prints the figures for programs.
"""

import argparse
import asyncio
import itertools
import json
import time
from typing import Any

from planroute.domains.grid import GridDomain, make_scenario
from planroute.experiments.compare import comparison_cells
from planroute.modes import MODES, Mode
from planroute.runs.cells import run_cells

SEEDS = (7, 13, 42)
STRESS = ((1.1, 0.022), (1.3, 0.022), (1.1, 0.018), (1.3, 0.018))
NOISE = (0.05, 0.15, 0.3)
RESISTANCE = (0.2, 0.5)
REPEATS = 2
"""Deadlines do not change a forced episode, so each of the 288 distinct ones is run twice: 576."""


def bank() -> GridDomain:
    scenarios = {}
    for (cap, r), noise, resistance, repeat in itertools.product(STRESS, NOISE, RESISTANCE, range(REPEATS)):
        factors = {"import_cap_mw": cap, "r_pu": r, "forecast_noise": noise, "mean_resistance": resistance}
        scenarios[f"cap{cap} r{r} noise{noise} resistance{resistance} {repeat}"] = make_scenario(factors)
    return GridDomain(scenarios)


def timed(domain: GridDomain, modes: tuple[Mode, ...]) -> tuple[int, float]:
    cells = comparison_cells(domain.tasks(), SEEDS, modes)
    started = time.perf_counter()
    asyncio.run(run_cells(domain, cells, concurrency=1))
    return len(cells), time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    domain = bank()
    _, first = timed(domain, MODES)
    episodes, seconds = timed(domain, MODES)
    result: dict[str, Any] = {
        "episodes": episodes,
        "seconds": seconds,
        "seconds_first_run": first,
        "ms_per_episode": {},
    }
    for mode in MODES:
        count, spent = timed(domain, (mode,))
        result["ms_per_episode"][mode] = 1000 * spent / count
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"{episodes} episodes, both referees, all metrics: {seconds:.2f} s ({1000 * seconds / episodes:.2f} ms each)")
    print(f"the same in a fresh process, kernels loading: {first:.2f} s")
    slowest = max(result["ms_per_episode"].values())
    for mode, ms in result["ms_per_episode"].items():
        print(f"  {mode:13} {ms:6.2f} ms, {ms / slowest:.2f} of the slowest")


if __name__ == "__main__":
    main()
