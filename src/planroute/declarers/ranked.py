"""Ranked declaration: an order over the modes, best first, for fallback; the first one is executed.

Source: Planning-as-Routing, RQ4 and appendix K (TSR@k).
"""

import json
from dataclasses import dataclass, replace

from pydantic import Field

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration
from planroute.declarers.natural import Policy, declared_policy, policy_schema
from planroute.declarers.prompts import MODES, RANKED, STATE
from planroute.errors import ReplyError
from planroute.modes import Mode
from planroute.protocols import Context, Domain, State, Task


class Ranking(Policy):
    """The common policy with an order over all modes."""

    ranking: list[Mode] = Field(min_length=1, max_length=4, description="all four modes, best first")


@dataclass(frozen=True, slots=True)
class Ranked:
    """Asks for an order over the modes beside the policy of the first."""

    sampling: Sampling = Sampling()
    draw: int = 0

    @property
    def name(self) -> str:
        """``ranked``."""
        return "ranked"

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return the declaration with its ranking; modes that were left out follow in the table's order.

        The first of the ranking is the declared mode. Raises ``ReplyError`` where a mode is ranked twice.
        """
        parsed = await ask(
            context,
            "ranked declaration",
            RANKED.format(briefing=domain.briefing, modes=MODES),
            STATE.format(state=json.dumps(state.summary)),
            policy_schema(domain.fields, Ranking),
            sampling=replace(self.sampling, seed=context.seed),
            draw=self.draw,
        )
        given = parsed.value.ranking
        if len(set(given)) != len(given):
            raise ReplyError(f"ranking: a mode is ranked twice ({', '.join(given)})")
        ranking = (*given, *(mode for mode in Mode if mode not in given))
        return declared_policy(domain, parsed, mode=ranking[0], ranking=ranking)
