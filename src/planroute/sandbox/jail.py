"""A jail on Linux by bubblewrap: namespaces of its own for files, processes and network, and nothing of the host.

Started by root, the namespaces are made by root and scripts run as a user that exists nowhere else, without any
capability. Started by anybody else, a user namespace does the same. Either way limits on processes hold.
"""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from planroute.errors import DomainError
from planroute.sandbox.sandbox import HOME, WORK, Bounds, Ended, Ran, Room
from planroute.sandbox.watch import watch

PROGRAMS: Final = {
    "bwrap": "bubblewrap (apt install bubblewrap)",
    "prlimit": "util-linux",
    "setpriv": "util-linux",
    "bash": "bash",
}
"""What a jail is made of, and the package that has it."""

SYSTEM: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SETTINGS: Final = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
OWN_FOLDERS: Final = {"work": WORK, "tmp": "/tmp", "home": HOME, "shm": "/dev/shm"}  # noqa: S108 - inside the jail
GONE_S: Final = 10.0
"""Seconds that the processes of a jail may take to be gone once it was ended."""
LARGEST_FILE: Final = 512 << 20
MOST_OPEN: Final = 1024

_FIRST_USER: Final = 2_000_000_000


class Jail:
    """Opens jails by bubblewrap."""

    name: Final = "jail"

    def open(self, room: Room, bounds: Bounds) -> "JailBox":
        """Open a jail. Raises ``DomainError`` where this machine has none to offer."""
        if problem := self.problem():
            raise DomainError(f"no jail: {problem}")
        return JailBox(room, bounds)

    @staticmethod
    @cache
    def problem() -> str:
        """Why there is no jail on this machine; empty where there is one. Found out once, by trying."""
        missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
        if missing:
            return f"not installed: {', '.join(sorted(set(missing)))}"
        box = JailBox(Room(), Bounds(seconds=20))
        try:
            ran = box.run("cat", input=b"ready")
        except DomainError as error:
            return error.message
        finally:
            box.close()
        return "" if ran.output == b"ready" else f"a trial answered {ran.text[:200]!r}"


class JailBox:
    """One jail: a folder of its own on this machine, shown at the jail's own paths while a script runs."""

    def __init__(self, room: Room, bounds: Bounds) -> None:
        self.room = room
        self.bounds = bounds
        self.root = os.geteuid() == 0
        self.user = _FIRST_USER + secrets.randbelow(100_000_000) if self.root else 1000
        self._closed = threading.Event()
        self._running = 0
        self._ended = threading.Condition()
        self.folder = Path(tempfile.mkdtemp(prefix="planroute-jail-"))
        for name in OWN_FOLDERS:
            (self.folder / name).mkdir(mode=0o700)
            if self.root:
                os.chown(self.folder / name, self.user, self.user)
        lines = {
            "passwd": f"root:x:0:0:root:/root:/bin/sh\nagent:x:{self.user}:{self.user}:agent:{HOME}:/bin/bash\n",
            "group": f"root:x:0:\nagent:x:{self.user}:\n",
            "hosts": "127.0.0.1 localhost\n",
            "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        }
        (self.folder / "etc").mkdir(mode=0o755)
        for name, text in lines.items():
            (self.folder / "etc" / name).write_text(text)
            (self.folder / "etc" / name).chmod(0o644)

    @property
    def drawn(self) -> Mapping[str, str]:
        """The number of its user, and the name of its folder on this machine."""
        return {str(self.user): "1000", self.folder.name: "planroute-jail"}

    def run(self, script: str, *, input: bytes = b"", seconds: float | None = None, output: int | None = None) -> Ran:
        """See ``planroute.sandbox.Box``."""
        bounds = replace(
            self.bounds,
            seconds=self.bounds.seconds if seconds is None else seconds,
            output=self.bounds.output if output is None else output,
        )
        with self._ended:
            if self._closed.is_set():
                raise DomainError("the jail is closed")
            self._running += 1
        try:
            ran = self._run(script, bounds, input)
        finally:
            with self._ended:
                self._running -= 1
                self._ended.notify_all()
        if ran.ended is Ended.CLOSED:
            raise DomainError("the jail was closed while a script ran in it")
        return ran

    def _run(self, script: str, bounds: Bounds, input: bytes) -> Ran:
        told, tell = os.pipe()
        try:
            command = [*self._limits(bounds), *self._walls(tell), *_shell(script)]
            folders = [self.folder / name for name in OWN_FOLDERS]
            variables = {"HOME": HOME, "PATH": "/usr/local/bin:/usr/bin:/bin", **self.room.variables}
            try:
                ran = watch(
                    command,
                    bounds,
                    variables=variables,
                    input=input,
                    folders=folders,
                    inherit=(tell,),
                    closed=self._closed.is_set,
                )
            finally:
                os.close(tell)
            status = _said(told)
            _wait_for(status.get("child-pid", 0))
        except (OSError, ValueError) as error:
            raise DomainError(f"the jail could not be started: {error}") from None
        finally:
            os.close(told)
        if ran.ended is Ended.EXITED and "exit-code" not in status:
            raise DomainError(f"the jail could not be made: {ran.text.strip()[:300] or 'it ended without a word'}")
        return ran

    def close(self) -> None:
        """End what runs in the jail and remove everything that was written in it."""
        with self._ended:
            self._closed.set()
            self._ended.wait_for(lambda: self._running == 0, timeout=GONE_S)
        if not self.folder.exists():
            return
        if not self.root:  # folders that their owner may not enter
            _quietly("chmod", "-R", "u+rwX", str(self.folder))
        _quietly("rm", "-rf", "--one-file-system", str(self.folder))

    def _limits(self, bounds: Bounds) -> list[str]:
        """Limits of the kernel that hold for each process, and for their number."""
        most = bounds.processes + (0 if self.root else _threads_of(os.getuid()))
        limits = {
            "nproc": most,
            "fsize": min(LARGEST_FILE, bounds.space),
            "data": bounds.memory,
            "nofile": MOST_OPEN,
            "core": 0,
        }
        return ["prlimit", *(f"--{name}={value}" for name, value in limits.items()), "--"]

    def _walls(self, status: int) -> list[str]:
        """What the jail is made of, as arguments of bubblewrap."""
        walls = ["bwrap", "--die-with-parent", "--new-session", "--hostname", "jail"]
        walls += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        if not self.root:
            walls += ["--unshare-user", "--uid", str(self.user), "--gid", str(self.user), "--cap-drop", "ALL"]
            walls += ["--disable-userns"] if "--disable-userns" in _options() else []
        walls += ["--ro-bind", "/usr", "/usr"]
        for name in SYSTEM:
            path = Path(name)
            if path.is_symlink():
                walls += ["--symlink", str(path.readlink()), name]
            elif path.is_dir():
                walls += ["--ro-bind", name, name]
        walls += _way_to("/etc/passwd")
        for name in SETTINGS:
            walls += ["--ro-bind-try", name, name]
        for path in sorted((self.folder / "etc").iterdir()):
            walls += ["--ro-bind", str(path), f"/etc/{path.name}"]
        walls += ["--proc", "/proc", "--dev", "/dev"]
        for name, place in OWN_FOLDERS.items():
            walls += [*_way_to(place), "--bind", str(self.folder / name), place]
        for path in _outermost(self.room.shown):
            if not path.is_relative_to("/usr"):
                walls += [*_way_to(str(path)), "--ro-bind", str(path), str(path)]
        for path in self.room.hidden:
            if any(path.is_relative_to(shown) for shown in (*self.room.shown, Path("/usr"))) and path.exists():
                nothing = ["--tmpfs", str(path), "--remount-ro", str(path)]
                walls += nothing if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        for path, target in self.room.links:
            walls += [*_way_to(str(path)), "--symlink", str(target), str(path)]
        walls += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK, "--json-status-fd", str(status), "--"]
        if self.root:
            user = str(self.user)
            walls += ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"]
            walls += ["--bounding-set=-all", "--inh-caps=-all", "--"]
        return walls


def _shell(script: str) -> list[str]:
    return ["bash", "--noprofile", "--norc", "-c", script]


def _way_to(place: str) -> list[str]:
    """Folders above ``place`` that anybody may pass through."""
    above = [str(parent) for parent in reversed(Path(place).parents)][1:]
    return [word for folder in above if folder not in ("/dev", "/usr") for word in ("--perms", "0755", "--dir", folder)]


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """``paths`` without those that lie below another one."""
    whole = sorted({Path(path) for path in paths})
    return [path for path in whole if not any(other in path.parents for other in whole)]


def _said(pipe: int) -> dict[str, int]:
    """What bubblewrap reported in JSON lines."""
    os.set_blocking(pipe, False)
    told = b""
    with suppress(BlockingIOError):
        while piece := os.read(pipe, 1 << 16):
            told += piece
    said: dict[str, int] = {}
    for line in told.splitlines():
        with suppress(ValueError):
            said |= json.loads(line)
    return said


def _wait_for(process: int) -> None:
    """Wait until the first process of a jail is gone: the kernel ends it after all others in there."""
    deadline = time.monotonic() + GONE_S
    with suppress(OSError, IndexError):
        while time.monotonic() < deadline:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.005)


@cache
def _options() -> str:
    """The options that this bubblewrap knows."""
    done = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout + done.stderr


def _threads_of(user: int) -> int:
    """How many threads of ``user`` this machine runs now: the kernel counts them together with those of a jail."""
    count = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if folder.name.isdecimal() and folder.stat().st_uid == user:
                count += sum(1 for _ in (folder / "task").iterdir())
    return count


def _quietly(*command: str) -> None:
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)  # noqa: S603
