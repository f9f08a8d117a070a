"""Named streams: equal names give equal draws, different names have nothing to do with one another."""

import ast
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import planroute
from planroute.streams import stream

DRAWN = 0.015756069304405762
names = st.lists(st.one_of(st.integers(0, 2), st.text("ab/\\", max_size=2)), max_size=3).map(tuple)


@given(st.integers(), names)
def test_equal_names_give_equal_draws(seed, path):
    assert stream(seed, *path).random(4).tolist() == stream(seed, *path).random(4).tolist()


@given(st.integers(0, 3), names, names)
def test_other_names_give_other_draws(seed, path, other):
    assume([str(name) for name in path] != [str(name) for name in other])
    assert stream(seed, *path).random() != stream(seed, *other).random()


@given(st.integers(), st.integers(), names)
def test_other_seeds_give_other_draws(seed, other, path):
    assume(seed != other)
    assert stream(seed, *path).random() != stream(other, *path).random()


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a", "b"), ("a/b",)), (("a", "/b"), ("a/", "b")), (("a\\", "b"), ("a\\/b",)), ((1, 2), (12,)), (("",), ())],
)
def test_names_do_not_run_together(one, other):
    assert stream(7, *one).random() != stream(7, *other).random()


def test_a_name_may_hold_half_a_character_and_others_draw_as_ever():
    assert stream(7, "\ud800").random() != stream(7, "\ud801").random()
    assert stream(7, "forecast", "ä").random() == pytest.approx(DRAWN, abs=1e-15)


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


def test_no_two_purposes_draw_from_one_stream():
    """Whoever draws names a stream of its own; a name that stands at two places would tie their draws together."""
    # Statistics draw under the name that their caller gives: it says what is resampled, and is not theirs.
    places = []
    package = Path(planroute.__file__).parent
    for path in package.rglob("*.py"):
        if path.parent.name == "statistics":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "stream":
                name = [arg.value if isinstance(arg, ast.Constant) else ... for arg in node.args[1:]]
                places.append((name, f"{path.relative_to(package)}:{node.lineno}"))
    assert len(places) >= 8
    assert all(isinstance(name[0], str) for name, _ in places), places
    for (one, here), (other, there) in combinations(places, 2):
        same = len(one) == len(other) and all(a == b or ... in (a, b) for a, b in zip(one, other, strict=True))
        assert not same, f"{here} and {there} draw from one stream"
