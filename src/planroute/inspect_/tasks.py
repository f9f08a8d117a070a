"""The tasks that ``inspect eval planroute/…`` runs."""

import os
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from planroute.calls import Sampling
from planroute.errors import InputError, PlanrouteError
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.scorers import adherence, order, success
from planroute.inspect_.settings import domain_of, games_in, seeds_from
from planroute.inspect_.solvers import routed


@task
def alfworld(
    games: str | None = None,
    seeds: Any = 7,
    task_type: str | None = None,
    limit: int | None = None,
    steps: int = 50,
    steps_per_unit: int = 20,
) -> Task:
    """Household text games.

    Args:
        games: Folder of games. Default: ALFWORLD_DATA, else the project's own games.
        seeds: One epoch for each of these, in this order.
        task_type: Only games of this type.
        limit: Only the first so many games.
        steps: Most actions of one trajectory.
        steps_per_unit: Most actions on one unit of a plan.
    """
    try:
        listed = seeds_from(seeds)
        folder = games or os.environ.get("ALFWORLD_DATA")
        settings: dict[str, Any] = {
            "domain": "alfworld",
            "games": str(Path(folder).expanduser().absolute()) if folder else None,
            "seeds": listed,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        kinds = sorted({game.task_type for game in games_in(settings["games"])})
        domain = domain_of(settings, Sampling())
        chosen = [each for each in domain.tasks() if task_type in (None, each.factors["task_type"])][:limit]
        if not chosen:
            raise InputError(f"no game is of type {task_type!r}", hint=f"there are {', '.join(kinds)}")
    except PlanrouteError as error:
        raise PrerequisiteError(str(error)) from None
    samples = [Sample(input=each.text, id=each.id, metadata={**each.factors, KEY: settings}) for each in chosen]
    return Task(
        dataset=MemoryDataset(samples, name="alfworld"),
        solver=routed(),
        scorer=[success(), order(), adherence()],
        epochs=Epochs(len(listed), "mean"),
    )
