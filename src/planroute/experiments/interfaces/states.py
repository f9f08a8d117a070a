"""Planner-visible states: stress multipliers crossed with decision hours, on the uncontrolled day of one seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from planroute.domains.grid import GridDomain, make_scenario
from planroute.errors import FaultyInput, InputError
from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.design import day_seed, interface_of, some_of
from planroute.experiments.setting import Setting
from planroute.ledger import Ledger
from planroute.protocols import Context, State, Task
from planroute.trace import Trace

NONE, MODERATE, HIGH = "none", "moderate", "high"
BANDS: Final = (NONE, MODERATE, HIGH)


@dataclass(frozen=True, slots=True)
class Situation:
    """One state, where it comes from, and the feeder stress that its planner sees."""

    id: str
    multiplier: float
    hour: int
    domain: GridDomain
    task: Task
    state: State

    @property
    def stress(self) -> float:
        """Needed reduction over the import cap, as the planner reads it: in [0, 1], three decimals."""
        return float(self.state.summary["stress"])

    def about(self, moderate_up_to: float) -> dict[str, Any]:
        """The state in plain values, with its band."""
        return {
            "state": self.id,
            "stress_multiplier": self.multiplier,
            "hour": self.hour,
            "stress": self.stress,
            "band": band_of(self.stress, moderate_up_to),
        }


def band_of(stress: float, moderate_up_to: float) -> str:
    """``none`` where there is no stress, ``moderate`` up to the bound, ``high`` above it."""
    if stress <= 0:
        return NONE
    return MODERATE if stress <= moderate_up_to else HIGH


async def situations(experiment: Experiment, setting: Setting) -> tuple[list[Situation], dict[str, dict[str, int]]]:
    """Return the states of ``experiment`` under ``setting``, and the cut that they are of all of them.

    A cut takes states that are evenly spaced in stress. Raises ``FaultyInput`` for an impossible multiplier or factor,
    ``InputError`` for an hour outside the day or a factor that the study varies itself.
    """
    interface = interface_of(experiment)
    if missing := [name for name, values in (("stress", interface.stress), ("hours", interface.hours)) if not values]:
        raise FaultyInput(f"experiment {experiment.id}", [f"interface.{name}: needs a value" for name in missing])
    if "stress" in setting.factors:
        raise InputError(f"{experiment.id} varies stress itself", hint="leave it out of --set")
    scenarios = {
        multiplier: make_scenario(
            {**experiment.fixed, **setting.factors, "stress": multiplier}, what=f"experiment {experiment.id}"
        )
        for multiplier in interface.stress
    }
    found = []
    for multiplier, scenario in scenarios.items():
        domain = GridDomain({f"stress={multiplier:g}": scenario}, setting.sampling)
        task = domain.tasks()[0]
        for hour in interface.hours:
            context = Context(day_seed(experiment, setting), Trace(), Ledger())
            state = await domain.state_at(task, context, hour)
            found.append(Situation(f"stress={multiplier:g}/hour={hour}", multiplier, hour, domain, task, state))
    chosen, cut = some_of(sorted(found, key=lambda s: (s.stress, s.multiplier, s.hour)), setting, "states")
    kept = {situation.id for situation in chosen}
    return [situation for situation in found if situation.id in kept], cut


def described(states: Sequence[Situation], moderate_up_to: float) -> dict[str, Any]:
    """The states and the size of each band, as the result holds them."""
    about = [situation.about(moderate_up_to) for situation in states]
    return {
        "states": about,
        "bands": {band: sum(one["band"] == band for one in about) for band in BANDS},
        "moderate_up_to": moderate_up_to,
    }
