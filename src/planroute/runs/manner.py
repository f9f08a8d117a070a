"""How a run is carried out: nothing in here changes a row."""

from dataclasses import dataclass, replace
from pathlib import Path

from planroute.runs.account import Account, Limits
from planroute.runs.billing import billed_below
from planroute.runs.runner import Local, Runner


@dataclass(frozen=True, slots=True)
class Manner:
    """``concurrency`` is the most episodes at once, over all machines; ``runner`` says where they run.

    ``limits`` hold for all starts of a run together, those of ``account``, where it is given, for several runs.
    ``ends_after_s`` ends an episode that has taken so many seconds, as a failure of the infrastructure.
    """

    concurrency: int = 8
    runner: Runner = Local()  # noqa: RUF009 - it holds nothing
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    ends_after_s: float | None = None
    account: Account | None = None

    @property
    def limits_usd(self) -> bool:
        """Whether money is limited, for this run or for several together."""
        return self.limits.usd is not None or (self.account is not None and self.account.limits.usd is not None)

    def over(self, folder: Path | None) -> "Manner":
        """Let the limits hold for all runs at and below ``folder`` together, and for those that keep nothing."""
        earlier = billed_below(folder) if folder is not None else None
        return replace(self, limits=Limits(), account=Account(self.limits, earlier=earlier))


__all__ = ["Manner"]
