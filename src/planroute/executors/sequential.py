"""SEQUENTIAL: execute one unit, observe, make the rest of the plan anew."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import carry_out
from planroute.protocols import World
from planroute.trace import Planned, Revised, Trace


async def sequential(world: World, declaration: Declaration, trace: Trace) -> None:
    """Plan, then after every unit replace the unexecuted suffix in the light of what was observed.

    The last unit is executed like any other: nothing is declared anew at the end.
    Sources: Planning-as-Routing 3.1; cyber-physical paper section III ("reconstructs the unexecuted suffix").
    """
    plan = await world.plan(world.state())
    trace.append(Planned(plan))
    while plan.units and not world.done:
        observation = await carry_out(world, plan.units[0], trace)
        plan = plan.rest()
        if world.done:
            break
        plan = await world.revise(plan, observation)
        trace.append(Revised(plan))
