"""What a run's account and its billing hold of calls that were cancelled, whoever cancelled them."""

import asyncio
import json
from pathlib import Path

import openai  # noqa: F401 - loading it must not use up an episode's time
import pytest

from planroute.calls import Message, ModelReply, ModelRequest
from planroute.declarers import Natural
from planroute.episode import Conditions
from planroute.errors import InputError, RunBudgetReached
from planroute.ledger import Usage
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.models.priced import PricedModel, Prices
from planroute.protocols import Task
from planroute.runs.account import Account, Limits
from planroute.runs.billing import BILLING
from planroute.runs.cells import Cell
from planroute.runs.desk import Asker, Desk
from planroute.runs.execute import execute_run
from planroute.runs.manner import Manner
from planroute.runs.ray_worker import Ask, Drop, Failure, Go, Paid
from planroute.testing import Faults, FaultServer
from tests.domains.tiny import TinyDomain

PURPOSE = "natural declaration"


def cells_with(model, seeds=(1, 2)):
    domain = TinyDomain()
    conditions = Conditions(Natural(), model=model)
    return domain, [Cell(domain.tasks()[0], "natural", seed, conditions) for seed in seeds]


def billed(folder: Path, name: str) -> int:
    cells = json.loads((folder / BILLING).read_text())["cells"]
    return sum(spent.get(name, 0) for of_cell in cells.values() for spent in of_cell.values())


async def left(server: FaultServer) -> None:
    async with asyncio.timeout(20):
        while server.connections:
            await asyncio.sleep(0.001)


def test_calls_of_overdue_episodes_are_in_the_billing_of_their_cells(tmp_path: Path) -> None:
    async def run() -> FaultServer:
        async with FaultServer(Faults(hanging=1.0)) as server:
            live = LiveModel(server.base_url, "m")
            domain, cells = cells_with(CachedModel(live, CallCache(tmp_path / "calls.sqlite")))
            manner = Manner(ends_after_s=0.5)
            executed = await execute_run(domain, cells, config={}, out=tmp_path / "run", manner=manner)
            assert {row.status for row in executed.rows} == {"infrastructure"}
            await cells[0].conditions.model.aclose()
            await left(server)
        return server

    server = asyncio.run(run())
    assert billed(tmp_path / "run", "attempts") == server.told.requests.total() > 0
    assert billed(tmp_path / "run", "billed_tokens") == 0


def test_calls_of_a_run_that_is_broken_off_are_in_its_billing(tmp_path: Path) -> None:
    async def run() -> FaultServer:
        async with FaultServer(Faults(hanging=1.0)) as server:
            live = LiveModel(server.base_url, "m")
            domain, cells = cells_with(live)
            running = asyncio.create_task(execute_run(domain, cells, config={}, out=tmp_path / "run"))
            async with asyncio.timeout(20):
                while server.told.requests.total() < 2:
                    await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await live.aclose()
            await left(server)
        return server

    server = asyncio.run(run())
    assert billed(tmp_path / "run", "attempts") == server.told.requests.total() == 2
    assert billed(tmp_path / "run", "failed_calls") == 2


def test_a_budget_in_usd_is_not_held_by_tokens_that_nobody_told(tmp_path: Path) -> None:
    """An endpoint that leaves out the account of tokens costs something all the same."""

    class Silent:
        endpoint = "silent#m"

        async def complete(self, request: ModelRequest) -> ModelReply:
            return ModelReply('{"mode": "SEQUENTIAL", "replanning": "EVERY_STEP"}', Usage())

        async def aclose(self) -> None:
            pass

    domain, cells = cells_with(PricedModel(Silent(), Prices(1.0, 1.0)))
    manner = Manner(concurrency=1, limits=Limits(usd=1.0))
    with pytest.raises(InputError, match=r"a call's price is not known — .*tells no tokens"):
        asyncio.run(execute_run(domain, cells, config={}, manner=manner))


# The desk of a run on workers


class Desked:
    """A desk with one cell, and a worker whose part the test plays."""

    def __init__(self, folder: Path) -> None:
        self.noted: list[dict] = []
        self.words: asyncio.Queue = asyncio.Queue()
        self.cache = CallCache(folder / "calls.sqlite")
        conditions = Conditions(Natural(), model=CachedModel(LiveModel("http://127.0.0.1:9/v1", "m"), self.cache))
        self.account = Account(note=lambda cell, spent: self.noted.append(dict(spent["purpose"])))
        self.desk = Desk([Cell(Task("t", ""), "c", 1, conditions)], self.account)
        self.asker = Asker(lambda number, word: self.words.put_nowait((number, word)))

    async def go(self, number: int) -> int:
        """Ask, and return the ticket that the desk gives."""
        self.desk.take(self.asker, Ask(number, 0, 0, ModelRequest("purpose", (Message("user", "What?"),))))
        _, word = await asyncio.wait_for(self.words.get(), 20)
        assert isinstance(word, Go)
        return word.ticket

    async def end(self) -> None:
        await asyncio.gather(*self.desk._serving, return_exceptions=True)
        self.cache.close()


def test_a_call_that_a_worker_gives_up_is_on_the_account(tmp_path: Path) -> None:
    async def run() -> None:
        desked = Desked(tmp_path)
        await desked.go(5)
        desked.desk.take(desked.asker, Drop(5, attempts=3))
        await desked.end()
        assert desked.noted == [{"failed_calls": 1, "attempts": 3}]

    asyncio.run(run())


@pytest.mark.parametrize("answered", [True, False])
def test_what_was_paid_is_on_the_account_also_where_the_run_ends_just_then(tmp_path: Path, answered: bool) -> None:
    reply = ModelReply("Good day", Usage(5, 4), price_usd=0.5, attempts=2)

    async def run() -> None:
        desked = Desked(tmp_path)
        ticket = await desked.go(5)
        outcome = reply if answered else Failure.of(_refused())
        desked.desk.take(desked.asker, Paid(6, ticket, outcome))
        await desked.desk.aclose()
        await desked.end()
        (noted,) = desked.noted
        if answered:
            assert (noted["billed_calls"], noted["billed_tokens"], noted["attempts"]) == (1, 9, 2)
            assert desked.account.usd == 0.5
        else:
            assert noted == {"failed_calls": 1, "attempts": 2}

    asyncio.run(run())


def _refused() -> Exception:
    from planroute.errors import ModelRefused

    return ModelRefused("not this key", attempts=2)


def test_a_limit_ends_nothing_that_is_paid(tmp_path: Path) -> None:
    """The call that reaches the limit is answered and kept; the next one is refused before anything is sent."""

    async def run() -> None:
        desked = Desked(tmp_path)
        desked.account.limits = Limits(tokens=5)
        ticket = await desked.go(5)
        desked.desk.take(desked.asker, Paid(6, ticket, ModelReply("Good day", Usage(5, 4))))
        number, word = await asyncio.wait_for(desked.words.get(), 20)
        assert (number, word.text, len(desked.cache)) == (6, "Good day", 1)
        desked.desk.take(desked.asker, Ask(7, 0, 0, ModelRequest("purpose", (Message("user", "And?"),))))
        _, word = await asyncio.wait_for(desked.words.get(), 20)
        assert isinstance(word.error(), RunBudgetReached)
        await desked.end()

    asyncio.run(run())
