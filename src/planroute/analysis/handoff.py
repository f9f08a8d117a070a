"""Whose part of the handoff failures are: planner, router, executor or verifier; and what setbacks were recovered from.

Source: Planning-as-Routing, appendices A and I (handoff-aware attribution), section 6 (recovery).
"""

from typing import Any

from planroute.analysis.estimates import estimate
from planroute.analysis.executions import Executions
from planroute.evaluation.attribution import PARTIES, Attribution, attribute, forced_matrix


def handoff(executions: Executions) -> dict[str, Any]:
    """Return by condition the labels of all episodes, the parties, and ``recovery``: success in spite of setbacks.

    Empty where nothing succeeds or fails.
    """
    if executions.measure.name != "success":
        return {"status": "not_run", "why": "a cost has no failures to attribute"}
    matrix = forced_matrix(executions.rows)
    found: dict[str, Any] = {"status": "done", "conditions": {}}
    for name in executions.conditions:
        rows = [row for row in executions.rows if row.condition == name]
        if not executions.values(name):
            continue
        blamed = [attribute(row, matrix) for row in rows]
        labels = [one.label for one in blamed]
        parties = [PARTIES[label] for label in labels if label in PARTIES]
        hit = [row for row in executions.of(name) if (row.metrics.get("setbacks") or 0) > 0]
        found["conditions"][name] = {
            "labels": {str(label): labels.count(label) for label in Attribution if label in labels},
            "parties": {party: parties.count(party) for party in sorted(set(parties))},
            "selection": labels.count(Attribution.SELECTION_FAILURE),
            "dispatch": labels.count(Attribution.DISPATCH_FAILURE),
            "recovery": estimate(
                [float(bool(row.success)) for row in hit],
                [executions.measure.case(row) for row in hit],
                f"recovery {name}",
            ),
            "episodes": len(rows),
        }
    return found
