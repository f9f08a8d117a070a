"""The jail: what a script sees, what it may use, and that nothing of it stays or gets out."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planroute.errors import DomainError, InputError
from planroute.sandbox import WORK, Bounds, Box, Docker, Ended, Jail, Room, Sandbox, choose, problems
from planroute.sandbox import jail as jail_module
from tests.sandbox.needs import needs_jail

pytestmark = needs_jail

SECRET = "canary-5d1f0c"


@pytest.fixture(scope="module")
def box():
    opened = Jail().open(Room(), Bounds(seconds=20))
    yield opened
    opened.close()


@pytest.fixture
def small():
    opened = Jail().open(Room(), Bounds(seconds=4, memory=200 << 20, processes=40, space=8 << 20, files=300))
    yield opened
    opened.close()
    assert not opened.folder.exists()


def test_it_keeps_the_contract_of_a_sandbox(box):
    assert isinstance(Jail(), Sandbox)
    assert isinstance(Docker(), Sandbox)
    assert Box in type(box).__mro__ or callable(box.run)
    ran = box.run("pwd; cat; exit 3", input=b"given\n")
    assert (ran.code, ran.ended, ran.text) == (3, Ended.EXITED, f"{WORK}\ngiven\n")


def test_what_is_written_stays_for_the_next_script_and_the_shell_does_not(box):
    box.run("echo one > kept; echo two > /tmp/kept; echo three > ~/kept; export LOST=1; cd /tmp")
    assert box.run('cat kept /tmp/kept ~/kept; echo "[$LOST]"; pwd').text == f"one\ntwo\nthree\n[]\n{WORK}\n"


def test_two_boxes_share_nothing(box):
    box.run("echo mine > /tmp/mine; echo mine > mine")
    other = Jail().open(Room(), Bounds(seconds=20))
    assert other.run("ls -A . /tmp ~ /dev/shm").text.split() == [".:", "/agent:", "/dev/shm:", "/tmp:"]
    other.close()


def test_no_file_of_this_machine_is_seen(box, tmp_path, monkeypatch):
    (tmp_path / "canary").write_text(SECRET)
    with_home = Path.home() / f".planroute-canary-{os.getpid()}"
    with_home.write_text(SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    try:
        ran = box.run(
            f"cat {tmp_path}/canary {with_home} /etc/shadow /proc/1/environ; env; ls {tmp_path} /root /home /work;"
            "for pid in /proc/[0-9]*; do cat $pid/environ $pid/cmdline; done;"
            "find / -path /proc -prune -o -path /usr -prune -o -name '*canary*'"
        )
    finally:
        with_home.unlink()
    assert SECRET not in ran.text
    assert not [line for line in ran.text.splitlines() if line.startswith("/") and "canary" in line]


def test_the_environment_is_the_room_s_and_nothing_else():
    opened = Jail().open(Room(variables={"PATH": "/usr/bin:/bin", "ONE": "1"}), Bounds(seconds=20))
    names = {line.partition("=")[0] for line in opened.run("env").text.splitlines()}
    opened.close()
    assert names == {"PATH", "ONE", "HOME", "PWD", "SHLVL", "_"}


@pytest.mark.parametrize("place", ["/x", "/usr/x", "/etc/x", "/dev/x", "/var/x", "/usr/bin/env", "/proc/sys/kernel/x"])
def test_nothing_is_written_outside_of_its_own_folders(box, place):
    ran = box.run(f"echo gone > {place}")
    assert ran.code != 0
    assert "Read-only" in ran.text or "denied" in ran.text or "No such file" in ran.text


def test_it_runs_as_nobody_with_no_capability(box):
    status = dict(line.split(":\t", 1) for line in box.run("cat /proc/self/status").text.splitlines() if ":\t" in line)
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd")} == {0}
    assert status["NoNewPrivs"] == "1"
    assert "0" not in status["Uid"].split()
    assert box.run("mount -t tmpfs none /tmp; chown 0 . ; kill -9 1; echo here").text.endswith("here\n")


def test_no_network_neither_here_nor_outside(box):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        script = (
            "import socket\n"
            f"for place in (('127.0.0.1', {port}), ('10.0.0.1', 80), ('1.1.1.1', 53), ('example.org', 80)):\n"
            "    try:\n        socket.create_connection(place, 2)\n        print('reached', place)\n"
            "    except OSError as error:\n        print('refused', type(error).__name__)\n"
        )
        ran = box.run("/usr/bin/python3 -", input=script.encode())
        with pytest.raises(TimeoutError):
            server.accept()
    assert ran.text.split()[::2] == ["refused"] * 4


# Bounds


def test_time_is_bounded(small):
    start = time.monotonic()
    ran = small.run("echo begun; sleep 60", seconds=0.5)
    assert (ran.ended, ran.code, ran.text) == (Ended.SECONDS, None, "begun\n")
    assert time.monotonic() - start < 3


def test_output_is_bounded(small):
    ran = small.run("yes", output=5000)
    assert (ran.ended, len(ran.output)) == (Ended.OUTPUT, 5000)
    assert small.run("seq 1000000 | tail -n 1").text == "1000000\n"


def test_memory_of_one_process_is_bounded(small):
    ran = small.run("/usr/bin/python3 -c 'x = bytearray(400 << 20)'")
    assert ran.code == 1
    assert "MemoryError" in ran.text


def test_memory_of_all_processes_is_bounded(small):
    ran = small.run(
        "for i in 1 2 3; do /usr/bin/python3 -c 'x = b\"a\" * (90 << 20); input()' < <(sleep 9) & done; wait"
    )
    assert ran.ended is Ended.MEMORY


def test_a_fork_bomb_ends_at_its_own_bound(small):
    """The bomb forks forty children at most four levels deep: without a bound it ends by itself."""
    bomb = (
        "bomb() { [ $1 -eq 0 ] && return; for i in $(seq 40); do (bomb $(($1 - 1)); sleep 30) & done; wait; }; bomb 2"
    )
    before = _processes()
    ran = small.run(bomb, seconds=4.0)
    assert ran.ended is Ended.SECONDS
    assert "Resource temporarily unavailable" in ran.text
    assert _processes() - before < 20


def test_space_is_bounded(small):
    assert small.run("head -c 3000000 /dev/zero > a").code == 0
    assert small.run("head -c 20000000 /dev/zero > b; echo $?").text.strip().endswith("153")
    assert small.run("rm b; for i in 1 2 3 4; do head -c 3000000 /dev/zero > c$i; done").ended is Ended.SPACE


def test_files_are_bounded_also_where_a_path_is_too_long_to_be_named(small):
    assert small.run("touch $(seq 400)").ended is Ended.SPACE
    small.run("rm *")
    deep = "for i in $(seq 60); do mkdir " + "d" * 200 + " && cd -P " + "d" * 200 + "; done"
    assert small.run(deep).ended is Ended.SPACE


def test_no_process_is_left(small):
    mark = "31.4159"
    small.run(f"setsid nohup sleep {mark} >/dev/null 2>&1 & disown; exit 0")
    small.run(f"sleep {mark}", seconds=0.3)
    time.sleep(0.2)
    found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _read(path)]
    assert found == []


def test_folders_that_nobody_may_enter_are_removed(small):
    small.run("mkdir -p a/b && touch a/b/c && chmod 000 a/b a")


def test_a_link_that_leads_out_is_not_followed_when_a_box_is_removed(tmp_path):
    (tmp_path / "kept").write_text("kept")
    opened = Jail().open(Room(), Bounds(seconds=20))
    opened.run(f"ln -s {tmp_path} out; ln -s {tmp_path} /tmp/out; mv /tmp/out work")
    opened.close()
    opened.close()
    assert (tmp_path / "kept").read_text() == "kept"


# Rooms


def test_shown_folders_are_read_only_and_hidden_ones_are_empty(tmp_path):
    for name in ("open/a", "open/closed/b"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SECRET)
    (tmp_path / "open" / "file").write_text(SECRET)
    room = Room(shown=(tmp_path / "open",), hidden=(tmp_path / "open" / "closed", tmp_path / "open" / "file"))
    opened = Jail().open(room, Bounds(seconds=20))
    ran = opened.run(
        f"cat {tmp_path}/open/a; echo; ls -A {tmp_path}/open/closed; cat {tmp_path}/open/file; touch {tmp_path}/open/n"
    )
    opened.close()
    assert ran.text.count(SECRET) == 1
    assert ran.text.startswith(SECRET)
    assert not (tmp_path / "open" / "n").exists()


# Where there is none


def test_a_script_that_no_process_can_be_given_is_an_error(box):
    with pytest.raises(DomainError):
        box.run("echo \0")
    with pytest.raises(DomainError):
        box.run("x" * 3_000_000)


def test_without_a_program_there_is_no_jail_and_the_reason_says_what_to_install(monkeypatch):
    monkeypatch.setattr(jail_module.shutil, "which", lambda name: None if name == "bwrap" else name)
    reason = Jail.problem.__wrapped__()
    assert reason == "not installed: bubblewrap (apt install bubblewrap)"
    monkeypatch.setattr(Jail, "problem", staticmethod(lambda: reason))
    monkeypatch.setattr(Docker, "problem", staticmethod(lambda: "docker is not installed"))
    with pytest.raises(InputError, match="apt install bubblewrap") as refused:
        choose()
    assert "start Docker" in refused.value.hint
    with pytest.raises(DomainError, match="no jail"):
        Jail().open(Room(), Bounds())
    with pytest.raises(InputError, match="docker is not installed"):
        choose("docker")
    assert problems() == {"jail": reason, "docker": "docker is not installed"}


def test_a_jail_that_cannot_be_made_is_a_failure_of_the_sandbox(monkeypatch):
    opened = Jail().open(Room(shown=(Path("/nowhere-at-all"),)), Bounds(seconds=20))
    with pytest.raises(DomainError, match="could not be made"):
        opened.run("true")
    opened.close()


@pytest.mark.parametrize(
    ("kind", "image", "name"), [("auto", False, "jail"), ("auto", True, "jail"), ("jail", True, "jail")]
)
def test_where_no_daemon_answers_it_is_a_jail(monkeypatch, kind, image, name):
    monkeypatch.setattr(Docker, "problem", staticmethod(lambda: "no daemon"))
    assert choose(kind, image=image).name == name
    monkeypatch.setattr(Docker, "problem", staticmethod(lambda: ""))
    assert choose("auto", image=True).name == "docker"
    with pytest.raises(InputError, match="'vm' is unknown"):
        choose("vm")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="needs a Python that anybody may run")
def test_anybody_gets_the_same_jail_in_a_user_namespace(tmp_path):
    """The sandbox alone, as a user without rights, by the system's own Python."""
    package = Path(sys.modules["planroute.sandbox"].__file__).parents[1]
    copied = tmp_path / "planroute"
    copied.mkdir()
    tmp_path.chmod(0o755)
    for parent in (tmp_path, *tmp_path.parents):
        if parent != Path("/tmp") and parent != Path("/") and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    subprocess.run(["cp", "-r", str(package / "errors.py"), str(package / "sandbox"), str(copied)], check=True)
    (copied / "__init__.py").touch()
    script = (
        "from planroute.sandbox import *\n"
        "assert not Jail.problem(), Jail.problem()\n"
        "box = Jail().open(Room(), Bounds(seconds=4, processes=30))\n"
        "print(box.run('id -u; grep CapEff /proc/self/status; echo x > /x; cat /etc/hostname; echo kept > f').text)\n"
        "print(box.run('cat f; for i in $(seq 60); do sleep 9 & done; sleep 1', seconds=3).text)\n"
        "box.run('mkdir a; touch a/b; chmod 000 a')\n"
        "box.close()\n"
        "print(box.folder.exists())\n"
    )
    env = {"PYTHONPATH": str(tmp_path), "PATH": os.environ["PATH"], "TMPDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        ["/usr/bin/python3", "-c", script],
        capture_output=True, text=True, env=env, user=65534, group=65534, extra_groups=[], check=False, cwd="/",
    )  # fmt: skip
    if "no jail" in done.stderr or "AssertionError" in done.stderr:
        pytest.skip(f"no user namespaces for others on this machine: {done.stderr.strip().splitlines()[-1]}")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["1000", "CapEff:\t0000000000000000"], done.stderr
    assert "Read-only file system" in lines[2]
    assert "kept" in lines
    assert "Resource temporarily unavailable" in done.stdout
    assert lines[-1] == "False"


def _processes() -> int:
    return sum(path.name.isdecimal() for path in Path("/proc").iterdir())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
