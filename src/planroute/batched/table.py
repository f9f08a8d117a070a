"""The episodes of a batch as table columns: those of ``planroute.runs.table.row_frame``, for whatever reads rows.

Lines go seed by seed; within a seed scenario by scenario, and within a scenario in the order of the modes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planroute.batched.batch import Batch
from planroute.batched.draws import draw
from planroute.batched.figures import figures
from planroute.batched.modes import BATCHED
from planroute.declaration import DEFAULT_BRANCHING, Declaration, forced, read_fields, type_valid
from planroute.domains.grid import GridDomain, GridFields, Scenario
from planroute.domains.grid.profiles import HOURS
from planroute.errors import InputError
from planroute.evaluation.failure import FailureThresholds, failure_label
from planroute.gate import Gate, GateRecord, PlanningCosts
from planroute.modes import Mode
from planroute.protocols import State, Task
from planroute.router import route
from planroute.trace import Stop

if TYPE_CHECKING:
    import pyarrow

FloatArray = NDArray[np.float64]
SPENT_NOTHING = ("model_calls", "prompt_tokens", "answer_tokens", "thinking_tokens")
BATCH = 256
"""Seeds worked on at once: so many that the loop over hours costs little, so few that arrays stay in the cache."""


@dataclass(frozen=True, slots=True)
class Episodes:
    """Which episodes: every mode in every scenario; no language model, no budget, a deadline that only counts.

    Raises ``InputError`` where a scenario has a language model speak to prosumers.
    """

    scenarios: Mapping[str, Scenario]
    modes: tuple[Mode, ...]
    deadline_s: float | None = None
    branching: int = DEFAULT_BRANCHING

    def __post_init__(self) -> None:
        Gate(self.deadline_s)  # an impossible deadline is refused here as well
        spoken = [name for name, one in self.scenarios.items() if one.factors.communication != "calibrated"]
        if spoken:
            raise InputError(
                f"scenario {spoken[0]}: a bank has no language model that could speak to prosumers",
                hint="leave communication calibrated",
            )

    @property
    def per_seed(self) -> int:
        """Episodes under each seed."""
        return len(self.scenarios) * len(self.modes)


@dataclass(frozen=True)
class _Condition:
    """One forced mode in one scenario: what the gate and the router make of it, and what its planning costs."""

    task: Task
    mode: Mode
    record: GateRecord
    deadline_s: float | None

    @cached_property
    def admitted(self) -> Declaration:
        if self.record.admitted is None:
            raise InputError(f"{self.mode}: {self.record.why}")
        return self.record.admitted

    @cached_property
    def executed(self) -> str:
        return str(route(self.record)[0].executed)

    @cached_property
    def planning(self) -> list[list[float]]:
        """Costs of the planning events in s, by the number of hours dispatched: one declares, the others plan again."""
        costs, mode = PlanningCosts(), self.admitted.mode
        first, later = costs.declare(self.admitted), costs.replan(self.admitted)
        events = []
        for hours in range(HOURS + 1):
            again = {Mode.SEQUENTIAL: max(hours, 1), Mode.HIERARCHICAL: hours}.get(mode, 0)
            events.append([first, *[later] * again])
        return events


def conditions(episodes: Episodes) -> list[_Condition]:
    """Return scenario and mode of each episode of a seed, in the order of lines."""
    domain = GridDomain(episodes.scenarios)
    found = []
    for task in domain.tasks():
        shared = domain.shared_fields(task, State(0, {}, {}))
        for mode in episodes.modes:
            declared = type_valid(forced(mode, shared), branching=episodes.branching)
            found.append(_Condition(task, mode, Gate().admit(declared), episodes.deadline_s))
    return found


def table(episodes: Episodes, seeds: Sequence[int], batch: int = BATCH) -> "pyarrow.Table":
    """Run the episodes of ``seeds``, ``batch`` seeds at once, and return their lines. No line depends on ``batch``."""
    import pyarrow as pa

    parts = [_batch_table(episodes, seeds[at : at + batch]) for at in range(0, len(seeds), batch)]
    return pa.concat_tables(parts).combine_chunks()


def _batch_table(episodes: Episodes, seeds: Sequence[int]) -> "pyarrow.Table":
    import pyarrow as pa

    some, measured = conditions(episodes), []
    drawn = {}
    for at in range(0, len(some), len(episodes.modes)):
        scenario: Scenario = some[at].task.payload
        key = (scenario.feeder.n, scenario.coefficients.response)
        if key not in drawn:
            drawn[key] = draw(seeds, *key)
        batch = Batch.of(scenario, drawn[key], read_fields(GridFields, some[at].admitted))
        for condition in some[at : at + len(episodes.modes)]:
            measured.append(figures(BATCHED[condition.admitted.mode](batch, condition.admitted)))
    columns = _columns(some, np.asarray(seeds, np.int64), measured)
    schema = table_schema(episodes)
    return pa.table([_arrow(columns[field.name], field.type) for field in schema], schema=schema)


def _arrow(values: NDArray[Any], kind: Any) -> Any:
    """A column; NaN is null. Numbers go over as they lie in memory, which spares their conversion."""
    import pyarrow as pa

    if values.dtype == object:
        return pa.array(values.tolist(), kind)
    known = ~np.isnan(values)
    nulls = None if known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [nulls, pa.py_buffer(np.ascontiguousarray(values))])


def _columns(
    some: Sequence[_Condition], seeds: NDArray[np.int64], measured: Sequence[Mapping[str, FloatArray]]
) -> dict[str, Any]:
    """Every column, seed by seed."""
    count, each = len(seeds), len(some)

    def same(values: Sequence[Any]) -> NDArray[Any]:
        """What does not depend on the seed."""
        return np.tile(np.array(values, dtype=object), count)

    def by_seed(values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return np.stack(values, axis=1).reshape(-1)

    hours = [one["dispatch_hours"].astype(np.int64) for one in measured]

    def planned(of: Any, kind: Any) -> NDArray[Any]:
        tables = [np.array([of(events, one.deadline_s) for events in one.planning], kind) for one in some]
        return by_seed([values[spent] for values, spent in zip(tables, hours, strict=True)])

    def late(events: list[float], deadline: float | None) -> int:
        return sum(deadline is not None and cost > deadline for cost in events)

    nothing = np.full(count * each, None)
    timed = [one.deadline_s is not None for one in some]
    late_events = planned(late, np.int64)
    labels = [_labels(one, spent, values) for one, spent, values in zip(some, hours, measured, strict=True)]
    result: dict[str, Any] = {
        "domain": same([GridDomain().name] * each),
        "task": same([one.task.id for one in some]),
        "condition": same([str(one.mode) for one in some]),
        "declarer": same(["fixed"] * each),
        "seed": np.repeat(seeds, each),
        "declared": same([str(one.record.declared.mode) for one in some]),
        "executed": same([one.executed for one in some]),
        "mode_agreement": same([one.executed == one.record.declared.mode for one in some]),
        "gate": same([str(one.record.action) for one in some]),
        "status": same(["finished"] * each),
        "stop": same([str(Stop.DONE)] * each),
        "error": nothing,
        "success": nothing,
        "deadline_s": same([one.deadline_s for one in some]),
        "late_events": late_events if all(timed) else nothing,
        "failure": by_seed(labels),
        "model": nothing,
    }
    for name in some[0].task.factors:
        result[f"factor_{name}"] = same([_scalar(one.task.factors[name]) for one in some])
    for name in measured[0]:
        result[f"metric_{name}"] = by_seed([one[name] for one in measured])
    result |= {f"spent_{name}": np.zeros(count * each, np.int64) for name in SPENT_NOTHING}
    result["spent_interactions"] = by_seed(hours)
    result["spent_planning_events"] = planned(lambda events, _: len(events), np.int64)
    result["planning_s"] = planned(lambda events, _: sum(events), float)
    result["longest_s"] = planned(lambda events, _: max(events), float)
    return result


def _labels(one: _Condition, hours: NDArray[np.int64], values: Mapping[str, FloatArray]) -> NDArray[Any]:
    """The failure label of every seed: asked for once for each kind of episode that the thresholds tell apart."""
    limits = FailureThresholds()
    late = np.array([any(one.deadline_s is not None and cost > one.deadline_s for cost in e) for e in one.planning])
    rules = (
        late[hours],
        values["leverage_ratio"] < limits.leverage_ratio,
        values["forecast_error"] > limits.forecast_error,
        values["realisation"] < limits.realisation,
        values["unmet_share"] > limits.unmet,
    )
    kinds = sum(rule.astype(np.int64) << place for place, rule in enumerate(rules))
    labels = np.empty(len(hours), dtype=object)
    for kind in np.unique(kinds):
        at = np.flatnonzero(kinds == kind)
        metrics = {name: float(value[at[0]]) for name, value in values.items() if not np.isnan(value[at[0]])}
        labels[at] = str(
            failure_label(
                Stop.DONE,
                late_events=int(rules[0][at[0]]),
                mode_agreement=one.executed == one.record.declared.mode,
                replaced_by_gate=False,
                success=None,
                metrics=metrics,
            )
        )
    return labels


def table_schema(episodes: Episodes) -> "pyarrow.Schema":
    """Return names and types of the columns, which are the same for every part of a bank."""
    import pyarrow as pa

    text, number, whole, truth = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    plain = {
        **dict.fromkeys(("domain", "task", "condition", "declarer"), text),
        "seed": whole,
        **dict.fromkeys(("declared", "executed"), text),
        "mode_agreement": truth,
        **dict.fromkeys(("gate", "status", "stop", "error"), text),
        "success": truth,
        "deadline_s": number,
        "late_events": whole,
        **dict.fromkeys(("failure", "model"), text),
    }
    tasks = GridDomain(episodes.scenarios).tasks()
    for name in tasks[0].factors:
        values = [_scalar(task.factors[name]) for task in tasks]
        is_text = any(isinstance(value, str) for value in values)
        plain[f"factor_{name}"] = text if is_text or name == "model_hours" else number
    plain |= dict.fromkeys((f"metric_{name}" for name in METRICS), number)
    plain |= dict.fromkeys((f"spent_{name}" for name in (*SPENT_NOTHING, "interactions", "planning_events")), whole)
    return pa.schema(list({**plain, "planning_s": number, "longest_s": number}.items()))


METRICS = (
    *("objective", "overcap_kwh", "voltage_shortfall_pu", "min_voltage_pu", "peak_import_mw"),
    *("objective_ac", "overcap_kwh_ac", "voltage_shortfall_pu_ac", "min_voltage_pu_ac", "peak_import_mw_ac"),
    *("curtailed_kwh", "faithfulness", "groundedness", "minimality", "coherence", "realisation", "compliance"),
    *("leverage_ratio", "forecast_error", "unmet_share", "directives", "dispatch_hours", "requested_kwh"),
    *("realised_kwh", "violation_hours"),
)
"""Names of the metrics, in the order of columns."""


def _scalar(value: Any) -> Any:
    """A list of factors as text: a column has one type."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
