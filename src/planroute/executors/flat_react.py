"""FLAT_REACT: act and observe, without a plan."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import actor
from planroute.protocols import World
from planroute.trace import Trace


async def flat_react(world: World, declaration: Declaration, trace: Trace) -> None:
    """Take one action after another until the world is done.

    Raises ``DomainError`` in a world in which one cannot act without a plan. Source: Planning-as-Routing 3.2.
    """
    doer = actor(world)
    while not world.done:
        await doer.act(None)
