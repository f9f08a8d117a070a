"""How long a declaration takes (M5): quantiles, the tail, and the probability that it is in time.

The seconds are those that were measured when each call was made, also where a cache or a recording repeats it. They mix
generation, load and waiting at the endpoint, so they are no property of a model. Source: cyber-physical paper, section
V-B: deterministic feasibility filters impossible modes, and live routing needs Pr(L <= d) beside it.
"""

from collections.abc import Mapping, Sequence

from pydantic import Field

from planroute.declaration import forced
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.accounts import accounted, share
from planroute.experiments.interfaces.declarations import declaring
from planroute.experiments.interfaces.design import Design, Figures, Parameters, parameters
from planroute.experiments.interfaces.records import ANSWERED, Record
from planroute.experiments.interfaces.states import described
from planroute.experiments.setting import Setting
from planroute.gate import PlanningCosts
from planroute.modes import MODES, Mode
from planroute.statistics import latency_quantiles, t_interval


class LatencyParameters(Parameters):
    """Deadlines and the event budget in s; what at least ``confidence`` of calls meet is feasible."""

    deadlines_s: tuple[float, ...] = Field(min_length=1)
    budget_s: float = Field(gt=0)
    confidence: float = Field(0.95, gt=0, lt=1)
    moderate_up_to: float = Field(gt=0, lt=1)


async def latency(experiment: Experiment, setting: Setting) -> Design:
    """Declare as the studies of declarations do, and look at the seconds."""
    chosen = parameters(experiment, LatencyParameters)
    states, inquiries, cut = await declaring(experiment, setting, chosen.moderate_up_to)

    def figures(records: Sequence[Record]) -> Figures:
        return {"calls": accounted(records), **timing(records, chosen)}

    def summary(models: Mapping[str, Figures]) -> Figures:
        tails = [one["latency"]["p95"] for one in models.values() if one["latency"]["p95"] is not None]
        over = sum(tail > chosen.budget_s for tail in tails)
        return {"models": len(models), "p95_over_budget": over, "p95_within_budget": len(tails) - over}

    facts = {**described(states, chosen.moderate_up_to), "budget_s": chosen.budget_s}
    return Design(inquiries, figures, summary, facts, timed=True, cut=cut)


def timing(records: Sequence[Record], chosen: LatencyParameters) -> Figures:
    """Figures of all answers, readable or not: the seconds were spent either way.

    ``within`` is Pr(L <= d) by deadline; ``by_mode`` the same for the declarations of one mode, beside what the
    stipulated cost of that mode's longest planning event says. ``margin`` holds the quantile that a latency-quantile
    margin would subtract from a deadline.
    """
    answered = [record for record in records if record["status"] in ANSWERED]
    seconds = [record["latency_s"] for record in answered]
    p50, p95 = latency_quantiles(seconds)
    (margin,) = latency_quantiles(seconds, (chosen.confidence,))
    return {
        "latency": {
            "n": len(seconds),
            "p50": p50.value,
            "p50_interval": [p50.low, p50.high],
            "p95": p95.value,
            "p95_interval": [p95.low, p95.high],
            "tail_ratio": p95.value / p50.value if p50.value and p95.value is not None else None,
            "mean": t_interval(seconds).mean,
            "max": max(seconds, default=None),
        },
        "over_budget": share(sum(s > chosen.budget_s for s in seconds), len(seconds)),
        "within": _within(seconds, chosen),
        "margin": {"quantile": chosen.confidence, "value_s": margin.value, "low": margin.low, "high": margin.high},
        "by_mode": {str(mode): _of_mode(answered, mode, chosen) for mode in MODES},
    }


def _of_mode(answered: Sequence[Record], mode: Mode, chosen: LatencyParameters) -> Figures:
    mine = [r["latency_s"] for r in answered if r["status"] == "read" and r["value"]["mode"] == mode]
    stipulated = PlanningCosts().longest(forced(mode))
    return {
        "n": len(mine),
        "stipulated_s": stipulated,
        "stipulated_feasible": {f"{d:g}": stipulated <= d for d in chosen.deadlines_s},
        "within": _within(mine, chosen),
    }


def _within(seconds: Sequence[float], chosen: LatencyParameters) -> Figures:
    found = {}
    for deadline in chosen.deadlines_s:
        one = share(sum(s <= deadline for s in seconds), len(seconds))
        enough = None if one["share"] is None else one["share"] >= chosen.confidence
        found[f"{deadline:g}"] = {**one, "feasible": enough}
    return found
