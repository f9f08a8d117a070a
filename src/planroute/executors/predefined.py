"""PREDEFINED: plan once, execute every unit, never revise."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import carry_out
from planroute.protocols import World
from planroute.trace import Planned, Trace


async def predefined(world: World, declaration: Declaration, trace: Trace) -> None:
    """Compile the plan for all that remains and commit to it.

    Sources: Planning-as-Routing 3.1; cyber-physical paper section III.
    """
    plan = await world.plan(world.state())
    trace.append(Planned(plan))
    for unit in plan.units:
        if world.done:
            break
        await carry_out(world, unit, trace)
