"""Which sandbox there is on this machine, and what to do where there is none."""

from typing import Final

from planroute.errors import InputError
from planroute.sandbox.docker import Docker
from planroute.sandbox.jail import Jail
from planroute.sandbox.sandbox import Sandbox

KINDS: Final = ("auto", "jail", "docker")
HINT: Final = "on Linux: apt install bubblewrap; anywhere: start Docker. planroute doctor says what is there"


def problems() -> dict[str, str]:
    """Why each kind of sandbox cannot be used here; an empty text for one that can."""
    return {Jail.name: Jail.problem(), Docker.name: Docker.problem()}


def choose(kind: str = "auto", *, image: bool = False) -> Sandbox:
    """Return the sandbox that ``kind`` names; ``auto`` takes Docker for an ``image`` where it answers, else a jail.

    Raises ``InputError`` where there is none: commands that a model wrote run in a sandbox or not at all.
    """
    if kind not in KINDS:
        raise InputError(f"sandbox {kind!r} is unknown", hint=f"choose from {', '.join(KINDS)}")
    if kind == "docker" or (kind == "auto" and image and not Docker.problem()):
        if problem := Docker.problem():
            raise InputError(f"no sandbox: {problem}", hint=HINT)
        return Docker()
    if problem := Jail.problem():
        also = f"; {Docker.problem() or 'Docker needs an image'}" if kind == "auto" else ""
        raise InputError(f"no sandbox to run commands in: {problem}{also}", hint=HINT)
    return Jail()
