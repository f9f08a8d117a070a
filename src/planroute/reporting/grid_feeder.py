"""The feeder as a drawing: given positions, or a tidy tree from its head; nodes coloured by voltage."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from markupsafe import Markup

from planroute.errors import InputError
from planroute.reporting.grid_days import Answer, Feeder
from planroute.reporting.svg import coordinate, drawing, tag, text
from planroute.reporting.wording import number

WIDTH, MARGIN = 960.0, 46.0
STEPS = (-0.02, -0.01, -0.005, 0.0, 0.005, 0.01, 0.02, 0.035)
"""Edges of the colours, in pu from the voltage floor: four colours below it, five from it on."""
LABELLED = 60
"""The largest feeder on which every node carries its name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each node and the head are drawn, and which node feeds which."""

    nodes: Sequence[tuple[float, float]]
    head: tuple[float, float]
    parents: Sequence[int]
    """The node upstream, -1 for the head."""
    square: bool
    """Whether segments run along the axes."""
    height: float
    radius: float


def parents(feeder: Feeder) -> list[int]:
    """The upstream node of each node, -1 for the head. Raises ``InputError`` where one is not reached."""
    index = {node.id: place for place, node in enumerate(feeder.nodes)}
    near: dict[str, list[str]] = {}
    for segment in feeder.lines:
        near.setdefault(segment.start, []).append(segment.end)
        near.setdefault(segment.end, []).append(segment.start)
    found: dict[str, int] = {feeder.head: -1}
    waiting = deque([feeder.head])
    while waiting:
        here = waiting.popleft()
        for other in near.get(here, ()):
            if other in index and other not in found:
                found[other] = index.get(here, -1)
                waiting.append(other)
    if len(found) != len(index) + 1 or feeder.head in index:
        raise InputError("the feeder in the manifest is damaged: not every node is fed from the head")
    return [found[node.id] for node in feeder.nodes]


def layout(feeder: Feeder) -> Layout:
    """Place the nodes inside a drawing of fixed width."""
    up = parents(feeder)
    given = [node.position for node in feeder.nodes]
    known = [place for place in given if place is not None]
    if len(known) == len(given) and len(set(known)) > 1:
        places, head = [(x, -y) for x, y in known], _head([(x, -y) for x, y in known], up)
    else:
        places, head = _tree(up)
    square = all(
        parent < 0 or places[parent][0] == place[0] or places[parent][1] == place[1]
        for parent, place in zip(up, places, strict=True)
    ) or len(known) != len(given)
    return _fitted(places, head, up, square)


def _head(places: Sequence[tuple[float, float]], up: Sequence[int]) -> tuple[float, float]:
    """A place for the head, which has none: beside its neighbours, away from all other nodes."""
    first = [place for place, parent in zip(places, up, strict=True) if parent < 0]
    x, y = (sum(p[i] for p in first) / len(first) for i in (0, 1))
    all_x, all_y = (sum(p[i] for p in places) / len(places) for i in (0, 1))
    lengths = sorted(
        ((places[i][0] - places[p][0]) ** 2 + (places[i][1] - places[p][1]) ** 2) ** 0.5
        for i, p in enumerate(up)
        if p >= 0
    )
    usual = lengths[len(lengths) // 2] if lengths else 1.0
    away = ((x - all_x) ** 2 + (y - all_y) ** 2) ** 0.5
    return (x, y) if away < 1e-9 else (x + usual * (x - all_x) / away, y + usual * (y - all_y) / away)


def _tree(up: Sequence[int]) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Depth to the right; every node goes on level along its longest branch, the others hang below where there is room.

    Branches far from the head are hung first and rows are only ever filled downwards, so nothing crosses.
    """
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(up):
        below.setdefault(parent, []).append(node)
    depth, order = {-1: 0}, list(below.get(-1, ()))
    for node in order:  # grows while it is walked
        depth[node] = depth[up[node]] + 1
        order += below.get(node, ())
    reach = dict(depth)
    for node in reversed(order):
        reach[up[node]] = max(reach[up[node]], reach[node])
    row: dict[int, int] = {}
    free = [0] * (max(depth.values()) + 1)
    hanging = [(child, -1) for child in reversed(below.get(-1, ()))]
    while hanging:
        start, parent = hanging.pop()
        level = max(free[depth[parent] : reach[start] + 1])
        free[depth[parent]] = level + 1
        here: int | None = start
        while here is not None:
            row[here], free[depth[here]] = level, level + 1
            branches = below.get(here, [])
            onward = max(branches, key=lambda child: reach[child], default=None)
            hanging += [(child, here) for child in reversed(branches) if child != onward]
            here = onward
    return [(float(depth[i]), float(row[i])) for i in range(len(up))], (0.0, max(row.values()) / 2)


def _fitted(
    places: Sequence[tuple[float, float]], head: tuple[float, float], up: Sequence[int], square: bool
) -> Layout:
    """Scale to the width; where segments run along the axes, rows keep the distance that their names need."""
    xs, ys = zip(*places, head, strict=True)
    wide, high = max(max(xs) - min(xs), 1e-9), max(ys) - min(ys)
    scale = (WIDTH - 2 * MARGIN) / wide
    tall = min(high * scale, 520.0)
    if square and high > 0:
        rows = len({round(y, 6) for y in ys}) - 1
        tall = min(max(min(tall, rows * 90.0), rows * (46.0 if len(places) <= LABELLED else 26.0)), 1000.0)
    across = scale if square or high <= 0 else min(scale, tall / high)
    left = (WIDTH - wide * across) / 2

    def place(point: tuple[float, float]) -> tuple[float, float]:
        down = (point[1] - min(ys)) / high * tall if high > 0 else 20.0
        return left + (point[0] - min(xs)) * across, MARGIN + down

    placed = [place(point) for point in places]
    return Layout(placed, place(head), up, square, max(tall, 40.0) + 2 * MARGIN, _radius(placed))


def _radius(placed: Sequence[tuple[float, float]]) -> float:
    """The largest at which neighbours with their rings stay apart."""
    if len(placed) > 400:
        return 3.0
    apart = (max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in combinations(placed, 2))
    return max(3.0, min(10.0, min((gap for gap in apart if gap > 0), default=40.0) * 0.3))


def shade(voltage: float | None, floor: float) -> int | None:
    """The colour of a voltage, None where it is not known."""
    if voltage is None:
        return None
    return sum(voltage >= floor + step for step in STEPS)


def legend(floor: float) -> list[tuple[int, str]]:
    """Every colour with the voltages that it stands for."""
    edges = [number(floor + step, 3) for step in STEPS]
    inner = [(place, f"{low}–{high}") for place, (low, high) in enumerate(pairwise(edges), 1)]
    return [(0, f"under {edges[0]}"), *inner, (len(edges), f"from {edges[-1]}")]


def draw(
    feeder: Feeder, where: Layout, floor: float, voltages: Sequence[float | None], answers: Sequence[Answer], said: str
) -> Markup:
    """Draw the feeder in one hour. ``said`` puts the hour into words."""
    by_node = {answer.node: answer for answer in answers}
    names = len(feeder.nodes) <= LABELLED
    nodes = []
    for place, (node, (x, y)) in enumerate(zip(feeder.nodes, where.nodes, strict=True)):
        voltage, answer = voltages[place], by_node.get(place)
        parts = [
            tag("title", _title(node.name or node.id, voltage, answer)),
            tag("circle", r=where.radius + min(4.0, where.radius / 2), class_="ring"),
            tag("circle", r=where.radius, class_="core"),
            tag("path", d=_cross(where.radius), class_="no-mark"),
        ]
        if names:
            parts.append(text(0, where.radius + 17, (node.name or node.id)[:10], "middle", "faint"))
        parts_class = node_class(shade(voltage, floor), answer)
        nodes.append(
            tag(
                "g",
                *parts,
                transform=f"translate({coordinate(x)} {coordinate(y)})",
                class_=parts_class,
                data_node=place,
            )
        )
    segments = [tag("path", d=_segment(where, place), class_="segment") for place in range(len(where.nodes))]
    head_x, head_y = where.head
    size = max(where.radius * 1.5, 9.0)
    head = tag("rect", x=head_x - size / 2, y=head_y - size, width=size, height=2 * size, rx=2, class_="head")
    above = text(head_x - size / 2 - 5, head_y + 4, "head", "end", "name")
    return drawing(
        "The feeder by voltage",
        said,
        WIDTH,
        where.height,
        *segments,
        head,
        above,
        *nodes,
        class_="feeder",
        data_feeder="",
    )


def node_class(colour: int | None, answer: Answer | None) -> str:
    """The classes that colour a node and mark its answer."""
    mark = "" if answer is None else " yes" if answer.complied else " no"
    return f"node {'v-none' if colour is None else f'v{colour}'}{mark}"


def _title(name: str, voltage: float | None, answer: Answer | None) -> str:
    known = f"{name}: {number(voltage, 4)} pu"
    if answer is None:
        return f"{known}, not asked"
    gave = f"gave {number(answer.realised_kw, 1)} kW" if answer.complied else "declined"
    return f"{known}, asked for {number(answer.requested_kw, 1)} kW, {gave}"


def _cross(radius: float) -> str:
    """A small cross beside the node, so that its colour stays to be seen."""
    near, far = coordinate(round(radius, 1)), coordinate(round(radius * 1.75, 1))
    return f"M{near} -{far}L{far} -{near}M{near} -{near}L{far} -{far}"


def _segment(where: Layout, node: int) -> str:
    start = where.head if where.parents[node] < 0 else where.nodes[where.parents[node]]
    end = where.nodes[node]
    (x1, y1), (x2, y2) = ((coordinate(p[0]), coordinate(p[1])) for p in (start, end))
    return f"M{x1} {y1}V{y2}H{x2}" if where.square else f"M{x1} {y1}L{x2} {y2}"
