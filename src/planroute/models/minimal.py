"""Answers that satisfy a schema and nothing else: the fixed middle of every field, and a declaration of one mode."""

import json
from collections.abc import Callable
from typing import Any

from planroute.calls import ModelRequest
from planroute.declaration import forced
from planroute.models.shapes import Choice, Items, Maybe, Number, Record, Shape, Text, Truth, record_of
from planroute.modes import Mode

Script = Callable[[ModelRequest], str]
"""Returns the answer to a request."""


def minimal(request: ModelRequest) -> str:
    """Return the answer of ``scripted/minimal``."""
    if request.schema is None:
        return f"A short answer for {request.purpose}."
    return json.dumps(_middle(record_of(request.schema), request.purpose))


def declaring(mode: Mode) -> Script:
    """Return the script of ``scripted/declare=MODE``.

    A declaration is a schema whose ``mode`` admits ``mode``.
    """
    required = forced(mode)
    policy = {"mode": mode, "depth": required.depth, "branching": required.branching}
    policy["replanning"] = required.replanning

    def script(request: ModelRequest) -> str:
        if request.schema is None:
            return minimal(request)
        record = record_of(request.schema)
        answer = _middle(record, request.purpose)
        if _admits(record.fields.get("mode"), mode):
            answer |= record.defaults
            answer |= {k: v for k, v in policy.items() if _admits(record.fields.get(k), v)}
        return json.dumps(answer)

    return script


def _middle(record: Record, purpose: str) -> dict[str, Any]:
    return {name: _value(shape, f"{name} of {purpose}") for name, shape in record.fields.items()}


def _value(shape: Shape, what: str) -> Any:
    """A fixed value of ``shape``: the first choice, the middle of a range, the fewest items (one if that is none)."""
    match shape:
        case Choice(values):
            return values[0]
        case Text(shortest, longest):
            return what[:longest].ljust(shortest, ".")
        case Number(low, high, decimals):
            middle = (low + high) // 2
            return middle if decimals == 0 else middle / 10**decimals
        case Truth():
            return True
        case Items(item, fewest, most):
            return [_value(item, what) for _ in range(min(max(fewest, 1), most))]
        case Maybe(value):
            return _value(value, what)
        case Record():
            return _middle(shape, what)


def _admits(shape: Shape | None, value: Any) -> bool:
    match shape:
        case Choice(values):
            return value in values
        case Number(low, high, decimals):
            return low <= value * 10**decimals <= high if isinstance(value, int) else False
        case Maybe(inner):
            return _admits(inner, value)
    return False
