"""Episodes of a text domain against an endpoint that fails now and then, for minutes: does anything grow?

New cells all the time, 64 episodes at once, through meter, call cache and live model. The endpoint runs on loopback in
a process of its own. Every second the memory, open descriptors, threads and asyncio tasks of this process are noted;
nothing grew where their medians over the last fifth of the time are not above those over the second fifth by more than
``ALLOWED``. Linux only: figures come from ``/proc``.

Run it with ``python benchmarks/soak.py``; ``--seconds`` bounds it, ``--json`` prints the figures for programs.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

from planroute.declarers import Natural
from planroute.domains.alfworld import find_games
from planroute.domains.alfworld.domain import AlfworldDomain
from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.domain import Mind2WebDomain
from planroute.domains.text.world import Limits
from planroute.episode import Episode
from planroute.evaluation.judges import RubricJudge
from planroute.experiments.compare import comparison_cells
from planroute.models.cache import CachedModel, CallCache
from planroute.models.live import LiveModel
from planroute.modes import MODES, Baseline
from planroute.protocols import Domain, Model
from planroute.runs.cells import Cell, drive_cells

CONCURRENCY: Final = 64
FAULTS: Final = {"failing": 0.02, "truncated": 0.01, "garbage": 0.01, "limited": 0.01}
"""Shares of requests, 5 % together; all of them are tried again."""
ALLOWED: Final[Mapping[str, Callable[[float], float]]] = {
    "rss_mb": lambda before: before + max(0.05 * before, 10),
    "descriptors": lambda before: before + 8,
    "threads": lambda before: before + 2,
    "tasks": lambda before: before + 8,
}
"""How much may be there in the end, by how much was there early on."""

DOMAINS: Final[Mapping[str, Callable[[], Domain]]] = {
    "mind2web": lambda: Mind2WebDomain(tuple(find_tasks()), RubricJudge("trajectory"), Limits(steps=12)),
    "alfworld": lambda: AlfworldDomain(tuple(find_games()), RubricJudge("trajectory"), Limits(steps=12)),
}


class NewCells(Sequence[Cell]):
    """Cells made as they are asked for, each with a seed of its own, as long as ``going`` says of the number made."""

    def __init__(self, domain: Domain, model: Model, going: Callable[[int], bool]) -> None:
        self.domain, self.model, self.going = domain, model, going
        self.round: list[Cell] = []

    def __len__(self) -> int:
        return sys.maxsize

    def __getitem__(self, number: Any) -> Any:
        if not self.going(number):
            raise IndexError(number)
        if not self.round:
            baselines = {Baseline.FLAT_REACT: Natural(), Baseline.PLAN_REACT: Natural()}
            self.round = comparison_cells(
                self.domain.tasks(),
                [number],
                MODES,
                model=self.model,
                routed={"ROUTED": Natural()},
                baselines=baselines,
            )
        return self.round.pop()


@dataclass(slots=True)
class Soaked:
    """What was run: episodes by how they stopped, calls that were answered and requests that were sent for them."""

    stops: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    attempts: int = 0

    def count(self, cell: Cell, episode: Episode) -> None:
        self.stops[episode.row.stop] += 1
        self.answered += sum(spent["billed_calls"] for spent in episode.billing.values())
        self.attempts += sum(spent.get("attempts", 0) for spent in episode.billing.values())


def usage() -> dict[str, float]:
    """What this process has in use now."""
    with Path("/proc/self/statm").open() as file:
        pages = int(file.read().split()[1])
    return {
        "rss_mb": pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        "descriptors": len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - no Path for every one of them
        "threads": len(os.listdir("/proc/self/task")),  # noqa: PTH208
        "tasks": len(asyncio.all_tasks()),
    }


@contextmanager
def endpoint(seconds: float, faults: Mapping[str, float] = FAULTS) -> Iterator[str]:
    """An endpoint with ``faults`` in a process of its own, for so long at most; yields its address."""
    shares = [word for name, share in faults.items() for word in ("--fault", f"{name}={share}")]
    command = [sys.executable, "-m", "planroute.testing", "--seconds", str(seconds), *shares]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.communicate()


async def soak(
    address: str,
    domain: Domain,
    cache: Path,
    going: Callable[[int], bool],
    *,
    concurrency: int = CONCURRENCY,
    samples: list[dict[str, float]] | None = None,
) -> Soaked:
    """Run new cells until ``going`` of their number is false; note what is in use in ``samples`` every second."""
    soaked = Soaked()
    model = CachedModel(LiveModel(address, "soaked", retries=8, backoff_s=0.01), CallCache(cache))

    async def sample(into: list[dict[str, float]]) -> None:
        while True:
            into.append(usage())
            await asyncio.sleep(1)

    sampling = None if samples is None else asyncio.create_task(sample(samples))
    try:
        cells = NewCells(domain, model, going)
        await drive_cells(domain, cells, concurrency=concurrency, finished=soaked.count)
    finally:
        if sampling is not None:
            sampling.cancel()
            await asyncio.wait({sampling})
        await model.aclose()
    return soaked


def verdict(samples: Sequence[Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """The medians of the second and of the last fifth, and whether the latter is as the former allows."""
    fifth = max(1, len(samples) // 5)
    found: dict[str, dict[str, Any]] = {}
    for name, allowed in ALLOWED.items():
        early, late = (median(each[name] for each in part) for part in (samples[fifth : 2 * fifth], samples[-fifth:]))
        found[name] = {"early": early, "late": late, "allowed": allowed(early), "grew": late > allowed(early)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--domain", choices=sorted(DOMAINS), default="mind2web")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not 10 <= given.seconds <= 3600:
        parser.error("--seconds must be from 10 to 3600: a verdict needs some samples in every fifth")
    samples: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder, endpoint(given.seconds + 120) as address:
        begun, cpu = time.monotonic(), time.process_time()
        soaked = asyncio.run(
            soak(
                address,
                DOMAINS[given.domain](),
                Path(folder) / "calls.sqlite",
                lambda number: time.monotonic() - begun < given.seconds,
                samples=samples,
            )
        )
        seconds, cpu = time.monotonic() - begun, time.process_time() - cpu
    growth = verdict([each for number, each in enumerate(samples) if number < given.seconds])
    result = {
        "domain": given.domain,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "episodes": sum(soaked.stops.values()),
        "stops": soaked.stops,
        "answered": soaked.answered,
        "attempts": soaked.attempts,
        "growth": growth,
        "grew": any(each["grew"] for each in growth.values()),
    }
    if given.json:
        print(json.dumps(result))
        return
    stops = ", ".join(f"{count} {stop}" for stop, count in soaked.stops.most_common())
    print(f"{given.domain}: {result['episodes']} episodes in {seconds:.0f} s ({stops})")
    print(f"{soaked.answered} answered calls, {soaked.attempts} requests, {cpu:.0f} s of processor time")
    for name, each in growth.items():
        word = "GREW" if each["grew"] else "did not grow"
        print(
            f"  {name:12} {each['early']:8.1f} early, {each['late']:8.1f} late (allowed {each['allowed']:.1f}): {word}"
        )
    print("verdict: " + ("something grew" if result["grew"] else "no growth"))


if __name__ == "__main__":
    main()
