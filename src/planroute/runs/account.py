"""The account of a whole run: what every start of it was billed, call by call, and the limits that hold for all of it.

A call is on the account as soon as it has ended, also where it is cancelled or its episode never ends. What an account
holds has been paid; an answer from the cache or a recording has not. A call without an answer brings the requests that
were sent for it, and no tokens and no price: nobody knows them.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError, RunBudgetReached
from planroute.protocols import Model

Note = Callable[[str, Mapping[str, Any]], None]
"""Keeps what one call of a cell was billed, by purpose."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a whole run, over all of its starts; ``None`` is no limit.

    ``tokens`` counts those of billed calls, ``usd`` is what they cost, ``seconds`` the time that runs take.
    Raises ``InputError`` for a limit that is no positive number.
    """

    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("tokens", "usd", "seconds"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise InputError(f"a run's budget of {value} {name} is none", hint="give a number above 0")


class Charging(Protocol):
    """What a cell needs of an account."""

    def check(self) -> None:
        """Raise ``RunBudgetReached`` where nothing more may be begun."""

    def charge(self, cell: str, billed: Mapping[str, Any]) -> None:
        """Put what one call of ``cell`` was billed on the account."""


class Account:
    """The account of one start of a run. ``earlier`` is what the starts before it were billed (``merged_billing``).

    ``above`` is the account of several runs together: it is charged too, and its limits hold too.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        note: Note | None = None,
        earlier: Mapping[str, Any] | None = None,
        above: Charging | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._above = above
        self._note = note
        self._begun = time.monotonic()
        self.tokens = 0
        self.usd: float | None = 0.0
        self.calls = 0
        self.earlier_s = float((earlier or {}).get("seconds", 0.0))
        for of_cell in (earlier or {}).get("cells", {}).values():
            self._add(of_cell)

    @property
    def seconds(self) -> float:
        """How long all starts together have taken, in s."""
        return self.earlier_s + time.monotonic() - self._begun

    def check(self) -> None:
        """Raise ``RunBudgetReached`` where a limit is reached.

        Raises ``InputError`` where money is limited and a price is not known.
        """
        if self._above is not None:
            self._above.check()
        limits = self.limits
        if limits.usd is not None and self.usd is None:
            raise InputError(
                "the budget in USD cannot be held: a call's price is not known",
                hint="give prices with --price; where an endpoint tells no tokens, only time can be limited",
            )
        for spent, limit, unit in (
            (self.tokens, limits.tokens, "tokens"),
            (self.usd, limits.usd, "USD"),
            (self.seconds, limits.seconds, "s"),
        ):
            if limit is not None and spent is not None and spent >= limit:
                raise RunBudgetReached(unit, limit)

    def charge(self, cell: str, billed: Mapping[str, Any]) -> None:
        """Count what one call of ``cell`` was billed, and keep it at once."""
        self._add(billed)
        if self._above is not None:
            self._above.charge(cell, billed)
        if self._note is not None:
            self._note(cell, billed)

    def _add(self, billed: Mapping[str, Any]) -> None:
        for spent in billed.values():
            self.tokens += int(spent.get("billed_tokens") or 0)
            self.calls += int(spent.get("billed_calls") or 0)
            price = spent.get("price_usd", 0.0)
            self.usd = None if price is None or self.usd is None else self.usd + price


@dataclass(frozen=True, slots=True)
class OnAccount:
    """``model``, whose billed calls for ``cell`` go on the account ``charging``."""

    model: Model
    charging: Charging
    cell: str

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``. Raises ``RunBudgetReached`` before a call that the run's budget does not hold."""
        self.charging.check()
        try:
            reply = await self.model.complete(request)
        except BaseException as error:  # cancelled, refused, or of a full disk: what was sent for it was sent
            paid, attempts = getattr(error, "reply", None), getattr(error, "attempts", 0)
            if paid is not None:
                self._charge(request.purpose, paid)
            elif attempts:
                self.charging.charge(self.cell, {request.purpose: {"failed_calls": 1, "attempts": attempts}})
            raise
        self._charge(request.purpose, reply)
        return reply

    def _charge(self, purpose: str, reply: ModelReply) -> None:
        if reply.billed:
            spent = {
                "billed_calls": 1,
                "billed_tokens": reply.usage.total_tokens,
                "attempts": reply.attempts,
                "latency_s": reply.latency_s,
                "price_usd": reply.price_usd,
            }
            self.charging.charge(self.cell, {purpose: spent})

    async def aclose(self) -> None:
        """Nothing is held: the model outlives the cell."""


__all__ = ["Account", "Charging", "Limits", "Note", "OnAccount"]
