"""The four planning modes that an agent may declare, and the two baselines that plan in no mode.

Source: Planning-as-Routing, section 3.1 (patterns) and 3.2 (baselines).
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
    """Executors outside the four modes: no plan at all, or a plan that nothing enforces."""

    FLAT_REACT = "FLAT_REACT"
    PLAN_REACT = "PLAN_REACT"


MODES: Final[tuple[Mode, ...]] = tuple(Mode)
ROUTED: Final = "ROUTED"
"""The condition in which a declarer, not the experiment, chooses the mode."""
