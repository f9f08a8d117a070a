"""Runs on Ray give the bytes of local ones, share one account and one cache, and outlive their workers.

One Ray is started for all of this file, on 127.0.0.1.
"""

import asyncio
import gc
import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from planroute.calls import Sampling
from planroute.declarers import Natural
from planroute.errors import DomainError, FaultyInput, InputError, PlanrouteError, RunBudgetReached
from planroute.experiments.compare import comparison_cells
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.models.scripted import scripted
from planroute.modes import MODES, ROUTED, Mode
from planroute.runs.account import Limits
from planroute.runs.bank import run_bank
from planroute.runs.execute import execute_run
from planroute.runs.folder import BILLING, CELLS, MANIFEST, RunFolder
from planroute.runs.manner import Manner
from planroute.runs.on_ray import OnRay
from planroute.runs.ray_cluster import disconnect
from planroute.runs.runner import Local
from planroute.streams import stream
from planroute.testing import FaultServer
from tests.domains.tiny import Line, TinyDomain, TinyWorld
from tests.runs.test_bank import CELLS as BANK
from tests.runs.test_bank import DOMAIN as GRID

pytestmark = [
    pytest.mark.slow,  # starting Ray and its workers takes a minute
    # Ray's own warnings, about its own next versions and files that it leaves to the collector.
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROOT = Path(__file__).parents[2]
KEY = "sk-canary-of-ray-7d1f"
DECLARED = '{"mode": "SEQUENTIAL", "replanning": "EVERY_STEP"}'
LINES = {"short": Line(places=(1, 3)), "long": Line(places=(2, 5, 1, 9))}
RAY = OnRay(workers=2)


@pytest.fixture(scope="module", autouse=True)
def ray(tmp_path_factory):
    """Leave the Ray that the first test starts; its workers have the key of this environment."""
    before = os.environ.get("PLANROUTE_API_KEY")
    os.environ["PLANROUTE_API_KEY"] = KEY
    yield
    disconnect()
    with warnings.catch_warnings():  # Ray leaves sockets to the collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    os.environ.pop("PLANROUTE_API_KEY")
    if before is not None:
        os.environ["PLANROUTE_API_KEY"] = before


class Endpoint:
    """Counts questions, and how many are under way at once; answers after a moment."""

    def __init__(self, moment=0.02):
        self.asked, self.now, self.most = Counter(), 0, 0
        self.keys = set()
        self._lock, self._moment, self._never = threading.Lock(), moment, threading.Event()

    def answer(self, body):
        with self._lock:
            self.asked[hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()] += 1
            self.now += 1
            self.most = max(self.most, self.now)
        self._never.wait(self._moment)
        with self._lock:
            self.now -= 1
        return DECLARED


def routed(model, seeds=(1, 2), domain=None):
    domain = domain or TinyDomain(LINES)
    declarer = Natural(Sampling(max_tokens=50))
    return domain, comparison_cells(domain.tasks(), seeds, MODES, model=model, routed={ROUTED: declarer})


def execute(domain, cells, out=None, runner=RAY, **how):
    manner = Manner(runner=runner, **how)
    return asyncio.run(execute_run(domain, cells, config={"command": "test"}, out=out, manner=manner))


def cells_of(out):
    return {path.name: path.read_bytes() for path in (out / CELLS).iterdir()}


# Bytes


def test_a_comparison_on_the_grid_has_the_bytes_of_a_local_one_and_listens_on_loopback_only(tmp_path):
    model = scripted("minimal")
    cells = comparison_cells(
        GRID.tasks()[:1], (7,), MODES, model=model, routed={ROUTED: Natural(Sampling(max_tokens=400))}
    )
    here = execute(GRID, cells, tmp_path / "here", Local())
    there = execute(GRID, cells, tmp_path / "there")
    assert there.rows == here.rows
    assert cells_of(tmp_path / "there") == cells_of(tmp_path / "here")
    for listener in listening():
        assert listener.startswith("127."), listener


def listening():
    """The addresses at which this process and those that it started listen."""
    mine = {os.getpid()}
    parents = {int(p.name): int(p.joinpath("stat").read_text().rpartition(")")[2].split()[1]) for p in processes()}
    while more := {child for child, parent in parents.items() if parent in mine} - mine:
        mine |= more
    assert len(mine) > 3
    sockets = set()
    for process in mine:
        for handle in Path(f"/proc/{process}/fd").iterdir():
            try:
                target = str(handle.readlink())
            except FileNotFoundError:
                continue
            if target.startswith("socket:["):
                sockets.add(target[8:-1])
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                raw = bytes.fromhex(fields[1].partition(":")[0])
                found.append(".".join(str(part) for part in raw[-4:][::-1]))
    assert found
    return found


def processes():
    return [path for path in Path("/proc").iterdir() if path.name.isdigit() and path.joinpath("stat").exists()]


def test_a_comparison_of_text_has_the_bytes_of_a_local_one(tmp_path, planroute):
    shared = ["compare", "mind2web", "--tasks", "2", "--conditions", "FLAT_REACT,SEARCH,ROUTED", "--seeds", "7"]
    shared += ["--model", "scripted/slip=0.1", "--json"]
    here = planroute(*shared, "--cache", tmp_path / "a.sqlite", "--out", tmp_path / "here")
    there = planroute(*shared, "--cache", tmp_path / "b.sqlite", "--out", tmp_path / "there", "--runner", "ray")
    assert here[0] == 0, here
    assert there == here
    assert cells_of(tmp_path / "there") == cells_of(tmp_path / "here")
    with CallCacheOf(tmp_path / "a.sqlite") as one, CallCacheOf(tmp_path / "b.sqlite") as other:
        assert len(one) > 10
        assert {record.identity for record in one} == {record.identity for record in other}


class CallCacheOf(CallCache):
    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def test_a_bank_has_the_parts_of_a_local_one(tmp_path):
    for name, runner in (("here", Local()), ("there", RAY)):
        asyncio.run(run_bank(GRID, BANK[:40], out=tmp_path / name, workers=1, manner=Manner(runner=runner)))
    here, there = ({p.name: p.read_bytes() for p in (tmp_path / n / "parts").iterdir()} for n in ("here", "there"))
    assert len(here) == 4
    assert there == here


# One endpoint, one cache, one account


def test_equal_questions_of_two_workers_are_one_call_and_the_endpoint_sees_no_more_at_once_than_allowed(
    tmp_path, monkeypatch
):
    endpoint = Endpoint()
    found = {}
    with FaultServer(answer=endpoint.answer) as server:
        for name, runner in (("there", RAY), ("here", Local())):
            calls = CallCache(tmp_path / f"{name}.sqlite")
            model = CachedModel(LiveModel(server.base_url, "tiny"), calls)
            domain, cells = routed(model, seeds=range(6))
            twice = [replace(cell, condition=f"AGAIN_{cell.condition}") for cell in cells]
            ran = execute(domain, [*cells, *twice], tmp_path / name, runner, concurrency=3)
            calls.close()
            found[name] = cells_of(tmp_path / name), RunFolder(tmp_path / name).billing()["cells"], ran.rows
            if name == "there":
                assert endpoint.most <= 3
                assert set(endpoint.asked.values()) == {1}
    assert set(endpoint.asked.values()) == {2}
    assert found["there"][0] == found["here"][0]
    billed = [sum(s.get("billed_calls", 0) for c in f[1].values() for s in c.values()) for f in found.values()]
    assert billed == [len(endpoint.asked)] * 2


def test_keys_and_prompts_are_in_nothing_that_ray_keeps(tmp_path):
    import ray

    folder = Path(ray._private.worker._global_node.get_session_dir_path())
    assert folder.parents[1].stat().st_mode & 0o077 == 0
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert len(kept) > 5
    for path in kept:
        text = path.read_bytes()
        assert KEY.encode() not in text, path
        assert b"a robot fetches" not in text.lower(), path


def test_a_budget_ends_a_run_and_a_larger_one_goes_on(tmp_path):
    endpoint = Endpoint(0.0)
    with FaultServer(answer=endpoint.answer) as server:
        model = LiveModel(server.base_url, "tiny")
        domain, cells = routed(model, seeds=range(5))
        with pytest.raises(RunBudgetReached, match="100 tokens"):
            execute(domain, cells, tmp_path / "run", limits=Limits(tokens=100), concurrency=2)
        asked = sum(endpoint.asked.values())
        assert 0 < asked < 10
        before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "run" / CELLS).iterdir()}
        whole = execute(domain, cells, tmp_path / "run", limits=Limits(tokens=10**6), concurrency=2)
        assert whole.resumed == len(before) < len(cells)
        after = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "run" / CELLS).iterdir()}
        assert {name: after[name] for name in before} == before
        execute(domain, cells, tmp_path / "local", Local())
    assert cells_of(tmp_path / "run") == cells_of(tmp_path / "local")


def test_an_episode_that_is_ended_under_way_gives_its_question_up(tmp_path):
    endpoint = Endpoint(1.5)
    with FaultServer(answer=endpoint.answer) as server, CallCacheOf(tmp_path / "calls.sqlite") as calls:
        model = CachedModel(LiveModel(server.base_url, "tiny"), calls)
        domain, cells = routed(model, seeds=(1,))
        (one, *_) = [cell for cell in cells if cell.condition == ROUTED]
        stuck = replace(one, conditions=replace(one.conditions, ends_after_s=0.2))
        other = replace(one, condition="PATIENT")
        rows = execute(domain, [stuck, other], concurrency=2).rows
    assert [row.status for row in rows] == ["infrastructure", "finished"]


# Workers that die


def dying(mark):
    """A domain whose episodes of seed 2 kill their process: once, where ``mark`` is a file to tell, or always."""
    domain = TinyDomain(LINES)

    class World(TinyWorld):
        def __init__(self, line, context):
            super().__init__(line, context)
            if context.seed == 2 and not (mark is not None and mark.exists()):
                if mark is not None:
                    mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    domain.world = World
    return domain


def test_a_cell_whose_worker_dies_is_run_by_another(tmp_path, caplog):
    domain, cells = TinyDomain(LINES), comparison_cells(TinyDomain(LINES).tasks(), (1, 2, 3), MODES)
    execute(domain, cells, tmp_path / "here", Local())
    with caplog.at_level(logging.WARNING, "planroute.runs"):
        execute(dying(tmp_path / "mark"), cells, tmp_path / "there", concurrency=4)
    assert cells_of(tmp_path / "there") == cells_of(tmp_path / "here")
    assert "a worker died" in caplog.text


def test_a_cell_that_kills_every_worker_ends_the_run_with_a_line_that_names_it(tmp_path):
    cells = comparison_cells(TinyDomain(LINES).tasks()[:1], (2,), (Mode.SEARCH,))
    with pytest.raises(PlanrouteError, match="short-SEARCH-2: 3 workers died"):
        execute(dying(None), cells, tmp_path)


# Errors


def failing(error):
    domain = TinyDomain(LINES)

    class World(TinyWorld):
        async def execute(self, unit):
            raise error()

    domain.world = World
    return domain


def test_errors_of_workers_come_back_as_what_they_are(tmp_path):
    cells = comparison_cells(TinyDomain(LINES).tasks()[:1], (1,), (Mode.SEARCH,))
    rows = execute(failing(lambda: DomainError("no grip")), cells).rows
    assert (rows[0].status, rows[0].error) == ("infrastructure", "no grip")
    with pytest.raises(FaultyInput, match="the grip: 1 problem: rust"):
        execute(failing(lambda: FaultyInput("the grip", ["rust"])), cells)
    with pytest.raises(ZeroDivisionError) as caught:
        execute(failing(lambda: ZeroDivisionError("a bug")), cells)
    assert "raise error()" in caught.value.__notes__[0]


def test_what_cannot_be_sent_is_named():
    cells = comparison_cells(TinyDomain(LINES).tasks()[:1], (1,), (Mode.SEARCH,))
    locked = TinyDomain(LINES)
    locked.lock = threading.Lock()
    with pytest.raises(InputError, match="the domain 'tiny' cannot be sent to a worker: cannot pickle"):
        execute(locked, cells)


# Kills


def start(out, cache, url, seeds, mark):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "KILLED_ON_RAY": mark}
    script = Path(__file__).with_name("killed_run.py")
    command = [sys.executable, str(script), str(out), str(cache), url, str(seeds), "ray"]
    return subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL)


def left_behind(mark):
    """Processes that have the mark in their environment."""
    found = []
    for path in processes():
        try:
            if f"KILLED_ON_RAY={mark}".encode() in path.joinpath("environ").read_bytes():
                found.append(path.joinpath("cmdline").read_bytes()[:80])
        except OSError:
            continue
    return found


def killed_and_resumed(folder, kills, seeds=40, concurrency=4):
    """Kill a run on Ray ``kills`` times, each while a drawn call of that start is in flight; then let it end.

    Return what was counted on the way, after all that must hold is asserted.
    """
    from tests.runs.test_killed import finished

    out, met, untouched = folder / "run", 0, 0
    begun, due = threading.Event(), [0]
    endpoint = Endpoint(0.1)

    def answer(body):
        due[0] -= 1
        if due[0] == 0:
            begun.set()
        return endpoint.answer(body)

    with FaultServer(answer=answer) as server:
        before = {}
        for number, wait in enumerate([*stream(3, "kills on ray").integers(1, 9, size=kills).tolist(), None]):
            begun.clear()
            due[0] = -1 if wait is None else wait
            run = start(out, folder / "calls.sqlite", server.base_url, seeds, f"{folder}-{number}")
            if wait is None:
                assert run.wait(timeout=300) == 0
            else:
                while not begun.wait(0.2) and run.poll() is None:
                    pass
                assert run.poll() is None, "the run ended before its kill"
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
                met += 1
            for _ in range(300):
                if not (alive := left_behind(f"{folder}-{number}")):
                    break
                threading.Event().wait(0.1)
            assert not alive
            now = finished(out)
            assert {name: now[name] for name in before} == before, "a finished cell was run again"
            untouched += len(before)
            before = now
        questions = len(endpoint.asked)
        repeated = sum(endpoint.asked.values()) - questions
        assert met == kills
        assert repeated <= concurrency * kills
        # The same port, for the address is part of what a cell is; nothing is asked for: all is in the cache.
        model = CachedModel(LiveModel(server.base_url, "tiny"), CallCache(folder / "calls.sqlite"))
        domain, cells = routed(model, seeds=range(seeds))
        execute(domain, cells, folder / "local", Local())
        model.cache.close()
        assert sum(endpoint.asked.values()) == questions + repeated
    assert cells_of(out) == cells_of(folder / "local")
    assert not [path for path in out.iterdir() if ".damaged" in path.name]
    assert (out / MANIFEST).exists() and (out / BILLING).exists()  # noqa: PT018
    return {"kills": met, "cells": len(before), "questions": questions, "repeated": repeated, "untouched": untouched}


@pytest.mark.slow
def test_ten_runs_on_ray_that_are_killed_with_all_their_processes_end_as_if_they_never_were(tmp_path):
    print(killed_and_resumed(tmp_path, 10))
