"""Feeders in their file format: reading, and every fault of a file at once.

The format is described in docs/feeders.md.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from planroute.domains.grid.feeder import HEAD, Feeder
from planroute.domains.grid.numbers import as_float, number_problem, shown
from planroute.errors import FaultyInput, InputError


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
        raise ValueError(f"the key {shown(repeated)} stands twice in one object")
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
            self.note("", f"must be an object, not {shown(data)}")
        for field in self.data:
            if field not in (*known.split(), "about"):
                self.note(field if isinstance(field, str) else shown(field), "is not a field of the format")

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
            self.note(field, f"must be a printable text or a whole number, not {shown(self.data[field])}")
        return text

    def number(
        self, field: str, default: float | None = None, *, zero: bool = False, missing: str = "is missing"
    ) -> float | None:
        if not self.has(field, "" if default is not None else missing):
            return default
        if problem := number_problem(self.data[field], zero):
            self.note(field, problem)
            return None
        return as_float(self.data[field])

    def entries(self, field: str) -> list[Any]:
        if not self.has(field):
            return []
        value = self.data[field]
        if not isinstance(value, list | tuple):
            self.note(field, f"must be a list, not {shown(value)}")
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
            node.note("position", f"must be a list of two numbers, not {shown(value)}")
        elif len(value) != 2:
            node.note("position", f"must be a list of two numbers, but has {len(value)}")
        else:
            xy = [number for part in value if math.isfinite(number := as_float(part))]
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
            record.note(field, f"names the unknown bus {shown(bus)}")
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
    if problem := number_problem(value / z_base, quantity == "x"):
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


def _text(value: object) -> str | None:
    """A printable text, or a whole number as one; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    return str(value) if isinstance(value, str) and value.strip() and value.isprintable() else None
