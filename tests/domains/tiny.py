"""A second domain, small and real: a robot fetches numbered items from a line, and its grip sometimes slips.

It proves that executors, episode and contract are general. Whether the grip slips at an item's n-th try is a draw of
(seed, item, try): no order of fetching changes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from planroute.declaration import Declaration
from planroute.errors import DomainError
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.protocols import Context, Observation, Outcome, State, Task
from planroute.streams import stream
from planroute.trace import Acted


class Grip(StrEnum):
    FIRM = "FIRM"
    LOOSE = "LOOSE"


class TinyFields(BaseModel):
    model_config = ConfigDict(frozen=True, use_enum_values=True, validate_default=True)

    grip: Grip = Field(Grip.FIRM, description="FIRM slips half as often and takes one step more")
    tries: int = Field(1, ge=1, le=3, description="tries at an item before the robot moves on")


@dataclass(frozen=True)
class Line:
    """Items are numbered in the order of ``places``; the robot starts at place 0 and has ``steps`` steps."""

    places: tuple[int, ...] = (4, 1, 7, 2)
    slip: float = 0.3
    steps: int = 60


class TinyWorld:
    def __init__(self, line: Line, context: Context) -> None:
        self.line = line
        self.context = context
        self.fields = TinyFields()
        self.at = 0
        self.steps = 0
        self.fetched: set[int] = set()
        self.tried = dict.fromkeys(range(len(line.places)), 0)
        self.closed = 0
        self._units = 0

    @property
    def done(self) -> bool:
        return not self._left() or self.steps >= self.line.steps

    def state(self) -> State:
        left = [] if self.done else self._left()
        summary = {"at": self.at, "left": left, "steps": self.steps, "closed": self.closed > 0}
        features = {
            "stress": min(self._length(left) / max(self.line.steps - self.steps, 1), 1.0),
            "horizon": len(left) / max(len(self.line.places), 1),
            "volatility": self.line.slip,
        }
        return State(self.steps, summary, features)

    def begin(self, declaration: Declaration) -> None:
        self.fields = TinyFields.model_validate(dict(declaration.fields))

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        return self._as_plan(self._nearest_first(self._left() if subgoal is None else subgoal.payload))

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        return self._as_plan(self._nearest_first(self._left()))

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        """Halves of the line, one after the other; at depth three each in quarters, side by side."""
        left = sorted(self._left(), key=lambda item: self.line.places[item])
        if self.done:
            return ()
        stages = []
        for name, half in zip(("near", "far"), _halves(left), strict=True):
            parts = _halves(half) if depth >= 3 else [half]
            goals = [Subgoal(f"{name} {i}", f"fetch {part}", name, part) for i, part in enumerate(parts) if part]
            stages.append(tuple(goals))
        return tuple(stage for stage in stages if stage)

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        return Plan(tuple(unit for part in parts for unit in part.units))

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        left = self._left()
        orders = {
            "nearest first": self._nearest_first(left),
            "by number": left,
            "left to right": sorted(left, key=lambda item: self.line.places[item]),
            "right to left": sorted(left, key=lambda item: -self.line.places[item]),
        }
        distinct = {tuple(order): name for name, order in reversed(orders.items())}
        return [
            Candidate(name, f"{name}: {list(order)}", self._as_plan(order), order)
            for order, name in reversed(distinct.items())
        ][:k]

    async def rollout(self, candidate: Candidate) -> Rollout:
        """Steps of the walk if nothing slips."""
        length = self._length(candidate.payload)
        return Rollout(candidate.id, float(length), f"{length} steps")

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        return min(range(len(rollouts)), key=lambda i: rollouts[i].cost)

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        return candidate.plan

    async def execute(self, unit: PlanUnit) -> Observation:
        item = unit.payload
        if item in self.fetched:
            raise DomainError(f"item {item} is already fetched")
        self.context.ledger.charge_interaction()
        self.steps += abs(self.line.places[item] - self.at)
        self.at = self.line.places[item]
        self._act(f"go to {self.at}", unit)
        firm = self.fields.grip == Grip.FIRM
        for _ in range(self.fields.tries):
            self.steps += 2 if firm else 1
            draw = stream(self.context.seed, "slip", item, self.tried[item]).random()
            self.tried[item] += 1
            if draw >= self.line.slip * (0.5 if firm else 1.0):
                self.fetched.add(item)
                self._act(f"fetched {item}", unit)
                break
            self._act(f"slipped at {item}", unit)
        return Observation(unit.id, item in self.fetched, f"at {self.at}, have {sorted(self.fetched)}")

    def outcome(self) -> Outcome:
        metrics = {"steps": float(self.steps), "fetched": float(len(self.fetched)), "per_item": None}
        if self.fetched:
            metrics["per_item"] = self.steps / len(self.fetched)
        return Outcome(not self._left(), metrics)

    async def aclose(self) -> None:
        self.closed += 1

    def _left(self) -> list[int]:
        return [item for item in range(len(self.line.places)) if item not in self.fetched]

    def _nearest_first(self, items: Sequence[int]) -> list[int]:
        order, at, rest = [], self.at, list(items)
        while rest:
            rest.sort(key=lambda item: (abs(self.line.places[item] - at), item))
            order.append(rest.pop(0))
            at = self.line.places[order[-1]]
        return order

    def _length(self, order: Sequence[int]) -> int:
        stops = [self.at, *(self.line.places[item] for item in order)]
        return sum(abs(b - a) for a, b in pairwise(stops))

    def _as_plan(self, items: Sequence[int]) -> Plan:
        units = []
        for item in items:
            self._units += 1
            units.append(PlanUnit(f"u{self._units}", f"fetch item {item}", item))
        return Plan(tuple(units))

    def _act(self, action: str, unit: PlanUnit) -> None:
        self.context.trace.append(Acted(action, unit.id))


def _halves(items: list[int]) -> list[list[int]]:
    middle = (len(items) + 1) // 2
    return [items[:middle], items[middle:]]


@dataclass
class TinyDomain:
    """``world`` is the class of the worlds, for variants that break the contract. ``opened`` keeps every world."""

    lines: Mapping[str, Line] = field(default_factory=lambda: {"line": Line()})
    world: type[TinyWorld] = TinyWorld
    name: str = "tiny"
    lexicon: None = None
    briefing: str = (
        "A robot fetches items from a line. Decide how it plans, how firmly it grips, and how often it tries."
    )
    fields: Any = TinyFields
    opened: list[TinyWorld] = field(default_factory=list)

    def tasks(self) -> Sequence[Task]:
        return tuple(
            Task(name, f"fetch {len(line.places)} items", {"slip": line.slip}, line)
            for name, line in self.lines.items()
        )

    async def open(self, task: Task, context: Context) -> TinyWorld:
        self.opened.append(self.world(task.payload, context))
        return self.opened[-1]

    def facts(self, task: Task) -> Mapping[str, Any]:
        line = task.payload
        return {"places": list(line.places), "slip": line.slip, "steps": line.steps}

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        return TinyFields(tries=2).model_dump()
