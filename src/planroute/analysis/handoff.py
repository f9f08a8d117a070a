"""Whose part of the handoff failures are: planner, router, executor or verifier; and what setbacks were recovered from.

Source: Planning-as-Routing, appendices A and I (handoff-aware attribution), section 6 (recovery).
"""

from typing import Any

from planroute.analysis.estimates import estimate
from planroute.analysis.executions import Executions
from planroute.evaluation.attribution import PARTIES, Attribution, attribute, forced_matrix


def handoff(executions: Executions) -> dict[str, Any]:
    """Return by condition what failed and whose part it was, and ``recovery``: success in spite of setbacks.

    ``parties`` are of failed episodes. ``disagreements`` are solved ones whose dispatch record and actions contradict
    each other about the order: no failure, but a plan that was not needed as written, or a verifier that errs.
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
        failed = [
            label
            for label, row in zip(labels, rows, strict=True)
            if not row.success and label is not Attribution.INFRASTRUCTURE
        ]
        parties = [PARTIES.get(label, "undecided") for label in failed]
        hit = [row for row in executions.of(name) if (row.metrics.get("setbacks") or 0) > 0]
        found["conditions"][name] = {
            "labels": {str(label): labels.count(label) for label in Attribution if label in labels},
            "parties": {party: parties.count(party) for party in sorted(set(parties))},
            "failures": len(failed),
            "disagreements": labels.count(Attribution.VERIFIER_DISAGREEMENT)
            - failed.count(Attribution.VERIFIER_DISAGREEMENT),
            "selection": labels.count(Attribution.SELECTION_FAILURE),
            "dispatch": labels.count(Attribution.DISPATCH_FAILURE),
            "recovery": estimate(
                [float(bool(row.success)) for row in hit],
                [executions.measure.case(row) for row in hit],
                f"recovery {name}",
            ),
            "episodes": len(rows),
        }
    every = list(found["conditions"].values())
    found["total"] = {
        "failures": sum(one["failures"] for one in every),
        "disagreements": sum(one["disagreements"] for one in every),
        "parties": {
            party: sum(one["parties"].get(party, 0) for one in every)
            for party in sorted({party for one in every for party in one["parties"]})
        },
    }
    return found
