"""Natural declaration: the language model declares the whole typed policy.

Source: Table I of the cyber-physical paper, first row; Planning-as-Routing 3.2.
"""

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration, Replanning
from planroute.declarers.prompts import MODES, NATURAL, STATE
from planroute.modes import Mode
from planroute.protocols import Context, Domain, State, Task
from planroute.reply import Parsed


class Policy(BaseModel):
    """What every domain's declaration has in common, as a model fills it in."""

    model_config = ConfigDict(frozen=True, use_enum_values=False)

    mode: Mode = Field(description="how to plan")
    depth: int = Field(1, ge=1, le=3, description="levels of decomposition, for HIERARCHICAL")
    branching: int = Field(1, ge=1, le=4, description="number of complete plans, for SEARCH")
    replanning: Replanning = Field(Replanning.NONE, description="when to remake the plan")
    confidence: float = Field(0.5, ge=0, le=1, description="0 to 1")
    rationale: str = Field("", max_length=200, description="one sentence")


P = TypeVar("P", bound=Policy)


def policy_schema(fields: type[BaseModel], base: type[P]) -> type[P]:
    """Return the schema of a domain's declaration: ``base``, the common policy, then the domain's own ``fields``."""
    made: type[P] = _made(fields, base)
    return made


@lru_cache(maxsize=64)
def _made(fields: type[BaseModel], base: type[BaseModel]) -> Any:
    """Making a schema takes longer than all the rest of a question."""
    own: dict[str, Any] = {name: (info.annotation, info) for name, info in fields.model_fields.items()}
    return create_model(f"{base.__name__}{fields.__name__}", __base__=base, **own)


def declared_policy(domain: Domain, parsed: Parsed[P], **changes: Any) -> Declaration:
    """Turn a read policy into a declaration, the domain's own fields validated once more by themselves."""
    policy = parsed.value
    own = {name: getattr(policy, name) for name in domain.fields.model_fields}
    declaration = Declaration(
        mode=policy.mode,
        depth=policy.depth,
        branching=policy.branching,
        replanning=policy.replanning,
        confidence=policy.confidence,
        rationale=policy.rationale,
        fields=domain.fields.model_validate(own).model_dump(mode="json"),
        clips=parsed.clips,
        repairs=parsed.repairs,
    )
    return replace(declaration, **changes)


@dataclass(frozen=True, slots=True)
class Natural:
    """Asks the model for the full policy. ``draw`` tells repeated declarations of one state apart."""

    sampling: Sampling = Sampling()
    draw: int = 0

    @property
    def name(self) -> str:
        """``natural``."""
        return "natural"

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return what the model declares, clipped to its ranges; whether it is type-valid is for the gate to say."""
        parsed = await ask(
            context,
            "natural declaration",
            NATURAL.format(briefing=domain.briefing, modes=MODES),
            STATE.format(state=json.dumps(state.summary)),
            policy_schema(domain.fields, Policy),
            sampling=replace(self.sampling, seed=context.seed),
            draw=self.draw,
        )
        return declared_policy(domain, parsed)
