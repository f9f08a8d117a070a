"""``planroute compare mind2web``: six ways to execute, and ROUTED, on recorded web pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from planroute.cli.compare_text import Setup, TasksOrCount, Words, tasks_or_count, text_command

if TYPE_CHECKING:
    from planroute.protocols import Domain


WORDS: Final = Words("task", "--tasks", "--limit")


def load(
    setup: Setup,
    tasks: TasksOrCount = None,
    form: Annotated[
        str,
        typer.Option(help="multichoice: the benchmark's question, five candidates at a time; direct: one question."),
    ] = "multichoice",
    shots: Annotated[
        Path | None, typer.Option(help="JSON file of messages before a multichoice question. Default: our own.")
    ] = None,
    top: Annotated[int, typer.Option(help="Candidates offered on a page.", min=1)] = 50,
    elements: Annotated[
        int, typer.Option(help="Elements of a page around its candidates at which it is cut.", min=1)
    ] = 300,
) -> "Domain":
    """Compare baselines, forced modes and the routed condition on Mind2Web tasks: SSR, TSR, cost, structure."""
    from planroute.domains.mind2web import find_tasks
    from planroute.domains.mind2web.domain import opened

    named, count = tasks_or_count(tasks)
    found = find_tasks(named)[:count]
    return opened(found, setup.judge, setup.limits, setup.sampling, form=form, shots=shots, top=top, elements=elements)


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("mind2web")(text_command("mind2web", load, WORDS))
