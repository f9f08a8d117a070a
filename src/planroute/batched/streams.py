"""Many streams at once: the numbers that ``planroute.streams.stream`` draws for each of them, by compiled code.

Making a generator costs more than most of its draws, so seeding, uniform draws, shuffles and the rewiring of networks
are done here for all seeds together. Sources: O'Neill, PCG (HMC-CS-2014-0905), XSL-RR with 128 bits of state; the seed
sequence of NumPy (NEP 19); Fisher-Yates shuffles; Watts & Strogatz, Nature 393 (1998).
``planroute.batched.draws`` holds these against the generators of the installed libraries before it relies on them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.compiled import compiled

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
States = NDArray[np.uint64]
"""One row per stream: state and increment of its generator, each as a high and a low half."""

_WORDS = 8
_POOL = 4
_U = np.uint64
_LOW_HALF = _U(0xFFFFFFFF)
_MULTIPLIER_HIGH, _MULTIPLIER_LOW = _U(0x2360ED051FC65DA4), _U(0x4385DF649FCCF645)
_ONE, _ELEVEN, _SIXTEEN, _WORD, _ROTATION, _TOP = _U(1), _U(11), _U(16), _U(32), _U(58), _U(63)
_BITS = _U(64)
_UNIT = 1.0 / 9007199254740992.0
_FIRST_IN, _NEXT_IN = _U(0x43B0D7E5), _U(0x931E8875)
_FIRST_OUT, _NEXT_OUT = _U(0x8B51F9DD), _U(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = _U(0xCA01F9DD), _U(0x4973F715)


def seeded(keys: Sequence[bytes]) -> States:
    """Return the generator states of the streams that ``keys`` (``planroute.streams.keys``) seed."""
    words = np.frombuffer(b"".join(keys), ">u4").reshape(-1, _WORDS)[:, ::-1].astype(np.uint64)
    states = np.empty((len(words), 4), np.uint64)
    _seed(words, states)
    return states


def as_state(row: NDArray[np.uint64]) -> dict[str, Any]:
    """Return one row of states in the form that a NumPy ``PCG64`` takes."""
    high, low, step_high, step_low = (int(half) for half in row)
    state = {"state": high << 64 | low, "inc": step_high << 64 | step_low}
    return {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}


def uniform(states: States, count: int) -> FloatArray:
    """Return each stream's first ``count`` draws in [0, 1), shape (streams, count)."""
    drawn = np.empty((len(states), count))
    _uniform(states, drawn)
    return drawn


def shuffled(states: States, kinds: int, nodes: int) -> IntArray:
    """Return permutations of ``kinds`` one after the other, cut after ``nodes``, shape (streams, nodes)."""
    drawn = np.empty((len(states), -(-nodes // kinds) * kinds), np.int64)
    _shuffled(states, kinds, drawn)
    return drawn[:, :nodes]


def rewired(states: States, nodes: int, neighbours: int, rewiring: float) -> FloatArray:
    """Return the small-world networks of the streams: 1 between neighbours, shape (streams, nodes, nodes)."""
    adjacency = np.zeros((len(states), nodes, nodes))
    _rewired(states, neighbours, rewiring, adjacency)
    return adjacency


@compiled
def _hashed(value: np.uint64, constant: np.uint64, factor: np.uint64) -> tuple[np.uint64, np.uint64]:
    """A hashed word of 32 bits, and the constant for the next one."""
    value ^= constant
    constant = (constant * factor) & _LOW_HALF
    value = (value * constant) & _LOW_HALF
    return value ^ (value >> _SIXTEEN), constant


@compiled
def _mixed(one: np.uint64, other: np.uint64) -> np.uint64:
    value = (_MIX_LEFT * one - _MIX_RIGHT * other) & _LOW_HALF
    return value ^ (value >> _SIXTEEN)


@compiled
def _seed(words: NDArray[np.uint64], states: States) -> None:
    pool, out = np.empty(_POOL, np.uint64), np.empty(_WORDS, np.uint64)
    for row in range(len(words)):
        length = _WORDS  # of the key as a number: leading zeros are no part of it
        while length > 1 and words[row, length - 1] == 0:
            length -= 1
        constant = _FIRST_IN
        for i in range(_POOL):
            pool[i], constant = _hashed(words[row, i] if i < length else _U(0), constant, _NEXT_IN)
        for source in range(_POOL):
            for target in range(_POOL):
                if source != target:
                    value, constant = _hashed(pool[source], constant, _NEXT_IN)
                    pool[target] = _mixed(pool[target], value)
        for source in range(_POOL, length):
            for target in range(_POOL):
                value, constant = _hashed(words[row, source], constant, _NEXT_IN)
                pool[target] = _mixed(pool[target], value)
        constant = _FIRST_OUT
        for i in range(_WORDS):
            out[i], constant = _hashed(pool[i % _POOL], constant, _NEXT_OUT)
        high, low = out[0] | (out[1] << _WORD), out[2] | (out[3] << _WORD)
        step_high, step_low = out[4] | (out[5] << _WORD), out[6] | (out[7] << _WORD)
        state = states[row]
        state[2], state[3] = (step_high << _ONE) | (step_low >> _TOP), (step_low << _ONE) | _ONE
        state[0], state[1] = state[2], state[3]  # one step from zero
        state[1] += low
        state[0] += high + (_ONE if state[1] < low else _U(0))
        _step(state)


@compiled
def _high_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 bits of a product."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _WORD, b & _LOW_HALF, b >> _WORD
    low = a_low * b_low
    middle = a_high * b_low + (low >> _WORD)
    other = a_low * b_high + (middle & _LOW_HALF)
    return a_high * b_high + (middle >> _WORD) + (other >> _WORD)


@compiled
def _step(state: NDArray[np.uint64]) -> None:
    low = state[1] * _MULTIPLIER_LOW
    high = _high_product(state[1], _MULTIPLIER_LOW) + state[0] * _MULTIPLIER_LOW + state[1] * _MULTIPLIER_HIGH
    state[1] = low + state[3]
    state[0] = high + state[2] + (_ONE if state[1] < low else _U(0))


@compiled
def _next(state: NDArray[np.uint64]) -> Any:
    _step(state)
    value = state[0] ^ state[1]
    turn = state[0] >> _ROTATION
    return (value >> turn) | (value << ((_BITS - turn) & _TOP))


@compiled
def _next_half(state: NDArray[np.uint64], kept: NDArray[np.uint64]) -> Any:
    """32 bits; the other half of a draw is kept for the next time."""
    if kept[0]:
        kept[0] = _U(0)
        return kept[1]
    value = _next(state)
    kept[0], kept[1] = _ONE, value >> _WORD
    return value & _LOW_HALF


@compiled
def _uniform(states: States, drawn: FloatArray) -> None:
    state = np.empty(4, np.uint64)
    for row in range(len(states)):
        state[:] = states[row]
        for i in range(drawn.shape[1]):
            drawn[row, i] = (_next(state) >> _ELEVEN) * _UNIT


@compiled
def _shuffled(states: States, kinds: int, drawn: IntArray) -> None:
    state, kept = np.empty(4, np.uint64), np.zeros(2, np.uint64)
    for row in range(len(states)):
        state[:] = states[row]
        kept[0] = _U(0)
        for start in range(0, drawn.shape[1], kinds):
            for i in range(kinds):
                drawn[row, start + i] = i
            for i in range(kinds - 1, 0, -1):
                mask = _ONE
                while mask < _U(i):
                    mask = (mask << _ONE) | _ONE
                half = _next_half(state, kept) & mask
                while half > _U(i):
                    half = _next_half(state, kept) & mask
                j = np.int64(half)
                drawn[row, start + i], drawn[row, start + j] = drawn[row, start + j], drawn[row, start + i]


@compiled
def _chosen(state: NDArray[np.uint64], kept: NDArray[np.uint64], count: int) -> Any:
    """One of ``count``: as many random bits as it has, first byte first, until they are below it."""
    bits = 0
    while count >> bits:
        bits += 1
    size = (bits + 7) // 8
    while True:
        half = _next_half(state, kept)
        value = np.int64(0)
        for i in range(size):
            value = (value << 8) | np.int64((half >> _U(8 * i)) & _U(0xFF))
        value >>= 8 * size - bits
        if value < count:
            return value


@compiled
def _rewired(states: States, neighbours: int, rewiring: float, adjacency: FloatArray) -> None:
    nodes = adjacency.shape[1]
    state, kept = np.empty(4, np.uint64), np.zeros(2, np.uint64)
    degree = np.empty(nodes, np.int64)
    for row in range(len(states)):
        state[:] = states[row]
        kept[0] = _U(0)
        edge = adjacency[row]
        for distance in range(1, neighbours // 2 + 1):
            for u in range(nodes):
                v = (u + distance) % nodes
                edge[u, v] = edge[v, u] = 1.0
        for u in range(nodes):
            degree[u] = np.int64(edge[u].sum())
        for distance in range(1, neighbours // 2 + 1):
            for u in range(nodes):
                if (_next(state) >> _ELEVEN) * _UNIT >= rewiring:
                    continue
                v = (u + distance) % nodes
                w = _chosen(state, kept, nodes)
                kept_edge = False
                while w == u or edge[u, w] != 0.0:
                    w = _chosen(state, kept, nodes)
                    if degree[u] >= nodes - 1:
                        kept_edge = True
                        break
                if not kept_edge:
                    edge[u, v] = edge[v, u] = 0.0
                    edge[u, w] = edge[w, u] = 1.0
                    degree[v] -= 1
                    degree[w] += 1
