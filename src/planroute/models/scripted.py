"""Deterministic models that ship with planroute: no weights, no network, the same answer every time.

They are named ``scripted/NAME`` or ``scripted/NAME?parameter=value`` wherever a model is asked for:

- ``scripted/minimal``: an answer that satisfies the schema: first choices, middles of ranges, short texts.
- ``scripted/declare=MODE``: the same, but a declaration names ``MODE``, with what that mode requires, and otherwise
  the schema's defaults.
- ``scripted/garbage?seed=N``: malformed answers of many kinds.
- ``scripted/echo``: the last message.
- ``scripted/slip=RATE``: solves text tasks, slipping at a known rate (``planroute.models.slip``).

Tokens are counted as words: runs of characters without white space.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError
from planroute.ledger import Usage
from planroute.models.minimal import Script, declaring, minimal
from planroute.modes import Mode


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """Answers with what ``script`` returns for a request.

    ``name`` is part of every call's identity: scripts that answer differently need different names. An answer of
    more words than ``max_tokens`` is cut, with ``finish_reason`` ``"length"``.
    """

    name: str
    script: Script = field(repr=False)

    @property
    def endpoint(self) -> str:
        """``scripted/`` and the name."""
        return f"scripted/{self.name}"

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request`` at once, at no price."""
        text = self.script(request)
        answer_tokens, limit, reason = len(text.split()), request.sampling.max_tokens, "stop"
        if answer_tokens > limit:
            text, answer_tokens, reason = " ".join(text.split()[:limit]), limit, "length"
        prompt_tokens = sum(len(message.content.split()) for message in request.messages)
        usage = Usage(prompt_tokens, answer_tokens, raw={"words": prompt_tokens + answer_tokens})
        return ModelReply(text, usage, finish_reason=reason, price_usd=0.0)

    async def aclose(self) -> None:
        """Nothing is held."""


def echo(request: ModelRequest) -> str:
    """Return the last message of ``request``."""
    return request.messages[-1].content if request.messages else ""


_DAMAGE: Final[tuple[Callable[[str, random.Random], str], ...]] = (
    lambda text, rng: text,
    lambda text, rng: text[: rng.randrange(len(text) + 1)],
    lambda text, rng: text.replace('"', "'"),
    lambda text, rng: text.replace('"', ""),
    lambda text, rng: text.replace("}", ",}"),
    lambda text, rng: text.replace(":", "", 1),
    lambda text, rng: f"Certainly! Here it is:\n```json\n{text}\n```\nShall I go on?",
    lambda text, rng: f"<think>{text[: len(text) // 2]}</think>{text}",
    lambda text, rng: f"<think>{text}",
    lambda text, rng: f"[{text}, {text}]",
    lambda text, rng: json.dumps(text),
    lambda text, rng: json.dumps(dict.fromkeys(json.loads(text), rng.choice([None, -1e9, 1e9, "x", [], {}, "NaN"]))),
    lambda text, rng: json.dumps(dict(list(json.loads(text).items())[rng.randrange(3) :])),
    lambda text, rng: "",
    lambda text, rng: "I cannot help with that.",
    lambda text, rng: "{" * rng.randrange(1, 2000),
)


def garbage(seed: int) -> Script:
    """Return the script of ``scripted/garbage``: a damaged answer, drawn from ``seed`` and the whole request."""

    def script(request: ModelRequest) -> str:
        rng = random.Random(f"{seed} {request.identity('garbage')}")
        text = minimal(request) if request.schema else '{"answer": 1}'
        return rng.choice(_DAMAGE)(text, rng)

    return script


Factory = Callable[[str, Mapping[str, str]], Script]
"""Makes a script from the value after ``=`` (empty if there is none) and the parameters after ``?``."""


def _refuse(name: str, value: str, parameters: Mapping[str, str], *known: str) -> None:
    """Raise ``InputError`` where ``name`` got a value that it does not take, or a parameter that is not ``known``."""
    if value:
        raise InputError(f"scripted/{name} takes no value, got {value!r}")
    for parameter in parameters:
        if parameter not in known:
            hint = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(f"scripted/{name} has no parameter {parameter!r}", hint=hint)


def _fixed(name: str, script: Script) -> Factory:
    def factory(value: str, parameters: Mapping[str, str]) -> Script:
        _refuse(name, value, parameters)
        return script

    return factory


def _declare(value: str, parameters: Mapping[str, str]) -> Script:
    _refuse("declare", "", parameters)
    if value.upper() not in set(Mode):
        raise InputError(f"scripted/declare needs a mode, got {value!r}", hint=f"one of {', '.join(Mode)}")
    return declaring(Mode(value.upper()))


def _garbage(value: str, parameters: Mapping[str, str]) -> Script:
    _refuse("garbage", value, parameters, "seed")
    seed = parameters.get("seed", "0")
    if not seed.isdecimal() or len(seed) > 18:
        raise InputError(f"scripted/garbage needs a whole number as seed, got {seed!r}")
    return garbage(int(seed))


def _slip(value: str, parameters: Mapping[str, str]) -> Script:
    from planroute.models.slip import Slipping

    _refuse("slip", "", parameters, "declare")
    try:
        rate = float(value or "0")
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise InputError(f"scripted/slip needs a rate from 0 to 1, got {value!r}")
    declared = parameters.get("declare", Mode.SEQUENTIAL).upper()
    if declared != "RANDOM" and declared not in set(Mode):
        raise InputError(f"scripted/slip?declare={declared} is no mode", hint=f"one of {', '.join(Mode)} or random")
    return Slipping(rate, None if declared == "RANDOM" else Mode(declared))


FACTORIES: dict[str, Factory] = {
    "minimal": _fixed("minimal", minimal),
    "declare": _declare,
    "garbage": _garbage,
    "echo": _fixed("echo", echo),
    "slip": _slip,
}
"""The scripts by name; add a factory to make another one reachable."""


def scripted(spec: str) -> ScriptedModel:
    """Return the model of ``spec``, which is what follows ``scripted/``. Raises ``InputError``."""
    path, _, query = spec.partition("?")
    name, _, value = path.partition("=")
    if name not in FACTORIES:
        raise InputError(f"there is no scripted model {name!r}", hint=f"choose from {', '.join(sorted(FACTORIES))}")
    pairs = parse_qsl(query, keep_blank_values=True)
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        raise InputError(f"scripted/{name} got a parameter twice")
    return ScriptedModel(spec, FACTORIES[name](value, parameters))
