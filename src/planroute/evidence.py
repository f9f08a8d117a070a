"""What the actions show of each unit, in words: the verifier's verdicts beside what was claimed.

The lexicon is the one that knows most of the actions, so that no domain has to be loaded to read a run.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from planroute.errors import InputError
from planroute.evaluation.structure import Status, UnitVerdict, verify
from planroute.importers.own import from_trace
from planroute.trace import SCHEMA_VERSION, Trace


def evidence(events: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """Return what shows each unit of the plan in force: an action, or that none does.

    ``events`` are those of a trace as JSON values; a trace that cannot be read shows nothing.
    """
    try:
        trajectory = from_trace(Trace.from_json(json.dumps({"schema": SCHEMA_VERSION, "events": list(events)})))
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
