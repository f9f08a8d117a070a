"""Scenarios: factors within their ranges, files with all their faults at once, and what is derived from a feeder."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.domains.grid import DEFAULT, GridDomain, load_scenario, make_scenario
from planroute.domains.grid.feeder import straight_laterals
from planroute.domains.grid.power_flow import lindistflow
from planroute.domains.grid.profiles import BASE_MW, COOLING_MW, PV_MW, day_loads
from planroute.domains.grid.scenario import Factors, repaired, voltage_leverage
from planroute.errors import FaultyInput, InputError


def test_the_default_scenario_is_the_papers():
    factors = make_scenario().factors
    assert (factors.import_cap_mw, factors.voltage_floor_pu, factors.r_pu, factors.x_pu) == (1.1, 0.95, 0.022, 0.014)
    assert (factors.honesty, factors.tool_failure, factors.communication) == (1.0, 0.0, "calibrated")


@pytest.mark.parametrize(
    ("values", "faults"),
    [
        ({"honesty": 1.5}, ["honesty: "]),
        ({"import_cap_mw": 0}, ["import_cap_mw: "]),
        ({"import_cap_mw": float("nan")}, ["import_cap_mw: "]),
        ({"stress": float("inf")}, ["stress: "]),
        ({"forecast_noise": -0.1, "mean_resistance": 2}, ["forecast_noise: ", "mean_resistance: "]),
        ({"colour": "red"}, ["colour: "]),
        ({"communication": "telepathy"}, ["communication: "]),
        ({"model_hours": [17, 24, -1]}, ["model_hours.1: ", "model_hours.2: "]),
        ({"stress": "much", "honesty": None, "tool_failure": []}, ["stress: ", "honesty: ", "tool_failure: "]),
    ],
)
def test_every_fault_of_a_scenario_is_told_at_once(values, faults):
    with pytest.raises(FaultyInput) as error:
        make_scenario(values)
    assert len(error.value.faults) == len(faults)
    for fault, beginning in zip(error.value.faults, faults, strict=True):
        assert fault.startswith(beginning)
        assert "got " in fault


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "honesty": st.floats(0, 1),
            "stress": st.floats(0, 3),
            "forecast_noise": st.floats(0, 1),
            "import_cap_mw": st.floats(0.1, 9),
            "model_hours": st.none() | st.lists(st.integers(0, 23), max_size=3),
        },
    )
)
def test_factors_survive_writing_and_reading(values):
    factors = make_scenario(values).factors
    assert Factors.model_validate_json(factors.model_dump_json()) == factors


def test_equal_values_give_equal_scenarios():
    assert make_scenario({"stress": 1.2}) == make_scenario({"stress": 1.2})
    assert hash(make_scenario({"stress": 1.2})) == hash(make_scenario({"stress": 1.2}))
    assert make_scenario({"stress": 1.2}) != make_scenario()


# Files


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_a_file_of_factors_is_read(tmp_path):
    path = write(tmp_path / "hot.json", {"stress": 1.2, "communication": "model", "model_hours": [16, 17]})
    scenario = load_scenario(path)
    assert scenario == make_scenario({"stress": 1.2, "communication": "model", "model_hours": (16, 17)})


def test_a_feeder_file_stands_beside_the_scenario(tmp_path):
    feeder = straight_laterals(2, 3)
    write(tmp_path / "small.json", feeder.to_dict())
    scenario = load_scenario(write(tmp_path / "day.json", {"feeder": "small.json", "import_cap_mw": 0.5}))
    assert scenario.feeder.to_dict() == feeder.to_dict()
    assert scenario.factors.import_cap_mw == 0.5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[1]", "must hold an object, holds list"),
        ('{"feeder": 7}', "feeder must be a file name, got 7"),
        ('{"feeder": "absent.json"}', r"absent\.json"),
        ('{"stress": NaN}', "stress: "),
        ('{"stress": -1, "colour": 2}', r"day\.json: 2 problems"),
    ],
)
def test_a_faulty_file_is_refused(tmp_path, text, told):
    with pytest.raises(InputError, match=told):
        load_scenario(write(tmp_path / "day.json", text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"scenario file .*absent\.json: No such file"):
        load_scenario(tmp_path / "absent.json")


# What is derived


@pytest.mark.parametrize("stress", [0.0, 1.0, 1.5])
def test_loads_spread_the_days_profile_over_the_nodes(stress):
    network = DEFAULT.network
    feeder = make_scenario().feeder
    loads = day_loads(feeder, network, stress)
    assert loads.base.sum(axis=1) == pytest.approx(stress * np.array(BASE_MW))
    assert loads.cooling.sum(axis=1) == pytest.approx(stress * np.array(COOLING_MW))
    assert loads.pv.sum(axis=1) == pytest.approx(np.array(PV_MW))
    by_lateral = [loads.pv[12][feeder.lateral == i].sum() for i in range(4)]
    assert np.array(by_lateral) / np.mean(by_lateral) == pytest.approx(network.lateral_multipliers)


def test_leverage_is_the_mean_rise_of_squared_voltage_per_mw():
    feeder = straight_laterals(2, 4)
    leverage = voltage_leverage(feeder)
    zero = np.zeros(feeder.n)
    rises = []
    for node in range(feeder.n):
        less = zero.copy()
        less[node] = -0.01
        before, after = lindistflow(feeder, zero, zero).v_pu ** 2, lindistflow(feeder, less, zero).v_pu ** 2
        rises.append((after - before).mean())
    assert leverage == pytest.approx(np.array(rises) / max(rises))
    assert leverage.max() == 1.0


def test_a_repaired_scenario_differs_in_the_allocation_alone():
    one, other = make_scenario({"stress": 1.1}), repaired(make_scenario({"stress": 1.1}))
    assert (one.factors, one.feeder) == (other.factors, other.feeder)
    rows = zip(one.coefficients.table(), other.coefficients.table(), strict=True)
    assert [row["name"] for row, again in rows if row != again] == ["hand_back"]


def test_every_coefficient_says_where_it_comes_from():
    for row in DEFAULT.table():
        assert row["origin"] in ("paper", "project")
        assert row["unit"]
        assert row["about"]


def test_a_task_is_named_after_its_scenario_and_carries_its_factors():
    domain = GridDomain({"mild": make_scenario({"stress": 0.9}), "hot": make_scenario({"stress": 1.3})})
    tasks = domain.tasks()
    assert [(task.id, task.factors["stress"]) for task in tasks] == [("mild", 0.9), ("hot", 1.3)]
    facts = [json.loads(json.dumps(domain.facts(task), allow_nan=False)) for task in tasks]
    assert facts[0]["uncontrolled"] != facts[1]["uncontrolled"]
    assert len(facts[0]["coefficients"]) == len(list(DEFAULT.table()))
