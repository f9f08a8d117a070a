"""The recorded pages of one task as an environment of text domains: one decision for each annotated step.

Offline the course is fixed. Whatever was decided, the page that follows is the annotated one, and what was done before
it is what the annotator did: an agent is always put back on the right way, and each step is judged by itself. Nothing
of that is told to a judge: an observation says no more than that the next page is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from planroute.domains.mind2web.candidates import TOP, offered
from planroute.domains.mind2web.page import Cut, Page
from planroute.domains.mind2web.records import Candidate, Operation, Step, WebTask
from planroute.domains.mind2web.scoring import Choice, StepScore, measures, score_step
from planroute.domains.text.environment import Turn
from planroute.errors import DomainError

NONE: Final = "none of these"
"""The decision that no element that is offered is the right one."""
NEXT: Final = "The next page is shown."
LAST: Final = "That was the last page."
BEFORE: Final = 16
"""Steps of the annotation before the page that a prompt shows, the latest ones."""

ELEMENTS: Final = 300
"""Elements of a page at which nothing more is added to it."""


@dataclass(frozen=True, slots=True)
class View:
    """How pages are shown: candidates offered at most, and elements of a page at which nothing more is added to it."""

    candidates: int = TOP
    elements: int = ELEMENTS


class RecordedPages:
    """One walk through the pages of ``task``. ``seed`` decides on the order of candidates and nothing else.

    An action is ``LABEL -> OP`` or ``LABEL -> OP: value`` for an element by its label on the page, or ``NONE``.
    """

    def __init__(self, task: WebTask, seed: int, view: View) -> None:
        self.task = task
        self.seed = seed
        self.view = view
        self.scores: list[StepScore] = []
        self._shown: dict[int, Shown] = {}

    @property
    def admissible(self) -> tuple[str, ...]:
        """Nothing is listed: what is typed is free."""
        return ()

    @property
    def shown(self) -> "Shown":
        """The page at hand. Raises ``DomainError`` after the last one."""
        at = len(self.scores)
        if at >= len(self.task.steps):
            raise DomainError(f"task {self.task.id} is over after {at} steps")
        if at not in self._shown:
            step = self.task.steps[at]
            self._shown[at] = shown_before(
                step, offered(step, self.task.id, self.seed, self.view.candidates), self.view
            )
        return self._shown[at]

    def reset(self) -> str:
        """Show the first page."""
        self.scores = []
        where = f"{self.task.website} ({self.task.category})" if self.task.website else self.task.category
        return f"A page of the website {where} is shown."

    def step(self, action: str) -> Turn:
        """Take the decision on the page at hand and show the annotated next one, whatever it was."""
        shown = self.shown
        choice = shown.read(action)
        right = {candidate.node for candidate in shown.step.positives} & set(shown.labels)
        self.scores.append(score_step(choice, right, shown.step.operation))
        done = len(self.scores) == len(self.task.steps)
        success = done and all(score.success for score in self.scores)
        return Turn(LAST if done else NEXT, done, success, choice is not None)

    def sight(self) -> Mapping[str, Any]:
        """The page at hand, and what was really done before it, in place of what was decided."""
        if len(self.scores) >= len(self.task.steps):
            return {"history": [], "page": ""}
        before = self.shown.step.previous[-BEFORE:]
        return {"history": [{"action": each} for each in before], "page": self.shown.whole.text}

    def measures(self) -> Mapping[str, float | None]:
        """The benchmark's metrics; steps that were not decided on have failed."""
        return measures(self.scores, len(self.task.steps))

    def close(self) -> None:
        """Nothing is held."""


class Shown:
    """The page before one step, with the candidates that are offered on it; nothing about it changes."""

    def __init__(self, step: Step, candidates: Sequence[Candidate], view: View) -> None:
        self.step = step
        self.view = view
        self.page = Page(step.markup.html, candidates)
        self.nodes = tuple(candidate.node for candidate in candidates)
        self.labels = self._labels()
        self._by_label = {label: node for node, label in self.labels.items()}
        self._cuts: dict[tuple[str, ...], Cut] = {}

    @property
    def whole(self) -> Cut:
        """The page around all candidates."""
        return self.around(self.nodes)

    def around(self, nodes: tuple[str, ...]) -> Cut:
        """The page around some of the candidates."""
        if nodes not in self._cuts:
            self._cuts[nodes] = self.page.cut(nodes, self.view.elements)
        return self._cuts[nodes]

    def action(self, node: str, operation: Operation) -> str:
        """``operation`` on ``node`` as an action in words."""
        value = f": {' '.join(operation.value.split())}" if operation.value else ""
        return f"{self.labels[node]} -> {operation.op}{value}"

    def read(self, action: str) -> Choice | None:
        """The choice that an action stands for, ``None`` for ``NONE`` and for what is no action here."""
        label, arrow, operation = action.partition(" -> ")
        op, _, value = operation.partition(": ")
        if not arrow or label not in self._by_label:
            return None
        return Choice(self._by_label[label], Operation(op, value))

    def _labels(self) -> dict[str, str]:
        """A label for each candidate; equal ones are counted in the order in which they stand on the page."""
        labels: dict[str, str] = {}
        seen: dict[str, int] = {}
        for node in sorted(self.nodes, key=lambda each: self.page.by_node[each].place):
            label = self.page.label(node)
            seen[label] = seen.get(label, 0) + 1
            labels[node] = label if seen[label] == 1 else f"{label} #{seen[label]}"
        return labels


@lru_cache(maxsize=64)
def shown_before(step: Step, candidates: tuple[Candidate, ...], view: View) -> Shown:
    """Read a page once for all episodes that come by it."""
    return Shown(step, candidates, view)
