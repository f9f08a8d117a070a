"""How a run was made: command, configuration, versions, models, and what was spent."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.reporting.reading import Run
from planroute.reporting.verdict import known
from planroute.reporting.wording import label, listed, number


@dataclass(frozen=True, slots=True)
class Account:
    """What one condition spent on one purpose, summed over its episodes."""

    condition: str
    purpose: str
    calls: str
    prompt: str
    answer: str
    thinking: str


_SHOWN = ("python", "system")
"""What of a run's environment a report tells; where it was started is nobody else's business."""


def accounts(run: Run) -> list[Account]:
    """Model calls and tokens by condition and purpose; empty where no model was called."""
    found = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        for purpose in sorted({purpose for row in rows for purpose in row.spent}):
            spent = [row.spent.get(purpose, {}) for row in rows]
            total = {
                key: sum(s.get(key) or 0 for s in spent)
                for key in ("model_calls", "prompt_tokens", "answer_tokens", "thinking_tokens")
            }
            if total["model_calls"]:
                found.append(Account(name, purpose, *(number(value) for value in total.values())))
    return found


def calls(run: Run, purpose: str) -> int:
    """How often a model was called for ``purpose``."""
    return int(sum(row.spent.get(purpose, {}).get("model_calls") or 0 for row in run.rows))


def facts(run: Run) -> list[tuple[str, str]]:
    """What the run was asked for and made with, as name and text."""
    manifest = run.manifest
    configured = [(name.replace("_", " "), _written(value)) for name, value in manifest.config.items()]
    declarers = sorted({row.declarer for row in run.rows if row.condition not in run.forced and row.declarer})
    more = [
        ("conditions", listed([label(name) for name in run.conditions])),
        ("declared by", listed(declarers) or "the experiment only"),
        ("language model", listed(run.models()) or "none"),
        ("episodes", f"{len(run.cells)} of {len(manifest.cells)}"),
        ("planroute", manifest.planroute),
        (
            "environment",
            listed([f"{name} {_written(value)}" for name, value in manifest.environment.items() if name in _SHOWN]),
        ),
        ("identity", manifest.identity),
    ]
    return [*configured, *((name, text) for name, text in more if text)]


def billing(run: Run) -> str:
    """What all starts of the run took and were billed, in words; empty where nothing is recorded."""
    seconds = known(run.billing.get("seconds"))
    cells = run.billing.get("cells")
    accounts_ = [
        spent
        for cell in (cells.values() if isinstance(cells, Mapping) else ())
        if isinstance(cell, Mapping)
        for spent in cell.values()
        if isinstance(spent, Mapping)
    ]
    billed = sum(known(spent.get("billed_calls")) or 0 for spent in accounts_)
    if seconds is None:
        return ""
    text = f"All starts of the run together took {number(seconds, 1)} s and were billed {number(billed)} model calls"
    if not billed:
        return f"{text}."
    prices = [known(spent.get("price_usd")) for spent in accounts_]
    total = None if any(price is None for price in prices) else sum(price or 0 for price in prices)
    return f"{text}, at {'a price that is not known' if total is None else f'{total:.2f} USD'}."


def scenarios(run: Run) -> list[tuple[str, str]]:
    """The factors of each task."""
    tasks = {row.task: row.factors for row in run.rows}
    return [
        (task, "; ".join(f"{name.replace('_', ' ')} {_written(value)}" for name, value in factors.items()))
        for task, factors in tasks.items()
        if factors
    ]


def _written(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(str(item) for item in value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
