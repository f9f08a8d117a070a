"""What executors do with a world: hand it one unit, act in it without a plan, or attempt it several times."""

from planroute.errors import DomainError
from planroute.plan import PlanUnit
from planroute.protocols import Actor, Observation, Retrying, World
from planroute.trace import Trace, UnitFinished, UnitStarted


async def carry_out(world: World, unit: PlanUnit, trace: Trace) -> Observation:
    """Execute ``unit`` in ``world`` between its start and finish events."""
    trace.append(UnitStarted(unit.id))
    observation = await world.execute(unit)
    trace.append(UnitFinished(unit.id, observation.completed))
    return observation


def actor(world: World) -> Actor:
    """Return ``world`` as one to act in. Raises ``DomainError`` where it is none."""
    if not isinstance(world, Actor):
        raise DomainError("the baselines do not apply here", hint="this domain has no actions outside a plan")
    return world


def retrying(world: World) -> Retrying:
    """Return ``world`` as one that can be attempted again. Raises ``DomainError`` where it is none."""
    if not isinstance(world, Retrying):
        raise DomainError("repeated attempts do not apply here", hint="this domain has no actions outside a plan")
    return world
