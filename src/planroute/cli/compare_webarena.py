"""``planroute compare webarena``: six ways to execute, and ROUTED, on websites in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from planroute.cli.compare_text import Setup, TasksOrCount, Words, tasks_or_count, text_command

if TYPE_CHECKING:
    from planroute.protocols import Domain

WORDS: Final = Words("task", "--tasks", "--limit")
DEFAULTS: Final = {"concurrency": 2, "steps": 30}
"""What runs beside each other are pages of a browser."""


def load(
    setup: Setup,
    tasks: TasksOrCount = None,
    chromium: Annotated[
        Path | None, typer.Option(help="Chromium's program. Default: PLANROUTE_CHROMIUM, or one on the path.")
    ] = None,
    page: Annotated[int, typer.Option(help="Characters of a page that are shown.", min=200)] = 6000,
    storage: Annotated[Path | None, typer.Option(help="Storage state that signs in at the sites.")] = None,
) -> "Domain":
    """Compare baselines, forced modes and the routed condition on WebArena tasks, judged by webarena-verified.

    Without --tasks it runs the project's own tasks on its own small sites: a check of the machinery, no WebArena score.
    """
    from planroute.domains.webarena.domain import opened

    named, count = tasks_or_count(tasks)
    if named is None:
        typer.echo("The project's own tasks on its own sites: a check of the machinery, no WebArena score.", err=True)
    return opened(
        setup.judge,
        setup.limits,
        setup.sampling,
        tasks=named,
        chromium=chromium,
        budget=page,
        storage=storage,
        count=count,
    )


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("webarena")(text_command("webarena", load, WORDS, DEFAULTS))
