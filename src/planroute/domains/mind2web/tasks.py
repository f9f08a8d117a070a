"""Find tasks in a file or folder, or those of the project's own, and say at once what is wrong with which record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planroute.domains.mind2web.reading import Read, assembled, read_records
from planroute.domains.mind2web.records import WebTask
from planroute.domains.mind2web.rendered import is_labelled, is_rendered, rendered_records
from planroute.domains.text.task_files import contents, reason, refuse, task_files
from planroute.errors import InputError

OWN_TASKS: Final = Path(__file__).parent / "data" / "tasks"
FETCH: Final = "docs/mind2web.md says where the benchmark's files are; give a file or folder of them with --tasks"
COLUMNS: Final = (
    "annotation_id", "confirmed_task", "website", "domain", "subdomain", "action_uid", "cleaned_html", "operation",
    "pos_candidates", "neg_candidates", "action_reprs", "target_action_index", "target_action_reprs",
)  # fmt: skip
"""What is read of a table; screenshots and raw pages are left in it."""


def find_tasks(path: Path | None = None) -> tuple[WebTask, ...]:
    """Return the tasks of ``path``, a file or a folder of them, or else the project's own; in the order of their names.

    Raises ``InputError`` where there are none, ``FaultyInput`` with a line for each faulty record.
    """
    chosen = OWN_TASKS if path is None else Path(path)
    found, faults = list[Read](), list[str]()
    for name, file in task_files(chosen, "tasks", FETCH):
        try:
            for records in _records(file):
                read, wrong = read_records(records, name)
                found += read
                faults += wrong
        except (InputError, OSError) as error:
            faults.append(f"{name}: {reason(error)}")
    tasks, wrong = assembled(found)
    refuse(f"tasks in {chosen}", [*faults, *wrong])
    if not tasks:
        raise InputError(f"{chosen} holds no task", hint=FETCH)
    return tuple(sorted(tasks, key=lambda task: task.id))


def _records(file: Path) -> Iterator[Any]:
    """What a file holds, in parts. Raises ``InputError`` where no episode can be made of it."""
    for part in contents(file, COLUMNS):
        if file.suffix == ".json" and is_labelled(part):
            raise InputError("its steps have no page: their operations can be scored, but no episode runs on them")
        yield rendered_records(part) if file.suffix == ".json" and is_rendered(part) else part
