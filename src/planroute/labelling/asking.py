"""The dialogue with a person: one trajectory at a time, question by question, back, skip and quit at any of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from planroute.labelling.answers import Answer, Labels
from planroute.labelling.items import Item

ORDER: Final = "Was the declared structure preserved: every needed step done, in the declared order?"
UNIT: Final = "Was this step done?"
HELP: Final = "y yes, n no, u unsure, b back, s skip, q quit, Enter more actions, a number that action in full"
WORDS: Final = {"y": "yes", "yes": "yes", "n": "no", "no": "no", "u": "unsure", "unsure": "unsure", "?": "unsure"}
PAGE: Final = 20
"""Actions that are shown at once."""
SHORT: Final = 200
"""Characters of an action, and of an observation, in the list."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Asks about ``items`` and keeps each answer in ``labels``.

    ``read`` returns the next line or ``None`` at the end of the input, ``write`` shows a line, ``plain`` takes from a
    text what could steer a terminal, and cuts it to a length. With ``units`` every step is asked about as well.
    """

    items: Sequence[Item]
    labels: Labels
    read: Callable[[], str | None]
    write: Callable[[str], None]
    plain: Callable[[str, int], str]
    units: bool = False
    page: int = PAGE

    def questions(self) -> list[tuple[Item, str]]:
        """Every question in the order of asking: an item, and a unit's number or nothing."""
        return [
            (item, unit)
            for item in self.items
            for unit in ("", *((number for number, _ in item.leaves) if self.units else ()))
        ]

    def open_questions(self) -> int:
        """How many questions have no answer yet."""
        return sum((item.key, unit) not in self.labels.given for item, unit in self.questions())

    def run(self) -> bool:
        """Ask what has no answer yet; true where everything was gone through, false where the person left."""
        asked = self.questions()
        place = self._next(asked, 0)
        shown, seen = "", 0
        while place < len(asked):
            item, unit = asked[place]
            if item.key != shown:
                self._introduce(item, place, asked)
                shown, seen = item.key, self._actions(item, 0)
            self._put(item, unit)
            line = self.read()
            word = "q" if line is None else line.strip().lower()
            if word in WORDS and seen < len(item.actions):
                self.write(f"There are {len(item.actions) - seen} more actions: Enter shows them.")
            elif word in WORDS:
                self.labels.add(Answer(item.key, WORDS[word], unit))
                place = self._next(asked, place + 1)
            elif word == "":
                seen = self._actions(item, seen) if seen < len(item.actions) else self._all_shown(seen)
            elif word.isdecimal() and len(word) < 7:
                self._whole(item, int(word))
            elif word in ("b", "back"):
                place = max(place - 1, 0)
            elif word in ("s", "skip"):
                place = self._next(asked, self._after(asked, place))
            elif word in ("q", "quit"):
                return False
            else:
                self.write(HELP)
        return True

    def _next(self, asked: Sequence[tuple[Item, str]], place: int) -> int:
        """The first question from ``place`` on that has no answer."""
        while place < len(asked) and (asked[place][0].key, asked[place][1]) in self.labels.given:
            place += 1
        return place

    @staticmethod
    def _after(asked: Sequence[tuple[Item, str]], place: int) -> int:
        """The first question about another item than that of ``place``."""
        key = asked[place][0].key
        while place < len(asked) and asked[place][0].key == key:
            place += 1
        return place

    def _introduce(self, item: Item, place: int, asked: Sequence[tuple[Item, str]]) -> None:
        number = len({one.key for one, _ in asked[: place + 1]})
        self.write("")
        self.write(f"Trajectory {number} of {len(self.items)}")
        self.write(f"Goal: {self.plain(item.goal, 2000)}")
        self.write("Declared plan:")
        for line in item.lines:
            self.write(f"  {self.plain(line, 600)}")
        self.write(f"Actions ({len(item.actions)}):")

    def _actions(self, item: Item, since: int) -> int:
        """Show the next page of actions; return how many have been shown."""
        until = min(since + self.page, len(item.actions))
        for place, action in enumerate(item.actions[since:until], since + 1):
            void = "" if action.executed else " (no effect)"
            self.write(f"  {place} > {self.plain(action.text, SHORT)}{void}")
            if action.observation:
                self.write(f"      {self.plain(action.observation, SHORT)}")
        if until < len(item.actions):
            self.write(f"  ... {len(item.actions) - until} more: Enter")
        return until

    def _all_shown(self, seen: int) -> int:
        self.write("All actions have been shown.")
        return seen

    def _whole(self, item: Item, number: int) -> None:
        if not 1 <= number <= len(item.actions):
            self.write(f"There is no action {number}: they are numbered from 1 to {len(item.actions)}.")
            return
        action = item.actions[number - 1]
        self.write(f"  {number} > {self.plain(action.text, 8000)}")
        self.write(f"      {self.plain(action.observation, 8000) or '(nothing observed)'}")

    def _put(self, item: Item, unit: str) -> None:
        had = self.labels.given.get((item.key, unit))
        before = f" (so far: {had})" if had else ""
        if unit:
            self.write(f"{unit} {self.plain(dict(item.leaves)[unit], 600)}")
        self.write(f"{UNIT if unit else ORDER}{before} [y/n/u/b/s/q, h help]")
