import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from planroute.domains.grid.feeder import HEAD, Feeder, straight_laterals
from planroute.domains.grid.power_flow import V_SQUARED_FLOOR, ac_power_flow, lindistflow
from planroute.errors import InputError

Floats = NDArray[np.float64]
FEEDER = straight_laterals()
TAN = math.tan(math.acos(0.95))

# The uncontrolled day in MW, hours 0 to 23.
BASE = [0.576, 0.576, 0.5761, 0.5767, 0.5798, 0.5909, 0.6156, 0.6471, 0.6624, 0.6471, 0.6156, 0.5909]
BASE += [0.5798, 0.577, 0.5777, 0.5823, 0.5955, 0.6227, 0.6633, 0.7031, 0.72, 0.7031, 0.6633, 0.6227]
COOLING = [0.0, 0.0, 0.0002, 0.0006, 0.002, 0.0056, 0.0146, 0.0347, 0.0751, 0.1482, 0.2667, 0.4379]
COOLING += [0.6559, 0.8962, 1.1172, 1.2705, 1.318, 1.2533, 1.0956, 0.8806, 0.6508, 0.4422, 0.2762, 0.1587]
PV = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0495, 0.1347, 0.232, 0.3258, 0.403]
PV += [0.4536, 0.4712, 0.4536, 0.403, 0.3258, 0.232, 0.1347, 0.0495, 0.0, 0.0, 0.0, 0.0]
SHARE = np.repeat([1.03, 1.01, 0.99, 0.97], 10) / 40


def uncontrolled_day() -> tuple[Floats, Floats]:
    gross = np.outer(np.add(BASE, COOLING), SHARE)
    return gross - np.outer(PV, SHARE), TAN * gross


def random_feeder(seed: int, n: int = 25) -> Feeder:
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(HEAD, i) for i in range(n)])
    shuffle = rng.permutation(n)
    place = np.append(np.argsort(shuffle), HEAD)
    r, x = rng.uniform(0.002, 0.03, (2, n))
    return Feeder(place[parent[shuffle]], r, x, s_base_mva=rng.uniform(0.5, 5), v_head_pu=rng.uniform(0.95, 1.05))


def random_loads(feeder: Feeder, seed: int, cases: int = 6) -> tuple[Floats, Floats]:
    """From strong export to strong import, reactive power of either sign."""
    rng = np.random.default_rng(seed)
    level = np.linspace(-1.1, 1.9, cases)[:, None] * feeder.s_base_mva / feeder.n
    p = level * rng.uniform(0, 2, (cases, feeder.n))
    return p, p * rng.uniform(-0.3, 0.5, (cases, feeder.n))


FEEDERS = [FEEDER, *(random_feeder(seed) for seed in range(3))]


# Against other solvers


def pandapower_net(pp: Any, feeder: Feeder) -> Any:
    base_kv = 10.0
    base_ohm = base_kv**2 / feeder.s_base_mva
    net = pp.create_empty_network(sn_mva=feeder.s_base_mva)
    head = pp.create_bus(net, vn_kv=base_kv)
    buses = [pp.create_bus(net, vn_kv=base_kv) for _ in range(feeder.n)]
    pp.create_ext_grid(net, head, vm_pu=feeder.v_head_pu)
    for node, up in enumerate(feeder.parent):
        pp.create_line_from_parameters(
            net,
            head if up == HEAD else buses[up],
            buses[node],
            length_km=1.0,
            r_ohm_per_km=feeder.r_pu[node] * base_ohm,
            x_ohm_per_km=feeder.x_pu[node] * base_ohm,
            c_nf_per_km=0.0,
            max_i_ka=1e3,
        )
        pp.create_load(net, buses[node], p_mw=0.0)
    return net


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("feeder", FEEDERS, ids=["default", "random 0", "random 1", "random 2"])
def test_ac_agrees_with_pandapower(feeder: Feeder) -> None:
    pp = pytest.importorskip("pandapower")
    net = pandapower_net(pp, feeder)
    p, q = random_loads(feeder, seed=1, cases=4)
    ours = ac_power_flow(feeder, p, q)
    assert ours.converged.all()
    for case in range(len(p)):
        net.load["p_mw"], net.load["q_mvar"] = p[case], q[case]
        pp.runpp(net, tolerance_mva=1e-10, numba=False)
        np.testing.assert_allclose(ours.v_pu[case], net.res_bus.vm_pu.to_numpy()[1:], rtol=0, atol=1e-8)
        assert ours.head_p_mw[case] == pytest.approx(net.res_ext_grid.p_mw[0], abs=1e-8)
        assert ours.head_q_mvar[case] == pytest.approx(net.res_ext_grid.q_mvar[0], abs=1e-8)
        assert ours.losses_mw[case] == pytest.approx(net.res_line.pl_mw.sum(), abs=1e-8)


def power_grid_model_voltages(pgm: Any, feeder: Feeder, p_mw: Floats, q_mvar: Floats) -> Floats:
    n, base_v = feeder.n, 10_000.0
    base_ohm = base_v**2 / (feeder.s_base_mva * 1e6)
    array = pgm.initialize_array
    node, line = array("input", "node", n + 1), array("input", "line", n)
    load, source = array("input", "sym_load", n), array("input", "source", 1)
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
    update = array("update", "sym_load", p_mw.shape)
    update["id"] = load["id"]
    update["p_specified"], update["q_specified"] = p_mw * 1e6, q_mvar * 1e6
    found = model.calculate_power_flow(
        update_data={"sym_load": update}, error_tolerance=1e-10, calculation_method="newton_raphson"
    )
    return np.asarray(found["node"]["u_pu"][:, 1:])


@pytest.mark.parametrize("seed", range(6))
def test_ac_agrees_with_power_grid_model(seed: int) -> None:
    pgm = pytest.importorskip("power_grid_model")
    feeder = FEEDER if seed == 0 else random_feeder(100 + seed, n=10 * seed)
    p, q = random_loads(feeder, seed)
    ours = ac_power_flow(feeder, p, q)
    assert ours.converged.all()
    assert np.ptp(ours.v_pu) > 0.03
    np.testing.assert_allclose(ours.v_pu, power_grid_model_voltages(pgm, feeder, p, q), rtol=0, atol=1e-7)


def test_ac_satisfies_ohm_and_kirchhoff() -> None:
    """The two-bus case, whose V² solves a quadratic."""
    feeder = Feeder(np.array([HEAD]), np.array([0.05]), np.array([0.04]))
    p, q = 0.9, 0.4
    found = ac_power_flow(feeder, [p], [q])
    half = 0.5 - (0.05 * p + 0.04 * q)
    v2 = half + math.sqrt(half**2 - (0.05**2 + 0.04**2) * (p**2 + q**2))
    assert found.v_pu[0] ** 2 == pytest.approx(v2, abs=1e-10)
    assert found.losses_mw == pytest.approx(0.05 * (p**2 + q**2) / v2, abs=1e-10)


# Against published figures


def test_uncontrolled_day() -> None:
    v, head_p, head_q = lindistflow(FEEDER, *uncontrolled_day())
    lowest = v.min(axis=1)
    assert head_p.argmax() == lowest.argmin() == 17
    assert head_p[17] == pytest.approx(1.6440, abs=5e-5)
    assert lowest[17] == pytest.approx(0.9344, abs=5e-5)
    assert np.flatnonzero((head_p > 1.1) | (lowest < 0.95)).tolist() == list(range(14, 22))
    assert head_p[[13, 21]] == pytest.approx([1.002, 1.1453], abs=5e-4)
    assert head_q[17] == pytest.approx(TAN * (0.6227 + 1.2533))


def test_uncontrolled_day_in_full_ac() -> None:
    p, q = uncontrolled_day()
    exact = ac_power_flow(FEEDER, p, q)
    assert exact.converged.all()
    assert exact.losses_mw[17] == pytest.approx(0.073, abs=5e-4)
    assert np.abs(exact.v_pu - lindistflow(FEEDER, p, q).v_pu).max() < 0.0022


@pytest.mark.parametrize("seed", range(5))
def test_lindistflow_is_close_to_ac_over_realistic_loads(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gross = rng.uniform(0.3, 1.9, (50, 1)) * rng.dirichlet(np.full(40, 60.0), 50)
    p = gross - rng.uniform(0, 1.2, (50, 1)) / 40
    p = p * np.minimum(1.0, 1.7 / p.sum(1, keepdims=True).clip(1e-9))
    assert p.sum(1).min() < 0 < 1.5 < p.sum(1).max()
    exact = ac_power_flow(FEEDER, p, TAN * gross)
    assert np.abs(exact.v_pu - lindistflow(FEEDER, p, TAN * gross).v_pu).max() < 0.003


# Properties

seeds = st.integers(0, 10_000)


@settings(max_examples=30, deadline=None)
@given(seeds, st.floats(-2, 2), st.floats(-2, 2))
def test_v_squared_is_linear_in_the_loads(seed: int, a: float, b: float) -> None:
    feeder = random_feeder(seed % 100)
    p, q = random_loads(feeder, seed, cases=2)
    head = feeder.v_head_pu**2

    def drop(p_mw: Floats, q_mvar: Floats) -> Floats:
        return head - lindistflow(feeder, p_mw, q_mvar).v_pu ** 2

    mixed = drop(a * p[0] + b * p[1], a * q[0] + b * q[1])
    np.testing.assert_allclose(mixed, a * drop(p[0], q[0]) + b * drop(p[1], q[1]), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_sensitivity_is_the_slope_of_v_squared(seed: int) -> None:
    feeder = random_feeder(seed)
    p, q = random_loads(feeder, seed)
    drop = (p @ feeder.sensitivity.T + q @ feeder.sensitivity_reactive.T) / feeder.s_base_mva
    np.testing.assert_allclose(lindistflow(feeder, p, q).v_pu ** 2, feeder.v_head_pu**2 - drop, atol=1e-12)


@pytest.mark.parametrize("solve", [lindistflow, ac_power_flow])
@pytest.mark.parametrize("feeder", FEEDERS[:2], ids=["default", "random"])
def test_a_batch_equals_a_loop(solve: Any, feeder: Feeder) -> None:
    p, q = random_loads(feeder, seed=3, cases=12)
    whole = solve(feeder, p.reshape(3, 4, -1), q.reshape(3, 4, -1))
    single = [solve(feeder, p[case], q[case]) for case in range(12)]
    for name in whole._fields:
        field, parts = getattr(whole, name), [getattr(one, name) for one in single]
        assert field.shape[:2] == (3, 4)
        assert parts[0].shape == field.shape[2:]
        np.testing.assert_array_equal(field.reshape(12, *field.shape[2:]), np.stack(parts))


@pytest.mark.parametrize("solve", [lindistflow, ac_power_flow])
def test_the_order_of_nodes_does_not_matter(solve: Any) -> None:
    feeder = random_feeder(5)
    p, q = random_loads(feeder, seed=5)
    shuffle = np.random.default_rng(0).permutation(feeder.n)
    place = np.append(np.argsort(shuffle), HEAD)
    shuffled = Feeder(
        place[feeder.parent[shuffle]],
        feeder.r_pu[shuffle],
        feeder.x_pu[shuffle],
        feeder.s_base_mva,
        feeder.v_head_pu,
    )
    one, other = solve(feeder, p, q), solve(shuffled, p[:, shuffle], q[:, shuffle])
    np.testing.assert_allclose(one.v_pu[:, shuffle], other.v_pu, atol=1e-13)
    np.testing.assert_allclose(one.head_p_mw, other.head_p_mw, atol=1e-13)


@pytest.mark.parametrize("solve", [lindistflow, ac_power_flow])
def test_without_load_every_voltage_is_the_heads(solve: Any) -> None:
    feeder = random_feeder(7)
    found = solve(feeder, np.zeros(feeder.n), np.zeros(feeder.n))
    np.testing.assert_allclose(found.v_pu, feeder.v_head_pu, rtol=1e-15)
    assert found.head_p_mw == found.head_q_mvar == 0.0


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_power_balances(seed: int) -> None:
    feeder = random_feeder(seed)
    p, q = random_loads(feeder, seed)
    linear, exact = lindistflow(feeder, p, q), ac_power_flow(feeder, p, q)
    np.testing.assert_allclose(linear.head_p_mw, p.sum(1), atol=1e-12)
    np.testing.assert_allclose(linear.head_q_mvar, q.sum(1), atol=1e-12)
    np.testing.assert_allclose(exact.head_p_mw, p.sum(1) + exact.losses_mw, atol=1e-12)
    assert (exact.losses_mw > 0).all()


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_voltage_falls_from_the_head_outwards_under_pure_load(seed: int) -> None:
    feeder = random_feeder(seed)
    p, q = (np.abs(load) for load in random_loads(feeder, seed))
    for found in (lindistflow(feeder, p, q), ac_power_flow(feeder, p, q)):
        upstream = np.where(feeder.parent == HEAD, feeder.v_head_pu, found.v_pu[:, feeder.parent])
        assert (found.v_pu < upstream).all()


def test_arguments_are_left_alone_and_any_layout_will_do() -> None:
    p, q = uncontrolled_day()
    kept = p.copy()
    expected = lindistflow(FEEDER, p, q).v_pu
    for layout in (np.asfortranarray(p), p.tolist(), np.repeat(p, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(lindistflow(FEEDER, layout, q).v_pu, expected)
    frozen = p.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(lindistflow(FEEDER, frozen, q).v_pu, expected)
    np.testing.assert_array_equal(p, kept)
    assert lindistflow(FEEDER, np.ones(40, int), np.zeros(40, np.float32)).v_pu.dtype == np.float64


@pytest.mark.parametrize("solve", [lindistflow, ac_power_flow])
def test_an_empty_batch_is_empty(solve: Any) -> None:
    found = solve(FEEDER, np.empty((0, 40)), np.empty((0, 40)))
    assert found.v_pu.shape == (0, 40)
    assert found.head_p_mw.shape == (0,)


# Bad input and cases without a solution


def test_collapse_is_never_silently_wrong() -> None:
    p, q = uncontrolled_day()
    p, q = np.stack([p[17], 10 * p[17], p[3]]), np.stack([q[17], 10 * q[17], q[3]])
    found = ac_power_flow(FEEDER, p, q)
    assert found.converged.tolist() == [True, False, True]
    for field in (found.v_pu, found.head_p_mw, found.head_q_mvar, found.losses_mw):
        assert np.isnan(field[1]).all()
        assert np.isfinite(field[[0, 2]]).all()
    assert lindistflow(FEEDER, 20 * p[0], q[0]).v_pu.min() == math.sqrt(V_SQUARED_FLOOR)


@pytest.mark.parametrize("scale", [1e8, 1e160, 1e200])
def test_absurd_loads_do_not_converge(scale: float) -> None:
    for sign in (1, -1):
        load = np.full(40, sign * scale)
        assert not ac_power_flow(FEEDER, load, 0 * load).converged


def test_at_the_edge_of_collapse() -> None:
    """A load just within what one segment can carry is solved; one just beyond is reported."""
    feeder = Feeder(np.array([HEAD]), np.array([0.1]), np.array([0.0]))
    for p_mw, solvable in ((2.49, True), (2.51, False)):
        found = ac_power_flow(feeder, [p_mw], [0.0], max_iterations=10_000)
        assert found.converged == solvable
        if solvable:
            assert found.v_pu[0] == pytest.approx(0.5 + math.sqrt(0.25 - 0.1 * p_mw), abs=1e-6)


def test_iteration_limit_is_reported() -> None:
    p, q = uncontrolled_day()
    found = ac_power_flow(FEEDER, p[17], q[17], max_iterations=2)
    assert not found.converged
    assert found.iterations == 2
    assert np.isnan(found.v_pu).all()


@pytest.mark.parametrize("solve", [lindistflow, ac_power_flow])
@pytest.mark.parametrize(
    ("p", "q", "problem"),
    [
        (np.zeros(39), np.zeros(39), r"p_mw has shape \(39,\)"),
        (0.0, 0.0, r"p_mw has shape \(\)"),
        (np.zeros((2, 40)), np.zeros(40), r"q_mvar has shape \(40,\)"),
        (["a"] * 40, np.zeros(40), "p_mw must be an array of real numbers"),
        ([[0.0], [0.0, 1.0]], np.zeros(40), "p_mw is not an array"),
        (np.zeros(40), np.zeros(40) * 1j, "q_mvar must be an array of real numbers"),
        (np.where(np.arange(40) == 7, np.nan, 0.0), np.zeros(40), r"p_mw.*finite.*case 0, node 7"),
        (np.zeros((3, 40)), np.full((3, 40), np.inf), r"q_mvar.*finite.*: 120, .*case 0, node 0"),
        (np.where(np.arange(40) < 2, [np.inf, -np.inf] * 20, 0.0), np.zeros(40), "p_mw.*finite"),
        (np.full(40, 1e308), np.zeros(40), "too large"),
    ],
)
def test_bad_loads_name_the_field(solve: Any, p: Any, q: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        solve(FEEDER, p, q)


@pytest.mark.parametrize(
    "options", [{"tolerance": 0.0}, {"tolerance": math.nan}, {"tolerance": math.inf}, {"max_iterations": 0}]
)
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        ac_power_flow(FEEDER, np.zeros(40), np.zeros(40), **options)
