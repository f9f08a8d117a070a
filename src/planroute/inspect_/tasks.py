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
from planroute.inspect_.settings import domain_of, seeds_from
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
        settings: dict[str, Any] = {
            "domain": "alfworld",
            "games": _absolute(games or os.environ.get("ALFWORLD_DATA")),
            "seeds": seeds_from(seeds),
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        chosen = _chosen(settings, "task_type", task_type, limit, "no game is of type")
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
            "tasks": _absolute(tasks),
            "seeds": seeds_from(seeds),
            "form": form,
            "shots": _absolute(shots),
            "top": top,
            "elements": elements,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        chosen = _chosen(settings, "task_type", category, limit, "no task is of category")
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
        settings: dict[str, Any] = {
            "domain": "swebench",
            "tasks": _absolute(tasks),
            "repos": _absolute(repos),
            "envs": _absolute(envs),
            "seeds": seeds_from(seeds),
            "sandbox": sandbox,
            "command_seconds": command_seconds,
            "test_seconds": test_seconds,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        chosen = _chosen(settings, "repo", repo, limit, "no issue is of")
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
            "tasks": _absolute(tasks),
            "storage": _absolute(storage),
            "seeds": seeds_from(seeds),
            "page": page,
            "steps": steps,
            "steps_per_unit": steps_per_unit,
        }
        chosen = _chosen(settings, "task_type", category, limit, "no task is of category")
    except PlanrouteError as error:
        raise PrerequisiteError(str(error)) from None
    return _task(settings, chosen, [success(), order(), adherence()])


def _absolute(path: str | None) -> str | None:
    """A path that stays the same wherever a later process starts."""
    return str(Path(path).expanduser().absolute()) if path else None


def _chosen(
    settings: dict[str, Any], factor: str, value: str | None, limit: int | None, none: str
) -> list[PlanrouteTask]:
    """The first ``limit`` tasks whose ``factor`` is ``value``, or of all. Raises ``InputError``, ``none`` and why."""
    listed = domain_of(settings, Sampling()).tasks()
    chosen = [each for each in listed if value in (None, each.factors[factor])][:limit]
    if not chosen:
        known = sorted({str(each.factors[factor]) for each in listed})
        raise InputError(f"{none} {value!r}", hint=f"there are {', '.join(known)}")
    return chosen


def _task(settings: dict[str, Any], chosen: Sequence[PlanrouteTask], scorers: list[Scorer]) -> Task:
    """One sample for each of ``chosen``, routed by default, one epoch for each seed."""
    samples = [Sample(input=each.text, id=each.id, metadata={**each.factors, KEY: settings}) for each in chosen]
    return Task(
        dataset=MemoryDataset(samples, name=settings["domain"]),
        solver=routed(),
        scorer=scorers,
        epochs=Epochs(len(settings["seeds"]), "mean"),
    )
