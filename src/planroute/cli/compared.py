"""What a comparison on one domain gave, for whoever prints it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow


@dataclass(frozen=True, slots=True)
class Compared:
    """The table, the rows, how many episodes (and how many of them from an earlier run), tasks, the report if any."""

    result: dict[str, Any]
    rows: "Sequence[EpisodeRow]"
    episodes: int
    tasks: int
    report: Path | None
    resumed: int = 0
