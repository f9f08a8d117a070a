"""The models that ship with planroute and need nothing."""

import asyncio
import json
from dataclasses import replace
from enum import StrEnum
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.declaration import Replanning
from planroute.errors import InputError, ReplyError
from planroute.models import FACTORIES, ScriptedModel, open_model
from planroute.models.scripted import minimal
from planroute.modes import Mode
from planroute.protocols import Model
from planroute.reply import read_reply


class Colour(StrEnum):
    RED = "RED"
    BLUE = "BLUE"


class Declared(BaseModel):
    mode: Mode
    depth: int = Field(1, ge=1, le=4)
    branching: int = Field(1, ge=1, le=4)
    replanning: Replanning = Replanning.NONE
    intensity: float = Field(0.25, ge=0, le=1)
    colour: Colour


class Other(BaseModel):
    colour: Colour
    share: float = Field(ge=0.2, le=0.4)
    count: int = Field(ge=3, le=9)
    note: str = Field(max_length=12)
    tags: list[Literal["a", "b"]] = Field(min_length=2, max_length=3)
    maybe: float | None = Field(None, ge=0, le=1)
    nested: Declared
    sure: bool


def answer(model: Model, request: ModelRequest) -> ModelReply:
    return asyncio.run(model.complete(request))


def request(schema: type[BaseModel] | None = None, **changes) -> ModelRequest:
    fields = {"purpose": "declaration", "messages": (Message("system", "Be brief."), Message("user", "Go on then"))}
    return ModelRequest(**fields | {"schema": schema and schema.model_json_schema()} | changes)


def test_minimal_answers_any_supported_schema() -> None:
    reply = answer(open_model("scripted/minimal"), request(Other))
    parsed = read_reply(reply.text, Other)
    assert (parsed.repairs, parsed.clips) == ((), ())
    assert parsed.value.model_dump(exclude={"nested"}) == {
        "colour": "RED",
        "share": 0.3,
        "count": 6,
        "note": "note of decl",
        "tags": ["a", "a"],
        "maybe": 0.5,
        "sure": True,
    }


@pytest.mark.parametrize("mode", Mode)
def test_declare_is_type_valid_and_takes_defaults(mode: Mode) -> None:
    model = open_model(f"scripted/declare={mode.lower()}")
    value = read_reply(answer(model, request(Declared)).text, Declared).value
    assert value.mode is mode
    assert value.intensity == 0.25
    assert value.depth == (3 if mode is Mode.HIERARCHICAL else 1)
    assert value.branching == (4 if mode is Mode.SEARCH else 1)
    assert (value.replanning is Replanning.EVERY_STEP) is (mode is Mode.SEQUENTIAL)


def test_declare_answers_other_schemas_and_none() -> None:
    model = open_model("scripted/declare=SEARCH")
    assert answer(model, request(Other)).text == answer(open_model("scripted/minimal"), request(Other)).text
    assert answer(model, request()).text == "A short answer for declaration."


def test_garbage_is_repeatable_varied_and_never_crashes_a_reader() -> None:
    model, again = open_model("scripted/garbage?seed=3"), open_model("scripted/garbage?seed=3")
    texts, read = set(), 0
    for draw in range(200):
        text = answer(model, request(Declared, draw=draw)).text
        assert text == answer(again, request(Declared, draw=draw)).text
        texts.add(text)
        try:
            read_reply(text, Declared)
            read += 1
        except ReplyError:
            pass
    assert len(texts) > 30
    assert 20 < read < 180
    assert model.endpoint != open_model("scripted/garbage?seed=4").endpoint


def test_echo_and_usage_in_words() -> None:
    reply = answer(open_model("scripted/echo"), request())
    assert reply.text == "Go on then"
    assert (reply.usage.prompt_tokens, reply.usage.answer_tokens, reply.price_usd) == (5, 3, 0.0)


def test_the_token_limit_cuts() -> None:
    reply = answer(open_model("scripted/echo"), request(sampling=Sampling(max_tokens=2)))
    assert (reply.text, reply.finish_reason, reply.usage.answer_tokens) == ("Go on", "length", 2)


def test_own_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    own = ScriptedModel("own", lambda asked: asked.purpose.upper())
    assert isinstance(own, Model)
    assert answer(own, request()).text == "DECLARATION"
    monkeypatch.setitem(FACTORIES, "shout", lambda value, parameters: lambda r: value + parameters["end"])
    model = open_model("scripted/shout=ho?end=!")
    assert (answer(model, request()).text, model.endpoint) == ("ho!", "scripted/shout=ho?end=!")
    asyncio.run(model.aclose())


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("scripted/nothing", "no scripted model 'nothing'.*declare, echo, garbage, minimal"),
        ("scripted/declare", "needs a mode, got ''.*PREDEFINED"),
        ("scripted/declare=BOLD", "needs a mode, got 'BOLD'"),
        ("scripted/garbage?seed=x", "whole number"),
        ("scripted/garbage?seed=" + "9" * 5000, "whole number"),
        ("scripted/garbage?sed=1", "no parameter 'sed' — it takes seed"),
        ("scripted/garbage=3", "takes no value, got '3'"),
        ("scripted/garbage?seed=1&seed=2", "a parameter twice"),
        ("scripted/minimal?x=1", "no parameter 'x' — it takes none"),
        ("scripted/minimal=1", "takes no value, got '1'"),
        ("scripted/echo=5", "takes no value, got '5'"),
        ("scripted/declare=SEARCH?x", "no parameter 'x'"),
        ("scripted/slip=0.1?rate=2", "no parameter 'rate' — it takes declare"),
    ],
)
def test_a_wrong_name_is_told(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_model(spec)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object"},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x+"}}},
        {"type": "object", "properties": {"a": {"type": "number", "multipleOf": 0.1}}},
        {"type": "object", "properties": {"a": {"type": "number", "minimum": 0.001, "maximum": 0.004}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "number"}, {"type": "string"}]}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"type": "object", "properties": {"a": {}}},
        {"$ref": "#"},
    ],
)
def test_an_unsupported_schema_is_told(schema: dict) -> None:
    with pytest.raises(InputError):
        minimal(replace(request(), schema=schema))


def test_every_mode_is_json() -> None:
    assert json.loads(answer(open_model("scripted/declare=SEARCH"), request(Declared)).text)["mode"] == "SEARCH"
