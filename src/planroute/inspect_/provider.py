"""planroute's models as a provider of Inspect: ``--model planroute/embedded``, ``planroute/scripted/slip=0.1``, …

The call cache stands inside the provider. To Inspect a known question is a call like any other: it is counted, with
the usage that it had when it was live, and limits apply; only nobody is asked again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, get_model
from inspect_ai.tool import ToolChoice, ToolInfo

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import PlanrouteError
from planroute.inspect_.exchange import to_config, to_messages, to_output, to_reply, to_request
from planroute.inspect_.faults import PrerequisiteError, current_epoch
from planroute.inspect_.model import identity
from planroute.models import CachedModel, CallCache, cache_folder, open_model
from planroute.models.spec import holds_a_secret, public_spec
from planroute.protocols import Model

OTHERS = "inspect:"
"""``planroute/inspect:PROVIDER/MODEL`` is another provider of Inspect behind planroute's call cache."""


class Uncounted:
    """Another provider of Inspect, asked directly: planroute's provider around it counts, retries and limits.

    ``config`` holds what a call's settings say beyond its request.
    """

    def __init__(self, name: str, config: GenerateConfig, base_url: str | None, arguments: Mapping[str, Any]) -> None:
        self.model = get_model(name, config=config, base_url=base_url, memoize=False, **arguments)
        self.config = config

    @property
    def endpoint(self) -> str:
        """The provider's model with its settings."""
        return identity(self.model, self.config)

    def under(self, config: GenerateConfig) -> "Uncounted":
        """Return the same provider under the settings of one call."""
        other = object.__new__(Uncounted)
        other.model, other.config = self.model, config
        return other

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Ask once. Raises what the provider raises, so that its own rules for retries apply."""
        config = self.config.merge(to_config(request))
        answer = await self.model.api.generate(to_messages(request), [], "auto", config)
        output = answer[0] if isinstance(answer, tuple) else answer
        if isinstance(output, Exception):
            raise output
        return to_reply(output)

    async def aclose(self) -> None:
        """Close the provider's connections."""
        await self.model.api.aclose()


class PlanrouteAPI(ModelAPI):
    """The model of planroute's line ``model_name``, behind the call cache.

    Arguments (``-M``): ``cache`` names the cache's file, ``no_cache=true`` uses none; with ``inspect:PROVIDER/MODEL``
    all others go to that provider.
    """

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - Inspect's own signature
        cache: str | None = None,
        no_cache: bool = False,
        **arguments: Any,
    ) -> None:
        for address in (model_name, base_url):
            if address is not None and holds_a_secret(address):
                raise PrerequisiteError(
                    f"planroute/{public_spec(address)}: give no user, password or key in an address, as Inspect writes "
                    "addresses to its logs. Keys are read from PLANROUTE_API_KEY"
                )
        super().__init__(model_name, base_url, api_key, [], config)
        try:
            self.backbone: Model
            if model_name.startswith(OTHERS):
                self.backbone = Uncounted(model_name.removeprefix(OTHERS), config, base_url, arguments)
            elif arguments:
                raise PrerequisiteError(f"planroute/{model_name} takes no argument {', '.join(arguments)}")
            else:
                self.backbone = open_model(model_name, base_url=base_url)
            self.calls = None if no_cache else CallCache(Path(cache) if cache else cache_folder() / "calls.sqlite")
        except PlanrouteError as error:
            raise PrerequisiteError(str(error)) from None
        self._behind: dict[str, Model] = {}

    @property
    def planroute_endpoint(self) -> str:
        """The model's own name, which is part of every call's identity."""
        return self.backbone.endpoint

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """Answer from the cache, or ask the model and keep the answer."""
        if tools:
            raise PrerequisiteError(f"planroute/{self.model_name} takes no tools")
        request = to_request(input, config, epoch=current_epoch())
        return to_output(await self._model(config).complete(request), self.model_name)

    def _model(self, config: GenerateConfig) -> Model:
        """The model, behind the cache, under the settings of one call; equal ones share calls under way."""
        model = self.backbone.under(config) if isinstance(self.backbone, Uncounted) else self.backbone
        if self.calls is None:
            return model
        return self._behind.setdefault(model.endpoint, CachedModel(model, self.calls))

    def should_retry(self, ex: Exception) -> Any:
        """Planroute's own models have tried again themselves; other providers decide."""
        return self.backbone.model.api.should_retry(ex) if isinstance(self.backbone, Uncounted) else False

    def connection_key(self) -> str:
        """One pool of connections for each model."""
        return self.planroute_endpoint

    async def aclose(self) -> None:
        """Close the model and its cache."""
        await self.backbone.aclose()
        if self.calls is not None:
            self.calls.close()
