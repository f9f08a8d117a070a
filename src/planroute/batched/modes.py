"""The four modes over a batch: the control flow of ``planroute.executors`` with the seeds as an axis.

Each function takes the batch and the admitted declaration, and returns the course. An episode of one seed and this are
held to the same figures by tests/batched.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from planroute.batched.batch import Batch
from planroute.batched.course import Course
from planroute.declaration import Declaration
from planroute.modes import Mode


def predefined(batch: Batch, declaration: Declaration) -> Course:
    """Plan once, execute every hour, never revise."""
    course, plan = Course(batch), batch.plan()
    for at in range(len(batch.hours)):
        course.execute(at, plan[:, at])
    return course


def sequential(batch: Batch, declaration: Declaration) -> Course:
    """Execute one hour, observe, make the rest of the plan anew."""
    course, rest = Course(batch), batch.plan()
    for at in range(len(batch.hours)):
        course.execute(at, rest[:, 0])
        rest = rest[:, 1:]
        if rest.shape[1]:
            rest = course.revise(at, rest)
    return course


def hierarchical(batch: Batch, declaration: Declaration) -> Course:
    """Hand quotas of the next hour to workers, execute what they hand back together, go on."""
    course = Course(batch)
    for at in range(len(batch.hours)):
        course.execute(at, batch.allocated(at, declaration.depth))
    return course


def search(batch: Batch, declaration: Declaration) -> Course:
    """Roll out up to ``declaration.branching`` alternatives, adopt under each seed the one of least predicted cost."""
    course, candidates = Course(batch), batch.proposed(declaration.branching)
    best = np.argmin(batch.rolled_out(candidates), axis=0)
    plan = candidates[best, np.arange(len(best))]
    for at in range(len(batch.hours)):
        course.execute(at, plan[:, at])
    return course


BATCHED: Mapping[Mode, Callable[[Batch, Declaration], Course]] = MappingProxyType(
    {
        Mode.PREDEFINED: predefined,
        Mode.SEQUENTIAL: sequential,
        Mode.HIERARCHICAL: hierarchical,
        Mode.SEARCH: search,
    }
)
