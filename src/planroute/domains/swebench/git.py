"""Running git on this machine, on repositories that the user named: never on what a model has touched."""

import os
import subprocess
from pathlib import Path
from typing import Final

from planroute.errors import DomainError, InputError

IDENTITY: Final = {
    "GIT_AUTHOR_NAME": "planroute",
    "GIT_AUTHOR_EMAIL": "planroute@localhost",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "planroute",
    "GIT_COMMITTER_EMAIL": "planroute@localhost",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
}
"""A date and a name that make equal commits of equal files; an agent's commands have them too."""
ALONE: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_DEFAULT_HASH": "sha1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "file",
    **IDENTITY,
}
"""Nobody's settings, and that identity.

A repository's own settings may name a place, and a command, to fetch what it lacks from: that is not done.
"""


def git(folder: Path, *arguments: str, input: bytes | None = None) -> str:
    """Return what ``git -C folder ...`` prints.

    Raises ``InputError`` where git is not installed, ``DomainError`` with its complaint where it fails.
    """
    try:
        done = subprocess.run(  # noqa: S603 - a list, and no shell
            ["git", "-C", str(folder), "-c", "safe.directory=*", *arguments],  # noqa: S607 - the user's own git
            input=input if input is not None else b"",
            capture_output=True,
            env={"PATH": os.environ.get("PATH", os.defpath), "HOME": os.devnull, **ALONE},
            check=False,
        )
    except FileNotFoundError:
        raise InputError("git is not installed", hint="apt install git") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise DomainError(f"git {arguments[0]} in {folder}: {said or f'exit status {done.returncode}'}")
    return done.stdout.decode("utf-8", "replace").strip()


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in ``folder``, ignored files too, and return the commit: the same for equal files."""
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")
