"""Time the power-flow solvers on the default feeder: `python benchmarks/power_flow.py [--cases N] [--json]`.

Times depend on the machine; the ratios to power-grid-model and pandapower (the `referees` extra) are what to
watch. Every solver gets the same seeded loads and one thread, is warmed up first, and counts its fastest run.
"""

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.feeder import HEAD, Feeder, straight_laterals
from planroute.domains.grid.power_flow import ac_power_flow, lindistflow

Floats = NDArray[np.float64]
TARGETS = {
    "power-grid-model batch / LinDistFlow batch": 60.0,
    "pandapower runpp / LinDistFlow batch": 10_000.0,
}


def loads(feeder: Feeder, cases: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    gross = rng.uniform(0.3, 1.7, (cases, 1)) * rng.uniform(0.5, 1.5, (cases, feeder.n)) / feeder.n
    return gross - rng.uniform(0.0, 0.5, (cases, 1)) / feeder.n, math.tan(math.acos(0.95)) * gross


def fastest(solve: Callable[[], Any], solves: int = 1, calls: int = 1, repetitions: int = 5) -> float:
    """Microseconds per solve."""
    solve()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        for _ in range(calls):
            solve()
        times.append((time.perf_counter() - start) / (calls * solves))
    return min(times) * 1e6


def power_grid_model_batch(feeder: Feeder, p_mw: Floats, q_mvar: Floats) -> Callable[[], Floats] | None:
    try:
        import power_grid_model as pgm
    except ImportError:
        return None
    n, base_v = feeder.n, 10_000.0
    base_ohm = base_v**2 / (feeder.s_base_mva * 1e6)
    node, line = pgm.initialize_array("input", "node", n + 1), pgm.initialize_array("input", "line", n)
    load, source = pgm.initialize_array("input", "sym_load", n), pgm.initialize_array("input", "source", 1)
    node["id"], node["u_rated"] = np.arange(n + 1), base_v
    line["id"], line["from_node"], line["to_node"] = np.arange(n) + 1000, feeder.parent + 1, np.arange(n) + 1
    line["from_status"] = line["to_status"] = 1
    line["r1"], line["x1"] = feeder.r_pu * base_ohm, feeder.x_pu * base_ohm
    line["c1"] = line["tan1"] = 0.0
    load["id"], load["node"], load["status"], load["type"] = np.arange(n) + 2000, np.arange(n) + 1, 1, 0
    load["p_specified"] = load["q_specified"] = 0.0
    source["id"], source["node"], source["status"], source["u_ref"] = 3000, 0, 1, feeder.v_head_pu
    source["sk"] = 1e16
    model = pgm.PowerGridModel({"node": node, "line": line, "sym_load": load, "source": source})
    update = pgm.initialize_array("update", "sym_load", p_mw.shape)
    update["id"] = load["id"]
    update["p_specified"], update["q_specified"] = p_mw * 1e6, q_mvar * 1e6

    def solve() -> Floats:
        found = model.calculate_power_flow(
            update_data={"sym_load": update},
            calculation_method="iterative_current",
            output_component_types={pgm.ComponentType.node: ["u_pu"]},
            threading=-1,
        )
        return np.asarray(found[pgm.ComponentType.node]["u_pu"][:, 1:])

    return solve


def pandapower_single(feeder: Feeder, p_mw: Floats, q_mvar: Floats) -> Callable[[], Floats] | None:
    try:
        import pandapower as pp
    except ImportError:
        return None
    base_kv = 10.0
    base_ohm = base_kv**2 / feeder.s_base_mva
    net = pp.create_empty_network(sn_mva=feeder.s_base_mva)
    head = pp.create_bus(net, vn_kv=base_kv)
    buses = [pp.create_bus(net, vn_kv=base_kv) for _ in range(feeder.n)]
    pp.create_ext_grid(net, head, vm_pu=feeder.v_head_pu)
    for node, up in enumerate(feeder.parent):
        ends = (head if up == HEAD else buses[up], buses[node])
        r, x = feeder.r_pu[node] * base_ohm, feeder.x_pu[node] * base_ohm
        pp.create_line_from_parameters(net, *ends, 1.0, r_ohm_per_km=r, x_ohm_per_km=x, c_nf_per_km=0, max_i_ka=1e3)
        pp.create_load(net, buses[node], p_mw=p_mw[node], q_mvar=q_mvar[node])

    def solve() -> Floats:
        pp.runpp(net)
        return np.asarray(net.res_bus.vm_pu.to_numpy()[1:])

    return solve


def measure(cases: int) -> dict[str, Any]:
    feeder = straight_laterals()
    p, q = loads(feeder, cases)
    day_p, day_q = p[:24], q[:24]
    times = {
        "LinDistFlow batch": fastest(lambda: lindistflow(feeder, p, q), cases),
        "LinDistFlow one day a call": fastest(lambda: lindistflow(feeder, day_p, day_q), 24, calls=1000),
        "LinDistFlow one hour a call": fastest(lambda: lindistflow(feeder, p[0], q[0]), calls=2000),
        "AC sweep batch": fastest(lambda: ac_power_flow(feeder, p, q), cases),
        "AC sweep one hour a call": fastest(lambda: ac_power_flow(feeder, p[0], q[0]), calls=2000),
    }
    exact = ac_power_flow(feeder, p, q)
    gaps = {"LinDistFlow": float(np.abs(lindistflow(feeder, p, q).v_pu - exact.v_pu).max())}
    some = min(cases, 4800)
    if solve := power_grid_model_batch(feeder, p[:some], q[:some]):
        times["power-grid-model batch"] = fastest(solve, some)
        gaps["power-grid-model"] = float(np.abs(solve() - exact.v_pu[:some]).max())
    if solve := pandapower_single(feeder, p[0], q[0]):
        times["pandapower runpp"] = fastest(solve, calls=10)
        gaps["pandapower"] = float(np.abs(solve() - exact.v_pu[0]).max())
    ratios = {
        f"{other} / {ours}": times[other] / times[ours]
        for ours in ("LinDistFlow batch", "AC sweep batch")
        for other in ("power-grid-model batch", "pandapower runpp")
        if other in times
    }
    return {"cases": cases, "us_per_solve": times, "ratios": ratios, "largest_gap_to_ac_pu": gaps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=96_000, help="solves in a batch (default 96000)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    if arguments.cases < 24:
        parser.error("--cases must be at least 24, one day")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # pandapower's own
        warnings.filterwarnings("ignore", category=FutureWarning)
        found = measure(arguments.cases)
    if arguments.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'microseconds per solve, 40 nodes':48}{found['cases']} cases in a batch")
    for name, value in found["us_per_solve"].items():
        print(f"  {name:46}{value:12.2f}")
    print("ratio")
    for name, value in found["ratios"].items():
        target = f"   (at least {TARGETS[name]:,.0f})" if name in TARGETS else ""
        print(f"  {name:46}{value:12,.0f}{target}")
    print("largest difference in voltage to the AC sweep, pu")
    for name, value in found["largest_gap_to_ac_pu"].items():
        print(f"  {name:46}{value:12.1e}")
    for name in ("power-grid-model batch", "pandapower runpp"):
        if name not in found["us_per_solve"]:
            print(f"{name}: not installed; `pip install planroute[referees]`")


if __name__ == "__main__":
    main()
