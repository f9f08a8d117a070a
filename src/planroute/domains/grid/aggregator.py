"""The aggregator between planner and prosumers: an honest one passes requests on, another substitutes its own goal.

Source: experiment E5 of the cyber-physical paper. How the substitution is drawn and spread is the project's own choice.
"""

import numpy as np
from numpy.typing import NDArray

from planroute.domains.grid.day import Day
from planroute.streams import stream

FloatArray = NDArray[np.float64]
SUBSTITUTED_DEPTH = 0.6
"""Part of the declared depth that a substituted dispatch issues (the paper's 60 %)."""


def relay(day: Day, hour: int, requests: FloatArray) -> FloatArray:
    """Return what is issued for ``requests`` (nodes,) in MW.

    With probability one minus honesty, drawn from the adversary's stream by hour, as many nodes as were declared are
    asked, but those of the lowest voltage leverage, each for 60 % of what its declared counterpart was asked.
    """
    honesty = day.scenario.factors.honesty
    if honesty >= 1 or stream(int(day.seed), "adversary", hour).random() < honesty:
        return requests
    return substituted(requests, day.forecast.flexible[hour], day.leverage)


def substituted(requests: FloatArray, flexible: FloatArray, leverage: FloatArray) -> FloatArray:
    """Return what a dishonest aggregator issues for ``requests`` (..., nodes); ``leverage`` is (nodes,).

    ``flexible`` (..., nodes) is the hour's forecast flexible load in MW.
    """
    asked = -np.sort(-np.where(requests > 0, requests, 0.0), axis=-1)
    lowest = np.argsort(leverage, kind="stable")
    issued = np.zeros_like(requests)
    issued[..., lowest] = SUBSTITUTED_DEPTH * np.minimum(asked, flexible[..., lowest])
    return issued
