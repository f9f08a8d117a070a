"""Which forced mode was cheapest, from the data, and what has to be said beside it."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from planroute.modes import MODES
from planroute.reporting.reading import Run
from planroute.reporting.wording import amount, capital, counted, listed, number, percent, prose

Case = tuple[str, int]
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Standing:
    """Costs of the forced modes on the cases on which every one of them was measured."""

    costs: Mapping[Case, Mapping[str, float]]
    forced: Sequence[str]
    late: Mapping[str, frozenset[Case]] = field(default_factory=dict)
    """The cases of ``costs`` on which a mode missed the deadline, for each mode that did."""
    failed: Mapping[str, frozenset[Case]] = field(default_factory=dict)
    """The same for modes whose episode failed: what its day cost is known, but it cannot be the cheapest."""

    @classmethod
    def of(cls, run: Run, metric: str) -> "Standing":
        """Collect ``metric`` from the run."""
        found: dict[Case, dict[str, float]] = {}
        late: dict[str, set[Case]] = {}
        failed: dict[str, set[Case]] = {}
        for row in run.rows:
            value = row.metrics.get(metric)
            if row.condition in run.forced and row.counts and value is not None:
                found.setdefault(row.case, {})[row.condition] = value
                if row.late:
                    late.setdefault(row.condition, set()).add(row.case)
                if row.status != "finished":
                    failed.setdefault(row.condition, set()).add(row.case)
        whole = {case: costs for case, costs in found.items() if len(costs) == len(run.forced)}

        def of_whole(cases: Mapping[str, set[Case]]) -> dict[str, frozenset[Case]]:
            return {
                mode: frozenset(cases[mode] & set(whole)) for mode in run.forced if cases.get(mode, set()) & set(whole)
            }

        return cls(whole, run.forced, of_whole(late), of_whole(failed))

    @property
    def kept(self) -> list[str]:
        """The modes that finished every case and kept the deadline on it, where there is one."""
        return [mode for mode in self.forced if mode not in self.late and mode not in self.failed]

    @property
    def means(self) -> dict[str, float]:
        """Mean cost of each mode that kept the deadline on every case, least first; empty where no case is complete."""
        return {mode: cost for mode, cost in self.all_means.items() if mode in self.kept}

    @property
    def all_means(self) -> dict[str, float]:
        """Mean cost of each forced mode whether late or not, least first; empty where no case is complete."""
        sums = {mode: sum(costs[mode] for costs in self.costs.values()) for mode in self.forced}
        ordered = sorted(sums.items(), key=lambda item: item[1])
        return {mode: total / len(self.costs) for mode, total in ordered} if self.costs else {}

    def in_time(self, case: Case) -> dict[str, float]:
        """What the modes that finished ``case`` and kept the deadline cost on it."""
        out = {mode for missed in (self.late, self.failed) for mode, cases in missed.items() if case in cases}
        return {mode: cost for mode, cost in self.costs[case].items() if mode not in out}

    @property
    def cheapest(self) -> dict[Case, list[str]]:
        """The modes in time with the least cost on each case; several where they tie, none where all are late."""
        found = {}
        for case in self.costs:
            costs = self.in_time(case)
            found[case] = [mode for mode in costs if costs[mode] - min(costs.values()) <= TIE]
        return found

    @property
    def leaders(self) -> set[str]:
        """Whoever a sentence may call cheapest: on a case, or by the mean."""
        return {mode for modes in self.cheapest.values() for mode in modes} | set(list(self.means)[:1])


def forced(run: Run, cost: str) -> str:
    """One sentence: which forced mode was cheapest among those that kept the deadline, and which missed it."""
    standing = Standing.of(run, cost)
    if not run.forced:
        return "No mode was forced in this run, so there is nothing to compare with."
    if not standing.costs:
        return f"The forced modes cannot be compared, since no {run.noun} has a measured episode for each of them."
    if len(run.forced) == 1:
        only = run.forced[0]
        late = f", and it missed {_deadline(run)}{_where(run, standing, only)}" if only in standing.late else ""
        value = f"{_mean(standing)}J {number(standing.all_means[only])}"
        return f"Only {prose(only)} was forced ({value}), so there is nothing to compare it with{late}."
    missed = missed_by(run, standing)
    broke = listed([prose(mode) for mode in standing.failed])
    if not standing.kept and standing.failed:
        late = f", and {missed} missed {_deadline(run)}" if missed else ""
        return f"No forced mode finished throughout: {broke} failed{late}, so none is cheapest."
    if not standing.kept:
        always = all(len(cases) == len(standing.costs) for cases in standing.late.values())
        which = "" if always else f" ({missed})"
        return f"No forced mode kept {_deadline(run)}{' throughout' if which else ''}, so none is cheapest{which}."
    if len(standing.kept) == 1:
        only = standing.kept[0]
        value = f"{_mean(standing)}J {number(standing.means[only])}"
        if not broke:
            return f"Only {prose(only)} kept {_deadline(run)} ({value}); {missed} missed it."
        late = f"{missed} missed {_deadline(run)}, and " if missed else ""
        return f"Only {prose(only)} is left to be judged ({value}): {late}{broke} failed."
    tail = (f"; {missed} missed it" if missed else "") + (f"; {broke} failed" if broke else "")
    return f"{capital(_cheapest(run, standing))}{tail}."


def missed_by(run: Run, standing: Standing) -> str:
    """The forced modes that missed the deadline, with how often where not always."""
    return listed([f"{prose(mode)}{_where(run, standing, mode)}" for mode in standing.late])


def _where(run: Run, standing: Standing, mode: str) -> str:
    late, all_ = len(standing.late[mode]), len(standing.costs)
    return "" if late == all_ else f" (on {late} of {counted(all_, run.noun)})"


def _deadline(run: Run) -> str:
    return f"the deadline of {amount(run.deadline_s, 2)} s"


def _mean(standing: Standing) -> str:
    return "mean " if len(standing.costs) > 1 else ""


def _cheapest(run: Run, standing: Standing) -> str:
    count, cheapest = len(standing.costs), standing.cheapest
    wins = Counter(mode for modes in cheapest.values() for mode in modes)
    (first, low), (second, next_low), *_ = standing.means.items()
    rivals = f"{len(standing.kept)} forced modes" + (f" that kept {_deadline(run)}" if standing.late else "")
    rivals += " that finished" if standing.failed and not standing.late else ""
    if count == 1:
        winners = next(iter(cheapest.values()))
        seed = f"on {run.case_name(next(iter(cheapest)))}"
        if len(winners) > 1:
            names = listed([prose(mode) for mode in winners])
            return f"{seed}, {names} tied as the cheapest of {rivals} (J {number(low)})"
        return (
            f"{seed}, {prose(first)} was the cheapest of {rivals}: "
            f"J {number(low)} against {number(next_low)} for {prose(second)}, the next{_less(low, next_low)}"
        )
    shared = sum(len(modes) > 1 for modes in cheapest.values())
    if wins[first] == count and not shared:
        return (
            f"{prose(first)} was the cheapest of {rivals} on all {count} {run.noun}s: mean J {number(low)} against "
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
    return f"cheapest of {rivals} over {count} {run.noun}s was {who}{ties}; {lead}"


def _less(low: float, high: float) -> str:
    return f" ({percent((high - low) / high)} less)" if high > 0 and high > low else ""


def referee(run: Run, cost: str, cost_ac: str) -> str:
    """Whether the order of the forced modes holds under AC power flow; empty where there is no order."""
    standing, under_ac = Standing.of(run, cost), Standing.of(run, cost_ac)
    if len(standing.means) < 2:
        return ""
    if set(under_ac.costs) != set(standing.costs):
        return "Not every episode has a cost under AC power flow, so the order was not compared."
    order, order_ac = list(standing.means), list(under_ac.means)
    same = sum(under_ac.cheapest[case] == modes for case, modes in standing.cheapest.items())
    if order == order_ac:
        count = len(standing.costs)
        some = "" if same == count else f" on average, the cheapest mode on {same} of {counted(count, run.noun)}"
        return f"The order of the modes holds{some}."
    if order[0] == order_ac[0]:
        return f"{capital(prose(order[0]))} stays cheapest and the order behind it changes."
    return f"{capital(prose(order_ac[0]))} is cheapest instead."


def outcomes(run: Run) -> str:
    """Say how the episodes ended, where there is no cost to compare."""
    ended = Counter(row.status for row in run.rows)
    return capital(listed([f"{counted(count, 'episode')} {status}" for status, count in ended.items()])) + "."


def cautions(run: Run, cost: str | None) -> list[str]:
    """What a reader must know before trusting the sentence."""
    notes = []
    seeds = len(run.cases)
    if seeds == 1:
        order = "how often this order holds" if len(run.forced) > 1 else "other days"
        notes.append(f"One seed shows one day: it says nothing about {order}.")
    lacking = [mode for mode in MODES if mode not in run.forced]
    if run.forced and lacking:
        what = "“cheapest” and regret refer" if len(run.forced) > 1 else "regret refers"
        which = "the forced modes of this run" if len(run.forced) > 1 else prose(run.forced[0])
        notes.append(
            f"{capital(listed([prose(m) for m in lacking]))} {'was' if len(lacking) == 1 else 'were'} not forced: "
            f"{what} to {which} only."
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
