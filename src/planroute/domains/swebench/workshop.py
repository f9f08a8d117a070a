"""Everything that is fixed about working on one record: where its files come from, what runs them, how it is tested."""

import hashlib
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from planroute.domains.swebench.equipment import Equipment
from planroute.domains.swebench.git import IDENTITY
from planroute.domains.swebench.grading import Grade, nothing_passed, read_log
from planroute.domains.swebench.records import END, START, Record
from planroute.domains.swebench.repositories import NO_TESTS, REPOSITORIES
from planroute.domains.swebench.sources import Checkout, Source
from planroute.errors import DomainError
from planroute.sandbox import WORK, Bounds, Box, Ended, Ran, Room, Sandbox

LARGEST: Final = 1 << 30
"""Bytes of a git folder that is carried out of a container."""
LARGEST_PATCH: Final = 8 << 20
LARGEST_LOG: Final = 32 << 20
STEP_S: Final = 300.0
"""Seconds for each step around the tests: unpacking, applying, comparing."""

CONDA: Final = "[ -f /opt/miniconda3/bin/activate ] && . /opt/miniconda3/bin/activate testbed;"
FORGET: Final = (
    "export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z; "
    "rm -rf .git && git init -q && git config user.name planroute && git config user.email planroute@localhost && "
    "git add -A && git commit -q -m base && git rev-parse HEAD"
)
"""Makes a repository of one commit: an image may hold the later history, and with it the answer."""
COMPARE: Final = (
    "d=$(mktemp -d) && tar -xf - -C $d && export GIT_DIR=$d/.git GIT_WORK_TREE=$PWD && "
    "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 HOME=$d XDG_CONFIG_HOME=$d && "
    "git add -A >/dev/null 2>&1 && "
    "git diff --cached --binary --no-color --no-ext-diff --no-textconv --no-renames {commit} 2>/dev/null; "
    "status=$?; rm -rf $d; exit $status"
)
"""Writes the patch between the base commit and the work folder, by a git folder that no agent has touched.

The home folder holds an agent's own settings, list of ignored files and attributes: git is shown another one.
"""

_EXIT: Final = ">>>>> Test Exit Code"
_RESET: Final = ">>>>> Reset Failed"


@dataclass(frozen=True, slots=True)
class Patch:
    """What an agent changed; ``note`` says why it cannot be had, where it cannot."""

    text: str
    note: str = ""


class Workshop:
    """One record with its sandbox. Equal patches are tested once."""

    def __init__(
        self,
        record: Record,
        sandbox: Sandbox,
        bounds: Bounds,
        *,
        test_seconds: float,
        source: Source | None = None,
        equipment: Equipment | None = None,
        hidden: Iterable[Path] = (),
    ) -> None:
        self.record = record
        self.sandbox = sandbox
        self.bounds = bounds
        self.test_seconds = test_seconds
        self.source = source
        self.equipment = equipment
        self.room = _room(record, equipment, tuple(hidden))
        self._begin()

    def _begin(self) -> None:
        self._checkout: Checkout | None = None
        self._grades: dict[str, Grade] = {}
        self._lock = Lock()
        self._testing: dict[str, Lock] = {}

    def __getstate__(self) -> dict[str, Any]:
        """In another process it begins anew."""
        begun = ("_checkout", "_grades", "_lock", "_testing")
        return {name: value for name, value in vars(self).items() if name not in begun}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    @property
    def contained(self) -> bool:
        """Whether its files come with an image."""
        return self.source is None

    @property
    def prelude(self) -> str:
        """What is run before every command: the environment of an image has to be entered."""
        return CONDA if self.contained else ""

    def open(self) -> tuple[Box, Checkout]:
        """Open a box with the files of the base commit and no other commit. Raises ``DomainError``."""
        box = self.sandbox.open(self.room, self.bounds)
        try:
            checkout = self._fill(box)
        except BaseException:
            box.close()
            raise
        return box, checkout

    def run(self, box: Box, script: str, *, seconds: float | None = None, input: bytes = b"") -> Ran:
        """Run one of an agent's commands."""
        return box.run(self.prelude + script, seconds=seconds, input=input)

    def changes(self, box: Box, checkout: Checkout) -> Patch:
        """Return what differs in ``box`` from the base commit."""
        ran = _step(box, COMPARE.format(commit=checkout.commit), checkout.history, LARGEST_PATCH)
        if ran.ended is Ended.OUTPUT:
            return Patch("", f"the patch is larger than {LARGEST_PATCH >> 20} MB")
        if ran.ended is not Ended.EXITED or ran.code != 0:
            return Patch("", "the work folder could not be compared with what it was")
        return Patch(ran.output.decode("utf-8", "surrogateescape"))

    def grade(self, patch: Patch) -> Grade:
        """Test ``patch`` on a fresh copy. Raises ``DomainError`` where sandbox or library fail."""
        if patch.note:
            return nothing_passed(self.record, patch.note)
        key = hashlib.sha256(patch.text.encode("utf-8", "surrogateescape")).hexdigest()
        with self._lock:
            testing = self._testing.setdefault(key, Lock())
        with testing:
            if key not in self._grades:
                self._grades[key] = self._test(patch)
            return self._grades[key]

    def _fill(self, box: Box) -> Checkout:
        if self.source is None:
            ran = _step(box, self.prelude + FORGET)
            commit = (ran.text.split() or [""])[-1]
            packed = _step(box, "tar -cf - .git", output=LARGEST)
            if ran.code != 0 or packed.code != 0 or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
                raise DomainError(f"{self.room.image}: {WORK} is no repository: {ran.text.strip()[-200:]}")
            return Checkout(commit, b"", packed.output)
        with self._lock:
            if self._checkout is None:
                checkout = self.source.check_out(self.record)
                self._unpack(box, checkout)
                self._check(box)
                self._checkout = checkout
                return checkout
        self._unpack(box, self._checkout)
        return self._checkout

    def _unpack(self, box: Box, checkout: Checkout) -> None:
        ran = _step(box, "tar -xf -", checkout.packed)
        if ran.code != 0:
            raise DomainError(f"{self.record.instance_id}: its files could not be unpacked: {ran.text.strip()[:200]}")

    def _check(self, box: Box) -> None:
        """Raise ``DomainError`` where the record's own patches do not apply to its files."""
        for name in ("patch", "test_patch"):
            ran = _step(box, "git apply --check -", getattr(self.record, name).encode())
            if ran.code != 0:
                raise DomainError(
                    f"{self.record.instance_id}: {name} does not apply to its files: {ran.text.strip()[:200]}",
                    hint=f"are they those of commit {self.record.base_commit}?",
                )

    def _test(self, patch: Patch) -> Grade:
        box = self.sandbox.open(self.room, self.bounds)
        try:
            commit = self.record.base_commit if self.source is None else self._fill(box).commit  # images keep theirs
            if patch.text:
                text = patch.text.encode("utf-8", "surrogateescape")
                applied = _step(box, "git apply --whitespace=nowarn -", text)
                if applied.code != 0:
                    return nothing_passed(self.record, "the patch does not apply")
            script = evaluation(self.record, commit, self.prelude).encode()
            _step(box, "cat > /tmp/eval.sh", script)
            ran = box.run("bash /tmp/eval.sh", seconds=self.test_seconds, output=LARGEST_LOG)
        finally:
            box.close()
        if ran.ended is not Ended.EXITED:
            return nothing_passed(self.record, f"the tests were ended by a bound: {ran.ended}")
        return read_log(self.record, patch.text, ran.text)


def _step(box: Box, script: str, input: bytes = b"", output: int | None = None) -> Ran:
    return box.run(script, input=input, output=output, seconds=STEP_S)


def evaluation(record: Record, commit: str, prelude: str = "") -> str:
    """The script that adds the tests of ``record`` and runs them, in swebench's own form.

    The record's own where it has one. Test files are put back to what they were at ``commit`` before: the base commit,
    or what stands for it where the files are those of a plain folder.
    """
    if record.eval_script:
        return _noting_exit(record.eval_script.replace(record.base_commit, commit))
    testing = REPOSITORIES[record.repo]
    files = [shlex.quote(file) for file in record.test_files]
    mark = f"EOF_{hashlib.sha256(record.test_patch.encode()).hexdigest()[:16]}"
    ran = [file for file in record.test_files if not file.endswith(NO_TESTS)]
    if testing.modules:
        ran = [file.removesuffix(".py").removeprefix("tests/").replace("/", ".") for file in ran]
    lines = [
        "#!/bin/bash",
        f"cd {WORK}",
        prelude,
        *(f"git checkout -q {commit} -- {file} 2>/dev/null || rm -rf -- {file}" for file in files),
        f"git apply -v - <<'{mark}' || echo '{_RESET}'",
        record.test_patch.rstrip("\n"),
        mark,
        f"echo '{START}'",
        f"{testing.command} {' '.join(shlex.quote(each) for each in ran)}",
        f"echo '{END}'",
    ]
    return _noting_exit("\n".join(lines) + "\n")


def _noting_exit(script: str) -> str:
    """``script``, which also prints the exit status of the tests, in the form that swebench looks for."""
    lines = script.strip("\n").split("\n")
    place = next((n for n, line in enumerate(lines) if END in line), None)
    if place is not None:
        lines[place : place + 1] = ["planroute_status=$?", lines[place], f'echo "{_EXIT}: $planroute_status"']
    return "\n".join(lines) + "\n"


def _room(record: Record, equipment: Equipment | None, hidden: tuple[Path, ...]) -> Room:
    if equipment is None:
        return Room(
            image=record.container,
            variables={"PAGER": "cat", "GIT_PAGER": "cat", "PYTHONHASHSEED": "0", **IDENTITY},
        )
    return Room(
        shown=equipment.shown,
        hidden=hidden,
        links=equipment.links,
        variables=equipment.variables(),
    )
