"""REPEATED_REACT: act without a plan several times, each from the start, choose one attempt, adopt it."""

from planroute.declaration import Declaration
from planroute.executors.carry_out import retrying
from planroute.plan import Candidate, Plan
from planroute.protocols import World
from planroute.trace import Chosen, RolledOut, Trace


async def repeated_react(world: World, declaration: Declaration, trace: Trace) -> None:
    """Make ``declaration.branching`` attempts, none with a mark on the episode, and adopt the one that is chosen.

    The world chooses among them as it does among the rollouts of alternatives. Raises ``DomainError`` in a world in
    which one cannot act without a plan. Source: Planning-as-Routing, RQ3 and appendix I.1.
    """
    doer = retrying(world)
    attempts = []
    for number in range(1, declaration.branching + 1):
        attempt = await doer.attempt(f"a{number}")
        trace.append(RolledOut(attempt.candidate_id, attempt.cost))
        attempts.append(attempt)
    best = attempts[await world.choose(attempts)]
    trace.append(Chosen(best.candidate_id, among=len(attempts)))
    await world.adopt(Candidate(best.candidate_id, "an attempt without a plan", Plan(())), best)
