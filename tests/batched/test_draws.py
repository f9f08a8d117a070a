"""Many streams at once: the numbers of the generators that each of them has alone."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.batched.draws import _trusted, compiled_draws, first_uniform, plain_draws
from planroute.batched.streams import seeded, uniform
from planroute.domains.grid.adding import sum_where
from planroute.domains.grid.coefficients import DEFAULT
from planroute.streams import keys, stream

SEEDS = (0, 1, 7, 2**31, 2**63 - 1)


@pytest.mark.parametrize(("nodes", "neighbours", "rewiring"), [(40, 4, 0.1), (2, 4, 0.5), (7, 6, 1.0), (300, 8, 0.3)])
def test_the_draws_of_a_day(nodes, neighbours, rewiring):
    response = replace(DEFAULT.response, neighbours=neighbours, rewiring=rewiring)
    one, other = compiled_draws(SEEDS, nodes, response), plain_draws(SEEDS, nodes, response)
    for group, twin in ((one, other), (one.latent, other.latent)):
        for field in fields(group):
            if field.name != "latent":
                assert np.array_equal(getattr(group, field.name), getattr(twin, field.name)), field.name


def test_the_compiled_draws_are_trusted_here():
    assert _trusted()


@settings(max_examples=50)
@given(st.integers(0, 2**63 - 1), st.lists(st.one_of(st.integers(0, 9), st.text(max_size=3)), max_size=3))
def test_uniform_draws_of_any_stream(seed, names):
    alone = stream(seed, *names).random(5)
    assert uniform(seeded(keys([seed], *names)), 5)[0].tolist() == alone.tolist()
    assert first_uniform([seed], *names)[0] == alone[0]


@pytest.mark.parametrize("zeros", [1, 4, 5, 16, 20, 28, 32])
def test_keys_that_begin_with_zeros(zeros):
    key = bytes(zeros) + bytes(range(200, 232 - zeros))
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(key, "big"))))
    assert uniform(seeded([key]), 3)[0].tolist() == generator.random(3).tolist()


@given(st.integers(0, 300), st.integers(0, 2**32))
def test_sums_of_some_have_the_digits_of_each_alone(count, seed):
    rng = np.random.default_rng(seed)
    values, counted = rng.random((3, count)), rng.random((3, count)) < rng.random()
    alone = [row[which].sum() for row, which in zip(values, counted, strict=True)]
    assert sum_where(values, counted).tolist() == alone
