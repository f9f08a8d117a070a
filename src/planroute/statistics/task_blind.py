"""Whether declared modes fit their tasks: a policy against its own declarations, shuffled over the tasks.

Source: Planning-as-Routing, RQ4, appendix I.2 and K (the null keeps each policy's mode frequencies and reassigns its
declarations across tasks; ∆(π), its 95 % permutation interval, one-sided and two-sided p).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planroute.errors import InputError
from planroute.statistics.attempts import Better, sign
from planroute.statistics.resampling import DRAWS, batches
from planroute.statistics.result import Result
from planroute.statistics.samples import (
    ROUNDING,
    FloatArray,
    IntArray,
    Labels,
    check_draws,
    check_level,
    labels,
    numbers,
)
from planroute.streams import stream


@dataclass(frozen=True, slots=True)
class TaskBlind(Result):
    """How much better a policy does than one with its mode frequencies that does not look at the task.

    ``policy`` and ``blind`` are in the values' unit. ``delta`` is positive where the policy is better, also for costs;
    ``low`` and ``high`` bound what ``delta`` is under the null, and are no interval around it. ``frequencies`` are the
    shares of ``modes`` among the declarations, ``tasks`` counts tasks, ``strata`` the strata they are shuffled within.
    """

    policy: float | None
    blind: float | None
    delta: float | None
    low: float | None
    high: float | None
    p_one_sided: float | None
    p_two_sided: float | None
    modes: tuple[str, ...]
    frequencies: tuple[float, ...]
    tasks: int
    strata: int
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, ``frequencies`` by mode."""
        plain = super(TaskBlind, self).to_dict()
        modes = plain.pop("modes")
        return plain | {"frequencies": dict(zip(modes, plain["frequencies"], strict=True))}


def task_blind(
    declared: Sequence[Sequence[Hashable]],
    outcomes: Sequence[Mapping[Any, float]],
    strata: Labels | None = None,
    *,
    better: Better = "more",
    name: str,
    seed: int = 0,
    draws: int = DRAWS,
    level: float = 0.95,
) -> TaskBlind:
    """Return the permutation test of whether ``declared`` modes suit the tasks that they are declared for.

    ``declared[t]`` are the modes declared for task t, one for each seed; ``outcomes[t][mode]`` is the mean outcome of
    that mode on it, from forced executions that no declaration had a part in. With d_t(m) the share of mode m among a
    task's declarations and o_t(m) its outcome,

        policy = 1/T Σ_t Σ_m d_t(m) · o_t(m)    and    blind = Σ_s T_s/T Σ_m mean_s d(m) · mean_s o(m),

    the exact mean of ``policy`` over all ways of handing the T tasks' declarations round. Under the null a task's
    declarations move to another task as a whole, so the seeds of one task are no independent evidence, and mode
    frequencies stay. With ``strata`` (T,), for instance the kind of task, they move within strata s only: a policy that
    merely tells strata apart then has no advantage, while without strata it has one.

    p is (1 + shuffles as extreme) / (1 + draws): towards better for ``p_one_sided``, in size for ``p_two_sided``; ties
    count, up to rounding. A true null is called significant at .05 in at most 5 % of studies, in fewer where few values
    of ``delta`` are possible. Where declarations within each stratum are alike, as with a single mode throughout, no
    shuffle changes anything: ``delta`` is 0 by construction and there are no p and no interval. No tasks: all ``None``.
    Callers correct families of tests with ``holm``. Draws come from the stream ("permutation", ``name``).

    Raises ``InputError`` for a task without declarations, an outcome that is missing for a mode that some task
    declares or is no finite number, lengths that differ, an unknown ``better``, a level outside 0 to 1, or no draws.
    """
    side = sign(better)
    check_level(level)
    check_draws(draws)
    codes, groups = labels(strata if strata is not None else np.zeros(len(declared), dtype=np.int64), "strata")
    if not len(declared) == len(outcomes) == len(codes):
        raise InputError(f"lengths differ: declared {len(declared)}, outcomes {len(outcomes)}, strata {len(codes)}")
    modes, shares, values = _tables(declared, outcomes)
    n = len(shares)
    if n == 0:
        return TaskBlind(None, None, None, None, None, None, None, (), (), 0, 0, draws)
    order = np.lexsort((*values.T, *shares.T, codes))
    codes, shares, values = codes[order], shares[order], values[order]
    blocks = [np.flatnonzero(codes == s) for s in range(len(groups))]
    frequencies = tuple(shares.mean(axis=0).tolist())
    policy = float((shares * values).sum() / n)
    if all(np.ptp(shares[block], axis=0).max() <= ROUNDING for block in blocks):
        return TaskBlind(policy, policy, 0.0, None, None, None, None, modes, frequencies, n, len(blocks), draws)
    blind = float(sum(shares[block].mean(axis=0) @ values[block].sum(axis=0) for block in blocks) / n)
    delta = side * (policy - blind)
    found = side * (_shuffled(shares, values, blocks, draws, stream(seed, "permutation", name)) - blind)
    rounding = ROUNDING * float(np.abs(values).max())
    better_by_luck = 1 + int((found >= delta - rounding).sum())
    as_far_by_luck = 1 + int((np.abs(found) >= abs(delta) - rounding).sum())
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
    return TaskBlind(
        policy=policy,
        blind=blind,
        delta=delta,
        low=float(low),
        high=float(high),
        p_one_sided=better_by_luck / (1 + draws),
        p_two_sided=as_far_by_luck / (1 + draws),
        modes=modes,
        frequencies=frequencies,
        tasks=n,
        strata=len(blocks),
        draws=draws,
    )


def _tables(
    declared: Sequence[Sequence[Hashable]], outcomes: Sequence[Mapping[Any, float]]
) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
    """Return the declared modes, sorted, each task's shares of them, and its outcomes under them: (tasks, modes)."""
    names = [[str(mode) for mode in modes] for modes in declared]
    modes = tuple(sorted({mode for each in names for mode in each}))
    column = {mode: position for position, mode in enumerate(modes)}
    shares, values = np.zeros((len(names), len(modes))), []
    for task, each in enumerate(names):
        if not each:
            raise InputError(f"task {task} has no declarations: leave it out")
        for mode in each:
            shares[task, column[mode]] += 1 / len(each)
        known = {str(mode): value for mode, value in outcomes[task].items()}
        for mode in modes:
            if mode not in known:
                raise InputError(f"task {task} has no outcome of {mode}, which is declared: run it, or leave it out")
            values.append(known[mode])
    return modes, shares, numbers(values, "outcomes").reshape(shares.shape)


def _shuffled(
    shares: FloatArray, values: FloatArray, blocks: Sequence[IntArray], draws: int, rng: np.random.Generator
) -> FloatArray:
    """Return the policy's mean outcome (draws,) when the rows of ``shares`` are shuffled within each of ``blocks``."""
    found = []
    for rows in batches(draws, shares.size):
        total = np.zeros(rows)
        for block in blocks:
            picks = rng.permuted(np.tile(block, (rows, 1)), axis=1)
            for mode in range(shares.shape[1]):
                total += shares[:, mode][picks] @ values[block, mode]
        found.append(total / len(shares))
    return np.concatenate(found)
