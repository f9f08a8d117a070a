"""All that is drawn for a day, for many seeds at once; it depends on no scenario, so one set serves many.

Every number is that of the same named stream under the same seed as in an episode of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from planroute.batched.streams import as_state, rewired, seeded, shuffled, uniform
from planroute.domains.grid.coefficients import ARCHETYPES, DEFAULT, Response
from planroute.domains.grid.profiles import HOURS
from planroute.domains.grid.prosumers import LatentDraws, drawn, latent_draws
from planroute.domains.grid.scheduling import forecast_draws
from planroute.streams import keys

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The draws of ``seeds``, which are the leading axis of every array.

    ``archetype`` and ``unit`` are (seeds, nodes), ``adjacency`` (seeds, nodes, nodes), ``shared`` (seeds, 24, 1) and
    ``own`` (seeds, 24, nodes), as ``prosumers.made_of`` and ``scheduling.multipliers`` take them.
    """

    seeds: IntArray
    archetype: IntArray
    unit: FloatArray
    adjacency: FloatArray
    latent: LatentDraws
    shared: FloatArray
    own: FloatArray


def draw(seeds: Sequence[int], nodes: int, response: Response) -> Draws:
    """Draw for ``seeds``: by compiled code where that gives the numbers of the installed libraries, else one by one."""
    return compiled_draws(seeds, nodes, response) if _trusted() else plain_draws(seeds, nodes, response)


def first_uniform(seeds: Sequence[int], *names: str | int) -> FloatArray:
    """Return the first draw in [0, 1) of the stream ``names`` under each of ``seeds``."""
    if _trusted():
        return uniform(seeded(keys(seeds, *names)), 1)[:, 0]
    entropy = [np.random.SeedSequence(int.from_bytes(key, "big")) for key in keys(seeds, *names)]
    return np.array([np.random.Generator(np.random.PCG64(one)).random() for one in entropy])


def compiled_draws(seeds: Sequence[int], nodes: int, response: Response) -> Draws:
    """Draw by compiled code what is uniform, and by one generator, set to stream after stream, what is not."""

    def states(*names: str) -> NDArray[np.uint64]:
        return seeded(keys(seeds, *names))

    count = len(seeds)
    bits = np.random.PCG64(0)
    generator = np.random.Generator(bits)
    realised, shared, own = (
        np.empty((count, HOURS, nodes)),
        np.empty((count, HOURS, 1)),
        np.empty((count, HOURS, nodes)),
    )
    answers, errors = states("response", "realised"), states("forecast")
    for i in range(count):
        bits.state = as_state(answers[i])  # type: ignore[assignment]
        realised[i] = generator.beta(*response.realised_beta, (HOURS, nodes))
        bits.state = as_state(errors[i])  # type: ignore[assignment]
        generator.standard_normal(out=shared[i])
        generator.standard_normal(out=own[i])
    day = (count, HOURS, nodes)
    return Draws(
        seeds=np.asarray(seeds, np.int64),
        archetype=shuffled(states("population", "archetype"), len(ARCHETYPES), nodes),
        unit=uniform(states("population", "resistance"), nodes),
        adjacency=rewired(
            states("population", "network"), nodes, min(response.neighbours, nodes - 1), response.rewiring
        ),
        latent=LatentDraws(
            narrative=uniform(states("response", "narrative"), HOURS * nodes).reshape(day),
            compliance=uniform(states("response", "compliance"), HOURS * nodes).reshape(day),
            realised=realised,
        ),
        shared=shared,
        own=own,
    )


def plain_draws(seeds: Sequence[int], nodes: int, response: Response) -> Draws:
    """Draw seed by seed with the functions of an episode."""
    people = [drawn(seed, nodes, response) for seed in seeds]
    answers = [latent_draws(seed, nodes, response) for seed in seeds]
    errors = [forecast_draws(seed, nodes) for seed in seeds]
    archetype, unit, adjacency = (np.stack(arrays) for arrays in zip(*people, strict=True))
    shared, own = (np.stack(arrays) for arrays in zip(*errors, strict=True))
    latent = LatentDraws(
        *(np.stack([getattr(one, name) for one in answers]) for name in ("narrative", "compliance", "realised"))
    )
    return Draws(np.asarray(seeds, np.int64), archetype, unit, adjacency, latent, shared, own)


@cache
def _trusted() -> bool:
    """Whether the compiled draws are those of the installed libraries, for another version may draw otherwise."""
    some = (0, 7, 1009, 2**40 + 1)
    one, other = (f(some, 40, DEFAULT.response) for f in (compiled_draws, plain_draws))
    return all(
        np.array_equal(a, b)
        for a, b in [
            *(
                (getattr(one, name), getattr(other, name))
                for name in ("archetype", "unit", "adjacency", "shared", "own")
            ),
            *(
                (getattr(one.latent, name), getattr(other.latent, name))
                for name in ("narrative", "compliance", "realised")
            ),
        ]
    )
