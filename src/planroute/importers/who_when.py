"""Logs of talk among agents, as Who&When keeps them: one gold label says whose turn decided the failure.

A log is ``{history, question, ...}`` with ``mistake_agent``, ``mistake_step`` (a text) and ``mistake_reason`` as its
label. In algorithm-generated logs the speaker is the ``name`` of a message, in hand-crafted ones its ``role``, which
may carry what the turn is for: "Orchestrator (thought)" is the orchestrator.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from planroute.errors import InputError
from planroute.importers.trajectory import Trajectory, mapping, sequence, text_of, verdict

Kind = Literal["algorithm-generated", "hand-crafted"]

ENVIRONMENT = frozenset({"computer_terminal", "human", "user"})
"""Speakers that are nobody's agent: what runs code, and who asks."""

_PURPOSE = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: its speaker, what was said, and what the environment answered at once, where it did.

    Turns of the environment are turns too, so that places count as in the log.
    """

    agent: str
    text: str
    outcome: str = ""
    environment: bool = False


@dataclass(frozen=True, slots=True)
class Gold:
    """Whose turn decided the failure by the log's own label: agent, turn from 0, reason."""

    agent: str
    step: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A log: the question, the turns, and apart from them the label, ``None`` where there is none."""

    id: str
    task: str
    kind: Kind
    turns: tuple[Turn, ...]
    gold: Gold | None


def is_conversation(document: Any) -> bool:
    """Whether ``document`` is such a log: a question and a history of turns, each with a speaker."""
    if not isinstance(document, Mapping) or "question" not in document or "trajectory" in document:
        return False
    history = document.get("history")
    return isinstance(history, list) and all(
        isinstance(turn, Mapping) and "content" in turn and ("name" in turn or "role" in turn) for turn in history
    )


def conversation(document: Any, name: str) -> Conversation:
    """Read one log. Raises ``InputError`` where it is none, or where its label names no turn of it."""
    if not is_conversation(document):
        raise InputError(f"{name} is no log of talk among agents: it needs question and history")
    history = sequence(document["history"], f"{name}: history")
    named = any("name" in turn for turn in history)
    turns = [Turn(agent, text_of(turn["content"]), environment=_outside(agent)) for turn, agent in _spoken(history)]
    for place, turn in enumerate(turns[:-1]):
        if turns[place + 1].environment and not turn.environment:
            turns[place] = replace(turn, outcome=turns[place + 1].text)
    kind: Kind = "algorithm-generated" if named else "hand-crafted"
    return Conversation(name, text_of(document["question"]), kind, tuple(turns), _gold(document, name, len(turns)))


def read_conversation(data: bytes, name: str) -> Conversation:
    """Read one log from the bytes of its file. Raises ``InputError``, and nothing else."""
    try:
        return conversation(json.loads(data.decode("utf-8-sig")), name)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from None


def who_when(document: Any, name: str) -> list[Trajectory]:
    """Read a log as a trajectory: talk declares no plan that could be told from its turns, and holds no actions."""
    found = conversation(document, name)
    record = mapping(document, name)
    success = verdict(record.get("is_correct", record.get("is_corrected")), f"{name}: is_correct")
    return [Trajectory(name, "who-when", found.task, (), (), success)]


def speaker(name: str) -> str:
    """The agent whose turn it is, without what the turn is for.

    >>> speaker("Orchestrator (-> WebSurfer)")
    'Orchestrator'
    """
    return _PURPOSE.sub("", name).strip() or name.strip()


def _spoken(history: Any) -> list[tuple[Mapping[str, Any], str]]:
    return [(turn, speaker(str(turn.get("name") or turn.get("role") or ""))) for turn in history]


def _outside(agent: str) -> bool:
    return agent.lower() in ENVIRONMENT


def _gold(document: Mapping[str, Any], name: str, turns: int) -> Gold | None:
    agent, step = document.get("mistake_agent"), document.get("mistake_step")
    if agent is None and step is None:
        return None
    if not isinstance(agent, str) or not agent.strip():
        raise InputError(f"{name}: mistake_agent: not the name of an agent")
    if not re.fullmatch(r"\s*[0-9]{1,6}\s*", str(step)) or int(str(step)) >= turns:
        raise InputError(f"{name}: mistake_step: {str(step)[:40]!r} is no turn of the {turns} from 0")
    return Gold(speaker(agent), int(str(step)), text_of(document.get("mistake_reason")))
