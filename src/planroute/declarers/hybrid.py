"""Hybrid advice: code scores the modes from features, a model may shift each score a little, code samples the mode.

Source: Table I of the cyber-physical paper, second row. It prints neither the scores' coefficients nor how the mode is
sampled; both are the project's own, set so that the prior of the nominal scenario prefers HIERARCHICAL as the
paper's does.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration, forced
from planroute.declarers.prompts import HYBRID, MODES, STATE_AND_SCORES
from planroute.modes import Mode
from planroute.protocols import Context, Domain, State, Task
from planroute.reply import Parsed
from planroute.streams import stream

SHIFT_LIMIT: Final = 0.30
TEMPERATURE: Final = 0.05
"""Of the softmax from which the mode is sampled: a lead of 0.2 is taken in 98 % of draws."""

WEIGHTS: Final[Mapping[Mode, Mapping[str, float]]] = {
    Mode.PREDEFINED: {"base": 0.55, "stress": -0.5, "volatility": -1.0},
    Mode.SEQUENTIAL: {"base": 0.45, "volatility": 1.0, "compliance": -0.2},
    Mode.HIERARCHICAL: {"base": 0.35, "horizon": 0.6, "burden": 0.3, "spread": 1.0},
    Mode.SEARCH: {"base": 0.25, "stress": 0.5, "burden": 0.1},
}
"""Score of a mode: its base plus weight times feature, for each feature that the domain has."""


class Advice(BaseModel):
    """A bounded shift for each mode's score, and a short reason."""

    model_config = ConfigDict(frozen=True)

    predefined: float = Field(0.0, ge=-SHIFT_LIMIT, le=SHIFT_LIMIT, description="-0.30 to 0.30")
    sequential: float = Field(0.0, ge=-SHIFT_LIMIT, le=SHIFT_LIMIT, description="-0.30 to 0.30")
    hierarchical: float = Field(0.0, ge=-SHIFT_LIMIT, le=SHIFT_LIMIT, description="-0.30 to 0.30")
    search: float = Field(0.0, ge=-SHIFT_LIMIT, le=SHIFT_LIMIT, description="-0.30 to 0.30")
    reason: str = Field("", max_length=160, description="one short reason")

    def shifts(self) -> dict[Mode, float]:
        """The shift of each mode."""
        return {mode: float(getattr(self, mode.lower())) for mode in Mode}


def base_scores(features: Mapping[str, float]) -> dict[Mode, float]:
    """Score every mode from planner-visible features in [0, 1]; a feature that is missing counts as 0."""
    return {
        mode: weights["base"] + sum(w * features.get(name, 0.0) for name, w in weights.items() if name != "base")
        for mode, weights in WEIGHTS.items()
    }


def probabilities(scores: Mapping[Mode, float]) -> dict[Mode, float]:
    """Softmax of ``scores`` at ``TEMPERATURE``."""
    values = np.array([scores[mode] for mode in Mode]) / TEMPERATURE
    weights = np.exp(values - values.max())
    return dict(zip(Mode, (weights / weights.sum()).tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Bounded advice on a deterministic prior. With ``prior_only`` no model is asked and all shifts are zero."""

    sampling: Sampling = Sampling()
    draw: int = 0
    prior_only: bool = False

    @property
    def name(self) -> str:
        """``hybrid``, or ``hybrid prior`` without a model."""
        return "hybrid prior" if self.prior_only else "hybrid"

    async def advise(self, domain: Domain, state: State, context: Context) -> Parsed[Advice]:
        """Ask the model for its shifts of the base scores; all zero with ``prior_only``.

        Raises ``ReplyError`` where the answer cannot be read, and ``ModelError`` where there is none.
        """
        if self.prior_only:
            return Parsed(Advice())
        scores = {mode.lower(): round(score, 3) for mode, score in base_scores(state.features).items()}
        return await ask(
            context,
            "hybrid advice",
            HYBRID.format(briefing=domain.briefing, modes=MODES),
            STATE_AND_SCORES.format(state=json.dumps(state.summary), scores=json.dumps(scores)),
            Advice,
            sampling=self.sampling,
            draw=self.draw,
        )

    def chances(self, state: State, advice: Advice) -> dict[Mode, float]:
        """The probability with which each mode is sampled once its base score is shifted."""
        scores = base_scores(state.features)
        return probabilities({mode: scores[mode] + shift for mode, shift in advice.shifts().items()})

    def sampled(self, chances: Mapping[Mode, float], seed: int) -> Mode:
        """Sample the mode from the planning stream of ``seed``; the draw is the same for all ``chances``."""
        draw = stream(seed, "planning", "hybrid", self.draw).random()
        edges = np.cumsum([chances[mode] for mode in Mode])
        return list(Mode)[min(int(np.searchsorted(edges, draw, side="right")), len(Mode) - 1)]

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Score, shift, sample from the planning stream, and build the rest of the policy by code."""
        parsed = await self.advise(domain, state, context)
        chances = self.chances(state, parsed.value)
        mode = self.sampled(chances, context.seed)
        return forced(
            mode,
            domain.shared_fields(task, state),
            confidence=chances[mode],
            rationale=parsed.value.reason,
            clips=parsed.clips,
            repairs=parsed.repairs,
        )
