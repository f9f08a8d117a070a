"""Named streams: equal names give equal draws, different names have nothing to do with one another."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import planroute
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


def test_no_two_purposes_draw_from_one_stream():
    """Whoever draws names a stream of its own; a name that stands at two places would tie their draws together."""
    places = {}
    package = Path(planroute.__file__).parent
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "stream":
                name = tuple(arg.value if isinstance(arg, ast.Constant) else "*" for arg in node.args[1:])
                places.setdefault(name, []).append(f"{path.relative_to(package)}:{node.lineno}")
    assert len(places) >= 8
    assert all(isinstance(name[0], str) and name[0] != "*" for name in places), places
    assert [found for found in places.values() if len(found) > 1] == []
