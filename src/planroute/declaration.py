"""What an agent declares before it acts: the planning mode and everything that goes with it.

Sources: typed policy, cyber-physical paper section III; mode plus plan in one declaration, Planning-as-Routing 3.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from planroute.errors import DeclarationError
from planroute.modes import Mode
from planroute.plan import Plan


class Replanning(StrEnum):
    """When the unexecuted rest of a plan is made anew."""

    NONE = "NONE"
    EVERY_STEP = "EVERY_STEP"


@dataclass(frozen=True, slots=True)
class Clip:
    """A value that was outside its admissible range, and what it was moved to."""

    field: str
    given: float
    used: float


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared policy.

    ``depth`` counts levels of decomposition (1: none), ``branching`` counts candidates. ``decision_budget_s`` is the
    longest planning event, in seconds, that the declarer allows itself. ``fields`` are the domain's own typed fields,
    already validated and clipped. ``ranking`` orders the modes, best first, where the declarer gives an order.
    ``clips`` and ``repairs`` record what had to be mended in the answer that this was read from.
    """

    mode: Mode
    depth: int = 1
    branching: int = 1
    replanning: Replanning = Replanning.NONE
    decision_budget_s: float | None = None
    confidence: float | None = None
    rationale: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    ranking: tuple[Mode, ...] = ()
    clips: tuple[Clip, ...] = ()
    repairs: tuple[str, ...] = ()


F = TypeVar("F", bound=BaseModel)


def read_fields(schema: type[F], declaration: Declaration) -> F:
    """Read the domain's own fields of ``declaration``. Raises ``DeclarationError`` with the first that is wrong."""
    try:
        return schema.model_validate(dict(declaration.fields))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DeclarationError(f"declared {where or 'fields'}: {first['msg']}") from None


DEFAULT_DEPTH = 3
DEFAULT_BRANCHING = 4


def type_valid(declaration: Declaration, *, depth: int | None = None, branching: int | None = None) -> Declaration:
    """Return ``declaration`` with depth, branching and replanning as its mode requires.

    Values that are already valid for the mode are kept; others take the given value or the project's default
    (depth 3, as in the paper's 5.67 s events; four candidates, as in its example).
    """
    mode = declaration.mode
    hierarchical, search = mode is Mode.HIERARCHICAL, mode is Mode.SEARCH
    return replace(
        declaration,
        depth=(depth or max(declaration.depth, 2)) if hierarchical else 1,
        branching=(branching or max(declaration.branching, 2)) if search else 1,
        replanning=Replanning.EVERY_STEP if mode is Mode.SEQUENTIAL else Replanning.NONE,
    )


def forced(mode: Mode, fields: Mapping[str, Any] | None = None, **changes: Any) -> Declaration:
    """Return the type-valid declaration of ``mode`` that forced comparisons use."""
    declaration = Declaration(mode, depth=DEFAULT_DEPTH, branching=DEFAULT_BRANCHING, fields=fields or {})
    return replace(type_valid(declaration), **changes)
