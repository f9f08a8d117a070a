"""What a selector may look at: the features of a scenario, its feature cell, and its stress group.

Source: cyber-physical paper, E7. Everything here is known before dispatch.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from planroute.errors import InputError
from planroute.selection.bank import FACTOR, Bank

TIGHTNESS: Final = "cap_tightness"
CAP: Final = "import_cap_mw"

FEATURES: Final = (TIGHTNESS, "r_pu", "forecast_noise", "deadline_s", "mean_resistance")
"""The prespecified features."""

STRESS_GROUP: Final = (CAP, "r_pu")
"""The columns whose combinations are the stress groups that cross-fitting holds out as a whole."""

NOMINAL_CAP_MW: Final = 1.1


@dataclass(frozen=True, slots=True)
class Settings:
    """How selectors are fitted and judged; the defaults are the prespecified ones.

    ``alpha`` is the ridge's penalty on standardised features, ``infeasible_cost`` what missing the deadline costs (the
    paper's 10⁴). ``group`` names the columns of a held-out group. ``draws`` and ``seed`` are the bootstrap's. Raises
    ``InputError`` where a value is out of its range.
    """

    features: Sequence[str] = FEATURES
    alpha: float = 10.0
    group: Sequence[str] = STRESS_GROUP
    infeasible_cost: float = 1e4
    draws: int = 5000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, values in (("features", self.features), ("group", self.group)):
            if not values or len(set(values)) != len(values):
                raise InputError(f"{name}: name at least one, and each once, not {', '.join(values) or 'nothing'}")
        if not (math.isfinite(self.alpha) and self.alpha > 0):
            raise InputError(f"alpha must be a number above 0, not {self.alpha:g}")
        if not (math.isfinite(self.infeasible_cost) and self.infeasible_cost >= 0):
            raise InputError(f"the cost of missing a deadline must be a number from 0, not {self.infeasible_cost:g}")
        if self.draws < 1 or self.seed < 0:
            raise InputError(f"draws must be at least 1 and the seed at least 0, not {self.draws} and {self.seed}")


PRESPECIFIED: Final = Settings()
"""The settings of the paper."""


def design(columns: Mapping[str, ArrayLike], features: Sequence[str]) -> NDArray[np.float64]:
    """Return the features of scenarios as a matrix, shape (n, features), in their own units.

    ``columns`` are those of a bank, shape (n,), or the values of one scenario. ``cap_tightness`` is the nominal cap of
    1.1 MW over ``import_cap_mw``: 1 at the nominal cap, more where less may be imported. The paper does not say how it
    measures tightness; with two caps every such measure is the same once standardised. Raises ``InputError`` where a
    feature is unknown or not a finite number everywhere.
    """
    return np.column_stack([_feature(columns, name) for name in features])


def _feature(columns: Mapping[str, ArrayLike], name: str) -> NDArray[np.float64]:
    name = name.removeprefix(FACTOR)
    if name == TIGHTNESS and name not in columns and CAP in columns:
        with np.errstate(divide="ignore"):
            return _finite(NOMINAL_CAP_MW / _feature(columns, CAP), name)
    extra = {TIGHTNESS} if CAP in columns else set()
    values = np.atleast_1d(np.asarray(_column(columns, name, "feature", extra)))
    try:
        return _finite(values.astype(np.float64), name)
    except (TypeError, ValueError):
        raise InputError(f"feature {name} is no number in every scenario") from None


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if not np.isfinite(values).all():
        raise InputError(f"feature {name} is not known in every scenario", hint="choose others with --features")
    return values


def _column(columns: Mapping[str, Any], name: str, role: str, extra: Collection[str] = ()) -> Any:
    if name not in columns:
        raise InputError(f"{role} {name!r} is not in the bank", hint=f"it has {', '.join(sorted({*columns, *extra}))}")
    return columns[name]


def labels(bank: Bank, names: Sequence[str]) -> NDArray[np.intp]:
    """Number scenarios by their combination of the columns ``names``, shape (n,); equal combinations, equal numbers.

    ``task`` and ``seed`` are columns too. Raises ``InputError`` where a column is unknown.
    """
    tasks, seeds = zip(*bank.scenarios, strict=True)
    columns = {**bank.columns, "task": np.array(tasks), "seed": np.array(seeds)}
    chosen = [_column(columns, name.removeprefix(FACTOR), "group column") for name in names]
    number: dict[tuple[str, ...], int] = {}
    keys = (tuple(map(str, values)) for values in zip(*chosen, strict=True))
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)
