"""The table of agreement of appendix E.3: people with one another, the verifier and a judge with each of them.

Only decided answers are compared; "unsure" of a person and "undecided" of the verifier are counted apart. Trajectories
are the clusters of the bootstrap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Final

from planroute.evaluation.structure.agreement import RESAMPLES, agreement

PAPER: Final[Mapping[str, Mapping[str, float]]] = {
    "verifier and A1": {"n": 100, "kappa": 0.31},
    "verifier and A2": {"n": 100, "kappa": 0.34},
    "A1 and A2": {"n": 100, "kappa": 0.35, "raw": 0.71},
}
"""Planning-as-Routing, E.3: trajectories, Cohen's kappa, raw agreement of the people. Context, not a target."""

PEOPLE, VERIFIER, JUDGE = "person", "verifier", "judge"
NOBODY: Final = "no person has labelled these trajectories yet"
ONE: Final = "one person has labelled these trajectories; two are needed"
NOT_RUN: Final = "not_run"


@dataclass(frozen=True, slots=True)
class Rating:
    """The answers of one rater by trajectory and unit; ``kind`` is person, verifier or judge.

    A rater who cannot tell has another answer than ``yes`` and ``no``; a question that was not answered is missing.
    """

    name: str
    kind: str
    answers: Mapping[tuple[str, str], str]


def table(ratings: Sequence[Rating], *, units: bool = False, resamples: int = RESAMPLES) -> list[dict[str, Any]]:
    """Return a row for each pair of raters, about the order or about single ``units``.

    People with one another come first, then the verifier, then the judge with each person. A row that cannot be filled
    is ``not_run``, with the reason.
    """
    people = [one for one in ratings if one.kind == PEOPLE and _about(one, units)]
    rows = [_row(f"{PEOPLE}-{PEOPLE}", *pair, units, resamples) for pair in combinations(people, 2)]
    if not rows:
        rows.append(_not_run(f"{PEOPLE}-{PEOPLE}", ONE if people else NOBODY))
    for kind in (VERIFIER, JUDGE):
        others = [one for one in ratings if one.kind == kind and (kind == VERIFIER or _about(one, units))]
        rows += [_row(f"{kind}-{PEOPLE}", other, person, units, resamples) for other in others for person in people]
        if others and not people:
            rows.append(_not_run(f"{kind}-{PEOPLE}", NOBODY))
    return rows


def _about(rating: Rating, units: bool) -> dict[tuple[str, str], str]:
    return {question: answer for question, answer in rating.answers.items() if bool(question[1]) is units}


def _row(kind: str, one: Rating, other: Rating, units: bool, resamples: int) -> dict[str, Any]:
    first, second = _about(one, units), _about(other, units)
    shared = sorted(first.keys() & second.keys())
    clusters: dict[str, list[tuple[str, str]]] = {}
    for question in shared:
        pair = first[question], second[question]
        if set(pair) <= {"yes", "no"}:
            clusters.setdefault(question[0], []).append(pair)
    row: dict[str, Any] = {
        "kind": kind,
        "raters": [one.name, other.name],
        "status": "run",
        "shared": len(shared),
        "unsure": [sum(answers[question] not in ("yes", "no") for question in shared) for answers in (first, second)],
    }
    if not clusters:
        return row | {"status": NOT_RUN, "reason": "no question that both have decided"}
    found = asdict(agreement(list(clusters.values()), resamples=resamples))
    found["n"] = found.pop("items")
    return row | found


def _not_run(kind: str, reason: str) -> dict[str, Any]:
    return {"kind": kind, "status": NOT_RUN, "reason": reason}
