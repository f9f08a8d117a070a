"""Find tasks in a file or folder, or those of the project's own, and say at once what is wrong with which record."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planroute.domains.mind2web.reading import Read, assembled, read_records
from planroute.domains.mind2web.records import WebTask
from planroute.domains.mind2web.rendered import is_labelled, is_rendered, rendered_records
from planroute.errors import FaultyInput, InputError

OWN_TASKS: Final = Path(__file__).parent / "data" / "tasks"
SUFFIXES: Final = (".json", ".jsonl", ".parquet")
FETCH: Final = "docs/mind2web.md says where the benchmark's files are; give a file or folder of them with --tasks"
COLUMNS: Final = (
    "annotation_id", "confirmed_task", "website", "domain", "subdomain", "action_uid", "cleaned_html", "operation",
    "pos_candidates", "neg_candidates", "action_reprs", "target_action_index", "target_action_reprs",
)  # fmt: skip
"""What is read of a table; screenshots and raw pages are left in it."""

_SHOWN_FAULTS: Final = 20


def find_tasks(path: Path | None = None) -> tuple[WebTask, ...]:
    """Return the tasks of ``path``, a file or a folder of them, or else the project's own; in the order of their names.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each faulty record.
    """
    chosen = OWN_TASKS if path is None else Path(path)
    found, faults = list[Read](), list[str]()
    for file in _files(chosen):
        name = file.name if file == chosen else file.relative_to(chosen).as_posix()
        try:
            for records in _records(file):
                read, wrong = read_records(records, name)
                found += read
                faults += wrong
        except (InputError, OSError) as error:
            reason = error.message if isinstance(error, InputError) else error.strerror or str(error)
            faults.append(f"{name}: {reason}")
    tasks, wrong = assembled(found)
    faults += wrong
    if faults:
        more = [f"... and {len(faults) - _SHOWN_FAULTS} more"] if len(faults) > _SHOWN_FAULTS else []
        raise FaultyInput(f"tasks in {chosen}", [*faults[:_SHOWN_FAULTS], *more])
    if not tasks:
        raise InputError(f"{chosen} holds no task", hint=FETCH)
    return tuple(sorted(tasks, key=lambda task: task.id))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise InputError(f"{path} does not exist", hint=FETCH)
    files = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
    if not files:
        raise InputError(f"{path} holds no file of tasks ({', '.join(SUFFIXES)})", hint=FETCH)
    return files


def _records(file: Path) -> Iterator[Any]:
    """What a file holds, in parts. Raises ``InputError`` where it cannot be read as what its name says."""
    if file.suffix == ".parquet":
        yield from _table(file)
        return
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield _parsed(line, f"line {number}")
        return
    whole = _parsed(text, "it")
    if is_labelled(whole):
        raise InputError("its steps have no page: their operations can be scored, but no episode runs on them")
    yield rendered_records(whole) if is_rendered(whole) else whole


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{what} is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}") from None


def _table(file: Path) -> Iterator[Any]:
    import pyarrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file)
        names = [name for name in COLUMNS if name in table.schema_arrow.names]
        for batch in table.iter_batches(batch_size=64, columns=names):
            yield batch.to_pylist()
    except (pyarrow.ArrowException, ValueError) as error:
        raise InputError(f"is not a Parquet table: {str(error).splitlines()[0][:200]}") from None
