"""Reading a file as it lies on a disk: no pipe that blocks, no device without an end, nothing larger than fits."""

import os
import stat
from pathlib import Path
from typing import Final

from planroute.errors import InputError

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one JSON document; parsed, it takes many times as much memory."""
LARGEST_ARCHIVE: Final = 512 * 1024 * 1024
"""Bytes of an archive, and of all that is in it."""
ZIP: Final = b"PK\x03\x04"


def read_bytes(path: Path) -> bytes:
    """Return the content of ``path``. Raises ``InputError`` where it is no regular file, too large or unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"{path} is not a file")
            head = file.read(len(ZIP))
            return head + file.read(largest(head) + 1 - len(head))
    except IsADirectoryError:
        raise InputError(f"{path} is not a file") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def largest(head: bytes) -> int:
    """The most bytes that a file which begins with ``head`` may have."""
    return LARGEST_ARCHIVE if head.startswith(ZIP) else LARGEST


def refuse_large(size: int, what: str, most: int = 0) -> None:
    """Raise ``InputError`` where ``size`` is above ``most`` bytes, ``LARGEST`` by default."""
    most = most or LARGEST
    if size > most:
        raise InputError(f"{what} is larger than {most >> 20} MB, the most that is read")
