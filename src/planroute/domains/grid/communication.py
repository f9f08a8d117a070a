"""Who speaks to the prosumers, and what it does to their willingness.

Two speakers stand behind one method: ``Calibrated`` uses the archetypes' mean shifts, without a model; ``Spoken`` has a
language model write one message for the hour and judge its effect on each sampled prosumer (Table I). Either way
a shift is all that comes back: bounded, attenuated by resistance elsewhere, and never a command.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from planroute.ask import ask, call
from planroute.calls import Message, ModelRequest, Sampling
from planroute.domains.grid.coefficients import ARCHETYPES, Response
from planroute.domains.grid.prompts import (
    ARCHETYPE_DESCRIPTIONS,
    OPERATOR,
    OPERATOR_REQUEST,
    PROSUMER,
    PROSUMER_REQUEST,
)
from planroute.domains.grid.prosumers import Memory, Population, calibrated_shifts
from planroute.errors import ReplyError
from planroute.protocols import Context
from planroute.reply import Parsed
from planroute.trace import Failed, Observed, Trace

FloatArray = NDArray[np.float64]
MESSAGE_LIMIT = 600
"""Characters of an operator message that are passed on."""


class MessageEffect(BaseModel):
    """Evaluation of one message for one prosumer."""

    model_config = ConfigDict(frozen=True)

    shift: float = Field(ge=-0.30, le=0.30, description="change of willingness, -0.30 to 0.30")
    persuaded: bool = Field(False, description="whether the message persuades")
    reason: str = Field("", max_length=160, description="one short reason")


@dataclass(frozen=True, slots=True)
class Recipient:
    """One prosumer as the evaluation of a message sees it: the payload of Table I beside the message.

    ``neighbours`` is the share of neighbours who complied, in [0, 1]; ``exploited``, ``asked``, ``agreed`` are counts.
    """

    archetype: str
    requested_kw: float
    neighbours: float
    exploited: float = 0.0
    asked: float = 0.0
    agreed: float = 0.0


async def operator_message(
    context: Context, theme: str, hour: int, excess_kw: float, sampling: Sampling | None = None
) -> str:
    """Have the model write one hour's message to customers; at most ``MESSAGE_LIMIT`` characters on one line.

    Raises ``ReplyError`` where the answer is empty, and ``ModelError`` where there is none.
    """
    purpose = "operator message"
    user = OPERATOR_REQUEST.format(theme=theme, hour=hour, excess_kw=excess_kw)
    messages = (Message("system", OPERATOR), Message("user", user))
    reply = await call(context, ModelRequest(purpose, messages, sampling or Sampling()))
    text = " ".join(reply.text.split())[:MESSAGE_LIMIT]
    if not text:
        raise ReplyError("operator message: the answer is empty")
    return text


async def message_effect(
    context: Context, recipient: Recipient, message: str, sampling: Sampling | None = None, draw: int = 0
) -> Parsed[MessageEffect]:
    """Have the model judge what ``message`` does to the willingness of ``recipient``, before any attenuation.

    Raises ``ReplyError`` where the answer cannot be read, and ``ModelError`` where there is none.
    """
    user = PROSUMER_REQUEST.format(
        archetype=recipient.archetype,
        description=ARCHETYPE_DESCRIPTIONS[recipient.archetype],
        requested_kw=recipient.requested_kw,
        neighbours=recipient.neighbours,
        exploited=recipient.exploited,
        asked=recipient.asked,
        agreed=recipient.agreed,
        message=message,
    )
    return await ask(context, "prosumer evaluation", PROSUMER, user, MessageEffect, sampling=sampling, draw=draw)


@dataclass(frozen=True, slots=True, eq=False)
class Appeal:
    """One hour's requests as a speaker sees them; ``sampled`` marks whose message is evaluated (nodes,)."""

    hour: int
    theme: str
    excess_kw: float
    requested_kw: FloatArray
    sampled: NDArray[np.bool_]
    memory: Memory
    people: Population


class Speaker(Protocol):
    """Turns an hour's appeal into a shift of willingness per node, 0 where nobody's message is evaluated."""

    async def shifts(self, appeal: Appeal) -> FloatArray:
        """Return the shifts before attenuation, each within its bound."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The archetypes' mean shifts in place of a language model."""

    response: Response

    async def shifts(self, appeal: Appeal) -> FloatArray:
        """Return each sampled prosumer's archetype mean."""
        return np.where(appeal.sampled, calibrated_shifts(appeal.people, self.response), 0.0)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A language model writes the hour's message and judges its effect on each sampled prosumer.

    An answer that cannot be read shifts nothing: it is charged, recorded as failed, and the episode goes on.
    """

    context: Context
    sampling: Sampling = Sampling()

    async def shifts(self, appeal: Appeal) -> FloatArray:
        """Return the model's shifts; one message serves all targets of the hour."""
        nodes = np.flatnonzero(appeal.sampled)
        result = np.zeros(len(appeal.requested_kw))
        if not appeal.requested_kw.any():
            return result
        try:
            message = await operator_message(self.context, appeal.theme, appeal.hour, appeal.excess_kw, self.sampling)
        except ReplyError as error:
            self.context.trace.append(Failed(type(error).__name__, error.message, "operator message"))
            return result
        self.context.trace.append(Observed(message))
        result[nodes] = await self._effects(appeal, nodes.tolist(), message)
        return result

    async def _effects(self, appeal: Appeal, nodes: list[int], message: str) -> list[float]:
        """Ask for all effects at once; the trace keeps the order of nodes, not that of arrival.

        One after the other where tokens or seconds are limited: which call reaches the limit must not depend on timing.
        """
        contexts = [replace(self.context, trace=Trace()) for _ in nodes]
        calls = [self._effect(context, appeal, node, message) for context, node in zip(contexts, nodes, strict=True)]
        budget = self.context.ledger.budget
        try:
            if budget.tokens is not None or budget.seconds is not None:
                return [await pending for pending in calls]
            answers = await asyncio.gather(*calls, return_exceptions=True)
        finally:
            for pending in calls:
                pending.close()
            for context in contexts:
                self.context.trace.extend(context.trace)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return [answer for answer in answers if isinstance(answer, float)]

    async def _effect(self, context: Context, appeal: Appeal, node: int, message: str) -> float:
        memory = appeal.memory
        recipient = Recipient(
            archetype=ARCHETYPES[appeal.people.archetype[node]],
            requested_kw=float(appeal.requested_kw[node]),
            neighbours=float(memory.neighbours_complied(appeal.people)[node]),
            exploited=float(memory.exploitation[node]),
            asked=float(memory.asked[node]),
            agreed=float(memory.agreed[node]),
        )
        try:
            parsed = await message_effect(context, recipient, message, self.sampling)
        except ReplyError as error:
            context.trace.append(Failed(type(error).__name__, error.message, f"prosumer evaluation, node {node}"))
            return 0.0
        return parsed.value.shift


@dataclass(frozen=True, slots=True)
class InHours:
    """``inside`` speaks in the given hours, ``outside`` in all others."""

    hours: frozenset[int]
    inside: Speaker
    outside: Speaker

    async def shifts(self, appeal: Appeal) -> FloatArray:
        """Pass the appeal to whoever speaks in its hour."""
        speaker = self.inside if appeal.hour in self.hours else self.outside
        return await speaker.shifts(appeal)
