"""The events of a text episode as its trace keeps them."""

from collections.abc import Iterator

from planroute.reporting.reading import Cell, Part, checked


class Unit(Part):
    """A unit of a plan; ``children`` make it nested."""

    id: str
    text: str = ""
    children: tuple["Unit", ...] = ()
    logic: str = "AND"


class PlanOf(Part):
    """Units in their order."""

    units: tuple[Unit, ...]


class Planned(Part):
    """A plan for the whole task, or for one subgoal."""

    plan: PlanOf
    subgoal: str | None = None


class Revised(Part):
    """The rest of the plan, made anew."""

    plan: PlanOf


class Subgoal(Part):
    """A part of the goal."""

    id: str
    text: str = ""
    parent: str | None = None


class Decomposed(Part):
    """The task cut into stages of subgoals."""

    stages: tuple[tuple[Subgoal, ...], ...]


class Collected(Part):
    """The plans of one stage put together."""

    plan: PlanOf


class Proposed(Part):
    """Alternatives: identity, text and plan of each."""

    candidates: tuple[tuple[str, str, PlanOf], ...]


class RolledOut(Part):
    """A candidate was tried."""

    candidate: str


class Chosen(Part):
    """A candidate was adopted."""

    candidate: str


class UnitStarted(Part):
    """A unit was handed to the domain."""

    unit: str


class UnitFinished(Part):
    """A unit was handed back."""

    unit: str
    completed: bool


class Acted(Part):
    """One action; ``branch`` names the candidate that it tries."""

    action: str
    unit: str | None = None
    admissible: bool = True
    branch: str | None = None


class Observed(Part):
    """What the environment showed."""

    text: str
    branch: str | None = None


class Failed(Part):
    """Something failed."""

    error: str
    message: str
    where: str = ""


KINDS: dict[str, type[Part]] = {
    "planned": Planned,
    "revised": Revised,
    "decomposed": Decomposed,
    "collected": Collected,
    "proposed": Proposed,
    "rolled_out": RolledOut,
    "chosen": Chosen,
    "unit_started": UnitStarted,
    "unit_finished": UnitFinished,
    "acted": Acted,
    "observed": Observed,
    "failed": Failed,
}


def events(cell: Cell) -> Iterator[Part]:
    """Yield what a trajectory is drawn from, in order. Raises ``InputError`` for an event of another form."""
    for event in cell.events:
        model = KINDS.get(str(event.get("kind")))
        if model is not None:
            yield checked(model, event, cell.name)
