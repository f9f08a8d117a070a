"""The four planning modes that an agent may declare, and the baselines and the control that plan in no mode.

Source: Planning-as-Routing, section 3.1 (patterns), 3.2 (baselines) and appendix I.1 (control for search).
"""

from enum import StrEnum
from typing import Final


class Mode(StrEnum):
    """How an agent says it will plan. Each mode has exactly one executor."""

    PREDEFINED = "PREDEFINED"
    SEQUENTIAL = "SEQUENTIAL"
    HIERARCHICAL = "HIERARCHICAL"
    SEARCH = "SEARCH"


class Baseline(StrEnum):
    """Executors outside the four modes: no plan at all, a plan that nothing enforces, or several attempts without one.

    ``REPEATED_REACT`` is the control for search: as many attempts, the same judge, and no plans.
    """

    FLAT_REACT = "FLAT_REACT"
    PLAN_REACT = "PLAN_REACT"
    REPEATED_REACT = "REPEATED_REACT"


UNPLANNED: Final = frozenset({Baseline.FLAT_REACT, Baseline.REPEATED_REACT})
"""The baselines for which nothing is declared."""
MODES: Final[tuple[Mode, ...]] = tuple(Mode)
SIX: Final[tuple[str, ...]] = (Baseline.FLAT_REACT, Baseline.PLAN_REACT, *MODES)
"""The conditions that are compared everywhere; the control for search is asked for beside them."""
DECLARED: Final = "DECLARED_"
"""What the names of conditions begin with in which a mode is declared and nothing is executed."""
ROUTED: Final = "ROUTED"
"""The condition in which a declarer, not the experiment, chooses the mode."""
