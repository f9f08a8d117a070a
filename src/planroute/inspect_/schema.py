"""JSON schemas on their way through Inspect, whose own schema type knows no references and drops what it does not know.

The schema that every provider gets is written out without references. The whole one travels beside it, unseen by
providers other than planroute's own.
"""

from collections.abc import Mapping
from typing import Any, Final

from inspect_ai.model import GenerateConfig, ResponseSchema
from inspect_ai.util import JSONSchema
from pydantic import Field

DEEPEST: Final = 8
"""Levels to which references are followed; a schema that refers to itself accepts anything below."""


class WholeSchema(ResponseSchema):
    """A response schema with the one that planroute asked for; ``whole`` goes to no log and no endpoint."""

    whole: dict[str, Any] = Field(exclude=True)


def response_schema(schema: Mapping[str, Any]) -> WholeSchema:
    """Return ``schema`` as Inspect sends it."""
    plain = written_out(schema, schema.get("$defs", {}))
    return WholeSchema(name="answer", json_schema=JSONSchema.model_validate(plain), whole=dict(schema))


def schema_of(config: GenerateConfig) -> dict[str, Any] | None:
    """Return the schema of a call, whole where planroute sent it."""
    asked = config.response_schema
    if asked is None:
        return None
    return asked.whole if isinstance(asked, WholeSchema) else asked.json_schema.model_dump(exclude_none=True)


def written_out(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """Return ``schema`` with every reference replaced by what it names, and constants as enumerations of one."""
    if isinstance(schema, list):
        return [written_out(part, definitions, depth) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        if depth == DEEPEST:
            return {}
        named = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return written_out({**named, **beside}, definitions, depth + 1)
    plain = {key: value for key, value in schema.items() if key not in ("$defs", "const", "oneOf")}
    if "const" in schema:
        plain["enum"] = [schema["const"]]
    if "oneOf" in schema:
        plain["anyOf"] = schema["oneOf"]
    for key in ("items", "anyOf", "additionalProperties"):
        if key in plain:
            plain[key] = written_out(plain[key], definitions, depth)
    if "properties" in plain:
        plain["properties"] = {
            name: written_out(part, definitions, depth) for name, part in schema["properties"].items()
        }
    return plain
