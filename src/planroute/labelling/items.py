"""What a person is shown of a trajectory: goal, declared plan, actions; no condition, success, verdict or model."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from planroute.importers import Action
from planroute.plan import Logic, PlanUnit


@dataclass(frozen=True, slots=True)
class Item:
    """One trajectory to label.

    ``key`` names it in files of answers and says nothing about it to who reads them. ``lines`` is the plan as it is
    shown, ``leaves`` its executable units by number, ``actions`` those after the plan. ``units`` is the plan itself.
    """

    key: str
    goal: str
    lines: tuple[str, ...]
    leaves: tuple[tuple[str, str], ...]
    actions: tuple[Action, ...]
    units: tuple[PlanUnit, ...] = field(repr=False, default=())


def make_item(identity: str, goal: str, units: Sequence[PlanUnit], actions: Sequence[Action]) -> Item:
    """Return the item of a trajectory. Its key is a hash of ``identity`` and of all that is shown.

    So the same trajectory has the same key for everybody, and another one once anything in it has changed.
    """
    numbered = list(_numbered(units))
    shown = [identity, goal, [(number, text) for number, text, _, _ in numbered]]
    done = [(action.text, action.observation, action.executed) for action in actions]
    key = hashlib.sha256(json.dumps([*shown, done], sort_keys=True).encode()).hexdigest()[:16]
    lines = tuple(f"{number} {text}{' (any one of these)' if any_one else ''}" for number, text, _, any_one in numbered)
    leaves = tuple((number, text) for number, text, leaf, _ in numbered if leaf)
    return Item(key, goal, lines, leaves, tuple(actions), tuple(units))


def _numbered(units: Sequence[PlanUnit], before: str = "") -> Iterator[tuple[str, str, bool, bool]]:
    """Number, text, whether it is executable, whether its parts are alternatives; for every unit of a plan."""
    for place, unit in enumerate(units, 1):
        any_one = bool(unit.children) and unit.logic is Logic.OR
        yield f"{before}{place}", unit.text, not unit.children, any_one
        yield from _numbered(unit.children, f"{before}{place}.")
