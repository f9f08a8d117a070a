"""The command that started a run: kept in its manifest, so that the run can be taken up from its folder alone."""

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from planroute.models.spec import public_spec

_COMMAND: ContextVar[tuple[str, ...] | None] = ContextVar("planroute command", default=None)


@contextmanager
def commanded(arguments: Sequence[str]) -> Iterator[None]:
    """Let runs that are started within have been started by ``planroute`` with ``arguments``."""
    token = _COMMAND.set(tuple(arguments))
    try:
        yield
    finally:
        _COMMAND.reset(token)


def environment(folder: Path | None) -> dict[str, Any]:
    """Return what a manifest holds of how its run was started; none of it can change a row.

    ``command`` are the program's arguments, without anything secret in their addresses; ``cwd`` is where it was
    started, ``folder`` where the run's folder is.
    """
    told: dict[str, Any] = {"python": platform.python_version(), "system": platform.system()}
    command = _COMMAND.get()
    if command is not None and folder is not None:
        told["command"] = [_without_secrets(each) for each in command]
        told["cwd"] = os.getcwd()  # noqa: PTH109 - as text
        told["folder"] = str(folder.absolute())
    return told


def _without_secrets(argument: str) -> str:
    option, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
    if "://" not in value:
        return argument
    return f"{option}{equals}{','.join(str(public_spec(each)) for each in value.split(','))}"


__all__ = ["commanded", "environment"]
