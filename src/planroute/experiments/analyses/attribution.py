"""Attribution of directives: who complies, whom a message moves, and what of the rest is position."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.compare import mean_known
from planroute.statistics import cluster_bootstrap, correlation, logistic_trend

Rows = Sequence[Mapping[str, Any]]


def archetypes(inputs: Inputs) -> dict[str, Any]:
    """Compliance, mean message shift (of those whose message was evaluated) and realised share by archetype.

    Intervals resample prosumers (seed and node), since one person's answers go together. ``rank`` and ``shift_rank``
    count from 1, the most compliant and the most persuaded.
    Source: cyber-physical paper, E6 and Figure 7.
    """
    rows = inputs.directives
    groups = {name: [row for row in rows if row["archetype"] == name] for name in _names(rows, "archetype")}
    found: dict[str, Any] = {name: _group(f"archetype {name}", some, inputs.draws) for name, some in groups.items()}
    ranked = _ranked(found, "compliance")
    return {
        "archetypes": found,
        "order": ranked,
        "rank": {name: place for place, name in enumerate(ranked, 1)},
        "shift_rank": {name: place for place, name in enumerate(_ranked(found, "mean_shift"), 1)},
        "directives": len(rows),
        "evaluated_share": sum(row["sampled"] for row in rows) / len(rows) if rows else None,
    }


def position(inputs: Inputs) -> dict[str, Any]:
    """Compliance by electrical position, and how position goes with targeting and fatigue.

    ``raw`` is the logistic trend of compliance on position; ``stratified`` that of prosumers who had not been asked
    before; ``asked_before`` the mean number of earlier requests by position. Where the latter falls or rises along the
    lateral, a raw trend is no effect of position (cyber-physical paper, V-E).
    """
    rows = inputs.directives
    places = sorted({int(row["position"]) for row in rows})
    by_place = {str(place): [row for row in rows if row["position"] == place] for place in places}
    fresh = [row for row in rows if row["asked_before"] == 0]
    return {
        "positions": {
            place: {
                **_group(f"position {place}", some, inputs.draws),
                "asked_before": float(np.mean([row["asked_before"] for row in some])),
                "depth": mean_known([row["depth"] for row in some]),
            }
            for place, some in by_place.items()
        },
        "raw": _trend(rows),
        "stratified": _trend(fresh),
        "asked_before_correlation": correlation(
            [row["position"] for row in rows],
            [row["asked_before"] for row in rows],
            name=f"{inputs.experiment.id} position",
            draws=inputs.draws,
        ).to_dict(),
    }


def _ranked(groups: Mapping[str, Mapping[str, Any]], figure: str) -> list[str]:
    known = [name for name in groups if groups[name][figure] is not None]
    return sorted(known, key=lambda name: -groups[name][figure])


def _group(name: str, rows: Rows, draws: int) -> dict[str, Any]:
    people = [f"{row['seed']}:{row['node']}" for row in rows]
    evaluated = [row for row in rows if row["sampled"]]
    compliance = cluster_bootstrap(
        [float(row["complied"]) for row in rows], people, draws=draws, name=f"compliance {name}"
    )
    shift = (
        cluster_bootstrap(
            [float(row["shift"]) for row in evaluated],
            [f"{row['seed']}:{row['node']}" for row in evaluated],
            draws=draws,
            name=f"shift {name}",
        )
        if evaluated
        else None
    )
    requested = sum(row["requested_kw"] for row in rows)
    return {
        "directives": len(rows),
        "people": len(set(people)),
        "compliance": compliance.mean,
        "compliance_interval": _pair(compliance),
        "mean_shift": shift.mean if shift else None,
        "mean_shift_interval": _pair(shift) if shift else None,
        "evaluated": len(evaluated),
        "realisation": sum(row["realised_kw"] for row in rows) / requested if requested else None,
    }


def _trend(rows: Rows) -> dict[str, Any] | None:
    if not rows:
        return None
    return logistic_trend(
        [float(row["position"]) for row in rows],
        [bool(row["complied"]) for row in rows],
        clusters=[f"{row['seed']}:{row['node']}" for row in rows],
    ).to_dict()


def _pair(found: Any) -> list[float] | None:
    return None if found.low is None or found.high is None else [found.low, found.high]


def _names(rows: Rows, column: str) -> list[str]:
    return list(dict.fromkeys(sorted(str(row[column]) for row in rows)))
