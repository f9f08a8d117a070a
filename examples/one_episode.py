"""One episode, step by step: the whole flow of planroute in sixty lines (``python examples/one_episode.py``).

``planroute.episode.run_episode`` does the same, and turns every failure into a typed stop reason.
"""

import asyncio

from planroute.declarers import Hybrid
from planroute.domains.grid import GridDomain, make_scenario
from planroute.evaluation.deadline import planning_events
from planroute.gate import Gate
from planroute.ledger import Ledger
from planroute.protocols import Context
from planroute.router import route
from planroute.trace import Declared, Directed, Gated, Responded, Trace


async def main() -> None:
    """Run the flow once, printing what each part hands on."""
    # A task of a domain, and the world of one episode of it. Equal seeds give equal worlds.
    domain = GridDomain({"hot day": make_scenario({"forecast_noise": 0.10})})
    task = domain.tasks()[0]
    trace = Trace()
    context = Context(seed=7, trace=trace, ledger=Ledger())
    world = await domain.open(task, context)
    state = world.state()
    print("state:     ", dict(state.summary))

    # Somebody declares how to plan. Here code does, from features; Natural() asks a language model.
    declaration = await Hybrid(prior_only=True).declare(domain, task, state, context)
    trace.append(Declared("hybrid prior", declaration))
    print("declared:  ", declaration.mode, "at depth", declaration.depth)

    # The gate checks types and the deadline, and replaces what would come too late.
    gate = Gate(deadline_s=4.0)
    record = gate.admit(declaration)
    trace.append(Gated(record))
    print("gate:      ", record.action, "-", record.why)
    assert record.admitted is not None

    # The router hands the task to the executor of the admitted mode; the executor arranges the world's primitives.
    dispatched, executor = route(record)
    trace.append(dispatched)
    world.begin(record.admitted)
    await executor(world, record.admitted, trace)
    print("executed:  ", dispatched.executed, f"({len(trace)} events)")

    # What happened is in the trace, and every metric follows from it.
    for asked, given in zip(trace.of(Directed), trace.of(Responded), strict=True):
        complied = sum(given.columns["complied"])
        print(f"  hour {asked.step}: {len(asked.columns['node'])} asked, {complied} complied")
    metrics = world.outcome().metrics
    events = planning_events(trace, record.admitted, gate.costs, gate.deadline_s)
    print("J:         ", round(metrics["objective"] or 0), "  under AC:", round(metrics["objective_ac"] or 0))
    print("planning:  ", f"{sum(event.cost_s for event in events):.2f} s in {len(events)} event(s)")
    await world.aclose()


if __name__ == "__main__":
    asyncio.run(main())
