"""The verdict on an episode, by the code of webarena-verified, which runs in a virtual environment of its own.

That package pins pydantic 2.12.0 and jsonpath-ng 1.7.0, and other domains and Inspect need newer ones. Installed with
the pins overridden it would be judged by versions that its authors have not tried, and any later release of them could
change a verdict unseen. Apart, it is what its authors released, and planroute keeps its own choice of versions.
"""

import atexit
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planroute.domains.webarena.surroundings import of_an_installer, surroundings
from planroute.errors import DomainError, InputError

VERSION: Final = "1.2.3"
PACKAGE: Final = f"webarena-verified=={VERSION}"
VARIABLE: Final = "PLANROUTE_WEBARENA_VENV"
SECONDS: Final = 120.0
HOW: Final = "python -m planroute.domains.webarena.evaluator builds it from PyPI (make webarena in a checkout)"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What webarena-verified says. Success is a score of 1; ``status`` may also be ``error``, with a score of 0.

    ``parts`` are the scores of its evaluators by name, the lowest of each.
    """

    status: str
    score: float
    error: str | None
    parts: Mapping[str, float]

    @property
    def success(self) -> bool:
        """Whether the task is done."""
        return self.score == 1.0


def folder() -> Path:
    """Where the evaluator's environment is, there or not: PLANROUTE_WEBARENA_VENV, or in planroute's cache folder."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    cache = os.environ.get("PLANROUTE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / (
        "planroute"
    )
    return Path(cache) / f"webarena-verified-{VERSION}"


def interpreter() -> Path:
    """The environment's Python. Raises ``InputError`` where it is not built."""
    python = folder() / "bin" / "python"
    if not python.exists() or not any(folder().glob("lib/python*/site-packages/webarena_verified/__init__.py")):
        raise InputError("the evaluator of webarena-verified is not installed", hint=HOW)
    return python


def build() -> Path:
    """Build the environment where it is missing, from the package index that pip or uv uses; return its folder.

    Raises ``InputError`` with the last line of what the installer said where that fails.
    """
    target = folder()
    if (target / "bin" / "python").exists() and any(target.glob("lib/python*/site-packages/webarena_verified")):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(target)])
    python = str(target / "bin" / "python")
    uv = shutil.which("uv", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if uv is not None:
        _run([uv, "pip", "install", "--quiet", "--python", python, PACKAGE])
    else:
        _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE])
    return target


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=of_an_installer(),
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no reason was given"]
        raise InputError(f"{PACKAGE} could not be installed: {lines[-1]}", hint="is a package index in reach?")


class Evaluator:
    """One process of the evaluator for the whole run, asked by one thread at a time; started when it is first asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def verdict(
        self,
        record: Mapping[str, Any],
        addresses: Mapping[str, str],
        response: str | None,
        entries: Sequence[Mapping[str, Any]],
    ) -> Verdict:
        """Judge an episode: ``addresses`` are the sites' by placeholder, ``entries`` those of its HAR.

        Raises ``InputError`` where the environment is missing, ``DomainError`` where the process fails.
        """
        question = {
            "record": dict(record),
            "environments": {name: {"urls": [url]} for name, url in addresses.items()},
            "response": response,
            "entries": list(entries),
        }
        with self._lock:
            answer = self._ask(json.dumps(question))
        if "verdict" not in answer:
            raise DomainError(f"webarena-verified failed: {answer.get('failed', 'no reason was given')}")
        said = answer["verdict"]
        parts: dict[str, float] = {}
        for each in said["evaluators"]:
            parts[each["name"]] = min(each["score"], parts.get(each["name"], 1.0))
        return Verdict(said["status"], said["score"], said["error"], parts)

    def close(self) -> None:
        """End the process. May be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        atexit.unregister(self.close)

    def _ask(self, line: str) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(  # noqa: S603
                [str(interpreter()), "-I", str(Path(__file__).with_name("apart.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                env=surroundings(),
            )
            atexit.register(self.close)
        process = self._process
        late = threading.Timer(SECONDS, process.kill)
        late.start()
        try:
            assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018
            process.stdin.write(line + "\n")
            process.stdin.flush()
            said = process.stdout.readline()
        except OSError:
            said = ""
        finally:
            late.cancel()
        try:
            answer: dict[str, Any] = json.loads(said)
        except ValueError:
            self.close()
            raise DomainError(f"webarena-verified ended, or gave no answer within {SECONDS:g} s") from None
        return answer


EVALUATOR: Final = Evaluator()
"""The process's evaluator."""


if __name__ == "__main__":
    try:
        print(build())
    except InputError as problem:
        raise SystemExit(str(problem)) from None
