"""What a sample carries so that a solver can open its domain and task again, in this process or another.

It stands in the sample's metadata under ``planroute``: ``domain``, ``seeds``, and what the domain's opener takes.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planroute.calls import Sampling
from planroute.errors import InputError
from planroute.protocols import Domain, Task

if TYPE_CHECKING:
    from planroute.domains.alfworld import Game
    from planroute.domains.mind2web import WebTask

Settings = Mapping[str, Any]


def seeds_from(given: Any) -> list[int]:
    """Read seeds as ``-T seeds=`` hands them over: a number, a list, or text such as ``7,13,42``.

    Raises ``InputError``.
    """
    parts = given.split(",") if isinstance(given, str) else given if isinstance(given, Sequence) else [given]
    try:
        seeds = [int(part) for part in parts]
    except (TypeError, ValueError):
        seeds = []
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"seeds={given!r}: not some different whole numbers", hint="-T seeds=7,13,42")
    return seeds


def seed_of(settings: Settings, epoch: int) -> int:
    """Return the seed of ``epoch``: the first seed for epoch 1, and so on; epochs beyond the list count on."""
    seeds = [int(seed) for seed in settings["seeds"]]
    return seeds[epoch - 1] if epoch <= len(seeds) else max(seeds) + epoch - len(seeds)


def domain_of(settings: Settings, sampling: Sampling) -> Domain:
    """Open the domain of ``settings``. Raises ``InputError`` where it is unknown here."""
    opener = OPENERS.get(str(settings.get("domain")))
    if opener is None:
        raise InputError(f"domain {settings.get('domain')!r} is unknown", hint=f"one of {', '.join(OPENERS)}")
    return opener(settings, sampling)


def task_of(domain: Domain, name: str) -> Task:
    """Return the task ``name`` of ``domain``. Raises ``InputError`` where it is not there any more."""
    for task in domain.tasks():
        if task.id == name:
            return task
    raise InputError(f"{domain.name} has no task {name!r}", hint="are the games still where they were?")


@lru_cache(maxsize=8)
def games_in(folder: str | None) -> "tuple[Game, ...]":
    """Read the games of ``folder`` once."""
    from planroute.domains.alfworld import find_games

    return tuple(find_games(Path(folder) if folder else None))


def _alfworld(settings: Settings, sampling: Sampling) -> Domain:
    from planroute.domains.alfworld.domain import AlfworldDomain
    from planroute.domains.text import Limits
    from planroute.evaluation.judges import RubricJudge

    limits = Limits(steps=int(settings["steps"]), steps_per_unit=int(settings["steps_per_unit"]))
    return AlfworldDomain(games_in(settings["games"]), RubricJudge("trajectory"), limits, sampling)


@lru_cache(maxsize=8)
def recorded_in(path: str | None) -> "tuple[WebTask, ...]":
    """Read the tasks of ``path`` once."""
    from planroute.domains.mind2web import find_tasks

    return find_tasks(Path(path) if path else None)


def _mind2web(settings: Settings, sampling: Sampling) -> Domain:
    from planroute.domains.mind2web.domain import opened
    from planroute.domains.text import Limits
    from planroute.evaluation.judges import RubricJudge

    return opened(
        recorded_in(settings["tasks"]),
        RubricJudge("trajectory"),
        Limits(steps=int(settings["steps"]), steps_per_unit=int(settings["steps_per_unit"])),
        sampling,
        form=str(settings["form"]),
        shots=Path(settings["shots"]) if settings["shots"] else None,
        top=int(settings["top"]),
        elements=int(settings["elements"]),
    )


def _swebench(settings: Settings, sampling: Sampling) -> Domain:
    from planroute.domains.swebench.domain import opened
    from planroute.domains.text import Limits
    from planroute.evaluation.judges import RubricJudge

    def folder(name: str) -> Path | None:
        return Path(settings[name]) if settings[name] else None

    return opened(
        RubricJudge("trajectory"),
        Limits(steps=int(settings["steps"]), steps_per_unit=int(settings["steps_per_unit"])),
        sampling,
        tasks=folder("tasks"),
        repos=folder("repos"),
        envs=folder("envs"),
        sandbox=str(settings["sandbox"]),
        command_seconds=float(settings["command_seconds"]),
        test_seconds=float(settings["test_seconds"]),
    )


def _webarena(settings: Settings, sampling: Sampling) -> Domain:
    from planroute.domains.text import Limits
    from planroute.domains.webarena.domain import opened
    from planroute.evaluation.judges import RubricJudge

    return opened(
        RubricJudge("trajectory"),
        Limits(steps=int(settings["steps"]), steps_per_unit=int(settings["steps_per_unit"])),
        sampling,
        tasks=Path(settings["tasks"]) if settings["tasks"] else None,
        storage=Path(settings["storage"]) if settings["storage"] else None,
        budget=int(settings["page"]),
    )


OPENERS: Final[dict[str, Callable[[Settings, Sampling], Domain]]] = {
    "alfworld": _alfworld,
    "mind2web": _mind2web,
    "swebench": _swebench,
    "webarena": _webarena,
}
"""How a domain is opened from a sample's settings, by name."""
