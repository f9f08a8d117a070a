"""What an experiment file holds: factors, arms, seeds, analyses, tables, figures, and the paper's values.

An experiment is one TOML file. Everything that can be said without code stands there; ``analyses`` and ``figures``
name kinds of calculation and drawing that the package knows, with their parameters.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from planroute.errors import FaultyInput, InputError
from planroute.modes import MODES, Baseline, Mode

Value = str | int | float | bool | None
Seed = Annotated[int, Field(ge=0, lt=2**63)]
RUN_LEVELS = ("deadline_s",)
"""Factors of the run and not of the scenario."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Arm(_Part):
    """A routed condition: who declares, and whether the gate stands before the router.

    ``prior_only`` lets the hybrid run on its deterministic prior, with all shifts zero, where there is no model.
    """

    condition: str = Field(pattern=r"^[A-Z][A-Z_]*$")
    declarer: Literal["natural", "hybrid"]
    gated: bool = False
    prior_only: bool = False

    @model_validator(mode="after")
    def _natural_has_no_prior(self) -> "Arm":
        if self.condition in {*MODES, *Baseline}:
            raise ValueError(f"{self.condition} is the name of a forced mode or a baseline")
        if self.prior_only and self.declarer != "hybrid":
            raise ValueError("prior_only goes with the hybrid declarer")
        return self


class Analysis(_Part):
    """One calculation on the experiment's rows, by its kind; ``with`` are the kind's parameters."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: str
    with_: Mapping[str, Any] = Field(default_factory=dict, alias="with")


class Claim(_Part):
    """One number that the paper prints, where it stands, and where ours stands in the result.

    ``tuned`` marks figures on which the calibration was fitted, ``setting`` what the paper gives and is taken over,
    ``context`` a value of a model that we do not run: it is printed beside ours and never judged. Close is within
    ``tolerance`` of the paper's value, or with the paper's value inside our interval; ``absolute`` widens it near
    zero. ``ours`` is a path of names joined by ``/``; ``fresh`` one to how far ours moves on fresh seeds, where the
    replication does not tell.
    """

    what: str
    where: str
    paper: float
    interval: tuple[float, float] | None = None
    ours: str
    fresh: str = ""
    tuned: bool = False
    context: bool = False
    setting: bool = False
    tolerance: float = Field(0.10, ge=0)
    absolute: float = Field(0.0, ge=0)
    note: str = ""


class Direction(_Part):
    """A statement that must hold: our values ascend in the order given, or one stays on its side of a bound.

    Where the experiment replicates itself, it is judged there too; ``what`` names it.
    """

    what: str
    where: str
    ascending: tuple[str, ...] = ()
    ours: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> "Direction":
        bounded = self.ours is not None and (self.at_least, self.at_most) != (None, None)
        if bounded == bool(self.ascending):
            raise ValueError("give either ascending, or ours with at_least or at_most")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """The values that it is about."""
        return self.ascending or ((self.ours,) if self.ours else ())


class Figure(_Part):
    """One drawing, by its kind, under the paper's number."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: str
    caption: str
    with_: Mapping[str, Any] = Field(default_factory=dict, alias="with")


class Table(_Part):
    """One table: a row for each condition (or level of ``rows``), a column for each metric."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    caption: str
    rows: Literal["conditions", "levels"] = "conditions"
    columns: tuple[str, ...]


class Interface(_Part):
    """A study of a language-model interface without any episode: planner-visible states and repeated calls."""

    kind: Literal["probe", "declarations", "advice", "messages", "latency"]
    stress: tuple[float, ...] = ()
    hours: tuple[int, ...] = ()
    draws: int = Field(1, ge=1)
    with_: Mapping[str, Any] = Field(default_factory=dict, alias="with")


class Experiment(_Part):
    """One experiment. ``levels`` are crossed: each combination is one scenario, run by every condition and seed."""

    id: str = Field(pattern=r"^[A-Z]+[0-9]+$")
    title: str
    question: str
    source: str
    domain: Literal["grid"] = "grid"
    seeds: tuple[Seed, ...] = Field(min_length=1)
    levels: Mapping[str, tuple[Value, ...]] = Field(default_factory=dict)
    fixed: Mapping[str, Value] = Field(default_factory=dict)
    forced: tuple[Mode, ...] = ()
    arms: tuple[Arm, ...] = ()
    interface: Interface | None = None
    directives: bool = False
    metrics: tuple[str, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    claims: tuple[Claim, ...] = ()
    directions: tuple[Direction, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_whole(self) -> "Experiment":
        names = [*self.forced, *(arm.condition for arm in self.arms)]
        if len(set(names)) < len(names):
            raise ValueError("every condition is given once")
        if bool(names) == (self.interface is not None):
            raise ValueError("give either conditions (forced, arms) or an interface")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError("every seed is given once")
        if empty := [name for name, values in self.levels.items() if not values]:
            raise ValueError(f"levels without a value: {', '.join(empty)}")
        for name, values in self.levels.items():
            if len(set(values)) < len(values):
                raise ValueError(f"{name} has a level twice")
        if both := sorted(set(self.levels) & set(self.fixed)):
            raise ValueError(f"both a level and fixed: {', '.join(both)}")
        for what, parts in (("analysis", self.analyses), ("figure", self.figures), ("table", self.tables)):
            if len({part.name for part in parts}) < len(parts):
                raise ValueError(f"every {what} has a name of its own")
        if len({direction.what for direction in self.directions}) < len(self.directions):
            raise ValueError("every direction has words of its own")
        return self

    def combinations(self) -> list[dict[str, Value]]:
        """Every combination of levels, the last name varying fastest; one empty one without levels."""
        return [dict(zip(self.levels, values, strict=True)) for values in product(*self.levels.values())]


def available() -> list[str]:
    """Names of the experiments that the package carries, such as ``E1``."""
    found = [entry.name for entry in _folder().iterdir() if re.fullmatch(r"[em]\d+\.toml", entry.name)]
    return sorted((name.removesuffix(".toml").upper() for name in found), key=lambda name: (name[0], int(name[1:])))


def load_experiment(name: str) -> Experiment:
    """Return the experiment called ``name`` (any case), or the one in the TOML file of that path.

    Raises ``InputError`` where there is none or the file cannot be read, ``FaultyInput`` with every problem in it.
    """
    if name.upper() in available():
        return _carried(name.upper())
    if not name.lower().endswith(".toml"):
        raise InputError(
            f"there is no experiment {name!r}", hint=f"choose from {', '.join(available())}, all, or a .toml file"
        )
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"experiment file {path}: {getattr(error, 'strerror', None) or error}") from None
    return _parse(text, f"experiment file {path}")


@cache
def _carried(name: str) -> Experiment:
    return _parse((_folder() / f"{name.lower()}.toml").read_text(encoding="utf-8"), f"experiment {name}")


def _folder() -> Any:
    return files("planroute.experiments") / "definitions"


def _parse(text: str, what: str) -> Experiment:
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{what}: nested too deeply") from None
    except ValueError as error:  # also a number with too many digits
        raise InputError(f"{what}: not TOML ({error})") from None
    try:
        return Experiment.model_validate(_spread(values))
    except ValidationError as error:
        raise FaultyInput(
            what, [f"{'.'.join(map(str, e['loc'])) or 'experiment'}: {e['msg']}" for e in error.errors()]
        ) from None


def _spread(values: Mapping[str, Any]) -> dict[str, Any]:
    """``forced = "all"`` means every mode."""
    return {**values, "forced": list(MODES)} if values.get("forced") == "all" else dict(values)


__all__: Sequence[str] = (
    "Analysis",
    "Arm",
    "Claim",
    "Direction",
    "Experiment",
    "Figure",
    "Interface",
    "Table",
    "available",
    "load_experiment",
)
