"""Where a failure was decided: whose turn it was, from what was said and what came of it, and from nothing else.

Planning-as-Routing (appendix A) attributes a failure to a part of the handoff; this goes on to agent and turn. The
rules are the project's own: fixed words and outcomes, no model, no label, no right answer. They were developed on ten
algorithm-generated logs of Who&When; ``docs/location.md`` says how well they do on others.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from planroute.errors import InputError

FAILED: Final = re.compile(
    r"exit ?code: ?(?!0\b)-?\d+|<returncode>(?!0<)-?\d+</returncode>|traceback \(most recent call last\)"
    r"|\b[A-Z]\w*(?:Error|Exception)\b: |\[errno \d+\]|execution failed|there is no code from the last",
    re.IGNORECASE,
)
"""An outcome that says of itself that it failed."""
INVENTED: Final = re.compile(
    r"\bhypothetical(?:ly)?\b|\bplaceholders?\b|\bpath[/_]to[/_]"
    r"|\b(?:mock|dummy|made-up|simulated) (?:data|values?|results?)|\bX{4}\b|\blet'?s assume\b"
    r"|\bassuming (?:we|that we|i) ",
    re.IGNORECASE,
)
"""Words of somebody who goes on with data that nobody has."""
CONCLUDED: Final = re.compile(
    r"\bconclusion\b|\bwe conclude\b|\bfinal (?:answer|output|result)\b|\*\*(?:output|answer|result)\b"
    r"|\bformatted output\b|\b(?:has|have) been (?:confirmed|verified)\b|\bcan be verified\b|\bterminate\b",
    re.IGNORECASE,
)
"""Words of somebody who states a result."""
CODE: Final = re.compile(r"^\s*(?:```|~~~)\s*(?:python|sh|bash|shell|sql|r|javascript)\b", re.IGNORECASE | re.MULTILINE)
REPEATS: Final = 3
"""From which occurrence on the same turn of the same agent with the same outcome is a loop."""
SHORTEST: Final = 40
"""Characters below which an equal turn is no loop: people agree, and say so, twice."""


class Turn(Protocol):
    """One turn as the locator sees it; places count all turns from 0, also those of the environment."""

    @property
    def agent(self) -> str:
        """Whose turn it is."""

    @property
    def text(self) -> str:
        """What was said or done."""

    @property
    def outcome(self) -> str:
        """What the environment answered at once; empty where it did not."""

    @property
    def environment(self) -> bool:
        """Whether it is the environment that speaks, or who asks."""


@dataclass(frozen=True, slots=True)
class Location:
    """A turn to which a failure is attributed: agent, place from 0, the rule that found it, and why in words."""

    agent: str
    step: int
    rule: str
    reason: str


def locate(turns: Sequence[Turn], divergence: int | None = None) -> Location:
    """Locate the turn that decided the failure of ``turns``.

    The earliest turn after the first that does one of these is taken: it goes on with invented data
    (``invented``), states a result though nothing that was run since the last failure has succeeded (``unsupported``),
    does again what was done before with the same outcome (``loop``), or is ``divergence``, where execution left a
    declared plan (``divergence``). Where there is none, the turn that answers the first failed outcome
    (``after_failure``), or caused it where nobody answered (``failure``); otherwise the first turn whose code was run,
    and where none was the first after the opening (``fallback``).

    Raises ``InputError`` where no agent has a turn.
    """
    agents = [place for place, turn in enumerate(turns) if not turn.environment]
    if not agents:
        raise InputError("no agent has a turn: there is nothing to locate")
    opening = agents[0]
    found = [found for found in _signs(turns, divergence) if found.step > opening or len(agents) == 1]
    if found:
        return min(found, key=lambda one: one.step)
    return _by_failure(turns) or _fallback(turns, agents)


def failed(turn: Turn) -> bool:
    """Whether the outcome of ``turn`` says of itself that it failed."""
    return bool(FAILED.search(turn.outcome))


def _signs(turns: Sequence[Turn], divergence: int | None) -> Iterator[Location]:
    """Every turn that shows a sign, at most one for each turn, in the order of the rules."""
    seen: dict[tuple[str, str, str], int] = {}
    succeeded = False
    for place, turn in enumerate(turns):
        if turn.environment:
            continue
        key = (turn.agent, " ".join(turn.text.split()), " ".join(turn.outcome.split()))
        seen[key] = seen.get(key, 0) + 1
        word = INVENTED.search(turn.text)
        acted = bool(CODE.search(turn.text))
        if place == divergence:
            yield Location(turn.agent, place, "divergence", "execution left the declared plan here")
        elif word:
            yield Location(turn.agent, place, "invented", f"goes on with data that is not there: {word[0]!r}")
        elif not acted and not succeeded and (stated := CONCLUDED.search(turn.text)):
            why = f"states a result ({stated[0]!r}), and nothing that was run has succeeded"
            yield Location(turn.agent, place, "unsupported", why)
        elif seen[key] >= REPEATS and len(turn.text) >= SHORTEST:
            yield Location(turn.agent, place, "loop", "did the same before, with the same outcome")
        if turn.outcome:
            succeeded = not failed(turn)


def _by_failure(turns: Sequence[Turn]) -> Location | None:
    """The turn that answers the first failed outcome; the one that caused it where no agent has answered."""
    for place, turn in enumerate(turns):
        if turn.environment or not failed(turn):
            continue
        for later in range(place + 1, len(turns)):
            if not turns[later].environment:
                why = f"answers the failure of turn {place}"
                return Location(turns[later].agent, later, "after_failure", why)
        return Location(turn.agent, place, "failure", "its outcome is a failure that nobody answered")
    return None


def _fallback(turns: Sequence[Turn], agents: Sequence[int]) -> Location:
    acted = [place for place in agents if turns[place].outcome and CODE.search(turns[place].text)]
    if acted:
        return Location(
            turns[acted[0]].agent, acted[0], "fallback", "no sign of a failure: the first turn that ran code"
        )
    place = agents[1] if len(agents) > 1 else agents[0]
    return Location(turns[place].agent, place, "fallback", "no sign of a failure: the first turn after the opening")
