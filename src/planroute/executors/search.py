"""SEARCH: propose complete alternatives, try each, choose one, adopt it."""

from planroute.declaration import Declaration
from planroute.errors import DomainError
from planroute.executors.carry_out import carry_out
from planroute.protocols import World
from planroute.trace import Chosen, Planned, Proposed, RolledOut, Trace


async def search(world: World, declaration: Declaration, trace: Trace) -> None:
    """Roll out up to ``declaration.branching`` candidates without a mark on the episode and adopt the chosen one.

    Adopting either makes the chosen rollout the episode or leaves units that are then executed once.
    Raises ``DomainError`` where the world proposes nothing.
    Sources: Planning-as-Routing 3.1 and appendix D; cyber-physical paper section III.
    """
    candidates = tuple(await world.propose(world.state(), declaration.branching))
    trace.append(Proposed(tuple((c.id, c.text, c.plan) for c in candidates)))
    if not candidates:
        raise DomainError("propose() returned no candidate", hint="a world must propose at least one")
    rollouts = []
    for candidate in candidates:
        rollout = await world.rollout(candidate)
        trace.append(RolledOut(candidate.id, rollout.cost))
        rollouts.append(rollout)
    best = await world.choose(rollouts)
    trace.append(Chosen(candidates[best].id, among=len(candidates)))
    plan = await world.adopt(candidates[best], rollouts[best])
    trace.append(Planned(plan))
    for unit in plan.units:
        if world.done:
            break
        await carry_out(world, unit, trace)
