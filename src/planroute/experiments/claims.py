"""The paper's values beside ours, each with a verdict that follows from a written rule.

``reproduced``  close to the paper's value, on a figure that nothing was fitted to
``in-sample``   close to the paper's value, on a figure that the calibration was fitted to: no evidence
``setting``     given by the paper and in force here, so no result
``differs``     not close
``holds``, ``fails``  a direction that must hold, on the experiment's seeds and again on fresh ones
``context``     the paper's value is of another model and is printed beside ours without a verdict
``not_run``     no value of ours

Close: within the claim's tolerance of the paper's value (10 % where nothing else is said), or the paper's value lies
inside our 95 % interval. An interval that is wide enough covers anything, so ours is printed with it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from planroute.experiments.definition import Claim, Direction, Experiment

_PLACE = re.compile(r"[0-9]{1,9}")


def judged_claims(experiment: Experiment, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every claim and direction of ``experiment`` with our value, our interval, and the verdict.

    Where the experiment has replicated itself, ``fresh`` of a claim says how far ours moves between studies on fresh
    seeds, and every direction is followed by itself on all fresh seeds.
    """
    again = next((f"analyses/{one.name}" for one in experiment.analyses if one.kind == "replicate"), None)
    return [
        *(_claim(claim, result, again) for claim in experiment.claims),
        *_directions(experiment.directions, result, again),
    ]


def holds(direction: Direction, result: Mapping[str, Any], at: str = "") -> bool | None:
    """Whether ``direction`` holds in ``result``, its paths taken from ``at``; ``None`` where a value is missing."""
    known = [value for path in direction.paths if (value := number_at(result, at + path)) is not None]
    if len(known) < len(direction.paths):
        return None
    return (
        all(a < b for a, b in pairwise(known))
        and (direction.at_least is None or known[0] >= direction.at_least)
        and (direction.at_most is None or known[0] <= direction.at_most)
    )


def number_at(result: Mapping[str, Any], path: str) -> float | None:
    """Return the number at ``path``; ``None`` where there is none."""
    found = value_at(result, path)
    return float(found) if isinstance(found, int | float) and result.get("status") != "not_run" else None


def value_at(result: Mapping[str, Any], path: str) -> Any:
    """Return what stands at ``path``, names joined by ``/``; ``None`` where there is nothing."""
    found: Any = result
    for name in path.split("/"):
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, Sequence) and not isinstance(found, str) and _PLACE.fullmatch(name):
            if int(name) >= len(found):
                return None
            found = found[int(name)]
        else:
            return None
    return found


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


def _claim(claim: Claim, result: Mapping[str, Any], again: str | None) -> dict[str, Any]:
    ours, interval = number_at(result, claim.ours), _interval(result, claim.ours)
    ranges = value_at(result, f"{again}/ranges") if again else None
    fresh = value_at(result, claim.fresh) if claim.fresh else (ranges or {}).get(claim.ours)
    return {
        "what": claim.what,
        "where": claim.where,
        "paper": claim.paper,
        "paper_interval": list(claim.interval) if claim.interval else None,
        "ours": ours,
        "interval": interval,
        "fresh": fresh,
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
    if claim.setting:
        return "setting" if abs(ours - claim.paper) <= 1e-9 * abs(claim.paper) else "differs"
    near = abs(ours - claim.paper) <= max(claim.tolerance * abs(claim.paper), claim.absolute)
    covered = interval is not None and interval[0] <= claim.paper <= interval[1]
    if near or covered:
        return "in-sample" if claim.tuned else "reproduced"
    return "differs"


def _directions(
    directions: Sequence[Direction], result: Mapping[str, Any], again: str | None
) -> Iterator[dict[str, Any]]:
    for direction in directions:
        yield _direction(direction, result)
        if again and holds(direction, result, f"{again}/") is not None:
            fresh: Mapping[str, Any] = value_at(result, again)
            shown, size = fresh["holds"].get(direction.what), fresh["size"]
            yield {
                **_direction(direction, result, f"{again}/"),
                "where": f"{len(fresh['seeds'])} fresh seeds",
                "note": f"{shown} of {fresh['studies']} studies of {size} fresh seeds show it",
            }


def _direction(direction: Direction, result: Mapping[str, Any], at: str = "") -> dict[str, Any]:
    held = holds(direction, result, at)
    return {
        "what": direction.what,
        "where": direction.where,
        "values": [{"path": at + path, "value": number_at(result, at + path)} for path in direction.paths],
        "at_least": direction.at_least,
        "at_most": direction.at_most,
        "verdict": "not_run" if held is None else "holds" if held else "fails",
        "note": direction.note,
    }
