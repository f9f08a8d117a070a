"""What the verifier answers, and what it needs to know of an action."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol


class Taken(Protocol):
    """One action of a trajectory, as the importers read it or a trace records it."""

    @property
    def index(self) -> int:
        """Its place in the trajectory, from 0; verdicts name actions by it."""

    @property
    def text(self) -> str:
        """What was done, in the environment's own words."""

    @property
    def observation(self) -> str:
        """What came back, or an excerpt of it."""

    @property
    def executed(self) -> bool:
        """False where the environment refused it or nothing happened."""


class Status(StrEnum):
    """What became of one unit of a plan."""

    COMPLETED = "completed"
    MISSING = "missing"
    OUT_OF_ORDER = "out_of_order"
    NOT_ACTIONABLE = "not_actionable"
    UNDECIDABLE = "undecidable"


SettledBy = Literal["matching", "dispatch", "not_applicable"]


@dataclass(frozen=True, slots=True)
class UnitVerdict:
    """One leaf of the plan: its status, the action that decided it, and why.

    ``needed`` is false for units that ask for nothing and for alternatives that were not taken.
    """

    unit: str
    text: str
    status: Status
    action: int | None = None
    reason: str = ""
    needed: bool = True


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where execution first leaves the plan: the unit, the action (``None`` at the end of the log), and why."""

    unit: str
    action: int | None
    why: str


@dataclass(frozen=True, slots=True)
class Loop:
    """Actions that repeat: from where, how many actions one round has, and how often it was run."""

    start: int
    period: int
    times: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one plan.

    ``order_preserved`` is the paper's criterion: every needed unit is matched to an action, in declared order. It is
    ``None`` where that cannot be told or does not apply. Where a dispatch record settles it, ``order_by_actions`` is
    what the same criterion says by the actions; elsewhere the two are equal. ``in_order`` looks only at what was
    carried out: true where no completed unit came out of order, however many are missing.
    ``planned`` counts actionable units, ``needed`` those without alternatives that were not taken, ``completed`` the
    needed ones that some action completes, in order or not.
    """

    order_preserved: bool | None
    settled_by: SettledBy
    units: tuple[UnitVerdict, ...] = ()
    first_divergence: Divergence | None = None
    in_order: bool | None = None
    planned: int = 0
    needed: int = 0
    completed: int = 0
    not_executed: tuple[int, ...] = ()
    loops: tuple[Loop, ...] = ()
    mode_agreement: bool | None = None
    order_by_actions: bool | None = None
    reason: str = ""
    lexicon: str = ""

    @property
    def plan_order_faithful(self) -> bool | None:
        """The paper's name for ``order_preserved``."""
        return self.order_preserved

    @property
    def adherence(self) -> float | None:
        """Completed units among the needed ones; ``None`` where none is needed."""
        return self.completed / self.needed if self.needed else None
