"""What tests of issues share: the own records in a jail, a domain that repeats courses from memory, and a dry one."""

from functools import cache

from planroute.calls import Sampling
from planroute.domains.swebench.domain import SwebenchDomain, opened
from planroute.domains.swebench.environment import Workplace
from planroute.domains.swebench.solver import hints
from planroute.domains.swebench.workshop import Workshop
from planroute.domains.text import Limits
from planroute.domains.text.environment import Turn
from planroute.evaluation.judges import RubricJudge
from tests.domains.text.replaying import Replaying

OWN = ("planroute__clocks-1", "planroute__ledgers-1", "planroute__slugs-1", "planroute__tables-1")


@cache
def domain() -> SwebenchDomain:
    """The project's own records. Equal patches are tested once in a test process."""
    return opened(RubricJudge("trajectory"), Limits(), Sampling())


def workshop(name: str) -> Workshop:
    return next(shop for shop in domain().workshops if shop.record.repo == f"planroute/{name}")


class ReplayingWork(Replaying):
    """A workplace that plays each course once and repeats what it showed, and what the tests said of it, then."""

    graded: dict = {}  # noqa: RUF012

    def grade(self):
        key = self.key, self.actions
        if key not in self.graded:
            live = self._caught_up()
            assert isinstance(live, Workplace)
            self.graded[key] = live.verdict(), live.measures()
            live.close()
            self.live = None
        return self.graded[key]

    def verdict(self):
        return self.grade()[0]

    def measures(self):
        return self.grade()[1]


KNOWN: dict = {}


def replayed(monkeypatch) -> SwebenchDomain:
    """The domain on the project's own records; in this test, courses are repeated from memory."""
    monkeypatch.setattr(
        "planroute.domains.swebench.domain.Workplace",
        lambda shop: ReplayingWork(shop.record.instance_id, lambda: Workplace(shop), KNOWN),
    )
    return domain()


class DryWork:
    """A workplace without files or box, for counting: an edit that the issue names is made, all else does nothing."""

    admissible = ()

    def __init__(self, shop):
        self.wanted = [hint.action for hint in hints(shop.record.problem_statement)]
        self.made = set()

    def reset(self):
        self.made = set()
        return "Nothing is here."

    def step(self, action):
        first = action.partition("\n")[0]
        if action in self.wanted:
            self.made.add(action)
            return Turn(f"{first.removeprefix('edit ')} is changed:", False, False)
        return Turn("[no output]", action == "submit", False)

    def close(self):
        """Nothing is held."""

    def verdict(self):
        return len(self.made) == len(self.wanted)

    def measures(self):
        return {"resolved": float(self.verdict()), "psr": len(self.made) / len(self.wanted)}


def dry(monkeypatch) -> SwebenchDomain:
    """The domain on the project's own records; in this test, nothing is done."""
    monkeypatch.setattr("planroute.domains.swebench.domain.Workplace", DryWork)
    return domain()
