"""Running one program to its end or to the first bound that it reaches."""

import os
import selectors
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from planroute.sandbox.sandbox import Bounds, Ended, Ran

LOOK_S: Final = 0.1
"""Seconds between two looks at memory."""
SPACE_S: Final = 1.0
"""Seconds between two looks at space; there is one more at the end."""
RESERVE: Final = 128 << 20
"""Bytes of this machine's memory below which a script is ended, whoever holds the rest."""

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def watch(
    command: Sequence[str],
    bounds: Bounds,
    *,
    variables: Mapping[str, str],
    input: bytes = b"",
    folders: Sequence[Path] = (),
    inherit: Sequence[int] = (),
    closed: Callable[[], bool] = lambda: False,
) -> Ran:
    """Run ``command`` and kill it, with what it started, where it reaches one of ``bounds``.

    It is killed as well once ``closed`` says so. ``folders`` are those whose content counts as space. The environment
    is ``variables`` and nothing else. What the command started must die with it: that is the business of whoever made
    it. Raises ``OSError`` where it cannot be started.
    """
    with tempfile.TemporaryFile() as given:
        given.write(input)
        given.seek(0)
        process = subprocess.Popen(  # noqa: S603 - a list, and no shell
            list(command),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(variables),
            start_new_session=True,
            pass_fds=tuple(inherit),
        )
    assert process.stdout is not None  # noqa: S101 - it is a pipe
    ended, output = Ended.EXITED, bytearray()
    try:
        ended = _follow(process, process.stdout, output, bounds, folders, closed)
    finally:
        if ended is not Ended.EXITED or process.poll() is None:
            _kill(process)
        code = process.wait()
        process.stdout.close()
    if ended is Ended.EXITED and _too_large(folders, bounds):
        ended = Ended.SPACE
    return Ran(code if ended is Ended.EXITED else None, bytes(output[: bounds.output]), ended)


def _follow(
    process: subprocess.Popen[bytes],
    pipe: IO[bytes],
    output: bytearray,
    bounds: Bounds,
    folders: Sequence[Path],
    closed: Callable[[], bool],
) -> Ended:
    """Gather output until the pipe closes; say which bound was reached before that, if any."""
    start = time.monotonic()
    next_look, next_space = start + LOOK_S, start + SPACE_S
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while True:
            now = time.monotonic()
            if closed():
                return Ended.CLOSED
            if now - start >= bounds.seconds:
                return Ended.SECONDS
            if now >= next_look:
                if _memory(process.pid) > bounds.memory or _available() < RESERVE:
                    return Ended.MEMORY
                next_look = time.monotonic() + LOOK_S
            if now >= next_space:
                if _too_large(folders, bounds):
                    return Ended.SPACE
                next_space = time.monotonic() + SPACE_S
            if ready.select(min(LOOK_S, max(bounds.seconds - (now - start), 0.0))):
                piece = os.read(pipe.fileno(), 1 << 16)
                if not piece:
                    return Ended.EXITED
                output += piece
                if len(output) > bounds.output:
                    return Ended.OUTPUT


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.kill()


def _memory(root: int) -> int:
    """Bytes that ``root`` and everything below it hold in memory."""
    total, left = 0, [root]
    while left:
        folder = f"/proc/{left.pop()}"
        try:
            total += int(Path(f"{folder}/statm").read_text().split()[1]) * _PAGE
            for thread in Path(f"{folder}/task").iterdir():
                left += map(int, (thread / "children").read_text().split())
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
    return total


def _available() -> int:
    """Bytes of memory that this machine can still give; more than enough where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 1 << 60


def _too_large(folders: Sequence[Path], bounds: Bounds) -> bool:
    """Whether ``folders`` hold more bytes or files than allowed, or a path that is too long to be named."""
    size, count, left = 0, 0, [str(folder) for folder in folders]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    found = entry.stat(follow_symlinks=False)
                    size += found.st_blocks * 512
                    count += 1
                    if size > bounds.space or count > bounds.files:
                        return True
                    if stat.S_ISDIR(found.st_mode):
                        left.append(entry.path)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        except OSError:
            return True
    return False
