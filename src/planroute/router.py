"""The router: an admitted declaration in, the executor of its mode and the dispatch record out; nothing else."""

from collections.abc import Mapping
from types import MappingProxyType

from planroute.executors import hierarchical, predefined, search, sequential
from planroute.gate import GateRecord
from planroute.modes import Mode
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


def route(record: GateRecord) -> tuple[Dispatched, Executor]:
    """Dispatch the declaration that the gate admitted.

    Raises ``ValueError`` for a refused declaration: there is nothing to dispatch.
    """
    if record.admitted is None:
        raise ValueError("a refused declaration cannot be routed")
    executed = record.admitted.mode
    why = "as declared" if executed is record.declared.mode else f"gate: {record.why}"
    return Dispatched(record.declared.mode, executed, why), EXECUTORS[executed]
