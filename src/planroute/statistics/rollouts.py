"""Where the advantage of search over a flat loop comes from: more attempts, better candidates, or the judge's choice.

Source: Planning-as-Routing, RQ3 and appendix I.1 (as many flat runs as search has candidates, chosen from by the same
judge; hindsight selection over the same trajectories tells candidates from judging), table 17.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from planroute.statistics.attempts import Better, sign
from planroute.statistics.intervals import Interval
from planroute.statistics.resampling import DRAWS, distribution, percentiles
from planroute.statistics.result import Result, finite
from planroute.statistics.samples import FloatArray, check_draws, check_level, numbers, same_length
from planroute.streams import stream


@dataclass(frozen=True, slots=True)
class AdvantageSplit(Result):
    """Differences of means over ``tasks`` tasks, positive where they speak for search, also for costs.

    ``over_flat`` = ``attempts`` + ``candidates`` + ``judge``, and ``over_judged`` = ``candidates`` + ``judges``.
    ``judge`` is what search's judge makes of its candidates against hindsight, at most 0 where hindsight is exact;
    ``judges`` is how much more or less that is than the same on the flat runs.
    """

    over_flat: Interval
    attempts: Interval
    candidates: Interval
    judge: Interval
    over_judged: Interval
    judges: Interval
    tasks: int


def split_advantage(
    flat: ArrayLike,
    flat_judged: ArrayLike,
    flat_best: ArrayLike,
    search: ArrayLike,
    search_best: ArrayLike,
    *,
    better: Better = "more",
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> AdvantageSplit:
    """Return search's advantage over the flat loop in parts, from five outcomes of each task, each (tasks,).

    A task's values are means over its seeds: F of one flat run (``flat``); of k independent flat runs R, the one that
    the judge chooses (``flat_judged``), and P_R, the best in hindsight (``flat_best``; ``expected_best`` where there
    are more runs); of search S, what it ends with (``search``), and P_S, the best of its candidates in hindsight
    (``search_best``). Then, each a mean over tasks,

        S − F = (P_R − F)  +  (P_S − P_R)  +  (S − P_S)
                attempts      candidates      judge
        S − R = (P_S − P_R)  +  ((S − P_S) − (R − P_R))
                candidates      judges

    Attempts and candidates are told apart only as far as k is the number of search's candidates. Candidates also decide
    what equally good judges have to lose, so a small ``judges`` beside large ``candidates`` is no finding about judges.
    ``over_judged`` is the comparison of the paper's table.

    All intervals come from the same resamples of tasks, so the parts add up in each of them. No tasks: all ``None``;
    one task: no intervals. Draws come from the stream ("bootstrap", ``name``).

    Raises ``InputError`` for values that are not finite numbers, lengths that differ, an unknown ``better``, a level
    outside 0 to 1, or no draws.
    """
    side = sign(better)
    check_level(level)
    check_draws(draws)
    given = {
        "flat": flat,
        "flat_judged": flat_judged,
        "flat_best": flat_best,
        "search": search,
        "search_best": search_best,
    }
    columns = {what: side * numbers(values, what) for what, values in given.items()}
    n = same_length(**columns)
    f, r, p_r, s, p_s = columns.values()
    parts = np.stack([s - f, p_r - f, p_s - p_r, s - p_s, s - r, (s - p_s) - (r - p_r)])
    parts = parts[:, np.lexsort(parts)]

    def interval(part: FloatArray) -> Interval:
        if n == 0:
            return Interval(None, None, None, 0, level)
        mean = float(part.mean())
        if n == 1:
            return Interval(finite(mean), None, None, 1, level)
        rng = stream(seed, "bootstrap", name)  # begun anew for each part, so that all see the same resamples
        found = distribution(lambda rows: rows.mean(axis=1), (part,), draws, rng)
        return Interval(finite(mean), *percentiles(found, mean, level), n, level)

    over_flat, attempts, candidates, judge, over_judged, judges = (interval(part) for part in parts)
    return AdvantageSplit(over_flat, attempts, candidates, judge, over_judged, judges, n)
