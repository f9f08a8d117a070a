"""Bounded advice on the hybrid's scores (M3): how much is shifted, and what it changes.

Source: cyber-physical paper, sections IV (40 bounded score-shift calls per model) and V-B.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from planroute.declarers import Hybrid
from planroute.declarers.hybrid import SHIFT_LIMIT, Advice
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.accounts import accounted, mean, read, share, shares
from planroute.experiments.interfaces.design import Design, Figures, Parameters, day_seed, draws_of, parameters
from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.records import Record
from planroute.experiments.interfaces.states import BANDS, Situation, described, situations
from planroute.experiments.setting import Setting
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.statistics import cluster_bootstrap, t_interval

_AT_LIMIT = SHIFT_LIMIT - 1e-9


class AdviceParameters(Parameters):
    """Stress up to ``moderate_up_to`` is moderate."""

    moderate_up_to: float = Field(gt=0, lt=1)


async def advice(experiment: Experiment, setting: Setting) -> Design:
    """Ask for advice on each state several times, and describe the shifts and what they change."""
    chosen = parameters(experiment, AdviceParameters)
    states, cut = await situations(experiment, setting)
    draws, fewer = draws_of(experiment, setting)
    seed = day_seed(experiment, setting)
    inquiries = [
        Inquiry(
            {**state.about(chosen.moderate_up_to), "draw": draw}, advise(state, Hybrid(setting.sampling, draw)), seed
        )
        for state in states
        for draw in range(draws)
    ]

    def figures(records: Sequence[Record]) -> Figures:
        return {"calls": accounted(records), **shifting(read(records), experiment.id)}

    def summary(models: Mapping[str, Figures]) -> Figures:
        budgets = [one["l1"]["mean"] for one in models.values() if one["l1"]["mean"] is not None]
        return {
            "models": len(models),
            "least_mean_l1": min(budgets, default=None),
            "largest_mean_l1": max(budgets, default=None),
            "saturating": sum(one["saturated"]["count"] > 0 for one in models.values()),
        }

    facts = {**described(states, chosen.moderate_up_to), "shift_limit": SHIFT_LIMIT}
    return Design(inquiries, figures, summary, facts, cut=cut | fewer)


def advise(state: Situation, hybrid: Hybrid) -> Callable[[Context], Awaitable[Mapping[str, Any]]]:
    """The call that advises on ``state``: the shifts, and the mode with and without them under the same draw."""

    async def ask(context: Context) -> dict[str, Any]:
        parsed = await hybrid.advise(state.domain, state.state, context)
        before, after = hybrid.chances(state.state, Advice()), hybrid.chances(state.state, parsed.value)
        shifts = parsed.value.shifts()
        return {
            **{f"shift_{mode.lower()}": shift for mode, shift in shifts.items()},
            "reason": parsed.value.reason,
            "l1": sum(map(abs, shifts.values())),
            "prior_mode": str(hybrid.sampled(before, context.seed)),
            "mode": str(hybrid.sampled(after, context.seed)),
            "prior_preferred": str(max(before, key=lambda mode: before[mode])),
            "preferred": str(max(after, key=lambda mode: after[mode])),
            "moved": sum(abs(after[mode] - before[mode]) for mode in Mode) / 2,
        }

    return ask


def shifting(records: Sequence[Record], name: str) -> Figures:
    """Figures of readable advice.

    ``l1`` is the sum of absolute shifts of one call, with its Student t interval over calls, and ``l1_by_state`` with
    one that resamples whole states. ``all_zero`` and ``saturated`` (any shift at its limit) are shares of calls,
    ``at_limit`` the share of shifts. ``changed`` is the share of calls whose sampled mode differs from the prior's
    under the same draw, ``preference_changed`` that of calls after which another mode is the most probable, ``moved``
    the mean total variation distance between the two distributions.
    """
    values = [record["value"] for record in records]
    states = [record["about"]["state"] for record in records]
    by_mode = {mode: [value[f"shift_{mode.lower()}"] for value in values] for mode in MODES}
    calls = list(zip(*by_mode.values(), strict=True))
    budgets = [value["l1"] for value in values]
    at_limit = [[abs(shift) >= _AT_LIMIT for shift in call] for call in calls]
    by_band = {band: [r["value"]["l1"] for r in records if r["about"]["band"] == band] for band in BANDS}
    n = len(values)
    return {
        "l1": t_interval(budgets).to_dict(),
        "l1_by_state": cluster_bootstrap(budgets, states, name=f"{name}/l1").to_dict(),
        "l1_by_band": {band: mean(found) for band, found in by_band.items()},
        "all_zero": share(sum(not any(call) for call in calls), n),
        "saturated": share(sum(map(any, at_limit)), n),
        "at_limit": share(sum(map(sum, at_limit)), n * len(MODES)),
        "shifts": {str(mode): t_interval(found).to_dict() for mode, found in by_mode.items()},
        "changed": share(sum(value["mode"] != value["prior_mode"] for value in values), n),
        "preference_changed": share(sum(value["preferred"] != value["prior_preferred"] for value in values), n),
        "moved": mean([value["moved"] for value in values]),
        "modes": shares([value["mode"] for value in values], MODES),
        "prior_modes": shares([value["prior_mode"] for value in values], MODES),
    }
