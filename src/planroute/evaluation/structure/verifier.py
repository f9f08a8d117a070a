"""The plan-structure verifier: whether a declared plan was executed, unit by unit, in its order.

Deterministic and blind to success. Source: Planning-as-Routing, E.1 to E.3; the choices it leaves open are listed in
docs/verifier.md.
"""

from collections.abc import Sequence
from dataclasses import replace

from planroute.errors import InputError
from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.acts import lexicon_for, read_acts
from planroute.evaluation.structure.divergence import loops
from planroute.evaluation.structure.evidence import unreadable
from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.matching import Leaf, Matched, Matcher, State
from planroute.evaluation.structure.verdict import Divergence, Status, Taken, UnitVerdict, Verdict
from planroute.evaluation.structure.wording import Asks, Meant, read_unit
from planroute.modes import UNPLANNED, Mode
from planroute.plan import PlanUnit

MOST_UNITS = 300
MOST_LEVELS = 50
"""A longer plan, headings included, is refused: none that is declared for one task comes near."""


def verify(plan: Sequence[PlanUnit], actions: Sequence[Taken], lexicon: Lexicon | None = None) -> Verdict:
    """Match ``plan`` to ``actions`` and say which units were completed, in which order.

    ``actions`` are those taken while the plan was active. Without ``lexicon`` the one that knows most of the actions is
    used. Raises ``InputError`` for a plan of more than ``MOST_UNITS`` units or ``MOST_LEVELS`` levels.
    """
    lexicon = lexicon or lexicon_for(actions)
    _check_size(plan)
    acts = read_acts(actions, lexicon)
    leaves = _read_leaves(plan, lexicon)
    others = tuple(d for leaf in leaves for d in leaf.reading.demands if d.object and d.object.other)
    matcher = Matcher(acts, lexicon, leaves, others)
    choice = matcher.best(plan)
    steps = {step.leaf: step.matched for step in choice} if choice else {}
    units = _Judge(matcher, steps).verdicts()
    verdict = _summed(units, acts, lexicon)
    if matcher.cut and verdict.order_preserved is False:
        verdict = replace(verdict, order_preserved=None, reason="too many ways to tell repeated things apart")
    return replace(verdict, order_by_actions=verdict.order_preserved)


def verify_dispatched(
    declared: str | None,
    executed: str | None,
    plan: Sequence[PlanUnit],
    actions: Sequence[Taken],
    lexicon: Lexicon | None = None,
) -> Verdict:
    """Verify an episode that may have a dispatch record.

    A pattern-specific executor enforces its structure by its control flow, so the record settles ``order_preserved``;
    units and ``order_by_actions`` are by the actions all the same, the latter ``None`` for search. A plan that nothing
    enforced is matched, unless it is one of search, whose candidates are alternatives and have no order.
    """
    agreement = None if declared is None or executed is None else declared == executed
    if executed in set(Mode):
        ordered = None if executed == Mode.SEARCH and agreement else agreement
        why = (
            f"declared {declared}, executed {executed}"
            if declared
            else f"executed {executed}, declaration not on record"
        )
        matched = verify(plan, actions, lexicon) if plan else Verdict(None, "matching")
        return replace(
            matched,
            order_preserved=ordered,
            order_by_actions=None if executed == Mode.SEARCH else matched.order_by_actions,
            settled_by="dispatch",
            mode_agreement=agreement,
            reason=why,
        )
    if executed in UNPLANNED:
        return Verdict(None, "not_applicable", reason="no plan was given to the executor")
    if declared == Mode.SEARCH:
        return Verdict(None, "not_applicable", reason="candidates of a search are alternatives and have no order")
    return verify(plan, actions, lexicon)


def _check_size(plan: Sequence[PlanUnit]) -> None:
    count = 0
    level = list(plan)
    for _ in range(MOST_LEVELS):
        count += len(level)
        level = [child for unit in level for child in unit.children]
        if not level:
            break
    else:
        raise InputError(f"a plan of more than {MOST_LEVELS} levels")
    if count > MOST_UNITS:
        raise InputError(f"a plan of {count} units: the verifier reads at most {MOST_UNITS}")


def _read_leaves(plan: Sequence[PlanUnit], lexicon: Lexicon) -> list[Leaf]:
    leaves = []
    meant = Meant()
    for unit in plan:
        for leaf in unit.leaves():
            reading = read_unit(leaf.text, lexicon, meant)
            meant = reading.meant
            leaves.append(Leaf(leaf, reading))
    return leaves


class _Judge:
    """Turns a matching into verdicts on the leaves, in declared order."""

    def __init__(self, matcher: Matcher, steps: dict[int, Matched | None]) -> None:
        self._matcher = matcher
        self._acts = matcher.acts
        self._steps = steps
        self._taken = frozenset(place for met in steps.values() if met for place in met.used_up)
        self._instances = frozenset(
            (demand.verb, act.object.kind, act.object.numbers)
            for number, met in steps.items()
            if met
            for act in (self._acts[place] for place in met.used_up)
            for demand in matcher.leaves[number].reading.demands
            if act.object is not None and matcher.others
        )

    def verdicts(self) -> list[UnitVerdict]:
        return [self._verdict(number, leaf) for number, leaf in enumerate(self._matcher.leaves)]

    def _verdict(self, number: int, leaf: Leaf) -> UnitVerdict:
        unit, needed = leaf.unit, number in self._steps
        met = self._steps.get(number)
        if leaf.reading.asks is Asks.NOTHING:
            return UnitVerdict(unit.id, unit.text, Status.NOT_ACTIONABLE, None, "asks for no action", False)
        if met:
            return UnitVerdict(unit.id, unit.text, Status.COMPLETED, self._index(met.action), self._how(leaf, met))
        if leaf.reading.asks is Asks.UNKNOWN:
            return UnitVerdict(unit.id, unit.text, Status.UNDECIDABLE, None, "no act that the lexicon knows", needed)
        elsewhere = next(self._matcher.meet(leaf, State(instances=self._instances), self._taken), None)
        if elsewhere:
            matched = elsewhere[0]
            self._taken |= frozenset(matched.used_up)
            if not needed:
                return UnitVerdict(
                    unit.id, unit.text, Status.COMPLETED, self._index(matched.action), "alternative", False
                )
            reason = "completed, but not where the plan has it"
            return UnitVerdict(unit.id, unit.text, Status.OUT_OF_ORDER, self._index(matched.action), reason)
        doubt = self._doubt(leaf)
        if doubt:
            return UnitVerdict(unit.id, unit.text, Status.UNDECIDABLE, None, doubt, needed)
        reason = self._why_missing(leaf) if needed else "alternative that was not taken"
        return UnitVerdict(unit.id, unit.text, Status.MISSING, None, reason, needed)

    def _index(self, place: int) -> int:
        return self._acts[place].index

    def _how(self, leaf: Leaf, met: Matched) -> str:
        if met.used_up:
            return ""
        return "seen" if leaf.reading.demands[-1].looking else "implied by this action"

    def _doubt(self, leaf: Leaf) -> str:
        lexicon = self._matcher.lexicon
        if leaf.reading.conditional:
            return "conditional, and whether its condition arose is not on record"
        if any(unreadable(demand, act, lexicon) for demand in leaf.reading.demands for act in self._acts):
            return "actions of this kind do not say what they act on"
        looking = all(demand.looking and not demand.ranged for demand in leaf.reading.demands)
        if looking and self._acts and not any(act.seen for act in self._acts):
            return "nothing of what was seen is on record"
        return ""

    def _why_missing(self, leaf: Leaf) -> str:
        refused = [act for act in self._acts if not act.executed]
        lexicon = self._matcher.lexicon
        tried = any(act.verbs & lexicon.completes(d.verb) for act in refused for d in leaf.reading.demands)
        used = any(self._matcher.positions(demand) for demand in leaf.reading.demands)
        if used:
            return "its actions complete other units"
        return "tried without effect" if tried else "no action completes it"


def _summed(units: list[UnitVerdict], acts: Sequence[Act], lexicon: Lexicon) -> Verdict:
    counted = [unit for unit in units if unit.status is not Status.NOT_ACTIONABLE]
    needed = [unit for unit in counted if unit.needed]
    broken = [unit for unit in needed if unit.status in {Status.MISSING, Status.OUT_OF_ORDER}]
    doubtful = [unit for unit in needed if unit.status is Status.UNDECIDABLE]
    completed = sum(unit.status in {Status.COMPLETED, Status.OUT_OF_ORDER} for unit in needed)
    preserved = False if broken else None if doubtful or not needed else True
    late = any(unit.status is Status.OUT_OF_ORDER for unit in needed)
    faithful = False if late else True if completed else None
    reason = "" if needed else "no unit of the plan asks for an action"
    if not broken and doubtful:
        reason = f"undecided: {doubtful[0].reason}"
    return Verdict(
        preserved,
        "matching",
        tuple(units),
        _first_divergence(units, broken),
        faithful,
        planned=len(counted),
        needed=len(needed),
        completed=completed,
        not_executed=tuple(act.index for act in acts if not act.executed),
        loops=loops(acts),
        reason=reason,
        lexicon=lexicon.name,
    )


def _first_divergence(units: list[UnitVerdict], broken: list[UnitVerdict]) -> Divergence | None:
    if not broken:
        return None
    first = broken[0]
    if first.action is not None:
        return Divergence(first.unit, first.action, first.reason)
    later = units[units.index(first) + 1 :]
    onward = next((unit.action for unit in later if unit.needed and unit.status is Status.COMPLETED), None)
    return Divergence(first.unit, onward, first.reason)
