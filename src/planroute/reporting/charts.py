"""The charts of a report as static SVG; the script of the page moves what is in them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from planroute.reporting.svg import Scale, digits, drawing, line, path, tag, text, ticks
from planroute.reporting.wording import amount, css, label, number

Values = Sequence[float | None]
WIDTH, HEIGHT = 480.0, 270.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 18.0, 34.0


@dataclass(frozen=True, slots=True)
class Limit:
    """A horizontal line that a quantity is held against."""

    value: float
    label: str
    below: bool = False
    """Whether its label stands under the line."""


@dataclass(frozen=True, slots=True)
class LineChart:
    """A quantity over the steps of a day. ``low`` and ``high`` hold for every selection, so that pictures compare."""

    name: str
    title: str
    description: str
    steps: Sequence[int]
    low: float
    high: float
    limit: Limit
    shade: tuple[int, int] | None
    marked: int
    """The step at which the cross-hair stands."""

    def draw(self, series: Mapping[str, Values]) -> Markup:
        """Draw ``series`` by condition; they are numbered in this order, the last is a reference."""
        x = Scale(self.steps[0], max(self.steps[-1], self.steps[0] + 1), LEFT, WIDTH - RIGHT)
        y = Scale(self.low, self.high, HEIGHT - BOTTOM, TOP)
        frame = " ".join(f"{v:g}" for v in (x.start, x.end, x.low, x.high, y.start, y.end, y.low, y.high))
        lines = [
            tag(
                "path",
                d=path([(x(s), None if v is None else y(v)) for s, v in zip(self.steps, values, strict=True)]),
                class_=f"series {css(name)}",
                data_series=place,
            )
            for place, (name, values) in enumerate(series.items())
        ]
        lines = lines[-1:] + lines[:-1]  # the reference lies below what is compared
        cross = line(x(self.marked), TOP, x(self.marked), HEIGHT - BOTTOM, "cross", data_cross="")
        return drawing(
            self.title,
            self.description,
            WIDTH,
            HEIGHT,
            *self._frame(x, y),
            cross,
            *lines,
            self._limit(y),
            class_="chart",
            data_chart=self.name,
            data_frame=frame,
            tabindex=0,
        )

    def _frame(self, x: Scale, y: Scale) -> list[Markup]:
        parts = []
        if self.shade is not None:
            left = max(x(self.shade[0] - 0.5), x.start)
            right = min(x(self.shade[1] + 0.5), x.end)
            parts.append(tag("rect", x=left, y=TOP, width=right - left, height=y.start - TOP, class_="shade"))
            parts.append(text((left + right) / 2, TOP - 4, "dispatch hours", "middle", "faint"))
        marks = ticks(self.low, self.high, 5)
        for mark in marks:
            parts.append(line(LEFT, y(mark), WIDTH - RIGHT, y(mark), "grid"))
            parts.append(text(LEFT - 7, y(mark) + 4, number(mark, digits(marks)), "end", "tick"))
        for step in range(self.steps[0], self.steps[-1] + 1, 3 if len(self.steps) > 12 else 1):
            parts.append(line(x(step), y.start, x(step), y.start + 4, "axis"))
            parts.append(text(x(step), y.start + 17, f"{step}", "middle", "tick"))
        parts.append(line(LEFT, y.start, WIDTH - RIGHT, y.start, "axis"))
        parts.append(text(WIDTH - RIGHT, HEIGHT - 3, "hour of the day", "end", "faint"))
        return parts

    def _limit(self, y: Scale) -> Markup:
        at = y(self.limit.value)
        return tag(
            "g",
            line(LEFT, at, WIDTH - RIGHT, at, "limit"),
            text(LEFT + 4, at + (14 if self.limit.below else -5), self.limit.label, class_="limit-label"),
            data_limit="",
        )


@dataclass(frozen=True, slots=True)
class Dots:
    """One condition of a dot plot: its values by case, their mean, and a second set shown hollow."""

    name: str
    values: Sequence[float]
    hollow: Sequence[float]


def dot_plot(title: str, description: str, rows: Sequence[Dots]) -> Markup:
    """Every case a dot, the mean a bar, the other referee hollow; the axis starts at 0."""
    most = max((v for row in rows for v in (*row.values, *row.hollow)), default=1.0)
    least = min((v for row in rows for v in (*row.values, *row.hollow)), default=0.0)
    pitch, top = 46.0, 8.0
    left = max(98.0, 7.6 * max((len(label(row.name)) for row in rows), default=0) + 18)
    height = top + pitch * len(rows) + 38
    x = Scale(min(0.0, least), most * 1.04 if most > 0 else 1.0, left, WIDTH - RIGHT)
    marks = ticks(x.low, x.high, 5)
    parts = [line(x(mark), top, x(mark), height - 34, "grid") for mark in marks]
    parts += [text(x(mark), height - 18, number(mark, digits(marks)), "middle", "tick") for mark in marks]
    for place, row in enumerate(rows):
        y = top + pitch * (place + 0.5)
        parts.append(text(left - 10, y + 4, label(row.name), "end", "name"))
        parts.append(line(left, y, WIDTH - RIGHT, y, "rail"))
        dots = [tag("circle", cx=x(v), cy=y + 9, r=4, class_=f"hollow {css(row.name)}") for v in row.hollow]
        dots += [tag("circle", cx=x(v), cy=y - 7, r=4.5, class_=f"dot {css(row.name)}") for v in row.values]
        parts += dots
        if row.values:
            average = sum(row.values) / len(row.values)
            parts.append(line(x(average), y - 17, x(average), y + 3, "mean"))
        else:
            parts.append(text(left + 6, y - 4, "not measured", class_="faint"))
    parts.append(text(WIDTH - RIGHT, height - 3, "J, lower is better", "end", "faint"))
    return drawing(title, description, WIDTH, height, *parts, class_="chart dots")


@dataclass(frozen=True, slots=True)
class Event:
    """A planning event: where on the line it stands, its cost, whether it is late."""

    place: int
    kind: str
    cost_s: float
    late: bool


def event_line(
    name: str, events: Sequence[Event], places: Sequence[str], deadline_s: float | None, highest: float
) -> Markup:
    """The planning events of one condition as bars at their place in the day, against the deadline."""
    width, height, left, base = WIDTH, 168.0, 46.0, 168.0 - 36
    x = Scale(-0.5, len(places) - 0.5, left, width - RIGHT)
    y = Scale(0.0, highest, base, 20.0)
    marks = ticks(0.0, highest, 4)
    parts = [line(left, y(m), width - RIGHT, y(m), "grid") for m in marks]
    parts += [text(left - 7, y(m) + 4, number(m, digits(marks)), "end", "tick") for m in marks]
    slot = (x.end - x.start) / len(places)
    every = max(1, math.ceil(24 / slot))
    parts += [text(x(i), base + 16, place, "middle", "tick") for i, place in enumerate(places) if i % every == 0]
    for place in range(len(places)):
        here = [event for event in events if event.place == place]
        bar = min(slot * 0.72 / max(len(here), 1), 22.0)
        for order, event in enumerate(here):
            at = x(place) + (order - len(here) / 2) * (bar + 2) + 1
            what = f"{event.kind}: {number(event.cost_s, 2)} s{', late' if event.late else ''}"
            parts.append(
                tag(
                    "rect",
                    tag("title", what),
                    x=at,
                    y=y(event.cost_s),
                    width=bar,
                    height=max(base - y(event.cost_s), 1.0),
                    class_=f"event {css(name)} k-{'declare' if event.kind == 'declare' else 'again'}",
                )
            )
            if event.late:
                parts.append(line(at, y(event.cost_s), at + bar, y(event.cost_s), "late-mark"))
                if order == 0 and slot >= 30:
                    parts.append(text(x(place), y(event.cost_s) - 5, "late", "middle", "late"))
    parts.append(line(left, base, width - RIGHT, base, "axis"))
    if deadline_s is not None and deadline_s <= highest:
        at = y(deadline_s)
        parts.append(line(left, at, width - RIGHT, at, "limit"))
        parts.append(text(width - RIGHT, 10, f"deadline {amount(deadline_s, 2)} s", "end", "limit-label"))
    parts.append(text(width - RIGHT, height - 3, "before dispatch of hour", "end", "faint"))
    said = f"{len(events)} events, {sum(e.cost_s for e in events):.2f} s in all, {sum(e.late for e in events)} late"
    return drawing(f"Planning events of {label(name)}", said, width, height, *parts, class_="chart")


def bar(share: float | None) -> Markup:
    """A small horizontal bar for a share between 0 and 1."""
    inside = tag("rect", x=0, y=2, width=100 * min(max(share or 0.0, 0.0), 1.0), height=8, rx=2, class_="bar")
    rail = tag("rect", x=0, y=2, width=100, height=8, rx=2, class_="bar-rail")
    return tag("svg", rail, inside, viewBox="0 0 100 12", class_="inline-bar", aria_hidden="true", focusable="false")
