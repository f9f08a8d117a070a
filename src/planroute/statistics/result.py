"""What all results share: they become plain JSON values."""

import math
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """A frozen result; fields that are not defined are ``None``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name as JSON values: tuples as lists, and ``None`` for what is not finite."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def finite(value: float) -> float | None:
    """Return ``value`` as a plain float, or ``None`` where it is NaN or infinite; negative zero as zero."""
    return float(value) + 0.0 if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return finite(value)
    return value
