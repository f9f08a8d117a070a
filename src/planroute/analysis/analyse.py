"""All analyses of one run, and what they come to."""

from collections.abc import Mapping, Sequence
from typing import Any

from planroute.analysis.ceiling import ceiling
from planroute.analysis.choice import choice
from planroute.analysis.conclusions import conclusions
from planroute.analysis.costs import costs
from planroute.analysis.declarations import declarations
from planroute.analysis.execution import execution
from planroute.analysis.executions import Executions
from planroute.analysis.handoff import handoff
from planroute.analysis.measure import Measure, measure_of
from planroute.analysis.structure import structure
from planroute.episode import EpisodeRow
from planroute.errors import InputError


def analyse(
    rows: Sequence[EpisodeRow], measure: Measure | None = None, *, quality: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """Return every analysis of ``rows`` as JSON values; one that lacks a condition says what it needs.

    ``quality`` are a judge's scores of plans by ``condition/task/seed``. Raises ``InputError`` without episodes, or
    where nothing was measured.
    """
    if not rows:
        raise InputError("there is no episode to analyse")
    chosen = measure or measure_of(rows)
    executions = Executions(rows, chosen)
    spending = costs(executions)
    found: dict[str, Any] = {
        "measure": {"name": chosen.name, "better": chosen.better, "worlds": chosen.worlds},
        "cases": len(executions.cases),
        "episodes": len(rows),
        "infrastructure": sum(row.status == "infrastructure" for row in rows),
        "conditions": list(executions.conditions),
        "models": sorted({row.model for row in rows if row.model}),
        "choice": choice(executions, spending),
        "rq1": structure(executions),
        "rq2": ceiling(executions, quality),
        "rq3": execution(executions),
        "rq4": declarations(executions),
        "costs": spending,
        "handoff": handoff(executions),
    }
    return {**found, "conclusions": conclusions(found)}
