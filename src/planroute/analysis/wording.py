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
        return f"{what}{self.plain(found['mean'])}{self._interval(found, signed=False)}"

    def points(self, value: float | None) -> str:
        """A difference with its sign: ``+6 points``; of costs the amount that is saved."""
        if value is None:
            return "unknown"
        return f"{100 * value:+.0f} points" if self.share else f"{value:+,.0f}"

    def between(self, found: Mapping[str, Any]) -> str:
        """A difference with its sign and its 95 % interval."""
        return f"{self.points(found['mean'])}{self._interval(found, signed=True)}"

    def ahead(self, found: Mapping[str, Any]) -> str:
        """A lead with its interval: ``6 points [1, 11]``, or what is saved."""
        value = found["mean"]
        amount = f"{100 * value:.0f} points" if self.share else f"{value:,.0f}"
        return f"{amount}{self._interval(found, signed=False)}"

    def range(self, low: float | None, high: float | None) -> str:
        """Two differences: ``-3 to +3 points``."""
        if low is None or high is None:
            return "unknown"
        return f"{100 * low:+.0f} to {100 * high:+.0f} points" if self.share else f"{low:+,.0f} to {high:+,.0f}"

    def _interval(self, found: Mapping[str, Any], *, signed: bool) -> str:
        low, high = found.get("low"), found.get("high")
        if low is None or high is None:
            return ""
        form = ("{:+.0f}, {:+.0f}" if signed else "{:.0f}, {:.0f}") if self.share else "{:,.0f}, {:,.0f}"
        scale = 100 if self.share else 1
        return f" [{form.format(scale * low, scale * high)}]"

    @staticmethod
    def unit(name: str) -> str:
        """What is spent, in words."""
        return "s of planning" if name == "planning_s" else name
