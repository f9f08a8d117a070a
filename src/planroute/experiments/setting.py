"""What a user chooses for an experiment beside its file: seeds, communication, models, factors, workers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from planroute.calls import Sampling
from planroute.errors import InputError
from planroute.experiments.definition import Experiment
from planroute.protocols import Model
from planroute.runs.cells import identity
from planroute.runs.execute import package_version
from planroute.runs.manner import Manner
from planroute.runs.runner import Local

Communication = Literal["calibrated", "model"]


@dataclass(frozen=True, slots=True)
class Setting:
    """The choices of one execution.

    ``seeds`` and ``factors`` replace the experiment's own. ``models`` maps a name in tables to a model; experiments
    with episodes use the first, interface studies all of them. ``model_hours`` are the hours with model messages, all
    if ``None``. ``draws`` and ``states`` cut an interface study to a slice, ``fresh_triples`` is how many sets of newly
    drawn seeds an analysis runs. Neither ``workers`` nor ``manner`` changes a result.
    """

    seeds: tuple[int, ...] | None = None
    communication: Communication = "calibrated"
    models: Mapping[str, Model] = field(default_factory=dict)
    sampling: Sampling = Sampling()
    factors: Mapping[str, Any] = field(default_factory=dict)
    model_hours: tuple[int, ...] | None = None
    draws: int | None = None
    states: int | None = None
    fresh_triples: int | None = None
    workers: int = 2
    manner: Manner = Manner()

    @property
    def concurrency(self) -> int:
        """The most calls or episodes at once."""
        return self.manner.concurrency

    @property
    def model_name(self) -> str | None:
        """The name of the model that episodes use."""
        return next(iter(self.models), None)

    @property
    def model(self) -> Model | None:
        """The model that episodes use."""
        return next(iter(self.models.values()), None)

    def facts(self) -> dict[str, Any]:
        """All that can change a result, as JSON values."""
        return {
            "seeds": self.seeds,
            "communication": self.communication,
            "models": {name: model.endpoint for name, model in self.models.items()},
            "sampling": repr(self.sampling) if self.models else None,
            "factors": dict(self.factors),
            "model_hours": self.model_hours,
            "draws": self.draws,
            "states": self.states,
            "fresh_triples": self.fresh_triples,
        }


def check_runner(experiment: Experiment, setting: Setting) -> None:
    """Raise ``InputError`` where ``setting`` has a runner of episodes elsewhere and ``experiment`` has no episodes."""
    if experiment.interface is not None and not isinstance(setting.manner.runner, Local):
        raise InputError(
            f"{experiment.id} asks single questions of a model and has no episodes for other machines",
            hint="run it with --runner local, in a command of its own",
        )


def study_identity(experiment: Experiment, setting: Setting) -> str:
    """Hash everything that can change the result of ``experiment`` under ``setting``: also the package's source."""
    return identity(
        {
            "planroute": package_version(),
            "source": source_digest(),
            "experiment": experiment.model_dump(mode="json"),
            "setting": setting.facts(),
        }
    )


@cache
def source_digest() -> str:
    """SHA-256 over the package's own Python source: a result of other code is never taken for this one's."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
