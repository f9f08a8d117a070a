"""HIERARCHICAL: an orchestrator cuts the task into subgoals, hands them to workers, collects, and goes on."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import carry_out
from planroute.protocols import World
from planroute.trace import Collected, Decomposed, Planned, Trace


async def hierarchical(world: World, declaration: Declaration, trace: Trace) -> None:
    """Decompose what is left, let one worker plan each subgoal of a stage, execute what they hand back, repeat.

    Workers of one stage plan from the same state and do not see each other's plans. The orchestrator decomposes
    again from the state that the stages left behind, until nothing is left or a decomposition comes back empty.
    What the levels are is the world's own; ``declaration.depth`` says how many.
    Sources: Planning-as-Routing 3.1; cyber-physical paper section III.
    """
    while not world.done:
        stages = tuple(await world.decompose(world.state(), declaration.depth))
        trace.append(Decomposed(stages))
        if not stages:
            break
        for stage in stages:
            if world.done:
                break
            parts, state = [], world.state()
            for subgoal in stage:
                part = await world.plan(state, subgoal)
                trace.append(Planned(part, subgoal=subgoal.id))
                parts.append(part)
            collected = await world.collect(parts)
            trace.append(Collected(collected, tuple(subgoal.id for subgoal in stage)))
            for unit in collected.units:
                if world.done:
                    break
                await carry_out(world, unit, trace)
