"""The two wordings of ALFWorld games, and what can be read from a game's grammar without playing it.

Games of data version 2.1.1 say ``put mug 1 in/on desk 1``, those of 2.1.2 ``move mug 1 to desk 1``. Nothing else that a
player types differs; 2.1.1 also names places by a number on arrival (``You arrive at loc 12.``).
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

Wording = Literal["2.1.1", "2.1.2"]

PLACING: Final[Mapping[str, Wording]] = {"put {o} in/on {r}": "2.1.1", "move {o} to {r}": "2.1.2"}
"""The template of the placing action, and the version that has it."""

TASK_TYPES: Final = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""The six task types, in ALFWorld's own order."""

UNKNOWN_GOAL: Final = "UNKNOWN GOAL"
"""What stands for the goal in a grammar that belongs to no task yet."""

_PLACE_TEMPLATE = re.compile(r'action\s+PutObject\s*\{\s*template\s*::\s*"([^"\n]*)"')
_GOAL = re.compile(r"Your task is to: ?([^\"\n]*)")
_GOAL_FORMS: Final = (
    (r"\b(under|with) the (desk|floor)lamp", "look_at_obj_in_light"),
    (r"\btwo\b", "pick_two_obj_and_place"),
    (r"\bclean\b", "pick_clean_then_place_in_recep"),
    (r"\b(hot|heat)\b", "pick_heat_then_place_in_recep"),
    (r"\b(cool|cold|chill)\b", "pick_cool_then_place_in_recep"),
    (r"^put\b", "pick_and_place_simple"),
)
_BANNER = re.compile(r"^-= Welcome to TextWorld, ALFRED! =-\s*")
_ARRIVAL = re.compile(r"^You arrive at [^.]*\. ")


def placing_template(grammar: str) -> str:
    """Return the template of the placing action, or an empty string if the grammar has none."""
    found = re.search(_PLACE_TEMPLATE, grammar)
    return found[1].strip() if found else ""


def wording_of(grammar: str) -> Wording | None:
    """Return the version whose wording ``grammar`` has, ``None`` if it has neither."""
    return PLACING.get(placing_template(grammar))


def goal_of(grammar: str) -> str:
    """Return the goal as the player reads it, without the full stop; empty if the grammar names none."""
    found = re.search(_GOAL, grammar)
    goal = found[1].strip().removesuffix(".") if found else ""
    return "" if goal == UNKNOWN_GOAL else goal


def task_type_of(text: str) -> str | None:
    """Return the task type that a goal in ALFWorld's own templates, or a folder's name, belongs to."""
    for name in TASK_TYPES:
        if text.startswith(name):
            return name
    for pattern, name in _GOAL_FORMS:
        if re.search(pattern, text.casefold()):
            return name
    return None


def readable(observation: str) -> str:
    """Drop the banner, and the arrival that only repeats where one went (2.1.1 shows a number there)."""
    return _ARRIVAL.sub("", _BANNER.sub("", observation)).strip()
