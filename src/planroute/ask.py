"""Asking a language model: call and record it; for a typed answer, read it and record what had to be mended."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.errors import ModelMissing
from planroute.ledger import without_raw
from planroute.protocols import Context
from planroute.reply import Parsed, read_reply
from planroute.trace import Mended, ModelCalled

S = TypeVar("S", bound=BaseModel)


async def call(context: Context, request: ModelRequest) -> ModelReply:
    """Put ``request`` to the episode's model and record the call in the trace.

    Raises ``ModelMissing`` where the episode has no model, and every other ``ModelError`` and ``BudgetExceeded`` as
    the model does.
    """
    model = context.model
    if model is None:
        raise ModelMissing(f"{request.purpose} needs a language model", hint="name one with --model")
    reply = await model.complete(request)
    endpoint = model.endpoint
    context.trace.append(
        ModelCalled(
            request.purpose, endpoint, request.identity(endpoint), without_raw(reply.usage), reply.finish_reason
        )
    )
    return reply


@lru_cache(maxsize=256)
def wanted(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema that a model is asked to fill in: every field, also those with a default.

    Engines and endpoints then ask for the same answer; a field that is missing all the same takes its default.
    The same object comes for every call: it must not be changed.
    """
    asked = schema.model_json_schema()
    return {**asked, "required": list(asked.get("properties", {})), "additionalProperties": False}


async def ask(
    context: Context,
    purpose: str,
    system: str,
    user: str,
    schema: type[S],
    *,
    sampling: Sampling | None = None,
    draw: int = 0,
    json_schema: Mapping[str, Any] | None = None,
) -> Parsed[S]:
    """Ask for an answer of the form ``schema``; ``json_schema`` narrows what the engine allows, where it can.

    Raises ``ModelError`` where the model does not answer and ``ReplyError`` where its answer cannot be read; in the
    latter case the call is charged. Repairs and clippings are recorded in the trace.
    """
    request = ModelRequest(
        purpose=purpose,
        messages=(Message("system", system), Message("user", user)),
        sampling=sampling or Sampling(),
        schema=wanted(schema) if json_schema is None else json_schema,
        draw=draw,
    )
    reply = await call(context, request)
    parsed = read_reply(reply.text, schema)
    if parsed.repairs or parsed.clips:
        clips = tuple((clip.field, clip.given, clip.used) for clip in parsed.clips)
        context.trace.append(Mended(purpose, parsed.repairs, clips))
    return parsed
