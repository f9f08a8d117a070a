"""Many tests at once: Holm's correction.

Source: Planning-as-Routing, appendix I and K (Holm-corrected p-values over benchmark–model pairs).
"""

from collections.abc import Sequence

from planroute.errors import InputError
from planroute.statistics.samples import numbers


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the p-values adjusted by Holm's step-down method, in the order given.

    Rejecting where an adjusted p is at most alpha keeps the chance of any false rejection at alpha, however the tests
    depend on one another. A ``None``, a test that could not be made, stays ``None`` and is not counted.

    Raises ``InputError`` for a p that is not between 0 and 1.
    """
    made = [position for position, p in enumerate(p_values) if p is not None]
    given = [p for p in p_values if p is not None]
    checked = numbers(given, "p-values")
    if ((checked < 0) | (checked > 1)).any():
        raise InputError("p-values must be between 0 and 1")
    adjusted: list[float | None] = [None] * len(p_values)
    if made:
        from statsmodels.stats.multitest import multipletests

        for position, p in zip(made, multipletests(given, method="holm")[1], strict=True):
            adjusted[position] = float(p)
    return tuple(adjusted)
