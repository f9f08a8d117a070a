"""A record of SWE-bench: an issue of a repository at one commit, and the tests that tell whether a patch resolves it.

Source: SWE-bench (arXiv 2310.06770), appendix A, and the fields of the released data sets: those up to 4.1 of the
library (``version`` and what the library knows of it), and those since (``image``, ``eval_script``, ``log_parser``,
``eval_type``).
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from planroute.domains.swebench.repositories import REPOSITORIES
from planroute.domains.text.task_files import HALVED, halved

START: Final = ">>>>> Start Test Output"
END: Final = ">>>>> End Test Output"
"""What stands around the output of the tests, by which the library finds it."""
EVAL_TYPES: Final = ("pass_and_fail", "fail_only")
UNRATED: Final = "unrated"

_FORMS: Final = {
    "instance_id": r"[\w-][\w.-]{0,199}",
    "repo": r"[\w-][\w.-]{0,99}/[\w-][\w.-]{0,99}",
    "base_commit": r"[0-9a-f]{7,64}",
    "version": r"[\w.+-]{1,30}",
}
"""Folders are looked up by these, so that none may lead elsewhere or be too long for a name."""
_PATCHED: Final = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Record:
    """One issue. ``patch`` resolves it, ``test_patch`` adds the tests that show it; no agent is shown either.

    ``difficulty`` is what annotators of SWE-bench Verified said it takes. ``image`` and ``eval_script`` may be empty.
    """

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    patch: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    version: str = ""
    difficulty: str = UNRATED
    image: str = ""
    eval_script: str = ""
    log_parser: str = ""
    eval_type: str = EVAL_TYPES[0]

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files that the tests' patch touches."""
        return tuple(dict.fromkeys(_PATCHED.findall(self.test_patch)))

    @property
    def container(self) -> str:
        """The image that its container is made of; by the benchmark's own naming where the record names none."""
        named = f"swebench/sweb.eval.x86_64.{self.instance_id.lower()}:latest".replace("__", "_1776_")
        return self.image or named

    def sha256(self) -> str:
        """A hash of everything in it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def read_record(fields: Mapping[str, Any]) -> tuple[Record | None, list[str]]:
    """Return the record of ``fields``, or ``None``, and a line for each fault."""
    reader = _Reader(fields)
    record = Record(
        instance_id=reader.text("instance_id"),
        repo=reader.text("repo"),
        base_commit=reader.text("base_commit"),
        problem_statement=reader.text("problem_statement"),
        patch=reader.text("patch"),
        test_patch=reader.text("test_patch"),
        fail_to_pass=reader.tests("FAIL_TO_PASS"),
        pass_to_pass=reader.tests("PASS_TO_PASS", may_be_empty=True),
        version=reader.text("version", needed=False),
        difficulty=reader.text("difficulty", needed=False) or UNRATED,
        image=reader.text("image", needed=False),
        eval_script=reader.text("eval_script", needed=False),
        log_parser=reader.text("log_parser", needed=False),
        eval_type=reader.text("eval_type", needed=False) or EVAL_TYPES[0],
    )
    faults = reader.faults
    if record.repo and "repo" not in reader.faulty and record.repo not in REPOSITORIES:
        missing = [name for name in ("eval_script", "log_parser") if not getattr(record, name)]
        if missing:
            faults.append(f"{' and '.join(missing)} missing, and how {record.repo} is tested is not known without")
    if record.eval_script and not (START in record.eval_script and END in record.eval_script):
        faults.append(f"eval_script must print {START!r} and {END!r} around its tests")
    if record.eval_type not in EVAL_TYPES:
        faults.append(f"eval_type is {record.eval_type!r}, not one of {', '.join(EVAL_TYPES)}")
    if record.test_patch and not record.test_files:
        faults.append("test_patch is no patch of git: no line begins with 'diff --git a/'")
    if record.image and not re.fullmatch(r"[\w][\w./:@-]*", record.image):
        faults.append(f"image {record.image!r} is no name of an image")
    return (None if faults else record), faults


class _Reader:
    """Takes fields out of a record and notes what is wrong with them."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        self.faults: list[str] = []
        self.faulty: set[str] = set()

    def text(self, name: str, *, needed: bool = True) -> str:
        value = self.fields.get(name)
        if value is None or value == "":
            return self._fault(name, "is missing") if needed else ""
        if name == "version" and isinstance(value, int | float):
            value = str(value)
        if not isinstance(value, str):
            return self._fault(name, f"is {_kind(value)}, not a text")
        if not value.strip() and needed:
            return self._fault(name, "is empty")
        if "\0" in value:
            return self._fault(name, "holds a character of value 0")
        if halved(value):
            return self._fault(name, HALVED)
        form = _FORMS.get(name)
        if form and not re.fullmatch(form, value, re.ASCII):
            return self._fault(name, f"{value[:80]!r} is not of the form {form}")
        return value

    def tests(self, name: str, *, may_be_empty: bool = False) -> tuple[str, ...]:
        """Names of tests: a list, or a list as JSON."""
        value = self.fields.get(name)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                self._fault(name, "is no list in JSON")
                return ()
        if value is None:
            self._fault(name, "is missing")
        elif not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
            self._fault(name, "is no list of tests' names")
        elif any(map(halved, value)):
            self._fault(name, HALVED)
        elif not value and not may_be_empty:
            self._fault(name, "is empty: nothing would show that the issue is resolved")
        else:
            return tuple(value)
        return ()

    def _fault(self, name: str, what: str) -> str:
        self.faulty.add(name)
        self.faults.append(f"{name} {what}")
        return ""


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", bool: "a truth value"}.get(type(value), "a number")
