"""Evaluate the small expressions inside a game's grammar, without running them as code.

A grammar writes ``{o.indefinite + ' ' + o.name}`` or ``{r.name or r.id}``. The library hands such text to ``eval``, so
that a game file from elsewhere could run anything; and since Python 3.13 that ``eval`` no longer sees its variables.
Names, their public attributes, strings, ``+`` and ``or`` are all that games need and all that is understood here.
"""

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Any


class ForbiddenExpression(ValueError):
    """An expression holds more than names, attributes, strings, ``+`` and ``or``."""


def evaluate(expression: str, variables: Mapping[str, Any]) -> Any:
    """Return the value of ``expression``. Raises `ForbiddenExpression`, or `KeyError` for an unknown name."""
    return _value(_parse(expression), variables, expression)


@lru_cache(maxsize=512)
def _parse(expression: str) -> ast.expr:
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ForbiddenExpression(f"not an expression: {expression!r}") from None


def _value(node: ast.expr, variables: Mapping[str, Any], whole: str) -> Any:
    match node:
        case ast.Name(id=name):
            return variables[name]
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if not attribute.startswith("_"):
            return getattr(variables[name], attribute)
        case ast.Constant(value=str() as text):
            return text
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _text(_value(left, variables, whole)) + _text(_value(right, variables, whole))
        case ast.BoolOp(op=ast.Or(), values=values):
            return next((value for each in values if (value := _value(each, variables, whole))), "")
    raise ForbiddenExpression(f"not allowed in a game's grammar: {whole!r}")


def _text(value: Any) -> str:
    return "" if value is None else str(value)
