"""Prosumers: who they are, what they remember, and how they answer a request.

Base willingness follows the cyber-physical paper's ingredients (cooperation game with reciprocity, exploitation memory,
comfort fatigue and archetype bias; section III). A message adds a bounded shift, attenuated by resistance. Whether a
prosumer complies, and how much of a request becomes real, stay random draws of the prosumer's own.

Arrays have the nodes on their last axis; leading axes, where given, are independent cases.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.coefficients import ARCHETYPES, Response
from planroute.domains.grid.profiles import HOURS
from planroute.streams import stream

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]

LESS_THAN_HALF = 0.5 - 1e-9
"""Neighbours who complied below this are less than half of them, in whatever order their mean was added up."""


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """The prosumers of one seed, one at each node.

    ``archetype`` indexes ``ARCHETYPES``; ``neighbourhood`` is (..., nodes, nodes), row i averaging over i's neighbours.
    """

    archetype: IntArray
    resistance: FloatArray
    flexible_share: FloatArray
    neighbourhood: FloatArray

    @property
    def nodes(self) -> int:
        """How many there are."""
        return int(self.archetype.shape[-1])


@dataclass(frozen=True, slots=True, eq=False)
class LatentDraws:
    """All draws behind the answers of one day, each (24, nodes).

    They belong to (seed, hour, node) and are drawn at once, so no condition can shift those of another:
    ``narrative`` decides whose message is evaluated, ``compliance`` who complies, ``realised`` how much becomes real.
    """

    narrative: FloatArray
    compliance: FloatArray
    realised: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What prosumers remember. Never changed in place.

    ``fatigue`` decays by the hour; ``exploitation`` counts how often one complied while most neighbours did not;
    ``complied`` is each one's last answer (one half before any); ``asked`` and ``agreed`` count so far.
    """

    fatigue: FloatArray
    exploitation: FloatArray
    complied: FloatArray
    asked: FloatArray
    agreed: FloatArray

    @classmethod
    def blank(cls, nodes: int, *leading: int) -> "Memory":
        """The memory before any request; ``leading`` are the lengths of axes before the nodes."""
        zero = np.zeros((*leading, nodes))
        return cls(zero, zero, np.full((*leading, nodes), 0.5), zero, zero)

    def neighbours_complied(self, population: Population) -> FloatArray:
        """Mean last answer among each prosumer's neighbours, in [0, 1]."""
        averages = np.swapaxes(population.neighbourhood, -1, -2)
        if averages.ndim == 2:
            return np.asarray(self.complied @ averages)
        return np.asarray((self.complied[..., None, :] @ averages)[..., 0, :])

    def compliance_rate(self) -> FloatArray:
        """Observed compliance of each prosumer, (agreed + 1) / (asked + 2), so one half before any request."""
        return np.asarray((self.agreed + 1) / (self.asked + 2))


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """How one hour's requests were answered: probability, compliance, and realised curtailment in MW, per node."""

    probability: FloatArray
    complied: BoolArray
    realised: FloatArray


@lru_cache(maxsize=1024)
def population(seed: int, nodes: int, mean_resistance: float, response: Response) -> Population:
    """Draw the prosumers of ``seed``: archetypes, resistance, and a small-world social network."""
    return made_of(*drawn(seed, nodes, response), mean_resistance, response)


def drawn(seed: int, nodes: int, response: Response) -> tuple[IntArray, FloatArray, FloatArray]:
    """Draw archetypes (nodes,), a number in [0, 1) for each resistance (nodes,), and who is whose neighbour.

    Archetypes are stratified along the feeder: each run of six nodes holds every archetype once, in random order, so
    that no lateral is made of skeptics by chance. Neighbours are (nodes, nodes), 1 or 0.
    """
    import networkx

    kinds, order = len(ARCHETYPES), stream(seed, "population", "archetype")
    archetype = np.concatenate([order.permutation(kinds) for _ in range(-(-nodes // kinds))])[:nodes]
    unit = stream(seed, "population", "resistance").random(nodes)
    neighbours = min(response.neighbours, nodes - 1)
    network = stream(seed, "population", "network")
    graph = networkx.watts_strogatz_graph(nodes, neighbours, response.rewiring, seed=network)
    return archetype, unit, networkx.to_numpy_array(graph)


def made_of(
    archetype: IntArray, unit: FloatArray, adjacency: FloatArray, mean_resistance: float, response: Response
) -> Population:
    """Make the prosumers that were drawn: ``archetype`` and ``unit`` in [0, 1) for resistance are (..., nodes).

    ``adjacency`` is (..., nodes, nodes), 1 between neighbours and 0 elsewhere.
    """
    spread = response.resistance_spread * (2 * unit - 1)
    degree = np.maximum(adjacency.sum(axis=-1, keepdims=True), 1)
    return Population(
        archetype=archetype,
        resistance=np.clip(mean_resistance + spread, 0.0, 1.0),
        flexible_share=np.full(archetype.shape[-1], response.flexible_share),
        neighbourhood=adjacency / degree,
    )


@lru_cache(maxsize=1024)
def latent_draws(seed: int, nodes: int, response: Response) -> LatentDraws:
    """Draw what lies behind all answers of ``seed``'s day. Each of the three has a stream of its own."""
    return LatentDraws(
        narrative=stream(seed, "response", "narrative").random((HOURS, nodes)),
        compliance=stream(seed, "response", "compliance").random((HOURS, nodes)),
        realised=stream(seed, "response", "realised").beta(*response.realised_beta, (HOURS, nodes)),
    )


def willingness(
    requested: FloatArray,
    flexible: FloatArray,
    memory: Memory,
    people: Population,
    response: Response,
    neighbours: FloatArray | None = None,
) -> FloatArray:
    """Probability to comply before any message, not yet bounded.

    ``requested`` and ``flexible`` are MW per node. Archetype bias, plus reciprocity, less exploitation memory, comfort
    fatigue, and what a request close to or above one's flexible load costs in goodwill. ``neighbours`` is how many of
    one's neighbours complied, where it is known already.
    """
    near = memory.neighbours_complied(people) if neighbours is None else neighbours
    ratio = requested / np.maximum(flexible, 1e-12)
    return np.asarray(
        np.asarray(response.bias)[people.archetype]
        + response.reciprocity_weight * (near - 0.5)
        - response.exploitation_weight * memory.exploitation
        - response.fatigue_weight * memory.fatigue
        - response.over_ask_weight * np.maximum(ratio - response.over_ask_from, 0.0)
    )


def sampled(requested: FloatArray, narrative: FloatArray, response: Response) -> BoolArray:
    """Which targeted prosumers' message is evaluated: the common-random-number 40 %."""
    return np.asarray((requested > 0) & (narrative < response.sampled_share))


def calibrated_shifts(people: Population, response: Response) -> FloatArray:
    """The archetypes' mean message shifts, per node, before resistance: they stand in for a language model."""
    return np.asarray(response.mean_shift)[people.archetype]


def attenuated(shift: FloatArray, people: Population, response: Response) -> FloatArray:
    """The shift that remains of ``shift``: bounded to +-0.30, times one minus resistance."""
    return np.asarray(np.clip(shift, -response.shift_limit, response.shift_limit) * (1 - people.resistance))


def answer(
    requested: FloatArray,
    flexible: FloatArray,
    base: FloatArray,
    shift: FloatArray,
    compliance: FloatArray,
    realised: FloatArray,
    response: Response,
) -> Answer:
    """Decide compliance and realised curtailment from base willingness, attenuated shift, and the latent draws.

    Nobody curtails more than was asked or than is flexible; who was not asked does nothing.
    """
    probability = np.clip(base + shift, *response.probability_bounds)
    complied = (requested > 0) & (compliance < probability)
    return Answer(probability, complied, np.where(complied, np.minimum(requested * realised, flexible), 0.0))


def remember(
    memory: Memory,
    requested: FloatArray,
    flexible: FloatArray,
    given: Answer,
    people: Population,
    response: Response,
    hours: int | IntArray = 1,
) -> Memory:
    """Return the memory after one hour's requests and answers, ``hours`` (by case) after the requests before.

    A request tires whoever complies by its depth, request over flexible load, and rest recovers. One is exploited when
    one complied while less than half of one's neighbours did.
    """
    return remembered(memory, requested, flexible, given, people, response, hours)[0]


def remembered(
    memory: Memory,
    requested: FloatArray,
    flexible: FloatArray,
    given: Answer,
    people: Population,
    response: Response,
    hours: int | IntArray = 1,
) -> tuple[Memory, FloatArray]:
    """As ``remember``, and how many of each one's neighbours complied by then, which it has to know."""
    targeted = requested > 0
    effort = given.complied * requested / np.maximum(flexible, 1e-12)
    rested: float | FloatArray
    if isinstance(hours, int):
        rested = response.fatigue_decay**hours
    else:  # looked up, since a power of an array may round otherwise than a power of numbers
        rested = np.array([response.fatigue_decay**gap for gap in range(HOURS)])[hours][..., None]
    complied = np.where(targeted, given.complied, memory.complied)
    after = Memory(
        fatigue=rested * memory.fatigue + effort,
        exploitation=memory.exploitation,
        complied=complied,
        asked=memory.asked + targeted,
        agreed=memory.agreed + given.complied,
    )
    near = after.neighbours_complied(people)
    exploited = given.complied & (near < LESS_THAN_HALF)
    return Memory(after.fatigue, after.exploitation + exploited, complied, after.asked, after.agreed), near
