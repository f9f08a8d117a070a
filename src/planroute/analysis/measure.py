"""What an analysis counts: success, or a cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from planroute.episode import EpisodeRow
from planroute.errors import InputError
from planroute.modes import DECLARED

COST: Final = "objective"
LATE_COST: Final = 1e4
"""What an episode that missed its deadline costs (cyber-physical paper, equation 6)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """``name`` is ``success`` or a metric; ``better`` says which way.

    With ``worlds`` a seed makes a world of its own, so that task and seed are one case, executed once; otherwise a seed
    is one more independent execution of its task.
    """

    name: str
    better: Literal["more", "less"] = "more"
    worlds: bool = False

    @property
    def side(self) -> float:
        """1 where more is better, -1 where less is."""
        return 1.0 if self.better == "more" else -1.0

    def of(self, row: EpisodeRow) -> float | None:
        """The value of an episode; ``None`` where the infrastructure broke it off, or nothing was executed.

        An episode that failed is no success; one that missed its deadline has ``LATE_COST``.
        """
        if row.status == "infrastructure" or row.condition.startswith(DECLARED):
            return None
        if self.name == "success":
            return float(bool(row.success))
        if self.name == COST and row.late_events:
            return LATE_COST
        value = row.metrics.get(self.name)
        return None if value is None else float(value)

    def case(self, row: EpisodeRow) -> str:
        """What an episode is one execution of."""
        if not self.worlds:
            return row.task
        return f"{row.task}, seed {row.seed}"


SUCCESS: Final = Measure("success")


def measure_of(
    rows: Sequence[EpisodeRow], name: str | None = None, better: Literal["more", "less"] | None = None
) -> Measure:
    """Return the measure of ``rows``: success where a referee tells of it, else the cost of the domain's objective.

    A metric of another ``name`` needs to be told which way is ``better``. Raises ``InputError`` where no row has it.
    """
    succeeded = any(row.success is not None for row in rows)
    if name is None:
        name = "success" if succeeded else COST
    if name == "success":
        if not succeeded:
            raise InputError("no episode has a success to analyse", hint=f"--measure {COST} --better less")
        if better == "less":
            raise InputError("less success is not better")
        return SUCCESS
    if all(row.metrics.get(name) is None for row in rows):
        known = sorted({key for row in rows for key, value in row.metrics.items() if value is not None})
        raise InputError(f"no episode has the metric {name!r}", hint=f"there are {', '.join(known)}")
    if better is None:
        if name != COST:
            raise InputError(f"--measure {name} needs --better more or --better less")
        better = "less"
    return Measure(name, better, worlds=not succeeded)
