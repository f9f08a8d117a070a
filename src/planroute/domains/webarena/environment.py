"""One episode in a browser as an environment of text domains: actions on numbered elements, a verdict at the end.

An action that fails says so in its observation and raises nothing. What ends an episode as a failure of the
infrastructure is the browser itself: a crashed page, a browser that is gone, a site that cannot be reached at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planroute.domains.text.environment import Turn
from planroute.domains.webarena.actions import Action, read_action
from planroute.domains.webarena.browser import Shared
from planroute.domains.webarena.evaluator import EVALUATOR, Verdict
from planroute.domains.webarena.records import Record
from planroute.domains.webarena.sites import Served
from planroute.domains.webarena.visit import CALL_S, Visit
from planroute.errors import DomainError

BUDGET: Final = 6000
"""Characters of a page that are shown."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the sites are: an address for each placeholder, and what is served for this episode alone."""

    by_placeholder: Mapping[str, str]
    served: tuple[Served, ...] = ()

    def close(self) -> None:
        """Stop serving."""
        for each in self.served:
            each.close()


class WebEpisode:
    """An episode of ``record``. ``sites`` opens its sites anew, ``browser`` gives the browser that shows them."""

    slow = True
    admissible: tuple[str, ...] = ()

    def __init__(
        self,
        record: Record,
        sites: Callable[[], Addresses],
        browser: Callable[[], Shared],
        budget: int = BUDGET,
        state: Path | None = None,
    ) -> None:
        self.record = record
        self.budget = budget
        self.response: str | None = None
        self._sites = sites
        self._browser = browser
        self._state = state
        self._addresses: Addresses | None = None
        self._visit: Visit | None = None
        self._entries: list[dict[str, Any]] | None = None
        self._verdict: Verdict | None = None
        self._failed: DomainError | None = None

    def reset(self) -> str:
        """Open the sites and the first pages. Raises ``DomainError`` where that fails."""
        self.close()
        self.response, self._entries, self._verdict, self._failed = None, None, None, None
        self._addresses = self._sites()
        self._visit = Visit(self._browser(), self._addresses.by_placeholder, self.budget, self._state)
        return self._visit.open(self.record.start_urls)

    def step(self, action: str) -> Turn:
        """Carry out ``action``. Raises ``DomainError`` where page or browser are gone."""
        read = read_action(action)
        if read is None or self._visit is None:
            return Turn("That is no action.", False, False, False)
        if read.verb == "stop":
            self.response, self._verdict = read.text, None
            return Turn("The answer is given.", True, False)
        self._verdict = None
        try:
            said, done = self._visit.act(read)
        except DomainError as error:
            self._failed = error
            raise
        return Turn(said, False, False, done)

    def sight(self) -> Mapping[str, Any]:
        """Tabs, and the page that is shown."""
        if self._visit is None:
            return {"page": ""}
        return {"tabs": list(self._visit.tabs), "page": self._visit.tree.text}

    def verdict(self) -> bool:
        """Whether webarena-verified calls the task done. Raises ``DomainError`` where it cannot be asked."""
        return self.judged().success

    def judged(self) -> Verdict:
        """What webarena-verified says of what was done so far. Once the answer is given it ends the visit."""
        if self._failed is not None:
            raise self._failed
        if self._verdict is None:
            if self.response is not None:
                self.close()
            entries = self._visit.entries() if self._visit is not None else self._entries
            known = self._addresses.by_placeholder if self._addresses is not None else {}
            self._verdict = EVALUATOR.verdict(self.record.raw, known, self.response, entries or [])
        return self._verdict

    def measures(self) -> Mapping[str, float | None]:
        """The parts of the verdict: answer and network events; ``None`` where there is none."""
        parts = self._verdict.parts if self._verdict is not None else {}
        return {
            "answer_right": parts.get("AgentResponseEvaluator"),
            "events_right": parts.get("NetworkEventEvaluator"),
        }

    def close(self) -> None:
        """End the visit, keep its recording, stop the sites. May be called twice."""
        visit, self._visit = self._visit, None
        try:
            if visit is not None:
                self._entries = visit.close()
        finally:
            if self._addresses is not None:
                self._addresses.close()


__all__ = ["BUDGET", "CALL_S", "Action", "Addresses", "WebEpisode"]
