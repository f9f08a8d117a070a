"""A call as data: what identifies it, and what a generation profile allows."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.calls import GenerationProfile, Message, ModelRequest, Sampling

REQUEST = ModelRequest("plan", (Message("system", "s"), Message("user", "u")))


@pytest.mark.parametrize(
    "changed",
    [
        {"messages": (Message("system", "s"), Message("user", "v"))},
        {"messages": (Message("user", "s"), Message("user", "u"))},
        {"sampling": Sampling(temperature=0.3)},
        {"sampling": Sampling(seed=1)},
        {"sampling": Sampling(thinking=True)},
        {"schema": {"type": "object"}},
        {"tools": ({"name": "t"},)},
        {"draw": 1},
    ],
)
def test_whatever_can_change_an_answer_changes_the_identity(changed):
    assert replace(REQUEST, **changed).identity("e") != REQUEST.identity("e")


def test_the_purpose_does_not_identify_but_the_endpoint_does():
    assert replace(REQUEST, purpose="other").identity("e") == REQUEST.identity("e")
    assert REQUEST.identity("e") != REQUEST.identity("f")


@given(st.integers(1, 100_000), st.sampled_from([None, True, False]))
def test_a_thinking_model_gets_its_floor_and_no_other_does(most, thinking):
    sampling = GenerationProfile(max_new_tokens=most, thinking=thinking).sampling()
    assert sampling.max_tokens == (max(most, 16_384) if thinking else most)
    assert sampling.thinking is thinking
