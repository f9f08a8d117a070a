"""Containers, against a client that only says what it was asked: walls, and what becomes of failures."""

import json

import pytest

from planroute.errors import DomainError
from planroute.sandbox import Bounds, Docker, Ended, Room

CLIENT = """#!/bin/bash
printf '%s\\n' "$*" >> "$HOME/asked"
env >> "$HOME/environment"
case "$1" in
  version) [ -e "$HOME/no-daemon" ] && { echo 'Cannot connect to the Docker daemon' >&2; exit 1; }; echo 27.0 ;;
  run) echo pulling; echo c0ffee ;;
  inspect) if [ -e "$HOME/dead" ]; then echo false; else echo true; fi ;;
  exec) while [ "$1" != c0ffee ]; do shift; done; shift; cd "$HOME"; exec "$@" ;;
esac
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    client = tmp_path / "bin" / "docker"
    client.parent.mkdir()
    client.write_text(CLIENT)
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    Docker.problem.cache_clear()
    yield tmp_path
    Docker.problem.cache_clear()


def opened(**bounds):
    return Docker().open(Room(image="some/image:latest", variables={"TZ": "UTC"}), Bounds(**bounds))


def test_a_container_has_walls(home):
    box = opened(memory=1000, processes=7)
    box.close()
    box.close()
    version, run, remove = (home / "asked").read_text().splitlines()
    assert version.startswith("version")
    for wall in (
        "--network none",
        "--cap-drop ALL",
        "--security-opt no-new-privileges",
        "--memory 1000 --memory-swap 1000",
        "--pids-limit 7",
        "--entrypoint sleep some/image:latest infinity",
    ):
        assert wall in run
    assert "--volume" not in run
    assert "--mount" not in run
    assert remove == "rm --force --volumes c0ffee"
    assert "secret" not in (home / "environment").read_text()


def test_a_script_is_run_in_it(home):
    box = opened()
    ran = box.run("cat; echo done; exit 4", input=b"given ")
    assert (ran.code, ran.text) == (4, "given done\n")
    assert (
        "exec --interactive --workdir /testbed --env TZ=UTC c0ffee bash --noprofile --norc -c"
        in (home / "asked").read_text()
    )


def test_what_a_bound_ends_is_ended_inside_too(home):
    box = opened()
    assert box.run("sleep 30", seconds=0.3).ended is Ended.SECONDS
    assert (home / "asked").read_text().splitlines()[-1] == "restart --time 0 c0ffee"


def test_a_container_that_ended_is_a_failure_of_the_sandbox(home):
    box = opened()
    (home / "dead").touch()
    with pytest.raises(DomainError, match="the container has ended: last words"):
        box.run("echo last words")


def test_a_client_without_a_daemon_is_no_docker(home):
    (home / "no-daemon").touch()
    assert Docker.problem() == "its client is here, but no daemon answers"
    with pytest.raises(DomainError, match="no container: its client is here, but no daemon answers"):
        opened()


def test_no_client_and_no_image(home, monkeypatch):
    with pytest.raises(DomainError, match="no image is named"):
        Docker().open(Room(), Bounds())
    Docker.problem.cache_clear()
    monkeypatch.setenv("PATH", str(home))
    monkeypatch.setattr("planroute.sandbox.docker.PROGRAM", "docker-that-is-not-there")
    assert Docker.problem() == "docker is not installed"


def test_its_name_is_json():
    assert json.dumps(Docker().name) == '"docker"'
