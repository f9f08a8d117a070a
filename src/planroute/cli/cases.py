"""What a judge may see of a trajectory: goal, plan and course; no success label, no hidden state."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planroute.importers import Trajectory
    from planroute.plan import PlanUnit

UNKNOWN = "not on record"
SHELL = "Shell commands in a checkout of the project: look around, read, search, edit and run files."


@dataclass(frozen=True, slots=True)
class Case:
    """One trajectory as a judge may see it: no success label, no hidden state.

    ``first`` is the plan as it was first written, ``active`` the units of the plan that execution is held against,
    ``writer`` the model that wrote the trajectory, where that is known.
    """

    file: str
    trajectory: "Trajectory"
    goal: str
    domain: str
    tools: str
    first: str
    active: "tuple[PlanUnit, ...]"
    since: int
    writer: str | None

    def evidence(self, rubric: str) -> dict[str, Any] | None:
        """Return what the judge of ``rubric`` is shown; ``None`` where there is no plan to judge."""
        seen: dict[str, Any] = {"domain": self.domain}
        if rubric == "quality":
            return seen | {"what_can_be_done": self.tools, "plan": self.first} if self.first else None
        if rubric == "adherence":
            if not self.active:
                return None
            seen["plan"] = written(self.active)
        return seen | {"trajectory": self.transcript(rubric)}

    def transcript(self, rubric: str) -> str:
        """The actions and what was observed, line by line; for adherence those since the plan was declared."""
        since = self.since if rubric == "adherence" else 0
        lines = ["The attempt begins."]
        for action in self.trajectory.actions:
            if action.index >= since:
                lines += [f"> {action.text}", action.observation]
        return "\n".join(lines)


def read_cases(
    files: list[str], form: str | None, limit: int | None, goal: str | None, tools: str | None
) -> tuple[list[Case], list[str]]:
    """Read ``files``; return their trajectories and a line for each file that cannot be read."""
    from planroute.cli.show import plain
    from planroute.errors import InputError
    from planroute.importers import read

    cases: list[Case] = []
    faults: list[str] = []
    for file in files:
        if limit is not None and len(cases) >= limit:
            break
        try:
            data = content_of(file)
            found = read(data, "standard input" if file == "-" else Path(file).name, form)
            if not found:
                say_empty(file)
            cases += [_case(file, data, trajectory, goal, tools) for trajectory in found]
        except InputError as error:
            faults.append(plain(str(error), 400))
    return cases[:limit], faults


def content_of(file: str) -> bytes:
    """Return what ``file`` holds, standard input for ``-``. Raises ``InputError`` where that cannot be read."""
    import sys

    from planroute.errors import InputError
    from planroute.importers.files import LARGEST_ARCHIVE, read_bytes

    if not file:
        raise InputError("an empty name is not a file")
    return sys.stdin.buffer.read(LARGEST_ARCHIVE + 1) if file == "-" else read_bytes(Path(file))


def say_empty(file: str) -> None:
    """Say on standard error that ``file`` can be read and holds no trajectory."""
    import typer

    from planroute.cli.show import plain

    typer.echo(f"planroute: no trajectories in {plain(file, 400)}", err=True)


def _case(file: str, data: bytes, trajectory: "Trajectory", goal: str | None, tools: str | None) -> Case:
    if trajectory.source == "planroute":
        return _own_case(file, data, trajectory, goal, tools)
    declared = [plan for plan in trajectory.plans if not plan.instructed] or list(trajectory.plans)
    household = trajectory.source in ("adapt", "knowagent")
    shell = trajectory.source in ("mini-swe-agent", "swe-agent")
    domain = "alfworld" if household else "swebench" if shell else "unknown"
    return Case(
        file,
        trajectory,
        goal or trajectory.task or UNKNOWN,
        domain,
        tools or (SHELL if shell else _briefing(domain)),
        written(declared[0].units) if declared else "",
        tuple(declared[-1].units) if declared else (),
        declared[-1].before if declared else 0,
        trajectory.source.partition(" ")[2] or None,
    )


def _own_case(file: str, data: bytes, trajectory: "Trajectory", goal: str | None, tools: str | None) -> Case:
    import json

    from planroute.process import chosen_plan
    from planroute.trace import Decomposed, ModelCalled, Planned, Proposed, Trace

    document = json.loads(data)
    row = document.get("row") or {}
    trace = Trace.from_json(json.dumps(document.get("trace", document)))
    domain = str(row.get("domain", "unknown"))
    first = next((event for event in trace if isinstance(event, Planned | Decomposed | Proposed)), None)
    if isinstance(first, Proposed):
        plans = enumerate((plan for _, _, plan in first.candidates), 1)
        told = "\n".join(f"alternative {number}:\n{written(plan.units)}" for number, plan in plans)
    else:
        told = written(trajectory.plans[0].units) if trajectory.plans else ""
    active = chosen_plan(trace) or (trajectory.plans[-1].units if trajectory.plans else ())
    writers = {event.model for event in trace.of(ModelCalled) if not event.purpose.endswith(" judge")}
    return Case(
        file,
        trajectory,
        goal or trajectory.task or _goal_of(file, row) or UNKNOWN,
        domain,
        tools or _briefing(domain),
        told,
        tuple(active),
        0,
        str(row["model"]) if row.get("model") else min(writers, default=None),
    )


def _goal_of(file: str, row: Any) -> str:
    """The goal of a cell's task, as the manifest of its run has it; empty where there is none.

    Raises ``InputError`` where there is a manifest that cannot be read.
    """
    from planroute.errors import InputError
    from planroute.runs.folder import MANIFEST, RunFolder

    run = RunFolder(Path(file).resolve().parent.parent)
    task = row.get("task")
    if not isinstance(task, str) or not (run.path / MANIFEST).exists():
        return ""
    try:
        known = run.manifest().get("facts", {}).get(task, {})
    except InputError as error:
        raise InputError(f"{file}: no goal: {error.message}", hint="name it with --goal") from None
    return str(known.get("goal", ""))


def _briefing(domain: str) -> str:
    """What can be done in a text domain, in the words that its backbone reads."""
    if domain == "alfworld":
        from planroute.domains.alfworld import domain as household

        return household.BRIEFING
    if domain == "mind2web":
        from planroute.domains.mind2web import domain as pages

        return pages.BRIEFING
    return UNKNOWN


def written(units: "tuple[PlanUnit, ...]", before: str = "") -> str:
    """Return a plan as numbered lines, nested plans as nested numbers."""
    lines = []
    for number, unit in enumerate(units, 1):
        any_one = " (any one of these)" if unit.children and unit.logic == "OR" else ""
        lines.append(f"{before}{number} {unit.text}{any_one}".rstrip())
        if unit.children:
            lines.append(written(unit.children, f"{before}{number}."))
    return "\n".join(lines)
