"""Search against flat runs: what is planted in attempts, candidates or judging is found there and nowhere else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.statistics import split_advantage
from tests.statistics.planted import fresh, rates

FEW = settings(deadline=None, max_examples=30)
TASKS, SEEDS, K = 80, 3, 3
STUDIES = 200
PARTS = ("over_flat", "attempts", "candidates", "judge", "over_judged", "judges")
EIGHTHS = st.integers(0, 8).map(lambda i: i / 8)
COLUMNS = st.lists(st.tuples(*[EIGHTHS] * 5), min_size=2, max_size=12).map(lambda rows: np.array(rows).T)


def judged(rng, runs, skill):
    """The outcome of the run that a judge takes: a success where it sees one (in ``skill`` of cases), else any."""
    sees = rng.random(runs.shape[:2]) < skill
    return np.where(sees, runs.max(axis=2), runs[:, :, 0])


def outcomes(rng, gain=0.0, flat_skill=0.5, search_skill=0.5, tasks=TASKS):
    """The five columns: runs of tasks of all difficulties; search's candidates succeed in ``gain`` more cases."""
    p = rng.beta(1, 2, size=(tasks, 1, 1))
    flat, single = rng.random((tasks, SEEDS, K)) < p, rng.random((tasks, SEEDS)) < p[:, :, 0]
    candidates = rng.random((tasks, SEEDS, K)) < p + gain * (1 - p)
    seen = judged(rng, flat, flat_skill), flat.max(axis=2)
    ends = judged(rng, candidates, search_skill), candidates.max(axis=2)
    return [column.mean(axis=1) for column in (single, *seen, *ends)]


def found_in(parts, seed, **planted):
    """How often each of ``parts`` is above 0, and how often it is below."""

    def once(rng):
        found = split_advantage(*outcomes(rng, **planted), **fresh(rng))
        intervals = [getattr(found, part) for part in parts]
        return [*(one.low > 0 for one in intervals), *(one.high < 0 for one in intervals)]

    above, below = rates(once, seed, STUDIES).reshape(2, len(parts))
    return dict(zip(parts, above, strict=True)), dict(zip(parts, below, strict=True))


def test_by_hand():
    found = split_advantage([0.2, 0.4], [0.5, 0.5], [0.6, 0.8], [0.9, 0.7], [1, 0.9], name="x").to_dict()
    means = {part: found[part]["mean"] for part in PARTS}
    assert means == pytest.approx(
        {
            "over_flat": 0.5,
            "attempts": 0.4,
            "candidates": 0.25,
            "judge": -0.15,
            "over_judged": 0.3,
            "judges": 0.05,
        }
    )
    assert found["tasks"] == 2
    assert found["attempts"]["low"] == pytest.approx(0.4)


@FEW
@given(COLUMNS, st.randoms())
def test_parts_add_up_in_every_order_and_for_costs(columns, random):
    found = split_advantage(*columns, name="x", draws=99)
    mean = {part: getattr(found, part).mean for part in PARTS}
    assert mean["over_flat"] == pytest.approx(mean["attempts"] + mean["candidates"] + mean["judge"], abs=1e-9)
    assert mean["over_judged"] == pytest.approx(mean["candidates"] + mean["judges"], abs=1e-9)
    order = list(range(columns.shape[1]))
    random.shuffle(order)
    moved = split_advantage(*columns[:, order], name="x", draws=99)
    costs = split_advantage(*-columns, better="less", name="x", draws=99)
    assert moved == found == costs


def test_the_parts_share_their_resamples():
    """Where search's advantage is the same on every task its interval has no width, whatever its parts do."""
    rng = np.random.default_rng(0)
    flat, flat_best, search_best = rng.random((3, 30))
    found = split_advantage(flat, flat, flat_best, flat + 0.25, search_best, name="x")
    assert found.over_flat.high - found.over_flat.low == pytest.approx(0, abs=1e-9)
    assert found.attempts.high - found.attempts.low > 0.1
    same = split_advantage(flat, flat, flat_best, flat_best, flat_best, name="x")
    assert (same.attempts.low, same.attempts.high) == (same.over_flat.low, same.over_flat.high)
    assert (same.candidates.low, same.candidates.high) == (0, 0)


def test_more_attempts_are_attempts():
    """80 tasks, 3 seeds, 3 runs: search only runs the flat loop three times and asks the same judge."""
    above, below = found_in(PARTS, 111)
    assert above["over_flat"] >= 0.8
    assert above["attempts"] >= 0.95
    assert below["judge"] >= 0.95  # a judge that guesses half the time loses
    for part in ("candidates", "over_judged", "judges"):
        assert max(above[part], below[part]) <= 0.066


def test_better_candidates_are_candidates():
    above, _ = found_in(PARTS, 112, gain=0.2, flat_skill=1.0, search_skill=1.0)
    assert min(above[part] for part in ("over_flat", "attempts", "candidates", "over_judged")) >= 0.8
    assert above["judges"] == above["judge"] == 0


def test_equal_judges_of_unequal_candidates_lose_about_the_same():
    """Not exactly: what there is to lose depends on the candidates. Here 23 points are theirs, less than 1 judging."""
    columns = outcomes(np.random.default_rng(0), tasks=20_000, gain=0.25, flat_skill=0.9, search_skill=0.9)
    found = split_advantage(*columns, name="x", draws=99)
    assert found.candidates.low > 0.2
    assert found.judges.mean == pytest.approx(0, abs=0.01)


def test_a_better_judge_is_the_judge():
    above, below = found_in(PARTS, 114, flat_skill=0.3, search_skill=0.9)
    assert above["judges"] >= 0.8
    assert above["over_judged"] >= 0.8
    assert max(above["candidates"], below["candidates"]) <= 0.066


def test_too_little_to_say():
    none = split_advantage([], [], [], [], [], name="x")
    assert (none.over_flat.mean, none.judges.low, none.tasks) == (None, None, 0)
    one = split_advantage([0], [1], [1], [1], [1], name="x")
    assert (one.over_flat.mean, one.over_flat.low, one.candidates.mean) == (1, None, 0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: split_advantage([0], [1], [1], [1], [1, 0], name="x"),
        lambda: split_advantage([np.nan], [1], [1], [1], [1], name="x"),
        lambda: split_advantage([0], [1], [1], [1], [1], name="x", better="most"),
        lambda: split_advantage([0], [1], [1], [1], [1], name="x", draws=0),
        lambda: split_advantage([0], [1], [1], [1], [1], name="x", level=2),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()
