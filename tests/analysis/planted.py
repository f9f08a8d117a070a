"""Rows with a known truth: what every mode can do on every task, how often, at what price."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from planroute.declarers import Fixed
from planroute.episode import Conditions, run_episode
from planroute.modes import MODES, UNPLANNED, Baseline, Mode
from planroute.streams import stream
from planroute.trace import Stop
from tests.domains.tiny import TinyDomain

DOMAIN = TinyDomain()
ROW = asyncio.run(run_episode(DOMAIN, DOMAIN.tasks()[0], 1, Conditions(Fixed(Mode.SEARCH)))).row


def row(condition, task, seed, success, *, tokens=100, metrics=None, **changes):
    """One finished episode."""
    executed = condition if condition in {*MODES, *Baseline} else changes.get("declared")
    given = {
        "declared": None if condition in UNPLANNED else executed,
        "executed": executed,
        "factors": {"task_type": "one"},
        "metrics": metrics or {},
        "planning": (),
        "spent": {"action": {"model_calls": 1, "answer_tokens": tokens, "interactions": 1}},
        **changes,
    }
    return replace(ROW, condition=condition, task=task, seed=seed, success=success, **given)


def forced(chances: Mapping[str, Mapping[str, float]], executions: int, *, seed: int = 0, tokens=None):
    """Forced episodes: ``chances[task][condition]`` is how often it succeeds."""
    draw = stream(seed, "planted")
    return [
        row(condition, task, number, bool(draw.random() < chance), tokens=(tokens or {}).get(condition, 100))
        for task, by_mode in chances.items()
        for condition, chance in by_mode.items()
        for number in range(executions)
    ]


def declared(policy: str, modes: Mapping[str, list[str]], *, seed: int = 0, ranking=False):
    """Episodes that only declare: the modes of every task, one for each seed."""
    return [
        row(
            policy,
            task,
            number,
            None,
            declared=mode,
            executed=None,
            stop=Stop.DECLARED,
            declaration={"ranking": [mode, *(m for m in MODES if m != mode)]} if ranking else {"ranking": []},
        )
        for task, some in modes.items()
        for number, mode in enumerate(some)
    ]
