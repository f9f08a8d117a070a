"""``planroute compare alfworld``: six ways to execute, and ROUTED, on household text games."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from planroute.cli.compare_text import Setup, Words, text_command

if TYPE_CHECKING:
    from planroute.protocols import Domain


WORDS: Final = Words("game", "--games", "--tasks")


def load(
    setup: Setup,
    games: Annotated[
        Path | None, typer.Option(help="Folder of games. Default: ALFWORLD_DATA, else the project's own games.")
    ] = None,
) -> "Domain":
    """Compare baselines, forced modes and the routed condition on ALFWorld games: success, cost, structure."""
    from planroute.domains.alfworld import find_games
    from planroute.domains.alfworld.domain import AlfworldDomain

    return AlfworldDomain(tuple(find_games(games)), setup.judge, setup.limits, setup.sampling)


def attach(app: typer.Typer) -> None:
    """Add the command to ``planroute compare``."""
    app.command("alfworld")(text_command("alfworld", load, WORDS))
