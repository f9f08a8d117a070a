"""Handing one unit to a world, as every executor does."""

from planroute.plan import PlanUnit
from planroute.protocols import Observation, World
from planroute.trace import Trace, UnitFinished, UnitStarted


async def carry_out(world: World, unit: PlanUnit, trace: Trace) -> Observation:
    """Execute ``unit`` in ``world`` between its start and finish events."""
    trace.append(UnitStarted(unit.id))
    observation = await world.execute(unit)
    trace.append(UnitFinished(unit.id, observation.completed))
    return observation
