"""From an experiment's file to its cells: one scenario for each combination of levels, one cell for each condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.declarers import Fixed, Hybrid, Natural
from planroute.domains.grid import GridDomain, make_scenario
from planroute.domains.grid.directives import directives
from planroute.episode import Conditions, Episode
from planroute.errors import FaultyInput, InputError
from planroute.experiments.definition import RUN_LEVELS, Arm, Experiment
from planroute.experiments.setting import Setting
from planroute.gate import Gate
from planroute.protocols import Declarer
from planroute.runs.cells import Cell

NEEDS_MODEL = "needs a language model: name one with --model"


@dataclass(frozen=True, slots=True)
class Scene:
    """What an experiment runs: its domain, its cells, and the arms that cannot run here, with the reason."""

    domain: GridDomain
    cells: Sequence[Cell]
    not_run: Mapping[str, str]
    notes: Mapping[str, str]


def scene(experiment: Experiment, setting: Setting) -> Scene:
    """Return the cells of ``experiment``: condition by condition, seed by seed, level by level.

    An arm that needs a language model and has none is left out and told in ``not_run``; one that runs on its
    deterministic prior is told in ``notes``. Raises ``FaultyInput`` for an impossible level, ``InputError`` where
    a factor of the setting is one of the experiment's levels.
    """
    if clash := sorted(set(setting.factors) & set(experiment.levels)):
        raise InputError(f"{experiment.id} varies {', '.join(clash)} itself", hint="leave it out of --set")
    scenarios, deadlines = {}, {}
    for levels in experiment.combinations():
        name = scenario_name(levels)
        values = {**experiment.fixed, **levels, **setting.factors}
        deadline = values.pop("deadline_s", None)
        if deadline is not None and not isinstance(deadline, int | float):
            raise FaultyInput(f"experiment {experiment.id}", [f"deadline_s: must be a number of s, got {deadline!r}"])
        values["communication"] = setting.communication
        if setting.model_hours is not None:
            values["model_hours"] = setting.model_hours
        scenarios[name] = make_scenario(values, what=f"experiment {experiment.id}, scenario {name}")
        deadlines[name] = None if deadline is None else float(deadline)
    domain = GridDomain(scenarios, setting.sampling)
    not_run, notes, arms = {}, {}, []
    for arm in experiment.arms:
        if setting.model is None and not arm.prior_only:
            not_run[arm.condition] = NEEDS_MODEL
            continue
        if setting.model is None:
            notes[arm.condition] = "prior-only: the hybrid's deterministic prior, all shifts zero"
        arms.append(arm)
    seeds = setting.seeds or experiment.seeds
    cells = []
    for condition in [*experiment.forced, *arms]:
        by_task = [(task, *_conditions(condition, deadlines[task.id], setting)) for task in domain.tasks()]
        cells += [Cell(task, name, seed, conditions) for seed in seeds for task, name, conditions in by_task]
    return Scene(domain, cells, not_run, notes)


def scenario_name(levels: Mapping[str, Any]) -> str:
    """A readable name such as ``forecast_noise=0.1,honesty=1``; ``nominal`` without levels."""
    shown = (f"{name}={_exact(value)}" for name, value in levels.items())
    return ",".join(shown) or "nominal"


def _exact(value: Any) -> str:
    """A level as it is written, without a decimal point that says nothing: two levels never share a name."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _conditions(condition: Any, deadline: float | None, setting: Setting) -> tuple[str, Conditions]:
    model = setting.model
    if not isinstance(condition, Arm):
        speaks = model if setting.communication == "model" else None
        return str(condition), Conditions(Fixed(condition), model=speaks, deadline_s=deadline)
    declarer: Declarer = (
        Natural(setting.sampling)
        if condition.declarer == "natural"
        else Hybrid(setting.sampling, prior_only=model is None)
    )
    gate = Gate(deadline if condition.gated else None)
    return condition.condition, Conditions(declarer, gate, model=model, deadline_s=deadline)


def collect_directives(cell: Cell, episode: Episode) -> list[dict[str, Any]]:
    """Directive rows of a finished episode, with the cell that they belong to."""
    where = {"task": cell.task.id, "condition": cell.condition, "seed": cell.seed}
    return [{**where, **row} for row in directives(episode.trace, cell.task.payload)]


__all__ = ["NEEDS_MODEL", "RUN_LEVELS", "Scene", "collect_directives", "scenario_name", "scene"]
