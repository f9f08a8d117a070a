"""Budgets of a whole run hold for studies of interfaces too: the next call is not made, and what was paid is kept."""

import asyncio
import hashlib
import json
import threading
from collections import Counter
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from planroute.errors import InputError, RunBudgetReached
from planroute.experiments.definition import load_experiment
from planroute.experiments.interfaces import study_interfaces
from planroute.experiments.setting import Setting
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.models.priced import PricedModel, Prices
from planroute.runs.account import Limits
from planroute.runs.billing import BILLING
from planroute.runs.folder import MANIFEST, RunFolder, canonical
from planroute.runs.manner import Manner
from planroute.testing import Faults, FaultServer
from tests.experiments.ruled import policy

SLICE = {"states": 2, "draws": 1}
CALLS = {"M0": 20, "M1": 2, "M2": 2, "M3": 2, "M4": 24, "M5": 2}
AT_ONCE = {"M4": 3}
EVIDENCE = ("records.jsonl", "rows.parquet")


class Endpoint:
    """Answers every question alike, and counts how often it was asked."""

    def __init__(self):
        self.asked = Counter()
        self._lock = threading.Lock()

    def answer(self, body):
        with self._lock:
            self.asked[hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()] += 1
        return policy("SEARCH")

    @property
    def count(self):
        return sum(self.asked.values())


@pytest.fixture(scope="module")
def served():
    endpoint = Endpoint()
    with FaultServer(answer=endpoint.answer) as server:
        yield endpoint, server.base_url


@pytest.fixture
def endpoint(served):
    endpoint, url = served
    endpoint.asked.clear()
    return endpoint, url


@contextmanager
def cached(url, path, wrap=lambda model: model):
    cache = CallCache(path)
    try:
        yield CachedModel(wrap(LiveModel(url, "tiny", backoff_s=0.001)), cache)
    finally:
        cache.close()


def study(name, model, out=None, **limits):
    setting = Setting(models={"it": model}, manner=Manner(AT_ONCE.get(name, 1), limits=Limits(**limits)), **SLICE)

    async def whole():
        try:
            return await study_interfaces(load_experiment(name), setting, out=out)
        finally:
            await model.aclose()

    return asyncio.run(whole())


def billed(out):
    return sum(
        spent.get("billed_calls", 0) for cell in RunFolder(out).billing()["cells"].values() for spent in cell.values()
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_study_that_a_budget_ends_goes_on_to_the_bytes_of_an_undisturbed_one(name, endpoint, tmp_path):
    endpoint, url = endpoint
    out, cache = tmp_path / "run", tmp_path / "calls.sqlite"
    for _ in range(2):
        with cached(url, cache) as model, pytest.raises(RunBudgetReached, match="budget of 1 tokens is reached"):
            study(name, model, out, tokens=1)
        asked = endpoint.count
        assert 0 < asked <= AT_ONCE.get(name, 1)
        assert asked < CALLS[name]
        assert billed(out) == asked == len((out / "records.jsonl").read_text().splitlines())
    with cached(url, cache) as model:
        resumed = study(name, model, out, tokens=10**9)
        assert resumed.resumed == asked
        assert billed(out) == endpoint.count == CALLS[name]
        assert set(endpoint.asked.values()) == {1}
    with cached(url, cache) as model:  # What was measured of a call stands in the cache.
        undisturbed = study(name, model, tmp_path / "undisturbed")
    assert endpoint.count == CALLS[name]
    assert canonical(resumed.result) == canonical(undisturbed.result)
    for file in EVIDENCE:
        assert (out / file).read_bytes() == (tmp_path / "undisturbed" / file).read_bytes()


def test_a_budget_in_seconds_or_of_a_spent_account_allows_no_call(endpoint):
    endpoint, url = endpoint
    with pytest.raises(RunBudgetReached, match=r"budget of 1e-09 s is reached"):
        study("M1", LiveModel(url, "tiny"), seconds=1e-9)
    assert endpoint.count == 0


def test_money_needs_a_price_and_is_counted_with_one(endpoint, tmp_path):
    endpoint, url = endpoint
    with pytest.raises(InputError, match="a call's price is not known"):
        study("M1", LiveModel(url, "tiny"), tmp_path / "unknown", usd=1.0)
    assert billed(tmp_path / "unknown") == endpoint.count == 1
    priced = PricedModel(LiveModel(url, "tiny"), Prices.read("1000000,1000000"))
    with pytest.raises(RunBudgetReached, match="budget of 1 USD is reached"):
        study("M1", priced, tmp_path / "known", usd=1.0)
    assert endpoint.count == 2


def test_requests_for_a_call_that_fails_are_kept_beside_what_is_billed(tmp_path):
    with FaultServer(Faults(failing=1.0)) as server:
        found = study("M1", LiveModel(server.base_url, "tiny", retries=1, backoff_s=0.001), tmp_path)
    assert found.result["status"] == "partly"
    (spent,) = RunFolder(tmp_path).billing()["cells"]["it"].values()
    assert spent == {"failed_calls": 2, "attempts": 4}


def files(folder):
    """All bytes of a study's folder but what tells how it was started and what was billed."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    kept = {
        name: path.read_bytes() for name, path in found.items() if path.name not in (BILLING, MANIFEST, "report.html")
    }
    manifest = {name: json.loads(path.read_text()) for name, path in found.items() if path.name == MANIFEST}
    return kept, {name: {**content, "environment": None} for name, content in manifest.items()}


def test_the_command_ends_as_a_comparison_does_and_a_larger_budget_goes_on(planroute, endpoint, tmp_path):
    endpoint, url = endpoint
    shared = ("--model", f"{url}#tiny", "--cache", tmp_path / "calls.sqlite", "--json", "--concurrency", "1")
    studies = ("experiment", "M1,M3", "--states", "2", "--draws", "1", *shared)
    grid = ("compare", "grid", "--seeds", "7,13", "--modes", "SEARCH", *shared, "--no-cache")
    ended = planroute(*studies, "--out", tmp_path / "run", "--budget-tokens", "1")
    assert ended == planroute(*grid, "--budget-tokens", "1")
    assert ended[:2] == (1, "")
    assert "the run's budget of 1 tokens is reached" in ended[2]
    endpoint.asked.clear()
    used = RunFolder(tmp_path / "run" / "m1").billing()["cells"][f"{url}#tiny"]["natural declaration"]["billed_tokens"]
    ended = planroute(*studies, "--out", tmp_path / "run", "--budget-tokens", str(used + 1))
    assert ended[0] == 1
    assert endpoint.count == 1, "the budget holds over both studies and both starts"
    code, told, _ = planroute(*studies, "--out", tmp_path / "run", "--budget-tokens", "1000000")
    assert code == 0
    assert endpoint.count == 3
    assert planroute(*studies, "--out", tmp_path / "undisturbed") == (0, told, "")
    assert endpoint.count == 3
    assert files(tmp_path / "run") == files(tmp_path / "undisturbed")


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_a_study_of_interfaces_does_not_run_elsewhere_and_says_so(planroute, tmp_path):
    code, out, err = planroute("experiment", "E2,M0", "--runner", "ray", "--out", tmp_path / "run")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "M0 asks single questions" in err
    assert "--runner local" in err
    assert not (tmp_path / "run").exists()
