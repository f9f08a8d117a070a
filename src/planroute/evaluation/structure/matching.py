"""Matching a plan's units to actions in declared order.

Between two matched actions there may be any others; an action that does what a unit asks is used up by it. The best
matching leaves the fewest needed units unmatched; among equals, the one that keeps to the earlier units.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.evidence import Fit, fit, seen_instances
from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.phrases import Phrase, same
from planroute.evaluation.structure.wording import Asks, Demand, Reading
from planroute.plan import Logic, PlanUnit

BROKEN, IN_DOUBT = 1000, 1
MOST_STATES = 20_000
"""So many positions are weighed with all ways to tell instances apart; beyond, only the earliest way is."""

Used = frozenset[tuple[str, str, frozenset[int]]]


@dataclass(frozen=True, slots=True)
class State:
    """How far the log has been read: the last action matched, the last one used up, the instances acted on."""

    last: int = 0
    used_up: int = -1
    instances: Used = frozenset()


@dataclass(frozen=True, slots=True)
class Matched:
    """Where one leaf was met: the action that completed it, and those that it used up."""

    action: int
    used_up: tuple[int, ...] = ()


@dataclass(slots=True)
class Leaf:
    """A leaf of the plan with what it asks for."""

    unit: PlanUnit
    reading: Reading

    @property
    def cost(self) -> int:
        """What it costs to leave it unmatched: the plan breaks, or is in doubt, or nothing was asked for."""
        if self.reading.asks is Asks.NOTHING:
            return 0
        return IN_DOUBT if self.reading.asks is Asks.UNKNOWN or self.reading.conditional else BROKEN


@dataclass(frozen=True, slots=True)
class Group:
    """An inner node over leaves, by their numbers, and other groups."""

    logic: Logic
    children: tuple["Node", ...]


Node = int | Group
Outcome = tuple[int, "Choice | None"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One step of a matching: a leaf and where it was met (``None``: left out), and what follows."""

    leaf: int
    matched: Matched | None
    rest: "Choice | None"

    def __iter__(self) -> Iterator["Choice"]:
        step: Choice | None = self
        while step is not None:
            yield step
            step = step.rest


@dataclass(slots=True)
class Matcher:
    """The search for the best matching of ``plan`` to ``acts``.

    ``others`` are the demands that ask for another thing than before; ``cut`` says that not every way was weighed.
    """

    acts: Sequence[Act]
    lexicon: Lexicon
    leaves: list[Leaf]
    others: tuple[Demand, ...] = ()
    cut: bool = False
    _fits: dict[Demand, tuple[list[int], list[Fit]]] = field(default_factory=dict)
    _queues: dict[tuple[Node, int], int] = field(default_factory=dict)
    _queue: list[tuple[Node, int]] = field(default_factory=list)
    _memo: dict[tuple[int, State], Outcome] = field(default_factory=dict)

    def best(self, plan: Sequence[PlanUnit]) -> Choice | None:
        """The best matching: a step for every leaf that is needed or was met."""
        numbers = {id(leaf.unit): number for number, leaf in enumerate(self.leaves)}
        queue = -1
        for unit in reversed(plan):
            queue = self._queued(self._node(unit, numbers), queue)
        return self._solve(queue, State())[1]

    def meet(self, leaf: Leaf, state: State, taken: frozenset[int] = frozenset()) -> Iterator[tuple[Matched, State]]:
        """Every way, earliest first, in which ``leaf`` is met from ``state`` on without the actions in ``taken``.

        A later way can only matter where instances must differ, so otherwise there is at most one.
        """
        yield from self._meet(leaf.reading.demands, state, taken, ())

    def positions(self, demand: Demand) -> list[int]:
        """The actions that meet ``demand``, wherever they stand."""
        return self._fitting(demand)[0]

    def _node(self, unit: PlanUnit, numbers: dict[int, int]) -> Node:
        if not unit.children:
            return numbers[id(unit)]
        children = [child for child in unit.children if unit.logic is Logic.AND or self._asks(child, numbers)]
        return Group(unit.logic, tuple(self._node(child, numbers) for child in children or unit.children))

    def _asks(self, unit: PlanUnit, numbers: dict[int, int]) -> bool:
        """Whether anything below ``unit`` asks for an act or might: an empty alternative satisfies nothing."""
        return any(self.leaves[numbers[id(leaf)]].reading.asks is not Asks.NOTHING for leaf in unit.leaves())

    def _queued(self, node: Node, rest: int) -> int:
        key = (node, rest)
        if key not in self._queues:
            self._queues[key] = len(self._queue)
            self._queue.append(key)
        return self._queues[key]

    def _solve(self, queue: int, state: State) -> Outcome:
        if queue < 0:
            return 0, None
        known = self._memo.get((queue, state))
        if known is None:
            node, rest = self._queue[queue]
            known = self._leaf(node, rest, state) if isinstance(node, int) else self._group(node, rest, state)
            self._memo[queue, state] = known
        return known

    def _group(self, group: Group, rest: int, state: State) -> Outcome:
        if group.logic is Logic.OR:
            outcomes = (self._solve(self._queued(child, rest), state) for child in group.children)
            return min(outcomes, key=lambda outcome: outcome[0])
        for child in reversed(group.children):
            rest = self._queued(child, rest)
        return self._solve(rest, state)

    def _leaf(self, number: int, rest: int, state: State) -> Outcome:
        leaf = self.leaves[number]
        found: Outcome | None = None
        for matched, after in self.meet(leaf, state):
            cost, tail = self._solve(rest, after)
            if found is None or cost < found[0]:
                found = cost, Choice(number, matched, tail)
            if cost == 0:
                return found
        cost, tail = self._solve(rest, state)
        cost += leaf.cost
        if found is None or cost < found[0]:
            found = cost, Choice(number, None, tail)
        return found

    def _meet(
        self, demands: tuple[Demand, ...], state: State, taken: frozenset[int], used: tuple[int, ...]
    ) -> Iterator[tuple[Matched, State]]:
        if not demands:
            return
        for place, kind in self._places(demands[0], state, taken):
            act = self.acts[place]
            instances = state.instances
            if kind is Fit.DOES and act.object and self._tells_apart(demands[0].verb, act.object):
                instances |= {(demands[0].verb, act.object.kind, act.object.numbers)}
            does = kind is Fit.DOES
            after = State(max(place, state.last), place if does else state.used_up, instances)
            spent = (*used, place) if does else used
            if len(demands) == 1:
                yield Matched(place, spent), after
            else:
                yield from self._meet(demands[1:], after, taken, spent)
            if all(other.verb != demands[0].verb for other in self.others):
                return
            if len(self._memo) > MOST_STATES:
                self.cut = True
                return

    def _tells_apart(self, verb: str, thing: Phrase) -> bool:
        """Whether some unit asks for another ``thing`` than this one."""
        return any(o.verb == verb and o.object and same(o.object, thing, self.lexicon) for o in self.others)

    def _places(self, demand: Demand, state: State, taken: frozenset[int]) -> Iterator[tuple[int, Fit]]:
        if demand.ranged:
            end = self._range(demand, state)
            if end is not None:
                yield end, Fit.IMPLIES
            return
        places, kinds = self._fitting(demand)
        for number in range(bisect_left(places, state.last), len(places)):
            place, kind = places[number], kinds[number]
            if kind is Fit.DOES and (place <= state.used_up or place in taken):
                continue
            if not self._other(demand, place, state):
                continue
            yield place, kind

    def _other(self, demand: Demand, place: int, state: State) -> bool:
        thing = self.acts[place].object
        if demand.object is None or not demand.object.other or thing is None or not thing.numbers:
            return True
        return (demand.verb, thing.kind, thing.numbers) not in state.instances

    def _range(self, demand: Demand, state: State) -> int | None:
        """The last of the looks that begin at the named place; ``None`` where they begin elsewhere or never."""
        end = None
        begun = False
        for place in range(state.used_up + 1, len(self.acts)):
            act = self.acts[place]
            look = bool(act.verbs & self.lexicon.looks)
            if look and act.object and not begun:
                begun = True
                if not self._begins(demand, act):
                    return None
            if begun and look and act.executed:
                end = place
            elif begun and act.executed and not look:
                break
        return None if end is None else max(end, state.last)

    def _begins(self, demand: Demand, act: Act) -> bool:
        """An attempt that the environment refused still shows where the looking was meant to begin."""
        asked = demand.start or demand.object
        if asked is None:
            return True
        looked = [act.object, *(place for _, place in act.places)]
        return any(same(asked, given, self.lexicon) for given in looked if given is not None)

    def _fitting(self, demand: Demand) -> tuple[list[int], list[Fit]]:
        known = self._fits.get(demand)
        if known is None:
            fits = [(place, fit(demand, act, self.lexicon)) for place, act in enumerate(self.acts)]
            found = [(place, kind) for place, kind in fits if kind and not self._arrived_later(demand, place, kind)]
            if demand.looking and demand.object and demand.object.count > 1:
                found = self._after_enough(found, demand.object)
            for mark in self.lexicon.purposes:
                if any(mark in word for word in demand.words):
                    found = [pair for pair in found if mark in self.acts[pair[0]].text] or found
            known = [place for place, _ in found], [kind for _, kind in found]
            self._fits[demand] = known
        return known

    def _arrived_later(self, demand: Demand, place: int, kind: Fit) -> bool:
        """Acting at a place implies being there, unless the next going is to that very place."""
        if kind is Fit.DOES or demand.verb not in self.lexicon.implied:
            return False
        following = (act for act in self.acts[place + 1 :] if act.executed and demand.verb in act.verbs)
        onward = next(following, None)
        return onward is not None and fit(demand, onward, self.lexicon) is Fit.DOES

    def _after_enough(self, found: list[tuple[int, Fit]], thing: Phrase) -> list[tuple[int, Fit]]:
        """Keep the looks by which as many different things have been seen as are asked for."""
        seen: set[str] = set()
        kept = []
        for place, kind in found:
            seen |= seen_instances(thing, self.acts[place], self.lexicon)
            if len(seen) >= thing.count:
                kept.append((place, kind))
        return kept
