"""What the script of a grid page shows: every case and condition, rounded and without repetition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.reporting.grid_days import REFEREES, Answer, Day, Facts
from planroute.reporting.grid_feeder import STEPS

Case = tuple[str, int]
Days = Mapping[tuple[Case, str], Day]
MOST_VOLTAGES = 250_000
"""Voltages that the page may carry; the map leaves out the AC referee, then later cases, to stay below."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page is about, in the order in which the script numbers it."""

    cases: Sequence[Case]
    names: Sequence[str]
    """The cases as people read them."""
    conditions: Sequence[str]
    steps: Sequence[int]
    facts: Mapping[str, Facts]
    days: Days

    def lines(self, quantity: str, referee: str, case: Case) -> dict[str, list[float | None]]:
        """Import in MW or lowest voltage in pu over the steps, by condition; the uncontrolled day comes last."""
        found: dict[str, list[float | None]] = {}
        for name in self.conditions:
            day = self.days.get((case, name))
            by_hour: Mapping[int, float | None] = {}
            if day is not None:
                by_hour = day.imports[referee] if quantity == "import" else day.lowest(referee)
            found[name] = [by_hour.get(step) for step in self.steps]
        field = f"import{REFEREES[referee]}_mw" if quantity == "import" else f"min_voltage{REFEREES[referee]}_pu"
        nobody = {hour.hour: getattr(hour, field) for hour in self.facts[case[0]].uncontrolled}
        return found | {"UNCONTROLLED": [nobody.get(step) for step in self.steps]}


def script_data(scope: Scope) -> dict[str, Any]:
    """The data of the page's script; places in lists stand for cases, conditions and steps."""
    return {
        "steps": list(scope.steps),
        "cases": list(scope.names),
        "limits": [
            {"import": scope.facts[task].import_cap_mw, "voltage": scope.facts[task].voltage_floor_pu}
            for task, _ in scope.cases
        ],
        "lines": {
            quantity: {
                referee: [
                    [_line(values) for values in scope.lines(quantity, referee, case).values()] for case in scope.cases
                ]
                for referee in REFEREES
            }
            for quantity in ("import", "voltage")
        },
        "map": _map(scope),
    }


def _line(values: Sequence[float | None]) -> list[float | None] | None:
    rounded = [None if value is None else round(value, 5) for value in values]
    return rounded if any(value is not None for value in rounded) else None


def _map(scope: Scope) -> dict[str, Any]:
    """Voltages as places in a list of distinct rows, in units of 0.0001 pu; answers by hour."""
    feeder = scope.facts[scope.cases[0][0]].feeder
    shown = [case for case in scope.cases if scope.facts[case[0]].feeder == feeder]
    rows: dict[tuple[int | None, ...], int] = {}
    days: dict[str, list[list[list[int | None] | None]]] = {}
    room = MOST_VOLTAGES // len(feeder.nodes)
    for referee in REFEREES:
        days[referee] = []
        for case in scope.cases:
            here = [scope.days.get((case, name)) if case in shown else None for name in scope.conditions]
            if len(rows) + len(scope.steps) * len(here) > room:
                here = [None] * len(here)
            days[referee].append([None if day is None else _places(rows, day, referee, scope.steps) for day in here])
    return {
        "names": [node.name or node.id for node in feeder.nodes],
        "edges": list(STEPS),
        "rows": [list(row) for row in rows],
        "days": days,
        "answers": [
            [_answers(scope.days.get((case, name)) if case in shown else None) for name in scope.conditions]
            for case in scope.cases
        ],
    }


def _places(
    rows: dict[tuple[int | None, ...], int], day: Day, referee: str, steps: Sequence[int]
) -> list[int | None] | None:
    found: list[int | None] = []
    for step in steps:
        voltages = day.voltages[referee].get(step)
        if not voltages:
            found.append(None)
            continue
        row = tuple(None if value is None else round(10_000 * value) for value in voltages)
        found.append(rows.setdefault(row, len(rows)))
    return found if any(place is not None for place in found) else None


def _answers(day: Day | None) -> dict[int, list[list[float]]] | None:
    if day is None:
        return None
    return {hour: [_answer(answer) for answer in answers] for hour, answers in day.answers.items()}


def _answer(answer: Answer) -> list[float]:
    return [answer.node, int(answer.complied), round(answer.requested_kw, 2), round(answer.realised_kw, 2)]
