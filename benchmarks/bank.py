"""A bank of calibrated episodes against the one-by-one path and the power flow of other libraries, on this machine.

Run it with ``python benchmarks/bank.py [--episodes N] [--workers N] [--profile] [--json]``; ``--episodes 1000000`` is
the full figure. Times depend on the machine; the ratios are what to watch, those of processor time above all where the
machine has other work. pandapower and power-grid-model are measured
where the ``referees`` extra is installed: by the power flows alone that the bank's episodes need.
"""

import argparse
import asyncio
import cProfile
import json
import os
import pstats
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from planroute.batched import Episodes, fill, table
from planroute.batched.bank import CHUNK
from planroute.domains.grid import GridDomain, make_scenario
from planroute.experiments.compare import comparison_cells
from planroute.modes import MODES
from planroute.runs.cells import run_cells
from planroute.runs.table import row_frame

ALONE = 50
"""Seeds whose episodes are run one by one as well."""
STAGES = (
    ("draws of the seeds", "batched/draws.py", "draw"),
    ("days: people, forecast, need", "batched/batch.py", "of"),
    ("PREDEFINED", "batched/modes.py", "predefined"),
    ("SEQUENTIAL", "batched/modes.py", "sequential"),
    ("HIERARCHICAL", "batched/modes.py", "hierarchical"),
    ("SEARCH", "batched/modes.py", "search"),
    ("both referees and all metrics", "batched/figures.py", "figures"),
    ("table columns", "batched/table.py", "_columns"),
)
INSIDE = (
    ("LinDistFlow", "grid/power_flow.py", "lindistflow"),
    ("full AC power flow", "grid/power_flow.py", "ac_power_flow"),
    ("prosumers' answers", "batched/course.py", "execute"),
)


def episodes() -> Episodes:
    return Episodes({"nominal": make_scenario()}, MODES)


def processor_s() -> float:
    """Seconds of processor that this process and those it waited for have used."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def memory_mb() -> float:
    """Peak of this process and of the largest of its workers together with it, in MB."""
    own, child = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (own + child) / 1024


def filled(seeds: int, workers: int, chunk: int) -> dict[str, Any]:
    """Fill a bank in a fresh process, so that its peak of memory is its own."""
    call = [sys.executable, __file__, "--fill", str(seeds), "--workers", str(workers), "--chunk", str(chunk)]
    found: dict[str, Any] = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    return found


def fill_here(seeds: int, workers: int, chunk: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "bank.parquet"
        started = time.perf_counter()
        done = fill(episodes(), (range(seeds),), out, chunk=chunk, workers=workers)
        seconds = time.perf_counter() - started
        size = out.stat().st_size / 1e6
    return {
        "episodes": done.episodes,
        "seconds": seconds,
        "episodes_per_second": done.episodes / seconds,
        "processor_s": processor_s(),
        "peak_mb_main_and_one_worker": memory_mb(),
        "file_mb": size,
        "mean_objective": done.means["nominal"],
    }


def alone(first: int, seeds: int) -> tuple[float, Any]:
    """Processor seconds of the one-by-one path and its rows."""
    domain = GridDomain(episodes().scenarios)
    cells = comparison_cells(domain.tasks(), range(first, first + seeds), MODES)
    started = time.process_time()
    done = asyncio.run(run_cells(domain, cells, concurrency=1))
    return time.process_time() - started, row_frame([episode.row for episode in done])


def compared(profile: bool) -> dict[str, Any]:
    """Both paths on one core, in processor time: the same episodes, and whether every line is the same."""
    alone(10**6, 2)
    seconds, rows = alone(0, ALONE)
    table(episodes(), range(8))
    started = time.process_time()
    many = table(episodes(), range(CHUNK))
    batched = time.process_time() - started
    key = ["seed", "condition"]
    frame = many.slice(0, ALONE * len(MODES)).to_pandas().sort_values(key, ignore_index=True)
    rows = rows.sort_values(key, ignore_index=True)
    numbers = [name for name in rows if name.startswith(("metric_", "spent_", "planning_s"))]
    gap = np.nanmax(np.abs(frame[numbers].to_numpy(float) - rows[numbers].to_numpy(float)))
    one, other = 1000 * seconds / len(rows), 1000 * batched / len(many)
    return {
        "one_by_one_ms_per_episode": one,
        "batched_ms_per_episode": other,
        "ratio_on_one_core": one / other,
        "largest_gap_of_any_figure": float(gap),
        **({"profile": profiled()} if profile else {}),
    }


def profiled() -> dict[str, dict[str, float]]:
    """Shares of the time of one chunk: by stage, inside of stages, and by function alone."""
    profiler = cProfile.Profile()
    profiler.enable()
    table(episodes(), range(CHUNK))
    profiler.disable()
    entries = dict(pstats.Stats(profiler).stats.items())  # type: ignore[attr-defined]
    total = sum(values[2] for values in entries.values())

    def share(file: str, name: str) -> float:
        return (
            sum(v[3] for (path, _, function), v in entries.items() if path.endswith(file) and function == name) / total
        )

    functions = sorted(entries.items(), key=lambda item: -item[1][2])[:20]
    return {
        "stages": {what: share(file, name) for what, file, name in STAGES},
        "inside": {what: share(file, name) for what, file, name in INSIDE},
        "functions": {f"{Path(path).name}:{name}": v[2] / total for (path, _, name), v in functions},
    }


def power_flows(count: int) -> dict[str, Any]:
    """What the power flows of ``count`` episodes take: here, and by other libraries."""
    import power_flow

    feeder = power_flow.straight_laterals()
    cases = 24_000
    p, q = power_flow.loads(feeder, cases)
    hours = float(np.mean(table(episodes(), range(64))["metric_dispatch_hours"].to_numpy()))
    # Referees solve the hours of the campaign, and SEARCH four forecasts of them; a day alone is solved once per seed.
    linear = hours * (1 + 4 / len(MODES)) + 24 / len(MODES)
    micros = {
        "LinDistFlow batch": power_flow.fastest(lambda: power_flow.lindistflow(feeder, p, q), cases),
        "AC sweep batch": power_flow.fastest(lambda: power_flow.ac_power_flow(feeder, p, q), cases),
    }
    some = 2400
    if solve := power_flow.power_grid_model_batch(feeder, p[:some], q[:some]):
        micros["power-grid-model batch"] = power_flow.fastest(solve, some)
    if solve := power_flow.pandapower_single(feeder, p[0], q[0]):
        micros["pandapower runpp"] = power_flow.fastest(solve, calls=5)
    seconds = {"here, LinDistFlow": micros["LinDistFlow batch"] * linear * count / 1e6}
    seconds["here, full AC"] = micros["AC sweep batch"] * hours * count / 1e6
    others = [name for name in ("power-grid-model batch", "pandapower runpp") if name in micros]
    seconds |= {f"{name}, the full AC alone": micros[name] * hours * count / 1e6 for name in others}
    return {
        "solves_per_episode": {"LinDistFlow": linear, "full AC": hours},
        "us_per_solve": micros,
        "seconds_for_the_bank_on_one_core": seconds,
        "ratio_to_full_ac_here": {name: micros[name] / micros["AC sweep batch"] for name in others},
    }


def measure(count: int, workers: int, chunk: int, profile: bool) -> dict[str, Any]:
    seeds = max(count // len(MODES), 1)
    fewer = filled(max(seeds // 4, 1), workers, chunk)
    whole = filled(seeds, workers, chunk)
    core = compared(profile)
    flows = power_flows(whole["episodes"])
    others = {name: us for name, us in flows["us_per_solve"].items() if name in flows["ratio_to_full_ac_here"]}
    hours = flows["solves_per_episode"]["full AC"]
    spent = 1e6 * whole["processor_s"] / whole["episodes"]
    return {
        "workers": workers,
        "chunk_seeds": chunk,
        "bank": whole,
        "a_quarter_of_it": fewer,
        "one_core": core,
        "ratio_to_one_by_one": core["one_by_one_ms_per_episode"] * whole["episodes_per_second"] / 1000,
        "ratio_in_processor_time": 1000 * core["one_by_one_ms_per_episode"] / spent,
        "their_power_flow_over_our_whole_episode": {name: us * hours / spent for name, us in others.items()},
        "power_flow": flows,
    }


def show(found: dict[str, Any]) -> None:
    bank, fewer, core, flows = found["bank"], found["a_quarter_of_it"], found["one_core"], found["power_flow"]
    print(
        f"{bank['episodes']} episodes, both referees, all metrics, {found['workers']} workers: "
        f"{bank['seconds']:.1f} s ({bank['processor_s']:.1f} s of processor), "
        f"{bank['episodes_per_second']:.0f} a second, {bank['file_mb']:.0f} MB of table"
    )
    for some in (fewer, bank):
        print(f"  peak memory at {some['episodes']:>9} episodes: {some['peak_mb_main_and_one_worker']:.0f} MB")
    print(
        f"one by one: {core['one_by_one_ms_per_episode']:.2f} ms an episode on one core; batched: "
        f"{core['batched_ms_per_episode']:.3f} ms, {core['ratio_on_one_core']:.0f} times as fast; "
        f"largest gap of any figure {core['largest_gap_of_any_figure']:g}"
    )
    print(
        f"the bank with {found['workers']} workers is {found['ratio_to_one_by_one']:.0f} times as fast as one by one; "
        f"by processor time, starts and file included, {found['ratio_in_processor_time']:.0f} times"
    )
    print("power flow, microseconds a solve")
    for name, value in flows["us_per_solve"].items():
        print(f"  {name:34}{value:12.2f}")
    print("power flows of the bank, seconds on one core")
    for name, value in flows["seconds_for_the_bank_on_one_core"].items():
        print(f"  {name:50}{value:14.1f}")
    for name, value in flows["ratio_to_full_ac_here"].items():
        whole = found["their_power_flow_over_our_whole_episode"][name]
        print(f"  {name}: {value:,.0f} times our AC; its power flow alone {whole:,.1f} times our whole episode")
    for part, shares in core.get("profile", {}).items():
        print(f"share of the time, {part}")
        for name, share in shares.items():
            print(f"  {name:44}{share:7.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=20_000, help="episodes of the bank (default 20000)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    parser.add_argument("--chunk", type=int, default=CHUNK, help=f"seeds of a chunk (default {CHUNK})")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if min(arguments.episodes, arguments.workers, arguments.chunk) < 1:
        parser.error("--episodes, --workers and --chunk must be at least 1")
    if arguments.fill:
        print(json.dumps(fill_here(arguments.fill, arguments.workers, arguments.chunk)))
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # pandapower's own
        warnings.filterwarnings("ignore", category=FutureWarning)
        found = measure(arguments.episodes, arguments.workers, arguments.chunk, arguments.profile)
    if arguments.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)


if __name__ == "__main__":
    main()
