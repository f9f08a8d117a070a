"""Models for studies of interfaces: they answer by a rule from what the prompt says, and count what they are asked."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from planroute.calls import ModelReply, ModelRequest
from planroute.ledger import Usage

Rule = Callable[[ModelRequest], str | Exception]


@dataclass
class Ruled:
    """Answers with what ``rule`` returns, or raises it; each answer takes what ``seconds`` says."""

    rule: Rule
    name: str = "ruled"
    seconds: Callable[[ModelRequest], float] = lambda request: 1.0
    requests: list[ModelRequest] = field(default_factory=list)
    under_way: int = 0
    most_at_once: int = 0

    @property
    def endpoint(self) -> str:
        return f"test/{self.name}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        answer = self.rule(request)
        if isinstance(answer, Exception):
            raise answer
        return ModelReply(answer, Usage(100, 20), latency_s=self.seconds(request))

    async def aclose(self) -> None:
        """Nothing is held."""


def state_of(request: ModelRequest) -> dict:
    """The planner-visible state in a prompt."""
    return json.JSONDecoder().raw_decode(request.messages[-1].content.removeprefix("State: "))[0]


def policy(mode: str, **fields) -> str:
    """A whole, type-valid declaration of ``mode``."""
    found = {
        "mode": mode,
        "depth": 2 if mode == "HIERARCHICAL" else 1,
        "branching": 3 if mode == "SEARCH" else 1,
        "replanning": "EVERY_STEP" if mode == "SEQUENTIAL" else "NONE",
        "confidence": 0.5,
        "rationale": "because",
        "target": "HIGH_LOAD",
        "theme": "SAVINGS",
        "intensity": 0.6,
    }
    return json.dumps(found | fields)


def advice(*shifts: float) -> str:
    names = ("predefined", "sequential", "hierarchical", "search")
    return json.dumps({**dict(zip(names, shifts, strict=True)), "reason": "because"})


def effect(shift: float) -> str:
    return json.dumps({"shift": shift, "persuaded": shift > 0, "reason": "because"})


def archetype_of(request: ModelRequest) -> str:
    return re.search(r"Household: (\w+):", request.messages[-1].content)[1]


def neighbours_of(request: ModelRequest) -> int:
    """Neighbours who complied, in percent."""
    return int(re.search(r"Neighbours who complied: (\d+)%", request.messages[-1].content)[1])


def conditioned(request: ModelRequest) -> str:
    """Declares by stress: cheap modes without it, mostly search with much of it."""
    stress, draw = state_of(request)["stress"], request.draw
    if stress == 0:
        return policy(("SEQUENTIAL", "PREDEFINED", "SEQUENTIAL")[draw])
    if stress <= 0.2:
        return policy(("SEQUENTIAL", "HIERARCHICAL", "PREDEFINED")[draw])
    return policy(("SEARCH", "SEARCH", "SEQUENTIAL")[draw])


def any_interface(request: ModelRequest) -> str:
    """Answers every interface of the grid."""
    match request.purpose:
        case "natural declaration":
            return conditioned(request)
        case "hybrid advice":
            return advice(0.1, 0.0, -0.2, 0.05 * (request.draw + 1))
        case "prosumer evaluation":
            return effect(SHIFTS[archetype_of(request)] + 0.0005 * neighbours_of(request))
    return "Please use less at that hour."


SHIFTS = {
    "idealist": 0.2,
    "pragmatist": 0.15,
    "conformist": 0.1,
    "strategist": 0.05,
    "skeptic": -0.05,
    "opportunist": -0.1,
}
