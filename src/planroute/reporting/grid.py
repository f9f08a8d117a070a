"""The page of a grid run: verdict, table, the day, the feeder, who answered, planning, declarations, provenance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planroute.reporting import grid_feeder, grid_findings, grid_people, grid_planning, grid_table, sections
from planroute.reporting.charts import Dots, Limit, LineChart, dot_plot
from planroute.reporting.grid_days import REFEREES, Day, Facts, read_day, read_facts
from planroute.reporting.grid_script import Scope, script_data
from planroute.reporting.page import Page, Section
from planroute.reporting.reading import Run
from planroute.reporting.svg import rounded
from planroute.reporting.verdict import Standing
from planroute.reporting.wording import label, listed, number, prose, unbroken

CALIBRATION = (
    "The prosumers’ coefficients, and those of the planners, were fitted once to the figures that the paper prints for "
    "E2, E3 and E7. Agreement with those figures is therefore no independent evidence; "
    "the table of coefficients says which are the paper’s and which the project’s own."
)
UNCONTROLLED = (
    "The uncontrolled day is the same feeder and load with nobody asked for anything. J, cap and floor are settled by "
    "linearised DistFlow as in the paper; full AC power flow is the second referee, never the planner’s."
)


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
        sentence=unbroken(grid_findings.headline(run)),
        cautions=[unbroken(caution) for caution in grid_findings.cautions(run, first)],
        figures=grid_table.figures(run, overcap, sum(hour.violation for hour in first.uncontrolled)),
        sections=(
            grid_findings.findings(run, first),
            _table(run, scope, first),
            _day(scope, shown),
            _feeder(scope, shown),
            _people(run, scope, first),
            grid_planning.planning(run, scope),
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


def _table(run: Run, scope: Scope, facts: Facts) -> Section:
    def values(name: str, key: str) -> list[float]:
        rows = [row for row in run.rows if row.condition == name and row.counts]
        return [value for row in rows if (value := row.metrics.get(key)) is not None]

    dots = [Dots(name, values(name, "objective"), values(name, "objective_ac")) for name in run.conditions]
    said = "; ".join(f"{label(d.name)} {', '.join(number(v) for v in d.values) or 'not measured'}" for d in dots)
    plot = dot_plot("Cost J of every episode", said, dots)
    values_ = {
        "heads": list(zip(run.conditions, grid_findings.heads(run, facts), strict=True)),
        "groups": grid_table.table(run, grid_table.weights(facts.coefficients), _succeeded(run, scope)),
        "compared": len(run.forced) > 1,
        "in_time": bool(Standing.of(run, "objective").late),
        "seeds": len(run.cases),
        "noun": run.noun,
        "whole": not run.missing and all(row.status == "finished" for row in run.rows),
        "paper": bool(run.result.paper),
        "plot": plot,
        "hollow": any(d.hollow for d in dots),
    }
    return Section("results", "What it cost", "grid_table.html.j2", values_)


def _succeeded(run: Run, scope: Scope) -> dict[str, int]:
    """By condition, the hours of all counted episodes that would break a limit and, with what was curtailed, do not."""
    counted = {(row.case, row.condition) for row in run.rows if row.counts}
    found: dict[str, int] = {}
    for (case, name), day in scope.days.items():
        if (case, name) in counted:
            found[name] = found.get(name, 0) + day.succeeded
    return found


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
    same = _same(legend)
    rows = [
        (name, [number(legend[q][name][at], digits) for q, digits in (("import", 3), ("voltage", 4))], same.get(name))
        for name in legend["import"]
    ]
    values = {"charts": charts, "rows": rows, "hour": shown.hour, "cases": scope.names}
    return Section("day", "The day", "grid_day.html.j2", values)


def _same(series: Mapping[str, Mapping[str, Sequence[float | None]]]) -> dict[str, str]:
    """For each line that hides one drawn before it, in every chart, the name of that one."""
    found: dict[str, str] = {}
    seen: dict[str, str] = {}
    for name in next(iter(series.values())):
        lines = [[None if v is None else round(v, 5) for v in quantity[name]] for quantity in series.values()]
        if any(value is not None for line in lines for value in line):
            first = seen.setdefault(repr(lines), name)
            if first != name:
                found[name] = first
    return found


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
    apart = [prose(name) for name in scope.conditions if name not in pooled]
    which = "the forced modes" if len(run.forced) > 1 else f"forced {prose(run.forced[0])}" if run.forced else ""
    values = {
        "groups": grid_people.groups(answers, pooled, facts.archetypes),
        "conditions": scope.conditions,
        "pooled": which or "all conditions",
        "apart": f"{listed(apart)} {'is' if len(apart) == 1 else 'are'}" if apart else "",
    }
    return Section("people", "Who was asked and who answered", "grid_people.html.j2", values)


def _coefficients(facts: Facts) -> list[dict[str, str]]:
    fields = ("group", "name", "value", "unit", "origin", "about")
    return [{field: str(entry.get(field, "")) for field in fields} for entry in facts.coefficients]
