"""One grid episode: planning primitives over a day, the prosumers' answers, the physics that settles each hour."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.declaration import Declaration, read_fields
from planroute.domains.grid import briefing
from planroute.domains.grid.aggregator import relay
from planroute.domains.grid.allocation import Quota, allocate, worker_requests
from planroute.domains.grid.communication import Appeal, Speaker
from planroute.domains.grid.day import Day, predict, settle
from planroute.domains.grid.metrics import Limits, metrics
from planroute.domains.grid.policy import GridFields, TargetRule
from planroute.domains.grid.profiles import HOURS
from planroute.domains.grid.prosumers import Memory, answer, attenuated, remember, sampled, willingness
from planroute.domains.grid.scheduling import (
    alternatives,
    churn,
    order_by,
    order_key,
    revised_intensity,
    schedule,
)
from planroute.errors import DomainError
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.protocols import Context, Observation, Outcome, State
from planroute.streams import stream
from planroute.trace import Directed, Noted, Responded, Settled, Trace

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Dispatch:
    """The payload of a unit: one hour's requests per node, in MW."""

    hour: int
    requests: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    """The payload of a candidate: one row of requests for each of ``hours``."""

    hours: tuple[int, ...]
    requests: FloatArray
    index: int


class GridWorld:
    """A day on the feeder under one seed. See ``planroute.protocols.World`` for the contract."""

    def __init__(self, day: Day, context: Context, speaker: Speaker) -> None:
        self.day = day
        self.context = context
        self.speaker = speaker
        self.fields = GridFields()
        self.memory = Memory.blank(day.people.nodes)
        self.curtailed = np.zeros((HOURS, day.people.nodes))
        self._campaign = day.forecast.campaign
        self._executed = 0
        self._settled = 0
        self._plans = 0
        self._realised_share: float | None = None
        self._lowest_voltage: float | None = None

    # -- state ---------------------------------------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether every hour of the campaign is dispatched."""
        return self._executed >= len(self._campaign)

    def state(self) -> State:
        """What the planner sees before the next hour of the campaign."""
        hour = self._campaign[self._executed] if not self.done else HOURS - 1
        asked = float(self.memory.asked.sum())
        compliance = float(self.memory.agreed.sum()) / asked if asked else None
        return briefing.state(self.day, hour, self._remaining(), self._lowest_voltage, compliance)

    def begin(self, declaration: Declaration) -> None:
        """Take over target rule, theme and intensity."""
        self.fields = read_fields(GridFields, declaration)

    def _remaining(self) -> tuple[int, ...]:
        return self._campaign[self._executed :]

    # -- planning ------------------------------------------------------------------------------------------------

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        """Compile the remaining horizon, or one worker's requests of the next hour."""
        if subgoal is None:
            return self._as_plan(self._remaining(), self._schedule(self._remaining()))
        quota, hour, depth = subgoal.payload
        forecast = self.day.forecast
        key = self._key(TargetRule(self.fields.target))[hour]
        coefficients = self.day.scenario.coefficients
        relative = self.fields.intensity / coefficients.planning.intensity
        requests = worker_requests(quota, forecast.flexible[hour], key, depth, relative, coefficients.allocation)
        return self._as_plan((hour,), requests[None, :], who=quota.name)

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        """Rebuild the remaining hours with intensities that follow observed compliance and the last realised share."""
        planning = self.day.scenario.coefficients.planning
        hours = tuple(unit.payload.hour for unit in rest.units)
        rate = self.memory.compliance_rate()
        per_node = revised_intensity(self.fields.intensity, rate, self._realised_share, planning)
        requests = self._schedule(hours, per_node)
        changed = float(churn(np.array([unit.payload.requests for unit in rest.units]), requests)) if hours else 0.0
        self.context.trace.append(Noted(hours[0] if hours else HOURS, {"revision_churn": changed}))
        return self._as_plan(hours, requests)

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        """Quotas for the next hour's laterals and, at depth three, segments: one stage of workers side by side."""
        if self.done:
            return ()
        hour = self._remaining()[0]
        forecast, coefficients = self.day.forecast, self.day.scenario.coefficients
        wanted = float(forecast.needed_mw[hour]) * coefficients.planning.over_request
        quotas = allocate(
            self.day.scenario.feeder,
            wanted,
            forecast.voltage_pu[hour],
            forecast.flexible[hour],
            depth,
            coefficients.allocation,
        )
        parents = {quota.parent for quota in quotas}
        return (tuple(self._subgoal(quota, hour, depth) for quota in quotas if quota.name not in parents),)

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        """Add the workers' requests of the hour up to one dispatch."""
        dispatches = [unit.payload for part in parts for unit in part.units]
        if not dispatches:
            return Plan(())
        return self._as_plan((dispatches[0].hour,), sum(d.requests for d in dispatches)[None, :])

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        """Up to ``k`` schedules of target order and intensity, the declared one first."""
        planning = self.day.scenario.coefficients.planning
        settings = alternatives(TargetRule(self.fields.target), self.fields.intensity, planning)
        candidates = []
        for index, (rule, relative, over_request) in enumerate(settings[:k]):
            hours = self._remaining()
            requests = self._schedule(hours, relative, over_request, rule)
            text = f"{rule} at intensity {relative:.3f}, over-request {over_request:.3f}"
            payload = Alternative(hours, requests, index)
            candidates.append(Candidate(f"c{index + 1}", text, self._as_plan(hours, requests), payload))
        return candidates

    async def rollout(self, candidate: Candidate) -> Rollout:
        """Predict J of the candidate by forecast power flow. Touches nothing of the episode.

        A failed forecast tool (drawn from a stream of its own) leaves the cost unknown.
        """
        chance = self.day.scenario.factors.tool_failure
        if chance > 0 and stream(self.context.seed, "tool failure", candidate.payload.index).random() < chance:
            return Rollout(candidate.id, evidence="the forecast tool failed")
        objective = float(predict(self.day, candidate.payload.hours, candidate.payload.requests).objective)
        return Rollout(candidate.id, objective, f"predicted J {objective:.1f}")

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        """The least predicted cost; the first of equals, and the declared schedule where no cost is known."""
        costs = [np.inf if rollout.cost is None else rollout.cost for rollout in rollouts]
        return int(np.argmin(costs))

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        """Dispatch the chosen schedule."""
        return candidate.plan

    # -- execution -----------------------------------------------------------------------------------------------

    async def execute(self, unit: PlanUnit) -> Observation:
        """Dispatch one hour: requests go out, prosumers answer, physics settles.

        Raises ``DomainError`` for an hour out of order.
        """
        dispatch: Dispatch = unit.payload
        if self.done or dispatch.hour != self._remaining()[0]:
            raise DomainError(f"unit {unit.id}: hour {dispatch.hour} is not the next hour of the campaign")
        self.context.ledger.charge_interaction()
        hour, day = dispatch.hour, self.day
        response = day.scenario.coefficients.response
        requests = self._direct(dispatch)
        flexible = day.flexible[hour]
        asked = sampled(requests, day.draws.narrative[hour], response)
        appeal = Appeal(
            hour=hour,
            theme=str(self.fields.theme),
            excess_kw=max(1000 * float(day.forecast.head_mw[hour] - day.scenario.factors.import_cap_mw), 0.0),
            requested_kw=1000 * requests,
            sampled=asked,
            memory=self.memory,
            people=day.people,
        )
        shift = attenuated(await self.speaker.shifts(appeal), day.people, response)
        base = willingness(requests, flexible, self.memory, day.people, response)
        given = answer(requests, flexible, base, shift, day.draws.compliance[hour], day.draws.realised[hour], response)
        elapsed = hour - self._campaign[self._executed - 1] if self._executed else 1
        self.memory = remember(self.memory, requests, flexible, given, day.people, response, elapsed)
        nodes = np.flatnonzero(requests > 0)
        self.context.trace.append(
            Responded(
                hour,
                {
                    "node": tuple(nodes.tolist()),
                    "archetype": tuple(day.people.archetype[nodes].tolist()),
                    "probability": tuple(given.probability[nodes].tolist()),
                    "sampled": tuple(asked[nodes].tolist()),
                    "shift": tuple(shift[nodes].tolist()),
                    "complied": tuple(given.complied[nodes].tolist()),
                    "realised_kw": tuple((1000 * given.realised[nodes]).tolist()),
                },
            )
        )
        self.curtailed[hour] = given.realised
        total = float(requests.sum())
        self._realised_share = float(given.realised.sum()) / total if total > 0 else None
        self._executed += 1
        self._settle_until(HOURS if self.done else hour + 1)
        realised_kw = 1000 * float(given.realised.sum())
        return Observation(unit.id, True, f"hour {hour}: {realised_kw:.0f} kW of {1000 * total:.0f} kW realised")

    def outcome(self) -> Outcome:
        """Every metric of the day, from the trace. Hours that nobody has dispatched yet count as uncontrolled."""
        factors = self.day.scenario.factors
        limits = Limits(factors.import_cap_mw, factors.voltage_floor_pu, self.day.scenario.coefficients.objective)
        return Outcome(None, metrics(Trace([*self.context.trace, *self._settled_until(HOURS)]), limits))

    async def aclose(self) -> None:
        """Let the rest of the day run uncontrolled."""
        self._settle_until(HOURS)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _key(self, rule: TargetRule) -> FloatArray:
        planning = self.day.scenario.coefficients.planning
        return order_key(rule, self.day.forecast, self.day.leverage, self.memory.compliance_rate(), planning)

    def _schedule(
        self,
        hours: tuple[int, ...],
        intensity: FloatArray | float | None = None,
        over_request: float | None = None,
        rule: TargetRule | None = None,
    ) -> FloatArray:
        planning = self.day.scenario.coefficients.planning
        rule = rule or TargetRule(self.fields.target)
        return schedule(
            rule,
            hours,
            self.day.forecast,
            self.fields.intensity if intensity is None else intensity,
            planning.over_request if over_request is None else over_request,
            self._key(rule),
            planning,
        )

    def _as_plan(self, hours: tuple[int, ...], requests: FloatArray, who: str = "") -> Plan:
        self._plans += 1
        asked = (requests > 0).sum(axis=-1).tolist()
        totals = (1000 * requests.sum(axis=-1)).tolist()
        return Plan(
            tuple(
                PlanUnit(
                    f"p{self._plans}.h{hour:02d}",
                    f"{who + ', ' if who else ''}hour {hour}: ask {count} for {total:.0f} kW",
                    Dispatch(hour, row),
                )
                for hour, row, count, total in zip(hours, requests, asked, totals, strict=True)
            )
        )

    def _subgoal(self, quota: Quota, hour: int, depth: int) -> Subgoal:
        text = f"hour {hour}, {quota.name}: {1000 * quota.quota_mw:.0f} kW"
        return Subgoal(f"h{hour:02d} {quota.name}", text, quota.parent, (quota, hour, depth))

    def _direct(self, dispatch: Dispatch) -> FloatArray:
        """Send the hour's requests through the aggregator and record what was issued beside what was declared."""
        day, hour = self.day, dispatch.hour
        issued = relay(day, hour, dispatch.requests)
        nodes = np.flatnonzero(issued > 0)
        key = self._key(TargetRule(self.fields.target))[hour]
        declared = np.sort(order_by(key)[: int((dispatch.requests > 0).sum())])
        intended = float(dispatch.requests @ day.leverage)
        flexible, forecast = day.flexible[hour], day.forecast.flexible[hour]
        wanted = float(day.forecast.needed_mw[hour]) * day.scenario.coefficients.planning.over_request
        error = np.abs(forecast[nodes] - flexible[nodes]) / np.maximum(flexible[nodes], 1e-12)
        values: dict[str, Any] = {
            "declared": tuple(declared.tolist()),
            "leverage_ratio": float(issued @ day.leverage) / intended if intended > 0 else None,
            "forecast_error": float(error.mean()) if len(nodes) else None,
            "wanted_kw": 1000 * wanted,
            "unmet_kw": 1000 * max(wanted - float(dispatch.requests.sum()), 0.0),
        }
        self.context.trace.append(
            Directed(
                hour,
                {
                    "node": tuple(nodes.tolist()),
                    "requested_kw": tuple((1000 * issued[nodes]).tolist()),
                    "flexible_kw": tuple((1000 * flexible[nodes]).tolist()),
                },
                values,
            )
        )
        return issued

    def _settle_until(self, hour: int) -> None:
        """Settle every hour before ``hour`` that is not settled yet."""
        events = self._settled_until(hour)
        if events:
            self.context.trace.extend(events)
            self._lowest_voltage = min(events[-1].columns["voltage_pu"])
            self._settled = hour

    def _settled_until(self, hour: int) -> list[Settled]:
        """What both referees make of every hour before ``hour`` that is not settled yet. Leaves no mark."""
        if hour <= self._settled:
            return []
        hours = slice(self._settled, hour)
        result = settle(self.day, hours, self.curtailed[hours])
        needed = self.day.truth.needed_mw[hours]
        return [
            Settled(
                step,
                {
                    "import_mw": float(result.head_mw[i]),
                    "import_ac_mw": float(result.head_ac_mw[i]),
                    "curtailed_mw": float(self.curtailed[step].sum()),
                    "needed_mw": float(needed[i]),
                },
                {
                    "voltage_pu": tuple(result.v_pu[i].tolist()),
                    "voltage_ac_pu": tuple(result.v_ac_pu[i].tolist()),
                    "curtailed_kw": tuple((1000 * self.curtailed[step]).tolist()),
                },
            )
            for i, step in enumerate(range(self._settled, hour))
        ]
