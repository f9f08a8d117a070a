"""A radial feeder as data: who feeds whom, through what impedance, and how strongly a load moves a voltage.

The head (substation) is not a node: nodes are 0 … n-1 in the order given, and the parent ``HEAD`` stands for
it. The file format, its units and conventions are described in docs/feeders.md.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planroute.errors import FaultyInput, InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

HEAD = -1
"""The parent of a node that the head feeds directly."""


class Sweep(NamedTuple):
    """The feeder as a solver walks it: topological order, the head in slot 0. Shared: never write to it."""

    order: IntArray
    """Node in slot k + 1, shape (nodes,)."""
    parent: IntArray
    """Slot that feeds slot k, shape (nodes + 1,)."""
    r_pu: FloatArray
    """Resistance of the segment into slot k, shape (nodes + 1,)."""
    x_pu: FloatArray
    """Reactance of the segment into slot k, shape (nodes + 1,)."""


@dataclass(frozen=True, eq=False)
class Feeder:
    """A radial feeder. Arrays are indexed by node, in the order given, and are read-only.

    Any sequence of numbers will do for an array. Raises `FaultyInput` with every fault it finds: a wrong
    length, a parent that is no node, a loop, an impedance or base out of range, an id that is used twice.
    """

    parent: IntArray
    """The node upstream of each node, or ``HEAD``."""
    r_pu: FloatArray
    """Resistance of the segment from the parent; greater than 0."""
    x_pu: FloatArray
    """Reactance of the segment from the parent; 0 or more."""
    s_base_mva: float = 1.0
    """The power that is 1 pu."""
    v_head_pu: float = 1.0
    """Voltage magnitude held at the head."""
    name: str = "feeder"
    node_ids: tuple[str, ...] = ()
    """Unique; counted from "1" if left out."""
    node_names: tuple[str, ...] = ()
    """For people; the ids if left out."""
    lateral_labels: tuple[str, ...] = ()
    """The lateral of each node; if left out or empty, the id of the first node on its way from the head."""
    positions: FloatArray | None = None
    """Where to draw each node, shape (nodes, 2), in any unit, or None."""

    def __post_init__(self) -> None:
        faults: list[str] = []
        parent = _array("parent", self.parent, "iu", faults)
        n = len(parent)
        if not n:
            raise FaultyInput(f"feeder {self.name!r}", faults)
        reals = {name: _array(name, getattr(self, name), "iuf", faults, n) for name in ("r_pu", "x_pu")}
        positions = self.positions
        if positions is not None:
            positions = _array("positions", positions, "iuf", faults, n, width=2)
            if not np.isfinite(positions).all():
                faults.append("positions: must be finite numbers")
        ids = tuple(self.node_ids) or tuple(str(node + 1) for node in range(n))
        names, labels = tuple(self.node_names) or ids, tuple(self.lateral_labels) or ("",) * n
        for field, texts in (("node_ids", ids), ("node_names", names), ("lateral_labels", labels)):
            if len(texts) != n:
                faults.append(f"{field}: has {len(texts)} entries for {n} nodes")
        if len(set(ids)) != len(ids):
            faults.append("node_ids: must be unique")
        for field in ("s_base_mva", "v_head_pu"):
            if problem := _number_problem(getattr(self, field)):
                faults.append(f"{field}: {problem}")
        for field, values in reals.items():
            for node, value in enumerate(values.tolist()):
                if problem := _number_problem(value, zero=field == "x_pu"):
                    faults.append(f"{field}[{node}]: {problem}")
        outside = np.flatnonzero((parent < HEAD) | (parent >= n))
        faults += [f"parent[{node}]: {parent[node]} is no node" for node in outside]
        if not len(outside) and len(_walk(parent)[0]) < n:
            faults.append("parent: the nodes form a loop, so some never reach the head")
        if faults:
            raise FaultyInput(f"feeder {self.name!r}", faults)
        self._settle(parent=parent, **reals, positions=positions, node_ids=ids, node_names=names)
        self._settle(s_base_mva=float(self.s_base_mva), v_head_pu=float(self.v_head_pu))
        self._settle(lateral_labels=tuple(label or ids[self.path(i)[0]] for i, label in enumerate(labels)))

    def _settle(self, **values: Any) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.parent)

    @cached_property
    def depth(self) -> IntArray:
        """Segments between each node and the head; 1 for the head's neighbours."""
        return _frozen(_walk(self.parent)[1])

    @cached_property
    def laterals(self) -> tuple[str, ...]:
        """The distinct lateral labels, in order of first appearance."""
        return tuple(dict.fromkeys(self.lateral_labels))

    @cached_property
    def lateral(self) -> IntArray:
        """The lateral of each node, as an index into `laterals`."""
        index = {label: i for i, label in enumerate(self.laterals)}
        return _frozen(np.array([index[label] for label in self.lateral_labels], np.int64))

    @cached_property
    def sweep(self) -> Sweep:
        """Topological order and impedances for a solver, computed once."""
        order = _walk(self.parent)[0]
        slot = np.zeros(self.n + 1, np.int64)  # its last entry is the head's, found by the parent -1
        slot[order] = np.arange(1, self.n + 1)
        # Left writable: numba tells read-only arrays apart at several times the cost of a small call.
        return Sweep(
            order,
            np.concatenate(([0], slot[self.parent[order]])),
            np.concatenate(([0.0], self.r_pu[order])),
            np.concatenate(([0.0], self.x_pu[order])),
        )

    @cached_property
    def on_path(self) -> NDArray[np.bool_]:
        """Whether the segment into node k carries the load of node i, as [i, k], shape (nodes, nodes)."""
        carries = np.eye(self.n, dtype=np.bool_)
        for node in self.sweep.order:
            if self.parent[node] != HEAD:
                carries[node] |= carries[self.parent[node]]
        return _frozen(carries)

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from the head's neighbour down to ``node``, which is included."""
        found = []
        while node != HEAD:
            found.append(int(node))
            node = int(self.parent[node])
        return tuple(reversed(found))

    def downstream(self, node: int) -> tuple[int, ...]:
        """``node`` and every node that is fed through it, in ascending order."""
        return tuple(np.flatnonzero(self.on_path[:, node]).tolist())

    @cached_property
    def sensitivity(self) -> FloatArray:
        """Voltage leverage on active power, shape (nodes, nodes), in pu² per pu of power.

        [i, j] is how far LinDistFlow's V² at i rises when consumption at j falls by ``s_base_mva``: twice the
        resistance that the two nodes share on their ways from the head.
        """
        return _frozen(2.0 * (self.on_path * self.r_pu) @ self.on_path.T.astype(np.float64))

    @cached_property
    def sensitivity_reactive(self) -> FloatArray:
        """As `sensitivity`, for reactive power: twice the shared reactance."""
        return _frozen(2.0 * (self.on_path * self.x_pu) @ self.on_path.T.astype(np.float64))

    def to_dict(self) -> dict[str, Any]:
        """The feeder in its file format; `feeder_from_dict` gives an equal feeder back."""
        head = "head"
        while head in self.node_ids:
            head += "_"
        nodes = [
            {"id": i, "name": name, "lateral": label}
            for i, name, label in zip(self.node_ids, self.node_names, self.lateral_labels, strict=True)
        ]
        if self.positions is not None:
            nodes = [node | {"position": xy} for node, xy in zip(nodes, self.positions.tolist(), strict=True)]
        feeds = [head if up == HEAD else self.node_ids[up] for up in self.parent]
        lines = [
            {"from": up, "to": self.node_ids[i], "r_pu": float(self.r_pu[i]), "x_pu": float(self.x_pu[i])}
            for i, up in enumerate(feeds)
        ]
        top = {"name": self.name, "s_base_mva": self.s_base_mva, "v_head_pu": self.v_head_pu, "head": head}
        return top | {"nodes": nodes, "lines": lines}

    @cached_property
    def _key(self) -> str:
        return json.dumps(self.to_dict())

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Feeder) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[type["Feeder"], tuple[Any, ...]]:
        # Through the constructor, since a plain copy of the arrays would be writable.
        return Feeder, tuple(getattr(self, field.name) for field in fields(self))


def straight_laterals(
    laterals: int = 4,
    nodes_per_lateral: int = 10,
    r_pu: float = 0.022,
    x_pu: float = 0.014,
    s_base_mva: float = 1.0,
    v_head_pu: float = 1.0,
) -> Feeder:
    """Build a feeder of equal straight laterals that leave the head directly, with equal segments.

    Nodes are ordered lateral by lateral, from the head outwards. Raises `InputError` for a count below 1.
    """
    for field, count in (("laterals", laterals), ("nodes_per_lateral", nodes_per_lateral)):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise InputError(f"{field} must be a whole number of at least 1, not {_shown(count)}")
    n = laterals * nodes_per_lateral
    parent = np.where(np.arange(n) % nodes_per_lateral == 0, HEAD, np.arange(n) - 1)
    places = [(lateral, step) for lateral in range(laterals) for step in range(nodes_per_lateral)]
    return Feeder(
        parent,
        np.full(n, r_pu),
        np.full(n, x_pu),
        s_base_mva,
        v_head_pu,
        name=f"{laterals} straight laterals of {nodes_per_lateral} nodes",
        node_ids=tuple(f"{lateral + 1}.{step + 1}" for lateral, step in places),
        lateral_labels=tuple(str(lateral + 1) for lateral, _ in places),
        positions=np.array([(step + 1.0, -float(lateral)) for lateral, step in places]),
    )


@dataclass(frozen=True)
class FeederFault:
    """One thing that is wrong with a feeder in its file format."""

    component: str
    """``feeder``, ``node`` or ``line``."""
    id: str
    """The component's id, or its place such as ``lines[3]`` where it has none."""
    field: str
    """The field at fault; empty if it is the component as a whole."""
    problem: str

    def __str__(self) -> str:
        where = " ".join(part for part in (self.component, self.id) if part)
        return f"{where}, {self.field}: {self.problem}" if self.field else f"{where}: {self.problem}"


def validate_feeder(data: object) -> list[FeederFault]:
    """Return every fault of a feeder in its file format; an empty list if it is sound."""
    return _read(data)[1]


def feeder_from_dict(data: object) -> Feeder:
    """Build a feeder from its file format. Raises `FaultyInput` with all its faults."""
    return _build(data, "feeder")


def load_feeder(path: str | Path) -> Feeder:
    """Read a feeder file.

    Raises `FaultyInput` with all the faults of its content, `InputError` if it cannot be read or is not JSON.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"feeder file {path} is not text in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"feeder file {path} cannot be read: {reason}") from None
    try:
        data = json.loads(text, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise InputError(f"feeder file {path} is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"feeder file {path} is not valid JSON: {error}") from None
    return _build(data, f"feeder file {path}")


def _build(data: object, what: str) -> Feeder:
    arguments, faults = _read(data)
    if faults:
        raise FaultyInput(what, [str(fault) for fault in faults], hint="docs/feeders.md describes the format")
    return Feeder(**arguments)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"the key {_shown(repeated)} stands twice in one object")
    return found


class _Record:
    """One object of the file: hands out its fields and notes what is wrong with them."""

    def __init__(self, data: object, component: str, place: str, faults: list[FeederFault], known: str) -> None:
        self.component, self.id, self.faults = component, place, faults
        self.is_object = isinstance(data, Mapping)
        self.data: Mapping[Any, Any] = data if isinstance(data, Mapping) else {}
        if component != "feeder":
            self.id = _text(self.data.get("id")) or place
        if not self.is_object:
            self.note("", f"must be an object, not {_shown(data)}")
        for field in self.data:
            if field not in (*known.split(), "about"):
                self.note(field if isinstance(field, str) else _shown(field), "is not a field of the format")

    def note(self, field: str, problem: str) -> None:
        self.faults.append(FeederFault(self.component, self.id, field, problem))

    def has(self, field: str, problem: str = "is missing") -> bool:
        # What is no object at all has been noted once; its fields are not missed one by one.
        if field not in self.data and self.is_object and problem:
            self.note(field, problem)
        return field in self.data

    def text(self, field: str, default: str | None = None) -> str | None:
        if not self.has(field, "" if default is not None else "is missing"):
            return default
        text = _text(self.data[field])
        if text is None:
            self.note(field, f"must be a printable text or a whole number, not {_shown(self.data[field])}")
        return text

    def number(
        self, field: str, default: float | None = None, *, zero: bool = False, missing: str = "is missing"
    ) -> float | None:
        if not self.has(field, "" if default is not None else missing):
            return default
        if problem := _number_problem(self.data[field], zero):
            self.note(field, problem)
            return None
        return _as_float(self.data[field])

    def entries(self, field: str) -> list[Any]:
        if not self.has(field):
            return []
        value = self.data[field]
        if not isinstance(value, list | tuple):
            self.note(field, f"must be a list, not {_shown(value)}")
            return []
        if not value:
            self.note(field, "must not be empty")
        return list(value)


class _Line(NamedTuple):
    record: _Record
    up: int | None
    down: int | None
    r_pu: float | None
    x_pu: float | None


def _read(data: object) -> tuple[dict[str, Any], list[FeederFault]]:
    """The arguments of `Feeder`, to be used only if no fault comes with them."""
    faults: list[FeederFault] = []
    top = _Record(data, "feeder", "", faults, "name s_base_mva v_head_pu v_base_kv head nodes lines")
    name, head = top.text("name", "feeder"), top.text("head", "head")
    s_base, v_head = top.number("s_base_mva"), top.number("v_head_pu", 1.0)
    v_base = top.number("v_base_kv", math.nan)

    known = "id name lateral position"
    nodes = [_Record(d, "node", f"nodes[{i}]", faults, known) for i, d in enumerate(top.entries("nodes"))]
    slots: dict[str, int] = {} if head is None else {head: HEAD}
    for i, node in enumerate(nodes):
        node_id = node.text("id")
        if node_id is not None and slots.setdefault(node_id, i) != i:
            taken = "the head, which is not listed" if node_id == head else "another node"
            node.note("id", f"is already that of {taken}")
    names = [node.text("name", node.id) for node in nodes]
    labels = [node.text("lateral", "") for node in nodes]
    positions = _positions(nodes)

    known = "id from to r_pu x_pu r_ohm x_ohm"
    records = [_Record(d, "line", f"lines[{i}]", faults, known) for i, d in enumerate(top.entries("lines"))]
    line_ids: set[str] = set()
    for record in records:
        line_id = record.text("id", "")
        if line_id in line_ids:
            record.note("id", "is already that of another line")
        elif line_id:
            line_ids.add(line_id)
    z_base = _impedance_base(top, records, v_base, s_base)
    lines = [_line(record, slots, z_base) for record in records]
    if nodes and lines:
        _check_tree(top, {i: node for i, node in enumerate(nodes) if slots.get(node.id) == i}, lines)
    feeds = {line.down: line for line in lines}
    if faults:
        return {}, faults
    ordered = [feeds[i] for i in range(len(nodes))]
    arguments: dict[str, Any] = {"parent": [line.up for line in ordered], "positions": positions}
    arguments |= {"r_pu": [line.r_pu for line in ordered], "x_pu": [line.x_pu for line in ordered]}
    arguments |= {"node_ids": [node.id for node in nodes], "node_names": names, "lateral_labels": labels}
    return arguments | {"name": name, "s_base_mva": s_base, "v_head_pu": v_head}, faults


def _positions(nodes: Sequence[_Record]) -> list[list[float]] | None:
    found = []
    if not any("position" in node.data for node in nodes):
        return None
    for node in nodes:
        value = node.data.get("position")
        if "position" not in node.data:
            node.note("position", "is missing, while other nodes have one")
        elif not isinstance(value, list | tuple):
            node.note("position", f"must be a list of two numbers, not {_shown(value)}")
        elif len(value) != 2:
            node.note("position", f"must be a list of two numbers, but has {len(value)}")
        else:
            xy = [number for part in value if math.isfinite(number := _as_float(part))]
            if len(xy) < 2:
                node.note("position", "must hold two finite numbers")
            found.append(xy)
    return found


def _impedance_base(
    top: _Record, records: Iterable[_Record], v_base_kv: float | None, s_base_mva: float | None
) -> float:
    """What 1 pu is in ohm; NaN where no line asks for it or the bases are at fault."""
    if not any(field in record.data for record in records for field in ("r_ohm", "x_ohm")):
        return math.nan
    if "v_base_kv" not in top.data:
        top.note("v_base_kv", "is missing; impedances in ohm need it")
    if v_base_kv is None or s_base_mva is None or math.isnan(v_base_kv):
        return math.nan
    base = v_base_kv * v_base_kv / s_base_mva
    if 0.0 < base < math.inf:
        return base
    top.note("v_base_kv", "gives no usable impedance base together with s_base_mva")
    return math.nan


def _line(record: _Record, slots: Mapping[str, int], z_base: float) -> _Line:
    ends: list[int | None] = []
    for field in ("from", "to"):
        bus = record.text(field)
        if bus is not None and bus not in slots:
            record.note(field, f"names the unknown bus {_shown(bus)}")
        ends.append(None if bus is None else slots.get(bus))
    up, down = ends
    if up is not None and up == down:
        record.note("to", "is the line's own start: a line to itself")
        up = None
    elif down == HEAD:
        record.note("to", "is the head: a loop, or a line that is not written from the head outwards")
    return _Line(record, up, down, _impedance(record, "r", z_base), _impedance(record, "x", z_base))


def _impedance(record: _Record, quantity: str, z_base: float) -> float | None:
    in_pu, in_ohm = f"{quantity}_pu", f"{quantity}_ohm"
    if in_ohm not in record.data:
        return record.number(in_pu, zero=quantity == "x", missing=f"is missing; give {in_pu} or {in_ohm}")
    value = record.number(in_ohm, zero=quantity == "x")
    if in_pu in record.data:
        record.note(in_pu, f"is given as {in_ohm} too")
    if value is None or math.isnan(z_base):
        return None
    if problem := _number_problem(value / z_base, quantity == "x"):
        record.note(in_ohm, f"in pu {problem}")
    return value / z_base


def _check_tree(top: _Record, nodes: Mapping[int, _Record], lines: Sequence[_Line]) -> None:
    """Note each node that is not fed exactly once, from the head, unless that follows from a faulty line."""
    feeding: dict[int, list[str]] = {i: [] for i in nodes}
    upstream: dict[int, int] = {}
    below: dict[int, list[int]] = {}
    start = [HEAD]
    for line in lines:
        if line.down is None or line.down == HEAD:
            continue
        feeding[line.down].append(line.record.id)
        if line.up is None:
            start.append(line.down)
        else:
            upstream[line.down] = line.up
            below.setdefault(line.up, []).append(line.down)
    for i, by in feeding.items():
        if len(by) > 1:
            problem = f"{len(by)} parents, through {', '.join(by)}: a loop, or a line towards the head"
            nodes[i].note("lines", problem)
    reached = set(start)
    while start:
        fresh = [i for i in below.get(start.pop(), ()) if i not in reached]
        reached.update(fresh)
        start += fresh
    seen: set[int] = set()
    for i in sorted(nodes.keys() - reached):
        trail: dict[int, int] = {}
        at = i
        while at in upstream and at not in seen:
            seen.add(at)
            trail[at] = len(trail)
            at = upstream[at]
        if at in trail:
            ring = [*list(trail)[trail[at] :], at]
            top.note("lines", "a loop without the head: " + " from ".join(nodes[k].id for k in ring))
    for i, node in nodes.items():
        if i not in reached:
            problem = "not connected to the head" if feeding[i] else "an island: no line leads to it"
            node.note("lines", problem)


def _array(
    name: str, value: Any, kinds: str, faults: list[str], n: int | None = None, width: int | None = None
) -> NDArray[Any]:
    """A read-only copy; noted as faulty and replaced by a harmless one if it is not what the field needs."""
    dtype, what = (np.int64, "whole numbers") if kinds == "iu" else (np.float64, "numbers")
    shape = () if width is None else (width,)
    try:
        array = np.array(value)
        if (array.dtype.kind in kinds or not array.size) and array.ndim == 1 + len(shape) and array.shape[1:] == shape:
            if len(array) == n or (n is None and len(array)):
                return _frozen(array.astype(dtype))
            faults.append(f"{name}: has {len(array)} entries for {n or 'one or more'} nodes")
            return np.empty((0, *shape), dtype)
    except (TypeError, ValueError):
        pass
    faults.append(f"{name}: must be an array of {what}" + (f" with {width} columns" if width else ""))
    return np.empty((0, *shape), dtype)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _walk(parent: IntArray) -> tuple[IntArray, IntArray]:
    """The nodes level by level from the head, those on a loop left out, and the depth of each node."""
    below: list[list[int]] = [[] for _ in range(len(parent) + 1)]
    for node, up in enumerate(parent.tolist()):
        below[up].append(node)  # the head's, at -1, come last
    depth = np.zeros(len(parent), np.int64)
    order = list(below[HEAD])
    depth[order] = 1
    for node in order:  # grows while it is walked
        order += below[node]
        depth[below[node]] = depth[node] + 1
    return np.array(order, np.int64), depth


def _as_float(value: object) -> float:
    """The value as a float: NaN if it is no real number, infinite if it is beyond a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _number_problem(value: object, zero: bool = False) -> str:
    """Why the value is not a finite number above 0 (or 0 itself, with ``zero``); empty if it is."""
    number = _as_float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return f"must be a number, not {_shown(value)}"
    if not math.isfinite(number):
        return f"must be a finite number, not {_shown(value)}"
    if number < 0.0 or (number == 0.0 and not zero):
        return f"must {'not be negative' if zero else 'be greater than 0'}, but is {number!r}"
    return ""


def _text(value: object) -> str | None:
    """A printable text, or a whole number as one; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    return str(value) if isinstance(value, str) and value.strip() and value.isprintable() else None


def _shown(value: object) -> str:
    """The value as a message can hold it: short, on one line."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 64 bits"
    if value is None or isinstance(value, str | int | float):
        return shown if len(shown := repr(value)) <= 40 else f"{shown[:37]}..."
    return f"a {type(value).__name__}"
