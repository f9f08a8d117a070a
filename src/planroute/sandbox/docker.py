"""Containers by Docker: for records that come with an image, where a daemon answers."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from planroute.errors import DomainError
from planroute.sandbox.sandbox import WORK, Bounds, Ended, Ran, Room
from planroute.sandbox.watch import watch

PROGRAM: Final = "docker"
ANSWER_S: Final = 20.0
"""Seconds within which a daemon has to say that it is there."""
START_S: Final = 1800.0
"""Seconds for a container to start; its image may have to be fetched before."""
CALL_S: Final = 120.0


class Docker:
    """Opens containers. They have no network, no capabilities, and bounds on memory and processes."""

    name: Final = "docker"

    def open(self, room: Room, bounds: Bounds) -> "DockerBox":
        """Start a container of the room's image. Raises ``DomainError`` where that cannot be done."""
        if problem := self.problem():
            raise DomainError(f"no container: {problem}")
        if not room.image:
            raise DomainError("no container: no image is named")
        memory = str(bounds.memory)
        started = _docker(
            "run", "--detach", "--rm", "--init", "--hostname", "jail", "--network", "none", "--cap-drop", "ALL",
            "--security-opt", "no-new-privileges", "--memory", memory, "--memory-swap", memory,
            "--pids-limit", str(bounds.processes), "--ulimit", "core=0", "--ulimit", f"fsize={bounds.space}",
            "--workdir", WORK, "--entrypoint", "sleep", room.image, "infinity",
            seconds=START_S,
        )  # fmt: skip
        return DockerBox(started.splitlines()[-1], room, bounds)

    @staticmethod
    @cache
    def problem() -> str:
        """Why there are no containers; empty where there are. A client alone is not enough: its daemon must answer."""
        try:
            _docker("version", "--format", "{{.Server.Version}}", seconds=ANSWER_S)
        except DomainError as error:
            installed = shutil.which(PROGRAM) is not None
            return "its client is here, but no daemon answers" if installed else error.message
        return ""


class DockerBox:
    """One container."""

    def __init__(self, container: str, room: Room, bounds: Bounds) -> None:
        self.container = container
        self.room = room
        self.bounds = bounds
        self._open = True

    @property
    def drawn(self) -> Mapping[str, str]:
        """Nothing: it is called like any other one inside."""
        return {}

    def run(self, script: str, *, input: bytes = b"", seconds: float | None = None, output: int | None = None) -> Ran:
        """See ``planroute.sandbox.Box``. What a bound ends takes every other process of the container with it."""
        bounds = replace(
            self.bounds,
            seconds=self.bounds.seconds if seconds is None else seconds,
            output=self.bounds.output if output is None else output,
            memory=1 << 60,  # the daemon sees to it; here only its client runs
        )
        variables = [word for name, value in self.room.variables.items() for word in ("--env", f"{name}={value}")]
        command = [PROGRAM, "exec", "--interactive", "--workdir", WORK, *variables, self.container]
        command += ["bash", "--noprofile", "--norc", "-c", script]
        try:
            ran = watch(command, bounds, variables=_client(), input=input)
        except (OSError, ValueError) as error:
            raise DomainError(f"docker could not be started: {error}") from None
        alive = _docker("inspect", "--format", "{{.State.Running}}", self.container)
        if alive != "true":
            raise DomainError(f"the container has ended: {ran.text.strip()[:300]}")
        if ran.ended is not Ended.EXITED:
            _docker("restart", "--time", "0", self.container)
        return ran

    def close(self) -> None:
        """Remove the container."""
        if self._open:
            self._open = False
            _docker("rm", "--force", "--volumes", self.container)


def _client() -> dict[str, str]:
    """The client's own environment: where its daemon is, and no more of ours than that takes."""
    kept = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
    return {name: os.environ[name] for name in kept if name in os.environ}


def _docker(*arguments: str, seconds: float = CALL_S) -> str:
    """Answer of the client. Raises ``DomainError`` with what it complained about."""
    try:
        done = subprocess.run(  # noqa: S603 - a list, and no shell
            [PROGRAM, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            env=_client(),
        )
    except FileNotFoundError:
        raise DomainError("docker is not installed") from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DomainError(f"docker {arguments[0]}: {error}") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[:300] or f"exit status {done.returncode}"
        raise DomainError(f"docker {arguments[0]}: {said}")
    return done.stdout.strip()
