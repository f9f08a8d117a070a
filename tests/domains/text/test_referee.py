"""Environments that are slow, and whose referee speaks only at the end."""

import asyncio
import threading

from planroute.declaration import forced
from planroute.declarers import Fixed
from planroute.domains.text import TextWorld
from planroute.domains.text.course import Shown
from planroute.domains.text.world import TextTask
from planroute.episode import Conditions
from planroute.errors import DomainError
from planroute.evaluation.judges import RubricJudge
from planroute.ledger import Ledger
from planroute.modes import Mode
from planroute.protocols import Context, Settling
from planroute.trace import Stop, Trace
from tests.domains.text.rooms import GOAL, Player, Rooms, RoomsDomain, played, state_of


class Judged(Rooms):
    """Rooms in which nobody is told of success; a referee looks once, in a thread where it can."""

    slow = True

    def __init__(self, broken=False):
        super().__init__()
        self.broken = broken
        self.looked, self.threads = 0, set()
        self.known = None

    def step(self, action):
        self.threads.add(threading.current_thread())
        turn = super().step(action)
        return type(turn)(turn.observation, turn.done, False, turn.executed)

    def verdict(self):
        self.looked += 1
        if self.broken:
            raise DomainError("nobody can tell")
        if self.known is None:
            self.known = self.at == "vault"
        return self.known


class JudgedDomain(RoomsDomain):
    broken = False

    def make(self):
        self.opened.append(Judged(self.broken))
        return self.opened[-1]


def test_steps_of_a_slow_environment_are_taken_in_a_thread():
    domain, player = JudgedDomain(), Player()
    episode = asyncio.run(played(domain, Conditions(Fixed(Mode.PREDEFINED), model=player)))
    assert domain.opened[0].threads
    assert threading.main_thread() not in domain.opened[0].threads
    assert isinstance(domain.worlds[0], Settling)
    assert (episode.row.success, episode.row.metrics["success"]) == (True, 1.0)


def test_success_is_the_referee_s_word_also_after_closing():
    domain, player = JudgedDomain(), Player(way=("go kitchen",))
    episode = asyncio.run(played(domain, Conditions(Fixed(Mode.SEARCH), model=player)))
    assert domain.opened[1].closed
    assert (episode.row.success, episode.row.metrics["success"]) == (False, 0.0)


def test_a_referee_that_fails_is_an_infrastructure_failure():
    domain, player = JudgedDomain(), Player()
    domain.broken = True
    episode = asyncio.run(played(domain, Conditions(Fixed(Mode.PREDEFINED), model=player)))
    assert (episode.row.stop, episode.row.status) == (Stop.INFRASTRUCTURE, "infrastructure")
    assert (episode.row.success, episode.row.metrics["success"]) == (None, None)
    assert episode.row.error == "nobody can tell"


def test_a_world_without_a_slow_referee_settles_nothing():
    domain = RoomsDomain()

    async def run():
        world = await domain.open(domain.tasks()[0], Context(7, Trace(), Ledger(), Player()))
        world.begin(forced(Mode.PREDEFINED))
        await world.settle()
        outcome = world.outcome()
        await world.aclose()
        return outcome

    assert asyncio.run(run()).success is False


def test_a_task_says_how_much_of_the_history_is_shown():
    player = Player(way=("wait " * 50,) * 5)
    task = TextTask("rooms", GOAL, "", lambda: Rooms(free_text=True), RubricJudge("trajectory"), shown=Shown(2, 30))

    async def run():
        world = TextWorld(task, Context(7, Trace(), Ledger(), player))
        for _ in range(4):
            await world.act(None)
        await world.aclose()

    asyncio.run(run())
    history = state_of(player.requests[-1])["history"]
    assert [len(turn["action"]) for turn in history] == [30, 30]
