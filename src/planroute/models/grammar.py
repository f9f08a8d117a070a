"""GBNF grammars from JSON schemas: an engine that draws along one cannot leave the schema.

Written here rather than by llama.cpp because its own conversion does not enforce the bounds of decimal numbers. An
answer has every field, in the schema's order, and no white space between tokens; a decimal number has two decimals;
a text has no quotation marks, backslashes or control characters, so one character of it is one character of JSON.
Text, lists and numbers that the schema leaves open are bounded as ``planroute.models.shapes`` says.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from planroute.models.shapes import Choice, Items, Maybe, Number, Record, Shape, Text, Truth, record_of

_CHARACTER = r'[^"\\\x00-\x1F\x7F]'


def gbnf_for(schema: Mapping[str, Any]) -> str:
    """Return the grammar of ``schema``'s answers. Raises ``InputError`` where the schema is not supported."""
    record = record_of(schema)
    rules = [f"root ::= {_rule(record)}", f"char ::= {_CHARACTER}"]
    rules += [rf'{_name(text)} ::= "\"" char{{{text.shortest},{text.longest}}} "\""' for text in _texts(record)]
    return "\n".join(rules) + "\n"


def longest_answer(schema: Mapping[str, Any]) -> int:
    """Return the length in characters of the longest answer of the grammar.

    A token has at least one character, so this many tokens are always enough; for English text a third of it is.
    """
    return _longest(record_of(schema))


def _rule(shape: Shape) -> str:
    match shape:
        case Record(fields):
            parts = []
            for i, (name, field) in enumerate(fields.items()):
                parts.append(_literal(f"{',' if i else '{'}{_json(name)}:"))
                parts.append(_rule(field))
            return " ".join([*parts, _literal("}")])
        case Choice(values):
            return _either(_literal(_json(value)) for value in values)
        case Truth():
            return _either([_literal("true"), _literal("false")])
        case Maybe(value):
            return _either([_rule(value), _literal("null")])
        case Text():
            return _name(shape)
        case Items(item, fewest, most):
            return _items(_rule(item), fewest, most)
        case Number(low, high, decimals):
            return _number(low, high, decimals)


def _name(text: Text) -> str:
    """The rule of a text. It has one of its own because llama.cpp bounds what a repeated group may hold itself."""
    return f"text-{text.shortest}-{text.longest}"


def _texts(shape: Shape) -> list[Text]:
    """The kinds of text in ``shape``, each once, the first one first."""
    match shape:
        case Record(fields):
            return list(dict.fromkeys(text for field in fields.values() for text in _texts(field)))
        case Maybe(inner) | Items(inner):
            return _texts(inner)
        case Text():
            return [shape]
    return []


def _items(item: str, fewest: int, most: int) -> str:
    if most == 0:
        return _literal("[]")
    more = f'("," {item}){{{max(fewest - 1, 0)},{most - 1}}}'
    some = f'"[" {item} {more} "]"'
    return some if fewest > 0 else _either([some, _literal("[]")])


def _number(low: int, high: int, decimals: int) -> str:
    """Alternatives that together spell exactly the numbers ``low`` to ``high``, in units of ``10 ** -decimals``."""
    spelled = []
    if low < 0:
        spelled += [f'"-" {digits}' for digits in _digits(max(-high, 1), -low, decimals)]
    if high >= 0:
        spelled += _digits(max(low, 0), high, decimals)
    return _either(spelled)


def _digits(low: int, high: int, decimals: int) -> list[str]:
    """The same for numbers of 0 and above, one alternative for each run of digit ranges."""
    found = []
    for width in range(decimals + 1, max(len(str(high)), decimals + 1) + 1):
        first = 0 if width == decimals + 1 else 10 ** (width - 1)
        begin, end = max(low, first), min(high, 10**width - 1)
        if begin <= end:
            found += [_spelled(run, decimals) for run in _runs(str(begin).zfill(width), str(end).zfill(width))]
    return found


def _runs(low: str, high: str) -> list[list[tuple[str, str]]]:
    """Split the numbers between two of equal width into products of digit ranges."""
    if not low:
        return [[]]
    if set(low) == {"0"} and set(high) == {"9"}:
        return [[("0", "9")] * len(low)]
    if low[0] == high[0]:
        return [[(low[0], low[0]), *rest] for rest in _runs(low[1:], high[1:])]
    rest_low, rest_high = low[1:], high[1:]
    nines, zeros = "9" * len(rest_low), "0" * len(rest_low)
    first, last = int(low[0]), int(high[0])
    before, after = [], []
    if rest_low != zeros:
        before, first = [[(low[0], low[0]), *rest] for rest in _runs(rest_low, nines)], first + 1
    if rest_high != nines:
        after, last = [[(high[0], high[0]), *rest] for rest in _runs(zeros, rest_high)], last - 1
    middle = [[(str(first), str(last)), *[("0", "9")] * len(rest_low)]] if first <= last else []
    return [*before, *middle, *after]


def _spelled(run: list[tuple[str, str]], decimals: int) -> str:
    digits = [_literal(a) if a == b else f"[{a}-{b}]" for a, b in run]
    if decimals:
        digits.insert(len(digits) - decimals, _literal("."))
    return " ".join(digits)


def _longest(shape: Shape) -> int:
    match shape:
        case Record(fields):
            return 1 + sum(len(_json(name)) + 2 + _longest(field) for name, field in fields.items())
        case Choice(values):
            return max(len(_json(value)) for value in values)
        case Truth():
            return len("false")
        case Maybe(value):
            return max(_longest(value), len("null"))
        case Text(_, longest):
            return longest + 2
        case Items(item, _, most):
            return max(2, most * (_longest(item) + 1) + 1)
        case Number(low, high, decimals):
            return max(_spelled_length(low, decimals), _spelled_length(high, decimals))


def _spelled_length(units: int, decimals: int) -> int:
    return max(len(str(abs(units))), decimals + 1) + (decimals > 0) + (units < 0)


def _either(options: Iterable[str]) -> str:
    listed = list(options)
    return listed[0] if len(listed) == 1 else f"({' | '.join(listed)})"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _literal(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
