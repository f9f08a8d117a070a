"""The optional plan critic (Table I): approval, risk, adjusted intensity. Off in every forced comparison."""

import json
from dataclasses import asdict, replace
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration
from planroute.domains.grid.policy import GridFields
from planroute.domains.grid.prompts import CRITIC, CRITIC_REQUEST
from planroute.protocols import Context, State


class Risk(StrEnum):
    """How risky the critic finds a policy."""

    LOW = "LOW"
    MEDIUM = "MEDIUM"
    HIGH = "HIGH"


class Review(BaseModel):
    """A critic's answer."""

    model_config = ConfigDict(frozen=True, use_enum_values=True)

    approve: bool
    risk: Risk
    intensity: float = Field(ge=0.2, le=1.0, description="intensity to use, 0.2 to 1.0")


async def review(
    context: Context,
    state: State,
    declaration: Declaration,
    *,
    deadline_s: float | None,
    cost_s: float,
    sampling: Sampling | None = None,
) -> tuple[Declaration, Review]:
    """Have the model review ``declaration``; return it with the reviewed intensity, and the review.

    The mode is out of the critic's reach. Raises ``ReplyError`` or ``ModelError`` as every model call does.
    """
    policy = {
        k: v for k, v in asdict(declaration).items() if k in ("mode", "depth", "branching", "replanning", "fields")
    }
    user = CRITIC_REQUEST.format(
        state=json.dumps(state.summary),
        policy=json.dumps(policy),
        deadline=f"{deadline_s:g} s" if deadline_s else "none",
        cost_s=cost_s,
    )
    parsed = await ask(context, "plan critic", CRITIC, user, Review, sampling=sampling)
    fields = GridFields.model_validate({**declaration.fields, "intensity": parsed.value.intensity})
    return replace(declaration, fields=fields.model_dump()), parsed.value
