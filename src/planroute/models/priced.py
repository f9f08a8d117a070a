"""What answers cost, where an endpoint does not say: prices that a person gives, per million tokens."""

import math
from dataclasses import dataclass, replace

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError
from planroute.protocols import Model


@dataclass(frozen=True, slots=True)
class Prices:
    """USD per million tokens of prompts and of answers; thinking is answered, so it costs what answers cost."""

    prompt_usd: float
    answer_usd: float

    @classmethod
    def read(cls, text: str) -> "Prices":
        """Read ``PROMPT,ANSWER``. Raises ``InputError`` for anything else than two prices, 0 or more."""
        try:
            prompt, answer = (float(part) for part in text.split(","))
        except ValueError:
            prompt = answer = math.nan
        if not all(math.isfinite(price) and 0 <= price <= 1e6 for price in (prompt, answer)):
            raise InputError(
                f"--price {text[:40]!r} is no pair of prices", hint="USD per million tokens, as PROMPT,ANSWER: 0.15,0.6"
            )
        return cls(prompt, answer)

    def of(self, reply: ModelReply) -> float:
        """What ``reply`` costs, in USD."""
        usage = reply.usage
        answered = usage.answer_tokens + usage.thinking_tokens
        return (usage.prompt_tokens * self.prompt_usd + answered * self.answer_usd) / 1e6


@dataclass(frozen=True, slots=True)
class PricedModel:
    """``model``, whose answers cost what ``prices`` say, unless it says so itself or does not tell their tokens."""

    model: Model
    prices: Prices

    @property
    def endpoint(self) -> str:
        """The model's own."""
        return self.model.endpoint

    @property
    def cacheable(self) -> bool:
        """The model's own."""
        return bool(getattr(self.model, "cacheable", True))

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``, with its price."""
        reply = await self.model.complete(request)
        if reply.price_usd is not None or not reply.usage.total_tokens:  # no token at all: they were not reported
            return reply
        return replace(reply, price_usd=self.prices.of(reply))

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()
