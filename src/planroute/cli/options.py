"""Options that several commands share, and how their text becomes values."""

from pathlib import Path
from typing import Annotated

import typer

from planroute.errors import FaultyInput, InputError
from planroute.modes import MODES, ROUTED, SIX, Baseline, Mode

Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
ModelSpec = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="Language model: embedded, gguf:PATH, openai:NAME, http://HOST/v1#NAME, scripted/NAME, recorded:PATH.",
    ),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="Address for openai:NAME.")]
CachePath = Annotated[
    Path | None,
    typer.Option("--cache", help="File of the call cache. Default: calls.sqlite in the user's cache folder."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask the model every time.")]
ScenarioFile = Annotated[
    Path | None, typer.Option("--scenario", help="JSON file of scenario factors; may name a feeder file.")
]
Factors = Annotated[
    list[str] | None, typer.Option("--set", help="One scenario factor, as NAME=VALUE. May be given several times.")
]
Temperature = Annotated[float, typer.Option(help="Sampling temperature of model calls.", min=0, max=2)]
MaxTokens = Annotated[int, typer.Option(help="Most tokens of one answer, thinking included.", min=1)]

RunnerName = Annotated[
    str, typer.Option("--runner", help="Where episodes run: local, or ray (needs the extra ray).", metavar="NAME")
]
Address = Annotated[
    str | None,
    typer.Option("--address", help="Ray cluster to join: HOST:PORT or auto. Default: a Ray of its own, on 127.0.0.1."),
]

BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", help="Most tokens of billed calls, over all starts of the run.", min=1)
]
BudgetUsd = Annotated[
    float | None, typer.Option("--budget-usd", help="Most USD over all starts of the run; needs known prices.", min=0)
]
BudgetSeconds = Annotated[
    float | None, typer.Option("--budget-seconds", help="Most seconds over all starts of the run.", min=0)
]
Price = Annotated[
    str | None,
    typer.Option("--price", help="What the model costs, in USD per million tokens.", metavar="PROMPT,ANSWER"),
]

EpisodeSeconds = Annotated[
    float | None,
    typer.Option("--episode-seconds", help="End an episode that takes longer; it counts for nothing and is run again."),
]

FixedMode = Annotated[str | None, typer.Option(help="The mode that --declarer fixed declares.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse what breaks a static rule; do not repair.")]
Draw = Annotated[int, typer.Option(help="Repeated declarations of one state: which one.", min=0)]
GateDeadline = Annotated[float | None, typer.Option(help="Decision deadline in s.", min=0)]
Reply = Annotated[
    Path | None,
    typer.Option(help="Read a model's answer from this file (- is standard input) instead of asking one."),
]
HandBack = Annotated[bool, typer.Option("--hand-back", help="Repaired decomposition: unmet quota is handed back.")]
RunOut = Annotated[Path | None, typer.Option(help="Folder for rows, traces and report; resumes what is there.")]
Concurrency = Annotated[int, typer.Option(help="Most episodes at once.", min=1)]
QuestionsAtOnce = Annotated[int, typer.Option(help="Most questions at once.", min=1)]
JudgeModel = Annotated[str | None, typer.Option(help="Model that judges the candidates. Default: the backbone itself.")]
Seeds = Annotated[str, typer.Option(help="Seeds, such as 7,13,42.")]
Thinking = Annotated[bool | None, typer.Option("--thinking/--no-thinking", help="Where the model can.")]
FileFormat = Annotated[
    str | None, typer.Option("--format", help="Read the files as this format instead of detecting it.")
]
MostFiles = Annotated[int | None, typer.Option(help="Stop after this many trajectories.", min=1)]

MOST_SEEDS = 100_000


def parse_seeds(text: str, option: str = "--seeds") -> list[int]:
    """Read ``7,13,42`` or ranges such as ``1000-1199``; the order is kept, repeats are an error."""
    seeds: list[int] = []
    faults = []
    for part in (piece.strip() for piece in text.split(",")):
        first, dash, last = part.partition("-")
        if not (first.isdecimal() and (not dash or last.isdecimal()) and len(part) <= 30):
            faults.append(f"{part!r} is neither a seed nor a range such as 1000-1199")
        elif dash and int(last) < int(first):
            faults.append(f"{part!r} ends before it begins")
        elif dash and int(last) - int(first) >= MOST_SEEDS:
            faults.append(f"{part!r} has more than {MOST_SEEDS} seeds")
        else:
            seeds += range(int(first), int(last or first) + 1)
        if len(seeds) > MOST_SEEDS:
            raise InputError(f"{option}: more than {MOST_SEEDS} seeds")
    repeated = sorted({seed for seed in seeds if seeds.count(seed) > 1}) if len(seeds) < 1000 else []
    faults += [f"{seed} is given twice" for seed in repeated]
    if len(seeds) != len(set(seeds)) and not repeated:
        faults.append("ranges overlap")
    if faults:
        raise FaultyInput(option, faults)
    return seeds


def parse_modes(text: str) -> list[Mode]:
    """Read ``all`` or names of modes, in any order and case; the answer is in the order of every table."""
    if text.strip().lower() == "all":
        return list(MODES)
    names = [name.strip().upper() for name in text.split(",")]
    unknown = [name for name in names if name not in set(MODES)]
    if unknown:
        known = ", ".join(MODES)
        raise FaultyInput("--modes", [f"{name!r} is not a mode" for name in unknown], hint=f"choose from {known}")
    return [mode for mode in MODES if mode in names]


def parse_conditions(text: str) -> list[str]:
    """Read ``all`` or names of conditions; the answer is in the order of every table.

    ``all`` are the two baselines, the modes and ROUTED. REPEATED_REACT, the control for search, is asked for by name.
    """
    known = [*map(str, Baseline), *map(str, MODES), ROUTED]
    if text.strip().lower() == "all":
        return [*map(str, SIX), ROUTED]
    names = [name.strip().upper() for name in text.split(",")]
    unknown = [name for name in names if name not in known]
    if unknown:
        faults = [f"{name!r} is not a condition" for name in unknown]
        raise FaultyInput("--conditions", faults, hint=f"choose from {', '.join(known)}")
    return [name for name in known if name in names]


def parse_factors(pairs: list[str] | None) -> dict[str, object]:
    """Read ``NAME=VALUE`` pairs; values that are JSON are read as JSON, others stay text."""
    import json

    values: dict[str, object] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set {pair!r}: write NAME=VALUE")
        try:
            values[name.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            values[name.strip()] = value
    return values
