"""A radial feeder as data: who feeds whom, through what impedance, and how strongly a load moves a voltage.

The head (substation) is not a node: nodes are 0 … n-1 in the order given, and the parent ``HEAD`` stands for
it. The file format, its units and conventions are described in docs/feeders.md.
"""

import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.numbers import number_problem, shown
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
            if problem := number_problem(getattr(self, field)):
                faults.append(f"{field}: {problem}")
        for field, values in reals.items():
            for node, value in enumerate(values.tolist()):
                if problem := number_problem(value, zero=field == "x_pu"):
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
            raise InputError(f"{field} must be a whole number of at least 1, not {shown(count)}")
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
