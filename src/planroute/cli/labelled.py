"""What is there to label: the trajectories of a run's folder or of files, as people are shown them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planroute.errors import FaultyInput, InputError
from planroute.modes import MODES, Baseline

if TYPE_CHECKING:
    from planroute.cli.cases import Case
    from planroute.labelling import Item

PLAIN_LOOP = (str(Baseline.PLAN_REACT),)
"""What is asked about by default: a plan that nothing enforced. A dispatched one is settled by its record."""


@dataclass(frozen=True, slots=True)
class Material:
    """The items, the file and the trajectory behind each key, and how many trajectories have no plan or no action."""

    items: "list[Item]"
    behind: Mapping[str, tuple[str, str]]
    left_out: int


def read_material(paths: Sequence[Path], conditions: str | None, form: str | None) -> Material:
    """Read run folders and files. Raises ``FaultyInput`` where one cannot be read: everybody labels the same."""
    from planroute.cli.cases import read_cases
    from planroute.cli.options import parse_conditions
    from planroute.labelling import make_item

    wanted = PLAIN_LOOP if conditions is None else tuple(parse_conditions(conditions))
    files: list[str] = []
    for path in paths:
        if str(path) == "-":
            raise InputError("standard input cannot be labelled: answers are read from there", hint="name a file")
        files += _cells(path, wanted) if path.is_dir() else [str(path)]
    cases, faults = read_cases(files, form, None, None, None)
    if faults:
        raise FaultyInput("not every file could be read", faults)
    items: dict[str, Item] = {}
    behind: dict[str, tuple[str, str]] = {}
    left_out = 0
    for case in cases:
        if not _asked(case, conditions):
            continue
        actions = [action for action in case.trajectory.actions if action.index >= case.since]
        if not case.active or not actions:
            left_out += 1
            continue
        item = make_item(case.trajectory.id, case.goal, case.active, actions)
        items[item.key] = item
        behind[item.key] = (Path(case.file).name, case.trajectory.id)
    return Material(list(items.values()), behind, left_out)


def _cells(folder: Path, wanted: Sequence[str]) -> list[str]:
    """The files of a run's finished cells under the ``wanted`` conditions, in the manifest's order."""
    from planroute.runs.folder import CELLS, RunFolder
    from planroute.runs.stored import read_object, stored_row

    manifest = RunFolder(folder).manifest()
    files = [folder / CELLS / f"{key}.json" for key in manifest["cells"]]
    same = {"domain": manifest["domain"]} if "domain" in manifest else None
    conditions = {file: stored_row(read_object(file), file, same).condition for file in files if file.exists()}
    found = [str(file) for file, condition in conditions.items() if condition in wanted]
    if not found:
        held = f"it holds {', '.join(sorted(set(conditions.values())))}" if conditions else "no cell is finished"
        raise InputError(f"{folder} has no cell of {', '.join(wanted)}", hint=f"{held}: see --conditions")
    return found


def _asked(case: "Case", given: str | None) -> bool:
    """Whether a trajectory is asked about: those that a mode's executor ran only where ``--conditions`` was given."""
    executed = case.trajectory.executed
    return executed is None or executed not in set(map(str, MODES)) or given is not None
