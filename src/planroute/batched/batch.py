"""A batch: one scenario's day under many seeds at once, and what planners make of its forecast.

The seeds are the leading axis of every array. Hours are those in which any seed has a campaign; a seed that has none in
such an hour needs nothing in it, so that its requests there are zero and nothing of it moves.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from planroute.batched.draws import Draws, first_uniform
from planroute.domains.grid.allocation import allocate, worker_requests
from planroute.domains.grid.coefficients import Planning
from planroute.domains.grid.day import Day, Settlement, assemble, predict, settle
from planroute.domains.grid.policy import GridFields, TargetRule
from planroute.domains.grid.profiles import HOURS
from planroute.domains.grid.prosumers import Memory, attenuated, calibrated_shifts, made_of
from planroute.domains.grid.scenario import Scenario
from planroute.domains.grid.scheduling import alternatives, multipliers, order_by, order_key, schedule

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Batch:
    """The day of a scenario under many seeds, under the fields that all modes share."""

    day: Day
    fields: GridFields

    @classmethod
    def of(cls, scenario: Scenario, draws: Draws, fields: GridFields) -> "Batch":
        """Make the days of ``scenario`` from what was drawn."""
        factors, coefficients = scenario.factors, scenario.coefficients
        people = made_of(draws.archetype, draws.unit, draws.adjacency, factors.mean_resistance, coefficients.response)
        errors = multipliers(draws.shared, draws.own, factors.forecast_noise, coefficients.planning)
        return cls(assemble(scenario, draws.seeds, people, draws.latent, errors), fields)

    @property
    def seeds(self) -> list[int]:
        """Which they are."""
        return [int(seed) for seed in np.atleast_1d(self.day.seed)]

    @property
    def planning(self) -> Planning:
        """The coefficients of planning."""
        return self.day.scenario.coefficients.planning

    @cached_property
    def hours(self) -> list[int]:
        """Every hour in which a seed has a campaign, in order."""
        return [int(hour) for hour in np.flatnonzero((self.day.forecast.needed_mw > 0).any(axis=0))]

    @cached_property
    def dispatched(self) -> BoolArray:
        """Whether a seed has a campaign in each of ``hours``, (seeds, hours)."""
        return self.day.forecast.needed_mw[:, self.hours] > 0

    @cached_property
    def shifts(self) -> FloatArray:
        """What a message does to each prosumer, (seeds, nodes): the archetypes' means, attenuated."""
        people, response = self.day.people, self.day.scenario.coefficients.response
        return attenuated(calibrated_shifts(people, response), people, response)

    @cached_property
    def substituted(self) -> BoolArray | None:
        """Whether the aggregator substitutes its own goal, (seeds, hours); ``None`` where it never does."""
        honesty = self.day.scenario.factors.honesty
        if honesty >= 1:
            return None
        drawn = [first_uniform(self.seeds, "adversary", hour) for hour in self.hours]
        return np.stack(drawn, axis=-1) >= honesty if drawn else np.zeros((len(self.seeds), 0), np.bool_)

    @cached_property
    def untouched(self) -> Settlement:
        """What the referees say of the whole day without any curtailment, which is the same under every seed."""
        return settle(self.day, slice(0, HOURS), np.zeros((HOURS, self.day.people.nodes)))

    @cached_property
    def _keys(self) -> dict[TargetRule, tuple[FloatArray, IntArray]]:
        return {}

    def key(self, rule: TargetRule) -> tuple[FloatArray, IntArray]:
        """Return the key by which ``rule`` asks, (seeds, 24, nodes), and its order in ``hours``.

        Taken before any request: no rule of a forced episode follows what prosumers answered.
        """
        if rule not in self._keys:
            day = self.day
            blank = Memory.blank(day.people.nodes, len(self.seeds)).compliance_rate()
            key = order_key(rule, day.forecast, day.leverage, blank, self.planning)
            self._keys[rule] = key, order_by(key[:, self.hours])
        return self._keys[rule]

    @property
    def rule(self) -> TargetRule:
        """The declared target rule."""
        return TargetRule(self.fields.target)

    def plan(
        self,
        intensity: FloatArray | float | None = None,
        over_request: float | None = None,
        rule: TargetRule | None = None,
        first: int = 0,
    ) -> FloatArray:
        """Return the schedule of ``hours`` from the one at ``first`` on, (seeds, hours, nodes)."""
        rule = rule or self.rule
        key, order = self.key(rule)
        return schedule(
            rule,
            self.hours[first:],
            self.day.forecast,
            self.fields.intensity if intensity is None else intensity,
            self.planning.over_request if over_request is None else over_request,
            key,
            self.planning,
            order[:, first:],
        )

    def allocated(self, at: int, depth: int) -> FloatArray:
        """Return what the workers of a decomposition ask in the hour at ``at``, (seeds, nodes)."""
        day, hour = self.day, self.hours[at]
        forecast, rules = day.forecast, day.scenario.coefficients.allocation
        wanted = forecast.needed_mw[:, hour] * self.planning.over_request
        flexible, key = forecast.flexible[:, hour], self.key(self.rule)[0][:, hour]
        relative = self.fields.intensity / self.planning.intensity
        quotas = allocate(day.scenario.feeder, wanted, forecast.voltage_pu[:, hour], flexible, depth, rules)
        parents = {quota.parent for quota in quotas}
        workers = [quota for quota in quotas if quota.name not in parents]
        requests = np.zeros_like(flexible)
        for quota in workers:
            requests += worker_requests(quota, flexible, key, depth, relative, rules)
        return requests

    def proposed(self, k: int) -> FloatArray:
        """Return up to ``k`` alternative schedules, (alternatives, seeds, hours, nodes), the declared one first."""
        settings = alternatives(self.rule, self.fields.intensity, self.planning)[:k]
        return np.stack([self.plan(intensity, over, rule) for rule, intensity, over in settings])

    def rolled_out(self, proposed: FloatArray) -> FloatArray:
        """Return the predicted J of each alternative, (alternatives, seeds); infinite where its forecast failed."""
        costs = np.stack([predict(self.day, self.hours, requests).objective for requests in proposed])
        chance = self.day.scenario.factors.tool_failure
        if chance > 0:
            failed = [first_uniform(self.seeds, "tool failure", index) < chance for index in range(len(proposed))]
            costs = np.where(np.stack(failed), np.inf, costs)
        return costs
