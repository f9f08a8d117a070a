"""Runs that are killed at any moment go on where they were: nothing is run twice, and nothing is paid twice."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from planroute.runs.folder import BILLING, CELLS, MANIFEST
from planroute.runs.overview import overview
from planroute.streams import stream
from planroute.testing import FaultServer

ROOT = Path(__file__).parents[2]
SEEDS = 12
CONCURRENCY = 4
"""Episodes at once in the killed run: as many calls can be in flight."""
DECLARED = '{"mode": "SEQUENTIAL", "replanning": "EVERY_STEP"}'


class Endpoint:
    """Answers every question, after a moment, and counts how often it was asked."""

    def __init__(self):
        self.asked = Counter()
        self.moment = threading.Event()

    def answer(self, body):
        self.asked[hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()] += 1
        self.moment.wait(0.004)
        return DECLARED


def start(out, cache, url):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = Path(__file__).with_name("killed_run.py")
    command = [sys.executable, str(script), str(out), str(cache), url, str(SEEDS)]
    run = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "begun\n"
    return run


def finished(out):
    """Every finished cell's file by name: bytes, and when and where it was written."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in cells(out)}


def cells(out):
    return [path for path in (out / CELLS).glob("*.json") if not path.name.startswith(".")]


def evidence(out):
    """All bytes of a run but its billing; of the manifest, all but how it was started."""
    manifest = json.loads((out / MANIFEST).read_text())
    manifest.pop("environment")
    files = {str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    return {**{name: text for name, text in files.items() if name not in (BILLING, MANIFEST)}, MANIFEST: manifest}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    endpoint = Endpoint()
    with FaultServer(answer=endpoint.answer) as server:
        run = start(folder / "run", folder / "calls.sqlite", server.base_url)
        run.communicate(timeout=60)
    assert run.returncode == 0
    assert set(endpoint.asked.values()) == {1}
    return evidence(folder / "run"), len(endpoint.asked)


def kill_and_resume(folder, delays, undisturbed):
    """Kill a run after each of ``delays`` in s, let it end; return how many kills met it, and whether it is whole."""
    whole, questions = undisturbed
    out, endpoint, met = folder / "run", Endpoint(), 0
    with FaultServer(answer=endpoint.answer) as server:
        # One port for all starts: the address is part of a call's identity.
        before = {}
        for delay in [*delays, None]:
            run = start(out, folder / "calls.sqlite", server.base_url)
            try:
                run.communicate(timeout=delay if delay is not None else 60)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.communicate()
                met += 1
            else:
                assert run.returncode == 0
            now = finished(out)
            assert {name: now[name] for name in before} == before, "a finished cell was run again"
            before = now
    assert len(endpoint.asked) == questions
    repeated = sum(endpoint.asked.values()) - questions
    assert repeated <= CONCURRENCY * met
    told = overview(out, whole=True)
    assert (told.state, told.leftovers) in {("complete", left) for left in range(CONCURRENCY * met + 1)}
    lost = sum(endpoint.asked.values()) - told.billed_calls
    assert 0 <= lost <= CONCURRENCY * met, "every call is on the account but those that were in flight"
    return met, evidence_as(evidence(out), whole)


def evidence_as(found, whole):
    """Whether what was found is the same, but for files that nothing reads and the address that a model had."""
    found = {name: text for name, text in found.items() if ".part-" not in name}
    return sorted(found) == sorted(whole) and without_address(found) == without_address(whole)


def without_address(files):
    texts = {name: text if isinstance(text, bytes) else json.dumps(text).encode() for name, text in files.items()}
    plain = {name: re.sub(rb"127\.0\.0\.1:\d+", b"ADDRESS", text) for name, text in texts.items()}
    return {name: re.sub(rb'"identity": ?"[0-9a-f]{64}"', b"IDENTITY", text) for name, text in plain.items()}


def test_a_run_that_is_killed_again_and_again_ends_as_if_it_never_was(tmp_path, undisturbed):
    delays = stream(1, "kills").uniform(0.05, 0.5, size=2)
    met, same = kill_and_resume(tmp_path, delays, undisturbed)
    assert met >= 1
    assert same


@pytest.mark.slow
def test_a_hundred_kills(tmp_path, undisturbed):
    kills = 0
    for number in range(60):
        if kills >= 100:
            break
        delays = stream(number, "kills").uniform(0.02, 0.9, size=3)
        folder = tmp_path / str(number)
        folder.mkdir()
        met, same = kill_and_resume(folder, delays, undisturbed)
        assert same
        kills += met
    assert kills >= 100


def test_two_processes_on_one_run_are_told_and_nothing_is_lost(tmp_path, undisturbed):
    out, endpoint = tmp_path / "run", Endpoint()
    with FaultServer(answer=endpoint.answer) as server:
        one = start(out, tmp_path / "calls.sqlite", server.base_url)
        while not (out / MANIFEST).exists():
            assert one.poll() is None
        script = Path(__file__).with_name("killed_run.py")
        command = [sys.executable, str(script), str(out), str(tmp_path / "calls.sqlite"), server.base_url, str(SEEDS)]
        one.send_signal(signal.SIGSTOP)
        other = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, check=False
        )
        one.send_signal(signal.SIGCONT)
        one.communicate(timeout=60)
    assert other.returncode != 0
    assert "is being run by another process" in other.stderr
    assert one.returncode == 0
    assert evidence_as(evidence(out), undisturbed[0])
