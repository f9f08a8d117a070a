"""The verdict in one sentence, from the data, and what has to be said beside it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planroute.modes import MODES
from planroute.reporting.reading import Row, Run
from planroute.reporting.wording import capital, counted, listed, number, percent, prose

Case = tuple[str, int]
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Standing:
    """Costs of the forced modes on the cases on which every one of them was measured."""

    costs: Mapping[Case, Mapping[str, float]]
    forced: Sequence[str]

    @classmethod
    def of(cls, run: Run, metric: str) -> "Standing":
        """Collect ``metric`` from the run."""
        found: dict[Case, dict[str, float]] = {}
        for row in run.rows:
            value = row.metrics.get(metric)
            if row.condition in run.forced and row.counts and value is not None:
                found.setdefault(row.case, {})[row.condition] = value
        return cls({case: costs for case, costs in found.items() if len(costs) == len(run.forced)}, run.forced)

    @property
    def means(self) -> dict[str, float]:
        """Mean cost of each forced mode, least first; empty where no case is complete."""
        sums = {mode: sum(costs[mode] for costs in self.costs.values()) for mode in self.forced}
        ordered = sorted(sums.items(), key=lambda item: item[1])
        return {mode: total / len(self.costs) for mode, total in ordered} if self.costs else {}

    @property
    def cheapest(self) -> dict[Case, list[str]]:
        """The modes with the least cost on each case; several where they tie."""
        return {
            case: [mode for mode in self.forced if costs[mode] - min(costs.values()) <= TIE]
            for case, costs in self.costs.items()
        }


def sentence(run: Run, cost: str, cost_ac: str | None = None) -> str:
    """Say which forced mode was cheapest, what was declared, and whether the order holds under AC."""
    standing = Standing.of(run, cost)
    routed = [_routed(run, run.routed[0], cost)] if len(run.routed) == 1 else _declarers(run)
    clauses = [_forced(run, standing), *routed]
    if cost_ac and len(standing.means) > 1:
        clauses.append(_referee(run, standing, Standing.of(run, cost_ac)))
    return capital("; ".join(clauses)) + "."


def _forced(run: Run, standing: Standing) -> str:
    if not run.forced:
        return "no mode was forced in this run, so there is nothing to compare with"
    if not standing.costs:
        return f"the forced modes cannot be compared, since no {run.noun} has a measured episode for each of them"
    if len(run.forced) == 1:
        only = run.forced[0]
        return f"only {prose(only)} was forced (mean J {number(standing.means[only])}): nothing to compare it with"
    count, cheapest = len(standing.costs), standing.cheapest
    wins = Counter(mode for modes in cheapest.values() for mode in modes)
    (first, low), (second, next_low), *_ = standing.means.items()
    if count == 1:
        winners = next(iter(cheapest.values()))
        seed = f"on {run.case_name(next(iter(cheapest)))}"
        if len(winners) > 1:
            return f"{seed}, {listed([prose(m) for m in winners])} tied as the cheapest forced modes (J {number(low)})"
        return (
            f"{seed}, {prose(first)} was the cheapest of {len(run.forced)} forced modes: "
            f"J {number(low)} against {number(next_low)} for {prose(second)}, the next{_less(low, next_low)}"
        )
    shared = sum(len(modes) > 1 for modes in cheapest.values())
    if wins[first] == count and not shared:
        return (
            f"{prose(first)} was the cheapest forced mode on all {count} {run.noun}s: mean J {number(low)} against "
            f"{number(next_low)} for {prose(second)}, the next{_less(low, next_low)}"
        )
    who = listed([f"{prose(mode)} on {times}" for mode, times in wins.most_common()])
    ties = f" (ties on {counted(shared, run.noun)} count for each)" if shared else ""
    if next_low - low <= TIE:
        lead = f"by mean J {prose(first)} and {prose(second)} are equal ({number(low)})"
    else:
        lead = (
            f"by mean J {prose(first)} leads with {number(low)} against {number(next_low)} for "
            f"{prose(second)}{_less(low, next_low)}"
        )
    return f"cheapest of the forced modes over {count} {run.noun}s was {who}{ties}; {lead}"


def _less(low: float, high: float) -> str:
    return f" ({percent((high - low) / high)} less)" if high > 0 and high > low else ""


def _routed(run: Run, name: str, cost: str) -> str:
    rows = [row for row in run.rows if row.condition == name]
    counted_rows = [row for row in rows if row.counts]
    declared = Counter(row.declared for row in counted_rows if row.declared)
    if not declared:
        return f"the {prose(name)} condition has no declaration that counts"
    who = listed(sorted({row.declarer for row in counted_rows if row.declarer}))
    if len(declared) == 1:
        what = prose(next(iter(declared)))
        often = "" if len(counted_rows) == 1 else " every time" if declared.total() == len(counted_rows) else ""
        text = f"the declarer ({who}) chose {what}{often}"
    else:
        text = f"the declarer ({who}) chose " + listed([f"{prose(m)} {n}×" for m, n in declared.most_common()])
    text += _gate(counted_rows)
    failed = sum(row.status == "failed" and row.gate != "REFUSED" for row in counted_rows)
    if failed:
        text += f", {failed} of {len(counted_rows)} failed"
    regret = known(run.result.conditions.get(name, {}).get("regret"))
    if regret is None:
        return f"{text}; its regret is not known"
    if abs(regret) <= TIE:
        return f"{text}, without regret"
    least = Standing.of(run, cost)
    base = [min(least.costs[row.case].values()) for row in counted_rows if row.case in least.costs]
    against = ""
    if sum(base) > 0:
        share = percent(abs(regret) * len(base) / sum(base))
        against = f", {share} {'above the least cost' if regret > 0 else 'below what the forced modes cost'}"
    return f"{text}, at a {'mean ' if len(rows) > 1 else ''}regret of {number(regret)}{against}"


def _gate(rows: Sequence[Row]) -> str:
    """What the gate did to the declarations of ``rows``, as the end of a clause."""
    text = ""
    replaced = [row for row in rows if row.gate == "REPLACED"]
    if replaced:
        often = "" if len(replaced) == len(rows) else f" on {len(replaced)} of {len(rows)}"
        others = Counter(row.executed for row in replaced if row.executed and row.executed != row.declared)
        if others.total() == len(replaced):
            text += f", which the gate replaced by {listed([prose(m) for m in others])}{often}"
        else:
            text += f", whose settings or mode the gate changed{often}"
    refused = sum(row.gate == "REFUSED" for row in rows)
    if refused:
        text += f", which the gate refused{'' if refused == len(rows) else f' on {refused} of {len(rows)}'}"
    return text


def _declarers(run: Run) -> list[str]:
    """Compare the declarers of several routed conditions."""
    regrets = {name: known(run.result.conditions.get(name, {}).get("regret")) for name in run.routed}
    ranked = sorted((regret, name) for name, regret in regrets.items() if regret is not None)
    if not ranked:
        return [f"no regret is known of {listed([prose(name) for name in run.routed])}"] if run.routed else []
    (least, first), (most, last) = ranked[0], ranked[-1]
    text = (
        f"of {counted(len(run.routed), 'routed condition')} {prose(first)} had the least mean regret ({number(least)})"
    )
    return [f"{text}, {prose(last)} the most ({number(most)})" if len(ranked) > 1 else text]


def _referee(run: Run, standing: Standing, under_ac: Standing) -> str:
    if set(under_ac.costs) != set(standing.costs):
        return "under AC power flow not every episode has a cost, so the order was not compared"
    order, order_ac = list(standing.means), list(under_ac.means)
    same = sum(under_ac.cheapest[case] == modes for case, modes in standing.cheapest.items())
    if order == order_ac:
        count = len(standing.costs)
        some = "" if same == count else f" on average, the cheapest mode on {same} of {counted(count, run.noun)}"
        return f"the order of the modes holds under AC power flow{some}"
    if order[0] == order_ac[0]:
        return f"under AC power flow {prose(order[0])} stays cheapest and the order behind it changes"
    return f"under AC power flow {prose(order_ac[0])} is cheapest instead"


def outcomes(run: Run) -> str:
    """Say how the episodes ended, where there is no cost to compare."""
    ended = Counter(row.status for row in run.rows)
    return capital(listed([f"{counted(count, 'episode')} {status}" for status, count in ended.items()])) + "."


def cautions(run: Run, cost: str | None) -> list[str]:
    """What a reader must know before trusting the sentence."""
    notes = []
    seeds = len(run.cases)
    if seeds == 1:
        notes.append("One seed shows one day: it says nothing about how often this order holds.")
    lacking = [mode for mode in MODES if mode not in run.forced]
    if run.forced and lacking:
        notes.append(
            f"{capital(listed([prose(m) for m in lacking]))} {'was' if len(lacking) == 1 else 'were'} not forced: "
            "“cheapest” and regret refer to the forced modes of this run only."
        )
    failed = Counter(row.condition for row in run.rows if row.status == "failed")
    if failed:
        names = listed([f"{prose(name)} {count}" for name, count in failed.items()])
        notes.append(
            f"Failed episodes ({names}) count with what their day cost; hours that nobody dispatched ran uncontrolled."
        )
    broken = Counter(row.condition for row in run.rows if not row.counts)
    if broken:
        names = listed([f"{prose(name)} {count}" for name, count in broken.items()])
        notes.append(
            f"{counted(broken.total(), 'episode')} ended by the infrastructure, not by the task ({names}); "
            "they count nowhere. Run the same command again to repeat them."
        )
    if run.missing:
        notes.append(f"{counted(run.missing, 'episode')} of {len(run.manifest.cells)} had not been run yet.")
    unpaired = [case for case in run.cases if case not in Standing.of(run, cost).costs] if cost else []
    if run.forced and unpaired and len(unpaired) < len(run.cases):
        names = listed([run.case_name(case) for case in unpaired[:6]])
        notes.append(f"Not every forced mode was measured on {names}: left out of the sentence and of regret.")
    return notes


def stand_in(run: Run) -> str:
    """The kind of language model that took part and is there for trying out only; empty where none was."""
    kinds = {"embedded": "the embedded model", "scripted": "a scripted model"}
    names = [kind for start, kind in kinds.items() if any(name.startswith(start) for name in run.models())]
    return listed(names)


def known(value: object) -> float | None:
    """``value`` as a number, None for whatever is none."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
