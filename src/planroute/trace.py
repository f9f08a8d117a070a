"""The trace of an episode: append-only typed events under a schema version.

Every metric can be computed again from a trace, and the verifier needs nothing else. Wall times and whether a call was
billed are not here: they change between equal runs and live in the ledger. Numbers by step and participant (what was
asked of whom, what came of it) are columns inside one event for the step, never an event each.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from planroute.declaration import Declaration
from planroute.errors import InputError
from planroute.gate import GateRecord
from planroute.ledger import Usage
from planroute.plan import Plan, Stage

SCHEMA_VERSION = 1

Columns = Mapping[str, tuple[Any, ...]]
Values = Mapping[str, Any]


class Stop(StrEnum):
    """Why an episode ended."""

    DONE = "DONE"
    DECLARED = "DECLARED"
    PLAN_EXHAUSTED = "PLAN_EXHAUSTED"
    BUDGET = "BUDGET"
    REFUSED = "REFUSED"
    DECLARATION = "DECLARATION"
    REPLY = "REPLY"
    MODEL_REFUSED = "MODEL_REFUSED"
    INFRASTRUCTURE = "INFRASTRUCTURE"


@dataclass(frozen=True, slots=True)
class Declared:
    """A declarer chose; ``declarer`` names it."""

    declarer: str
    declaration: Declaration
    kind: Literal["declared"] = "declared"


@dataclass(frozen=True, slots=True)
class Gated:
    """The gate decided."""

    record: GateRecord
    kind: Literal["gated"] = "gated"


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The router's dispatch record: what was declared, what executes, and why they differ if they do."""

    declared: str
    executed: str
    why: str
    kind: Literal["dispatched"] = "dispatched"


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan was made, for the whole task or by the worker of one subgoal."""

    plan: Plan
    subgoal: str | None = None
    kind: Literal["planned"] = "planned"


@dataclass(frozen=True, slots=True)
class Revised:
    """The unexecuted rest of the plan was replaced."""

    plan: Plan
    kind: Literal["revised"] = "revised"


@dataclass(frozen=True, slots=True)
class Decomposed:
    """The orchestrator cut the task into stages of subgoals."""

    stages: tuple[Stage, ...]
    kind: Literal["decomposed"] = "decomposed"


@dataclass(frozen=True, slots=True)
class Collected:
    """The orchestrator put the workers' plans of one stage together."""

    plan: Plan
    subgoals: tuple[str, ...]
    kind: Literal["collected"] = "collected"


@dataclass(frozen=True, slots=True)
class Proposed:
    """Alternatives were proposed: identity and text of each, and its plan."""

    candidates: tuple[tuple[str, str, Plan], ...]
    kind: Literal["proposed"] = "proposed"


@dataclass(frozen=True, slots=True)
class RolledOut:
    """A candidate was tried without touching the real episode."""

    candidate: str
    cost: float | None
    kind: Literal["rolled_out"] = "rolled_out"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One candidate was adopted."""

    candidate: str
    among: int
    kind: Literal["chosen"] = "chosen"


@dataclass(frozen=True, slots=True)
class UnitStarted:
    """An executor handed a unit to the domain."""

    unit: str
    kind: Literal["unit_started"] = "unit_started"


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """The domain handed the unit back, carried out or not."""

    unit: str
    completed: bool
    kind: Literal["unit_finished"] = "unit_finished"


@dataclass(frozen=True, slots=True)
class Acted:
    """One action on the environment; ``branch`` names the candidate whose rollout it belongs to."""

    action: str
    unit: str | None = None
    admissible: bool = True
    branch: str | None = None
    kind: Literal["acted"] = "acted"


@dataclass(frozen=True, slots=True)
class Observed:
    """What the environment showed; ``branch`` as in ``acted``."""

    text: str
    branch: str | None = None
    kind: Literal["observed"] = "observed"


@dataclass(frozen=True, slots=True)
class Directed:
    """What was asked of whom in one step."""

    step: int
    columns: Columns
    values: Values = field(default_factory=dict)
    kind: Literal["directed"] = "directed"


@dataclass(frozen=True, slots=True)
class Responded:
    """How those who were asked answered, in the order of the ``directed`` event of the step."""

    step: int
    columns: Columns
    kind: Literal["responded"] = "responded"


@dataclass(frozen=True, slots=True)
class Settled:
    """What the physical process made of one step, by each referee."""

    step: int
    values: Values
    columns: Columns = field(default_factory=dict)
    kind: Literal["settled"] = "settled"


@dataclass(frozen=True, slots=True)
class Noted:
    """A domain's own measurement of a step, by name."""

    step: int
    values: Values
    kind: Literal["noted"] = "noted"


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A language model was asked; ``identity`` finds the whole exchange in the call cache."""

    purpose: str
    model: str
    identity: str
    usage: Usage
    finish_reason: str = "stop"
    kind: Literal["model_called"] = "model_called"


@dataclass(frozen=True, slots=True)
class Mended:
    """A model's answer had to be repaired or clipped before it could be used."""

    purpose: str
    repairs: tuple[str, ...] = ()
    clips: tuple[tuple[str, float, float], ...] = ()
    kind: Literal["mended"] = "mended"


@dataclass(frozen=True, slots=True)
class Failed:
    """Something failed; the episode may have gone on."""

    error: str
    message: str
    where: str
    kind: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True)
class Finished:
    """The episode ended."""

    stop: Stop
    kind: Literal["finished"] = "finished"


Event = Annotated[
    Declared
    | Gated
    | Dispatched
    | Planned
    | Revised
    | Decomposed
    | Collected
    | Proposed
    | RolledOut
    | Chosen
    | UnitStarted
    | UnitFinished
    | Acted
    | Observed
    | Directed
    | Responded
    | Settled
    | Noted
    | ModelCalled
    | Mended
    | Failed
    | Finished,
    Field(discriminator="kind"),
]

_EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Event])
E = TypeVar("E")


class Trace:
    """An append-only list of events."""

    def __init__(self, events: list[Any] | None = None) -> None:
        self._events: list[Any] = list(events or [])

    def append(self, event: Any) -> None:
        """Add ``event`` at the end."""
        self._events.append(event)

    def extend(self, events: Iterable[Any]) -> None:
        """Add ``events`` at the end, in order."""
        self._events.extend(events)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of one type, in order."""
        return [event for event in self._events if type(event) is kind]

    def to_json(self) -> str:
        """Return the trace as JSON: ``{"schema": 1, "events": [...]}``, the same bytes for equal traces."""
        events = _EVENTS.dump_python(self._events, mode="json")
        return json.dumps({"schema": SCHEMA_VERSION, "events": events}, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "Trace":
        """Read what ``to_json`` wrote. Raises ``InputError`` on another schema version or a damaged trace."""
        try:
            data = json.loads(text)
            version = data["schema"]
            if version != SCHEMA_VERSION:
                raise InputError(
                    f"trace has schema version {version!r}, this planroute reads {SCHEMA_VERSION}",
                    hint="install the planroute version that wrote it",
                )
            return cls(_EVENTS.validate_python(data["events"]))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InputError(f"not a readable trace: event {where}: {first['msg']}") from None
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"not a readable trace: {error!r}") from None
