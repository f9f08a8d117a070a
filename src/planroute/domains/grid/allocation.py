"""How a decomposition hands the needed reduction down: laterals, then segments, then nodes.

This detail, not decomposition as such, decides how well a decomposed plan does: quotas that one segment cannot meet are
not handed back, and only some nodes of a segment are asked. ``Allocation.hand_back`` repairs both; report either.
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
    """A reduction in MW asked of some nodes together."""

    name: str
    nodes: tuple[int, ...]
    quota_mw: float
    parent: str | None = None


def segments(feeder: Feeder, lateral: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Split a lateral's nodes into the half nearer to the head and the farther half."""
    nodes = np.flatnonzero(feeder.lateral == lateral)
    by_depth = nodes[np.argsort(feeder.depth[nodes], kind="stable")]
    near = (len(by_depth) + 1) // 2
    return tuple(by_depth[:near].tolist()), tuple(by_depth[near:].tolist())


def allocate(
    feeder: Feeder, wanted_mw: float, voltage_pu: FloatArray, flexible: FloatArray, depth: int, rules: Allocation
) -> list[Quota]:
    """Cut ``wanted_mw`` into quotas for laterals and, at depth three or more, for their segments.

    ``voltage_pu`` and ``flexible`` (MW) are the hour's forecast per node. Returns the lateral quotas first, then the
    segments', which name their lateral as parent. Laterals share by forecast voltage drop to ``severity_power``.
    """
    drop = np.array(
        [max(feeder.v_head_pu - voltage_pu[feeder.lateral == i].min(), 0.0) for i in range(len(feeder.laterals))]
    )
    weight = drop**rules.severity_power
    weight = weight / weight.sum() if weight.sum() > 0 else np.full(len(drop), 1 / len(drop))
    laterals = [
        Quota(f"lateral {label}", tuple(np.flatnonzero(feeder.lateral == i).tolist()), float(wanted_mw * weight[i]))
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
    """Return one worker's requests per node, in MW: equal parts of its quota to its first nodes, each capped.

    ``relative`` is the declared intensity over the calibrated one; the cap on a node follows it, up to all its load.

    A worker for a whole lateral (depth two) asks as many nodes as those of its segments would.
    """
    nodes = np.asarray(quota.nodes)
    asked = rules.nodes_per_segment * (1 if depth >= 3 else 2)
    count = len(nodes) if rules.hand_back else min(asked, len(nodes))
    picked = nodes[order_by(key[nodes])][:count]
    cap = min(rules.node_cap_of_flexible * relative, 1.0)
    requests = np.zeros_like(flexible)
    requests[picked] = np.minimum(quota.quota_mw / count, cap * flexible[picked])
    return requests


def _handed_back(parts: list[Quota], flexible: FloatArray, rules: Allocation) -> list[Quota]:
    """Move quota that a segment cannot meet to those that can, in proportion to their room."""
    room = np.array([rules.node_cap_of_flexible * flexible[list(p.nodes)].sum() for p in parts])
    quota = np.array([p.quota_mw for p in parts])
    met = np.minimum(quota, room)
    spare = room - met
    unmet = quota.sum() - met.sum()
    if spare.sum() > 0:
        met = met + spare * min(unmet / spare.sum(), 1.0)
    return [Quota(p.name, p.nodes, float(q), p.parent) for p, q in zip(parts, met, strict=True)]
