"""Estimates in the form that every analysis gives: a number, its interval over tasks, and how much it rests on."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from planroute.statistics import cluster_bootstrap

SPARSE: Final = 10
"""Fewer episodes than that are marked as sparse."""


def estimate(values: Sequence[float], clusters: Sequence[str], name: str) -> dict[str, Any]:
    """Return mean, interval that resamples tasks, how many episodes and tasks there are, and whether those are few."""
    found = cluster_bootstrap(list(values), list(clusters), name=name)
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "episodes": found.n,
        "tasks": found.clusters,
        "sparse": found.n < SPARSE,
    }


def difference(one: Mapping[str, float], other: Mapping[str, float], side: float, name: str) -> dict[str, Any]:
    """Return how much better ``one`` is than ``other``, paired by case; ``side`` is -1 where less is better."""
    cases = [case for case in one if case in other]
    return estimate([side * (one[case] - other[case]) for case in cases], cases, name)


def excludes_zero(found: Mapping[str, Any]) -> bool:
    """Whether an interval is there and zero is outside of it."""
    low, high = found.get("low"), found.get("high")
    return low is not None and high is not None and (low > 0 or high < 0)
