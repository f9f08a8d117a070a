"""Selectors that were fitted on a bank: one ridge regression of cost for each mode, and the least predicted cost.

Source: cyber-physical paper, E7, equation (6).
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from planroute.errors import InputError, StorageError
from planroute.modes import MODES, Mode
from planroute.selection.bank import Bank
from planroute.selection.features import PRESPECIFIED, Settings, design

Kind = Literal["ridge", "constraint_aware"]
RIDGE: Final = "ridge"
CONSTRAINT_AWARE: Final = "constraint_aware"


class Regression(BaseModel):
    """Cost of one mode, linear in standardised features: intercept + Σ coefficient · (feature - mean) / scale."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    intercept: float
    coefficients: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[Annotated[float, Field(gt=0)], ...]

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return predicted costs, shape (n,), of ``features``, shape (n, features), in their own units."""
        standardised = (features - np.array(self.mean)) / np.array(self.scale)
        return np.asarray(self.intercept + standardised @ np.array(self.coefficients))


class LearnedSelector(BaseModel):
    """A fitted selector: what it needs to choose a mode, as plain numbers.

    ``ridge`` predicts the cost with the price of a missed deadline in it and chooses among all modes.
    ``constraint_aware`` predicts the cost alone and chooses among the feasible ones. A mode that was feasible in no
    scenario of the bank has no regression for ``constraint_aware``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    schema_version: Literal[1] = 1
    kind: Kind
    features: Annotated[tuple[str, ...], Field(min_length=1)]
    alpha: float
    infeasible_cost: float
    regressions: Annotated[Mapping[Mode, Regression], Field(min_length=1)]

    @model_validator(mode="after")
    def _lengths_agree(self) -> Self:
        for mode, one in self.regressions.items():
            if {len(one.coefficients), len(one.mean), len(one.scale)} != {len(self.features)}:
                raise ValueError(
                    f"{mode}: not one coefficient, mean and scale for each of {len(self.features)} features"
                )
        return self

    def predict(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return predicted costs, shape (n, modes), of a design, shape (n, features); infinite where none is fitted."""
        missing = np.full(len(features), np.inf)
        found = (self.regressions.get(mode) for mode in MODES)
        return np.column_stack([missing if one is None else one.predict(features) for one in found])

    def choices(self, features: NDArray[np.float64], feasible: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the chosen mode of each scenario as its index in ``MODES``, shape (n,).

        ``features`` is a design, shape (n, features), and ``feasible`` has shape (n, modes). Equal predictions go to
        the first mode in the table's order. ``constraint_aware`` never chooses an infeasible mode where there is a
        feasible one, even if that one has no regression; where no mode is feasible it chooses among all, and it is the
        gate's to refuse. ``ridge`` does not look at ``feasible``.
        """
        predicted = self.predict(features)
        if self.kind == RIDGE:
            return np.asarray(predicted.argmin(axis=1))
        allowed = feasible | ~feasible.any(axis=1, keepdims=True)
        # Finite stand-in, so that an allowed mode without a regression still goes before one that is not allowed.
        ranked = np.where(np.isfinite(predicted), predicted, np.finfo(np.float64).max)
        return np.asarray(np.where(allowed, ranked, np.inf).argmin(axis=1))

    def choose(self, features: Mapping[str, ArrayLike], feasible: Collection[Mode] = MODES) -> Mode:
        """Return the mode for one scenario, given its values by name and the modes that keep its deadline.

        The names are those of a bank's columns, such as ``import_cap_mw`` and ``deadline_s``. Raises ``InputError``
        where one that the selector needs is missing or no number.
        """
        can = np.array([[mode in feasible for mode in MODES]])
        return MODES[int(self.choices(design(features, self.features), can)[0])]

    def save(self, path: Path | str) -> None:
        """Write the selector as JSON. Raises ``StorageError`` where that fails."""
        try:
            Path(path).write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise StorageError(f"selector {path}: {error.strerror or error}") from None

    @classmethod
    def load(cls, path: Path | str) -> "LearnedSelector":
        """Read a selector that ``save`` wrote. Raises ``InputError`` where there is none or it is damaged."""
        try:
            return cls.model_validate_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"selector {path}: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise InputError(f"selector {path} is no text") from None
        except ValidationError as error:
            faults = [".".join(map(str, fault["loc"])) + f": {fault['msg']}" for fault in error.errors()]
            more = f"; and {len(faults) - 3} more" if len(faults) > 3 else ""
            raise InputError(f"selector {path}: {'; '.join(faults[:3])}{more}", hint="fit it again") from None


def fit(bank: Bank, kind: Kind, settings: Settings = PRESPECIFIED) -> LearnedSelector:
    """Fit one ridge for each mode on ``bank``, on features standardised over the rows that it is fitted on.

    ``ridge`` is fitted on every scenario and learns C = J + infeasible cost · [infeasible] (equation 6);
    ``constraint_aware`` learns J from the scenarios in which the mode is feasible. Raises ``InputError`` where a
    feature is unknown or the bank has no scenario with a feasible mode.
    """
    features = design(bank.columns, settings.features)
    if kind == RIDGE:
        target, used = bank.cost + settings.infeasible_cost * ~bank.feasible, np.ones_like(bank.feasible)
    else:
        target, used = bank.cost, bank.feasible
    if not used.any():
        raise InputError("no mode is feasible in any scenario of the bank, so there is nothing to learn from")
    regressions: dict[Mode, Regression] = {}
    for mask in np.unique(used[:, used.any(axis=0)], axis=1).T:
        alike = np.flatnonzero((used == mask[:, None]).all(axis=0))
        fitted = _regressions(features[mask], target[mask][:, alike], settings.alpha)
        regressions |= {MODES[k]: one for k, one in zip(alike, fitted, strict=True)}
    return LearnedSelector(
        kind=kind,
        features=tuple(settings.features),
        alpha=settings.alpha,
        infeasible_cost=settings.infeasible_cost,
        regressions={mode: regressions[mode] for mode in MODES if mode in regressions},
    )


def _regressions(features: NDArray[np.float64], targets: NDArray[np.float64], alpha: float) -> Iterator[Regression]:
    """One ridge for each column of ``targets``, shape (n, modes), all on the same rows."""
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(features)
    ridge = Ridge(alpha=alpha).fit(scaler.transform(features), targets)
    coefficients, intercepts = np.atleast_2d(ridge.coef_), np.atleast_1d(ridge.intercept_)
    for intercept, row in zip(intercepts, coefficients, strict=True):
        yield Regression(
            intercept=float(intercept),
            coefficients=_numbers(row),
            mean=_numbers(scaler.mean_),
            scale=_numbers(scaler.scale_),
        )


def _numbers(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
