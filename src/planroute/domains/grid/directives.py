"""Directives: what was asked of one prosumer in one hour, and what came of it, as table rows.

Source: cyber-physical paper, E6. ``position`` and ``leverage`` say where a node sits; ``asked_before`` is the targeting
history, with which position is confounded.
"""

from collections import Counter
from typing import Any

from planroute.domains.grid.coefficients import ARCHETYPES
from planroute.domains.grid.scenario import Scenario, voltage_leverage
from planroute.trace import Directed, Responded, Trace


def directives(trace: Trace, scenario: Scenario) -> list[dict[str, Any]]:
    """Return one row for every directive of an episode, in order of hour and node.

    Columns: ``hour``, ``node``, ``lateral``, ``position`` (segments from the head), ``leverage`` (largest = 1),
    ``archetype``, ``requested_kw``, ``flexible_kw``, ``depth`` (requested over true flexible load), ``probability``,
    ``sampled``, ``shift`` (attenuated; 0 where nobody's message was evaluated), ``complied``, ``realised_kw``,
    ``asked_before``, ``complied_before``.
    """
    feeder, leverage = scenario.feeder, voltage_leverage(scenario.feeder)
    lateral = feeder.lateral.tolist()
    position = [len(feeder.path(node)) for node in range(feeder.n)]
    asked, agreed = Counter[int](), Counter[int]()
    rows = []
    answers = {event.step: event.columns for event in trace.of(Responded)}
    for event in trace.of(Directed):
        given = answers.get(event.step)
        if given is None:
            continue
        at = {node: i for i, node in enumerate(given["node"])}
        for i, node in enumerate(event.columns["node"]):
            j = at[node]
            requested, flexible = event.columns["requested_kw"][i], event.columns["flexible_kw"][i]
            rows.append(
                {
                    "hour": event.step,
                    "node": node,
                    "lateral": lateral[node],
                    "position": position[node],
                    "leverage": float(leverage[node]),
                    "archetype": ARCHETYPES[given["archetype"][j]],
                    "requested_kw": requested,
                    "flexible_kw": flexible,
                    "depth": requested / flexible if flexible > 0 else None,
                    "probability": given["probability"][j],
                    "sampled": bool(given["sampled"][j]),
                    "shift": given["shift"][j],
                    "complied": bool(given["complied"][j]),
                    "realised_kw": given["realised_kw"][j],
                    "asked_before": asked[node],
                    "complied_before": agreed[node],
                }
            )
        for node, complied in zip(given["node"], given["complied"], strict=True):
            asked[node] += 1
            agreed[node] += bool(complied)
    return rows
