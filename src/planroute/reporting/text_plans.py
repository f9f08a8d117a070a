"""The plans of an episode in the order in which they were made: as made first, as revised, by subgoal, by candidate."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planroute.reporting.text_events import Decomposed, PlanOf, Proposed, Unit
from planroute.reporting.wording import counted


@dataclass(slots=True)
class Fate:
    """What became of a unit, by the events that name it."""

    started: bool = False
    ended: bool | None = None
    """Whether it was called completed when it was handed back; None where it was not."""
    actions: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """One unit or subgoal of a plan; ``unit`` is False for what only holds units."""

    id: str
    text: str
    depth: int
    unit: bool = True


@dataclass(slots=True)
class Block:
    """One version of the plan, or one alternative. ``current`` is False once another version has replaced it."""

    title: str
    lines: list[Line]
    note: str = ""
    kind: str = "plan"
    candidate: str | None = None
    current: bool = True


@dataclass(slots=True)
class Plans:
    """All versions, as they come."""

    blocks: list[Block] = field(default_factory=list)
    fates: dict[str, Fate] = field(default_factory=dict)
    revisions: int = 0
    decompositions: int = 0

    def fate(self, unit: str) -> Fate:
        """What is known of ``unit``."""
        return self.fates.setdefault(unit, Fate())

    def planned(self, plan: PlanOf, subgoal: str | None) -> None:
        """Take a plan for the task, or hang a worker's plan under its subgoal."""
        if subgoal is not None and self._under(subgoal, plan):
            return
        if plan.units and not {line.id for line in flat(plan.units)} <= self._known():
            self._replace()
            title = "The plan" if not self.blocks else "The adopted plan"
            self.blocks.append(Block(title, list(flat(plan.units))))

    def revised(self, plan: PlanOf, after: str | None) -> None:
        """Take the rest of the plan as it was made anew, and say how it differs."""
        self.revisions += 1
        if self.blocks and self.blocks[0].kind == "plan":
            self.blocks[0].title = "The plan as made first"
        left = [line.text for line in self._rest()]
        self._replace()
        lines = list(flat(plan.units))
        now = [line.text for line in lines if line.unit]
        where = f", after {after}" if after else ""
        self.blocks.append(Block(f"Revision {self.revisions}{where}", lines, _difference(left, now), kind="revision"))

    def decomposed(self, event: Decomposed) -> None:
        """Take subgoals; plans come under them later."""
        self.decompositions += 1
        self._replace()
        goals = [goal for stage in event.stages for goal in stage]
        note = "" if goals else "It came back empty."
        lines = [Line(goal.id, goal.text, 0, unit=False) for goal in goals]
        number = f" {self.decompositions}" if self.decompositions > 1 else ""
        self.blocks.append(Block(f"Subgoals{number}", lines, note, kind="goals"))

    def proposed(self, event: Proposed) -> None:
        """Take the candidates."""
        for name, _, plan in event.candidates:
            self.blocks.append(Block(f"Candidate {name}", list(flat(plan.units)), kind="candidate", candidate=name))

    def ids(self, candidate: str) -> Sequence[str]:
        """The units of a candidate."""
        return [line.id for b in self.blocks if b.candidate == candidate for line in b.lines if line.unit]

    def texts(self) -> Mapping[str, str]:
        """The text of every unit that a plan holds."""
        return {line.id: line.text for block in self.blocks for line in block.lines}

    def _known(self) -> set[str]:
        return {line.id for block in self.blocks for line in block.lines}

    def _rest(self) -> list[Line]:
        """Units of the version in force that have not been started."""
        lines = self.blocks[-1].lines if self.blocks else []
        return [line for line in lines if line.unit and not self.fate(line.id).started]

    def _replace(self) -> None:
        for block in self.blocks:
            block.current = False

    def _under(self, subgoal: str, plan: PlanOf) -> bool:
        for block in reversed(self.blocks):
            for place, line in enumerate(block.lines):
                if line.id == subgoal and not line.unit:
                    block.lines[place + 1 : place + 1] = list(flat(plan.units, 1))
                    return True
        return False


def flat(units: Sequence[Unit], depth: int = 0) -> Iterator[Line]:
    """The units of a nested plan as lines."""
    waiting = [(unit, depth) for unit in reversed(units)]
    while waiting:
        unit, level = waiting.pop()
        one_of = " (any one of these)" if unit.children and unit.logic == "OR" else ""
        yield Line(unit.id, unit.text + one_of, level, unit=not unit.children)
        waiting += [(child, level + 1) for child in reversed(unit.children)]


def _difference(left: Sequence[str], now: Sequence[str]) -> str:
    """How the revised rest differs from the rest that it replaced."""
    if list(left) == list(now):
        return "The rest stayed as it was." if now else "Nothing was left to do."
    if not now:
        return f"What was left was dropped: {counted(len(left), 'unit')}."
    added = [text for text in now if text not in left]
    dropped = [text for text in left if text not in now]
    parts = [
        f"{counted(len(texts), 'unit')} {what}" for texts, what in ((added, "added"), (dropped, "dropped")) if texts
    ]
    return f"Changed: {', '.join(parts) or 'the same units in another order'}."
