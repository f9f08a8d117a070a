"""Verdicts follow the written rule, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from planroute.experiments.claims import judged_claims, value_at
from planroute.experiments.definition import Claim, Direction, Experiment

RESULT = {
    "conditions": {"SEARCH": {"objective": 105.0, "intervals": {"objective": [90.0, 120.0]}, "levels": {"a=0.5": 3.0}}},
    "analyses": {"x": {"mean_regret": 29.0, "interval": [19.0, 40.0]}, "y": {"slope": 2.0, "low": 1.0, "high": 3.0}},
    "list": [1, 2],
    "nothing": None,
    "text": "no number",
}


def holding(**parts: object) -> Experiment:
    whole = {"id": "E9", "title": "t", "question": "q", "source": "s", "seeds": [1], "forced": ["SEARCH"], **parts}
    return Experiment.model_validate(whole)


def verdict(**fields: object) -> str:
    claim = Claim.model_validate({"what": "w", "where": "s", **fields})
    experiment = Experiment(
        id="E9", title="t", question="q", source="s", seeds=(1,), forced=("SEARCH",), claims=(claim,)
    )
    return str(judged_claims(experiment, RESULT)[0]["verdict"])


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("conditions/SEARCH/objective", 105.0),
        ("conditions/SEARCH/levels/a=0.5", 3.0),
        ("list/1", 2),
        ("list/7", None),
        ("conditions/NONE/objective", None),
        ("text/0", None),
    ],
)
def test_a_path_names_one_value_or_nothing(path: str, found: object) -> None:
    assert value_at(RESULT, path) == found


def test_close_and_untuned_is_reproduced_close_and_tuned_is_in_sample() -> None:
    ours = "conditions/SEARCH/objective"
    assert verdict(paper=100, ours=ours) == "reproduced"
    assert verdict(paper=100, ours=ours, tuned=True) == "in-sample"


def test_far_differs_unless_our_interval_covers_it() -> None:
    ours = "conditions/SEARCH/objective"
    assert verdict(paper=200, ours=ours) == "differs"
    assert verdict(paper=200, ours=ours, tuned=True) == "differs"
    assert verdict(paper=91, ours=ours, tolerance=0) == "reproduced"
    assert verdict(paper=89, ours=ours, tolerance=0) == "differs"


def test_intervals_are_found_beside_every_kind_of_figure() -> None:
    assert verdict(paper=39, ours="analyses/x/mean_regret", tolerance=0) == "reproduced"
    assert verdict(paper=41, ours="analyses/x/mean_regret", tolerance=0) == "differs"
    assert verdict(paper=2.9, ours="analyses/y/slope", tolerance=0) == "reproduced"


def test_no_value_is_not_run_and_context_is_never_judged() -> None:
    assert verdict(paper=1, ours="nothing") == "not_run"
    assert verdict(paper=1, ours="text") == "not_run"
    assert verdict(paper=100, ours="conditions/SEARCH/objective", context=True) == "context"


@given(st.floats(-1e6, 1e6), st.floats(0, 1))
def test_a_value_is_always_close_to_itself_and_never_to_a_far_one(paper: float, tolerance: float) -> None:
    claim = Claim(what="w", where="s", paper=paper, ours="v", tolerance=tolerance)
    experiment = Experiment(
        id="E9", title="t", question="q", source="s", seeds=(1,), forced=("SEARCH",), claims=(claim,)
    )
    assert judged_claims(experiment, {"v": paper})[0]["verdict"] == "reproduced"
    far = paper + tolerance * abs(paper) + 1
    assert judged_claims(experiment, {"v": far})[0]["verdict"] == "differs"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"ascending": ("list/0", "list/1")}, "holds"),
        ({"ascending": ("list/1", "list/0")}, "fails"),
        ({"ascending": ("list/0", "list/0")}, "fails"),
        ({"ascending": ("list/0", "nothing")}, "not_run"),
        ({"ours": "list/1", "at_least": 2}, "holds"),
        ({"ours": "list/1", "at_least": 2.1}, "fails"),
        ({"ours": "list/1", "at_most": 1.9}, "fails"),
        ({"ours": "list/1", "at_least": 1, "at_most": 3}, "holds"),
    ],
)
def test_directions_hold_or_fail(fields: dict[str, object], expected: str) -> None:
    direction = Direction.model_validate({"what": "w", "where": "s", **fields})
    experiment = holding(directions=[direction])
    judged = judged_claims(experiment, RESULT)[0]
    assert judged["verdict"] == expected
    assert [one["path"] for one in judged["values"]] == list(direction.paths), "in the order of the statement"


def test_a_claim_can_say_where_its_fresh_range_stands() -> None:
    claim = Claim(what="w", where="s", paper=1, ours="list/0", fresh="analyses/x")
    (judged,) = judged_claims(holding(claims=[claim]), RESULT)
    assert judged["fresh"] == RESULT["analyses"]["x"]
    (judged,) = judged_claims(holding(claims=[claim.model_copy(update={"fresh": ""})]), RESULT)
    assert judged["fresh"] is None


def test_two_directions_cannot_have_the_same_words() -> None:
    one = Direction(what="w", where="s", ours="list/0", at_least=0)
    with pytest.raises(ValidationError, match="words of its own"):
        holding(directions=[one, one])
