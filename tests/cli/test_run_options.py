"""What limits a run: money without a price is refused before it is spent, and a resumed run takes new limits."""

import pytest

from planroute.testing import FaultServer


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "grid", "--seeds", "7"),
        ("compare", "alfworld", "--tasks", "1", "--seeds", "7"),
        ("compare", "all", "--domains", "alfworld", "--seeds", "7"),
        ("compare", "all", "--domains", "grid", "--seeds", "7"),
        ("experiment", "E1"),
        ("experiment", "M0"),
    ],
)
def test_a_budget_in_usd_without_a_price_is_refused_before_any_call(planroute, tmp_path, command):
    with FaultServer() as server:
        model = ("--model", f"{server.base_url}#m", "--no-cache", "--budget-usd", "1", "--out", tmp_path / "run")
        status, _, error = planroute(*command, *model)
        assert server.told.requests.total() == 0
    assert status == 2
    assert "give --price" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("model", ["scripted/slip=0", "priced"])
def test_a_budget_in_usd_holds_where_the_price_is_known(planroute, model):
    with FaultServer() as server:
        priced = ("--model", f"{server.base_url}#m", "--price", "0,0")
        chosen = priced if model == "priced" else ("--model", model)
        limits = ("--no-cache", "--budget-usd", "1", "--modes", "PREDEFINED", "--seeds", "7")
        status, _, error = planroute("compare", "grid", *chosen, *limits)
    assert status == 0, error


def test_a_resumed_run_takes_another_time_for_its_episodes(planroute, tmp_path):
    run = tmp_path / "run"
    first = ("--seeds", "7", "--modes", "PREDEFINED", "--episode-seconds", "900", "--out", run)
    assert planroute("compare", "grid", *first)[0] == 0
    status, _, error = planroute("runs", "resume", run, "--episode-seconds", "600")
    assert status == 0, error
    assert "--episode-seconds 600" in error
    assert "900" not in error
