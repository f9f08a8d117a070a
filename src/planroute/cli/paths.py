"""Names of files and folders as they are given on the command line."""

from pathlib import Path


def named(text: str) -> Path:
    """Return ``text`` as a path. Raises ``InputError`` where nothing can be called so: it is empty or too long."""
    from planroute.errors import InputError

    if not text:
        raise InputError("an empty name is no file or folder", hint="name one; . is the folder that you are in")
    path = Path(text)
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise InputError(f"{text!r}: {getattr(error, 'strerror', None) or error}", hint="name another") from None
    return path
