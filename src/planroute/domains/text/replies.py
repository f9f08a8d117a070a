"""The typed answers of a text domain's model calls."""

from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from planroute.ask import wanted
from planroute.domains.text.fields import MOST_STEPS

FINISHED = "finished"
"""The answer by which a model says that the step it works on is done."""


class Steps(BaseModel):
    """A plan as short steps in order."""

    model_config = ConfigDict(frozen=True)

    steps: list[str] = Field(max_length=MOST_STEPS, description="short steps in order")


class Subgoals(BaseModel):
    """A task cut into subgoals, in order."""

    model_config = ConfigDict(frozen=True)

    subgoals: list[str] = Field(max_length=MOST_STEPS, description="subgoals in order")


class Act(BaseModel):
    """One action, as the model words it."""

    model_config = ConfigDict(frozen=True)

    thought: str = Field("", max_length=160, description="one short thought")
    action: str = Field(max_length=400, description="one action")


class LongAct(Act):
    """One action that may be as long as a file."""

    action: str = Field(description="one action")


@lru_cache(maxsize=256)
def act_schema(choices: tuple[str, ...], form: type[Act] = Act) -> dict[str, Any]:
    """JSON schema of an action; with ``choices`` an engine that can allows nothing else."""
    if not choices:
        return wanted(form)
    chosen: Any = Literal[choices]
    model = create_model("Act", __base__=Act, action=(chosen, Field(description="one of these")))
    return wanted(model)
