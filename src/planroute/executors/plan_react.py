"""PLAN_REACT: act and observe with the declared plan in sight; nothing enforces it."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import actor
from planroute.protocols import World
from planroute.trace import Planned, Trace


async def plan_react(world: World, declaration: Declaration, trace: Trace) -> None:
    """Plan once, then take one action after another with that plan as context.

    Raises ``DomainError`` in a world in which one cannot act without a plan. Source: Planning-as-Routing 3.2.
    """
    doer = actor(world)
    plan = await world.plan(world.state())
    trace.append(Planned(plan))
    while not world.done:
        await doer.act(plan)
