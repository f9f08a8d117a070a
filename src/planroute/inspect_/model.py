"""A model of Inspect as a model of planroute: every provider that Inspect knows, as ``inspect:PROVIDER/MODEL``."""

from typing import Any, Final
from urllib.parse import urlencode

from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.util import LimitExceededError

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError
from planroute.inspect_.exchange import to_config, to_messages, to_reply
from planroute.inspect_.faults import model_error
from planroute.models.live import public_url

_IN_REQUESTS: Final = {"temperature", "top_p", "max_tokens", "seed", "stop_seqs", "response_schema"}
_OF_TRANSPORT: Final = {
    "max_retries",
    "timeout",
    "attempt_timeout",
    "stream_idle_timeout",
    "max_connections",
    "adaptive_connections",
    "cache",
    "cache_prompt",
    "batch",
    "extra_headers",
    "fail_on_refusal",
}
RETRIES: Final = 4
"""Attempts after the first, outside of an evaluation, which has a setting for them."""
_SECRET: Final = ("key", "token", "secret", "password", "credential")


def identity(model: Model, config: GenerateConfig) -> str:
    """Return a name for ``model`` that differs whenever its answers may: provider, address, arguments, settings.

    What is part of a request, and what only changes how it is carried, is left out; so is everything secret.
    """
    settings: dict[str, Any] = config.model_dump(exclude=_IN_REQUESTS | _OF_TRANSPORT, exclude_none=True)
    if model.api.base_url:
        settings["base_url"] = public_url(model.api.base_url)
    settings |= {
        name: value for name, value in model.model_args.items() if not any(word in name.lower() for word in _SECRET)
    }
    query = urlencode(sorted((name, str(value)) for name, value in settings.items()))
    return f"inspect:{model}{'?' if query else ''}{query}"


class InspectModel:
    """``model`` of Inspect behind planroute's protocol.

    Its tokens count in Inspect and in planroute's ledger. Retries are Inspect's own. A limit of Inspect passes through
    as Inspect's error; everything else that a provider raises becomes one of planroute's.
    """

    def __init__(self, model: Model) -> None:
        self.model = model

    def __repr__(self) -> str:
        return f"InspectModel({self.endpoint})"

    @property
    def endpoint(self) -> str:
        """What Inspect calls it, with its address and settings; planroute's own models keep their own."""
        own = getattr(self.model.api, "planroute_endpoint", None)
        return own if isinstance(own, str) else identity(self.model, self.model.config)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` through Inspect, with what ``request`` says before what the evaluation says."""
        messages, config = to_messages(request), to_config(request)
        try:
            output = await self.model.generate(messages, config=config)
        except LimitExceededError:
            raise
        except Exception as error:
            meant = model_error(error, str(self.model), passing=bool(self.model.api.should_retry(error)))
            if meant is None or meant is error:
                raise
            raise meant from error
        return to_reply(output)

    async def aclose(self) -> None:
        """Close the provider's connections."""
        await self.model.api.aclose()


def open_inspect(name: str, base_url: str | None = None) -> InspectModel:
    """Return the model ``PROVIDER/MODEL`` of Inspect, which tries again a few times and not for ever.

    Raises ``InputError`` where there is no such provider, and ``ModelError`` where it cannot be opened.
    """
    config = GenerateConfig(max_retries=RETRIES)
    try:
        return InspectModel(get_model(name, config=config, base_url=base_url, memoize=False))
    except ValueError as error:
        raise InputError(f"inspect:{name}: {error}", hint="inspect:PROVIDER/MODEL, as Inspect writes it") from None
    except Exception as error:
        meant = model_error(error, name)
        if meant is None:
            raise
        raise meant from None
