"""What an analysis gets: the experiment, the user's setting, the rows, and what was collected from traces."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planroute.episode import EpisodeRow
from planroute.errors import InputError
from planroute.experiments.definition import Analysis, Experiment
from planroute.experiments.setting import Setting

BOOTSTRAP_DRAWS = 5000
"""Draws of every bootstrap and permutation (cyber-physical paper, section IV)."""


Analyse = Callable[[Analysis, "Inputs"], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Rows of all conditions, and directive rows where the experiment collects them.

    ``analyse`` runs another analysis, for those that repeat the experiment's own. ``out`` is where an analysis that
    runs more episodes keeps them, ``advance`` tells their progress; ``draws`` are those of a bootstrap.
    """

    experiment: Experiment
    setting: Setting
    rows: Sequence[EpisodeRow]
    directives: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    out: Path | None = None
    advance: Callable[[int], None] | None = None
    source: str = ""
    analyse: "Analyse | None" = None
    draws: int = BOOTSTRAP_DRAWS

    def of(self, condition: str) -> list[EpisodeRow]:
        """The rows of one condition that count: the infrastructure has failed none of them."""
        return [row for row in self.rows if row.condition == condition and row.status != "infrastructure"]


def paired_values(
    first: Sequence[EpisodeRow], second: Sequence[EpisodeRow], value: Callable[[EpisodeRow], float | None]
) -> tuple[list[float], list[float], list[tuple[str, int]]]:
    """Values of both on every task and seed on which both have one, and those tasks and seeds."""
    theirs = {(row.task, row.seed): value(row) for row in second}
    a, b, keys = [], [], []
    for row in first:
        mine, other = value(row), theirs.get((row.task, row.seed))
        if mine is not None and other is not None:
            a.append(float(mine))
            b.append(float(other))
            keys.append((row.task, row.seed))
    return a, b, keys


def level_of(row: EpisodeRow, name: str) -> float:
    """The level of a factor in ``row``. Raises ``InputError`` where the row has no such number."""
    found = row.deadline_s if name == "deadline_s" else row.factors.get(name)
    if not isinstance(found, int | float):
        raise InputError(f"an analysis asks for the level of {name}, which the rows do not have")
    return float(found)
