"""How a decomposition hands the needed reduction down: laterals, then segments, then nodes.

This detail, not decomposition as such, decides how well a decomposed plan does: quotas that one segment cannot meet are
not handed back, and only some nodes of a segment are asked. ``Allocation.hand_back`` repairs both; report either.

Arrays have the nodes on their last axis; leading axes, where given, are independent cases.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import Allocation
from planroute.domains.grid.feeder import Feeder
from planroute.domains.grid.scheduling import order_by

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quota:
    """A reduction in MW asked of some nodes together; of many cases, an array over their leading axes."""

    name: str
    nodes: tuple[int, ...]
    quota_mw: float | FloatArray
    parent: str | None = None


def segments(feeder: Feeder, lateral: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split a lateral's nodes into the half nearer to the head and the farther half."""
    nodes = np.flatnonzero(feeder.lateral == lateral)
    by_depth = nodes[np.argsort(feeder.depth[nodes], kind="stable")]
    near = (len(by_depth) + 1) // 2
    return tuple(by_depth[:near].tolist()), tuple(by_depth[near:].tolist())


def allocate(
    feeder: Feeder,
    wanted_mw: float | FloatArray,
    voltage_pu: FloatArray,
    flexible: FloatArray,
    depth: int,
    rules: Allocation,
) -> list[Quota]:
    """Cut ``wanted_mw`` (...) into quotas for laterals and, at depth three or more, for their segments.

    ``voltage_pu`` and ``flexible`` (MW) are the hour's forecast (..., nodes). Returns the lateral quotas first, then
    the segments', which name their lateral as parent. Laterals share by forecast voltage drop to ``severity_power``.
    """
    lowest = [voltage_pu[..., feeder.lateral == i].min(axis=-1) for i in range(len(feeder.laterals))]
    drop = np.maximum(feeder.v_head_pu - np.stack(lowest, axis=-1), 0.0)
    weight = drop**rules.severity_power
    total = weight.sum(axis=-1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / drop.shape[-1])
    laterals = [
        Quota(
            f"lateral {label}", tuple(np.flatnonzero(feeder.lateral == i).tolist()), _plain(wanted_mw * weight[..., i])
        )
        for i, label in enumerate(feeder.laterals)
    ]
    if depth < 3:
        return laterals
    parts = []
    for i, quota in enumerate(laterals):
        near, far = segments(feeder, i)
        share = rules.far_segment_share if far else 0.0
        for name, nodes, part in (("near", near, 1 - share), ("far", far, share)):
            if nodes:
                parts.append(Quota(f"{quota.name} {name}", nodes, quota.quota_mw * part, quota.name))
    if rules.hand_back:
        parts = _handed_back(parts, flexible, rules)
    return laterals + parts


def worker_requests(
    quota: Quota, flexible: FloatArray, key: FloatArray, depth: int, relative: float, rules: Allocation
) -> FloatArray:
    """Return one worker's requests (..., nodes) in MW: equal parts of its quota to its first nodes, each capped.

    ``relative`` is the declared intensity over the calibrated one; the cap on a node follows it, up to all its load.

    A worker for a whole lateral (depth two) asks as many nodes as those of its segments would.
    """
    nodes = np.asarray(quota.nodes)
    asked = rules.nodes_per_segment * (1 if depth >= 3 else 2)
    count = len(nodes) if rules.hand_back else min(asked, len(nodes))
    picked = nodes[order_by(key[..., nodes])[..., :count]]
    cap = min(rules.node_cap_of_flexible * relative, 1.0)
    part = np.asarray(quota.quota_mw)[..., None] / count
    requests = np.zeros_like(flexible)
    leading = np.ogrid[tuple(map(slice, picked.shape[:-1]))] if picked.ndim > 1 else ()
    at = (*(axis[..., None] for axis in leading), picked)
    requests[at] = np.minimum(part, cap * flexible[at])
    return requests


def _handed_back(parts: list[Quota], flexible: FloatArray, rules: Allocation) -> list[Quota]:
    """Move quota that a segment cannot meet to those that can, in proportion to their room."""
    room = np.stack([rules.node_cap_of_flexible * flexible[..., list(p.nodes)].sum(axis=-1) for p in parts], axis=-1)
    quota = np.stack([np.asarray(p.quota_mw) for p in parts], axis=-1)
    met = np.minimum(quota, room)
    spare = room - met
    unmet = quota.sum(axis=-1) - met.sum(axis=-1)
    most = spare.sum(axis=-1)
    part = np.where(most > 0, np.minimum(unmet / np.where(most > 0, most, 1.0), 1.0), 0.0)
    met = met + spare * part[..., None]
    return [Quota(p.name, p.nodes, _plain(met[..., i]), p.parent) for i, p in enumerate(parts)]


def _plain(value: FloatArray) -> float | FloatArray:
    """A number where there is one case."""
    return value if np.ndim(value) else float(value)
