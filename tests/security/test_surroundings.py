"""No program that reads or runs what others wrote has a key in its environment."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from planroute.domains.webarena.browser import Shared, chromium_path
from planroute.domains.webarena.evaluator import Evaluator, interpreter
from planroute.domains.webarena.surroundings import of_an_installer
from planroute.errors import InputError
from planroute.sandbox import Bounds, Room, choose
from tests.sandbox.needs import needs_jail

KEY = "sk-canary-0c9d41"
NAMES = ("PLANROUTE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    for name in NAMES:
        monkeypatch.setenv(name, KEY)


def below(process):
    """``process`` and all that it started, with their programs and environments; some may just have ended."""
    folder = Path(f"/proc/{process}")
    with suppress(FileNotFoundError, ProcessLookupError):
        yield (folder / "cmdline").read_bytes().split(b"\0")[0].decode(), (folder / "environ").read_bytes()
        for thread in (folder / "task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield from below(child)


@needs_jail
def test_a_jailed_command_finds_no_key():
    box = choose("jail").open(Room(), Bounds())
    try:
        ran = box.run(
            "env; cat /proc/*/environ; cat /proc/*/cmdline; ls -la /proc/self/fd; tr '\\0' '\\n' < /proc/1/environ"
        )
    finally:
        box.close()
    assert "PATH=" in ran.text
    assert KEY not in ran.text
    assert not any(name in ran.text for name in NAMES)


def test_the_browser_finds_no_key():
    try:
        program = chromium_path()
    except InputError:
        pytest.skip("there is no Chromium")
    pytest.importorskip("playwright")
    shared = Shared(program, frozenset())
    try:
        shared.call(shared.browser(), 90)
        started = [(name, held) for name, held in below(os.getpid()) if "chrom" in name]
    finally:
        shared.close()
    assert len(started) > 1
    assert all(KEY.encode() not in held for _, held in started)


def test_the_evaluator_finds_no_key():
    try:
        interpreter()
    except InputError as error:
        pytest.skip(error.message)
    evaluator = Evaluator()
    try:
        assert not evaluator.verdict({}, {}, None, []).success
        assert evaluator._process is not None
        (held,) = (held for _, held in below(evaluator._process.pid))
    finally:
        evaluator.close()
    assert b"PATH=" in held
    assert KEY.encode() not in held


def test_an_installer_finds_no_key_but_where_packages_come_from(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://user:password@host/simple")
    found = of_an_installer()
    assert KEY not in found.values()
    assert found["PIP_INDEX_URL"] == "https://user:password@host/simple"
