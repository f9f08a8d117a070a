"""Make the tables of ``docs/reproduction.md`` from a folder of experiments: ``python docs/reproduction.py RUN``.

Every table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; the text around them is written by hand.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).with_name("reproduction.md")
BLOCK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
EXPERIMENTS = ("E1", "E2", "E3", "E4", "E5", "E6", "E7")
VERDICTS = ("reproduced", "in-sample", "differs", "setting", "context", "not_run")
MODES = ("PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH")
Results = Mapping[str, Mapping[str, Any]]


def read(folder: Path) -> Results:
    """The results of E1 to E7 in ``folder``."""
    return {name: json.loads((folder / name.lower() / "result.json").read_text()) for name in EXPERIMENTS}


def rewritten(text: str, results: Results) -> str:
    """``text`` with every table made anew. Raises ``KeyError`` for the name of a table that there is not."""

    def table(match: re.Match[str]) -> str:
        name = match[2]
        lines = numbers(results[name]["claims"]) if name in EXPERIMENTS else TABLES[name](results)
        return "\n".join([match[1].rstrip(), "", *lines, "", match[3]])

    return BLOCK.sub(table, text)


def numbers(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Every number that the paper prints beside ours."""
    lines = rule("number", "where", "paper", "ours", "fresh seeds: mean (range)", "verdict")
    for one in claims:
        if "values" in one:
            continue
        note = f" <br>*{one['note']}*" if one["note"] else ""
        cells = (
            printed(one["paper"], one["paper_interval"]),
            with_interval(one["ours"], one["interval"], decimals := _decimals(one["paper"])),
            ranged(one["fresh"], decimals),
            one["verdict"].replace("_", " "),
        )
        lines.append(row(one["what"] + note, one["where"], *cells))
    return lines


def directions(results: Results) -> list[str]:
    """Every direction on the experiment's own seeds and on fresh ones."""
    lines = rule("", "direction", "where", "own seeds", "fresh seeds", "studies that show it")
    for name, result in results.items():
        stated = [one for one in result["claims"] if "values" in one]
        again = {one["what"]: one for one in stated if one["where"].endswith("fresh seeds")}
        for one in stated:
            if one["where"].endswith("fresh seeds") or one["verdict"] == "not_run":
                continue
            own, other = told(one), again.get(one["what"])
            if one["where"] == "fresh triples":
                lines.append(row(name, one["what"].removeprefix("fresh: "), "V-F, ours", "", own, one["note"]))
            else:
                shown = other["note"].split(" studies")[0] if other else ""
                lines.append(row(name, one["what"], one["where"], own, told(other) if other else "", shown))
    return lines


def summary(results: Results) -> list[str]:
    """How many numbers have which verdict, and how many directions hold."""
    lines = rule("", "numbers", *(name.replace("_", " ") for name in VERDICTS), "directions hold", "on fresh seeds")
    totals: Counter[str] = Counter()
    for name, result in results.items():
        counts = Counter[str]()
        for one in result["claims"]:
            fresh = one["where"].endswith(("fresh seeds", "fresh triples"))
            kind = one["verdict"] if "values" not in one else f"{'fresh' if fresh else 'own'} {one['verdict']}"
            counts[kind] += 1
        totals += counts
        lines.append(_counted(name, counts))
    return [*lines, _counted("all", totals)]


def _counted(name: str, counts: Mapping[str, int]) -> str:
    held = [
        f"{counts[f'{kind} holds']} of {counts[f'{kind} holds'] + counts[f'{kind} fails']}" for kind in ("own", "fresh")
    ]
    return row(name, str(sum(counts[v] for v in VERDICTS)), *(str(counts[v] or "") for v in VERDICTS), *held)


def referees(results: Results) -> list[str]:
    """What changes when full AC power flow settles the day."""
    lines = rule("", "episodes", "rank correlation of J and J (AC)", "same order of conditions", "same oracle")
    for name, result in results.items():
        found = result["analyses"].get("referees")
        if found is None:
            continue
        same = found.get("same_oracle") if len(result["conditions"]) > 2 else None
        order = "" if len(found["order"]) < 2 else "yes" if found["same_order"] else "no"
        share = "" if same is None else f"{100 * same:.0f} % of scenarios"
        lines.append(row(name, str(result["episodes"]), short(found["rank_correlation"]["r"]), order, share))
    return lines


def fresh(results: Results) -> list[str]:
    """The selectors on fresh triples of seeds, under both referees."""
    found = results["E7"]["analyses"]["fresh"]["figures"]
    lines = rule("", "mean (range) over triples", "the same under AC")
    return lines + [row(name, ranged(found[name]), ranged(found.get(f"{name} (AC)"))) for name in found if shown(name)]


def shown(name: str) -> bool:
    """Whether a figure of a fresh triple stands in the document's table."""
    left_out = ("(AC)", "picks HIERARCHICAL", "fixed HIERARCHICAL", "fixed SEARCH", "interval below 0")
    return not any(part in name for part in left_out)


def coverage(results: Results) -> list[str]:
    """How often the bootstrap interval of one triple holds the mean of all triples."""
    found = results["E7"]["analyses"]["fresh"]["coverage"]
    lines = rule("value", "share of triples whose 95 % interval holds the mean over triples")
    return lines + [row(name, f"{100 * share:.0f} %") for name, share in found.items()]


def shrinkage(results: Results) -> list[str]:
    """Regret of both selectors over the ridge's penalty."""
    lines = rule("alpha", "one-stage ridge, regret", "it picks SEARCH", "constraint-aware, regret")
    found = results["E7"]["analyses"]["shrinkage"]
    for alpha in sorted(found, key=float, reverse=True):
        ridge, aware = found[alpha]["ridge"], found[alpha]["constraint_aware"]
        cells = (short(ridge["mean_regret"]), str(ridge["choices"]["SEARCH"]), short(aware["mean_regret"]))
        lines.append(row(alpha, *cells))
    return lines


TABLES: Mapping[str, Callable[[Results], list[str]]] = {
    "coverage": coverage,
    "directions": directions,
    "fresh": fresh,
    "referees": referees,
    "shrinkage": shrinkage,
    "summary": summary,
}


def rule(*heads: str) -> list[str]:
    """The first two lines of a table."""
    return [row(*heads), "|" + "---|" * len(heads)]


def row(*cells: str) -> str:
    """One line of a table."""
    return "| " + " | ".join(cells) + " |"


def told(direction: Mapping[str, Any]) -> str:
    """A direction's verdict with the values that it rests on."""
    values = ", ".join(short(one["value"]) for one in direction["values"])
    verdict = direction["verdict"]
    return f"{f'**{verdict}**' if verdict == 'fails' else verdict} ({values})"


def printed(value: float, interval: Sequence[float] | None) -> str:
    """A number of the paper with its interval, digit by digit."""
    text = _signed(f"{value:g}" if abs(value) < 10 else f"{value:.2f}".removesuffix(".00"))
    return text if interval is None else f"{text} [{printed(interval[0], None)}, {printed(interval[1], None)}]"


def with_interval(value: float | None, interval: Sequence[float] | None, decimals: int = 0) -> str:
    """A value and its 95 % interval."""
    if value is None or interval is None:
        return short(value, decimals)
    return f"{short(value, decimals)} [{short(interval[0], decimals)}, {short(interval[1], decimals)}]"


def ranged(spread: Mapping[str, float] | None, decimals: int = 0) -> str:
    """A mean over studies and the range that it comes from."""
    if not spread:
        return ""
    mean, low, high = (short(spread[name], decimals) for name in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})"


def short(value: float | None, decimals: int = 0) -> str:
    """A number with about three significant digits, and ``decimals`` where it is small."""
    if value is None:
        return "–"
    size = abs(value)
    digits = 0 if size >= 1000 or value == int(value) else 1 if size >= 100 else 2 if size >= 10 else 3
    if 0.1 <= size < 10 and digits:
        digits = max(digits, decimals)
    text = f"{value:.{digits}f}" if size >= 0.1 or value == 0 else f"{value:.4f}" if size >= 0.001 else f"{value:.1e}"
    return _signed(text)


def _decimals(value: float) -> int:
    return len(f"{value:g}".partition(".")[2]) if abs(value) < 10 else 0


def _signed(text: str) -> str:
    """With a true minus, and none before nothing."""
    return text.lstrip("-") if not text.strip("-0.") else text.replace("-", "−", 1) if text.startswith("-") else text


def main(arguments: Sequence[str]) -> None:
    """Rewrite the document from the folder that is named."""
    if len(arguments) != 1:
        sys.exit("usage: python docs/reproduction.py RUN   (made by: planroute experiment E1 … E7 --out RUN)")
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text(encoding="utf-8"), read(Path(arguments[0]))), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
