"""A bank's lines are those of the one-by-one path, episode by episode, digit by digit."""

import asyncio
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.batched import Episodes, table
from planroute.batched.table import METRICS
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.feeder import straight_laterals
from planroute.domains.grid.scenario import repaired
from planroute.experiments.compare import comparison_cells
from planroute.modes import MODES, Mode
from planroute.runs.cells import run_cells
from planroute.runs.table import row_frame

COMPENSATED = sys.version_info >= (3, 12)
"""From there on ``sum`` adds numbers up otherwise than one after the other, which moves the last digits."""


def one_by_one(scenarios, seeds, modes=MODES, **options):
    domain = GridDomain(scenarios)
    cells = comparison_cells(domain.tasks(), seeds, modes, **options)
    return row_frame([episode.row for episode in asyncio.run(run_cells(domain, cells, concurrency=1))])


def in_one_order(frame):
    return frame.sort_values(["seed", "task", "condition"], ignore_index=True)


def values(frame, name):
    return [None if value != value else value for value in frame[name].astype(object)]


def differing(expected, found):
    """Columns that differ, and the first pair of each. A metric that no row has is no column of rows."""
    assert set(expected) <= set(found)
    expected, found = in_one_order(expected.reindex(columns=found.columns)), in_one_order(found)
    result = {}
    for name in expected:
        pairs = zip(values(expected, name), values(found, name), strict=True)
        unlike = [pair for pair in pairs if not same(*pair)]
        if unlike:
            result[name] = unlike[0]
    return result


def same(one, other):
    if COMPENSATED and isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-12, abs=1e-12)
    return one == other


def check(scenarios, seeds, modes=MODES, deadline_s=None, batch=256):
    expected = one_by_one(scenarios, seeds, modes, deadline_s=deadline_s)
    found = table(Episodes(scenarios, tuple(modes), deadline_s), seeds, batch).to_pandas()
    assert differing(expected, found) == {}
    return found


FACTORS = {
    "nominal": {},
    "loose and short": {"import_cap_mw": 1.3, "r_pu": 0.018, "x_pu": 0.01},
    "dishonest, failing tools": {"honesty": 0.5, "tool_failure": 0.5, "forecast_noise": 0.15},
    "never honest, no forecast": {"honesty": 0.0, "tool_failure": 1.0, "forecast_noise": 0.0},
    "wild forecast": {"forecast_noise": 1.0, "mean_resistance": 0.9, "voltage_floor_pu": 0.97},
    "asks for all": {"intensity": 1.0, "stress": 1.3},
    "asks for little": {"intensity": 0.2, "mean_resistance": 0.0},
    "collapse": {"stress": 3.0, "r_pu": 0.06},
    "nothing to do": {"stress": 0.3},
    "no load at all": {"stress": 0.0},
}


@pytest.mark.parametrize("name", FACTORS)
def test_every_mode_in_every_kind_of_scenario(name):
    check({name: make_scenario(FACTORS[name])}, [7, 13, 42, 101, 202])


def test_quota_that_is_handed_back():
    check({"repaired": repaired(make_scenario({"forecast_noise": 0.3}))}, [0, 1, 2, 3], [Mode.HIERARCHICAL])


def test_another_feeder_and_a_deadline():
    feeder = straight_laterals(3, 7, 0.05, 0.02)
    own = {"own": make_scenario({"forecast_noise": 0.1, "import_cap_mw": 1.0}, feeder=feeder)}
    found = check(own, [0, 5, 9], deadline_s=1.35)
    assert set(found["failure"]) > {"DEADLINE_MISS"}
    assert len(set(found["late_events"])) > 2


def test_several_scenarios_share_the_draws_of_a_seed():
    scenarios = {name: make_scenario(FACTORS[name]) for name in ("nominal", "wild forecast", "asks for all")}
    scenarios["other people"] = replace(
        scenarios["nominal"],
        coefficients=replace(
            scenarios["nominal"].coefficients,
            response=replace(scenarios["nominal"].coefficients.response, neighbours=6, rewiring=0.7),
        ),
    )
    check(scenarios, [3, 4])


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=3, unique=True),
    st.fixed_dictionaries(
        {},
        optional={
            "import_cap_mw": st.floats(0.6, 2.0),
            "voltage_floor_pu": st.floats(0.9, 0.99),
            "r_pu": st.floats(0.001, 0.08),
            "x_pu": st.floats(0.001, 0.08),
            "stress": st.floats(0, 3),
            "forecast_noise": st.floats(0, 1),
            "mean_resistance": st.floats(0, 1),
            "honesty": st.floats(0, 1),
            "tool_failure": st.floats(0, 1),
            "intensity": st.floats(0.2, 1),
        },
    ),
    st.booleans(),
)
def test_any_factors_and_seeds(seeds, factors, hand_back):
    scenario = make_scenario(factors)
    check({"any": repaired(scenario) if hand_back else scenario}, seeds)


def test_the_size_of_a_batch_moves_no_digit():
    scenarios = {name: make_scenario(FACTORS[name]) for name in ("wild forecast", "dishonest, failing tools")}
    episodes, seeds = Episodes(scenarios, MODES), range(100, 117)
    whole = table(episodes, seeds)
    assert all(table(episodes, seeds, batch).equals(whole) for batch in (1, 5, 16))
    assert len(set(np.asarray(whole["metric_dispatch_hours"]))) > 1


def test_the_table_names_the_metrics_of_the_referee():
    assert [f"metric_{name}" for name in METRICS] == [
        name for name in one_by_one({"nominal": make_scenario()}, [0], [Mode.PREDEFINED]) if name.startswith("metric_")
    ]
