"""The router: an admitted declaration in, the executor of its mode and the dispatch record out; nothing else."""

from collections.abc import Mapping
from types import MappingProxyType

from planroute.declaration import Declaration
from planroute.executors import (
    flat_react,
    hierarchical,
    plan_react,
    predefined,
    repeated_react,
    search,
    sequential,
)
from planroute.gate import GateRecord
from planroute.modes import Baseline, Mode
from planroute.protocols import Executor
from planroute.trace import Dispatched

EXECUTORS: Mapping[Mode, Executor] = MappingProxyType(
    {
        Mode.PREDEFINED: predefined,
        Mode.SEQUENTIAL: sequential,
        Mode.HIERARCHICAL: hierarchical,
        Mode.SEARCH: search,
    }
)


BASELINES: Mapping[Baseline, Executor] = MappingProxyType(
    {
        Baseline.FLAT_REACT: flat_react,
        Baseline.PLAN_REACT: plan_react,
        Baseline.REPEATED_REACT: repeated_react,
    }
)


def route(record: GateRecord) -> tuple[Dispatched, Executor]:
    """Dispatch the declaration that the gate admitted.

    Raises ``ValueError`` for a refused declaration: there is nothing to dispatch.
    """
    if record.admitted is None:
        raise ValueError("a refused declaration cannot be routed")
    executed = record.admitted.mode
    why = "as declared" if executed is record.declared.mode else f"gate: {record.why}"
    return Dispatched(record.declared.mode, executed, why), EXECUTORS[executed]


def route_baseline(baseline: Baseline, declaration: Declaration | None) -> tuple[Dispatched, Executor]:
    """Dispatch to a baseline, whatever was declared: the control that has no matching executor."""
    declared = declaration.mode if declaration is not None else "NONE"
    return Dispatched(declared, baseline, "baseline"), BASELINES[baseline]
