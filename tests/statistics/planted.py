"""A thousand simulations under a fixed seed: is something found as often as it should be?"""

import numpy as np

SIMULATIONS = 1000
DRAWS = 399


def rates(once, seed, times=SIMULATIONS):
    """Return the share of simulations in which each answer of ``once(rng)`` is true; every answer must be given."""
    rng = np.random.default_rng(seed)
    answers = np.array([once(rng) for _ in range(times)])
    assert answers.dtype == bool, "an answer was not given"
    return answers.mean(axis=0)


def fresh(rng):
    """Return name, seed and number of draws of a procedure, so that simulations share no draws."""
    return {"name": "planted", "seed": int(rng.integers(2**32)), "draws": DRAWS}


def nominal(rate):
    """Whether a rejection rate at .05 is what 1000 simulations of a right test give: 2.3 standard errors."""
    return 0.034 <= rate <= 0.066


def powerful(rate, wanted, tolerance=0.04):
    """Whether ``rate`` is the power that theory gives, and a power that could be missed on either side."""
    assert 0.3 < wanted < 0.97, "plant another effect: this one cannot tell a good test from a bad one"
    return abs(rate - wanted) <= tolerance


def outside(interval, truth):
    return not interval.low <= truth <= interval.high
