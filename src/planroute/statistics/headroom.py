"""What choosing the mode per task could gain, and what is left of it once the best fixed mode may try as often.

Sources: Planning-as-Routing, section 3.4 (best fixed pattern, oracle ceiling, routing headroom), RQ2 and appendix I.2
(retries of the strongest fixed pattern as control), M (the oracle combines executions of several patterns).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from planroute.errors import InputError
from planroute.statistics.attempts import Better, best_of_groups, best_of_repetitions, check_k, sign
from planroute.statistics.intervals import Interval
from planroute.statistics.resampling import DRAWS, batches, percentiles
from planroute.statistics.result import Result, finite
from planroute.statistics.samples import ROUNDING, FloatArray, IntArray, check_draws, check_level, numbers
from planroute.streams import stream

_SPLITS: Final = 10  # ways of halving the tasks that the cross-fitted differences are averaged over


@dataclass(frozen=True, slots=True)
class Headroom(Result):
    """The oracle over modes, the best fixed mode once and ``k`` times, and the differences, over ``tasks`` tasks.

    ``means`` belong to ``modes``; means, ``fixed``, ``oracle`` and ``retry`` are in the values' unit. The differences
    are positive where the oracle is better, also for costs: ``headroom`` to ``fixed`` and ``residual`` to ``retry``,
    with the fixed mode chosen on the tasks that it is judged by, and both ``cross_fitted``, with it chosen on others.

    ``retry`` and the residuals are over ``retried`` tasks; ``too_few`` are the positions of tasks that lack k
    executions of ``best``, and ``incomplete`` of those that lack a mode altogether and count nowhere.
    """

    modes: tuple[str, ...]
    means: tuple[float | None, ...]
    best: str | None
    k: int
    fixed: float | None
    oracle: float | None
    retry: float | None
    headroom: Interval
    headroom_cross_fitted: Interval
    residual: Interval
    residual_cross_fitted: Interval
    tasks: int
    retried: int
    too_few: tuple[int, ...]
    incomplete: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, ``means`` by mode."""
        plain = super(Headroom, self).to_dict()
        modes = plain.pop("modes")
        return plain | {"means": dict(zip(modes, plain["means"], strict=True))}


def headroom(
    values: Mapping[Any, Sequence[ArrayLike]],
    k: int,
    *,
    better: Better = "more",
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Headroom:
    """Return the headroom of choosing among the modes of ``values``, before and after a control with ``k`` attempts.

    ``values[mode][t]`` are that mode's executions of task t (as many as there are; tasks in one order for all modes).
    With p_t(m) their mean, B the best of one execution of every mode (``expected_best_of``), R_k(m) the best of k
    executions of mode m (``expected_best``) and m* the mode with the best mean over tasks,

        headroom = mean_t B_t − mean_t p_t(m*)    and    residual = mean_t B_t − mean_t R_t,k(m*).

    The oracle has an attempt for every mode, the fixed mode one: where modes are alike but executions differ, headroom
    is far from 0 all the same. With k the number of modes the residual compares equal numbers of attempts, and is 0
    for modes that are alike on every task; positive says that modes solve different tasks, negative that spreading
    attempts over modes is worse than repeating the best. Call twice for another k, such as the 3 of the paper.

    Intervals resample tasks, with all their executions, and choose m* anew in every resample. m* profits from the luck
    that made it best (winner's curse), so both differences are too low where several modes are about as good, and their
    resamples more so: they err against the oracle. The cross-fitted ones choose m* on one half of the tasks and judge
    it on the other, both ways, averaged over ten halvings; a task that is drawn twice stays in one half.

    Measured on six kinds of planted truth (four modes, 60 tasks by 6 executions, k = 4; 400 studies each). Modes alike
    on every task: ``residual`` is off by −0.02, cross-fitted by less than 0.002; 97 and 99.8 % of 95 % intervals cover
    0, and none lies above it. One mode clearly best: both are unbiased, 93 % cover. One slightly better than the rest:
    −0.004, and +0.01 to +0.02 since half the tasks at times miss the best; 98 % cover. Modes of equal means that solve
    different tasks: −0.03 to −0.06, where 55 to 89 % cover the truth, but less than 0.001 and 99.5 % when cross-fitted.
    So a ``residual`` above 0 is a finding; one around 0 speaks against complementarity only if the cross-fitted agrees.
    ``headroom`` fares alike, but its plain interval covers as few as 6 % there, too low by up to 0.05.

    Choosing on four fifths of the tasks took a quarter off the +0.02 and added a quarter to a half to the spread;
    choosing on other executions of the same tasks kept −0.06, since it is the sample of tasks that favours a mode.

    A task that lacks an execution of some mode is left out, one with fewer than k executions of the chosen mode of the
    residual; where none is left, or one task only, values and intervals are ``None``, as is an interval if many
    resamples choose a mode without k executions. Draws come from the stream ("bootstrap", ``name``), halvings from
    ("halves", ``name``).

    Raises ``InputError`` for no modes, modes with different numbers of tasks, values that are not finite numbers, k
    below one, an unknown ``better``, a level outside 0 to 1, or no draws.
    """
    side = sign(better)
    check_k(k)
    check_level(level)
    check_draws(draws)
    modes, table = _executions(values, side)
    kept = [task for task, row in enumerate(table) if all(len(each) for each in row)]
    incomplete = tuple(sorted(set(range(len(table))) - set(kept)))
    n = len(kept)
    if n == 0:
        none = Interval(None, None, None, 0, level)
        unknown = (None,) * len(modes)
        return Headroom(modes, unknown, None, k, None, None, None, none, none, none, none, 0, 0, (), incomplete)
    means, oracle, retry = _per_task([table[task] for task in kept], k)
    order = np.lexsort((*retry.T, *means.T, oracle))
    means, oracle, retry = means[order], oracle[order], retry[order]
    has = np.isfinite(retry)
    residual = np.where(has, oracle[:, None] - np.where(has, retry, 0.0), 0.0)
    rng = stream(seed, "halves", name)
    halves = np.stack([np.ones(n), *(rng.permutation(n) % 2 for _ in range(_SPLITS))], axis=1)
    columns = np.stack([means, oracle[:, None] - means, np.ones(means.shape), residual, has], axis=1)
    weighed = halves[:, :, None, None] * columns[:, None]
    found, best = _differences(weighed, draws, stream(seed, "bootstrap", name))
    counted, retried = has[:, best], int(has[:, best].sum())

    def interval(row: FloatArray, rows: int) -> Interval:
        low, high = percentiles(row[1:], float(row[0]), level) if rows > 1 else (None, None)
        return Interval(finite(float(row[0])), low, high, rows, level)

    return Headroom(
        modes=modes,
        means=tuple((side * means.mean(axis=0) + 0.0).tolist()),
        best=modes[best],
        k=k,
        fixed=side * float(means[:, best].mean()) + 0.0,
        oracle=side * float(oracle.mean()) + 0.0,
        retry=side * float(retry[counted, best].mean()) + 0.0 if retried else None,
        headroom=interval(found[0], n),
        headroom_cross_fitted=interval(found[1], n),
        residual=interval(found[2], retried),
        residual_cross_fitted=interval(found[3], retried),
        tasks=n,
        retried=retried,
        too_few=tuple(task for task in kept if len(table[task][best]) < k),
        incomplete=incomplete,
    )


def _executions(
    values: Mapping[Any, Sequence[ArrayLike]], side: float
) -> tuple[tuple[str, ...], list[list[FloatArray]]]:
    """Return the modes, and for each task every mode's executions, more being better."""
    if len({len(tasks) for tasks in values.values()}) != 1:
        raise InputError("values must have the same tasks for every mode, and one mode at least")
    columns = []
    for mode, tasks in values.items():
        sizes = [np.size(each) for each in tasks if np.ndim(each) == 1]
        if len(sizes) != len(tasks):
            raise InputError(f"executions of {mode} must be a flat sequence for each task")
        flat = numbers(np.concatenate([np.zeros(0), *tasks]), f"executions of {mode}")
        columns.append(np.split(side * flat, np.cumsum(sizes)[:-1]) if sizes else [])
    return tuple(str(mode) for mode in values), [list(row) for row in zip(*columns, strict=True)]


def _per_task(table: list[list[FloatArray]], k: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return means (tasks, modes), the oracle (tasks,) and the best of k (tasks, modes), NaN where executions lack."""
    shape = (len(table), len(table[0]))
    means, oracle, retry = np.zeros(shape), np.zeros(len(table)), np.full(shape, np.nan)
    alike: dict[tuple[int, ...], list[int]] = {}
    for task, row in enumerate(table):
        alike.setdefault(tuple(len(each) for each in row), []).append(task)
    for sizes, tasks in alike.items():
        groups = [np.sort([table[task][mode] for task in tasks], axis=1) for mode in range(shape[1])]
        oracle[tasks] = best_of_groups(groups)
        for mode, group in enumerate(groups):
            means[tasks, mode] = group.mean(axis=1)
            if sizes[mode] >= k:
                retry[tasks, mode] = best_of_repetitions(group, k)
    return means, oracle, retry


def _differences(weighed: FloatArray, draws: int, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Return headroom and residual, each plain and cross-fitted, (4, 1 + draws), the observed first; and the best mode.

    ``weighed`` (tasks, 1 + splits, 5, modes) holds means, headroom and its count, residual and its count, of all tasks
    and of the first half in every split; everything is a sum over the tasks of a resample.
    """
    n, flat = len(weighed), weighed.reshape(len(weighed), -1)
    found = [_both(flat.sum(axis=0).reshape(1, *weighed.shape[1:]))]
    for rows in batches(draws, max(flat.shape)):
        picks = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)
        found.append(_both((counts @ flat).reshape(rows, *weighed.shape[1:])))
    return np.concatenate(found, axis=1), int(_best(weighed[:, :1].sum(axis=0))[0])


def _both(sums: FloatArray) -> FloatArray:
    """Return the four differences (4, resamples) of ``sums`` (resamples, 1 + splits, 5, modes)."""
    whole, first = sums[:, :1], sums[:, 1:]
    second = whole - first
    answers = []
    for column in (1, 3):
        answers.append(_ratio(*_judged(whole, whole, column))[:, 0])
        halves = zip(_judged(first, second, column), _judged(second, first, column), strict=True)
        answers.append(_ratio(*(one + other for one, other in halves)).mean(axis=1))
    return np.stack(answers)


def _judged(chosen_on: FloatArray, judged_on: FloatArray, column: int) -> tuple[FloatArray, FloatArray]:
    """Return sum and count of ``column`` for the mode that is best on the other part, NaN where that part is empty."""
    best = _best(chosen_on)[..., None]
    total = np.take_along_axis(judged_on[..., column, :], best, axis=-1)[..., 0]
    count = np.take_along_axis(judged_on[..., column + 1, :], best, axis=-1)[..., 0]
    return np.where(chosen_on[..., 2, 0] > 0.5, total, np.nan), count


def _best(sums: FloatArray) -> IntArray:
    """Return the mode with the best mean, the first of those that tie up to rounding."""
    totals = sums[..., 0, :]
    tie = ROUNDING * np.abs(totals).max(axis=-1, keepdims=True)
    first: IntArray = np.argmax(totals >= totals.max(axis=-1, keepdims=True) - tie, axis=-1)
    return first


def _ratio(total: FloatArray, count: FloatArray) -> FloatArray:
    ratio = np.full(total.shape, np.nan)
    np.divide(total, count, out=ratio, where=count > 0.5)
    return ratio
