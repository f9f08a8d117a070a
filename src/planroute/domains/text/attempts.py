"""Attempts that a judge chose among: each one's score, and in hindsight its success, which the judge did not see.

Source: Planning-as-Routing, appendix I.1 (hindsight selection tells the quality of candidates from that of the judge).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from planroute.domains.text.course import Course


@dataclass(frozen=True, slots=True)
class Attempt:
    """One course that was tried, and the judge's score from 0 to 3; -1 where its answer could not be read."""

    course: Course
    score: int


def attempt_metrics(attempts: "list[Attempt]") -> Mapping[str, float | None]:
    """Return ``attempt_N_success`` and ``attempt_N_score``, N from 1 in the order in which they were tried.

    Raises ``DomainError`` where a referee cannot find out.
    """
    metrics: dict[str, float | None] = {}
    for number, attempt in enumerate(attempts, 1):
        metrics[f"attempt_{number}_success"] = float(attempt.course.settled())
        metrics[f"attempt_{number}_score"] = float(attempt.score)
    return metrics
