"""The day of a grid episode, read from its trace: what was asked hour by hour, and what physics made of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from planroute.errors import InputError
from planroute.reporting.reading import Cell, Number, Part, Run, checked

Numbers = tuple[Number, ...]
REFEREES = {"linear": "", "ac": "_ac"}
"""The two power flows of every day, and how their columns are marked."""


class Node(Part):
    """A node of the feeder."""

    id: str
    name: str = ""
    lateral: str = ""
    position: tuple[float, float] | None = None


class Line(Part):
    """A segment; ``start`` is the end nearer to the head."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")


class Feeder(Part):
    """The feeder in its file format."""

    head: str
    nodes: tuple[Node, ...] = Field(min_length=1)
    lines: tuple[Line, ...]
    name: str = ""


class Hour(Part):
    """An hour of the uncontrolled day."""

    hour: int
    import_mw: Number
    import_ac_mw: Number = None
    min_voltage_pu: Number
    min_voltage_ac_pu: Number = None
    violation: bool = False


class Facts(Part):
    """What a grid run says about its task."""

    feeder: Feeder
    import_cap_mw: float
    voltage_floor_pu: float
    archetypes: tuple[str, ...] = ()
    uncontrolled: tuple[Hour, ...] = ()
    coefficients: tuple[Mapping[str, Any], ...] = ()


class _DirectedColumns(Part):
    node: tuple[int, ...]
    requested_kw: tuple[float, ...]


class _Directed(Part):
    step: int
    columns: _DirectedColumns


class _RespondedColumns(Part):
    node: tuple[int, ...]
    archetype: tuple[int, ...]
    complied: tuple[bool, ...]
    realised_kw: tuple[float, ...]
    sampled: tuple[bool, ...]
    shift: tuple[float, ...]


class _Responded(Part):
    step: int
    columns: _RespondedColumns


class _SettledValues(Part):
    import_mw: Number
    import_ac_mw: Number = None
    curtailed_mw: Number = None
    needed_mw: Number = None


class _SettledColumns(Part):
    voltage_pu: Numbers
    voltage_ac_pu: Numbers = ()


class _Settled(Part):
    step: int
    values: _SettledValues
    columns: _SettledColumns


@dataclass(frozen=True, slots=True)
class Answer:
    """What one participant was asked in an hour, and its answer."""

    node: int
    archetype: int
    requested_kw: float
    realised_kw: float
    complied: bool
    shift: float | None
    """Change of willingness by the message; None for those whose message was not evaluated."""


@dataclass(frozen=True, slots=True)
class Day:
    """One episode: imports and voltages by referee and hour, answers by hour of dispatch."""

    imports: Mapping[str, Mapping[int, float | None]]
    voltages: Mapping[str, Mapping[int, Sequence[float | None]]]
    answers: Mapping[int, Sequence[Answer]]
    succeeded: int = 0
    """Hours that would break a limit and, with what was curtailed, do not, by the linearised referee."""

    def lowest(self, referee: str) -> dict[int, float | None]:
        """The lowest voltage of each hour."""
        return {
            hour: min((v for v in row if v is not None), default=None) for hour, row in self.voltages[referee].items()
        }

    def all_answers(self) -> list[Answer]:
        """The answers of all hours."""
        return [answer for hour in self.answers.values() for answer in hour]


def read_facts(run: Run) -> dict[str, Facts]:
    """The facts of each task of the run. Raises ``InputError`` where the manifest has none for a task."""
    name = f"{run.folder}/manifest.json"
    tasks = list(dict.fromkeys(task for task, _ in run.cases))
    for task in tasks:
        if task not in run.manifest.facts:
            raise InputError(f"{name} is damaged: it has no facts for task {task[:60]!r}")
    return {task: checked(Facts, run.manifest.facts[task], name) for task in tasks}


def read_day(cell: Cell, facts: Facts) -> Day | None:
    """The day of ``cell``, None where nothing was settled. Raises ``InputError`` for a trace of another feeder."""
    nodes = len(facts.feeder.nodes)
    settled = {event.step: event for event in cell.of("settled", _Settled)}
    asked = {event.step: event.columns for event in cell.of("directed", _Directed)}
    answers: dict[int, list[Answer]] = {}
    try:
        for event in cell.of("responded", _Responded):
            got = event.columns
            requested = dict(zip(asked[event.step].node, asked[event.step].requested_kw, strict=True))
            columns = zip(got.node, got.archetype, got.realised_kw, got.complied, got.sampled, got.shift, strict=True)
            answers[event.step] = [
                Answer(node, kind, requested[node], realised, complied, shift if sampled else None)
                for node, kind, realised, complied, sampled, shift in columns
            ]
    except (KeyError, ValueError):
        raise InputError(f"{cell.name} is damaged: requests and answers of hour {event.step} do not match") from None
    known = all(0 <= a.node < nodes and a.archetype >= 0 for hour in answers.values() for a in hour)
    rows = [row for e in settled.values() for row in (e.columns.voltage_pu, e.columns.voltage_ac_pu) if row]
    if not known or any(len(row) != nodes for row in rows):
        raise InputError(f"{cell.name} is damaged: its trace does not fit a feeder of {nodes} nodes")
    if not settled:
        return None
    return Day(
        imports={
            "linear": {step: event.values.import_mw for step, event in settled.items()},
            "ac": {step: event.values.import_ac_mw for step, event in settled.items()},
        },
        voltages={
            "linear": {step: event.columns.voltage_pu for step, event in settled.items()},
            "ac": {step: event.columns.voltage_ac_pu for step, event in settled.items()},
        },
        answers=answers,
        succeeded=sum(_succeeded(event, facts) for event in settled.values()),
    )


def _succeeded(event: _Settled, facts: Facts) -> bool:
    values, voltages = event.values, [v for v in event.columns.voltage_pu if v is not None]
    if values.import_mw is None or not voltages or not values.curtailed_mw or not values.needed_mw:
        return False
    return values.import_mw <= facts.import_cap_mw and min(voltages) >= facts.voltage_floor_pu
