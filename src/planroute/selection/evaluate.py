"""Selectors against fixed modes and the oracle: regret out of the stress group that is judged, with intervals.

Source: cyber-physical paper, E7, section V-F. Choices of the project's own are said where they are made.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from planroute.errors import InputError
from planroute.modes import MODES, Mode
from planroute.selection.bank import Bank
from planroute.selection.features import PRESPECIFIED, Settings, design, labels
from planroute.selection.learned import CONSTRAINT_AWARE, RIDGE, Kind, fit
from planroute.selection.regret import Oracle, cell_choices, oracle_members, oracle_of, regrets
from planroute.statistics import bootstrap_interval, paired_bootstrap, share_of_gap_closed


@dataclass(frozen=True, slots=True)
class Value:
    """How much less regret a selector has than a fixed mode: mean over scenarios and its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One selector over its scenarios.

    Regret is in units of cost. ``mean_regret_feasible`` is the mean over the scenarios in which the chosen mode keeps
    the deadline, ``None`` where it never does. ``oracle_rate`` is the share of scenarios in which the choice is one of
    the best feasible modes. ``chosen`` (indices in ``MODES``) and ``regret`` hold each scenario, shape (n,).
    """

    scenarios: int
    mean_regret: float
    interval: tuple[float, float]
    value_vs_fixed_sequential: Value
    oracle_rate: float
    choices: Mapping[Mode, int]
    infeasible_choices: int
    mean_regret_feasible: float | None
    value_vs_fixed_search: Value | None
    chosen: NDArray[np.intp] = field(repr=False)
    regret: NDArray[np.float64] = field(repr=False)

    def as_dict(self, bank: Bank | None = None) -> dict[str, Any]:
        """Return JSON values; with the bank that it was judged on, ``per_scenario`` too."""
        table = asdict(self)
        chosen, regret = table.pop("chosen"), table.pop("regret")
        if self.value_vs_fixed_search is None:
            del table["value_vs_fixed_search"]
        if bank is not None:
            table["per_scenario"] = [
                {"task": task, "seed": seed, "choice": MODES[k], "feasible": bool(can[k]), "regret": float(r)}
                for (task, seed), k, can, r in zip(bank.scenarios, chosen, bank.feasible, regret, strict=True)
            ]
        return table


@dataclass(frozen=True, slots=True)
class Selection:
    """What came of judging selectors on a bank.

    ``all_feasible`` is ``None`` where scenarios in which every mode is feasible do not span two held-out groups.
    ``floor`` is the mean regret of the best mode by feature cell. ``gap_closed`` is the share of the gap from fixed
    sequential to the floor that ``constraint_aware`` closes, ``None`` where there is no gap.
    ``without_feasible_mode`` counts scenarios in which no mode keeps the deadline: they pose no choice and are left
    out, of fitting too.
    """

    ridge: Judged
    constraint_aware: Judged
    all_feasible: Judged | None
    fixed: Mapping[Mode, Judged]
    floor: float
    gap_closed: float | None
    oracle: Oracle
    groups: int
    without_feasible_mode: int
    settings: Settings
    bank: Bank = field(repr=False)

    def as_dict(self, *, per_scenario: bool = False) -> dict[str, Any]:
        """Return JSON values; ``per_scenario`` adds each selector's choice and regret in each scenario."""
        bank = self.bank if per_scenario else None
        every = self.bank.take(self.bank.all_feasible) if per_scenario else None
        return {
            "ridge": self.ridge.as_dict(bank),
            "constraint_aware": self.constraint_aware.as_dict(bank),
            "all_feasible": None if self.all_feasible is None else self.all_feasible.as_dict(every),
            "fixed": {mode: judged.as_dict(bank) for mode, judged in self.fixed.items()},
            "floor": self.floor,
            "gap_closed": self.gap_closed,
            "oracle": asdict(self.oracle),
            "scenarios": len(self.bank),
            "groups": self.groups,
            "without_feasible_mode": self.without_feasible_mode,
            "settings": asdict(self.settings),
        }


def evaluate(bank: Bank, settings: Settings = PRESPECIFIED) -> Selection:
    """Judge the selectors, the fixed modes and the floor on ``bank``.

    ``ridge`` is the prespecified selector, ``constraint_aware`` the secondary one; both are cross-fitted.
    ``all_feasible`` is the constraint-aware selector fitted and judged on the scenarios in which all modes are
    feasible, and on nothing else. The paper does not say that it was fitted anew, but its figures do: its
    constraint-aware selector picks search in 72 scenarios, which are all that are all-feasible, so its value against
    fixed search there is 0; the printed one is -18.50.

    The paper's selectors never choose an infeasible mode, so it does not say what such a choice costs. Here regret is
    the cost C of equation (6), infeasible cost included, above the least J of the feasible modes: a missed deadline is
    never cheap, and no regret is negative. ``infeasible_choices`` counts them.

    Intervals resample scenarios under choices that are held fixed. Folds share what they learnt from, so of nominal
    95 % intervals about 93 % hold zero where no feature tells and no mode is better (2,000 simulated banks of the
    paper's shape).

    Raises ``InputError`` where there are fewer than two groups to hold out, or a feature or column is unknown.
    """
    kept = bank.take(bank.routable)
    if not len(kept):
        raise InputError("no mode is feasible in any scenario of the bank, so there is nothing to select")
    groups = labels(kept, settings.group)
    count = len(set(groups))
    if count < 2:
        raise InputError(
            f"the bank has one group of {' and '.join(settings.group)} only, and none is left to learn from",
            hint="name other columns with --group",
        )
    judge = partial(_judge, settings=settings)
    constraint_aware = judge(kept, cross_fitted(kept, CONSTRAINT_AWARE, settings))
    fixed = {mode: judge(kept, _always(mode, kept)) for mode in MODES}
    floor = float(regrets(kept, cell_choices(kept, settings), settings.infeasible_cost).mean())
    return Selection(
        ridge=judge(kept, cross_fitted(kept, RIDGE, settings)),
        constraint_aware=constraint_aware,
        all_feasible=_all_feasible(kept, settings),
        fixed=fixed,
        floor=floor,
        gap_closed=share_of_gap_closed(fixed[Mode.SEQUENTIAL].mean_regret, constraint_aware.mean_regret, floor),
        oracle=oracle_of(kept),
        groups=count,
        without_feasible_mode=len(bank) - len(kept),
        settings=settings,
        bank=kept,
    )


def cross_fitted(bank: Bank, kind: Kind, settings: Settings = PRESPECIFIED) -> NDArray[np.intp]:
    """Return the modes that a selector of ``kind`` chooses, as indices in ``MODES``, shape (n,).

    Each stress group is chosen for by a selector that was fitted on the others, standardisation included.
    """
    from sklearn.model_selection import LeaveOneGroupOut

    features = design(bank.columns, settings.features)
    chosen = np.zeros(len(bank), dtype=np.intp)
    for learn, held_out in LeaveOneGroupOut().split(features, groups=labels(bank, settings.group)):
        selector = fit(bank.take(learn), kind, settings)
        chosen[held_out] = selector.choices(features[held_out], bank.feasible[held_out])
    return chosen


def _all_feasible(bank: Bank, settings: Settings) -> Judged | None:
    subset = bank.take(bank.all_feasible)
    if not len(subset) or len(set(labels(subset, settings.group))) < 2:
        return None
    return _judge(subset, cross_fitted(subset, CONSTRAINT_AWARE, settings), settings, against_search=True)


def _always(mode: Mode, bank: Bank) -> NDArray[np.intp]:
    return np.full(len(bank), MODES.index(mode))


def _judge(bank: Bank, chosen: NDArray[np.intp], settings: Settings, *, against_search: bool = False) -> Judged:
    regret = regrets(bank, chosen, settings.infeasible_cost)
    can = bank.feasible[np.arange(len(bank)), chosen]

    draws: dict[str, Any] = {"name": "selection", "seed": settings.seed, "draws": settings.draws}

    def value(mode: Mode) -> Value:
        fixed = regrets(bank, _always(mode, bank), settings.infeasible_cost)
        found = paired_bootstrap(fixed, regret, **draws)
        return Value(cast(float, found.difference), cast(float, found.low), cast(float, found.high))

    # Two groups are two scenarios at least, so every interval is defined.
    interval = bootstrap_interval(regret, **draws)
    return Judged(
        scenarios=len(bank),
        mean_regret=float(regret.mean()),
        interval=(cast(float, interval.low), cast(float, interval.high)),
        value_vs_fixed_sequential=value(Mode.SEQUENTIAL),
        oracle_rate=float(oracle_members(bank)[np.arange(len(bank)), chosen].mean()),
        choices={mode: int((chosen == k).sum()) for k, mode in enumerate(MODES)},
        infeasible_choices=int((~can).sum()),
        mean_regret_feasible=float(regret[can].mean()) if can.any() else None,
        value_vs_fixed_search=value(Mode.SEARCH) if against_search else None,
        chosen=chosen,
        regret=regret,
    )
