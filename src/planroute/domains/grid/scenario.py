"""One scenario of the grid: feeder, limits, stress, noise, resistance, honesty, and who speaks to the prosumers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planroute.domains.grid.coefficients import DEFAULT, Coefficients
from planroute.domains.grid.feeder import Feeder, straight_laterals
from planroute.domains.grid.feeder_file import load_feeder
from planroute.domains.grid.numbers import shown
from planroute.domains.grid.profiles import HOURS
from planroute.errors import FaultyInput, InputError

Communication = Literal["calibrated", "model"]
Hour = Annotated[int, Field(ge=0, lt=HOURS)]


class Factors(BaseModel):
    """The values that experiments vary. Units: MW, pu, s; the rest are plain ratios."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    import_cap_mw: float = Field(DEFAULT.network.import_cap_mw, gt=0)
    voltage_floor_pu: float = Field(DEFAULT.network.voltage_floor_pu, gt=0.5, lt=1.1)
    r_pu: float = Field(DEFAULT.network.r_pu, gt=0, le=10)
    x_pu: float = Field(DEFAULT.network.x_pu, gt=0, le=10)
    stress: float = Field(1.0, ge=0, le=3)
    forecast_noise: float = Field(DEFAULT.planning.forecast_noise, ge=0, le=1)
    mean_resistance: float = Field(DEFAULT.response.mean_resistance, ge=0, le=1)
    honesty: float = Field(1.0, ge=0, le=1)
    tool_failure: float = Field(0.0, ge=0, le=1)
    intensity: float | None = Field(None, ge=0.2, le=1, description="shared by forced modes; null: the calibrated one")
    communication: Communication = "calibrated"
    model_hours: tuple[Hour, ...] | None = Field(None, description="hours with model messages; null: all")


@dataclass(frozen=True, slots=True)
class Scenario:
    """Factors with the feeder and the coefficients that they apply to.

    ``own_feeder`` is false for the paper's feeder, whose impedance is a factor.
    """

    factors: Factors
    feeder: Feeder
    coefficients: Coefficients = DEFAULT
    own_feeder: bool = False


@lru_cache(maxsize=64)
def default_feeder(r_pu: float, x_pu: float) -> Feeder:
    """Return the paper's feeder with the given impedance on every segment."""
    network = DEFAULT.network
    return straight_laterals(
        network.laterals, network.nodes_per_lateral, r_pu, x_pu, network.s_base_mva, network.v_head_pu
    )


def make_scenario(
    values: Mapping[str, Any] | None = None,
    *,
    feeder: Feeder | None = None,
    coefficients: Coefficients = DEFAULT,
    what: str = "scenario",
) -> Scenario:
    """Build a scenario from factor values. Raises ``FaultyInput`` about ``what`` with every problem at once."""
    try:
        factors = Factors.model_validate(dict(values or {}))
    except ValidationError as error:
        faults = [f"{_name(e['loc'])}: {_told(e['type'], e['msg'])}, got {shown(e['input'])}" for e in error.errors()]
        raise FaultyInput(what, faults) from None
    mixed = sorted({"r_pu", "x_pu"} & factors.model_fields_set) if feeder is not None else []
    if mixed:
        raise FaultyInput(what, [f"{name}: does not go with a feeder of one's own" for name in mixed])
    default = default_feeder(factors.r_pu, factors.x_pu)
    return Scenario(factors, feeder or default, coefficients, own_feeder=feeder is not None)


def _name(place: tuple[int | str, ...]) -> str:
    """The factor's name as it was given, fit to be shown."""
    return shown(".".join(map(str, place))).strip("'")


def _told(kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return message
    return f"there is no such factor (factors: {', '.join(Factors.model_fields)})"


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file: a JSON object of factors, and ``feeder``, the path of a feeder file beside it.

    Raises ``InputError`` where the file cannot be read and ``FaultyInput`` with every problem in it.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"scenario file {path}: {error.strerror or error}") from None
    except RecursionError:
        raise InputError(f"scenario file {path}: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"scenario file {path}: not JSON ({error})") from None
    if not isinstance(values, dict):
        raise InputError(f"scenario file {path}: must hold an object, holds {type(values).__name__}")
    feeder_file = values.pop("feeder", None)
    if feeder_file is not None and not (isinstance(feeder_file, str) and feeder_file):
        raise InputError(f"scenario file {path}: feeder must be a file name, got {shown(feeder_file)}")
    feeder = load_feeder(path.parent / feeder_file) if feeder_file else None
    return make_scenario(values, feeder=feeder, what=f"scenario file {path}")


def repaired(scenario: Scenario) -> Scenario:
    """Return ``scenario`` with the repaired allocation, in which unmet quota is handed back."""
    coefficients = scenario.coefficients
    return replace(
        scenario,
        coefficients=replace(coefficients, allocation=replace(coefficients.allocation, hand_back=True)),
    )


def voltage_leverage(feeder: Feeder) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return each node's voltage leverage, shape (nodes,): mean rise of V² over all nodes per MW less, largest = 1."""
    leverage = feeder.sensitivity.mean(axis=0)
    return np.asarray(np.abs(leverage) / np.abs(leverage).max())
