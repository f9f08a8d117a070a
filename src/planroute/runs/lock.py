"""One process at a time runs a folder: a lock on the folder itself, which the system lifts however its holder ends."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planroute.errors import InputError

try:
    import fcntl
except ImportError:  # pragma: no cover - a system without file locks
    fcntl = None  # type: ignore[assignment]

PATIENCE_S = 1.0
"""A look whether a run is going on holds its folder for a moment; nobody is refused for that."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder``, which must exist, while a run is executed in it.

    Raises ``InputError`` where another process holds it. Where the file system knows no locks nothing is held.
    """
    handle = _locked(folder, PATIENCE_S)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def is_held(folder: Path) -> bool:
    """Tell whether a process is running ``folder`` just now."""
    try:
        handle = _locked(folder, 0.0)
    except InputError:
        return True
    if handle is not None:
        os.close(handle)
    return False


def _locked(folder: Path, patience_s: float) -> int | None:
    if fcntl is None:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(0.02)
                continue
            os.close(handle)
            raise InputError(
                f"{folder} is being run by another process", hint="wait until it has ended, or choose another --out"
            ) from None
        except OSError:
            os.close(handle)
            return None
        return handle


__all__ = ["held", "is_held"]
