"""Power flow of a radial feeder: linearised DistFlow, and a full AC sweep that referees it.

Both follow the branch-flow equations of Baran & Wu, "Optimal capacitor placement on radial distribution
systems" (IEEE Trans. Power Delivery 4(1), 1989). Consumption is positive, generation negative. Arrays are
float64 of shape (..., nodes), nodes in the feeder's own order; a single case has shape (nodes,). No argument
is changed.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planroute.domains.grid.compiled import compiled
from planroute.domains.grid.feeder import Feeder
from planroute.errors import InputError

FloatArray = NDArray[np.float64]

V_SQUARED_FLOOR = 1e-12
"""The least V² that LinDistFlow reports: past collapse the linear model goes negative, V has no meaning."""


class FlowResult(NamedTuple):
    """What `lindistflow` finds; leading axes are those of the loads."""

    v_pu: FloatArray
    """Voltage magnitude at each node, shape (..., nodes)."""
    head_p_mw: FloatArray
    """Active power drawn through the head, shape (...); negative is export."""
    head_q_mvar: FloatArray
    """Reactive power drawn through the head, shape (...)."""


class AcResult(NamedTuple):
    """What `ac_power_flow` finds. Where ``converged`` is False every other float is NaN."""

    v_pu: FloatArray
    """Voltage magnitude at each node, shape (..., nodes)."""
    head_p_mw: FloatArray
    """Active power drawn through the head, losses included, shape (...)."""
    head_q_mvar: FloatArray
    """Reactive power drawn through the head, losses included, shape (...)."""
    losses_mw: FloatArray
    """Active power lost in the segments, shape (...)."""
    iterations: NDArray[np.int64]
    """Sweeps made, shape (...)."""
    converged: NDArray[np.bool_]
    """Whether the sweep settled, shape (...)."""


def lindistflow(feeder: Feeder, p_mw: ArrayLike, q_mvar: ArrayLike) -> FlowResult:
    """Solve the linearised DistFlow: lossless flows, and a V² that falls by 2(rP + xQ) along each segment.

    ``p_mw`` and ``q_mvar`` are the net consumption per node, both of shape (..., nodes). V² is linear in
    them; V is its root, with V² held at ``V_SQUARED_FLOOR`` from below. For one case the powers at the head
    are arrays of no axis. Raises `InputError` for a wrong shape or a load that is not a finite number.
    """
    p, q, leading = _loads(feeder, p_mw, q_mvar)
    cases = p.shape[0]
    v = np.empty_like(p)
    head_p, head_q = np.empty(cases), np.empty(cases)
    if not _lindistflow(p, q, *feeder.sweep, feeder.s_base_mva, feeder.v_head_pu**2, v, head_p, head_q):
        raise _not_finite(p, q)
    return FlowResult(v.reshape((*leading, p.shape[1])), head_p.reshape(leading), head_q.reshape(leading))


def ac_power_flow(
    feeder: Feeder, p_mw: ArrayLike, q_mvar: ArrayLike, *, tolerance: float = 1e-10, max_iterations: int = 100
) -> AcResult:
    """Solve the full AC power flow with constant-power loads by backward and forward sweeps.

    ``p_mw`` and ``q_mvar`` are the net consumption per node, both of shape (..., nodes). A case has
    converged when no V² changes by more than ``tolerance`` (pu²) between two sweeps. One that does not,
    because its voltage collapses or ``max_iterations`` are spent, is reported with ``converged`` False and
    NaN results. Each case is solved alone, so a batch gives the same digits as a loop. Raises `InputError`
    for a wrong shape, a load that is not a finite number, or a tolerance or iteration limit that is not
    positive.
    """
    if not 0.0 < tolerance < np.inf:
        raise InputError(f"tolerance must be a positive number, not {tolerance!r}")
    if max_iterations < 1:
        raise InputError(f"max_iterations must be at least 1, not {max_iterations!r}")
    p, q, leading = _loads(feeder, p_mw, q_mvar)
    cases = p.shape[0]
    v = np.empty_like(p)
    head_p, head_q, losses = np.empty(cases), np.empty(cases), np.empty(cases)
    iterations, converged = np.empty(cases, np.int64), np.empty(cases, np.bool_)
    if not _ac_sweep(
        p, q, *feeder.sweep, feeder.s_base_mva, feeder.v_head_pu**2, float(tolerance), int(max_iterations),
        v, head_p, head_q, losses, iterations, converged,
    ):  # fmt: skip
        raise _not_finite(p, q)
    return AcResult(
        v.reshape((*leading, p.shape[1])),
        head_p.reshape(leading),
        head_q.reshape(leading),
        losses.reshape(leading),
        iterations.reshape(leading),
        converged.reshape(leading),
    )


def _loads(feeder: Feeder, p_mw: ArrayLike, q_mvar: ArrayLike) -> tuple[FloatArray, FloatArray, tuple[int, ...]]:
    """Both loads as contiguous (cases, nodes) arrays, and their leading axes."""
    p, q = _load("p_mw", p_mw), _load("q_mvar", q_mvar)
    nodes = feeder.n
    shape = p.shape
    if not shape or shape[-1] != nodes:
        raise InputError(f"p_mw has shape {shape}; its last axis must have the feeder's {nodes} nodes")
    if q.shape != shape:
        raise InputError(f"q_mvar has shape {q.shape}; it must have p_mw's shape {shape}")
    return p.reshape(-1, nodes), q.reshape(-1, nodes), shape[:-1]


def _load(field: str, value: ArrayLike) -> FloatArray:
    try:
        array = np.asarray(value)
    except ValueError:
        raise InputError(f"{field} is not an array: its rows differ in length") from None
    # numpy would read text as numbers, and drop an imaginary part with no more than a warning.
    if array.dtype.kind not in "fiub":
        raise InputError(f"{field} must be an array of real numbers, not of {array.dtype}")
    return np.asarray(array, dtype=np.float64, order="C")


def _not_finite(p: FloatArray, q: FloatArray) -> InputError:
    for field, load in (("p_mw", p), ("q_mvar", q)):
        bad = np.argwhere(~np.isfinite(load))
        if len(bad):
            case, node = (int(index) for index in bad[0])
            where = f"the first at case {case}, node {node}"
            return InputError(f"{field} has values that are not finite numbers: {len(bad)}, {where}")
    return InputError("p_mw or q_mvar is too large to add up")


# Both kernels walk the feeder in topological order with the head in slot 0. They answer whether every load is
# finite, which the sum at the head shows at no cost: a NaN or an infinity never leaves it.


@compiled
def _lindistflow(
    p_mw: FloatArray,
    q_mvar: FloatArray,
    order: NDArray[np.int64],
    parent: NDArray[np.int64],
    r: FloatArray,
    x: FloatArray,
    s_base: float,
    v2_head: float,
    v_pu: FloatArray,
    head_p: FloatArray,
    head_q: FloatArray,
) -> bool:
    cases, n = p_mw.shape
    flow_p, flow_q, v2 = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    v2[0] = v2_head
    # V² lost per MW and Mvar; divided out here, since a division per node would cost a third of the time.
    drop_p, drop_q = 2.0 * r / s_base, 2.0 * x / s_base
    finite = True
    for case in range(cases):
        flow_p[0] = 0.0
        flow_q[0] = 0.0
        for k in range(n):
            flow_p[k + 1] = p_mw[case, order[k]]
            flow_q[k + 1] = q_mvar[case, order[k]]
        for k in range(n, 0, -1):
            flow_p[parent[k]] += flow_p[k]
            flow_q[parent[k]] += flow_q[k]
        for k in range(1, n + 1):
            v2[k] = v2[parent[k]] - (drop_p[k] * flow_p[k] + drop_q[k] * flow_q[k])
        head_p[case] = flow_p[0]
        head_q[case] = flow_q[0]
        finite = finite and np.isfinite(flow_p[0]) and np.isfinite(flow_q[0])
        # Roots first, in one run, and then put in the user's order: so they are taken several at a time.
        for k in range(n):
            flow_p[k] = np.sqrt(max(v2[k + 1], V_SQUARED_FLOOR))
        for k in range(n):
            v_pu[case, order[k]] = flow_p[k]
    return finite


@compiled
def _ac_sweep(
    p_mw: FloatArray,
    q_mvar: FloatArray,
    order: NDArray[np.int64],
    parent: NDArray[np.int64],
    r: FloatArray,
    x: FloatArray,
    s_base: float,
    v2_head: float,
    tolerance: float,
    max_iterations: int,
    v_pu: FloatArray,
    head_p: FloatArray,
    head_q: FloatArray,
    losses: FloatArray,
    iterations: NDArray[np.int64],
    converged: NDArray[np.bool_],
) -> bool:
    cases, n = p_mw.shape
    load_p, load_q = np.zeros(n + 1), np.zeros(n + 1)
    per_base = 1.0 / s_base
    flow_p, flow_q, v2, squared_current = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1), np.empty(n + 1)
    finite = True
    for case in range(cases):
        for k in range(n):
            load_p[k + 1] = p_mw[case, order[k]] * per_base
            load_q[k + 1] = q_mvar[case, order[k]] * per_base
        total = load_p.sum() + load_q.sum()
        finite = finite and np.isfinite(total)
        v2[:] = v2_head
        settled = False
        sweeps = 0
        loss = 0.0
        while sweeps < max_iterations and not settled:
            sweeps += 1
            flow_p[:] = load_p
            flow_q[:] = load_q
            loss = 0.0
            for k in range(n, 0, -1):
                # So far flow[k] is what arrives at k; with the segment's loss it is what leaves the parent.
                squared_current[k] = (flow_p[k] * flow_p[k] + flow_q[k] * flow_q[k]) / v2[k]
                lost = r[k] * squared_current[k]
                loss += lost
                flow_p[k] += lost
                flow_q[k] += x[k] * squared_current[k]
                flow_p[parent[k]] += flow_p[k]
                flow_q[parent[k]] += flow_q[k]
            change = 0.0
            alive = True
            for k in range(1, n + 1):
                drop = 2.0 * (r[k] * flow_p[k] + x[k] * flow_q[k])
                new = v2[parent[k]] - drop + (r[k] * r[k] + x[k] * x[k]) * squared_current[k]
                change = max(change, abs(new - v2[k]))
                # Also False for a NaN, which a comparison for collapse would let pass.
                alive = alive and new > 0.0
                v2[k] = new
            if not alive:
                break
            settled = change <= tolerance
        iterations[case] = sweeps
        converged[case] = settled
        head_p[case] = flow_p[0] * s_base if settled else np.nan
        head_q[case] = flow_q[0] * s_base if settled else np.nan
        losses[case] = loss * s_base if settled else np.nan
        for k in range(n):
            v_pu[case, order[k]] = np.sqrt(v2[k + 1]) if settled else np.nan
    return finite
