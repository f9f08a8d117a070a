"""A JSON schema as a tree of small records: what a grammar and a scripted answer are made from.

Covers what pydantic emits for flat answers: enumerations, text, whole and decimal numbers with bounds, truth values,
``| None``, lists, and records of these inside one another. Anything else is an ``InputError`` that names the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from planroute.errors import InputError

LONGEST_TEXT: Final = 200
"""Characters of a text whose schema gives no ``maxLength``."""
LONGEST_LIST: Final = 8
"""Items of a list whose schema gives no ``maxItems``."""
LARGEST: Final = 999_999
"""Magnitude of a number whose schema leaves a side open."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some JSON scalars."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A string of ``shortest`` to ``longest`` characters."""

    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``low`` to ``high``, both in units of ``10 ** -decimals``."""

    low: int
    high: int
    decimals: int


@dataclass(frozen=True, slots=True)
class Truth:
    """``true`` or ``false``."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list of ``fewest`` to ``most`` items of one shape."""

    item: "Shape"
    fewest: int
    most: int


@dataclass(frozen=True, slots=True)
class Maybe:
    """``null`` or a value."""

    value: "Shape"


@dataclass(frozen=True, slots=True)
class Record:
    """An object with these fields, in this order. ``defaults`` holds those that the schema gives."""

    fields: Mapping[str, "Shape"]
    defaults: Mapping[str, Any]


Shape = Choice | Text | Number | Truth | Items | Maybe | Record


def record_of(schema: Mapping[str, Any]) -> Record:
    """Return the shape of an object's ``schema``. Raises ``InputError`` where it cannot be expressed."""
    shape = _shape(schema, schema, "answer", 0)
    if not isinstance(shape, Record):
        raise InputError("the schema of an answer must be an object with properties")
    return shape


def _shape(schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> Shape:
    if depth > 16:
        raise InputError(f"{path}: a schema that nests this deep, or contains itself, is not supported")
    if "$ref" in schema:
        return _shape(_resolved(schema["$ref"], root, path), root, path, depth + 1)
    if len(parts := schema.get("allOf", ())) == 1:
        return _shape(parts[0], root, path, depth + 1)
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _optional(options, root, path, depth)
    if "const" in schema:
        return Choice((schema["const"],))
    if "enum" in schema:
        return Choice(tuple(schema["enum"]))
    match schema.get("type"):
        case "boolean":
            return Truth()
        case "null":
            return Choice((None,))
        case "integer":
            return _number(schema, 0, path)
        case "number":
            return _number(schema, 2, path)
        case "string" if not {"pattern", "format"} & set(schema):
            shortest = int(schema.get("minLength", 0))
            return Text(shortest, int(schema.get("maxLength", max(LONGEST_TEXT, shortest))))
        case "array" if "items" in schema and "prefixItems" not in schema:
            fewest = int(schema.get("minItems", 0))
            most = int(schema.get("maxItems", max(LONGEST_LIST, fewest)))
            return Items(_shape(schema["items"], root, f"{path}[]", depth + 1), fewest, most)
        case "object" if schema.get("properties"):
            inner = schema["properties"]
            return Record(
                {name: _shape(part, root, f"{path}.{name}", depth + 1) for name, part in inner.items()},
                {name: part["default"] for name, part in inner.items() if "default" in part},
            )
        case [kind, "null"] | ["null", kind]:
            return Maybe(_shape({**schema, "type": kind}, root, path, depth + 1))
    raise InputError(
        f"{path}: {_described(schema)} is not supported in an answer's schema",
        hint="use enumerations, bounded numbers, texts, truth values, and lists or objects of these",
    )


def _described(schema: Mapping[str, Any]) -> str:
    known = {k: v for k, v in schema.items() if k in ("type", "format", "pattern", "additionalProperties")}
    return str(known)[:80] if known else "a schema without a type"


def _resolved(reference: str, root: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    target: Any = root
    for part in reference.removeprefix("#/").split("/"):
        target = target.get(part) if isinstance(target, Mapping) else None
    if not reference.startswith("#/") or not isinstance(target, Mapping):
        raise InputError(f"{path}: $ref {reference!r} leads nowhere")
    return target


def _optional(options: list[Mapping[str, Any]], root: Mapping[str, Any], path: str, depth: int) -> Shape:
    shapes = [_shape(option, root, path, depth + 1) for option in options if option.get("type") != "null"]
    if all(isinstance(shape, Choice) for shape in shapes):
        both: list[Any] = [value for shape in shapes if isinstance(shape, Choice) for value in shape.values]
        shapes = [Choice(tuple(both))]
    if len(shapes) != 1:
        raise InputError(f"{path}: a choice between several types is not supported in an answer's schema")
    return Maybe(shapes[0]) if len(shapes) < len(options) else shapes[0]


def _number(schema: Mapping[str, Any], decimals: int, path: str) -> Number:
    """The admissible values as whole multiples of a unit, so that no bound is lost to binary fractions."""
    if "multipleOf" in schema:
        raise InputError(f"{path}: multipleOf is not supported in an answer's schema")
    low, high = _units(schema, "inimum", decimals), _units(schema, "aximum", decimals)
    largest = LARGEST * 10**decimals
    low = low if low is not None else min(-largest, high if high is not None else 0)
    high = high if high is not None else max(largest, low)
    if low > high:
        raise InputError(f"{path}: no number with {decimals} decimals lies within the bounds")
    return Number(low, high, decimals)


def _units(schema: Mapping[str, Any], bound: str, decimals: int) -> int | None:
    """The tightest of the inclusive and the exclusive bound; ``bound`` is ``inimum`` or ``aximum``."""
    lower = bound == "inimum"
    found = []
    for key, exclusive in ((f"m{bound}", False), (f"exclusiveM{bound}", True)):
        if (value := schema.get(key)) is None:
            continue
        exact = Decimal(str(value)).scaleb(decimals)
        units = int(exact.to_integral_value(ROUND_CEILING if lower else ROUND_FLOOR))
        if exclusive and units == exact:
            units += 1 if lower else -1
        found.append(units)
    return (max if lower else min)(found, default=None)
