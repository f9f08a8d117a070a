"""What a declarer fills in for a text task beside the mode: the plan itself, in sections.

Source: Planning-as-Routing 3.2 (mode plus plan in one declaration). The form in sections is the project's own.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from planroute.protocols import State, Task

MOST_SECTIONS = 4
MOST_STEPS = 12


class Section(BaseModel):
    """Some steps under a title: one section for a plain plan, one for each subgoal or each alternative otherwise."""

    model_config = ConfigDict(frozen=True)

    title: str = Field("", max_length=80, description="subgoal or alternative; empty for a plain plan")
    steps: list[str] = Field(default_factory=list, max_length=MOST_STEPS, description="short steps in order")


class TextFields(BaseModel):
    """The declared plan; empty where the executor is to ask for it."""

    model_config = ConfigDict(frozen=True)

    plan: list[Section] = Field(
        default_factory=list,
        max_length=MOST_SECTIONS,
        description="one section with the steps; for subgoals or alternatives one section each",
    )


class PlanDeclared:
    """The part of a ``Domain`` that all text domains share: the declared plan is the only field of their own."""

    @property
    def fields(self) -> type[TextFields]:
        """The declared plan."""
        return TextFields

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        """No declared plan: each executor asks for its own."""
        return {"plan": []}
