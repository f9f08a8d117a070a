"""Where two courses of action part, and where one goes in circles."""

from collections.abc import Sequence
from dataclasses import dataclass

from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.acts import lexicon_for, read_acts
from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.verdict import Loop, Taken

LONGEST_PERIOD = 4
LEAST_ROUNDS = 3
LEAST_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step at which two sequences differ: the action of each there (``None``: it has ended), and why."""

    first: int | None
    second: int | None
    why: str


def divergence(first: Sequence[Taken], second: Sequence[Taken], lexicon: Lexicon | None = None) -> Parting | None:
    """The first point at which two sequences of actions differ, or ``None``.

    Spelling does not count, nor do actions that were not executed.
    """
    lexicon = lexicon or lexicon_for([*first, *second])
    one = [act for act in read_acts(first, lexicon) if act.executed]
    two = [act for act in read_acts(second, lexicon) if act.executed]
    for left, right in zip(one, two, strict=False):
        if left.key != right.key:
            return Parting(left.index, right.index, f"{left.key} against {right.key}")
    if len(one) == len(two):
        return None
    shared = min(len(one), len(two))
    longer = (one if len(one) > len(two) else two)[shared]
    index = longer.index
    return Parting(index, None, "the second ends") if len(one) > len(two) else Parting(None, index, "the first ends")


def loops(acts: Sequence[Act]) -> tuple[Loop, ...]:
    """Actions repeated at once, and rounds of up to ``LONGEST_PERIOD`` actions run ``LEAST_ROUNDS`` times or more."""
    found = []
    place = 0
    while place < len(acts):
        loop = next((loop for period in range(1, LONGEST_PERIOD + 1) if (loop := _loop(acts, place, period))), None)
        if loop:
            found.append(Loop(acts[place].index, *loop))
            place += loop[0] * loop[1]
        else:
            place += 1
    return tuple(found)


def _loop(acts: Sequence[Act], place: int, period: int) -> tuple[int, int] | None:
    times = 1
    while place + (times + 1) * period <= len(acts) and all(
        acts[place + offset].key == acts[place + times * period + offset].key for offset in range(period)
    ):
        times += 1
    return (period, times) if times >= (LEAST_REPEATS if period == 1 else LEAST_ROUNDS) else None
