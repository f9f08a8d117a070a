"""Drawing: elements with escaped text, linear scales, and round ticks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

Attribute = str | float | int | None


def tag(name: str, *children: str | Markup, **attributes: Attribute) -> Markup:
    """An element; text among ``children`` and in attributes is escaped, an attribute of None left out.

    ``class_`` stands for ``class`` and ``data_x`` for ``data-x``.
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), coordinate(value))
        for key, value in attributes.items()
        if value is not None
    )
    inner = Markup("").join(escape(child) for child in children)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inner)  # noqa: S704 - names are our own


def coordinate(value: Attribute) -> str:
    """A number in as few digits as a drawing needs; text as it is."""
    if isinstance(value, float):
        return f"{round(value, 1):g}" if abs(value) < 1e6 else f"{value:.1f}"
    return str(value)


def drawing(title: str, description: str, width: float, height: float, *children: Markup, **more: Attribute) -> Markup:
    """A figure that says in words what it shows."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {coordinate(width)} {coordinate(height)}",
        role="img",
        aria_label=f"{title}. {description}",
        **more,
    )


def text(x: float, y: float, content: str, anchor: str = "start", class_: str | None = None) -> Markup:
    """A line of text."""
    return tag("text", content, x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str, **more: Attribute) -> Markup:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **more)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps ``low`` to ``start`` and ``high`` to ``end``, linearly."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Map ``value``; beyond both ends as well."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values from ``low`` to ``high``, both inside, about as many as asked for."""
    if not high > low:
        return [low]
    raw = (high - low) / max(about, 1)
    power = 10 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(step * place, 10) for place in range(first, last + 1)]


def rounded(low: float, high: float, about: int = 5) -> tuple[float, float]:
    """The next round values around ``low`` and ``high``."""
    if not high > low:
        return low, low + 1.0
    marks = ticks(low, high, about)
    step = marks[1] - marks[0] if len(marks) > 1 else high - low
    return round(math.floor(low / step + 1e-9) * step, 10), round(math.ceil(high / step - 1e-9) * step, 10)


def digits(values: Sequence[float]) -> int:
    """Decimals that tell the ticks ``values`` apart."""
    step = min((b - a for a, b in pairwise(values)), default=1.0)
    for places in range(6):
        if abs(step * 10**places - round(step * 10**places)) < 1e-6:
            return places
    return 6


def path(points: Sequence[tuple[float, float | None]]) -> str:
    """The ``d`` of a line through ``points``, with a gap where a value is None."""
    written, down = [], False
    for x, y in points:
        if y is None:
            down = False
            continue
        written.append(f"{'L' if down else 'M'}{coordinate(float(x))} {coordinate(float(y))}")
        down = True
    return "".join(written)
