"""What a study of one kind asks, and what its records come to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from planroute.errors import FaultyInput, InputError
from planroute.experiments.definition import Experiment, Interface
from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.records import Record
from planroute.experiments.setting import Setting

T = TypeVar("T")
P = TypeVar("P", bound=BaseModel)

Figures = dict[str, Any]


class Parameters(BaseModel):
    """Base of what one kind of study takes under ``with``."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Design:
    """One study: its calls for one model, in their order, and what is made of them.

    ``figures`` turns one model's records into that model's figures, ``summary`` the figures of all models into what
    they have in common. ``facts`` is what was fixed before any call. ``timed`` asks one call at a time, so that no
    latency holds waiting for calls of our own. ``cut`` says what is smaller or larger than the experiment's file says.
    """

    inquiries: Sequence[Inquiry]
    figures: Callable[[Sequence[Record]], Figures]
    summary: Callable[[Mapping[str, Figures]], Figures]
    facts: Figures = field(default_factory=dict)
    timed: bool = False
    cut: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def interface_of(experiment: Experiment) -> Interface:
    """The experiment's interface study. Raises ``InputError`` where it has none."""
    if experiment.interface is None:
        raise InputError(f"{experiment.id} studies no interface")
    return experiment.interface


def parameters(experiment: Experiment, kind: type[P]) -> P:
    """Read what stands under ``with``. Raises ``FaultyInput`` with every problem in it."""
    try:
        return kind.model_validate(dict(interface_of(experiment).with_))
    except ValidationError as error:
        faults = [f"with.{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise FaultyInput(f"experiment {experiment.id}", faults) from None


def day_seed(experiment: Experiment, setting: Setting) -> int:
    """The seed of the day whose states are shown: the first of the setting, or of the experiment."""
    return (setting.seeds or experiment.seeds)[0]


def draws_of(experiment: Experiment, setting: Setting) -> tuple[int, dict[str, dict[str, int]]]:
    """How often each question is asked, and the cut that this is."""
    planned = interface_of(experiment).draws
    draws = setting.draws if setting.draws is not None else planned
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    return draws, {} if draws == planned else {"draws": {"asked": draws, "of": planned}}


def some_of(things: Sequence[T], setting: Setting, what: str) -> tuple[list[T], dict[str, dict[str, int]]]:
    """As many of ``things`` as the setting's ``states`` allows, evenly spaced, and the cut that this is."""
    wanted, n = setting.states, len(things)
    if wanted is None or wanted >= n:
        return list(things), {}
    if wanted < 1:
        raise InputError(f"states must be at least 1, got {wanted}")
    places = [round(i * (n - 1) / max(wanted - 1, 1)) for i in range(wanted)]
    return [things[place] for place in places], {what: {"asked": wanted, "of": n}}
