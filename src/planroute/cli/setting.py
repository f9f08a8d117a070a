"""What the commands set up from their options: scenario, model with its cache, declarer, progress."""

import asyncio
import inspect
import math
from collections.abc import Callable, Coroutine, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from planroute.calls import Sampling
from planroute.cli.options import parse_factors
from planroute.errors import InputError, PlanrouteError
from planroute.modes import Mode
from planroute.protocols import Declarer, Model

if TYPE_CHECKING:
    from planroute.declarers import Demonstration
    from planroute.domains.grid import Scenario
    from planroute.runs.manner import Manner

R = TypeVar("R")


def scenario_from(path: Path | None, pairs: list[str] | None, **defaults: Any) -> "Scenario":
    """Build the scenario of ``--scenario`` and ``--set``; single factors win over the file, both over ``defaults``.

    A default of ``None`` says nothing.
    """
    from planroute.domains.grid import load_scenario, make_scenario

    said = {name: value for name, value in defaults.items() if value is not None}
    given = {**said, **parse_factors(pairs)}
    if path is None:
        return make_scenario(given)
    loaded = load_scenario(path)
    feeder = loaded.feeder if loaded.own_feeder else None
    return make_scenario({**loaded.factors.model_dump(exclude_unset=True), **given}, feeder=feeder)


def declarer_from(
    name: str,
    mode: str | None,
    sampling: Sampling,
    *,
    has_model: bool,
    draw: int = 0,
    shots: "Sequence[Demonstration]" = (),
) -> Declarer:
    """Return the declarer called ``name``. Raises ``InputError`` where it is unknown or misses what it needs."""
    from planroute.declarers import FewShot, Fixed, Hybrid, Natural, Ranked

    if name == "fixed":
        if mode is None or mode.upper() not in set(Mode):
            raise InputError(f"--declarer fixed needs --mode, one of {', '.join(Mode)}")
        return Fixed(Mode(mode.upper()))
    if mode is not None:
        raise InputError("--mode goes with --declarer fixed only")
    if name in ("natural", "ranked", "few_shot") and not has_model:
        raise InputError(f"--declarer {name} needs a language model", hint="name one with --model")
    if name == "natural":
        return Natural(sampling, draw)
    if name == "ranked":
        return Ranked(sampling, draw)
    if name == "few_shot":
        if not shots:
            raise InputError("--declarer few_shot needs --demonstrations RUN", hint="a forced run of two seeds")
        return FewShot(tuple(shots), sampling, draw)
    if name == "hybrid":
        return Hybrid(sampling, draw, prior_only=not has_model)
    raise InputError(f"--declarer {name!r} is unknown", hint="choose from natural, ranked, few_shot, hybrid, fixed")


@contextmanager
def opened_model(
    spec: str | None,
    base_url: str | None,
    cache: Path | None,
    no_cache: bool,
    price: str | None = None,
    manner: "Manner | None" = None,
) -> Iterator[Model | None]:
    """Open the model of ``--model``, behind the call cache unless ``--no-cache``; close the cache at the end.

    A recording needs no cache. ``price`` is what ``--price`` says. Raises ``InputError`` where ``manner`` limits money
    and the model is at an endpoint, which never tells its price, without ``price``.
    """
    if spec is None:
        if price is not None:
            raise InputError("--price goes with --model only")
        if base_url is not None or cache is not None:
            raise InputError("--base-url and --cache go with --model only")
        yield None
        return
    from planroute.models import CachedModel, CallCache, cache_folder, open_model

    model = open_model(spec, base_url=base_url)
    if price is not None:
        from planroute.models.priced import PricedModel, Prices

        model = PricedModel(model, Prices.read(price))
    elif manner is not None and manner.limits_usd:
        from planroute.models import LiveModel

        if isinstance(model, LiveModel):
            raise InputError(
                f"--budget-usd cannot be held: the price of {model.endpoint} is not known",
                hint="give --price PROMPT,ANSWER, in USD per million tokens",
            )
    cached = not no_cache and getattr(model, "cacheable", True)
    calls = CallCache(cache or cache_folder() / "calls.sqlite") if cached else None
    try:
        yield model if calls is None else CachedModel(model, calls)
    finally:
        if calls is not None:
            calls.close()


def manner_from(
    concurrency: int,
    runner: str = "local",
    address: str | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
    budget_seconds: float | None = None,
    episode_seconds: float | None = None,
) -> "Manner":
    """Return how a run is carried out, from the options of these names.

    Raises ``InputError`` for an unknown runner, one whose extra is not installed, an address that goes with none, or a
    budget of nothing.
    """
    from planroute.runs.account import Limits
    from planroute.runs.manner import Manner

    if episode_seconds is not None and not 0 < episode_seconds < math.inf:
        raise InputError(f"--episode-seconds {episode_seconds:g} ends every episode", hint="give a number above 0")
    limits = Limits(budget_tokens, budget_usd, budget_seconds)
    name = runner.strip().lower()
    if name == "ray":
        from planroute.runs.on_ray import OnRay

        return Manner(concurrency, OnRay(address), limits, episode_seconds)
    if name != "local":
        raise InputError(f"--runner {runner!r} is unknown", hint="choose local or ray")
    if address is not None:
        raise InputError("--address goes with --runner ray only")
    return Manner(concurrency, limits=limits, ends_after_s=episode_seconds)


def manner_of(options: MutableMapping[str, Any]) -> "Manner":
    """Take what ``manner_from`` takes out of ``options``, by name, and return what it makes of them."""
    names = inspect.signature(manner_from).parameters
    return manner_from(**{name: options.pop(name) for name in names if name in options})


def run(work: Coroutine[Any, Any, R], *models: Model | None) -> R:
    """Run ``work`` to its end, and close ``models`` in the same event loop."""

    async def whole() -> R:
        try:
            return await work
        finally:
            for model in models:
                if model is not None:
                    await model.aclose()

    try:
        return asyncio.run(whole())
    except KeyboardInterrupt:
        raise PlanrouteError(
            "interrupted", hint="what was finished is kept; the same command goes on from there"
        ) from None


@contextmanager
def progress(total: int, what: str, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Show a bar on standard error while cells finish; nothing where nobody looks."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
