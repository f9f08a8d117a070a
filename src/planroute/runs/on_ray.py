"""Cells on Ray: one task for each, on workers that are reused, each with engines and connections of its own.

This process stays the only one that writes: it keeps the cells, the call cache and the account
(``planroute.runs.desk``). So the bytes of a run are those of the local runner, and its folder need only be seen here.
"""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planroute.episode import Episode
from planroute.errors import InputError, PlanrouteError, RunBudgetReached
from planroute.protocols import Domain
from planroute.runs.account import Charging
from planroute.runs.cells import Cell, by_task
from planroute.runs.desk import Asker, Desk
from planroute.runs.ray_cluster import checked_address, connected, require_ray
from planroute.runs.ray_worker import Cells, Failure, Items, Word, Worker, versions
from planroute.runs.runner import Keep

TRIES: Final = 3
"""So many workers may die while they have a cell before the run ends."""
AHEAD: Final = 2
"""Pieces of work without a call that a worker has at hand: the next one is there when one is done."""
LOOK_S: Final = 0.5
"""How often a worker that has no machine yet is asked whether it is still needed, in s."""

_LOG = logging.getLogger("planroute.runs")


@dataclass(frozen=True, slots=True)
class OnRay:
    """Runs cells on the Ray cluster at ``address``; without one, on a Ray of this process's own, on 127.0.0.1.

    There are as many workers as the cluster has processors, at most ``workers``, and no more than cells or than
    episodes at once. Raises ``InputError`` for an impossible address, and where Ray is not installed.
    """

    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        require_ray()
        if self.address is not None:
            object.__setattr__(self, "address", checked_address(self.address))

    async def run(
        self, domain: Domain, cells: Sequence[Cell], *, concurrency: int, charging: Charging | None, keep: Keep
    ) -> None:
        """Run ``cells`` in the workers, ``concurrency`` of them at once over all workers; see ``Runner``.

        A cell whose worker dies is given to another one, up to ``TRIES`` times; then ``PlanrouteError`` says so.
        Raises ``InputError`` where the domain or a model cannot be sent.
        """
        ray = connected(self.address, self.workers)
        desk = Desk(cells, charging)
        work = _packed(Cells(domain, desk.sent), domain, desk)
        pool = _Pool(ray, self.workers, work, by_task(cells), [cell.key for cell in cells], desk)

        def done(number: int, episode: Episode) -> None:
            keep(cells[number], episode)

        await pool.run(concurrency, None, done)

    async def spread(
        self,
        work: Callable[..., Awaitable[dict[str, Any]]],
        common: tuple[Any, ...],
        items: Sequence[tuple[Any, ...]],
        keep: Callable[[int, dict[str, Any]], None],
    ) -> None:
        """Await ``work(*common, *item)`` in the workers for each of ``items``; ``keep`` gets its number and result."""
        if not items:
            return
        ray = connected(self.address, self.workers)
        names = [f"part {number + 1}" for number in range(len(items))]
        packed = _packed(Items(work, common, items), common[0], None)
        await _Pool(ray, self.workers, packed, range(len(items)), names, Desk((), None)).run(len(items), AHEAD, keep)


class _Gone(Exception):
    """A worker died."""


class _Pool:
    """The workers of one piece of work."""

    def __init__(
        self, ray: Any, most: int | None, work: bytes, order: Sequence[int], names: Sequence[str], desk: Desk
    ) -> None:
        self._ray, self._most, self._names, self._desk = ray, most, names, desk
        self._work = self._ray.put(work)
        self._queue = deque(order)
        self._count = self._left = len(order)
        self._died: Counter[int] = Counter()
        self._reached: list[RunBudgetReached] = []

    async def run(self, at_once: int, ahead: int | None, keep: Callable[[int, Any], None]) -> None:
        """Do all; ``at_once`` pieces over all workers, or ``ahead`` in each."""
        if not self._count:
            return
        cpus = int(self._ray.cluster_resources().get("CPU", 1))
        workers = max(1, min(self._most or cpus, cpus, at_once, self._count))
        base, more = divmod(at_once, workers)
        shares = [ahead or base + (number < more) for number in range(workers)]
        tending = [asyncio.ensure_future(self._tend(share, keep)) for share in shares]
        try:
            waiting = set(tending)
            while waiting and self._left:
                ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
        finally:
            for task in tending:
                task.cancel()
            await asyncio.gather(*tending, return_exceptions=True)
            await self._desk.aclose()
        if self._reached:
            raise self._reached[0]

    async def _tend(self, share: int, keep: Callable[[int, Any], None]) -> None:
        """Keep one worker busy; where it dies, with another one in its place."""
        kind = self._ray.remote(Worker).options(
            num_cpus=1, max_concurrency=share + 4, max_restarts=0, scheduling_strategy="SPREAD"
        )
        while self._queue and not self._reached:
            actor = kind.remote(self._work, versions())
            try:
                if not await self._ready(actor):
                    return
                await self._use(actor, share, keep)
            except _Gone:
                continue
            finally:
                self._ray.kill(actor)

    async def _ready(self, actor: Any) -> bool:
        """Wait until a worker has opened its work; false where it is not needed any more."""
        opening = asyncio.ensure_future(_of(actor.ready.remote()))
        try:
            while not opening.done():
                if self._reached or not self._queue:
                    return False
                await asyncio.wait({opening}, timeout=LOOK_S)
            try:
                failure = opening.result()
            except self._ray.exceptions.RayActorError as error:
                raise PlanrouteError(
                    f"a worker ended before its first episode: {_line(error)}",
                    hint="check the memory and Ray's logs of that machine",
                ) from None
        finally:
            opening.cancel()
        if failure is not None:
            raise failure.error()
        return True

    async def _use(self, actor: Any, share: int, keep: Callable[[int, Any], None]) -> None:
        words: list[tuple[int, Word]] = []

        def flush() -> None:
            actor.told.remote(words[:])
            words.clear()

        def tell(number: int, word: Word) -> None:
            if not words:
                asyncio.get_running_loop().call_soon(flush)
            words.append((number, word))

        asker = Asker(tell)
        listening = asyncio.ensure_future(self._listen(actor, asker))
        slots = [asyncio.ensure_future(self._slot(actor, keep)) for _ in range(share)]
        try:
            if not all(await asyncio.gather(*slots)):
                raise _Gone
        finally:
            for task in (listening, *slots):
                task.cancel()
            self._desk.lost(asker)
            await asyncio.gather(listening, *slots, return_exceptions=True)

    async def _listen(self, actor: Any, asker: Asker) -> None:
        """Bring the worker's questions to the desk for as long as it lives."""
        try:
            while True:
                for message in await _of(actor.batch.remote()):
                    self._desk.take(asker, message)
        except self._ray.exceptions.RayActorError:
            self._desk.lost(asker)

    async def _slot(self, actor: Any, keep: Callable[[int, Any], None]) -> bool:
        """Give one piece after the other to a worker; false once it is dead."""
        while self._queue and not self._reached:
            if self._desk.charging is not None and not self._may_begin(self._desk.charging):
                break
            number = self._queue.popleft()
            try:
                found = await _of(actor.do.remote(number))
            except self._ray.exceptions.RayActorError:
                self._give_back(number)
                return False
            except self._ray.exceptions.RayError as error:
                raise PlanrouteError(f"{self._names[number]} was lost on its way back: {_line(error)}") from None
            if isinstance(found, Failure):
                raised = found.error()
                if not isinstance(raised, RunBudgetReached):
                    raise raised
                self._reached.append(raised)
                break
            self._left -= 1
            keep(number, found)
        return True

    def _may_begin(self, charging: Charging) -> bool:
        try:
            charging.check()
        except RunBudgetReached as limit:
            self._reached.append(limit)
            return False
        return True

    def _give_back(self, number: int) -> None:
        self._died[number] += 1
        if self._died[number] >= TRIES:
            raise PlanrouteError(
                f"{self._names[number]}: {TRIES} workers died while they ran it, the last one just now",
                hint="the machines may lack memory: fewer episodes at once with --concurrency",
            )
        _LOG.warning("a worker died; %s is given to another one", self._names[number])
        self._queue.appendleft(number)


async def _of(reference: Any) -> Any:
    """What a reference of Ray's stands for."""
    return await reference


def _packed(work: Cells | Items, domain: Any, desk: Desk | None) -> bytes:
    """Pickle ``work``. Raises ``InputError`` that names what cannot be."""
    from ray import cloudpickle as typed

    cloudpickle: Any = typed

    try:
        return bytes(cloudpickle.dumps(work))
    except Exception as error:
        why = _line(error)
    parts = [(f"the domain {getattr(domain, 'name', '')!r}", domain)]
    parts += [(f"the model {sent.endpoint}", sent) for sent in (desk.travelling if desk is not None else ())]
    for what, part in parts:
        try:
            cloudpickle.dumps(part)
        except Exception as error:
            raise InputError(
                f"{what} cannot be sent to a worker: {_line(error)}", hint="run it with --runner local"
            ) from None
    raise InputError(f"the cells cannot be sent to a worker: {why}", hint="run them with --runner local")


def _line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:200]


__all__ = ["OnRay"]
