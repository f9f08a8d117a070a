"""One call as planroute has it and as Inspect has it, in both directions.

What Inspect has no place for (the purpose of a call, its draw, whether to think) travels in the metadata of the last
message, which providers do not send; the log shows it there.
"""

from collections.abc import Sequence
from typing import Any, Final

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from planroute.calls import Message, ModelReply, ModelRequest, Role, Sampling
from planroute.errors import ModelRefused
from planroute.inspect_.schema import response_schema, schema_of
from planroute.inspect_.secrets import without_keys
from planroute.ledger import Usage
from planroute.models.usage import normalised

KEY: Final = "planroute"
"""Under what planroute's own stands in the metadata of messages, outputs and samples."""

_STOPS: Final[dict[str, StopReason]] = {
    "stop": "stop",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
_REASONS: Final[dict[str, str]] = {"max_tokens": "length", "model_length": "length"}


def to_messages(request: ModelRequest) -> list[ChatMessage]:
    """Return the messages of ``request``; the last one carries what Inspect has no place for."""
    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    messages: list[ChatMessage] = [kinds[each.role](content=each.content) for each in request.messages]
    told: dict[str, Any] = {"purpose": request.purpose}
    if request.draw:
        told["draw"] = request.draw
    if request.sampling.thinking is not None:
        told["thinking"] = request.sampling.thinking
    if messages:
        messages[-1].metadata = {KEY: told}
    return messages


def to_config(request: ModelRequest) -> GenerateConfig:
    """Return the sampling and schema of ``request``. Raises ``ModelRefused`` where it brings tools.

    ``top_p`` is left out where it is 1, since some providers take it or the temperature but not both. ``thinking``
    becomes a reasoning effort: medium or none.
    """
    if request.tools:
        raise ModelRefused(f"{request.purpose} brings tools, and none are handed on to Inspect")
    sampling = request.sampling
    efforts: dict[bool | None, Any] = {None: None, True: "medium", False: "none"}
    return GenerateConfig(
        temperature=sampling.temperature,
        top_p=None if sampling.top_p == 1 else sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=None if sampling.seed is None else sampling.seed + request.draw,
        stop_seqs=list(sampling.stop) or None,
        reasoning_effort=efforts[sampling.thinking],
        response_schema=None if request.schema is None else response_schema(request.schema),
    )


def to_request(messages: Sequence[ChatMessage], config: GenerateConfig, *, epoch: int = 1) -> ModelRequest:
    """Return the question that reached a provider.

    One that planroute asked comes out as it went in. Any other has the purpose ``inspect``, planroute's default
    sampling where ``config`` says nothing, and ``epoch`` as its draw, so that epochs do not share answers.
    """
    told = ((messages[-1].metadata or {}).get(KEY) if messages else None) or {"draw": epoch - 1}
    draw, default = int(told.get("draw", 0)), Sampling()
    sampling = Sampling(
        temperature=default.temperature if config.temperature is None else config.temperature,
        top_p=default.top_p if config.top_p is None else config.top_p,
        max_tokens=config.max_tokens or default.max_tokens,
        seed=None if config.seed is None else config.seed - draw,
        stop=tuple(config.stop_seqs or ()),
        thinking=told.get("thinking"),
    )
    turns = tuple(Message(_role(message), message.text) for message in messages)
    return ModelRequest(str(told.get("purpose", "inspect")), turns, sampling, schema_of(config), draw=draw)


def to_output(reply: ModelReply, model: str) -> ModelOutput:
    """Return ``reply`` as the output of a provider: its usage is the recorded one, whoever answered."""
    usage = reply.usage
    counted = ModelUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.answer_tokens + usage.thinking_tokens,
        total_tokens=usage.total_tokens,
        reasoning_tokens=usage.thinking_tokens or None,
        total_cost=reply.price_usd,
    )
    text = ContentText(text=reply.text)
    content = [ContentReasoning(reasoning=reply.thinking), text] if reply.thinking else reply.text
    message = ChatMessageAssistant(content=content, model=model, source="generate")
    stop = _STOPS.get(reply.finish_reason, "unknown")
    told = {"billed": reply.billed, "latency_s": reply.latency_s, "raw_usage": dict(usage.raw)}
    return ModelOutput(
        model=model,
        choices=[ChatCompletionChoice(message=message, stop_reason=stop)],
        usage=counted,
        metadata={KEY: told},
    )


def to_reply(output: ModelOutput) -> ModelReply:
    """Return what a provider answered, its tokens normalised. A call that planroute's cache answered is not billed."""
    if not output.choices:
        raise ModelRefused(f"{output.model} answered nothing{f': {output.error}' if output.error else ''}")
    content = output.message.content
    parts = [] if isinstance(content, str) else content
    thinking = "\n".join(part.reasoning for part in parts if isinstance(part, ContentReasoning))
    told = (output.metadata or {}).get(KEY, {})
    return ModelReply(
        text=without_keys(output.message.text),
        usage=_usage(output.usage, output.message.text, thinking, told.get("raw_usage")),
        thinking=without_keys(thinking),
        finish_reason=_REASONS.get(output.stop_reason, output.stop_reason),
        latency_s=float(told.get("latency_s", output.time or 0.0)),
        billed=bool(told.get("billed", True)),
        price_usd=output.usage.total_cost if output.usage else None,
    )


def _usage(usage: ModelUsage | None, answer: str, thinking: str, raw: dict[str, Any] | None) -> Usage:
    """Inspect counts cached prompt tokens apart from the others; planroute counts all that were read."""
    if usage is None:
        return Usage()
    if raw is not None:
        thought = usage.reasoning_tokens or 0
        return Usage(usage.input_tokens, usage.output_tokens - thought, thought, raw)
    prompt = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    terms = {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }
    counted = normalised(terms, answer, thinking)
    return Usage(
        counted.prompt_tokens, counted.answer_tokens, counted.thinking_tokens, usage.model_dump(exclude_none=True)
    )


def _role(message: ChatMessage) -> Role:
    return message.role if message.role in ("system", "assistant") else "user"
