"""Planning events of an episode, their stipulated cost, and which of them came too late.

Source: cyber-physical paper, sections IV and V-C. Which events a campaign has is the project's own choice: one event
declares (in predefined and search it plans as well), and sequential and hierarchical plan again at each dispatch, so a
campaign of eight hours has nine events.
"""

from dataclasses import dataclass
from typing import Literal

from planroute.declaration import Declaration
from planroute.gate import PlanningCosts
from planroute.modes import Mode
from planroute.trace import Decomposed, Dispatched, Planned, Revised, Trace, UnitStarted


@dataclass(frozen=True, slots=True)
class PlanningEvent:
    """One planning event: what it was, how many units had been executed before it, its cost in s, and if it is late."""

    kind: Literal["declare", "plan", "revise", "decompose"]
    after_units: int
    cost_s: float
    late: bool


def planning_events(
    trace: Trace, admitted: Declaration, costs: PlanningCosts, deadline_s: float | None
) -> tuple[PlanningEvent, ...]:
    """List the planning events of ``trace`` under the admitted declaration; late ones exceed ``deadline_s``."""
    if not trace.of(Dispatched):
        return ()
    again = costs.replan(admitted)

    def event(kind: Literal["declare", "plan", "revise", "decompose"], after: int, cost: float) -> PlanningEvent:
        return PlanningEvent(kind, after, cost, deadline_s is not None and cost > deadline_s)

    events = [event("declare", 0, costs.declare(admitted))]
    executed = 0
    for item in trace:
        if isinstance(item, UnitStarted):
            executed += 1
        elif isinstance(item, Revised):
            events.append(event("revise", executed, again))
        elif isinstance(item, Decomposed) and item.stages:
            events.append(event("decompose", executed, again))
        elif isinstance(item, Planned) and item.subgoal is None and admitted.mode is Mode.SEQUENTIAL:
            events.append(event("plan", executed, again))
    return tuple(events)
