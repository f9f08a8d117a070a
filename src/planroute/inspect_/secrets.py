"""Keys of Inspect's providers, which each read their own from the environment: taken out of what is kept or shown."""

import os
from typing import Final

from planroute.models.text import spellings

ENDINGS: Final = ("_API_KEY", "_TOKEN", "_SECRET", "_ACCESS_KEY", "_PASSWORD")
"""How the names of variables end that hold keys."""
SHORTEST: Final = 6
"""A shorter value could be any word."""


def without_keys(text: str) -> str:
    """Return ``text`` with ``***`` for every value of a variable whose name is that of a key."""
    held = {value.strip() for name, value in os.environ.items() if name.upper().endswith(ENDINGS)}
    spelt = {spelling for key in held if len(key) >= SHORTEST for spelling in spellings(key)}
    for spelling in sorted(spelt, key=len, reverse=True):
        text = text.replace(spelling, "***")
    return text
