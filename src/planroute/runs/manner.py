"""How a run is carried out: nothing in here changes a row."""

from dataclasses import dataclass

from planroute.runs.account import Limits
from planroute.runs.runner import Local, Runner


@dataclass(frozen=True, slots=True)
class Manner:
    """``concurrency`` is the most episodes at once, over all machines; ``runner`` says where they run.

    ``limits`` hold for all starts of a run together. ``ends_after_s`` ends this start after so many seconds.
    """

    concurrency: int = 8
    runner: Runner = Local()  # noqa: RUF009 - it holds nothing
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    ends_after_s: float | None = None


__all__ = ["Manner"]
