"""Numbers in the words of a conclusion: shares in per cent and their differences in points, costs as they are."""

from collections.abc import Mapping
from typing import Any


class Words:
    """Words for values of one measure."""

    def __init__(self, measure: Mapping[str, Any]) -> None:
        self.share = measure["name"] == "success"
        self.name = str(measure["name"])

    def plain(self, value: float | None) -> str:
        """A value: ``91 %``, or ``1,327``."""
        if value is None:
            return "unknown"
        return f"{100 * value:.0f} %" if self.share else f"{value:,.0f}"

    def value(self, found: Mapping[str, Any]) -> str:
        """A value with its 95 % interval, and what is measured where that is not success."""
        what = "" if self.share else f"{self.name} "
        return f"{what}{self.plain(found['mean'])}{self._spaced(found, signed=False)}"

    def points(self, value: float | None) -> str:
        """A difference with its sign: ``+6 points``; of costs the amount that is saved."""
        if value is None:
            return "unknown"
        return f"{_signed(100 * value)} points" if self.share else _signed(value)

    def between(self, found: Mapping[str, Any]) -> str:
        """A difference with its sign and its 95 % interval."""
        return f"{self.points(found['mean'])}{self._spaced(found, signed=True)}"

    def ahead(self, found: Mapping[str, Any]) -> str:
        """A lead with its interval: ``6 points [1, 11]``, or what is saved."""
        value = found["mean"]
        amount = f"{_unsigned(100 * value)} points" if self.share else _unsigned(value)
        return f"{amount}{self._spaced(found, signed=False)}"

    def range(self, low: float | None, high: float | None) -> str:
        """Two differences: ``-3 to +3 points``."""
        if low is None or high is None:
            return "unknown"
        if self.share:
            return f"{_signed(100 * low)} to {_signed(100 * high)} points"
        return f"{_signed(low)} to {_signed(high)}"

    def interval(self, found: Mapping[str, Any], *, signed: bool) -> str:
        """The 95 % interval alone, ``[92, 100]``; empty where there is none."""
        low, high = found.get("low"), found.get("high")
        if low is None or high is None:
            return ""
        form, scale = _signed if signed else _unsigned, 100 if self.share else 1
        return f"[{form(scale * low)}, {form(scale * high)}]"

    def _spaced(self, found: Mapping[str, Any], *, signed: bool) -> str:
        interval = self.interval(found, signed=signed)
        return f" {interval}" if interval else ""

    @staticmethod
    def unit(name: str) -> str:
        """What is spent, in words."""
        return "s of planning" if name == "planning_s" else name


def _unsigned(value: float) -> str:
    """``6``; ``0.4`` rather than a 0 that is none; ``0``."""
    text = f"{value:,.1f}" if abs(value) < 0.5 else f"{value:,.0f}"
    return text if text.strip("-0.") else "0"


def _signed(value: float) -> str:
    """``+6``, ``-0.4``, and 0 without a sign."""
    text = _unsigned(value)
    return f"+{text}" if value > 0 and text != "0" else text
