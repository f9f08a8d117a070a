"""A solver of issues that say which text should be which: it reads only what an agent reads, and makes the edits.

It is there to check the machinery. An issue that names no edit in so many words is beyond it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planroute.domains.swebench.actions import SUBMIT, Edit

FINISHED: Final = "finished"
TEST: Final = "python -m pytest -q"
LOOKING: Final = ("", "after reading the tests", "after reading the history", "after running the tests")
"""How alternatives differ: in what is looked at before."""
LOOKS: Final[Mapping[str, str]] = {
    "after reading the tests": "find . -name 'test_*.py' | sort",
    "after reading the history": "git log --oneline",
    "after running the tests": TEST,
}
CHECK: Final = "run the tests with pytest"
ASIDE: Final = ("ls", "git log --oneline", "view README.md", "git status --short")
"""Actions that lead nowhere, for slips."""

_HINT: Final = re.compile(r"In `([^`\n]+)`, `([^`\n]+)` should be `([^`\n]+)`\.")


@dataclass(frozen=True, slots=True)
class Hint:
    """What the issue says should be done to a file."""

    path: str
    old: str
    new: str

    @property
    def step(self) -> str:
        """The edit as a step of a plan."""
        return f"change `{self.old}` in {self.path}"

    @property
    def action(self) -> str:
        """The edit as an action."""
        return str(Edit(self.path, self.old, self.new))


def hints(issue: str) -> list[Hint]:
    """The edits that an issue names, in order."""
    return [Hint(*found) for found in _HINT.findall(issue)]


class SwebenchSolver:
    """See ``planroute.models.slip.Solver``."""

    def plan(self, state: Mapping[str, Any]) -> list[str]:
        """The edits that are still to make, then the tests; nothing where they were run."""
        left = [hint.step for hint in self._left(state)]
        return [*left, CHECK] if left or not self._checked(state) else []

    def subgoals(self, state: Mapping[str, Any]) -> list[str]:
        """What is to do, file by file, then the tests."""
        files: dict[str, list[str]] = {}
        for hint in self._left(state):
            files.setdefault(hint.path, []).append(hint.step)
        parts = [" then ".join(steps) for steps in files.values()]
        return [*parts, CHECK] if parts or not self._checked(state) else []

    def steps_of(self, state: Mapping[str, Any], subgoal: str) -> list[str]:
        """The steps that the subgoal's text names."""
        return subgoal.split(" then ")

    def alternative(self, state: Mapping[str, Any], others: Sequence[Sequence[str]]) -> list[str]:
        """The same plan, after another look around."""
        way = LOOKING[len(others) % len(LOOKING)]
        first, *rest = self.plan(state) or [CHECK]
        return [f"{first} {way}".strip(), *rest]

    def act(self, state: Mapping[str, Any], step: str | None) -> str:
        """The next edit, look or test; outside a step, submitting where nothing is left."""
        left = self._left(state)
        if step is None:
            return left[0].action if left else SUBMIT if self._checked(state) else TEST
        way = next((way for way in LOOKS if step.endswith(way)), "")
        if way and not self._did(state, LOOKS[way]):
            return LOOKS[way]
        named = next((hint for hint in hints(str(state["goal"])) if step.startswith(hint.step)), None)
        if named is not None:
            return named.action if named in left else FINISHED
        return FINISHED if self._checked(state) or not step.startswith(CHECK) else TEST

    def wrong(self, state: Mapping[str, Any], right: str) -> list[str]:
        """Other things that could be done."""
        return [action for action in ASIDE if action != right]

    def score(self, goal: str, trajectory: str) -> int:
        """3 where every edit was made, less for each that was not."""
        wanted = hints(goal)
        made = sum(f"> {hint.action}\n{hint.path} is changed" in trajectory for hint in wanted)
        return int(3 * made / len(wanted)) if wanted else 0

    def _left(self, state: Mapping[str, Any]) -> list[Hint]:
        made = {
            str(turn["action"])
            for turn in state.get("history", [])
            if str(turn["observation"]).partition("\n")[0].endswith(" is changed:")
        }
        return [hint for hint in hints(str(state["goal"])) if hint.action not in made]

    def _checked(self, state: Mapping[str, Any]) -> bool:
        """Whether the tests were run after the last edit."""
        for turn in reversed(list(state.get("history", []))):
            if "-m pytest" in str(turn["action"]):
                return True
            if str(turn["observation"]).partition("\n")[0].endswith(" is changed:"):
                return False
        return False

    def _did(self, state: Mapping[str, Any], action: str) -> bool:
        return any(turn["action"] == action for turn in state.get("history", []))
