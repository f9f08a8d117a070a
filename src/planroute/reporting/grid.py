"""The page of a grid run: verdict, table, the day, the feeder, who answered, planning, declarations, provenance."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.reporting import grid_feeder, grid_people, grid_table, sections, verdict
from planroute.reporting.charts import Dots, Event, Limit, LineChart, dot_plot, event_line
from planroute.reporting.grid_days import REFEREES, Day, Facts, read_day, read_facts
from planroute.reporting.grid_script import Scope, script_data
from planroute.reporting.page import Page, Section
from planroute.reporting.reading import PlanningEvent, Row, Run
from planroute.reporting.svg import rounded
from planroute.reporting.verdict import Standing, known
from planroute.reporting.wording import counted, label, listed, number, prose

CALIBRATION = (
    "The prosumers’ coefficients, and those of the planners, were fitted once to the figures that the paper prints for "
    "E2, E3 and E7. Agreement with those figures is therefore no independent evidence; "
    "the table of coefficients says which are the paper’s and which the project’s own."
)
UNCONTROLLED = (
    "The uncontrolled day is the same feeder and load with nobody asked for anything. J, cap and floor are settled by "
    "linearised DistFlow as in the paper; full AC power flow is the second referee, never the planner’s."
)
KINDS = {"declare": "declaration", "plan": "plan", "revise": "revision", "decompose": "decomposition"}
"""The kinds of planning event as nouns."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows before anything is selected."""

    hour: int
    condition: str
    """Of the map."""


def page(run: Run) -> Page:
    """Compose the page. Raises ``InputError`` where facts or traces of the run are damaged."""
    facts = read_facts(run)
    days: dict[tuple[tuple[str, int], str], Day] = {}
    for cell in run.cells:
        day = read_day(cell, facts[cell.row.task])
        if day is not None:
            days[cell.row.case, cell.row.condition] = day
    steps = sorted({s for day in days.values() for s in day.imports["linear"]} | _uncontrolled_steps(facts)) or [0]
    scope = Scope(run.cases, [run.case_name(case) for case in run.cases], run.conditions, steps, facts, days)
    first = facts[run.cases[0][0]]
    shown = _shown(run, scope, first)
    nobody = [hour.import_mw for hour in first.uncontrolled]
    overcap = sum(max((mw or 0.0) - first.import_cap_mw, 0.0) for mw in nobody) * 1000 if nobody else None
    return Page(
        title="Demand response on a radial feeder",
        sentence=verdict.sentence(run, "objective", "objective_ac"),
        cautions=verdict.cautions(run, "objective"),
        figures=grid_table.figures(run, overcap, sum(hour.violation for hour in first.uncontrolled)),
        sections=(
            _table(run, first),
            _day(scope, shown),
            _feeder(scope, shown),
            _people(run, scope, first),
            _planning(run, scope),
            sections.declared(run),
            sections.how_made(run, [CALIBRATION, UNCONTROLLED], _coefficients(first)),
        ),
        data=script_data(scope),
    )


def _uncontrolled_steps(facts: Mapping[str, Facts]) -> set[int]:
    return {hour.hour for given in facts.values() for hour in given.uncontrolled}


def _shown(run: Run, scope: Scope, facts: Facts) -> Shown:
    """The hour of the highest uncontrolled import, and the cheapest forced mode that the first case measured."""
    case = scope.cases[0]
    peaks = {hour.hour: hour.import_mw for hour in facts.uncontrolled if hour.import_mw is not None}
    hour = max(peaks, key=lambda h: peaks[h]) if peaks else scope.steps[len(scope.steps) // 2]
    ranked = [*Standing.of(run, "objective").means, *scope.conditions]
    measured = [name for name in ranked if (case, name) in scope.days]
    return Shown(hour, measured[0] if measured else scope.conditions[0])


def _table(run: Run, facts: Facts) -> Section:
    def values(name: str, key: str) -> list[float]:
        rows = [row for row in run.rows if row.condition == name and row.counts]
        return [value for row in rows if (value := row.metrics.get(key)) is not None]

    dots = [Dots(name, values(name, "objective"), values(name, "objective_ac")) for name in run.conditions]
    said = "; ".join(f"{label(d.name)} {', '.join(number(v) for v in d.values) or 'not measured'}" for d in dots)
    plot = dot_plot("Cost J of every episode", said, dots)
    values_ = {
        "heads": list(zip(run.conditions, grid_table.heads(run), strict=True)),
        "groups": grid_table.table(run, grid_table.weights(facts.coefficients)),
        "seeds": len(run.cases),
        "noun": run.noun,
        "whole": not run.missing and all(row.status == "finished" for row in run.rows),
        "paper": bool(run.result.paper),
        "plot": plot,
        "hollow": any(d.hollow for d in dots),
    }
    return Section("results", "What it cost", "grid_table.html.j2", values_)


def _day(scope: Scope, shown: Shown) -> Section:
    case = scope.cases[0]
    facts = scope.facts[case[0]]
    dispatched = sorted({hour for day in scope.days.values() for hour in day.answers})
    shade = (dispatched[0], dispatched[-1]) if dispatched else None
    charts, legend = [], {}
    for quantity, title, unit, limit in (
        ("import", "Import at the head, MW", "MW", Limit(facts.import_cap_mw, f"cap {facts.import_cap_mw:g} MW")),
        (
            "voltage",
            "Lowest voltage, pu",
            "pu",
            Limit(facts.voltage_floor_pu, f"floor {facts.voltage_floor_pu:g} pu", below=True),
        ),
    ):
        every = [
            v
            for c in scope.cases
            for referee in REFEREES
            for line in scope.lines(quantity, referee, c).values()
            for v in line
            if v is not None
        ] + [
            getattr(f, f"{'import_cap_mw' if quantity == 'import' else 'voltage_floor_pu'}")
            for f in scope.facts.values()
        ]
        low, high = rounded(min(every) if quantity == "voltage" else min(0.0, *every), max(every))
        series = scope.lines(quantity, "linear", case)
        said = _worst(series, quantity, scope.steps, unit) + f" Limit: {limit.label}."
        chart = LineChart(quantity, title, said, scope.steps, low, high, limit, shade, shown.hour)
        charts.append((title, chart.draw(series)))
        legend[quantity] = series
    at = scope.steps.index(shown.hour)
    rows = [
        (name, [number(legend[q][name][at], digits) for q, digits in (("import", 3), ("voltage", 4))])
        for name in legend["import"]
    ]
    values = {"charts": charts, "rows": rows, "hour": shown.hour, "cases": scope.names}
    return Section("day", "The day", "grid_day.html.j2", values)


def _worst(series: Mapping[str, Sequence[float | None]], quantity: str, steps: Sequence[int], unit: str) -> str:
    """The worst hour of every line, in words."""
    parts = []
    for name, values in series.items():
        at = [(value, step) for value, step in zip(values, steps, strict=True) if value is not None]
        if at:
            value, step = max(at) if quantity == "import" else min(at)
            parts.append(f"{label(name)} {number(value, 3 if quantity == 'import' else 4)} {unit} at hour {step}")
    what = "Highest" if quantity == "import" else "Lowest"
    return f"{what}: {'; '.join(parts)}." if parts else "Nothing was measured."


def _feeder(scope: Scope, shown: Shown) -> Section:
    case = scope.cases[0]
    facts = scope.facts[case[0]]
    day = scope.days.get((case, shown.condition))
    voltages: Sequence[float | None] = (day.voltages["linear"].get(shown.hour) if day else None) or [None] * len(
        facts.feeder.nodes
    )
    answers = day.answers.get(shown.hour, ()) if day else ()
    known_voltages = [(v, i) for i, v in enumerate(voltages) if v is not None]
    said = f"Hour {shown.hour}, {prose(shown.condition)}, {scope.names[0]}: "
    if answers:
        complied = sum(a.complied for a in answers)
        got, asked = sum(a.realised_kw for a in answers), sum(a.requested_kw for a in answers)
        said += f"{len(answers)} asked, {complied} complied, {number(got)} of {number(asked)} kW. "
    else:
        said += "nobody asked. "
    if known_voltages:
        lowest, where = min(known_voltages)
        node = facts.feeder.nodes[where]
        said += f"Lowest voltage {number(lowest, 4)} pu at {node.name or node.id}."
    values = {
        "drawing": grid_feeder.draw(
            facts.feeder, grid_feeder.layout(facts.feeder), facts.voltage_floor_pu, voltages, answers, said
        ),
        "said": said,
        "legend": grid_feeder.legend(facts.voltage_floor_pu),
        "floor": number(facts.voltage_floor_pu, 3),
        "cases": scope.names,
        "conditions": scope.conditions,
        "condition": shown.condition,
        "steps": scope.steps,
        "hour": shown.hour,
        "name": facts.feeder.name,
        "several": len({f.feeder.name for f in scope.facts.values()}) > 1,
    }
    return Section("feeder", "The feeder, hour by hour", "grid_feeder.html.j2", values)


def _people(run: Run, scope: Scope, facts: Facts) -> Section:
    answers = {
        name: [a for case in scope.cases if (case, name) in scope.days for a in scope.days[case, name].all_answers()]
        for name in scope.conditions
    }
    pooled = run.forced or scope.conditions
    values = {
        "groups": grid_people.groups(answers, pooled, facts.archetypes),
        "conditions": scope.conditions,
        "pooled": "the forced modes" if run.forced else "all conditions",
    }
    return Section("people", "Who was asked and who answered", "grid_people.html.j2", values)


def _planning(run: Run, scope: Scope) -> Section:
    deadline = known(run.manifest.config.get("deadline_s"))
    hours = max((sorted(day.answers) for day in scope.days.values()), key=len, default=[])
    places = [f"{hour}" for hour in hours] or ["–"]
    costs = [event.cost_s for row in run.rows for event in row.planning]
    top = max(costs, default=1.0)
    if deadline is not None and deadline <= 3 * top:
        top = max(top, deadline)
    highest = rounded(0.0, 1.15 * top)[1]
    lines = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        for (_, planning), cases in _patterns(rows):
            events = [Event(min(e.after_units, len(places) - 1), e.kind, e.cost_s, e.late) for e in planning]
            lines.append(
                {
                    "name": name,
                    "executed": next(row.executed for row in rows if row.planning == planning),
                    "cases": f"{len(cases)} of {len(rows)} episodes",
                    "kinds": listed(
                        [counted(n, KINDS.get(k, k)) for k, n in Counter(e.kind for e in planning).items()]
                    ),
                    "total": number(sum(e.cost_s for e in planning), 2),
                    "late": sum(e.late for e in planning),
                    "drawing": event_line(name, events, places, deadline, highest),
                }
            )
    late = sum(row.late_events for row in run.rows)
    values: dict[str, Any] = {
        "lines": lines,
        "deadline": None if deadline is None else number(deadline, 2),
        "late": late,
    }
    return Section("planning", "Planning events", "grid_planning.html.j2", values)


def _patterns(rows: Sequence[Row]) -> list[tuple[tuple[str | None, tuple[PlanningEvent, ...]], list[Row]]]:
    """Episodes with equal planning events together, the most frequent first, at most four kinds."""
    found: dict[str, tuple[tuple[str | None, tuple[PlanningEvent, ...]], list[Row]]] = {}
    for row in rows:
        if row.planning:
            key = f"{row.executed} {row.planning}"
            found.setdefault(key, ((row.executed, row.planning), []))[1].append(row)
    return sorted(found.values(), key=lambda item: -len(item[1]))[:4]


def _coefficients(facts: Facts) -> list[dict[str, str]]:
    fields = ("group", "name", "value", "unit", "origin", "about")
    return [{field: str(entry.get(field, "")) for field in fields} for entry in facts.coefficients]
