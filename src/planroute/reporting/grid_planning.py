"""The planning events of every condition against the deadline."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from planroute.reporting.charts import Event, event_line
from planroute.reporting.grid_script import Scope
from planroute.reporting.page import Section
from planroute.reporting.reading import PlanningEvent, Row, Run
from planroute.reporting.svg import rounded
from planroute.reporting.wording import amount, counted, listed, number

KINDS = {"declare": "declaration", "plan": "plan", "revise": "revision", "decompose": "decomposition"}
"""The kinds of planning event as nouns."""


def planning(run: Run, scope: Scope) -> Section:
    """Episodes with equal events share a drawing; all drawings share a scale."""
    deadline = run.deadline_s
    hours = max((sorted(day.answers) for day in scope.days.values()), key=len, default=[])
    places = [f"{hour}" for hour in hours] or ["–"]
    costs = [event.cost_s for row in run.rows for event in row.planning]
    top = max(costs, default=1.0)
    if deadline is not None and deadline <= 3 * top:
        top = max(top, deadline)
    highest = rounded(0.0, 1.15 * top)[1]
    lines = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        for (executed, events), cases in _patterns(rows):
            late = deadline is not None
            drawn = [Event(min(e.after_units, len(places) - 1), e.kind, e.cost_s, late and e.late) for e in events]
            kinds = Counter(e.kind for e in events)
            lines.append(
                {
                    "name": name,
                    "executed": executed,
                    "cases": f"{len(cases)} of {counted(len(rows), 'episode')}",
                    "kinds": listed([counted(n, KINDS.get(kind, kind)) for kind, n in kinds.items()]),
                    "total": number(sum(e.cost_s for e in events), 2),
                    "late": sum(event.late for event in drawn),
                    "drawing": event_line(name, drawn, places, deadline, highest),
                }
            )
    values: dict[str, Any] = {
        "lines": lines,
        "deadline": None if deadline is None else amount(deadline, 2),
        "late": sum(row.late_events or 0 for row in run.rows),
    }
    return Section("planning", "Planning events", "grid_planning.html.j2", values)


def _patterns(rows: Sequence[Row]) -> list[tuple[tuple[str | None, tuple[PlanningEvent, ...]], list[Row]]]:
    """Episodes with equal planning events together, the most frequent first, at most four kinds."""
    found: dict[str, tuple[tuple[str | None, tuple[PlanningEvent, ...]], list[Row]]] = {}
    for row in rows:
        if row.planning:
            key = f"{row.executed} {row.planning}"
            found.setdefault(key, ((row.executed, row.planning), []))[1].append(row)
    return sorted(found.values(), key=lambda item: -len(item[1]))[:4]
