"""What an episode spends: tokens, calls, seconds, money, and the limits on them.

A call that a cache answers is spent logically (budgets and comparisons count it) and not billed (nobody pays for it
again). A call that fails for good brings no tokens; it is counted apart, with the requests that were sent for it, and a
limit on model calls counts it too: nobody may ask an endpoint that refuses without end. A price that is not known is
``None``, never 0.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

from planroute.errors import BudgetExceeded


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, normalised: ``answer_tokens`` never contains ``thinking_tokens``.

    ``raw`` is the provider's own account, as far as it is strict JSON.
    """

    prompt_tokens: int = 0
    answer_tokens: int = 0
    thinking_tokens: int = 0
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def total_tokens(self) -> int:
        """All tokens of the call."""
        return self.prompt_tokens + self.answer_tokens + self.thinking_tokens


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one episode; ``None`` is no limit. Equal for every condition of a comparison."""

    interactions: int | None = None
    model_calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """A sum over calls. ``price_usd`` is ``None`` as soon as one summand is unknown.

    ``model_calls`` are those that were answered, ``failed_calls`` those that failed for good or were ended under way;
    ``attempts`` are the requests that were sent for both. ``billed_tokens`` are those of billed calls only.
    """

    model_calls: int = 0
    billed_calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    thinking_tokens: int = 0
    latency_s: float = 0.0
    price_usd: float | None = 0.0
    interactions: int = 0
    planning_events: int = 0
    planning_s: float = 0.0
    attempts: int = 0
    failed_calls: int = 0
    billed_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Prompt, answer and thinking tokens together."""
        return self.prompt_tokens + self.answer_tokens + self.thinking_tokens

    def __add__(self, other: "Spent") -> "Spent":
        pairs = zip(_VALUES(self), _VALUES(other), strict=True)
        sums: list[Any] = [None if mine is None or theirs is None else mine + theirs for mine, theirs in pairs]
        return Spent(*sums)


_VALUES: Callable[[Spent], tuple[Any, ...]] = attrgetter(*(each.name for each in fields(Spent)))


class Ledger:
    """The running account of one episode, by purpose (the interface that spent it).

    Raises ``BudgetExceeded`` *before* something is spent that the budget does not hold, so a limit is never overrun
    by more than the one call that reached it. ``failures`` counts the calls that came to nothing by the name of what
    ended them.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.by_purpose: dict[str, Spent] = {}
        self.failures: Counter[str] = Counter()
        self.calls_under_way = 0
        self._calls = self._tokens = self._interactions = 0
        self._latency_s = 0.0

    @property
    def total(self) -> Spent:
        """Everything spent so far."""
        return sum(self.by_purpose.values(), Spent())

    def _limit(self, resource: str, spent: float, limit: float | None) -> None:
        if limit is not None and spent >= limit:
            raise BudgetExceeded(resource, limit)

    def check_call(self) -> None:
        """Raise ``BudgetExceeded`` if no further model call may be made. Calls under way count, and failed ones do."""
        self._limit("model calls", self._calls + self.calls_under_way, self.budget.model_calls)
        self._limit("tokens", self._tokens, self.budget.tokens)
        self._limit("seconds", self._latency_s, self.budget.seconds)

    def charge_call(
        self,
        purpose: str,
        usage: Usage,
        latency_s: float,
        *,
        billed: bool,
        price_usd: float | None = None,
        attempts: int | None = None,
    ) -> None:
        """Record one answered call. A call that is not billed has cost nothing, whatever its price would be.

        ``attempts`` is by default 1 for a billed call and 0 for another.
        """
        self._add(
            purpose,
            Spent(
                model_calls=1,
                billed_calls=int(billed),
                prompt_tokens=usage.prompt_tokens,
                answer_tokens=usage.answer_tokens,
                thinking_tokens=usage.thinking_tokens,
                latency_s=latency_s,
                price_usd=price_usd if billed else 0.0,
                attempts=int(billed) if attempts is None else attempts,
                billed_tokens=usage.total_tokens if billed else 0,
            ),
        )

    def charge_failure(self, purpose: str, kind: str, attempts: int) -> None:
        """Record a call that ended without an answer: ``kind`` names what ended it."""
        self.failures[kind] += 1
        self._add(purpose, Spent(failed_calls=1, attempts=attempts))

    def charge_interaction(self, purpose: str = "environment") -> None:
        """Record one step of the environment; raise ``BudgetExceeded`` if none is left."""
        self._limit("interactions", self._interactions, self.budget.interactions)
        self._add(purpose, Spent(interactions=1))

    def charge_planning(self, seconds: float, events: int = 1) -> None:
        """Record planning events with their stipulated cost."""
        self._add("planning", Spent(planning_events=events, planning_s=seconds))

    def _add(self, purpose: str, amount: Spent) -> None:
        earlier = self.by_purpose.get(purpose)
        self.by_purpose[purpose] = amount if earlier is None else earlier + amount
        self._calls += amount.model_calls + amount.failed_calls
        self._tokens += amount.tokens
        self._latency_s += amount.latency_s
        self._interactions += amount.interactions


def without_raw(usage: Usage) -> Usage:
    """Return ``usage`` with the provider's own account left out."""
    return replace(usage, raw={})
