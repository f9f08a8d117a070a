"""What may become of a request, how often, and what an account of tokens may look like that cannot be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

import numpy as np

from planroute.errors import InputError


class Fate(StrEnum):
    """What becomes of one request. The first three are answers in time, of which the last lies about its tokens."""

    GOOD = "good"
    SLOW = "slow"
    LYING = "lying"
    REFUSED = "refused"
    LIMITED = "limited"
    PAUSED = "paused"
    FAILING = "failing"
    HANGING = "hanging"
    TRUNCATED = "truncated"
    CUT_OFF = "cut_off"
    GARBAGE = "garbage"
    WRONG_SCHEMA = "wrong_schema"


ANSWERED: Final = frozenset({Fate.GOOD, Fate.SLOW, Fate.LYING})


@dataclass(frozen=True)
class Faults:
    """The share of requests that meet each fate; the rest is answered well, at once.

    ``slow``: answered after ``slow_s``. ``lying``: the account of tokens is wrong or missing. ``refused``: 401.
    ``limited``: 429; ``paused``: 429 with ``Retry-After: retry_after_s``. ``failing``: 500. ``hanging``: no answer
    until the client leaves. ``truncated``: the body is shorter than its ``Content-Length``. ``cut_off``: a chunked
    body without its end. ``garbage``: no JSON. ``wrong_schema``: JSON without choices. Raises ``InputError`` where a
    share is not between 0 and 1 or their sum is larger.
    """

    slow: float = 0.0
    lying: float = 0.0
    refused: float = 0.0
    limited: float = 0.0
    paused: float = 0.0
    failing: float = 0.0
    hanging: float = 0.0
    truncated: float = 0.0
    cut_off: float = 0.0
    garbage: float = 0.0
    wrong_schema: float = 0.0
    slow_s: float = 0.02
    retry_after_s: float = 0.01

    def __post_init__(self) -> None:
        shares = [share for _, share in self.shares]
        if not all(0 <= share <= 1 for share in shares) or sum(shares) > 1 + 1e-9:
            raise InputError(f"no shares of faults: {shares}", hint="give numbers from 0 that sum up to 1 at most")

    @property
    def shares(self) -> tuple[tuple[Fate, float], ...]:
        """Every fault with its share."""
        return tuple((Fate(each.name), getattr(self, each.name)) for each in fields(self) if not _is_time(each.name))

    @cached_property
    def none(self) -> bool:
        """Whether every request is answered well."""
        return not any(share for _, share in self.shares)

    def fate(self, draw: np.random.Generator) -> Fate:
        """Return the fate that ``draw`` decides on, with one number of it."""
        number = draw.random()
        ends = accumulate(share for _, share in self.shares)
        return next((fate for (fate, _), end in zip(self.shares, ends, strict=True) if number < end), Fate.GOOD)


def _is_time(name: str) -> bool:
    return name.endswith("_s")


def lie(draw: np.random.Generator, prompt: int, completion: int) -> tuple[Mapping[str, Any] | None, int, int]:
    """Return an account of tokens that cannot be trusted, and what of prompt and completion can still be known by it.

    A count that is negative, no number, or too large for any table says nothing; a wrong sum takes nothing away.
    """
    honest = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    lies: tuple[tuple[Mapping[str, Any] | None, int, int], ...] = (
        (None, 0, 0),
        ({}, 0, 0),
        ({name: -count for name, count in honest.items()}, 0, 0),
        ({name: str(count) for name, count in honest.items()}, 0, 0),
        ({**honest, "prompt_tokens": 2**70}, 0, completion),
        ({**honest, "completion_tokens": 10**40}, prompt, 0),
        ({**honest, "completion_tokens": completion + 0.5}, prompt, 0),
        ({**honest, "prompt_tokens": None, "completion_tokens": True}, 0, 0),
        ({**honest, "total_tokens": 1}, prompt, completion),
        ({**honest, "total_tokens": "many", "details": [[[{}]]]}, prompt, completion),
    )
    return lies[int(draw.integers(len(lies)))]
