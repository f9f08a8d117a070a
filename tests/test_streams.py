"""Named streams: equal names give equal draws, different names have nothing to do with one another."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planroute.streams import stream

names = st.lists(st.one_of(st.integers(-99, 99), st.text(max_size=6)), max_size=4).map(tuple)


@given(st.integers(), names)
def test_equal_names_give_equal_draws(seed, path):
    assert stream(seed, *path).random(4).tolist() == stream(seed, *path).random(4).tolist()


@given(st.integers(), st.integers(), names, names)
def test_other_names_or_seeds_give_other_draws(seed, other_seed, path, other):
    assume((str(seed), *map(str, path)) != (str(other_seed), *map(str, other)))
    assert stream(seed, *path).random() != stream(other_seed, *other).random()


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a", "b"), ("a/b",)), (("a", "/b"), ("a/", "b")), (("a\\", "b"), ("a\\/b",)), ((1, 2), (12,)), (("",), ())],
)
def test_names_do_not_run_together(one, other):
    assert stream(7, *one).random() != stream(7, *other).random()


def test_use_of_one_stream_does_not_move_another():
    alone = stream(7, "response").random(5)
    forecast = stream(7, "forecast")
    forecast.standard_normal(1000)
    response = stream(7, "response")
    forecast.random()
    assert response.random(5).tolist() == alone.tolist()


def test_streams_are_uncorrelated():
    purposes = ("forecast", "planning", "tool failure", "adversary", "response")
    draws = np.array([stream(seed, name).random(4000) for seed in (0, 1) for name in purposes])
    between = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(between).max() < 5 / np.sqrt(4000)
    assert np.abs(draws.mean(axis=1) - 0.5).max() < 5 * np.sqrt(1 / 12 / 4000)


def test_the_draws_are_those_of_earlier_versions():
    """Every result hangs on these: a change of the derivation is a change of all results."""
    assert stream(7, "forecast").integers(0, 1_000_000, 3).tolist() == [180432, 571714, 549170]
