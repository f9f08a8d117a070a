"""The grid as a domain: one task per scenario, a world per seed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from planroute.calls import Sampling
from planroute.domains.grid import briefing
from planroute.domains.grid.coefficients import ARCHETYPES
from planroute.domains.grid.communication import Calibrated, InHours, Speaker, Spoken
from planroute.domains.grid.day import make_day, uncontrolled
from planroute.domains.grid.policy import GridFields, TargetRule, Theme
from planroute.domains.grid.profiles import HOURS
from planroute.domains.grid.prompts import BRIEFING
from planroute.domains.grid.scenario import Scenario, make_scenario
from planroute.domains.grid.world import GridWorld
from planroute.errors import InputError, ModelMissing
from planroute.protocols import Context, State, Task


@dataclass(frozen=True)
class GridDomain:
    """Demand response on a radial feeder. ``scenarios`` maps a task's identity to its scenario."""

    scenarios: Mapping[str, Scenario] = field(default_factory=lambda: {"nominal": make_scenario()})
    sampling: Sampling = Sampling()
    name: str = "grid"
    lexicon: None = None

    @property
    def fields(self) -> type[GridFields]:
        """Target rule, theme and intensity."""
        return GridFields

    @property
    def briefing(self) -> str:
        """What a planner decides here."""
        return BRIEFING

    def tasks(self) -> Sequence[Task]:
        """One task for each scenario."""
        return tuple(
            Task(
                name,
                f"keep the feeder within its limits over a hot day ({name})",
                scenario.factors.model_dump(mode="json"),
                scenario,
            )
            for name, scenario in self.scenarios.items()
        )

    async def open(self, task: Task, context: Context) -> GridWorld:
        """Start the day of ``context.seed``. Raises ``ModelMissing`` where communication needs a model and has none."""
        scenario: Scenario = task.payload
        return GridWorld(make_day(scenario, context.seed), context, self._speaker(scenario, context))

    async def state_at(self, task: Task, context: Context, hour: int | None = None) -> State:
        """The planner-visible state at ``hour`` of the uncontrolled day, or at the campaign's first hour.

        Raises ``InputError`` for an hour outside the day.
        """
        day = make_day(task.payload, context.seed)
        if hour is None:
            return (await self.open(task, context)).state()
        if not 0 <= hour < HOURS:
            raise InputError(f"hour {hour} is outside the day", hint=f"choose 0 to {HOURS - 1}")
        before = float(day.forecast.min_voltage_pu[hour - 1]) if hour else None
        return briefing.state(day, hour, tuple(h for h in day.forecast.campaign if h >= hour), before, None)

    def facts(self, task: Task) -> Mapping[str, Any]:
        """Feeder, limits, archetypes, uncontrolled day, coefficients, and how messages are sampled."""
        scenario: Scenario = task.payload
        return {
            "feeder": scenario.feeder.to_dict(),
            "import_cap_mw": scenario.factors.import_cap_mw,
            "voltage_floor_pu": scenario.factors.voltage_floor_pu,
            "archetypes": list(ARCHETYPES),
            "uncontrolled": uncontrolled(scenario),
            "coefficients": list(scenario.coefficients.table()),
            "sampling": asdict(self.sampling),
        }

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        """Target rule, theme and the stress-calibrated intensity that forced comparisons share."""
        scenario: Scenario = task.payload
        fields = GridFields(
            target=TargetRule.HIGH_LOAD,
            theme=Theme.RELIABILITY,
            intensity=scenario.factors.intensity or scenario.coefficients.planning.intensity,
        )
        return fields.model_dump()

    def _speaker(self, scenario: Scenario, context: Context) -> Speaker:
        calibrated = Calibrated(scenario.coefficients.response)
        if scenario.factors.communication == "calibrated":
            return calibrated
        if context.model is None:
            raise ModelMissing("communication by a model needs a language model", hint="name one with --model")
        spoken = Spoken(context, self.sampling)
        hours = scenario.factors.model_hours
        return spoken if hours is None else InHours(frozenset(hours), spoken, calibrated)
