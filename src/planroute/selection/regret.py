"""Regret against the best feasible mode, who that is, and the least regret that feature cells allow.

Source: cyber-physical paper, equations (5) and (6), section V-F.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planroute.modes import MODES, Mode
from planroute.selection.bank import Bank
from planroute.selection.features import Settings, design
from planroute.statistics import oracle_shares

TOLERANCE = 1e-9
"""Costs that differ by no more are tied."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """Which modes have the least cost among the feasible ones.

    ``membership`` counts the scenarios in which a mode is among the best, so that ties count for each of them;
    ``split`` gives each of k tied modes 1/k, and adds up to the number of scenarios. ``ties`` counts tied scenarios.
    """

    membership: Mapping[Mode, int]
    split: Mapping[Mode, float]
    ties: int


def least_costs(bank: Bank) -> NDArray[np.float64]:
    """Return the least cost among feasible modes, shape (n,); infinite where there is none."""
    return np.asarray(np.where(bank.feasible, bank.cost, np.inf).min(axis=1))


def oracle_members(bank: Bank) -> NDArray[np.bool_]:
    """Return whether a mode is among the best feasible ones, shape (n, modes)."""
    return np.asarray(bank.feasible & (bank.cost <= least_costs(bank)[:, None] + TOLERANCE))


def oracle_of(bank: Bank) -> Oracle:
    """Return how often each mode is the best; scenarios without a feasible mode count for none."""
    found = oracle_shares(bank.cost, bank.feasible, TOLERANCE)
    return Oracle(dict(zip(MODES, found.members, strict=True)), dict(zip(MODES, found.split, strict=True)), found.ties)


def penalised(bank: Bank, infeasible_cost: float) -> NDArray[np.float64]:
    """Return C = J + infeasible cost · [infeasible] (equation 6), shape (n, modes)."""
    return np.asarray(bank.cost + infeasible_cost * ~bank.feasible)


def regrets(bank: Bank, chosen: NDArray[np.intp], infeasible_cost: float) -> NDArray[np.float64]:
    """Return C of the chosen modes, indices in ``MODES``, above the least J of the feasible ones, shape (n,)."""
    return np.asarray(penalised(bank, infeasible_cost)[np.arange(len(bank)), chosen] - least_costs(bank))


def cell_choices(bank: Bank, settings: Settings) -> NDArray[np.intp]:
    """Return the best mode by feature cell, in hindsight, as indices in ``MODES``, shape (n,).

    A cell holds the scenarios with equal features and equal feasible modes; they share one choice, that of least mean
    cost. No selector that sees nothing else can have less regret on the same scenarios: an optimistic reference. With
    the prespecified features the feasible modes follow from the deadline, and the cells are those of the features.
    """
    cells = np.column_stack([design(bank.columns, settings.features), bank.feasible])
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    totals = np.zeros((int(cell.max()) + 1, len(MODES)))
    np.add.at(totals, cell, penalised(bank, settings.infeasible_cost))
    return np.asarray(totals.argmin(axis=1)[cell])
