"""Drawings of interface studies: several models side by side on the same planner-visible states."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planroute.reporting.figures.style import MODES, colour, error, legend, letter, side_by_side, tag, worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Result = Mapping[str, Any]
BANDS = ("none", "moderate", "high")


def mode_use(result: Result) -> "Figure | None":
    """Shares of declared modes, a bar for each model (Figure 3a of the cyber-physical paper)."""
    models = {name: one for name, one in _models(result).items() if one.get("modes")}
    if not models:
        return None
    figure, (ax,) = side_by_side(1, width=5.4, height=0.9 + 0.32 * len(models))
    for i, one in enumerate(models.values()):
        left = 0.0
        for mode in MODES:
            share = _share(one["modes"].get(mode))
            ax.barh(i, share, left=left, color=colour(mode), height=0.6, label=tag(mode) if i == 0 else None)
            left += share
    ax.set_yticks(range(len(models)), [_named(name) for name in models])
    ax.set_xlim(0, 1)
    ax.set_xlabel("declaration share")
    legend(ax, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.45))
    return figure


def stress_conditioning(result: Result) -> "Figure | None":
    """Share of search or hierarchical declarations by stress band, a line for each model (Figure 3b)."""
    models = {name: one for name, one in _models(result).items() if one.get("by_band")}
    if not models:
        return None
    figure, (ax,) = side_by_side(1, width=4.2)
    for i, (name, one) in enumerate(models.items()):
        bands = [band for band in BANDS if band in one["by_band"]]
        values = [_share(one["by_band"][band]["expensive"]) for band in bands]
        ax.plot(bands, values, marker="os^Dv"[i % 5], color=f"C{i}", label=_named(name))
        for band, value in zip(bands, values, strict=True):
            found = one["by_band"][band]["expensive"]
            span = (
                [found["low"], found["high"]] if isinstance(found, Mapping) and found.get("low") is not None else None
            )
            bar = error(value, span)
            if bar:
                ax.errorbar(band, value, yerr=bar, color=f"C{i}", capsize=2, linewidth=0.6, alpha=0.6)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("feeder stress")
    ax.set_ylabel("P(search or hierarchical)")
    legend(ax, loc="best")
    return figure


def latency(result: Result) -> "Figure | None":
    """Median and 95th percentile of declaration latency against the event budget (Figure 3c)."""
    models = {name: one for name, one in _models(result).items() if (one.get("latency") or {}).get("n")}
    if not models:
        return None
    figure, (ax,) = side_by_side(1, width=5.4, height=0.9 + 0.3 * len(models))
    for i, one in enumerate(models.values()):
        p50, p95 = one["latency"]["p50"], one["latency"]["p95"]
        ax.plot([p50, p95], [i, i], color="#6faed6", linewidth=2)
        ax.plot(p50, i, "o", color="#0b559f", label="p50" if i == 0 else None)
        ax.plot(p95, i, "s", color="#d55e00", label="p95" if i == 0 else None)
    budget = result.get("budget_s")
    if budget is not None:
        ax.axvline(budget, linestyle="--", color="#9a3412", linewidth=0.9, label=f"{budget:g} s budget")
    ax.set_yticks(range(len(models)), [_named(name) for name in models])
    ax.set_ylim(-0.6, len(models) - 0.4)
    ax.set_xlabel("declaration latency (s)")
    legend(ax, loc="best")
    return figure


def messages(result: Result) -> "Figure | None":
    """Mean message shift by archetype, a marker for each model (experiment M4)."""
    models = {name: one for name, one in _models(result).items() if one.get("archetypes")}
    if not models:
        return None
    figure, (ax,) = side_by_side(1, width=4.6)
    for i, (name, one) in enumerate(models.items()):
        found = one["archetypes"]
        ax.plot(list(found), [_mean(value) for value in found.values()], marker="os^Dv"[i % 5], label=_named(name))
    ax.axhline(0, color="#88919a", linewidth=0.8)
    ax.set_ylabel("mean shift of willingness")
    ax.tick_params(axis="x", rotation=25)
    legend(ax, loc="best")
    letter([ax])
    return figure


def _models(result: Result) -> Mapping[str, Any]:
    """Figures by model; empty where none ran."""
    found = result.get("models")
    return found if isinstance(found, Mapping) else {}


def _share(value: Any) -> float:
    found = value.get("share") if isinstance(value, Mapping) else value
    return float(found or 0.0)


def _mean(value: Any) -> float:
    found = value.get("mean", value.get("mean_shift")) if isinstance(value, Mapping) else value
    return float("nan") if found is None else float(found)


def _named(name: str) -> str:
    """A model's name for an axis: its last part, without what matplotlib reads as mathematics."""
    short = name.rsplit("/", 1)[-1].partition("@")[0].removeprefix("embedded:").removesuffix(".gguf")
    return worded(short[:28])
