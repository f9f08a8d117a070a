"""Files of a benchmark's tasks: which there are, what they hold, and all that is wrong with them at once."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from planroute.errors import FaultyInput, InputError

SUFFIXES: Final = (".json", ".jsonl", ".parquet")
SHOWN_FAULTS: Final = 20
HALVED: Final = "holds half a character (a lone surrogate), which cannot be written: put the whole one there"
"""What is wrong with a text for which ``halved`` holds, as the end of a line."""


def task_files(path: Path, what: str, hint: str, suffixes: Sequence[str] = SUFFIXES) -> list[tuple[str, Path]]:
    """Return ``path``, a file, or the files in it, a folder, with these suffixes: each with its name from there.

    ``what`` says what they hold, in the plural. Raises ``InputError`` with ``hint`` where there is none, or ``path``
    cannot be looked at.
    """
    try:
        return _found(path, what, hint, suffixes)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}", hint=hint) from None


def _found(path: Path, what: str, hint: str, suffixes: Sequence[str]) -> list[tuple[str, Path]]:
    if path.is_file():
        return [(path.name, path)]
    if not path.is_dir():
        raise InputError(f"{path} does not exist", hint=hint)
    files = sorted(each for each in path.rglob("*") if each.suffix in suffixes and each.is_file())
    if not files:
        raise InputError(f"{path} holds no file of {what} ({', '.join(suffixes)})", hint=hint)
    return [(each.relative_to(path).as_posix(), each) for each in files]


def contents(file: Path, columns: Sequence[str] | None = None, suffix: str | None = None) -> Iterator[Any]:
    """Yield what ``file`` holds, in parts: the value of JSON, each line of JSON lines, some rows of a Parquet table.

    Of a table only ``columns`` are read, where they are given; ``suffix`` stands in for that of the file. Raises
    ``InputError``, without the file's name, where it cannot be read as what its suffix says, ``OSError`` where it
    cannot be read at all.
    """
    kind = file.suffix if suffix is None else suffix
    if kind == ".parquet":
        yield from _table(file, columns)
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    if kind != ".jsonl":
        yield _parsed(text, "it")
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _parsed(line, f"line {number}")


def halved(text: str) -> bool:
    """Whether ``text`` holds a surrogate: JSON can spell one alone, and no file, terminal or request can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def reason(error: InputError | OSError) -> str:
    """Why a file could not be read, for a line that names it."""
    return error.message if isinstance(error, InputError) else error.strerror or str(error)


def refuse(what: str, faults: Sequence[str]) -> None:
    """Raise ``FaultyInput`` about ``what`` with the first of ``faults`` and the number of the rest; none pass."""
    if faults:
        more = [f"... and {len(faults) - SHOWN_FAULTS} more"] if len(faults) > SHOWN_FAULTS else []
        raise FaultyInput(what, [*faults[:SHOWN_FAULTS], *more])


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{what} is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}") from None


def _table(file: Path, columns: Sequence[str] | None) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file)
        names = None if columns is None else [name for name in columns if name in table.schema_arrow.names]
        for batch in table.iter_batches(batch_size=64, columns=names):
            yield batch.to_pylist()
    except (pyarrow.ArrowException, ValueError) as error:
        raise InputError(f"is not a Parquet table: {str(error).splitlines()[0][:200]}") from None
