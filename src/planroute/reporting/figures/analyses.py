"""Drawings of an analysis: plans kept by length, value by task length, tokens, and what cost buys.

Each takes what ``planroute.analysis.analyse`` returned, and returns ``None`` where that does not hold what it draws.
"""

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from planroute.reporting.figures.style import COLOURS, MARKERS, MODES, OTHERS, error, seen, side_by_side
from planroute.reporting.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Found = Mapping[str, Any]
SPARE = "vPXp<>*h"
SHADES = (*OTHERS, "#9a3412", "#5b7f1e", "#c28f00", "#a3a9b0")
UNSOLVED = "unsolved"
JOINED = 3
"""Fewer plans than that are joined with no others by a line."""
WIDTH = 4.4
"""Inches: as wide as a telephone shows without shrinking letters."""
TICKS = tuple(digit * 10.0**power for power in range(-6, 13) for digit in (1, 2, 5))
"""Where a logarithmic axis may have ticks."""


def preservation_by_length(found: Found) -> "Figure | None":
    """Share of plans whose order was kept by plan length, overall and by declared mode (Figure 2)."""
    preservation = _part(found, "rq1", "preservation")
    table = {"all": preservation.get("by_length", {}), **preservation.get("by_mode_and_length", {})}
    lengths = [label for label, one in table["all"].items() if one.get("mean") is not None]
    if not lengths:
        return None
    lines = {name: [row.get(label) or {} for label in lengths] for name, row in table.items()}
    lines = {name: row for name, row in lines.items() if any(one.get("mean") is not None for one in row)}
    figure, (ax,) = side_by_side(1, width=WIDTH, height=3.1)
    _lines(ax, lines, 100, joined=JOINED)
    counts = [counted(table["all"][label]["episodes"], "plan") for label in lengths]
    ax.set_xticks(range(len(lengths)), [f"{label}\n{count}" for label, count in zip(lengths, counts, strict=True)])
    ax.set_xlim(-0.5, len(lengths) - 0.5)
    ax.set_ylim(-4, 104)
    ax.set_ylabel("order kept (%)")
    ax.set_xlabel("plan length (units)")
    _keys(figure, ax)
    return figure


def success_by_length(found: Found) -> "Figure | None":
    """The value of every condition by task length (Figure 3); a task that nobody solved has no length."""
    table = _part(found, "rq3", "by_length")
    lengths = [label for label, one in table.items() if one.get("conditions") and label != UNSOLVED]
    if not lengths:
        return None
    names = list(dict.fromkeys(name for label in lengths for name in table[label]["conditions"]))
    lines = {name: [table[label]["conditions"].get(name) or {} for label in lengths] for name in names}
    share = _share(found)
    figure, (ax,) = side_by_side(1, width=WIDTH, height=3.8)
    _lines(ax, lines, 100 if share else 1)
    ax.set_xticks(range(len(lengths)), [f"{label}\n{counted(table[label]['tasks'], 'task')}" for label in lengths])
    ax.set_xlim(-0.5, len(lengths) - 0.5)
    ax.set_xlabel("task length (interactions of courses that solved it)")
    _value_axis(ax, found)
    if share:
        ax.set_ylim(-4, 104)
    _keys(figure, ax)
    return figure


def tokens(found: Found) -> "Figure | None":
    """Mean thinking and answer tokens of every condition, with one standard deviation (Figure 7)."""
    table = _part(found, "costs", "conditions")
    kinds = [
        (key, name, shade)
        for key, name, shade in (("thinking_tokens", "thinking", "#6faed6"), ("answer_tokens", "answer", "#0b559f"))
        if any((one.get(key) or {}).get("mean") for one in table.values())
    ]
    if not kinds:
        return None
    figure, (ax,) = side_by_side(1, width=WIDTH, height=1.1 + 0.34 * len(table))
    high = 0.8 / len(kinds)
    for nth, (key, name, shade) in enumerate(kinds):
        places = [len(table) - 1 - i + high * ((len(kinds) - 1) / 2 - nth) for i in range(len(table))]
        means = [one[key]["mean"] or 0.0 for one in table.values()]
        ax.barh(places, means, height=0.9 * high, color=shade, label=f"{name} tokens")
        for place, mean, one in zip(places, means, table.values(), strict=True):
            if one[key]["sd"]:
                bar = error(mean, (max(mean - one[key]["sd"], 0.0), mean + one[key]["sd"]))
                ax.errorbar(mean, place, xerr=bar, color="#1b2127", capsize=2, linewidth=0.8)
    ax.set_yticks([len(table) - 1 - i for i in range(len(table))], [plain(name) for name in table])
    ax.set_xlabel("tokens per episode")
    ax.set_xlim(0, max(ax.get_xlim()[1], 1.0))
    ax.grid(visible=False, axis="y")
    _keys(figure, ax)
    return figure


def frontier(found: Found) -> "Figure | None":
    """Cost and value of every condition; efficient ones joined, retried modes hollow."""
    costs = _part(found, "costs")
    points = [
        one for one in costs.get("frontier") or () if one.get("cost") is not None and one.get("value") is not None
    ]
    if not points:
        return None
    scale = 100 if _share(found) else 1
    known = {one["name"] for one in points}
    names = [*(name for name in costs.get("conditions", {}) if name in known)]
    names += sorted(known - set(names))
    figure, (ax,) = side_by_side(1, width=WIDTH, height=4.4)
    efficient = [one for one in points if one["efficient"]]
    ax.plot([one["cost"] for one in efficient], [scale * one["value"] for one in efficient], color="#88919a", zorder=1)
    for name in names:
        own = [one for one in points if one["name"] == name]
        shade, marker = _look(name, names)
        ax.plot([one["cost"] for one in own], [scale * one["value"] for one in own], ":", color=shade, linewidth=0.8)
        for one in own:
            ax.plot(
                one["cost"],
                scale * one["value"],
                marker=marker,
                linestyle="",
                markersize=5 if one["hindsight"] else 7,
                color=shade,
                markerfacecolor="white" if one["hindsight"] else shade,
                markeredgecolor="#000000" if one["efficient"] else shade,
                markeredgewidth=1.4 if one["efficient"] else 1.0,
                label=plain(name) if not one["hindsight"] else None,
            )
            if one["hindsight"]:
                place = (one["cost"], scale * one["value"])
                ax.annotate(f"{one['attempts']}x", place, xytext=(4, -8), textcoords="offset points", fontsize=6.5)
    spread = [one["cost"] for one in points if one["cost"] > 0]
    if len(spread) == len(points) and max(spread) > 8 * min(spread) and TICKS[0] <= min(spread) <= TICKS[-1]:
        ax.set_xscale("log")
        _plain_ticks(ax, min(spread), max(spread))
    ax.set_xlabel("s of planning per task" if costs.get("unit") == "planning_s" else "tokens per task")
    _value_axis(ax, found)
    _keys(figure, ax)
    return figure


def _lines(ax: "Axes", lines: Mapping[str, Sequence[Found]], scale: float, *, joined: int = 0) -> None:
    """A line for each name over places 0, 1, ..., side by side so that intervals stay apart; sparse marks hollow.

    What rests on fewer than ``joined`` episodes breaks the line.
    """
    names = list(lines)
    for nth, (name, row) in enumerate(lines.items()):
        shade, marker = _look(name, names)
        shift = 0.5 * (nth - (len(names) - 1) / 2) / max(len(names), 1)
        known = [(place + shift, one) for place, one in enumerate(row) if one.get("mean") is not None]
        heights = [scale * one["mean"] if not joined or one["episodes"] >= joined else nan for _, one in known]
        ax.plot([at for at, _ in known], heights, color=shade, linewidth=1, zorder=2)
        for i, (at, one) in enumerate(known):
            span = None if one.get("low") is None else (scale * one["low"], scale * one["high"])
            bar = error(scale * one["mean"], span)
            if bar:
                ax.errorbar(at, scale * one["mean"], yerr=bar, color=shade, capsize=1.5, linewidth=0.7)
            ax.plot(
                at,
                scale * one["mean"],
                marker=marker,
                linestyle="",
                color=shade,
                markerfacecolor="white" if one.get("sparse") else shade,
                label=plain(name) if i == 0 else None,
                zorder=3,
            )


def _look(name: str, names: Sequence[str]) -> tuple[str, str]:
    """Colour and marker of a condition among ``names``."""
    place = [one for one in names if one not in MODES].index(name) if name not in MODES else 0
    return COLOURS.get(name, SHADES[place % len(SHADES)]), MARKERS.get(name, SPARE[place % len(SPARE)])


def _keys(figure: "Figure", ax: "Axes") -> None:
    handles, names = ax.get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, fontsize=7)


def _plain_ticks(ax: "Axes", low: float, high: float) -> None:
    """Ticks of a logarithmic axis as numbers, at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import NullFormatter, NullLocator

    shown = [step for step in TICKS if low / 1.3 <= step <= high * 1.3]
    ax.set_xlim(low / 1.3, high * 1.3)
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xticks(shown, [f"{step:,.10g}" for step in shown])


def _value_axis(ax: "Axes", found: Found) -> None:
    """Name the axis of values; better is always up."""
    measure = found.get("measure") or {}
    if _share(found):
        ax.set_ylabel("success (%)")
        return
    ax.set_ylabel(plain(str(measure.get("name", "value"))))
    if measure.get("better") == "less":
        ax.set_ylabel(f"{plain(str(measure['name']))} (less is better: up)")
        ax.invert_yaxis()


def _share(found: Found) -> bool:
    return (found.get("measure") or {}).get("name") == "success"


def _part(found: Found, *path: str) -> Found:
    """What stands under ``path``; empty where nothing does."""
    one: Any = found
    for name in path:
        one = one.get(name) if isinstance(one, Mapping) else None
    return one if isinstance(one, Mapping) else {}


def plain(name: str) -> str:
    """A name for a drawing: short, of letters that the font has, without what matplotlib reads as mathematics."""
    return seen(name[:28].encode("ascii", "replace").decode()).replace("\\", "/").replace("$", r"\$").lstrip("_")
