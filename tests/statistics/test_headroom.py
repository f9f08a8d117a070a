"""Headroom of choosing per task: by hand, with planted luck, and with modes that truly complement one another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.modes import MODES
from planroute.statistics import expected_best, expected_best_of, headroom
from tests.statistics.planted import rates

FEW = settings(deadline=None, max_examples=20)
STUDIES, FEWER = 500, 150
DRAWS = 199  # fewer than the default: an interval's ends vary more from study to study, around the same coverage
TASKS, EXECUTIONS = 60, 6
EIGHTHS = st.integers(0, 16).map(lambda i: i / 8)
TABLES = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.lists(EIGHTHS, max_size=4), min_size=n, max_size=n), min_size=1, max_size=3
    )  # modes, tasks, executions
)


def by_mode(table):
    return dict(zip(MODES, table, strict=False))


def executed(rng, p, executions=EXECUTIONS):
    """Executions of every mode on every task, for success probabilities (tasks, modes)."""
    return by_mode((rng.random((*p.T.shape, executions)) < p.T[:, :, None]).astype(float))


def study(rng, p, **changes):
    options = {"name": "planted", "seed": int(rng.integers(2**32)), "draws": DRAWS}
    return headroom(executed(rng, p), 4, **options | changes)


def above(interval, truth=0.0):
    return interval.low > truth


def covers(interval, truth=0.0):
    return interval.low <= truth <= interval.high


def test_by_hand():
    found = headroom({"a": [[1, 0], [1, 1]], "b": [[1, 1], [0, 0]]}, 2, name="x").to_dict()
    assert found["means"] == {"a": 0.75, "b": 0.5}
    assert (found["best"], found["fixed"], found["oracle"], found["retry"]) == ("a", 0.75, 1, 1)
    assert (found["headroom"]["mean"], found["residual"]["mean"]) == (0.25, 0)
    assert (found["tasks"], found["retried"], found["too_few"], found["incomplete"]) == (2, 2, [], [])
    assert found["headroom_cross_fitted"]["mean"] == pytest.approx((1 - 0.5 + 1 - 0) / 2)  # chosen on the other task
    assert found["residual"]["level"] == 0.95


def test_tasks_that_cannot_answer_are_named_and_left_out():
    table = {"a": [[1, 1, 0], [1], [1, 0, 1], [], [0, 1, 1]], "b": [[0], [0], [1], [1], [0]]}
    found = headroom(table, 3, name="x")
    assert (found.best, found.tasks, found.incomplete) == ("a", 4, (3,))
    assert (found.retried, found.too_few) == (3, (1,))
    assert found.retry == 1
    assert found.residual.n == 3
    assert found.oracle == pytest.approx((2 / 3 + 1 + 1 + 2 / 3) / 4)
    assert found.residual.mean == pytest.approx((2 / 3 + 1 + 2 / 3) / 3 - 1)
    assert headroom(table, 4, name="x").retry is None
    assert headroom(table, 4, name="x").residual.mean is None
    assert headroom(table, 4, name="x").headroom.low is not None


@pytest.mark.parametrize("table", [{"a": [], "b": []}, {"a": [[1], []], "b": [[], [1]]}])
def test_no_task_with_all_modes(table):
    found = headroom(table, 1, name="x")
    assert (found.best, found.fixed, found.oracle, found.retry, found.tasks) == (None, None, None, None, 0)
    assert (found.headroom.mean, found.residual_cross_fitted.low) == (None, None)
    assert found.to_dict()["means"] == {"a": None, "b": None}


def test_one_task_has_no_interval():
    found = headroom({"a": [[1, 0]], "b": [[1, 1]]}, 1, name="x")
    assert (found.headroom.mean, found.headroom.low, found.headroom_cross_fitted.mean) == (0, None, None)


def test_an_interval_needs_retries_of_the_modes_that_resamples_choose():
    table = {"a": [[1, 0, 1, 0]] * 20, "b": [[1, 1]] * 9 + [[0, 0]] * 11}
    found = headroom(table, 4, name="x")
    assert found.best == "a"
    assert found.residual.mean is not None
    assert found.residual.low is None


@FEW
@given(TABLES, st.integers(1, 3), st.sampled_from(["more", "less"]), st.randoms())
def test_it_is_what_the_parts_say_in_any_order(table, k, better, random):
    found = headroom(by_mode(table), k, better=better, name="x", draws=49)
    tasks = [t for t in range(len(table[0])) if all(mode[t] for mode in table)]
    order = list(range(len(table[0])))
    random.shuffle(order)
    again = [[random.sample(mode[t], len(mode[t])) for t in order] for mode in table]
    moved = headroom(by_mode(again), k, better=better, name="x", draws=49)
    assert (moved.headroom, moved.residual_cross_fitted) == (found.headroom, found.residual_cross_fitted)
    if not tasks:
        assert found.best is None
        return
    sign = 1 if better == "more" else -1
    best = MODES.index(found.best)
    oracles = {t: expected_best_of([mode[t] for mode in table], better) for t in tasks}
    retries = {t: expected_best(table[best][t], k, better) for t in tasks}
    retried = [t for t in tasks if retries[t] is not None]
    assert found.too_few == tuple(t for t in tasks if t not in retried)
    assert found.oracle == pytest.approx(np.mean(list(oracles.values())))
    assert found.fixed == pytest.approx(sign * max(sign * mean for mean in found.means))
    assert found.headroom.mean == pytest.approx(sign * (found.oracle - found.fixed))
    assert found.headroom.mean >= -1e-9
    if retried:
        gaps = [sign * (oracles[t] - retries[t]) for t in retried]
        assert found.residual.mean == pytest.approx(np.mean(gaps), abs=1e-9)


@FEW
@given(TABLES, st.integers(1, 3))
def test_costs_are_successes_turned_round(table, k):
    costs = [[[2 - one for one in task] for task in mode] for mode in table]
    gains, losses = (
        headroom(by_mode(each), k, better=better, name="x", draws=49)
        for each, better in ((table, "more"), (costs, "less"))
    )
    assert gains.best == losses.best
    for one, other in ((gains.headroom, losses.headroom), (gains.residual, losses.residual)):
        assert one.mean == pytest.approx(other.mean, abs=1e-9)


def test_attempts_alone_look_like_headroom_until_retries_match_them():
    """Modes are alike on every task, tasks are not. The oracle's lead is large, certain, and only four tries."""

    def once(rng):
        found = study(rng, np.repeat(rng.beta(1, 1, size=(TASKS, 1)), 4, axis=1))
        return [
            above(found.headroom),
            covers(found.residual),
            covers(found.residual_cross_fitted),
            above(found.residual),
            above(found.residual_cross_fitted),
        ]

    looks, covered, cross_covered, false, cross_false = rates(once, 101, STUDIES)
    assert looks == 1
    assert min(covered, cross_covered) >= 0.9
    assert max(false, cross_false) <= 0.025


def test_modes_that_solve_different_tasks_are_found():
    """60 tasks by 6 executions; each task is solved by one mode only, in .5 of its executions. Alike in the mean."""

    def once(rng):
        found = study(rng, np.where(np.arange(4) == rng.integers(4, size=(TASKS, 1)), 0.5, 0.0))
        return [above(found.residual), above(found.residual_cross_fitted)]

    plain, cross = rates(once, 102, FEWER)
    assert plain >= 0.8
    assert cross >= plain


def test_cross_fitting_undoes_the_winners_curse():
    """Each mode solves a quarter of the tasks in .7 and the others in .3: the oracle's true lead is .079 at k = 4."""
    truth = 1 - 0.3 * 0.7**3 - (0.25 * (1 - 0.3**4) + 0.75 * (1 - 0.7**4))
    plain, cross = [], []

    def once(rng):
        found = study(rng, np.where(np.arange(4) == rng.integers(4, size=(TASKS, 1)), 0.7, 0.3))
        plain.append(found.residual.mean)
        cross.append(found.residual_cross_fitted.mean)
        return [covers(found.residual_cross_fitted, truth), above(found.residual_cross_fitted)]

    covered, power = rates(once, 103, FEWER)
    assert np.mean(plain) - truth < -0.02
    assert abs(np.mean(cross) - truth) < 0.008  # three standard errors
    assert covered >= 0.93
    assert power >= 0.6


def test_a_dominant_mode_repeated_beats_spreading_attempts():
    """Repeating the best fixed mode is better than one try of each, and the interval says how much."""
    ability = np.random.default_rng(0).beta(2, 2, size=(200_000, 1))

    def probabilities(ability):
        return np.clip(ability + np.array([-0.2, -0.1, 0, 0.2]), 0, 1)

    p = probabilities(ability)
    truth = float((1 - np.prod(1 - p, axis=1) - (1 - (1 - p[:, 3]) ** 4)).mean())

    def once(rng):
        found = study(rng, probabilities(rng.beta(2, 2, size=(TASKS, 1))))
        return [covers(found.residual, truth), covers(found.residual_cross_fitted, truth), found.residual.high < 0]

    covered, cross_covered, found = rates(once, 104, FEWER)
    assert min(covered, cross_covered) >= 0.9
    assert found >= 0.9


@pytest.mark.parametrize(
    "call",
    [
        lambda: headroom({}, 1, name="x"),
        lambda: headroom({"a": [[1]], "b": [[1], [0]]}, 1, name="x"),
        lambda: headroom({"a": [[1, np.nan]]}, 1, name="x"),
        lambda: headroom({"a": [1, 0]}, 1, name="x"),
        lambda: headroom({"a": [["1"], ["0"]]}, 1, name="x"),
        lambda: headroom({"a": [[1], [None]]}, 1, name="x"),
        lambda: headroom({"a": [[1]]}, 0, name="x"),
        lambda: headroom({"a": [[1]]}, 1, name="x", better="most"),
        lambda: headroom({"a": [[1]]}, 1, name="x", draws=0),
        lambda: headroom({"a": [[1]]}, 1, name="x", level=0),
    ],
)
def test_malformed(call):
    with pytest.raises(InputError):
        call()
