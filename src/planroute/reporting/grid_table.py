"""The table of a grid comparison: a line for each metric, with what it means and which way is better."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.reporting.grid_findings import violation_hours
from planroute.reporting.grid_routed import parts
from planroute.reporting.reading import Run
from planroute.reporting.verdict import Standing, known
from planroute.reporting.wording import amount, counted, listed, mean, number, percent, prose


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as the table shows it. ``better`` is ``lower``, ``higher`` or empty."""

    key: str
    name: str
    about: str
    better: str = ""
    digits: int = 0
    sign: bool = False


GROUPS: Sequence[tuple[str, Sequence[Metric]]] = (
    (
        "Cost",
        (
            Metric("objective", "J", "cost of the day: {weights}", "lower"),
            Metric("objective_ac", "J under AC", "the same cost, settled by full AC power flow", "lower"),
            Metric("regret", "Regret", "J above {least} of the same seed", "lower"),
            Metric(
                "mode_regret",
                "…of which the mode",
                "what forcing the mode that was routed to costs above that",
                sign=True,
            ),
            Metric(
                "policy_gap", "…of which the rest", "what the declared intensity, targets, candidates add", sign=True
            ),
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
                "minimality",
                "Minimality",
                "least needed over actual curtailment; only hours brought within the limits count",
                "higher",
                3,
            ),
            Metric("mode_agreement", "Mode agreement", "executed mode equals declared mode, share", "higher", 2),
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
            Metric(
                "late_events", "Late events", "planning events beyond the deadline, a day; n/a without one", "lower", 1
            ),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One cell: the mean, its range over seeds, the paper's figure, and whether it is the best of the forced modes.

    ``basis`` says on how many seeds and hours the mean rests where that is not all of them.
    """

    mean: str
    spread: str
    paper: str
    best: bool
    basis: str = ""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One line of the table."""

    metric: Metric
    about: str
    entries: Sequence[Entry]


def table(run: Run, weights: str, succeeded: Mapping[str, int]) -> list[tuple[str, list[MetricRow]]]:
    """The table by group of metrics; entries stand in the order of the run's conditions.

    ``succeeded`` counts, by condition, the hours that were brought within the limits.
    """
    standing = Standing.of(run, "objective")
    found = []
    for title, metrics in GROUPS:
        shown = [metric for metric in metrics if run.routed or not _of_routing(metric, run)]
        rows = [
            MetricRow(
                metric,
                metric.about.format(weights=weights, least=_least(run, standing)),
                _entries(run, metric, standing, succeeded),
            )
            for metric in shown
        ]
        found.append((title, rows))
    return found


def _of_routing(metric: Metric, run: Run) -> bool:
    """Whether a metric says nothing where nobody routed: parts of a regret, and regret against oneself alone."""
    return metric.key in ("mode_regret", "policy_gap") or (metric.key == "regret" and len(run.forced) == 1)


def _least(run: Run, standing: Standing) -> str:
    if len(run.forced) == 1:
        return f"forced {prose(run.forced[0])}"
    return f"the cheapest forced mode{' in time' if standing.late else ''}"


def _entries(run: Run, metric: Metric, standing: Standing, succeeded: Mapping[str, int]) -> list[Entry]:
    means = {name: known(run.result.conditions.get(name, {}).get(metric.key)) for name in run.conditions}
    if metric.key == "late_events" and run.deadline_s is None:
        means = dict.fromkeys(means)
    shown = {name: number(value, metric.digits, sign=metric.sign) for name, value in means.items()}
    rivals = {name: value for name, value in means.items() if name in standing.kept and value is not None}
    best: float | None = None
    if metric.better and len({shown[name] for name in rivals}) > 1:
        best = min(rivals.values()) if metric.better == "lower" else max(rivals.values())
    entries = []
    for name in run.conditions:
        values = _values(run, name, metric.key)
        low, high = (number(end(values), metric.digits, sign=metric.sign) if values else "" for end in (min, max))
        paper = run.result.paper.get(name, {}).get(metric.key)
        entries.append(
            Entry(
                shown[name],
                f"{low} – {high}" if len(values) > 1 and low != high else "",
                "" if paper is None else f"{paper:,g}",
                best is not None and name in rivals and shown[name] == number(best, metric.digits),
                _basis(run, name, metric, len(values), succeeded),
            )
        )
    return entries


def _basis(run: Run, name: str, metric: Metric, measured: int, succeeded: Mapping[str, int]) -> str:
    total = sum(row.condition == name and row.counts for row in run.rows)
    if metric.key == "minimality" and total:
        return f"{measured} of {counted(total, run.noun)}, {succeeded.get(name, 0)} h"
    return f"{measured} of {counted(total, run.noun)}" if metric.sign and 0 < measured < total else ""


def _values(run: Run, condition: str, key: str) -> list[float]:
    """The metric of every episode of the condition that counts."""
    rows = [row for row in run.rows if row.condition == condition and row.counts]
    if key == "planning_s":
        return [row.spent.get("planning", {}).get("planning_s") or 0.0 for row in rows]
    if key == "late_events":
        return [] if run.deadline_s is None else [float(n) for row in rows if (n := row.late_events) is not None]
    if key == "mode_agreement":
        return [float(agreed) for row in rows if (agreed := row.mode_agreement) is not None]
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
    conditions, standing = run.result.conditions, Standing.of(run, "objective")
    means = standing.means
    best = next(iter(means), None)
    if best is not None:
        only = "the only forced mode" if len(run.forced) == 1 else "the only one in time"
        what = f"the cheapest forced mode{' in time' if standing.late else ''}" if len(means) > 1 else only
        none = "no other was forced" if len(run.forced) == 1 else f"missed it: {_names(standing.late)}"
        second = next((f"{prose(m)}, the next: {number(v)}" for m, v in list(means.items())[1:]), none)
        found.append((number(means[best]), f"{_mean_of(run)}J of {prose(best)}, {what}", second))
    regrets = {name: known(conditions.get(name, {}).get("regret")) for name in run.routed}
    ranked = sorted(run.routed, key=lambda name: (math.inf if regrets[name] is None else regrets[name], name))
    for name in ranked[:1]:
        table_ = conditions.get(name, {})
        value = known(table_.get("objective"))
        note = "no measured episode" if value is None else f"its J: {number(value)}"
        split = parts(run, name)
        if split.mode is not None and split.rest is not None and split.split == split.of:
            note += f"; {number(split.mode, sign=True)} the mode, {number(split.rest, sign=True)} the rest"
        note += "".join(f"; {prose(other)}: {number(regrets[other], sign=True)}" for other in ranked[1:3])
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
    hours = violation_hours(run)
    if best in hours:
        keeping = [name for name, value in hours.items() if value == 0]
        what = f"still outside the limits under {prose(best)}"
        if len(hours) > 1:
            what += f"; kept by {_names(keeping)}" if keeping else "; no condition keeps them"
        found.append((f"{amount(hours[best])} h", what, f"uncontrolled: {uncontrolled_hours} h"))
    return found


def _names(conditions: Iterable[str]) -> str:
    return listed([prose(name) for name in conditions])


def _mean_of(run: Run) -> str:
    return "mean " if len(run.cases) > 1 else ""
