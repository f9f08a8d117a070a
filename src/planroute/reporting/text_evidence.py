"""What the actions show of each unit, in words: the verifier's verdicts beside what was claimed.

The lexicon is the one that knows most of the actions, so that no domain has to be loaded to read a run.
"""

import json
from collections.abc import Mapping

from planroute.errors import InputError
from planroute.evaluation.structure import Status, UnitVerdict, verify
from planroute.importers.own import from_trace
from planroute.reporting.reading import Cell
from planroute.trace import SCHEMA_VERSION, Trace


def evidence(cell: Cell) -> Mapping[str, str]:
    """By unit of the plan in force: which action shows it, or that none does. Empty where the trace cannot be read."""
    try:
        trajectory = from_trace(Trace.from_json(json.dumps({"schema": SCHEMA_VERSION, "events": list(cell.events)})))
        plan = trajectory.plans[-1].units if trajectory.plans else ()
        verdict = verify(plan, trajectory.actions)
    except InputError:
        return {}
    return {unit.unit: words for unit in verdict.units if (words := _words(unit))}


def _words(unit: UnitVerdict) -> str:
    if unit.action is not None and unit.status in {Status.COMPLETED, Status.OUT_OF_ORDER}:
        late = ", out of order" if unit.status is Status.OUT_OF_ORDER else ""
        return f"shown by action {unit.action + 1}{late}"
    return "no action shows it" if unit.status is Status.MISSING else ""
