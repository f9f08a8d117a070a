"""How the grid's inner loops are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile ``function`` at its first call and keep the machine code on disk. No rule of arithmetic is relaxed."""
    return cast(_Function, njit(cache=True, nogil=True, error_model="numpy")(function))
