"""The benchmark's metrics, and which candidates are offered."""

from collections import Counter
from dataclasses import replace

import pytest

from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.candidates import offered, ranking
from planroute.domains.mind2web.records import Candidate, Operation
from planroute.domains.mind2web.scoring import Choice, StepScore, measures, operation_f1, score_step
from tests.domains.mind2web.records import action, task

TYPED = Operation("TYPE", "New York")


@pytest.mark.parametrize(
    ("choice", "score"),
    [
        (Choice("10", TYPED), StepScore(1.0, 1.0, True)),
        (Choice("11", TYPED), StepScore(1.0, 1.0, True)),
        (Choice("12", TYPED), StepScore(0.0, 1.0, False)),
        (Choice("10", Operation("CLICK")), StepScore(1.0, 0.0, False)),
        (Choice("10", Operation("TYPE", "York New")), StepScore(1.0, 1.0, True)),
        (Choice("10", Operation("TYPE", "new york")), StepScore(1.0, 1 / 3, False)),
        (Choice("10", Operation("SELECT", "New York")), StepScore(1.0, 2 / 3, False)),
        (Choice("10", Operation("TYPE")), StepScore(1.0, 0.5, False)),
        (None, StepScore(0.0, 0.0, False)),
    ],
)
def test_a_step(choice, score):
    found = score_step(choice, {"10", "11"}, TYPED)
    assert (found.element, found.success) == (score.element, score.success)
    assert found.operation == pytest.approx(score.operation)


def test_where_no_right_element_is_offered_nothing_counts():
    assert score_step(Choice("10", TYPED), set(), TYPED) == StepScore(0.0, 0.0, False)


def test_where_the_right_element_is_not_known_only_the_operation_counts():
    assert score_step(Choice("B", TYPED), None, TYPED) == StepScore(None, 1.0, None)
    assert score_step(None, None, TYPED) == StepScore(None, 0.0, None)


def test_two_empty_operations_share_nothing():
    assert operation_f1(Operation(""), Operation("")) == 0.0


def test_a_task_is_the_mean_of_its_steps_and_undecided_ones_failed():
    right, wrong = StepScore(1.0, 1.0, True), StepScore(1.0, 0.5, False)
    assert measures([right] * 4, 4) == {"ssr": 1.0, "tsr": 1.0, "element_accuracy": 1.0, "operation_f1": 1.0}
    assert measures([right, wrong, right, right], 4) == {
        "ssr": 0.75,
        "tsr": 0.0,
        "element_accuracy": 1.0,
        "operation_f1": 0.875,
    }
    assert measures([right], 4) == {"ssr": 0.25, "tsr": 0.0, "element_accuracy": 0.25, "operation_f1": 0.25}
    assert measures([], 4)["ssr"] == 0.0


# Candidates


def step(count=60, **more):
    (found,) = task(action(1)).steps
    others = tuple(Candidate(str(n), "a", **more) for n in range(100, 100 + count))
    return replace(found, negatives=others)


def test_without_ranks_the_right_one_is_among_others_drawn_at_random():
    nodes = {seed: [c.node for c in offered(step(), "t", seed, 20)] for seed in range(40)}
    assert all(len(set(found)) == 20 and "10" in found for found in nodes.values())
    assert len({frozenset(found) for found in nodes.values()}) == 40
    assert len({node for found in nodes.values() for node in found}) == 61
    places = Counter(found.index("10") for found in nodes.values())
    assert len(places) > 10


def test_equal_seed_task_and_step_give_equal_candidates_and_each_of_them_matters():
    base = offered(step(), "t", 7, 20)
    assert offered(step(), "t", 7, 20) == base
    shuffled = replace(step(), negatives=step().negatives[::-1])
    assert offered(shuffled, "t", 7, 20) == base
    for other in (
        offered(step(), "u", 7, 20),
        offered(step(), "t", 8, 20),
        offered(replace(step(), uid="x"), "t", 7, 20),
    ):
        assert other != base


def test_with_ranks_the_best_are_offered_and_the_right_one_only_if_it_is_among_them():
    ranked = tuple(Candidate(str(100 + n), "a", rank=n) for n in range(30))
    for rank, there in ((0, True), (4, True), (30, False)):
        found = replace(step(), negatives=ranked, positives=(Candidate("10", "button", rank=rank),))
        nodes = {c.node for c in offered(found, "t", 7, 5)}
        assert len(nodes) == 5
        assert ("10" in nodes) is there


def test_a_score_counts_before_a_rank_that_was_forced():
    ranked = tuple(Candidate(str(100 + n), "a", rank=n, score=1 / (n + 1)) for n in range(30))
    forced = replace(step(), negatives=ranked, positives=(Candidate("10", "button", rank=0, score=0.001),))
    assert ranking(forced)[-1].node == "10"
    assert "10" not in {c.node for c in offered(forced, "t", 7, 5)}


def test_ranks_of_some_are_no_ranking():
    some = (Candidate("100", "a", rank=0), Candidate("101", "a"))
    assert ranking(replace(step(), negatives=some)) is None


def test_a_step_that_lists_the_right_element_first_does_not_offer_it_first(data_dir):
    found = find_tasks(data_dir / "mind2web" / "skillgen_test_100steps.json")
    places = Counter()
    for each in found:
        for step in each.steps:
            right = {c.node for c in step.positives}
            order = [c.node for c in offered(step, each.id, 7)]
            places[next(n for n, node in enumerate(order) if node in right)] += 1
    assert places[0] <= 12
    assert len(places) >= 20
