"""The gate between a declaration and the router: static type check, then the deadline.

Costs are stipulated per planning event, and a mode is feasible when no single event exceeds the deadline
(cyber-physical paper, sections IV and V-C). The gate replaces what it can by a type-valid declaration and refuses the
rest; either way it records what it did and why.
"""

import math
from dataclasses import dataclass, replace
from enum import StrEnum

from planroute.declaration import Declaration, Replanning, type_valid
from planroute.errors import InputError
from planroute.modes import Mode


@dataclass(frozen=True, slots=True)
class Fault:
    """A static rule that a declaration breaks."""

    field: str
    rule: str


class GateAction(StrEnum):
    """What the gate did with a declaration."""

    PASSED = "PASSED"
    REPLACED = "REPLACED"
    REFUSED = "REFUSED"


@dataclass(frozen=True, slots=True)
class GateRecord:
    """The gate's answer. ``admitted`` is ``None`` exactly when the declaration was refused."""

    declared: Declaration
    admitted: Declaration | None
    action: GateAction
    why: str = ""
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanningCosts:
    """Stipulated nominal cost, in seconds, of one planning event of each mode.

    The defaults reproduce the paper's sums: nine hierarchical events at depth 3 cost 51.03 s, one sequential
    declaration and eight revisions 13.33 s, a two-candidate search 2.75 s. How the sums split into events is the
    project's own choice.
    """

    predefined: float = 1.2
    sequential_declare: float = 1.33
    sequential_revise: float = 1.5
    hierarchical_base: float = 4.2
    hierarchical_per_level: float = 0.35
    search_per_candidate: float = 1.375

    def declare(self, declaration: Declaration) -> float:
        """Cost of the event that declares (in predefined and search it plans as well)."""
        match declaration.mode:
            case Mode.PREDEFINED:
                return self.predefined
            case Mode.SEQUENTIAL:
                return self.sequential_declare
            case Mode.HIERARCHICAL:
                return self.hierarchical_base * (1 + self.hierarchical_per_level * (declaration.depth - 2))
            case Mode.SEARCH:
                return self.search_per_candidate * declaration.branching

    def replan(self, declaration: Declaration) -> float:
        """Cost of each later planning event, at a dispatch; 0 where a mode plans only once."""
        match declaration.mode:
            case Mode.SEQUENTIAL:
                return self.sequential_revise
            case Mode.HIERARCHICAL:
                return self.declare(declaration)
            case _:
                return 0.0

    def longest(self, declaration: Declaration) -> float:
        """Cost of the longest single event, which is what a deadline is held against."""
        return max(self.declare(declaration), self.replan(declaration))


def check(declaration: Declaration) -> tuple[Fault, ...]:
    """Return every static rule that ``declaration`` breaks."""
    faults = []
    if declaration.mode is Mode.HIERARCHICAL and declaration.depth < 2:
        faults.append(Fault("depth", f"HIERARCHICAL needs a depth of at least 2, got {declaration.depth}"))
    if declaration.mode is Mode.SEARCH and declaration.branching < 2:
        faults.append(Fault("branching", f"SEARCH needs at least 2 candidates, got {declaration.branching}"))
    if declaration.mode is Mode.SEQUENTIAL and declaration.replanning is Replanning.NONE:
        faults.append(Fault("replanning", "SEQUENTIAL needs a replanning trigger, got NONE"))
    if declaration.mode is Mode.PREDEFINED and declaration.replanning is not Replanning.NONE:
        faults.append(Fault("replanning", f"PREDEFINED never replans, got {declaration.replanning}"))
    budget = declaration.decision_budget_s
    if budget is not None and not (math.isfinite(budget) and budget > 0):
        faults.append(Fault("decision_budget_s", f"must be above 0 s, got {budget:g}"))
    if declaration.confidence is not None and not 0 <= declaration.confidence <= 1:
        faults.append(Fault("confidence", f"must be from 0 to 1, got {declaration.confidence:g}"))
    return tuple(faults)


@dataclass(frozen=True, slots=True)
class Gate:
    """Admits, replaces or refuses a declaration.

    ``deadline_s`` is the decision deadline in seconds, ``None`` for no deadline gate. With ``repair`` a declaration
    that breaks a static rule is replaced by the type-valid one of its mode; without, it is refused.
    """

    deadline_s: float | None = None
    costs: PlanningCosts = PlanningCosts()
    repair: bool = True

    def __post_init__(self) -> None:
        if self.deadline_s is not None and not (math.isfinite(self.deadline_s) and self.deadline_s >= 0):
            raise InputError(f"the deadline must be a number of seconds from 0, not {self.deadline_s:g}")

    def admit(self, declaration: Declaration) -> GateRecord:
        """Decide on ``declaration``; the record holds the declaration that the router may dispatch."""
        faults = check(declaration)
        if faults and not self.repair:
            why = "; ".join(f"{fault.field}: {fault.rule}" for fault in faults)
            return GateRecord(declaration, None, GateAction.REFUSED, why, faults)
        candidate, reasons = declaration, [f"{fault.field}: {fault.rule}" for fault in faults]
        if faults:
            broken = {fault.field for fault in faults}
            candidate = replace(
                type_valid(declaration),
                decision_budget_s=None if "decision_budget_s" in broken else declaration.decision_budget_s,
                confidence=None if "confidence" in broken else declaration.confidence,
            )
        deadline = self._deadline(candidate)
        if deadline is not None and self.costs.longest(candidate) > deadline:
            longest = self.costs.longest(candidate)
            reasons.append(f"deadline: an event of {candidate.mode} takes {longest:g} s, allowed are {deadline:g} s")
            fallback = self._fallback(candidate, deadline)
            if fallback is None:
                return GateRecord(declaration, None, GateAction.REFUSED, "; ".join(reasons), faults)
            candidate = fallback
        action = GateAction.REPLACED if reasons else GateAction.PASSED
        return GateRecord(declaration, candidate, action, "; ".join(reasons), faults)

    def _deadline(self, declaration: Declaration) -> float | None:
        limits = [s for s in (self.deadline_s, declaration.decision_budget_s) if s is not None]
        return min(limits, default=None)

    def _fallback(self, declaration: Declaration, deadline: float) -> Declaration | None:
        """The first feasible of: two-candidate search, sequential, predefined (the paper's ranking at 4 s and 2 s)."""
        for mode in (Mode.SEARCH, Mode.SEQUENTIAL, Mode.PREDEFINED):
            substitute = type_valid(replace(declaration, mode=mode), branching=2)
            if self.costs.longest(substitute) <= deadline:
                return substitute
        return None
