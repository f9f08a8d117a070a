"""Few-shot declaration: which tasks may illustrate the modes, and how they are shown."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.calls import Sampling
from planroute.declarers import Demonstration, FewShot, Fixed, Natural, demonstrations
from planroute.episode import Conditions
from planroute.errors import InputError
from planroute.experiments.demonstrations import demonstrations_of
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from planroute.trace import Trace
from tests.declarers.answering import Answering
from tests.domains.text.rooms import Player, RoomsDomain, act

SEEDS = (7, 13)


def runs(task, winners, seeds=SEEDS, modes=MODES):
    """Forced runs of ``task``; ``winners`` holds, seed by seed, the modes that succeeded."""
    return [
        (task, f"do {task}", mode, seed, mode in won)
        for seed, won in zip(seeds, winners, strict=True)
        for mode in modes
    ]


ONLY_SEARCH = ({Mode.SEARCH}, {Mode.SEARCH})


# Which tasks qualify


def test_one_and_the_same_single_mode_under_both_seeds_qualifies():
    assert demonstrations(runs("a", ONLY_SEARCH)) == (Demonstration("a", "do a", Mode.SEARCH),)


@pytest.mark.parametrize(
    "results",
    [
        runs("a", ({Mode.SEARCH}, {Mode.PREDEFINED})),
        runs("a", ({Mode.SEARCH}, set())),
        runs("a", (set(), set())),
        runs("a", ({Mode.SEARCH, Mode.PREDEFINED}, {Mode.SEARCH, Mode.PREDEFINED})),
        runs("a", ({Mode.SEARCH}, {Mode.SEARCH, Mode.PREDEFINED})),
        runs("a", ({Mode.SEARCH},), (7,)),
        runs("a", ({Mode.SEARCH},) * 3, (7, 13, 42)),
        runs("a", ONLY_SEARCH, modes=MODES[1:]),
        runs("a", ONLY_SEARCH)[:-1],
        [],
    ],
    ids=[
        "another under the second seed",
        "none under the second seed",
        "none",
        "two modes",
        "a second mode under one seed",
        "one seed",
        "three seeds",
        "a mode was not run",
        "one episode is missing",
        "nothing was run",
    ],
)
def test_what_does_not_qualify(results):
    assert demonstrations(results) == ()


def test_at_most_so_many_of_a_mode_in_the_order_of_identities():
    results = [one for name in "dbca" for one in runs(name, ONLY_SEARCH)] + runs("z", ({Mode.PREDEFINED},) * 2)
    found = demonstrations(results, per_mode=3)
    assert [(shot.task_id, shot.mode) for shot in found] == [
        ("z", Mode.PREDEFINED),
        ("a", Mode.SEARCH),
        ("b", Mode.SEARCH),
        ("c", Mode.SEARCH),
    ]
    assert len(demonstrations(results)) == 3


@given(st.randoms(use_true_random=False), st.lists(st.sets(st.sampled_from(MODES)), min_size=6, max_size=6))
def test_the_order_of_results_does_not_matter_and_nothing_else_qualifies(random, won):
    results = [one for n, name in enumerate("abc") for one in runs(name, (won[2 * n], won[2 * n + 1]))]
    found = demonstrations(results)
    shuffled = list(results)
    random.shuffle(shuffled)
    assert demonstrations(shuffled) == found
    wanted = {name for n, name in enumerate("abc") if won[2 * n] == won[2 * n + 1] and len(won[2 * n]) == 1}
    assert {shot.task_id for shot in found} <= wanted
    assert bool(found) == bool(wanted)


# From a stored run


class Houses(RoomsDomain):
    """The same house under several names."""

    def tasks(self):
        (task,) = super().tasks()
        return tuple(replace(task, id=name) for name in ("east", "north", "west"))


def stored_run(folder, modes=MODES, seeds=SEEDS):
    """In east and north only SEARCH reaches the vault; in west everybody does."""
    domain = Houses()
    lost = Player({"action": act("wait")}, name="lost")
    cells = [
        Cell(
            task, mode, seed, Conditions(Fixed(mode), model=Player() if task.id == "west" or mode == "SEARCH" else lost)
        )
        for task in domain.tasks()
        for mode in modes
        for seed in seeds
    ]
    asyncio.run(execute_run(domain, cells, config={}, out=folder))
    return folder


def test_a_forced_run_of_two_seeds_gives_demonstrations_with_their_goals(tmp_path):
    found = demonstrations_of(stored_run(tmp_path / "run"))
    assert found == tuple(Demonstration(name, "get into the vault", Mode.SEARCH) for name in ("east", "north"))


@pytest.mark.parametrize(("modes", "seeds"), [(MODES[:3], SEEDS), (MODES, (7,)), (MODES, (7, 13, 42))])
def test_a_run_without_any_is_one_line(tmp_path, modes, seeds):
    with pytest.raises(InputError, match="holds no task that one and the same single mode solved"):
        demonstrations_of(stored_run(tmp_path / "run", modes, seeds))


def test_a_folder_without_a_run_is_one_line(tmp_path):
    with pytest.raises(InputError, match="is not a run"):
        demonstrations_of(tmp_path)


# Declaring

SHOTS = (Demonstration("east", "walk east", Mode.SEARCH), Demonstration("north", "walk north", Mode.PREDEFINED))


def declare(declarer, seed=7, domain=None):
    domain, model = domain or RoomsDomain(), Answering('{"mode": "SEARCH", "branching": 2}')
    context = Context(seed, Trace(), Ledger(), model)

    async def run():
        task = domain.tasks()[0]
        world = await domain.open(task, context)
        return await declarer.declare(domain, task, world.state(), context)

    return asyncio.run(run()), model


def test_demonstrations_are_shown_as_illustrations():
    declaration, model = declare(FewShot(SHOTS, Sampling(temperature=0.9), draw=2), seed=42)
    (request,) = model.requests
    system = request.messages[0].content
    assert "- walk east: SEARCH\n- walk north: PREDEFINED" in system
    assert "any mode may be right for the new task" in system
    assert (request.purpose, request.draw) == ("few-shot declaration", 2)
    assert (request.sampling.temperature, request.sampling.seed) == (0.9, 42)
    assert declaration.mode is Mode.SEARCH
    assert declaration.ranking == ()


def test_it_differs_from_natural_declaration_in_the_demonstrations_only():
    few, natural = declare(FewShot(SHOTS))[1].requests[0], declare(Natural())[1].requests[0]
    assert few.messages[0].content.startswith(natural.messages[0].content)
    assert few.messages[1] == natural.messages[1]
    assert (few.schema, few.sampling) == (natural.schema, natural.sampling)


def test_identities_are_not_shown():
    _, model = declare(FewShot((Demonstration("secret-id", "walk east", Mode.SEARCH),)))
    assert "secret-id" not in json.dumps([message.content for message in model.requests[0].messages])


def test_a_demonstration_is_never_scored():
    with pytest.raises(ValueError, match="task vault is a demonstration and must not be scored"):
        declare(FewShot((*SHOTS, Demonstration("vault", "get in", Mode.SEARCH))))
