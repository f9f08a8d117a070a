"""What a decision is worth: element accuracy, operation F1, step success; and over a task's steps their means and TSR.

Own words, the benchmark's rules (Mind2Web, arXiv 2306.06070, section 4.2, and ``src/action_prediction/metric.py`` of
its repository, for language models):

- the element is right if it is any of the annotated ones that were offered;
- operation F1 compares the sets of words of ``OP value``, case by case as they are written;
- a step succeeds if the element is right and the F1 is 1;
- "none of these", and any step none of whose right elements was offered, is worth 0 throughout;
- a task succeeds (TSR) if all its steps do; step metrics are averaged over a task's steps first, then over tasks.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from planroute.domains.mind2web.records import Operation


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided: an element by its node, and the operation on it."""

    node: str
    operation: Operation


@dataclass(frozen=True, slots=True)
class StepScore:
    """The worth of one decision. ``element`` and ``success`` are ``None`` where the right element is not known."""

    element: float | None
    operation: float
    success: bool | None


NOTHING = StepScore(0.0, 0.0, False)


def operation_f1(chosen: Operation, annotated: Operation) -> float:
    """F1 of the words of two operations.

    >>> operation_f1(Operation("TYPE", "New York"), Operation("TYPE", "New Haven"))
    0.6666666666666666
    """
    one, other = set(str(chosen).split()), set(str(annotated).split())
    shared = len(one & other)
    return 2 * shared / (len(one) + len(other)) if shared else 0.0


def score_step(choice: Choice | None, right: Collection[str] | None, annotated: Operation) -> StepScore:
    """Score ``choice`` (``None``: none of these) where ``right`` are the nodes that are right and were offered.

    Where the record does not say which element is right (``right`` is ``None``), only the operation can be scored.
    """
    if choice is None or (right is not None and not right):
        return NOTHING if right is not None else StepScore(None, 0.0, None)
    operation = operation_f1(choice.operation, annotated)
    if right is None:
        return StepScore(None, operation, None)
    element = choice.node in right
    return StepScore(float(element), operation, element and operation == 1.0)


def measures(scores: Sequence[StepScore], steps: int) -> dict[str, float | None]:
    """The metrics of a task of ``steps`` annotated steps; those that nobody decided on count as failed.

    Returns ``ssr``, ``tsr``, ``element_accuracy`` and ``operation_f1``, each from 0 to 1.
    """
    succeeded = sum(bool(score.success) for score in scores)
    return {
        "ssr": succeeded / steps,
        "tsr": float(succeeded == steps),
        "element_accuracy": sum(score.element or 0.0 for score in scores) / steps,
        "operation_f1": sum(score.operation for score in scores) / steps,
    }
