"""Analyses along levels: slopes over a factor, shares of failure labels, and what changes between two levels."""

from collections.abc import Sequence
from typing import Any

from planroute.episode import EpisodeRow
from planroute.experiments.analyses.inputs import Inputs, level_of, paired_values
from planroute.experiments.compare import mean_known
from planroute.experiments.outcomes import by_condition, value_of
from planroute.statistics import paired_t, slope


def slopes(inputs: Inputs, *, x: str, y: Sequence[str]) -> dict[str, Any]:
    """Least-squares slope of each figure in ``y`` over the levels of ``x``, by condition, over episodes.

    Source: cyber-physical paper, E3 (groundedness and J over forecast noise).
    """
    found: dict[str, Any] = {}
    for condition, rows in by_condition(inputs.rows).items():
        found[condition] = {}
        for name in y:
            points = [(level_of(row, x), value) for row in rows if (value := value_of(row, name)) is not None]
            fitted = slope([a for a, _ in points], [b for _, b in points])
            found[condition][name] = fitted.to_dict()
    return found


def label_shares(inputs: Inputs, *, x: str) -> dict[str, Any]:
    """Share of each failure label at each level of ``x``: over all conditions, and by condition.

    Source: cyber-physical paper, E3 and Figure 5c.
    """
    grouped = {"all": [row for row in inputs.rows if row.status != "infrastructure"], **by_condition(inputs.rows)}
    found: dict[str, Any] = {}
    for level in sorted({level_of(row, x) for row in grouped["all"]}):
        found[f"{level:g}"] = {}
        for name, rows in grouped.items():
            labels = [str(row.failure) for row in rows if level_of(row, x) == level]
            found[f"{level:g}"][name] = {label: labels.count(label) / len(labels) for label in sorted(set(labels))}
    return found


def contrast(
    inputs: Inputs, *, condition: str, factor: str, start: float, end: float, metrics: Sequence[str]
) -> dict[str, Any]:
    """What changes from level ``start`` to level ``end`` of ``factor``: means, ratio, difference, paired t over seeds.

    Source: cyber-physical paper, E5 (honesty 1 against 0).
    """
    rows = inputs.of(condition)
    found = {}
    for name in metrics:
        before = {row.seed: value_of(row, name) for row in rows if level_of(row, factor) == start}
        after = {row.seed: value_of(row, name) for row in rows if level_of(row, factor) == end}
        both = [
            (float(a), float(b)) for seed, a in before.items() if a is not None and (b := after.get(seed)) is not None
        ]
        first, last = mean_known([a for a, _ in both]), mean_known([b for _, b in both])
        tested = paired_t([b for _, b in both], [a for a, _ in both]) if len(both) > 1 else None
        found[name] = {
            "start": first,
            "end": last,
            "ratio": last / first if first and last is not None else None,
            "paired": tested.to_dict() if tested else None,
        }
    return found


def paired(
    inputs: Inputs, *, pairs: Sequence[Sequence[str]], metrics: Sequence[str], by: str | None = None
) -> dict[str, Any]:
    """Paired t-tests between conditions over tasks and seeds: first minus second, for each metric.

    With ``by`` at each level of that factor apart. A pair of which one did not run is left out.
    Source: cyber-physical paper, E2 and E4.
    """
    if by is None:
        return _paired(inputs.rows, pairs, metrics)
    levels = sorted({level_of(row, by) for row in inputs.rows})
    return {
        f"{level:g}": _paired([row for row in inputs.rows if level_of(row, by) == level], pairs, metrics)
        for level in levels
    }


def _paired(rows: Sequence[EpisodeRow], pairs: Sequence[Sequence[str]], metrics: Sequence[str]) -> dict[str, Any]:
    grouped = by_condition(rows)
    found: dict[str, Any] = {}
    for first, second in pairs:
        if first not in grouped or second not in grouped:
            continue
        found[f"{first}-{second}"] = {}
        for name in metrics:
            a, b, _ = paired_values(grouped[first], grouped[second], lambda row, name=name: value_of(row, name))  # type: ignore[misc]
            found[f"{first}-{second}"][name] = paired_t(a, b).to_dict() if len(a) > 1 else None
    return found
