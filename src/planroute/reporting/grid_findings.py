"""What stands behind the headline of a grid run, point by point, and what its ranking depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.modes import Mode
from planroute.reporting import grid_routed, verdict
from planroute.reporting.grid_days import Facts
from planroute.reporting.page import Section
from planroute.reporting.reading import Run
from planroute.reporting.verdict import Standing, known
from planroute.reporting.wording import amount, capital, counted, listed, mean, number, prose

COST, COST_AC = "objective", "objective_ac"
HIERARCHICAL_NOTE = "hands no quota back"


@dataclass(frozen=True, slots=True)
class Finding:
    """One point: what it is about, what was found, and what has to be said beside it."""

    about: str
    text: str
    note: str = ""


def headline(run: Run) -> str:
    """At most two sentences: on the forced modes, and on what was routed."""
    return " ".join(part for part in (verdict.forced(run, COST), grid_routed.headline(run, COST)) if part)


def cautions(run: Run, facts: Facts) -> list[str]:
    """What the ranking of this run depends on, then what holds for every run."""
    own = [_search(run, facts) if _search_wins(run) else "", _hierarchical(run, facts)]
    return [note for note in own if note] + verdict.cautions(run, COST)


def findings(run: Run, facts: Facts) -> Section:
    """The points behind the headline."""
    found = [_costs(run), _deadline(run), _limits(run, facts), _under_ac(run)]
    found += [
        Finding(prose_title(name), grid_routed.sentence(run, name, COST), grid_routed.explained(run, name, COST))
        for name in run.routed
    ]
    return Section("findings", "In detail", "grid_findings.html.j2", {"findings": [f for f in found if f is not None]})


def prose_title(name: str) -> str:
    """A condition's name as a heading."""
    return capital(prose(name))


def _costs(run: Run) -> Finding | None:
    standing = Standing.of(run, COST)
    if len(standing.means) < 2:
        return None
    low = next(iter(standing.means.values()))
    parts = [
        f"{prose(mode)} {number(cost)}" + (f" ({number(cost - low, sign=True)})" if cost > low else "")
        for mode, cost in standing.means.items()
    ]
    which = "forced modes in time" if standing.late else "forced modes"
    count = counted(len(standing.costs), run.noun)
    text = f"{'Mean ' if len(standing.costs) > 1 else ''}J of the {which} on {count}: {listed(parts)}."
    return Finding("Cost", text)


def _deadline(run: Run) -> Finding | None:
    if run.deadline_s is None:
        return None
    standing = Standing.of(run, COST)
    late = {
        name: value
        for name in run.conditions
        if (value := mean([row.late_events for row in run.rows if row.condition == name and row.counts]))
    }
    text = f"Every planning event has {amount(run.deadline_s, 2)} s. "
    if not late:
        return Finding("Deadline", text + "No condition missed it.")
    events = listed([f"{prose(name)} {amount(value, 1)}" for name, value in late.items()])
    text += f"Late events{' a day, on average' if len(run.cases) > 1 else ''}: {events}; none elsewhere."
    costs = [f"{prose(mode)} {number(standing.all_means[mode])}" for mode in standing.late]
    note = ""
    if costs:
        note = f"Forced modes that missed it are no rivals and have no regret. Their J all the same: {listed(costs)}."
    return Finding("Deadline", text, note)


def violation_hours(run: Run) -> dict[str, float]:
    """Mean hours a day outside the limits, for each condition that has any measured."""
    found = {}
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name and row.counts]
        value = mean([row.metrics.get("violation_hours") for row in rows])
        if value is not None:
            found[name] = value
    return found


def _limits(run: Run, facts: Facts) -> Finding | None:
    hours = violation_hours(run)
    if not hours:
        return None
    nobody = sum(hour.violation for hour in facts.uncontrolled)
    limits = f"{facts.import_cap_mw:g} MW and {facts.voltage_floor_pu:g} pu"
    before = f"Uncontrolled, {nobody} h of the day break the limits ({limits})." if facts.uncontrolled else ""
    keeping = [prose(name) for name, value in hours.items() if value == 0]
    each = listed([f"{prose(name)} {amount(value, 1)} h" for name, value in hours.items()])
    kept = f"{capital(listed(keeping))} kept them throughout" if keeping else "No condition kept them"
    text = f"{before} {kept}; hours a day that remain outside: {each}.".strip()
    short = "An hour counts whole however little it lacks; over-cap energy and shortfall in the table tell how far."
    return Finding("Limits", text, short)


def _under_ac(run: Run) -> Finding | None:
    text = verdict.referee(run, COST, COST_AC)
    return Finding("AC power flow", text) if text else None


def _search_wins(run: Run) -> bool:
    """Whether anything on the page says that search was the best, or that a routed search beat the forced modes."""
    beaten = {
        name for name in run.routed if (known(run.result.conditions.get(name, {}).get("regret")) or 0.0) < -verdict.TIE
    }
    routed = any(row.condition in beaten and row.executed == Mode.SEARCH for row in run.rows)
    return routed or (len(run.forced) > 1 and Mode.SEARCH in Standing.of(run, COST).leaders)


def intensities(run: Run, facts: Facts) -> tuple[float, float] | None:
    """The intensity that forced modes share, and the most that an alternative of search may have; None if not known."""
    given = _coefficients(facts, "planning")
    base, proposals = known(given.get("intensity")), given.get("proposal_intensities")
    if base is None or base <= 0 or not isinstance(proposals, list | tuple):
        return None
    rows = [row for row in run.rows if row.condition in run.forced]
    shared = mean([known(row.factors.get("intensity")) for row in rows]) or base
    searching = [row.declaration for row in rows if row.condition == Mode.SEARCH and row.declaration]
    first = max((declared.branching for declared in searching), default=len(proposals))
    values = [value for value in map(known, proposals[:first]) if value is not None]
    return shared, min(shared * max(values, default=base) / base, 1.0)


def _search(run: Run, facts: Facts) -> str:
    found = intensities(run, facts)
    if found is None or found[1] <= found[0] + 1e-9:
        return ""
    shared, most = found
    return (
        f"Search may ask for up to {most:.3g} of a node’s flexible load in its own alternatives, while the other "
        f"forced modes share the intensity {shared:.3g}. At an equally high intensity a predefined plan comes within "
        f"about 1 % of it (nominal scenario; try --intensity {most:.3g}), so its lead is not that of searching alone."
    )


def hands_back(facts: Facts) -> bool | None:
    """Whether the hierarchical allocation returns unmet quota; None where the run does not say."""
    value = _coefficients(facts, "allocation").get("hand_back")
    return value if isinstance(value, bool) else None


def _hierarchical(run: Run, facts: Facts) -> str:
    named = {name for row in run.rows for name in (row.condition, row.declared, row.executed)}
    back = hands_back(facts)
    if Mode.HIERARCHICAL not in named or back is None:
        return ""
    if back:
        return "Hierarchical uses the repaired allocation here, which hands unmet quota back (--hand-back)."
    return (
        "The rank of hierarchical is a property of its allocation, which hands back no quota that a segment cannot "
        "meet; this is repaired by --hand-back, see docs/grid.md."
    )


def _coefficients(facts: Facts, group: str) -> Mapping[str, Any]:
    return {str(c.get("name")): c.get("value") for c in facts.coefficients if c.get("group") == group}


def heads(run: Run, facts: Facts) -> list[Sequence[tuple[str, bool]]]:
    """What stands under each column's name, with whether it is a warning."""
    standing, asked = Standing.of(run, COST), intensities(run, facts)
    notes: list[Sequence[tuple[str, bool]]] = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        good = sum(row.status == "finished" for row in rows)
        mine: list[tuple[str, bool]] = []
        if good < len(rows):
            mine.append((f"{good} of {counted(len(rows), 'episode')} finished", True))
        late = len(standing.late.get(name, ()))
        if late:
            mine.append(("missed the deadline" + ("" if late == len(standing.costs) else f" {late}×"), True))
        if name == Mode.HIERARCHICAL and hands_back(facts) is False:
            mine.append((HIERARCHICAL_NOTE, False))
        if name in run.forced and asked is not None and asked[1] > asked[0]:
            most = f"up to {asked[1]:.3g}" if name == Mode.SEARCH else f"{asked[0]:.3g}"
            mine.append((f"intensity {most}", False))
        notes.append(mine)
    return notes
