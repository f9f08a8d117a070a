"""Drawings of experiments with episodes: shares, regret, sweeps over a level, attribution, the bank.

Each takes the result of an experiment as its file holds it, and its own parameters; it returns ``None`` where the
result does not hold what it draws.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from planroute.reporting.figures.style import MARKERS, MODES, colour, error, legend, letter, side_by_side, tag, worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Mapping[str, Any]


def declaration_shares(result: Result, *, analysis: str = "declarations") -> "Figure | None":
    """Shares of declared modes, a panel for each declarer (Figure 2 of the cyber-physical paper)."""
    found = result.get("analyses", {}).get(analysis) or {}
    if not found:
        return None
    figure, axes = side_by_side(len(found))
    for ax, (condition, one) in zip(axes, found.items(), strict=True):
        shares = [one["shares"][mode] or 0.0 for mode in MODES]
        ax.bar([tag(mode) for mode in MODES], shares, color=[colour(mode) for mode in MODES])
        entropy = (one["entropy"] or {}).get("h")
        note = "" if entropy is None else f"  H = {entropy:.2f}"
        ax.set_title(f"{tag(condition)}, n = {sum(one['counts'].values())}{note}")
        ax.set_ylim(0, 1.05)
    axes[0].set_ylabel("share of declarations")
    return figure


def regret(result: Result) -> "Figure | None":
    """Mean paired regret of each condition with its 95 % t interval (Figure 4)."""
    conditions = _ordered(result)
    shown = {name: table for name, table in conditions.items() if table.get("regret") is not None}
    if not shown:
        return None
    figure, (ax,) = side_by_side(1, width=4.2)
    for i, (name, table) in enumerate(shown.items()):
        value, forced = table["regret"], name in MODES
        ax.bar(
            i, value, color=colour(name) if forced else "white", edgecolor=colour(name), hatch="" if forced else "//"
        )
        bar = error(value, table["intervals"].get("regret"))
        if bar:
            ax.errorbar(i, value, yerr=bar, color="#1b2127", capsize=2.5, linewidth=0.9)
        ax.annotate(f"{value:.0f}", (i, value), xytext=(6, 2), textcoords="offset points", fontsize=7)
    ax.set_xticks(range(len(shown)), [tag(name) for name in shown])
    ax.set_ylabel("paired regret (units of J)")
    return figure


def sweep(result: Result, *, x: str, panels: Sequence[Mapping[str, str]], label: str = "") -> "Figure | None":
    """Figures over the levels of ``x``, a panel each, a line for each condition (Figures 5 and 6).

    ``panels`` are ``{y, title}`` for a metric with its 95 % t interval, or ``{share, title}`` for the share of a
    failure label.
    """
    wanted = list(panels)
    conditions = {name: table for name, table in _ordered(result).items() if table.get("levels")}
    if not conditions or not wanted:
        return None
    figure, axes = side_by_side(len(wanted))
    for ax, panel in zip(axes, wanted, strict=True):
        for nth, (name, table) in enumerate(conditions.items()):
            points = sorted((_level(task, x), level) for task, level in table["levels"].items())
            values = [_of(level, panel) for _, level in points]
            places = [place for place, _ in points]
            known = [(a, b) for a, b in zip(places, values, strict=True) if b is not None]
            ax.plot(
                [a for a, _ in known],
                [b for _, b in known],
                color=colour(name, nth),
                marker=MARKERS.get(name, "vPX*"[nth % 4]),
                label=tag(name),
            )
            for place, value, (_, level) in zip(places, values, points, strict=True):
                bar = error(value, level["intervals"].get(panel.get("y", "")))
                if bar and value is not None:
                    ax.errorbar(place, value, yerr=bar, color=colour(name, nth), capsize=1.5, linewidth=0.6, alpha=0.6)
        ax.set_xlabel(worded(label or x.replace("_", " ")))
        ax.set_title(worded(panel.get("title", "")), fontsize=8)
    if len(conditions) > 1:
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=7)
    letter(axes)
    return figure


def attribution(result: Result, *, analysis: str = "attribution") -> "Figure | None":
    """Compliance and mean message shift by archetype (Figure 7)."""
    found = (result.get("analyses", {}).get(analysis) or {}).get("archetypes")
    if not found:
        return None
    names = sorted(found, key=lambda name: found[name]["compliance"] or 0.0)
    figure, axes = side_by_side(2)
    for ax, key, title in zip(
        axes, ("compliance", "mean_shift"), ("compliance rate", "mean message shift"), strict=True
    ):
        for i, name in enumerate(names):
            value = found[name][key]
            if value is None:
                continue
            ax.barh(i, value, color="#6faed6", height=0.65)
            bar = error(value, found[name][f"{key}_interval"])
            if bar:
                ax.errorbar(value, i, xerr=bar, color="#1b2127", capsize=2, linewidth=0.8)
        ax.set_yticks(range(len(names)), [worded(name) for name in names] if ax is axes[0] else [""] * len(names))
        ax.set_xlabel(title)
        ax.locator_params(axis="x", nbins=5)
        ax.grid(visible=False, axis="y")
    letter(axes)
    return figure


def oracle_and_choices(result: Result, *, analysis: str = "selectors") -> "Figure | None":
    """Oracle membership and regret of selectors, floor dotted (Figure 8)."""
    found = result.get("analyses", {}).get(analysis)
    if not found:
        return None
    figure, axes = side_by_side(2, width=3.3)
    series = (
        ("oracle", found["oracle"]["split"], "#1b2127"),
        ("ridge", found["ridge"]["choices"], "#88919a"),
        ("constraint-aware", found["constraint_aware"]["choices"], "#00805c"),
    )
    for k, (name, counts, shade) in enumerate(series):
        places = [i + 0.27 * (k - 1) for i in range(len(MODES))]
        axes[0].bar(places, [counts[mode] for mode in MODES], width=0.25, color=shade, label=name)
    axes[0].set_xticks(range(len(MODES)), [tag(mode) for mode in MODES])
    axes[0].set_ylabel("scenarios")
    legend(axes[0], loc="upper right")
    bars = (
        ("fixed SEQ", found["fixed"]["SEQUENTIAL"], colour("SEQUENTIAL")),
        ("ridge", found["ridge"], "#88919a"),
        ("constraint-\naware", found["constraint_aware"], "#00805c"),
    )
    for i, (_, one, shade) in enumerate(bars):
        axes[1].bar(i, one["mean_regret"], color=shade, width=0.6)
        axes[1].errorbar(
            i,
            one["mean_regret"],
            yerr=error(one["mean_regret"], one["interval"]),
            color="#1b2127",
            capsize=2.5,
            linewidth=0.9,
        )
    axes[1].axhline(found["floor"], linestyle=":", color="#1b2127", linewidth=1, label="floor of feature cells")
    legend(axes[1], loc="upper right")
    axes[1].set_xticks(range(len(bars)), [name for name, _, _ in bars])
    axes[1].set_ylabel("mean regret (units of J)")
    letter(axes)
    return figure


def ranges(result: Result, *, names: Sequence[str], analysis: str = "fresh", label: str = "") -> "Figure | None":
    """Figures over newly drawn seeds: mean, one standard deviation, and the whole range."""
    found = (result.get("analyses", {}).get(analysis) or {}).get("figures", {})
    shown = [name for name in names if name in found]
    if not shown:
        return None
    figure, (ax,) = side_by_side(1, width=6.2, height=0.6 + 0.24 * len(shown))
    for i, name in enumerate(reversed(shown)):
        one = found[name]
        ax.plot([one["low"], one["high"]], [i, i], color="#a9cce6", linewidth=2.2)
        spread = [max(one["mean"] - one["sd"], one["low"]), min(one["mean"] + one["sd"], one["high"])]
        ax.plot(spread, [i, i], color="#3587c0", linewidth=4)
        ax.plot(one["mean"], i, "o", color="#1b2127")
    ax.axvline(0, color="#88919a", linewidth=0.8)
    ax.set_yticks(range(len(shown)), [worded(name) for name in reversed(shown)])
    ax.set_xlabel(worded(label or "mean, one sd and range over fresh triples"))
    return figure


def _ordered(result: Result) -> dict[str, Any]:
    tables = result.get("conditions", {})
    return {name: tables[name] for name in [*(m for m in MODES if m in tables), *sorted(set(tables) - set(MODES))]}


def _level(task: str, name: str) -> float:
    """The level of a factor in a scenario's name, such as ``forecast_noise=0.1``."""
    values = dict(part.split("=", 1) for part in task.split(",") if "=" in part)
    return float(values.get(name, "nan"))


def _of(level: Mapping[str, Any], panel: Mapping[str, str]) -> float | None:
    if "share" in panel:
        count = level["failure_counts"].get(panel["share"], 0)
        return float(count) / level["episodes"] if level["episodes"] else None
    found = level.get(panel["y"])
    return None if found is None else float(found)
