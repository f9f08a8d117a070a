"""Writing a file into a run's folder: whole, and nowhere else, whatever lies there under its name.

A folder may come from somebody else. A link in it is replaced, never followed, and no name leads out of it.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from planroute.errors import InputError, StorageError

NAME: Final = re.compile(r"[A-Za-z0-9_][\w.-]{0,99}", re.ASCII)
"""What a file may be called."""


@contextmanager
def placed(folder: Path, name: str) -> Iterator[Path]:
    """Yield where to write what is to be ``name`` in ``folder``; it is put there, whole, at the end of the block.

    ``folder`` is made where it is missing. Raises ``InputError`` where it is a link or ``name`` is no plain name,
    ``StorageError`` where the file cannot be written.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"{name[:100]!r} cannot be the name of a file in {folder}", hint="mend the run's files")
    target = folder / name
    part: Path | None = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(dir=folder, prefix=".part-")
        os.close(handle)
        part = Path(made)
        yield part
        part.chmod(0o644)
        part.replace(target)
    except OSError as error:
        raise StorageError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def within(folder: Path, name: str) -> Path:
    """The folder ``name`` of ``folder``. Raises ``InputError`` where it is a link, which could lead anywhere."""
    if (folder / name).is_symlink():
        raise InputError(f"{folder / name} is a link", hint="remove it: what is written there must stay in the folder")
    return folder / name
