"""Numbers as people give them: what is wrong with one, and how to show it in a message."""

import math
from numbers import Real


def as_float(value: object) -> float:
    """The value as a float: NaN if it is no real number, infinite if it is beyond a float."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def number_problem(value: object, zero: bool = False) -> str:
    """Why the value is not a finite number above 0 (or 0 itself, with ``zero``); empty if it is."""
    number = as_float(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return f"must be a number, not {shown(value)}"
    if not math.isfinite(number):
        return f"must be a finite number, not {shown(value)}"
    if number < 0.0 or (number == 0.0 and not zero):
        return f"must {'not be negative' if zero else 'be greater than 0'}, but is {number!r}"
    return ""


def shown(value: object) -> str:
    """The value as a message can hold it: short, on one line."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 64 bits"
    if value is None or isinstance(value, str | int | float):
        text = repr(value)
        return text if len(text) <= 40 else f"{text[:37]}..."
    return f"a {type(value).__name__}"
