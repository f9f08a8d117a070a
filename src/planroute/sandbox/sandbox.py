"""What a sandbox is: it opens boxes, and in a box scripts run that nobody has read.

Contract of a box:

- It has no network. Of this machine it sees what its room shows, read-only, and nothing else; it holds no key.
- What its scripts write stays in it: the work folder, ``/tmp`` and the home folder are its own, and all else is
  read-only.
- Files go in and out through the standard input and output of scripts only, so that no link that a script left behind
  is ever followed from outside.
- Every script is bounded in time, output, memory, processes and space, and leaves no process behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

WORK: Final = "/testbed"
"""The work folder of every box, in which scripts start."""
HOME: Final = "/agent"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one script may use. ``memory``, ``output`` and ``space`` are bytes.

    ``memory`` holds for each process and for all of them together, ``processes`` counts threads, ``output`` is
    standard output and error together, ``space`` and ``files`` are what the box holds in all.
    """

    seconds: float = 60.0
    output: int = 4_000_000
    memory: int = 2 << 30
    processes: int = 200
    space: int = 2 << 30
    files: int = 200_000


@dataclass(frozen=True, slots=True)
class Room:
    """What a box has in it beside its empty work folder.

    ``shown`` are folders of this machine, to be read at their own paths; what lies below ``hidden`` is left out of
    them, ``links`` are symbolic links from one path to another. ``variables`` are the environment of every script, all
    of it. ``image`` names what a container is made of, which has no need of the first three.
    """

    shown: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    links: tuple[tuple[Path, Path], ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    image: str = ""


class Ended(StrEnum):
    """How a script came to its end: by itself, because it reached a bound, or with its box, which was closed."""

    EXITED = "exited"
    SECONDS = "seconds"
    OUTPUT = "output"
    MEMORY = "memory"
    SPACE = "space"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a script. ``code`` is its exit status, ``None`` where it was ended by a bound."""

    code: int | None
    output: bytes
    ended: Ended = Ended.EXITED

    @property
    def text(self) -> str:
        """The output as text; what is not UTF-8 is replaced."""
        return self.output.decode("utf-8", "replace")


class Box(Protocol):
    """One private place. Two boxes share nothing."""

    @property
    def drawn(self) -> Mapping[str, str]:
        """What was drawn at random for this box and may show in its output, each with what others can be shown."""

    def run(self, script: str, *, input: bytes = b"", seconds: float | None = None, output: int | None = None) -> Ran:
        """Run ``script`` with bash in the work folder, in a shell and an environment of its own.

        ``seconds`` and ``output`` take the place of the box's own bounds. Raises ``DomainError`` where the sandbox
        itself fails or the box is closed, never for anything that the script does.
        """

    def close(self) -> None:
        """End what runs in it and remove what it holds. May be called twice, and from another thread than ``run``."""


@runtime_checkable
class Sandbox(Protocol):
    """Opens boxes. ``name`` is part of an episode's identity."""

    @property
    def name(self) -> str:
        """What kind of sandbox this is."""

    def open(self, room: Room, bounds: Bounds) -> Box:
        """Open a box. Raises ``DomainError`` where that cannot be done."""
