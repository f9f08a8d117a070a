"""The meter between an episode and its model: limits before a call, the ledger after it."""

import asyncio
from dataclasses import dataclass

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import ModelError
from planroute.ledger import Ledger
from planroute.protocols import Model


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """Charges every call of ``model`` to ``ledger``, whether or not its answer can be read later.

    A call that fails for good or is ended under way is charged as such, with the requests that were sent for it;
    where its answer had come in by then, with the answer.

    Raises ``BudgetExceeded`` before a call for which nothing is left. The call itself is recorded in the trace by
    ``planroute.ask``, which keeps the order of questions where several are under way.
    """

    model: Model
    ledger: Ledger

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` within the budget and charge it."""
        self.ledger.check_call()
        self.ledger.calls_under_way += 1
        try:
            reply = await self.model.complete(request)
        except (ModelError, asyncio.CancelledError) as error:
            paid = getattr(error, "reply", None)
            if paid is None:
                self.ledger.charge_failure(request.purpose, type(error).__name__, getattr(error, "attempts", 0))
            else:
                self._charge(request.purpose, paid)
            raise
        finally:
            self.ledger.calls_under_way -= 1
        self._charge(request.purpose, reply)
        return reply

    def _charge(self, purpose: str, reply: ModelReply) -> None:
        self.ledger.charge_call(
            purpose,
            reply.usage,
            reply.latency_s,
            billed=reply.billed,
            price_usd=reply.price_usd,
            attempts=reply.attempts,
        )

    async def aclose(self) -> None:
        """Nothing is held: the model outlives the episode."""
