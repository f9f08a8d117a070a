"""How figures look, and how they are kept: column width, one colour per mode, three formats, equal bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planroute.reporting.placing import placed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MODES: Sequence[str] = ("PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH")
SHORT: Mapping[str, str] = {"PREDEFINED": "PRE", "SEQUENTIAL": "SEQ", "HIERARCHICAL": "HIER", "SEARCH": "SEARCH"}
COLOURS: Mapping[str, str] = {
    "PREDEFINED": "#0072b2",
    "SEQUENTIAL": "#d55e00",
    "HIERARCHICAL": "#b5478d",
    "SEARCH": "#00805c",
}
OTHERS = ("#1b2127", "#2b8cc4", "#8a6d00", "#6b5b95")
"""Colours of conditions that are no mode, in the order of their names."""
MARKERS: Mapping[str, str] = {"PREDEFINED": "o", "SEQUENTIAL": "s", "HIERARCHICAL": "^", "SEARCH": "D"}
FORMATS = ("svg", "pdf", "png")
PANEL_INCHES = (2.9, 2.3)

_RC: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e3e7ea",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "svg.hashsalt": "planroute",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def side_by_side(
    count: int, *, width: float = PANEL_INCHES[0], height: float = PANEL_INCHES[1]
) -> "tuple[Figure, list[Axes]]":
    """Return a figure of ``count`` panels side by side, each ``width`` by ``height`` inches."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(_RC):
        figure = Figure(figsize=(width * count, height), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, count, squeeze=False)[0]
    return figure, list(axes)


def colour(name: str, place: int = 0) -> str:
    """The colour of a mode, or of the condition at ``place`` among others."""
    return COLOURS.get(name, OTHERS[place % len(OTHERS)])


def tag(name: str) -> str:
    """A short name for an axis."""
    return SHORT.get(name, worded(name.removeprefix("ROUTED_").replace("_", " ").lower()))


def seen(text: str) -> str:
    """Text with ``?`` for every character that cannot be seen: no font has those."""
    return "".join(character if character.isprintable() else "?" for character in text)


def worded(text: str) -> str:
    """Text that can be seen, without what matplotlib reads as mathematics."""
    return seen(text).replace("$", r"\$")


def legend(ax: "Axes", **where: Any) -> None:
    """A small legend without a frame."""
    ax.legend(**{"loc": "best", "frameon": False, "fontsize": 7, **where})


def letter(axes: "Sequence[Axes]") -> None:
    """Mark panels (a), (b), ... where there are several."""
    if len(axes) > 1:
        for i, one in enumerate(axes):
            one.set_title(f"({chr(97 + i)})", loc="left", fontsize=8.5)


def error(value: float | None, interval: Sequence[float] | None) -> list[list[float]] | None:
    """Lengths of an error bar, down and up; ``None`` without an interval."""
    if value is None or interval is None:
        return None
    return [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def save(figure: "Figure", folder: Path, name: str) -> list[Path]:
    """Write ``figure`` in every format: equal figures give equal bytes. Returns the paths."""
    import matplotlib as mpl

    found = []
    for kind in FORMATS:
        plain: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
        with mpl.rc_context(_RC), placed(folder, f"{name}.{kind}") as part:
            figure.savefig(part, format=kind, dpi=200, metadata=plain)
        found.append(folder / f"{name}.{kind}")
    return found
