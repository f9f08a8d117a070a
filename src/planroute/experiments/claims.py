"""The paper's values beside ours, each with a verdict that follows from a written rule.

``reproduced``  close to the paper's value, on a figure that nothing was fitted to
``in-sample``   close to the paper's value, on a figure that the calibration was fitted to: no evidence
``differs``     not close
``holds``, ``fails``  a direction that must hold
``context``     the paper's value is of another model and is printed beside ours without a verdict
``not_run``     no value of ours

Close: within the claim's tolerance of the paper's value (10 % where nothing else is said), or the paper's value lies
inside our 95 % interval. An interval that is wide enough covers anything, so ours is printed with it.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from planroute.experiments.definition import Claim, Direction, Experiment


def judged_claims(experiment: Experiment, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every claim and direction of ``experiment`` with our value, our interval, and the verdict."""
    claims = [_claim(claim, result) for claim in experiment.claims]
    return claims + [_direction(direction, result) for direction in experiment.directions]


def value_at(result: Mapping[str, Any], path: str) -> Any:
    """Return what stands at ``path``, names joined by ``/``; ``None`` where there is nothing."""
    found: Any = result
    for name in path.split("/"):
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, Sequence) and not isinstance(found, str) and name.lstrip("-").isdigit():
            try:
                found = found[int(name)]
            except IndexError:
                return None
        else:
            return None
    return found


def _number(result: Mapping[str, Any], path: str) -> float | None:
    found = value_at(result, path)
    return float(found) if isinstance(found, int | float) else None


def _interval(result: Mapping[str, Any], path: str) -> list[float] | None:
    """Our interval of the value at ``path``: beside it by one of the names that results use."""
    head, _, last = path.rpartition("/")
    beside = value_at(result, head) if head else result
    if not isinstance(beside, Mapping):
        return None
    for found in (
        beside.get(f"{last}_interval"),
        value_at(beside, f"intervals/{last}"),
        beside.get("interval") if last in ("mean_regret", "mean") else None,
    ):
        if isinstance(found, Sequence) and len(found) == 2 and all(isinstance(x, int | float) for x in found):
            return [float(found[0]), float(found[1])]
    low, high = beside.get("low"), beside.get("high")
    if last in ("mean", "slope", "difference", "beta", "h", "v", "share") and low is not None and high is not None:
        return [float(low), float(high)]
    return None


def _claim(claim: Claim, result: Mapping[str, Any]) -> dict[str, Any]:
    ours, interval = _number(result, claim.ours), _interval(result, claim.ours)
    return {
        "what": claim.what,
        "where": claim.where,
        "paper": claim.paper,
        "paper_interval": list(claim.interval) if claim.interval else None,
        "ours": ours,
        "interval": interval,
        "path": claim.ours,
        "tuned": claim.tuned,
        "verdict": _verdict(claim, ours, interval),
        "note": claim.note,
    }


def _verdict(claim: Claim, ours: float | None, interval: list[float] | None) -> str:
    if claim.context:
        return "context" if ours is not None else "not_run"
    if ours is None:
        return "not_run"
    near = abs(ours - claim.paper) <= max(claim.tolerance * abs(claim.paper), claim.absolute)
    covered = interval is not None and interval[0] <= claim.paper <= interval[1]
    if near or covered:
        return "in-sample" if claim.tuned else "reproduced"
    return "differs"


def _direction(direction: Direction, result: Mapping[str, Any]) -> dict[str, Any]:
    paths = direction.ascending or ((direction.ours,) if direction.ours else ())
    values = [_number(result, path) for path in paths]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        verdict = "not_run"
    else:
        holds = all(a < b for a, b in pairwise(known))
        if direction.at_least is not None:
            holds = holds and known[0] >= direction.at_least
        if direction.at_most is not None:
            holds = holds and known[0] <= direction.at_most
        verdict = "holds" if holds else "fails"
    return {
        "what": direction.what,
        "where": direction.where,
        "values": dict(zip(paths, values, strict=True)),
        "at_least": direction.at_least,
        "at_most": direction.at_most,
        "verdict": verdict,
        "note": direction.note,
    }
