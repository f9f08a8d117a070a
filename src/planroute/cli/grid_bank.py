"""``planroute grid bank``: a million calibrated episodes into one Parquet file."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import (
    Factors,
    HandBack,
    Json,
    ScenarioFile,
    parse_factors,
    parse_modes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from planroute.domains.grid import Scenario

LAST_SEED = 2**63 - 1
MOST_EPISODES = 1_000_000_000


def attach(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("bank")(bank)


def bank(
    out: Annotated[Path, typer.Option(help="Parquet file to write, one line per episode.")],
    episodes: Annotated[
        int | None, typer.Option(help="How many episodes, all modes together; the seeds count from 0.", min=1)
    ] = None,
    seeds: Annotated[str | None, typer.Option(help="Seeds instead, such as 7,13 or 0-249999.")] = None,
    modes: Annotated[str, typer.Option(help="all, or names of modes.")] = "all",
    scenario: ScenarioFile = None,
    factors: Factors = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="One factor in several values, as NAME=V1,V2. Several times: every combination."),
    ] = None,
    hand_back: HandBack = False,
    deadline: Annotated[float | None, typer.Option(help="Decision deadline in s, to count late events.", min=0)] = None,
    chunk: Annotated[int, typer.Option(help="Seeds worked off and kept at once; memory follows it.", min=1)] = 2048,
    workers: Annotated[int | None, typer.Option(help="Processes. Default: one for each core.", min=1)] = None,
    json: Json = False,
) -> None:
    """Run a bank of calibrated grid episodes with the seeds as an axis: the lines of the one-by-one path, much faster.

    The same command goes on where an interrupted one stopped; under its final name the file is always whole.
    """
    import os
    import time

    from planroute.batched import Episodes, count, fill
    from planroute.batched.bank import parts_of
    from planroute.cli.setting import progress
    from planroute.cli.show import print_json
    from planroute.errors import InputError, PlanrouteError
    from planroute.experiments.setting import source_digest

    wanted = Episodes(scenarios_from(scenario, factors, vary, hand_back), tuple(parse_modes(modes)), deadline)
    if (episodes is None) == (seeds is None):
        raise InputError("give either --episodes or --seeds")
    ranges = seed_ranges(seeds) if seeds is not None else (range(seeds_of(episodes or 0, wanted.per_seed)),)
    total = count(ranges) * wanted.per_seed
    if total > MOST_EPISODES:
        raise InputError(f"{total} episodes are more than {MOST_EPISODES}", hint="give fewer seeds")
    started = time.perf_counter()
    with progress(-(-count(ranges) // chunk), "chunks", quiet=json) as advance:
        try:
            filled = fill(
                wanted,
                ranges,
                out,
                chunk=chunk,
                workers=workers or os.cpu_count() or 1,
                source=source_digest(),
                finished=advance,
            )
        except KeyboardInterrupt:
            raise PlanrouteError(
                "interrupted", hint=f"finished chunks are kept in {parts_of(out)}; the same command goes on from there"
            ) from None
    seconds = time.perf_counter() - started
    found: dict[str, Any] = {
        "out": str(out),
        "episodes": filled.episodes,
        "resumed_episodes": filled.resumed * wanted.per_seed,
        "seconds": seconds,
        "episodes_per_second": (filled.episodes - filled.resumed * wanted.per_seed) / seconds,
        "mean_objective": filled.means,
    }
    if json:
        print_json(found)
        return
    for task, means in filled.means.items():
        told = "  ".join(f"{mode} {'-' if mean is None else f'{mean:.0f}'}" for mode, mean in means.items())
        typer.echo(f"{task}: mean J  {told}")
    resumed = f", {found['resumed_episodes']} of them from an earlier run" if filled.resumed else ""
    speed = f"{seconds:.1f} s, {found['episodes_per_second']:.0f} a second"
    typer.echo(f"{filled.episodes} episodes{resumed} ({speed}): {out}")


def seeds_of(episodes: int, per_seed: int) -> int:
    """Return how many seeds make up ``episodes``. Raises ``InputError`` where they do not come out even."""
    from planroute.errors import InputError

    if episodes % per_seed:
        near = max(episodes // per_seed, 1) * per_seed
        raise InputError(
            f"--episodes {episodes}: every seed has {per_seed} episodes, one for each mode and scenario",
            hint=f"give a multiple of {per_seed}, such as {near}",
        )
    return episodes // per_seed


def seed_ranges(text: str) -> tuple[range, ...]:
    """Read ``7,13`` or ranges such as ``0-249999``, however long, in the order given; none may hold a seed twice."""
    from planroute.errors import FaultyInput

    found, faults = [], []
    for part in (piece.strip() for piece in text.split(",")):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (not dash or last.isdecimal()) and len(part) <= 40):
            faults.append(f"{part[:40]!r} is neither a seed nor a range such as 1000-1199")
        elif int(last or first) > LAST_SEED:
            faults.append(f"{part!r} is beyond {LAST_SEED}")
        elif int(last or first) < int(first):
            faults.append(f"{part!r} ends before it begins")
        else:
            found.append(range(int(first), int(last or first) + 1))
    ordered = sorted(found, key=lambda part: part.start)
    for one, other in pairwise(ordered):
        if other.start < one.stop:
            faults.append(f"{other.start} is given twice")
    if faults:
        raise FaultyInput("--seeds", faults)
    return tuple(found)


def scenarios_from(
    path: Path | None, factors: list[str] | None, vary: list[str] | None, hand_back: bool
) -> "Mapping[str, Scenario]":
    """Return the scenarios of ``--vary`` by their values, over what ``--scenario`` and ``--set`` say; else that one."""
    from itertools import product

    from planroute.cli.setting import scenario_from
    from planroute.domains.grid.scenario import repaired
    from planroute.errors import FaultyInput, InputError

    names: list[str] = []
    values: list[Sequence[str]] = []
    for pair in vary or []:
        name, _, listed = pair.partition("=")
        some = [value.strip() for value in listed.split(",")]
        if not name.strip() or not all(some):
            raise InputError(f"--vary {pair!r}: write NAME=V1,V2")
        if len(set(some)) < len(some):
            raise FaultyInput("--vary", [f"{name.strip()}: a value is given twice"])
        names.append(name.strip())
        values.append(some)
    known = [*names, *parse_factors(factors)]
    twice = sorted({name for name in names if known.count(name) > 1})
    if twice:
        raise FaultyInput("--vary", [f"{name} is given twice" for name in twice])
    found = {}
    for combination in product(*values):
        pairs = [f"{name}={value}" for name, value in zip(names, combination, strict=True)]
        one = scenario_from(path, [*(factors or []), *pairs])
        found[" ".join(pairs) or (path.stem if path else "nominal")] = repaired(one) if hand_back else one
    return found
