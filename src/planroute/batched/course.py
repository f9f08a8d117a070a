"""The course of a batch under one mode: hour by hour requests go out and prosumers answer, under all seeds at once."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planroute.batched.batch import Batch
from planroute.domains.grid.aggregator import substituted
from planroute.domains.grid.prosumers import Memory, answer, remembered, sampled, willingness
from planroute.domains.grid.scheduling import churn, revised_intensity

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Course:
    """What was planned, issued and answered so far; each array is (seeds, hours of the batch, nodes), in MW.

    ``churned`` (seeds, hours) is the churn of the revision after each hour, NaN where none was made.
    """

    batch: Batch
    planned: FloatArray = field(init=False)
    issued: FloatArray = field(init=False)
    complied: BoolArray = field(init=False)
    realised: FloatArray = field(init=False)
    churned: FloatArray = field(init=False)
    memory: Memory = field(init=False)
    _near: FloatArray | None = field(init=False, default=None)
    _last: NDArray[np.int64] = field(init=False)
    _share: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        seeds, hours, nodes = len(self.batch.seeds), len(self.batch.hours), self.batch.day.people.nodes
        self.planned, self.issued, self.realised = (np.zeros((seeds, hours, nodes)) for _ in range(3))
        self.complied = np.zeros((seeds, hours, nodes), np.bool_)
        self.churned = np.full((seeds, hours), np.nan)
        self.memory = Memory.blank(nodes, seeds)
        self._last = np.full(seeds, -1)
        self._share = np.full(seeds, np.nan)

    def execute(self, at: int, requests: FloatArray) -> None:
        """Dispatch ``requests`` (seeds, nodes) in the hour at ``at``: they go out, and prosumers answer."""
        batch, day = self.batch, self.batch.day
        hour, response = batch.hours[at], day.scenario.coefficients.response
        issued = requests
        if batch.substituted is not None:
            own = substituted(requests, day.forecast.flexible[:, hour], day.leverage)
            issued = np.where(batch.substituted[:, at, None], own, requests)
        flexible, draws = day.flexible[hour], day.draws
        shift = np.where(sampled(issued, draws.narrative[:, hour], response), batch.shifts, 0.0)
        base = willingness(issued, flexible, self.memory, day.people, response, self._near)
        given = answer(issued, flexible, base, shift, draws.compliance[:, hour], draws.realised[:, hour], response)
        now = batch.dispatched[:, at]
        elapsed = np.where(now, np.where(self._last < 0, 1, hour - self._last), 0)
        people, memory = day.people, self.memory
        self.memory, self._near = remembered(memory, issued, flexible, given, people, response, elapsed)
        self._last = np.where(now, hour, self._last)
        self.planned[:, at], self.issued[:, at] = requests, issued
        self.complied[:, at], self.realised[:, at] = given.complied, given.realised
        total = issued.sum(axis=-1)
        self._share = np.divide(given.realised.sum(axis=-1), total, out=np.full_like(total, np.nan), where=total > 0)

    def revise(self, at: int, rest: FloatArray) -> FloatArray:
        """Return ``rest``, the schedule of the hours after ``at``, made anew where that hour was just dispatched."""
        rate = self.memory.compliance_rate()
        per_node = revised_intensity(self.batch.fields.intensity, rate, self._share, self.batch.planning)
        anew = self.batch.plan(per_node, first=at + 1)
        later = self.batch.dispatched[:, at + 1 :]
        now = self.batch.dispatched[:, at] & later.any(axis=-1)
        self.churned[:, at] = np.where(now, churn(rest, anew, later), np.nan)
        return anew if now.all() else np.where(now[:, None, None], anew, rest)
