"""The turn that decided a failure as a language model sees it: asked once, over the whole log, and scored the same."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.errors import ReplyError
from planroute.evaluation.location import Location, Turn
from planroute.protocols import Context

LOCATION: Final = """\
A group of agents worked on a task and failed. You see the task and the numbered turns of their log. Say which agent \
made the mistake that decided the failure, and at which turn: the earliest one without which the rest could have \
succeeded. Turns of the environment are nobody's mistake. Judge by the log and nothing else.
Answer in JSON: agent, step (the number of the turn) and one short reason."""

LOG: Final = 24_000
"""Characters of turns that are shown; long turns are cut in the middle until all fit."""
LEAST: Final = 120
"""Characters that are left of every turn, however many there are."""


class Named(BaseModel):
    """A model's answer."""

    model_config = ConfigDict(frozen=True)

    agent: str = Field(max_length=100, description="the agent's name, as in the log")
    step: int = Field(ge=0, description="the number of the turn")
    reason: str = Field("", max_length=300, description="one short reason")


@dataclass(frozen=True, slots=True)
class LocationJudge:
    """Asks the judge model of the context, or its backbone where it has no other."""

    sampling: Sampling = Sampling(temperature=0.0)
    longest: int = LOG

    @property
    def name(self) -> str:
        """What the call is booked on."""
        return "location judge"

    async def locate(self, task: str, turns: Sequence[Turn], context: Context) -> Location:
        """Locate the failure of ``turns`` at ``task``.

        Raises ``ReplyError`` where the answer cannot be read or names no turn, and ``ModelError`` as every call does.
        """
        asked = context if context.judge is None else replace(context, model=context.judge)
        state = json.dumps({"task": task, "turns": shown(turns, self.longest)}, ensure_ascii=False)
        parsed = await ask(asked, self.name, LOCATION, f"State: {state}", Named, sampling=self.sampling)
        named = parsed.value
        if named.step >= len(turns):
            raise ReplyError(f"names turn {named.step} of the {len(turns)} from 0")
        return Location(named.agent.strip(), named.step, "judge", named.reason)


def shown(turns: Sequence[Turn], longest: int = LOG) -> list[dict[str, str | int]]:
    """The turns as a model reads them: number, speaker and text, cut so that all together have ``longest`` characters.

    What an action led to stands with it where that is no turn of its own.
    """
    room = max(longest // max(len(turns), 1), LEAST)
    found: list[dict[str, str | int]] = []
    for place, turn in enumerate(turns):
        apart = place + 1 < len(turns) and turns[place + 1].environment
        text = turn.text if apart or not turn.outcome else f"{turn.text}\n> {turn.outcome}"
        found.append({"step": place, "agent": turn.agent, "text": _cut(text, room)})
    return found


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} […] {text[-most // 2 :]}"
