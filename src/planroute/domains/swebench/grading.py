"""Whether a patch resolves an issue: the record's tests on a fresh copy, in a box of their own, read by swebench."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from planroute.domains.swebench.records import END, START, Record
from planroute.domains.swebench.repositories import REPOSITORIES
from planroute.errors import DomainError, InputError

REFEREE_S: Final = 120.0
"""Seconds that reading one log may take."""
INSTALL: Final = "pip install 'planroute[swebench]'"


@dataclass(frozen=True, slots=True)
class Grade:
    """What the tests say of a patch.

    ``fail_to_pass`` and ``pass_to_pass`` are shares of the tests that must pass, and that must keep passing, from 0 to
    1; ``pass_to_pass`` is ``None`` where there are none. ``note`` says why no test could be read, where none could.
    """

    resolved: bool
    fail_to_pass: float
    pass_to_pass: float | None
    note: str = ""


def need_swebench() -> None:
    """Raise ``InputError`` where swebench is not installed."""
    if find_spec("swebench") is None:
        raise InputError("records are graded by swebench, which is not installed", hint=INSTALL)


def nothing_passed(record: Record, note: str) -> Grade:
    """The grade where no test was read."""
    return Grade(False, 0.0, 0.0 if record.pass_to_pass else None, note)


def read_log(record: Record, patch: str, log: str) -> Grade:
    """Grade ``log``, what the tests of ``record`` printed with ``patch``, by swebench's own parser and rules.

    Raises ``DomainError`` where the library cannot do it.
    """
    testing = REPOSITORIES.get(record.repo)
    given = {
        "instance_id": record.instance_id,
        "repo": record.repo,
        "version": record.version,
        "FAIL_TO_PASS": list(record.fail_to_pass),
        "PASS_TO_PASS": list(record.pass_to_pass),
        "log_parser": record.log_parser or (testing.parser if testing else ""),
        "eval_type": record.eval_type,
        "patch": patch,
        "log": log,
    }
    answer = _ask(given)
    if "error" in answer:
        raise DomainError(f"{record.instance_id}: {answer['error']}", hint=INSTALL)
    report = answer["report"]
    if "tests_status" not in report:
        last = " ".join(log.partition(START)[2].partition(END)[0].split())[-200:]
        return nothing_passed(record, f"no test was found in what the tests printed: {last!r}")
    status = report["tests_status"]
    kept = status["PASS_TO_PASS"]
    return Grade(
        bool(report["resolved"]),
        len(status["FAIL_TO_PASS"]["success"]) / len(record.fail_to_pass),
        len(kept["success"]) / len(record.pass_to_pass) if record.pass_to_pass else None,
    )


def _ask(given: dict[str, Any]) -> dict[str, Any]:
    """Have a process apart read the log."""
    command = [sys.executable, "-I", "-X", "utf8", str(Path(__file__).with_name("referee.py"))]
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            input=json.dumps(given),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=REFEREE_S,
            check=False,
            env={"PATH": os.environ.get("PATH", os.defpath)},
        )
    except subprocess.TimeoutExpired:
        return {"report": {"resolved": False}}
    except OSError as error:
        return {"error": f"the referee could not be started: {error}"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return {"error": f"the referee failed: {last[:300]}"}
    return answer
