"""The table of a grid comparison: a line for each metric, with what it means and which way is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.reporting.reading import Run
from planroute.reporting.verdict import Standing, known
from planroute.reporting.wording import counted, label, mean, number, percent, prose


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as the table shows it. ``better`` is ``lower``, ``higher`` or empty."""

    key: str
    name: str
    about: str
    better: str = ""
    digits: int = 0


GROUPS: Sequence[tuple[str, Sequence[Metric]]] = (
    (
        "Cost",
        (
            Metric("objective", "J", "cost of the day: {weights}", "lower"),
            Metric("objective_ac", "J under AC", "the same cost, settled by full AC power flow", "lower"),
            Metric("regret", "Regret", "J above the cheapest forced mode of the same seed", "lower"),
        ),
    ),
    (
        "Plan against deed",
        (
            Metric("faithfulness", "Faithfulness", "overlap of declared and issued targets, 0 to 1", "higher", 3),
            Metric("realisation", "Realisation", "delivered over requested reduction, 0 to 1", "higher", 3),
            Metric(
                "groundedness", "Groundedness", "requests within 105 % of the node’s flexible load, share", "higher", 3
            ),
            Metric(
                "minimality", "Minimality", "least needed over actual curtailment, in hours that succeeded", "higher", 3
            ),
            Metric("coherence", "Coherence", "1 less the share of a plan that revisions overturn", "higher", 3),
        ),
    ),
    (
        "Physics",
        (
            Metric("overcap_kwh", "Over-cap energy, kWh", "imported above the cap over the day", "lower"),
            Metric(
                "voltage_shortfall_pu", "Voltage shortfall, pu", "below the floor, over nodes and hours", "lower", 4
            ),
            Metric("curtailed_kwh", "Curtailed energy, kWh", "taken from prosumers; itself a part of J"),
        ),
    ),
    (
        "Planning",
        (
            Metric("planning_s", "Planning time, s", "stipulated cost of all planning events", "lower", 2),
            Metric("late_events", "Late events", "planning events beyond the deadline, a day", "lower", 1),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: the mean, its range over seeds, the paper's figure, and whether it is the best of the forced modes."""

    mean: str
    spread: str
    paper: str
    best: bool


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One line of the table."""

    metric: Metric
    about: str
    entries: Sequence[Entry]


def table(run: Run, weights: str) -> list[tuple[str, list[MetricRow]]]:
    """The table by group of metrics; entries stand in the order of the run's conditions."""
    return [
        (title, [MetricRow(metric, metric.about.format(weights=weights), _entries(run, metric)) for metric in metrics])
        for title, metrics in GROUPS
    ]


def _entries(run: Run, metric: Metric) -> list[Entry]:
    means = {name: known(run.result.conditions.get(name, {}).get(metric.key)) for name in run.conditions}
    shown = {name: number(value, metric.digits) for name, value in means.items()}
    rivals = {name: value for name, value in means.items() if name in run.forced and value is not None}
    best: float | None = None
    if metric.better and len({shown[name] for name in rivals}) > 1:
        best = min(rivals.values()) if metric.better == "lower" else max(rivals.values())
    entries = []
    for name in run.conditions:
        values = _values(run, name, metric.key)
        low, high = (number(end(values), metric.digits) if values else "" for end in (min, max))
        paper = run.result.paper.get(name, {}).get(metric.key)
        entries.append(
            Entry(
                shown[name],
                f"{low} – {high}" if len(values) > 1 and low != high else "",
                "" if paper is None else f"{paper:,g}",
                best is not None and name in rivals and shown[name] == number(best, metric.digits),
            )
        )
    return entries


def _values(run: Run, condition: str, key: str) -> list[float]:
    """The metric of every episode of the condition that counts."""
    if key == "planning_s":
        rows = [row for row in run.rows if row.condition == condition and row.counts]
        return [row.spent.get("planning", {}).get("planning_s") or 0.0 for row in rows]
    if key == "late_events":
        return [float(row.late_events) for row in run.rows if row.condition == condition and row.counts]
    listed = run.result.conditions.get(condition, {}).get("per_seed")
    seeds: Sequence[Any] = listed if isinstance(listed, list) else []
    found = [s.get(key) for s in seeds if isinstance(s, Mapping) and s.get("status") != "infrastructure"]
    return [value for value in map(known, found) if value is not None]


def weights(coefficients: Sequence[Mapping[str, Any]]) -> str:
    """The terms of J with their weights, from the run's own coefficients."""
    terms = {
        "overcap_per_kwh": "over-cap kWh",
        "curtailed_per_kwh": "curtailed kWh",
        "shortfall_per_pu": "shortfall pu",
    }
    given = {str(c.get("name")): c.get("value") for c in coefficients if c.get("group") == "objective"}
    written = [f"{known(given[key]):g} × {name}" for key, name in terms.items() if known(given.get(key)) is not None]
    return " + ".join(written) or "over-cap energy, voltage shortfall and curtailment, weighted"


def figures(run: Run, uncontrolled_overcap_kwh: float | None, uncontrolled_hours: int) -> list[tuple[str, str, str]]:
    """Key figures: a large number, what it is, and what to hold it against."""
    found: list[tuple[str, str, str]] = []
    conditions, means = run.result.conditions, Standing.of(run, "objective").means
    best = next(iter(means), None)
    if best is not None:
        second = next((f"{prose(m)}, the next: {number(v)}" for m, v in list(means.items())[1:]), "no other was forced")
        found.append((number(means[best]), f"{_mean_of(run)}J of {prose(best)}, the cheapest forced mode", second))
    for name in run.routed[:1]:
        table_ = conditions.get(name, {})
        value = known(table_.get("objective"))
        note = "no measured episode" if value is None else f"its J: {number(value)}"
        found.append(
            (number(known(table_.get("regret")), sign=True), f"{_mean_of(run)}regret of {prose(name)} planning", note)
        )
    if best is None:
        return found
    left = mean(_values(run, best, "overcap_kwh"))
    if left is not None and uncontrolled_overcap_kwh:
        share = percent((uncontrolled_overcap_kwh - left) / uncontrolled_overcap_kwh)
        note = f"{number(left)} of {number(uncontrolled_overcap_kwh)} kWh remain"
        found.append((share, f"of over-cap energy removed by {prose(best)}", note))
    hours = mean(_values(run, best, "violation_hours"))
    if hours is not None:
        note = f"uncontrolled: {counted(uncontrolled_hours, 'hour')}"
        found.append((f"{number(hours, 1)} h", f"still outside the limits under {prose(best)}", note))
    return found


def _mean_of(run: Run) -> str:
    return "mean " if len(run.cases) > 1 else ""


def heads(run: Run) -> list[tuple[str, str]]:
    """Name and note of each column."""
    notes = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        good = sum(row.status == "finished" for row in rows)
        notes.append((label(name), "" if good == len(rows) else f"{good} of {counted(len(rows), 'episode')} finished"))
    return notes
