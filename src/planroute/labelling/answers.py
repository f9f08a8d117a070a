"""A file of answers: who labels what in the first line, then one line for each answer, written as it is given.

::

    {"labels": 1, "rater": "A1", "sample": 100, "seed": 7, "of": "…"}
    {"item": "…", "question": "order", "answer": "yes"}
    {"item": "…", "question": "unit", "unit": "2.1", "answer": "unsure"}

Of two answers to one question the later one counts. A line is written whole, in one piece, and kept before the next
question is asked.
"""

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from planroute.errors import InputError, StorageError
from planroute.importers.files import read_bytes

SCHEMA: Final = 1
SEED_BELOW: Final = 2**63
ANSWERS: Final = ("yes", "no", "unsure")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
Question = tuple[str, str]
"""An item's key and a unit's number; the number is empty for the question about the order."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: ``yes``, ``no`` or ``unsure``. ``unit`` is empty for the question about the order."""

    item: str
    answer: str
    unit: str = ""

    def line(self) -> dict[str, str]:
        """The answer as its line holds it."""
        asked = {"question": "unit", "unit": self.unit} if self.unit else {"question": "order"}
        return {"item": self.item, **asked, "answer": self.answer}


@dataclass(slots=True)
class Labels:
    """The answers of one person in one file, the latest for each question."""

    path: Path
    rater: str
    sample: int | None
    seed: int
    of: str
    given: dict[Question, str] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Append ``answer`` to the file, at once. Raises ``StorageError`` where that cannot be done."""
        _append(self.path, answer.line())
        self.given[answer.item, answer.unit] = answer.answer

    def header(self) -> dict[str, Any]:
        """The file's first line."""
        return {"labels": SCHEMA, "rater": self.rater, "sample": self.sample, "seed": self.seed, "of": self.of}


def fingerprint(keys: Iterable[str]) -> str:
    """Name a set of items, so that answers about others are not gone on with."""
    return hashlib.sha256("\n".join(sorted(keys)).encode()).hexdigest()[:16]


def start_labels(path: Path, rater: str, sample: int | None, seed: int, keys: Iterable[str]) -> Labels:
    """Begin the file ``path``, or read it where it was begun with the same settings.

    Raises ``InputError`` where it holds other answers or is damaged, ``StorageError`` where it cannot be written.
    """
    if not NAME.fullmatch(rater):
        raise InputError(f"--as {rater!r}: a name of up to 40 letters, digits, - and _")
    if not 0 <= seed < SEED_BELOW:
        raise InputError(f"--seed: a whole number from 0 to {SEED_BELOW - 1}", hint="choose another --seed")
    wanted = Labels(path, rater, sample, seed, fingerprint(keys))
    if not os.path.lexists(path):
        _append(path, wanted.header())
        return wanted
    found = read_labels(path)
    for name in ("rater", "sample", "seed"):
        had, has = getattr(found, name), getattr(wanted, name)
        if had != has:
            raise InputError(f"{path} was begun with {name} {had}, not {has}", hint="choose another --out")
    if found.of != wanted.of:
        raise InputError(f"{path} is about other trajectories than these", hint="choose another --out")
    return found


def read_labels(path: Path) -> Labels:
    """Read a file of answers. Raises ``InputError`` that names the line which is damaged."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason} at byte {error.start}") from None
    lines = text.split("\n")
    if not text.strip():
        raise InputError(f"{path} is empty", hint="remove it and label again")
    found: Labels | None = None
    for number, line in enumerate(lines[:-1], 1):
        record = _record(line, path, number)
        if found is None:
            found = _header(record, path)
        else:
            answer = _answer(record, path, number)
            found.given[answer.item, answer.unit] = answer.answer
    if lines[-1] or found is None:
        raise _damaged(path, len(lines), "it was not written to its end")
    return found


def _record(line: str, path: Path, number: int) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _damaged(path, number, "not JSON") from None
    if not isinstance(record, dict):
        raise _damaged(path, number, "not an object")
    return record


def _header(record: Mapping[str, Any], path: Path) -> Labels:
    if "labels" not in record:
        raise InputError(f"{path} is no file of labels", hint="planroute label makes one")
    if type(record["labels"]) is not int or record["labels"] != SCHEMA:
        shown = json.dumps(record["labels"])[:40]
        hint = "install the planroute version that wrote it, or label into another file"
        raise InputError(f"{path} has schema version {shown}, this planroute reads {SCHEMA}", hint=hint)
    rater, sample, seed, of = (record.get(name) for name in ("rater", "sample", "seed", "of"))
    if not isinstance(rater, str) or not NAME.fullmatch(rater) or not isinstance(of, str):
        raise _damaged(path, 1, "rater or of is missing")
    if type(seed) is not int or not 0 <= seed < SEED_BELOW:
        raise _damaged(path, 1, f"seed is no whole number from 0 to {SEED_BELOW - 1}")
    if sample is not None and (type(sample) is not int or not 0 < sample < SEED_BELOW):
        raise _damaged(path, 1, f"sample is neither null nor a whole number from 1 to {SEED_BELOW - 1}")
    return Labels(path, rater, sample, seed, of)


def _answer(record: Mapping[str, Any], path: Path, number: int) -> Answer:
    item, question, unit, answer = (record.get(name) for name in ("item", "question", "unit", "answer"))
    if not isinstance(item, str) or answer not in ANSWERS:
        raise _damaged(path, number, f"no answer out of {', '.join(ANSWERS)}")
    if question == "order" and unit is None:
        return Answer(item, str(answer))
    if question == "unit" and isinstance(unit, str) and unit:
        return Answer(item, str(answer), unit)
    raise _damaged(path, number, "neither about the order nor about a unit")


def _damaged(path: Path, number: int, what: str) -> InputError:
    """The fault of a line. Without an answer the dialogue asks again; the first line says whose they all are."""
    hint = "remove that line; its question is asked again"
    if number == 1:
        hint = "put that line back as it was, which the answers need, or label into another file"
    return InputError(f"{path} is damaged: line {number}: {what}", hint=hint)


def _append(path: Path, record: Mapping[str, Any]) -> None:
    """Write one line at the end of ``path``, in one piece, down to the disk."""
    line = (json.dumps(record, ensure_ascii=True) + "\n").encode()
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, flags, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"{path} is not a file", hint="choose another --out")
            if os.write(descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, "written in part only")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
