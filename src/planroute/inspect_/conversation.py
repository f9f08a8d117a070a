"""A trace as the messages of a sample: plans as numbered lists, actions as calls of a tool, observations as answers.

Inspect counts these messages (``--message-limit``), its viewer shows them, and planroute's importer of Inspect's logs
reads plans and actions back out of them. Of several rollouts only the adopted one is told, and of workers' plans only
what was collected.
"""

from collections.abc import Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from planroute.plan import PlanUnit
from planroute.trace import Acted, Chosen, Collected, Decomposed, Observed, Planned, Proposed, Revised


class Conversation:
    """Turns the events of one trace, in their order, into messages at the end of ``messages``."""

    def __init__(self, messages: list[ChatMessage]) -> None:
        self.messages = messages
        self._branches: dict[str, list[Any]] = {}
        self._plans: dict[str, tuple[PlanUnit, ...]] = {}
        self._acted = 0
        self._call: ToolCall | None = None

    def take(self, event: object) -> None:
        """Add what ``event`` says. Raises ``LimitExceededError`` where the sample may have no more messages."""
        match event:
            case Acted(branch=str(branch)) | Observed(branch=str(branch)):
                self._branches.setdefault(branch, []).append(event)
            case Proposed():
                self._plans = {name: plan.units for name, _, plan in event.candidates}
            case Chosen():
                self._plan("The chosen plan", self._plans.get(event.candidate, ()))
                for each in self._branches.pop(event.candidate, []):
                    self._turn(each)
            case Planned(subgoal=None):
                self._plan("The plan", event.plan.units)
            case Revised():
                self._plan("The plan for what is left", event.plan.units)
            case Decomposed():
                goals = tuple(PlanUnit(goal.id, goal.text) for stage in event.stages for goal in stage)
                self._plan("The plan of subgoals", goals)
            case Collected():
                self._plan("The collected plan", event.plan.units)
            case Acted() | Observed():
                self._turn(event)

    def _plan(self, title: str, units: Sequence[PlanUnit]) -> None:
        if units:
            lines = [f"{number}. {unit.text}" for number, unit in enumerate(units, 1)]
            self.messages.append(ChatMessageAssistant(content="\n".join([f"{title}:", *lines])))

    def _turn(self, event: Acted | Observed) -> None:
        if isinstance(event, Acted):
            self._acted += 1
            verb, _, rest = event.action.strip().partition(" ")
            arguments = {"words": rest} if rest else {}
            self._call = ToolCall(id=f"a{self._acted}", function=verb or "nothing", arguments=arguments)
            self.messages.append(ChatMessageAssistant(content="", tool_calls=[self._call]))
        elif self._call is not None:
            call, self._call = self._call, None
            self.messages.append(ChatMessageTool(content=event.text, tool_call_id=call.id, function=call.function))
