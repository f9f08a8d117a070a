"""``planroute compare swebench``: six ways to execute, and ROUTED, on issues of software repositories."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from planroute.cli.compare_text import Setup, TasksOrCount, Words, tasks_or_count, text_command

if TYPE_CHECKING:
    from planroute.protocols import Domain

WORDS: Final = Words("issue", "--tasks", "--limit")
DEFAULTS: Final = {"max_tokens": 4096, "concurrency": 2}
"""An answer may be an edit; and what runs beside each other are test suites."""


def load(
    setup: Setup,
    tasks: TasksOrCount = None,
    repos: Annotated[Path | None, typer.Option(help="Folder of git checkouts, or of source folders.")] = None,
    envs: Annotated[
        Path | None, typer.Option(help="Folder of virtual environments. Default: envs in the folder of --repos.")
    ] = None,
    sandbox: Annotated[
        str, typer.Option(help="jail, docker, or auto: Docker for records with an image where it answers, else a jail.")
    ] = "auto",
    command_seconds: Annotated[float, typer.Option(help="Most seconds of one command.", min=1)] = 60.0,
    check: Annotated[
        bool, typer.Option("--check", help="First see that each record's own patch resolves it here; else stop.")
    ] = False,
    test_seconds: Annotated[float, typer.Option(help="Most seconds of a record's tests.", min=1)] = 1800.0,
) -> "Domain":
    """Compare baselines, forced modes and the routed condition on SWE-bench issues: resolved, PSR, cost, structure."""
    from planroute.domains.swebench.domain import opened

    named, count = tasks_or_count(tasks)
    return opened(
        setup.judge,
        setup.limits,
        setup.sampling,
        tasks=named,
        repos=repos,
        envs=envs,
        sandbox=sandbox,
        command_seconds=command_seconds,
        test_seconds=test_seconds,
        count=count,
        check=check,
    )


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("swebench")(text_command("swebench", load, WORDS, DEFAULTS))
