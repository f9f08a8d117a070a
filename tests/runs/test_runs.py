"""Runs: cells by name, in order, once; what is there is read, what is damaged is named."""

import asyncio
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.calls import Sampling
from planroute.declarers import Fixed, Natural
from planroute.domains.grid import GridDomain, make_scenario
from planroute.episode import Conditions
from planroute.errors import InputError
from planroute.experiments.compare import comparison_cells, summarise
from planroute.gate import Gate
from planroute.ledger import Budget
from planroute.modes import MODES, Mode
from planroute.protocols import Task
from planroute.runs.cells import Cell, run_cells
from planroute.runs.execute import cell_identity, execute_run
from planroute.runs.folder import BILLING, CELLS, RunFolder, canonical
from planroute.runs.manner import Manner
from planroute.trace import Trace
from tests.declarers.answering import Answering
from tests.domains.tiny import Line, TinyDomain, TinyWorld

LINES = {"short": Line(places=(1, 3)), "long": Line(places=(2, 5, 1, 9))}
GOOD = '{"mode": "SEQUENTIAL", "replanning": "EVERY_STEP"}'


def tiny_cells(seeds=(1, 2)):
    domain = TinyDomain(LINES)
    return domain, comparison_cells(domain.tasks(), seeds, MODES)


def execute(domain, cells, out=None, **options):
    return asyncio.run(execute_run(domain, cells, config={"command": "test"}, out=out, **options))


def contents(folder: Path, *, but=(BILLING,)) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(f.relative_to(folder)): f.read_bytes() for f in files if f.name not in but}


# Cells


@given(
    st.lists(
        st.tuples(st.text(max_size=150), st.sampled_from([*MODES, "ROUTED"]), st.integers(0, 10**9)),
        unique=True,
        max_size=20,
    )
)
def test_cells_have_names_of_their_own_that_are_safe_as_file_names(cells):
    keys = [Cell(Task(name, ""), mode, seed, Conditions(Fixed(Mode.SEARCH))).key for name, mode, seed in cells]
    assert len(set(keys)) == len(keys)
    for key in keys:
        assert 0 < len(key) <= 130
        assert not set(key) & set('/\\:*?"<>| \0\n')


def test_a_plain_name_is_kept():
    assert Cell(Task("nominal", ""), "SEARCH", 7, Conditions(Fixed(Mode.SEARCH))).key == "nominal-SEARCH-7"


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_episodes_come_in_the_order_of_their_cells_and_no_more_run_at_once_than_allowed(concurrency):
    class Counted(TinyWorld):
        open_now, most = 0, 0

        async def execute(self, unit):
            Counted.open_now += not self.steps
            Counted.most = max(Counted.most, Counted.open_now)
            for _ in range(len(self.line.places)):
                await asyncio.sleep(0)
            return await super().execute(unit)

        async def aclose(self):
            Counted.open_now -= 1

    domain, cells = tiny_cells()
    domain.world = Counted
    told = []
    episodes = asyncio.run(
        run_cells(domain, cells, concurrency=concurrency, finished=lambda cell, episode: told.append(cell.key))
    )
    found = [(e.row.task, e.row.condition, e.row.seed) for e in episodes]
    assert found == [(cell.task.id, cell.condition, cell.seed) for cell in cells]
    assert sorted(told) == sorted(cell.key for cell in cells)
    assert Counted.most == min(concurrency, len(cells))


def test_the_first_error_that_is_not_about_an_episode_ends_the_others():
    class Mistaken(TinyWorld):
        async def execute(self, unit):
            if self.context.seed == 2:
                raise KeyError("typo")
            await asyncio.sleep(3600)

    domain, cells = tiny_cells()
    domain.world = Mistaken
    with pytest.raises(KeyError, match="typo"):
        asyncio.run(run_cells(domain, cells))
    assert all(world.closed for world in domain.opened)


# Runs


def test_a_run_leaves_its_manifest_and_every_cell(tmp_path):
    domain, cells = tiny_cells()
    executed = execute(domain, cells, tmp_path)
    folder = RunFolder(tmp_path)
    assert folder.manifest()["cells"] == [cell.key for cell in cells]
    assert set(folder.manifest()["facts"]) == set(LINES)
    stored = folder.cells()
    assert [cell["row"] for cell in stored] == [json.loads(canonical(asdict(row))) for row in executed.rows]
    for cell in stored:
        Trace.from_json(json.dumps(cell["trace"]))
    assert not list(tmp_path.rglob(".part-*"))
    billing = json.loads((tmp_path / BILLING).read_text())
    assert set(billing["cells"]) == {cell.key for cell in cells}


def test_the_same_run_twice_gives_the_same_bytes(tmp_path):
    for name, concurrency in (("one", 1), ("other", 8)):
        domain, cells = tiny_cells()
        execute(domain, cells, tmp_path / name, manner=Manner(concurrency))
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


def test_a_model_that_takes_other_time_gives_the_same_bytes(tmp_path):
    billing = []
    for name in ("one", "other"):
        domain = TinyDomain(LINES)
        cells = comparison_cells(domain.tasks(), [1], [], model=Answering(GOOD), routed={"ROUTED": Natural()})
        execute(domain, cells, tmp_path / name)
        billing.append((tmp_path / name / BILLING).read_bytes())
    assert billing[0] != billing[1]
    assert contents(tmp_path / "one") == contents(tmp_path / "other")


@pytest.mark.parametrize("lost", [0, 1, 5, 16])
def test_resuming_runs_what_is_missing_and_gives_the_same_bytes(tmp_path, lost):
    domain, cells = tiny_cells()
    whole = execute(domain, cells, tmp_path)
    before = contents(tmp_path)
    gone = [cell.key for cell in cells][::2][:lost] if lost < len(cells) else [cell.key for cell in cells]
    for key in gone:
        (tmp_path / CELLS / f"{key}.json").unlink()
    domain, cells = tiny_cells()
    told = []
    again = execute(domain, cells, tmp_path, finished=lambda: told.append(1))
    assert len(domain.opened) == len(gone)
    assert again.resumed == len(cells) - len(gone)
    assert len(told) == len(cells)
    assert contents(tmp_path) == before
    results = [canonical(summarise(executed.rows, "steps")) for executed in (whole, again)]
    assert results[0] == results[1]


def test_a_run_that_broke_off_is_taken_up_where_it_was(tmp_path):
    class BreaksOff(TinyWorld):
        async def execute(self, unit):
            if self.context.seed == 2 and self.line is LINES["long"]:
                raise RuntimeError("power cut")
            return await super().execute(unit)

    domain, cells = tiny_cells()
    domain.world = BreaksOff
    with pytest.raises(RuntimeError, match="power cut"):
        execute(domain, cells, tmp_path / "broken", manner=Manner(1))
    kept = len(list((tmp_path / "broken" / CELLS).glob("*.json")))
    assert 0 < kept < len(cells)
    domain, cells = tiny_cells()
    assert execute(domain, cells, tmp_path / "broken").resumed == kept
    execute(*tiny_cells(), tmp_path / "whole")
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")


def test_a_resumed_grid_run_gives_the_same_result(tmp_path):
    domain = GridDomain({"cold": make_scenario({"model_hours": [17]})})
    cells = comparison_cells(domain.tasks(), [7], MODES)
    whole = execute(domain, cells, tmp_path)
    (tmp_path / CELLS / "cold-SEARCH-7.json").unlink()
    again = execute(domain, cells, tmp_path)
    assert again.resumed == 3
    assert canonical(summarise(again.rows, "objective")) == canonical(summarise(whole.rows, "objective"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is damaged"),
        ('{"identity": "', "is damaged"),
        ("[]", "is damaged: not an object"),
        ("WITHOUT_ROW", "is damaged: row"),
        ("WRONG_ROW", "is damaged: row"),
    ],
)
def test_a_damaged_cell_is_named_and_alone_run_again(tmp_path, text, told, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    target = tmp_path / CELLS / f"{cells[3].key}.json"
    stored = json.loads(target.read_text())
    if text == "WITHOUT_ROW":
        text = json.dumps({"identity": stored["identity"]})
    elif text == "WRONG_ROW":
        text = json.dumps({**stored, "row": {**stored["row"], "seed": "seven"}})
    target.write_text(text)
    domain.opened.clear()
    assert execute(domain, cells, tmp_path).resumed == len(cells) - 1
    assert f"{target} {told}" in caplog.text
    assert len(domain.opened) == 1


def test_another_run_in_the_folder_is_not_overwritten(tmp_path):
    execute(*tiny_cells(), tmp_path)
    before = contents(tmp_path, but=())
    with pytest.raises(InputError, match="already holds another run — choose another --out"):
        execute(*tiny_cells(seeds=(1, 2, 3)), tmp_path)
    assert contents(tmp_path, but=()) == before


def test_a_folder_that_is_no_run_is_told(tmp_path):
    with pytest.raises(InputError, match=r"is not a run: it has no manifest\.json"):
        RunFolder(tmp_path).manifest()


def test_a_folder_below_a_file_is_wrong_input(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be a folder: Not a directory"):
        execute(*tiny_cells(), tmp_path / "file" / "run")


def test_without_a_folder_nothing_is_kept():
    executed = execute(*tiny_cells())
    assert (executed.resumed, len(executed.rows)) == (0, 16)
    assert executed.rows == execute(*tiny_cells()).rows


# What a cell's identity holds

TASK = Task("line", "fetch", {"slip": 0.1})
CELL = Cell(TASK, "ROUTED", 7, Conditions(Natural(), model=Answering("")))


@pytest.mark.parametrize(
    "other",
    [
        replace(CELL, seed=8),
        replace(CELL, condition="SEARCH"),
        replace(CELL, task=replace(TASK, id="other")),
        replace(CELL, task=replace(TASK, text="other")),
        replace(CELL, task=replace(TASK, factors={"slip": 0.2})),
        replace(CELL, conditions=replace(CELL.conditions, declarer=Natural(draw=1))),
        replace(CELL, conditions=replace(CELL.conditions, declarer=Natural(Sampling(temperature=1.0)))),
        replace(CELL, conditions=replace(CELL.conditions, declarer=Fixed(Mode.SEARCH))),
        replace(CELL, conditions=replace(CELL.conditions, gate=Gate(2.0))),
        replace(CELL, conditions=replace(CELL.conditions, budget=Budget(tokens=5))),
        replace(CELL, conditions=replace(CELL.conditions, deadline_s=2.0)),
        replace(CELL, conditions=replace(CELL.conditions, model=Answering("", name="other"))),
        replace(CELL, conditions=replace(CELL.conditions, model=None)),
    ],
)
def test_whatever_can_change_an_episode_changes_its_identity(other):
    domain = TinyDomain()
    assert cell_identity(domain, other, {}) != cell_identity(domain, CELL, {})
    assert cell_identity(domain, CELL, {}) == cell_identity(TinyDomain(), CELL, {})


def test_facts_and_domain_are_part_of_the_identity():
    identities = {
        cell_identity(TinyDomain(), CELL, {}),
        cell_identity(TinyDomain(), CELL, {"places": [1]}),
        cell_identity(TinyDomain(name="other"), CELL, {}),
    }
    assert len(identities) == 3


def test_the_grids_facts_hold_how_its_messages_are_sampled():
    task = GridDomain().tasks()[0]
    assert GridDomain().facts(task) != GridDomain(sampling=Sampling(temperature=0.9)).facts(task)
