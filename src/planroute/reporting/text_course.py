"""A trajectory as a report shows it: the plan at one side, at the other what was done for each of its units.

Links are the unit ids of the trace and nothing else. Where no action names a unit, none are drawn, and what the run
itself measured (order kept, units carried out by the evidence of the actions) is said beside it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from planroute.reporting import text_events as ev
from planroute.reporting.reading import Cell, Part
from planroute.reporting.text_plans import Block, Fate, Plans

MOST_CHARACTERS = 1200
"""Characters of one text that the report shows."""
NOTHING = "nothing happens"


@dataclass(frozen=True, slots=True)
class Deed:
    """One action and what came of it; ``flag`` says what is odd about it."""

    number: str
    action: str
    observation: str = ""
    flag: str = ""


@dataclass(slots=True)
class Step:
    """Actions for one unit, or something that was decided between them (``kind`` note or trouble)."""

    kind: str
    text: str
    unit: str | None = None
    branch: str | None = None
    deeds: list[Deed] = field(default_factory=list)
    closed: bool = False


@dataclass(slots=True)
class Course:
    """An episode, read from its trace."""

    plans: Plans = field(default_factory=Plans)
    steps: list[Step] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """Units as they ended or were passed over, in the order in which that became known."""
    chosen: str | None = None
    reached: bool = False
    """Whether the goal was reached."""
    actions: int = 0
    idle: int = 0
    tried: dict[str, int] = field(default_factory=dict)
    """Actions of each candidate."""
    unread: str = ""
    """Why the answer could not be read that should have named the next action."""

    @property
    def linked(self) -> bool:
        """Whether any action or start names a unit of the plan."""
        return any(fate.started or fate.actions for fate in self.plans.fates.values())


def read_course(cell: Cell, reached: bool) -> Course:
    """Read the episode, which ``reached`` its goal or not. Raises ``InputError`` for a trace of another form."""
    found = list(ev.events(cell))
    chosen = next((e.candidate for e in reversed(found) if isinstance(e, ev.Chosen)), None)
    course = Course(chosen=chosen, reached=reached)
    for event in found:
        if not isinstance(event, ev.Acted):
            _tell_unread(course)
        if isinstance(event, ev.Acted | ev.Observed):
            _turn(course, event)
        elif isinstance(event, ev.UnitStarted):
            course.plans.fate(event.unit).started = True
            course.steps.append(Step("work", "", event.unit))
        elif isinstance(event, ev.UnitFinished):
            course.plans.fate(event.unit).ended = event.completed
            course.order.append(event.unit)
            if course.steps:
                course.steps[-1].closed = True
        else:
            _between(course, event)
    _tell_unread(course)
    if chosen is not None:
        course.order += _passed(course, chosen)
    texts = course.plans.texts()
    for step in course.steps:
        if step.kind == "work":
            step.text = cut(texts.get(step.unit or "", "" if step.unit is None else step.unit))
    return course


def _turn(course: Course, event: ev.Acted | ev.Observed) -> None:
    if isinstance(event, ev.Acted):
        if event.unit is not None:
            course.plans.fate(event.unit).actions += 1
        if event.branch is not None:
            course.tried[event.branch] = course.tried.get(event.branch, 0) + 1
    if event.branch is not None and course.chosen not in (None, event.branch):
        return
    last = course.steps[-1] if course.steps else None
    if isinstance(event, ev.Acted):
        if last is None or last.kind != "work" or last.closed or (last.unit, last.branch) != (event.unit, event.branch):
            started = last is not None and last.kind == "work" and last.unit == event.unit and not last.deeds
            if started and last is not None and not last.closed:
                last.branch = event.branch
            else:
                last = Step("work", "", event.unit, event.branch)
                course.steps.append(last)
        assert last is not None  # noqa: S101 - one was made above
        course.actions += 1
        flag = "" if event.admissible else "not executed"
        course.idle += not event.admissible
        words = cut(event.action).strip() or f"({course.unread or 'no words'})"
        course.unread = ""
        last.deeds.append(Deed(str(course.actions), words, flag=flag))
    else:
        _answer(course, event)


def _answer(course: Course, event: ev.Observed) -> None:
    """Put an observation to the action that it answers."""
    last = next((step for step in reversed(course.steps) if step.deeds and step.branch == event.branch), None)
    if last is None or last.deeds[-1].observation:
        course.steps.append(Step("note", cut(event.text)))
        return
    deed = last.deeds[-1]
    flag = deed.flag
    if not flag and event.text.strip().lower().startswith(NOTHING):
        flag = "no effect"
        course.idle += 1
    last.deeds[-1] = Deed(deed.number, deed.action, cut(event.text), flag)


def _between(course: Course, event: Part) -> None:
    plans = course.plans
    if isinstance(event, ev.Planned):
        plans.planned(event.plan, event.subgoal)
    elif isinstance(event, ev.Collected):
        plans.planned(event.plan, None)
    elif isinstance(event, ev.Revised):
        plans.revised(event.plan, _name(course))
        course.steps.append(Step("note", f"Plan revised. {plans.blocks[-1].note}"))
    elif isinstance(event, ev.Decomposed):
        plans.decomposed(event)
        if plans.decompositions > 1:
            course.steps.append(Step("note", f"Cut into subgoals again. {plans.blocks[-1].note}".strip()))
    elif isinstance(event, ev.Proposed):
        plans.proposed(event)
    elif isinstance(event, ev.Failed) and event.where == "action":
        course.unread = cut(f"{event.error}: {event.message}")
    elif isinstance(event, ev.Failed):
        where = f" ({event.where})" if event.where else ""
        course.steps.append(Step("trouble", cut(f"{event.error}{where}: {event.message}")))


def _tell_unread(course: Course) -> None:
    """Say that an answer could not be read, where no action stands for it."""
    if course.unread:
        course.steps.append(Step("trouble", course.unread))
        course.unread = ""


def _passed(course: Course, chosen: str) -> Sequence[str]:
    """The units of the adopted candidate that its course went through: all, or all up to where the goal was reached."""
    units = [unit for unit in course.plans.ids(chosen) if not course.plans.fate(unit).started]
    while course.reached and units and not course.plans.fate(units[-1]).actions:
        units.pop()
    return units


def _name(course: Course) -> str | None:
    """The unit that ended last."""
    return course.order[-1] if course.order else None


def cut(text: str) -> str:
    """``text``, shortened where it is very long."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]} … ({len(text) - MOST_CHARACTERS:,} more characters are in the cell)"


def state(course: Course, block: Block, unit: str) -> str:
    """What became of a unit, as a key of ``STATES``."""
    fate = course.plans.fates.get(unit, Fate())
    if block.candidate is not None and not fate.started:
        if fate.actions:
            return "worked"
        if block.candidate == course.chosen:
            return "empty" if unit in course.order else "spared"
        return "empty" if block.candidate in course.tried else "untried"
    if fate.ended is not None:
        return ("done" if fate.actions else "empty") if fate.ended else "open"
    if fate.started or fate.actions:
        return "cut"
    if not course.linked and course.actions:
        return "unlinked"
    if not block.current:
        return "replaced"
    return "spared" if course.reached else "never"


STATES = {
    "done": "called finished",
    "worked": "worked on",
    "empty": "no action",
    "open": "not completed",
    "cut": "cut off",
    "never": "never started",
    "spared": "not needed",
    "replaced": "replaced",
    "untried": "not tried",
    "unlinked": "",
}
"""What can become of a unit, in words."""


def divergence(course: Course) -> tuple[str | None, str]:
    """The first unit at which course and plan part, as far as the trace shows it, and what is wrong with it."""
    for unit in course.order:
        fate = course.plans.fates.get(unit, Fate())
        if fate.ended is False:
            return unit, "was handed back without being completed"
        if not fate.actions:
            return unit, "was called finished without any action" if fate.started else "got no action"
    for unit, fate in course.plans.fates.items():
        if fate.started and fate.ended is None and not course.reached:
            return unit, "was cut off before it was finished"
    for block in course.plans.blocks:
        for line in block.lines if block.candidate is None else ():
            if line.unit and state(course, block, line.id) == "never":
                return line.id, "was never started"
    return None, ""
