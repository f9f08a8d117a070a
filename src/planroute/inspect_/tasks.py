"""The tasks that ``inspect eval planroute/…`` runs."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Scorer

from planroute.calls import Sampling
from planroute.errors import InputError, PlanrouteError
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.scorers import adherence, order, partial_success, step_success, success
from planroute.inspect_.settings import domain_of, games_in, seeds_from
from planroute.inspect_.solvers import routed
from planroute.protocols import Task as PlanrouteTask


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
    return _task(settings, chosen, [success(), order(), adherence()])


@task
def mind2web(
    tasks: str | None = None,
    seeds: Any = 7,
    category: str | None = None,
    limit: int | None = None,
    form: str = "multichoice",
    shots: str | None = None,
    top: int = 50,
    elements: int = 300,
    steps: int = 50,
    steps_per_unit: int = 20,
) -> Task:
    """Tasks on recorded web pages.

    Args:
        tasks: File or folder of tasks. Default: the project's own.
        seeds: One epoch for each of these, in this order.
        category: Only tasks of this domain and subdomain, such as "Travel / Ground".
        limit: Only the first so many tasks.
        form: multichoice (the benchmark's question, five candidates at a time) or direct (one question).
        shots: JSON file of messages before a multichoice question. Default: the project's own.
        top: Candidates offered on a page.
        elements: Elements of a page around its candidates at which it is cut.
        steps: Most actions of one trajectory.
        steps_per_unit: Most actions on one unit of a plan.
    """
    try:
        settings: dict[str, Any] = {
            "domain": "mind2web",
            "tasks": str(Path(tasks).expanduser().absolute()) if tasks else None,
            "seeds": seeds_from(seeds),
            "form": form,
            "shots": str(Path(shots).expanduser().absolute()) if shots else None,
            "top": top,
            "elements": elements,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        listed = domain_of(settings, Sampling()).tasks()
        chosen = [each for each in listed if category in (None, each.factors["task_type"])][:limit]
        if not chosen:
            kinds = sorted({str(each.factors["task_type"]) for each in listed})
            raise InputError(f"no task is of category {category!r}", hint=f"there are {', '.join(kinds)}")
    except PlanrouteError as error:
        raise PrerequisiteError(str(error)) from None
    return _task(settings, chosen, [success(), step_success(), order(), adherence()])


@task
def swebench(
    tasks: str | None = None,
    repos: str | None = None,
    envs: str | None = None,
    seeds: Any = 7,
    repo: str | None = None,
    limit: int | None = None,
    sandbox: str = "auto",
    command_seconds: float = 60.0,
    test_seconds: float = 1800.0,
    steps: int = 50,
    steps_per_unit: int = 20,
) -> Task:
    """Issues of software repositories, worked on in a sandbox of planroute's own.

    Args:
        tasks: File or folder of records. Default: the project's own.
        repos: Folder of git checkouts, or of source folders.
        envs: Folder of virtual environments. Default: envs in the folder of repos.
        seeds: One epoch for each of these, in this order.
        repo: Only issues of this repository, such as pallets/flask.
        limit: Only the first so many issues.
        sandbox: jail, docker, or auto.
        command_seconds: Most seconds of one command.
        test_seconds: Most seconds of a record's tests.
        steps: Most actions of one trajectory.
        steps_per_unit: Most actions on one unit of a plan.
    """
    try:
        folders = {"tasks": tasks, "repos": repos, "envs": envs}
        settings: dict[str, Any] = {
            "domain": "swebench",
            **{name: str(Path(path).expanduser().absolute()) if path else None for name, path in folders.items()},
            "seeds": seeds_from(seeds),
            "sandbox": sandbox,
            "command_seconds": command_seconds,
            "test_seconds": test_seconds,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        listed = domain_of(settings, Sampling()).tasks()
        chosen = [each for each in listed if repo in (None, each.factors["repo"])][:limit]
        if not chosen:
            names = sorted({str(each.factors["repo"]) for each in listed})
            raise InputError(f"no issue is of {repo!r}", hint=f"there are {', '.join(names)}")
    except PlanrouteError as error:
        raise PrerequisiteError(str(error)) from None
    return _task(settings, chosen, [success(), partial_success(), order(), adherence()])


@task
def webarena(
    tasks: str | None = None,
    storage: str | None = None,
    seeds: Any = 7,
    category: str | None = None,
    limit: int | None = None,
    page: int = 6000,
    steps: int = 30,
    steps_per_unit: int = 20,
) -> Task:
    """Tasks on live websites, judged by webarena-verified. The project's own tasks are no score on the benchmark.

    Args:
        tasks: File or folder of tasks. Default: the project's own, on its own sites.
        storage: Storage state with which one is signed in at the sites.
        seeds: One epoch for each of these, in this order.
        category: Only tasks of these sites and this kind, such as "shopping / navigate".
        limit: Only the first so many tasks.
        page: Characters of a page that are shown.
        steps: Most actions of one trajectory.
        steps_per_unit: Most actions on one unit of a plan.
    """
    try:
        settings: dict[str, Any] = {
            "domain": "webarena",
            "tasks": str(Path(tasks).expanduser().absolute()) if tasks else None,
            "storage": str(Path(storage).expanduser().absolute()) if storage else None,
            "seeds": seeds_from(seeds),
            "page": page,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        listed = domain_of(settings, Sampling()).tasks()
        chosen = [each for each in listed if category in (None, each.factors["task_type"])][:limit]
        if not chosen:
            kinds = sorted({str(each.factors["task_type"]) for each in listed})
            raise InputError(f"no task is of category {category!r}", hint=f"there are {', '.join(kinds)}")
    except PlanrouteError as error:
        raise PrerequisiteError(str(error)) from None
    return _task(settings, chosen, [success(), order(), adherence()])


def _task(settings: dict[str, Any], chosen: Sequence[PlanrouteTask], scorers: list[Scorer]) -> Task:
    """One sample for each of ``chosen``, routed by default, one epoch for each seed."""
    samples = [Sample(input=each.text, id=each.id, metadata={**each.factors, KEY: settings}) for each in chosen]
    return Task(
        dataset=MemoryDataset(samples, name=settings["domain"]),
        solver=routed(),
        scorer=scorers,
        epochs=Epochs(len(settings["seeds"]), "mean"),
    )
