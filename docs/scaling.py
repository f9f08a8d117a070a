"""What the second paper's whole matrix takes: ``python docs/scaling.py`` prints the tables of ``docs/scaling.md``.

Figures of one episode are measured (``docs/scaling.json``, which ``docs/scaling_measure.py`` makes); seconds of a call,
calls at once, tokens of an answer and prices are assumptions, and options.
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

DATA: Final = Path(__file__).with_name("scaling.json")
DOCUMENT: Final = Path(__file__).with_name("scaling.md")
BLOCK: Final = re.compile(r"(<!-- scaling (.*?) -->)\n.*?<!-- end -->", re.DOTALL)
CONDITIONS: Final = ("FLAT_REACT", "PLAN_REACT", "PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH")
SEEDS: Final = 3
MODELS: Final = 3
TASKS: Final = {"alfworld": 134, "mind2web": 252, "webarena": 812, "swebench": 500}
"""Sizes of the public sets: ALFWorld's valid_unseen, Mind2Web's cross-task test, WebArena, SWE-bench Verified."""
CASES: Final = ("light", "long", "full")
MIND2WEB_MOST: Final = 13 / 10
"""Questions about a page of 50 candidates, five at a time: ten where none is chosen, thirteen where one always is."""
ALL_CALLS: Final = {
    "FLAT_REACT": 50,
    "PLAN_REACT": 1 + 50,
    "PREDEFINED": 1 + 50 + 12,
    "SEQUENTIAL": 1 + 50 * 3,
    "HIERARCHICAL": 4 + 4 * 12 + 50 * 2,
    "SEARCH": 4 * (1 + 50 + 12 + 1),
}
"""Calls where all 50 actions are spent: besides them a plan, and 12 words that a step is finished; after each action
such a word and a new plan; four rounds of twelve subgoals and such a word after each action; four alternatives, each
proposed and judged."""
UNSEEN: Final = {"webarena": 6_000 + 30 * 600, "swebench": 24 * 6_200 + 1_702}
"""Characters that a prompt may show and that small tasks do not fill: a page and 30 turns of 600; 24 turns of 6,200 and
the mean issue of SWE-bench Verified."""
CHARACTERS: Final = 4
"""Of a token, where no text is there to be counted."""
SUMMED: Final = ("calls", "prompt_tokens", "answer_tokens", "cpu_s", "disk_bytes")
Measured = Mapping[str, Mapping[str, Mapping[str, Mapping[str, float]]]]


@dataclass(frozen=True, slots=True)
class Assumed:
    """``answer_tokens`` of each call, thinking included; ``None`` is as measured. Prices in USD per million tokens.

    A price that is ``None`` is unknown.
    """

    seconds_per_call: float = 2.0
    concurrency: int = 64
    answer_tokens: float | None = None
    prompt_price: float | None = None
    completion_price: float | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """What a matrix takes. ``wall_hours`` are those of calls alone; ``cores`` have to be busy to keep up with them.

    ``disk_gb`` is for the cells and the call cache.
    """

    episodes: int
    calls: float
    prompt_tokens: float
    answer_tokens: float
    cpu_hours: float
    disk_gb: float
    wall_hours: float
    cores: float
    tokens_a_minute: float
    usd: float | None


def one(measured: Measured, domain: str, case: str, condition: str) -> dict[str, float]:
    """Calls, prompt tokens, answer tokens, ``cpu_s`` and ``disk_bytes`` of one episode.

    ``light`` and ``long`` are measured. ``full`` is ``long`` with all actions spent (``ALL_CALLS``), at the same
    mean of a call, and with every prompt as long as prompts may become (``UNSEEN``).
    """
    known = measured[domain]
    row = dict(known["light" if "long" not in known or case == "light" else "long"][condition])
    row["disk_bytes"] = row["cell_bytes"] + row["calls"] * row["cache_bytes_per_call"]
    if domain == "mind2web" and case != "light":
        for name in SUMMED:
            row[name] *= MIND2WEB_MOST
    elif case == "full":
        more = max(1.0, ALL_CALLS[condition] / row["calls"])
        for name in SUMMED:
            row[name] *= more
    if case == "full":
        unseen = row["calls"] * UNSEEN.get(domain, 0)
        row["prompt_tokens"] += unseen / CHARACTERS
        row["disk_bytes"] += unseen
    return row


def whole(measured: Measured, domains: Sequence[str], case: str, assumed: Assumed) -> Whole:
    """Multiply out tasks, conditions, seeds and models of ``domains``."""
    episodes, totals = 0, dict.fromkeys(SUMMED, 0.0)
    for domain in domains:
        runs = TASKS[domain] * SEEDS * MODELS
        for condition in CONDITIONS:
            row = one(measured, domain, case, condition)
            episodes += runs
            for name in totals:
                totals[name] += runs * row[name]
    calls, prompt, answer = totals["calls"], totals["prompt_tokens"], totals["answer_tokens"]
    if assumed.answer_tokens is not None:
        answer = calls * assumed.answer_tokens
    usd = None
    if assumed.prompt_price is not None and assumed.completion_price is not None:
        usd = (prompt * assumed.prompt_price + answer * assumed.completion_price) / 1e6
    cpu_hours = totals["cpu_s"] / 3600
    wall = calls * assumed.seconds_per_call / assumed.concurrency / 3600
    return Whole(
        episodes=episodes,
        calls=calls,
        prompt_tokens=prompt,
        answer_tokens=answer,
        cpu_hours=cpu_hours,
        disk_gb=totals["disk_bytes"] / 1e9,
        wall_hours=wall,
        cores=cpu_hours / wall,
        tokens_a_minute=(prompt + answer) / wall / 60,
        usd=usd,
    )


def episodes_table(measured: Measured) -> str:
    """One episode, by domain and condition, as Markdown."""
    lines = [
        "| | condition | calls | prompt tokens | answer tokens | processor s | calls, long | prompt tokens, long "
        "| processor s, long |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for domain in TASKS:
        for condition in CONDITIONS:
            light, long = (one(measured, domain, case, condition) for case in ("light", "long"))
            cells = [domain, f"`{condition}`", f"{light['calls']:,.1f}", f"{light['prompt_tokens']:,.0f}"]
            cells += [f"{light['answer_tokens']:,.0f}", f"{light['cpu_s']:,.1f}", f"{long['calls']:,.1f}"]
            cells += [f"{long['prompt_tokens']:,.0f}", f"{long['cpu_s']:,.1f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def plan(measured: Measured, assumed: Assumed) -> dict[str, dict[str, Whole]]:
    """The whole matrix by case, then by domain and ``all``."""
    return {
        case: {
            name: whole(measured, domains, case, assumed)
            for name, domains in {**{each: [each] for each in TASKS}, "all": list(TASKS)}.items()
        }
        for case in CASES
    }


def plan_table(measured: Measured, assumed: Assumed, *, sums_only: bool = False) -> str:
    """The whole matrix as Markdown; with ``sums_only`` without a row for each domain."""
    lines = [
        "| case | | episodes | calls, M | prompt tokens, M | answer tokens, M | processor hours | disk, GB "
        "| wall hours | cores busy | tokens a minute, M | USD |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case, rows in plan(measured, assumed).items():
        for name, row in rows.items():
            if sums_only and name != "all":
                continue
            cells = [case, name, f"{row.episodes:,}", f"{row.calls / 1e6:,.2f}", f"{row.prompt_tokens / 1e6:,.0f}"]
            cells += [
                f"{row.answer_tokens / 1e6:,.0f}",
                f"{row.cpu_hours:,.0f}",
                f"{row.disk_gb:,.0f}",
                f"{row.wall_hours:,.1f}",
            ]
            cells += [f"{row.cores:,.1f}", f"{row.tokens_a_minute / 1e6:,.2f}"]
            cells += ["unknown" if row.usd is None else f"{row.usd:,.0f}"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def rewritten(text: str, measured: Measured) -> str:
    """``text`` with every table between ``<!-- scaling NAME OPTIONS -->`` and ``<!-- end -->`` made anew."""

    def table(match: re.Match[str]) -> str:
        name, *options = match[2].split()
        if name == "episodes":
            made = episodes_table(measured)
        else:
            made = plan_table(measured, arguments(options).assumed, sums_only=name == "sums")
        return f"{match[1]}\n\n{made}\n\n<!-- end -->"

    return BLOCK.sub(table, text)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"Error: {message}", file=sys.stderr)
        raise SystemExit(2)


def _number(text: str) -> float:
    """A number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 0 or more")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if not value:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0")
    return value


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 1_000_000):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 to 1000000")
    return int(text)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The command line: what is assumed, and what to do with it."""

    assumed: Assumed
    json: bool
    write: bool


def arguments(given: Sequence[str] | None = None) -> Chosen:
    """Read the command line. Exits with 2 and one line where a value is impossible."""
    parser = _Parser(description="What the second paper's whole matrix takes.", allow_abbrev=False)
    parser.add_argument("--seconds-per-call", type=_positive, default=2.0, help="how long a call takes (2)")
    parser.add_argument("--concurrency", type=_count, default=64, help="episodes at once (64)")
    parser.add_argument("--answer-tokens", type=_number, help="of each call, thinking included; default: as measured")
    parser.add_argument("--prompt-price", type=_number, help="USD per million prompt tokens; default: unknown")
    parser.add_argument("--completion-price", type=_number, help="USD per million answer tokens; default: unknown")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--write", action="store_true", help="make the tables of docs/scaling.md anew")
    chosen = vars(parser.parse_args(given))
    as_json, write = bool(chosen.pop("json")), bool(chosen.pop("write"))
    return Chosen(Assumed(**chosen), as_json, write)


def told(measured: Measured, assumed: Assumed) -> dict[str, Any]:
    """Assumptions and results as JSON values; unknown money is ``None``."""
    rows = plan(measured, assumed)
    return {
        "assumed": asdict(assumed),
        "plan": {case: {name: asdict(row) for name, row in found.items()} for case, found in rows.items()},
    }


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables, or JSON, or write the document's."""
    chosen = arguments(given)
    measured = json.loads(DATA.read_text())
    if chosen.write:
        DOCUMENT.write_text(rewritten(DOCUMENT.read_text(), measured))
    elif chosen.json:
        print(json.dumps(told(measured, chosen.assumed), indent=1, sort_keys=True))
    else:
        print(f"{episodes_table(measured)}\n\n{plan_table(measured, chosen.assumed)}")


if __name__ == "__main__":
    main()
