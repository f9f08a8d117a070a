"""How well located failures agree with gold labels, beside what no look at the log would reach.

Accuracy of the agent, of the turn, and of the turn within one and three, each a share with its Wilson interval. The
baselines: always the first turn of an agent, always the last, and a turn drawn evenly among those of agents, for which
the expected value is exact and no draw is made.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planroute.evaluation.location import Location, Turn
from planroute.statistics import wilson

MEASURES: Final = ("agent", "step", "within_1", "within_3")
WITHIN: Final = {"step": 0, "within_1": 1, "within_3": 3}
"""Turns by which a place may be off, for each measure of places."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One log with its gold label and where its failure was located; ``None`` where that could not be told."""

    turns: Sequence[Turn]
    agent: str
    step: int
    located: Location | None


def hits(case: Labelled, agent: str, step: int) -> dict[str, bool]:
    """Which measures count ``agent`` and ``step`` as right. Names of agents are compared without regard to case."""
    right = agent.strip().lower() == case.agent.strip().lower()
    return {"agent": right} | {name: abs(step - case.step) <= room for name, room in WITHIN.items()}


def scores(cases: Sequence[Labelled]) -> dict[str, dict[str, Any]]:
    """Return the accuracies of the locator over ``cases`` and those of the baselines, by name and measure.

    A case that was not located counts as wrong. Shares of nothing are ``None``.
    """
    named: dict[str, Callable[[Labelled], tuple[str, int] | None]] = {
        "located": lambda case: None if case.located is None else (case.located.agent, case.located.step),
        "always first": lambda case: _turn(case, 0),
        "always last": lambda case: _turn(case, -1),
    }
    found: dict[str, dict[str, Any]] = {}
    for name, answer in named.items():
        right = [hits(case, *told) if (told := answer(case)) else {} for case in cases]
        counts = {measure: sum(one.get(measure, False) for one in right) for measure in MEASURES}
        found[name] = {measure: wilson(count, len(cases)).to_dict() for measure, count in counts.items()}
    expected = [_expected(case) for case in cases]
    found["random"] = {
        measure: {"mean": sum(one[measure] for one in expected) / len(cases) if cases else None, "n": len(cases)}
        for measure in MEASURES
    }
    return found


def _agents(case: Labelled) -> list[int]:
    return [place for place, turn in enumerate(case.turns) if not turn.environment]


def _turn(case: Labelled, which: int) -> tuple[str, int] | None:
    places = _agents(case)
    return (case.turns[places[which]].agent, places[which]) if places else None


def _expected(case: Labelled) -> dict[str, float]:
    """The chance that a turn drawn evenly among those of agents is right, for each measure."""
    right = [hits(case, case.turns[place].agent, place) for place in _agents(case)]
    return {measure: sum(one[measure] for one in right) / len(right) if right else 0.0 for measure in MEASURES}
