"""Which elements of a page are offered, and in which order.

Where a record ranks its candidates, the best ranked ones are offered, whether the right one is among them or not: a
step whose right element was ranked lower cannot be solved. Without ranks the right elements are offered among others
that are drawn at random, which is easier; nothing else can be done without a candidate generator.

Some preparations put the right element first, or give it rank 0, so the order in a record says nothing: it is drawn
anew, for each seed, task and step alike in all conditions.

Source: Mind2Web (arXiv 2306.06070), 3.1: candidate generation, top 50, sampled anew where it fails.
"""

from collections.abc import Sequence
from typing import Final

from planroute.domains.mind2web.records import Candidate, Step
from planroute.streams import stream

TOP: Final = 50
"""Candidates that are offered at most."""


def ranking(step: Step) -> list[Candidate] | None:
    """Return the candidates of ``step``, best first; ``None`` where the record does not rank all of them.

    Scores count before ranks, since a rank is more easily forced.
    """
    found = [*step.positives, *step.negatives]
    if found and all(candidate.score is not None for candidate in found):
        return sorted(found, key=lambda each: (-(each.score or 0.0), each.node))
    if found and all(candidate.rank is not None for candidate in found):
        return sorted(found, key=lambda each: (each.rank or 0, each.node))
    return None


def offered(step: Step, task: str, seed: int, most: int = TOP) -> tuple[Candidate, ...]:
    """Return up to ``most`` candidates of ``step`` of ``task`` in an order that is drawn from the seed."""
    ranked = ranking(step)
    if ranked is not None:
        chosen = ranked[:most]
    else:
        right = list(step.positives[:most])
        others = sorted(step.negatives, key=lambda each: each.node)
        chosen = right + _drawn(others, most - len(right), seed, "negatives", task, step.uid)
    in_order = sorted(chosen, key=lambda each: each.node)
    return tuple(_drawn(in_order, len(in_order), seed, "order", task, step.uid))


def _drawn(some: Sequence[Candidate], count: int, seed: int, *names: str) -> list[Candidate]:
    picks = stream(seed, "mind2web", *names).permutation(len(some))[: max(count, 0)]
    return [some[int(place)] for place in picks]
