"""Deciding on one action: what is known before it, what comes of it, and the way in which text domains ask for it.

A domain whose actions are not one answer in words brings a ``Decider`` of its own.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.domains.text.environment import Environment, Matcher
from planroute.domains.text.prompts import prompt
from planroute.domains.text.replies import FINISHED, Act, act_schema
from planroute.errors import ReplyError
from planroute.protocols import Context
from planroute.trace import Failed


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known before an action. ``unit`` is the step at hand, ``plan`` one that nothing enforces, or neither.

    ``state`` is what the model may see, ``system`` the domain's briefing as a system prompt.
    """

    context: Context
    environment: Environment
    state: Mapping[str, Any]
    system: str
    sampling: Sampling
    matcher: Matcher
    unit: str | None = None
    plan: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The action to carry out; or that the unit at hand is finished; or words that fit no action, and why not."""

    action: str | None
    words: str = ""
    reason: str = ""
    finished: bool = False


Decider = Callable[[Situation], Awaitable[Decision]]
"""Decides on the next action. Only where there is a unit may it be called finished."""


async def in_words(situation: Situation, form: type[Act] = Act) -> Decision:
    """Ask once for an action in words, in an answer of the form ``form``, and read them by the domain's matcher."""
    admissible = situation.environment.admissible
    also = () if situation.unit is None else (FINISHED,)
    schema = act_schema((*admissible, *also) if admissible else (), form)
    context = situation.context
    try:
        parsed = await ask(
            context,
            "action",
            situation.system,
            _question(situation),
            form,
            sampling=situation.sampling,
            json_schema=schema,
        )
    except ReplyError as error:
        context.trace.append(Failed(type(error).__name__, error.message, "action"))
        return Decision(None, "", "the answer could not be read")
    words = parsed.value.action
    if also and words.strip().strip('."').lower() == FINISHED:
        return Decision(None, words, finished=True)
    match = situation.matcher(words, admissible)
    return Decision(match.action, words, match.reason)


def _question(situation: Situation) -> str:
    state = json.dumps(situation.state, ensure_ascii=False)
    if situation.unit is not None:
        return prompt("act_on_step", state=state, unit=situation.unit)
    if situation.plan is not None:
        return prompt("act_with_plan", state=state, plan=json.dumps(situation.plan))
    return prompt("act", state=state)
