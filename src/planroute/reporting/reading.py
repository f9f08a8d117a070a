"""Reading a run's folder for its report.

A report knows a run by its files only, so the parts that it needs are described here once more, loosely: fields that
are not named are left alone, and whatever does not fit is an ``InputError`` that names the file.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError, model_validator

from planroute.errors import InputError
from planroute.modes import MODES, Baseline

SCHEMA_VERSION = 1
LONGEST_NAME = 250
"""Bytes that the name of a cell may have, so that a file can be called by it."""


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


Number = Annotated[float | None, BeforeValidator(_finite)]
"""A number; what is not finite counts as not measured."""
Known = Annotated[float | None, Strict(), Field(allow_inf_nan=False, ge=-1e100, le=1e100)]
"""A number of a row, where nothing that is written is infinite, and no text is a number."""
Amount = Annotated[float, Strict(), Field(ge=0, le=1e100)]
Whole = Annotated[int, Strict()]
Truth = Annotated[bool, Strict()]
SHARES = ("adherence", "plan_order_faithful", "order_by_evidence")
"""Metrics that are shares wherever they are measured."""


class Part(BaseModel):
    """A part of a file: unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Clip(Part):
    """A declared value that was moved into its range."""

    field: str
    given: Number
    used: Number


class Declaration(Part):
    """A declared policy."""

    mode: str
    depth: int = 1
    branching: int = 1
    replanning: str = "NONE"
    decision_budget_s: Number = None
    confidence: Number = None
    rationale: str = ""
    fields: Mapping[str, Any] = Field(default_factory=dict)
    clips: tuple[Clip, ...] = ()
    repairs: tuple[str, ...] = ()


class PlanningEvent(Part):
    """One planning event and its stipulated cost."""

    kind: str
    after_units: int
    cost_s: float
    late: bool = False


class Row(Part):
    """The facts of one episode."""

    task: str
    condition: str
    seed: Whole
    declarer: str = ""
    factors: Mapping[str, Any] = Field(default_factory=dict)
    declared: str | None = None
    executed: str | None = None
    gate: str | None = None
    gate_why: str = ""
    declaration: Declaration | None = None
    status: Literal["finished", "failed", "infrastructure"]
    stop: str = ""
    error: str | None = None
    success: Truth | None = None
    metrics: Mapping[str, Known] = Field(default_factory=dict)
    spent: Mapping[str, Mapping[str, Amount]] = Field(default_factory=dict)
    planning: tuple[PlanningEvent, ...] = ()
    deadline_s: Known = None
    late_events: Annotated[Whole, Field(ge=0)] | None = None
    mode_agreement: Truth | None = None
    failure: str = "NONE"
    model: str | None = None

    @model_validator(mode="after")
    def _plausible(self) -> "Row":
        if self.success and self.status != "finished":
            raise ValueError(f"success in an episode that is {self.status}")
        for name in SHARES:
            value = self.metrics.get(name)
            if value is not None and not 0 <= value <= 1:
                raise ValueError(f"metrics.{name}: {value:g} is no share from 0 to 1")
        return self

    @property
    def case(self) -> tuple[str, int]:
        """What is paired across conditions: task and seed."""
        return self.task, self.seed

    @property
    def counts(self) -> bool:
        """Whether the episode counts: a failure of the infrastructure does not."""
        return self.status != "infrastructure"

    @property
    def late(self) -> bool:
        """Whether the episode missed its deadline; never without one."""
        return bool(self.late_events)


class _Trace(Part):
    events: tuple[Mapping[str, Any], ...]


class _Cell(Part):
    row: Row
    trace: _Trace


class Manifest(Part):
    """What a run was asked for."""

    domain: str
    cells: tuple[str, ...]
    facts: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    config: Mapping[str, Any] = Field(default_factory=dict)
    environment: Mapping[str, Any] = Field(default_factory=dict)
    planroute: str = "unknown"
    identity: str = ""


class Result(Part):
    """The table of a run."""

    conditions: Mapping[str, Mapping[str, Any]]
    oracle: Mapping[str, Any] = Field(default_factory=dict)
    paper: Mapping[str, Mapping[str, Number]] = Field(default_factory=dict)


P = TypeVar("P", bound=Part)


@dataclass(frozen=True, slots=True)
class Cell:
    """One episode as it was kept: its row, and its trace by kind of event.

    ``evidence`` says by unit of its plan, in words, which action shows it; empty where nobody looked.
    """

    name: str
    row: Row
    events: Sequence[Mapping[str, Any]]
    evidence: Mapping[str, str] = field(default_factory=dict)

    def of(self, kind: str, model: type[P]) -> list[P]:
        """Return the events of ``kind`` in order. Raises ``InputError`` for one that does not have the form."""
        return [checked(model, event, self.name) for event in self.events if event.get("kind") == kind]


@dataclass(frozen=True, slots=True)
class Run:
    """A run as its report sees it; ``cells`` holds those that have been run, in the manifest's order."""

    folder: str
    manifest: Manifest
    result: Result
    cells: Sequence[Cell]
    billing: Mapping[str, Any]

    @property
    def rows(self) -> list[Row]:
        """The row of every cell."""
        return [cell.row for cell in self.cells]

    @property
    def missing(self) -> int:
        """Episodes that the manifest lists and that have not been run."""
        return len(self.manifest.cells) - len(self.cells)

    @property
    def conditions(self) -> list[str]:
        """The conditions of the run: forced modes in their order, then baselines, then the routed by name."""
        order: dict[str, int] = {str(name): place for place, name in enumerate((*MODES, *Baseline))}
        found = {*self.result.conditions, *(row.condition for row in self.rows)}
        return sorted(found, key=lambda name: (order.get(name, len(order)), name))

    @property
    def forced(self) -> list[str]:
        """The conditions that force one of the four modes."""
        return [name for name in self.conditions if name in tuple(MODES)]

    @property
    def routed(self) -> list[str]:
        """The conditions in which a declarer chose the mode."""
        return [name for name in self.conditions if name not in (*MODES, *Baseline)]

    @property
    def cases(self) -> list[tuple[str, int]]:
        """Every task and seed, in the order in which they were asked for."""
        return list(dict.fromkeys(row.case for row in self.rows))

    @property
    def noun(self) -> str:
        """What a case is called: a seed, or a case where the run has several tasks."""
        return "seed" if len({task for task, _ in self.cases}) == 1 else "case"

    def case_name(self, case: tuple[str, int]) -> str:
        """``seed 7``, with the task before it where the run has several."""
        return f"seed {case[1]}" if self.noun == "seed" else f"{case[0]}, seed {case[1]}"

    def cell(self, case: tuple[str, int], condition: str) -> Cell | None:
        """The episode of ``condition`` on ``case``, if it has been run."""
        return next((c for c in self.cells if c.row.case == case and c.row.condition == condition), None)

    @property
    def deadline_s(self) -> float | None:
        """The deadline of a planning event, None where the run had none."""
        return next((row.deadline_s for row in self.rows if row.deadline_s is not None), None)

    def models(self) -> list[str]:
        """The endpoints that the run used; where no episode names one, what it was configured with."""
        configured = self.manifest.config.get("model")
        named = [configured] if isinstance(configured, str) and configured else []
        return list(dict.fromkeys(row.model for row in self.rows if row.model)) or named


Evidence = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, str]]
"""Says for the events of a trace which action shows each unit of its plan, in words."""


def read_run(folder: Path, evidence: Evidence | None = None) -> Run:
    """Read the run in ``folder``; ``evidence`` is asked about each cell where it is given.

    Raises ``InputError`` with one line for what is missing or damaged.
    """
    if not (folder / "manifest.json").is_file():
        raise InputError(f"{folder} is not a run: it has no manifest.json")
    manifest = checked(Manifest, read_object(folder / "manifest.json"), str(folder / "manifest.json"))
    if not (folder / "result.json").is_file():
        raise InputError(f"{folder} has no result.json", hint="let the run finish, then ask for its report again")
    result = checked(Result, read_object(folder / "result.json"), str(folder / "result.json"))
    cells = []
    for key in manifest.cells:
        path = folder / "cells" / f"{key}.json"
        if Path(key).name != key or "\0" in key or len(key.encode("utf-8", "replace")) > LONGEST_NAME:
            raise InputError(f"{folder / 'manifest.json'} is damaged: {key[:60]!r} names no cell")
        if path.exists() or path.is_symlink():
            cell = checked(_Cell, read_object(path), str(path))
            shown = evidence(cell.trace.events) if evidence is not None else {}
            cells.append(Cell(str(path), cell.row, cell.trace.events, shown))
    if not cells:
        if (folder / "cells.parquet").is_file():
            raise InputError(f"the episodes of {folder} are packed", hint=f"planroute runs unpack {folder}")
        raise InputError(f"{folder} holds no finished episode", hint="let the run go on, then ask for its report again")
    billing = read_object(folder / "billing.json") if (folder / "billing.json").is_file() else {}
    return Run(str(folder), manifest, result, cells, billing)


def checked(model: type[P], value: Any, name: str) -> P:
    """Return ``value`` in the form of ``model``. Raises ``InputError`` that names the file and the first fault."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "its content"
        raise InputError(f"{name} is damaged: {where}: {first['msg']}") from None


def read_object(path: Path) -> dict[str, Any]:
    """Read the JSON object in ``path``. Raises ``InputError`` that names the file where that is impossible."""
    try:
        if not path.is_file():
            raise InputError(f"{path} is not a file", hint="remove that file and run again")
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {error}", hint="remove that file and run again") from None
    if not isinstance(data, dict):
        raise InputError(f"{path} is damaged: not an object", hint="remove that file and run again")
    if data.get("schema", SCHEMA_VERSION) != SCHEMA_VERSION:
        raise InputError(
            f"{path} has schema version {data['schema']!r}, this planroute reads {SCHEMA_VERSION}",
            hint="install the planroute version that wrote it",
        )
    return data
