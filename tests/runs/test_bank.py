"""Banks: rows in parts, resumed without running again, equal with and without worker processes."""

import asyncio
import json
from pathlib import Path

import pandas as pd
import pytest

from planroute.declarers import Fixed
from planroute.domains.grid import GridDomain, make_scenario
from planroute.episode import Conditions
from planroute.experiments.scenes import collect_directives
from planroute.gate import Gate
from planroute.modes import MODES
from planroute.runs.bank import PARTS, run_bank
from planroute.runs.cells import Cell
from planroute.runs.table import row_frame, write_table

DOMAIN = GridDomain({"calm": make_scenario({"forecast_noise": 0.0}), "noisy": make_scenario({"forecast_noise": 0.3})})
CELLS = [
    Cell(task, mode, seed, Conditions(Fixed(mode))) for task in DOMAIN.tasks() for mode in MODES for seed in range(14)
]


def banked(out: Path | None = None, workers: int = 1, cells: list[Cell] | None = None, **more: object):
    return asyncio.run(run_bank(DOMAIN, CELLS if cells is None else cells, out=out, workers=workers, **more))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def alone():
    return banked()


def test_rows_come_in_the_order_of_the_cells(alone) -> None:
    assert [(row.task, row.condition, row.seed) for row in alone.rows] == [
        (cell.task.id, cell.condition, cell.seed) for cell in CELLS
    ]


def test_worker_processes_give_the_same_rows(alone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planroute.runs.bank.FEW_PARTS", 2)
    assert banked(workers=2).rows == alone.rows


def test_what_is_stored_is_not_run_again_and_reads_the_same(alone, tmp_path: Path) -> None:
    first = banked(tmp_path, cells=CELLS[:30])
    told: list[int] = []
    again = banked(tmp_path, cells=CELLS[:30], finished=told.append)
    assert (first.resumed, again.resumed, told) == (0, 30, [30])
    assert again.rows == first.rows == alone.rows[:30]


def test_a_missing_part_alone_is_run_again_to_the_same_bytes(tmp_path: Path) -> None:
    banked(tmp_path, cells=CELLS[:30])
    parts = sorted((tmp_path / PARTS).iterdir())
    before = parts[0].read_bytes()
    parts[0].unlink()
    again = banked(tmp_path, cells=CELLS[:30])
    assert 30 - 12 <= again.resumed < 30
    assert parts[0].read_bytes() == before


def test_other_code_and_other_collections_are_other_parts(tmp_path: Path) -> None:
    banked(tmp_path, cells=CELLS[:4])
    assert banked(tmp_path, cells=CELLS[:4], source="other").resumed == 0
    collected = banked(tmp_path, cells=CELLS[:4], collect=collect_directives)
    assert collected.resumed == 0
    assert {row["condition"] for row in collected.collected} == {"PREDEFINED"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda found: found["rows"].pop(),
        lambda found: found["rows"].reverse(),
        lambda found: found.update(identity="other"),
        lambda found: found["rows"][0].update(seed="seven"),
        lambda found: found.pop("collected"),
    ],
)
def test_a_damaged_part_is_named_set_aside_and_made_again(damage, tmp_path: Path, caplog) -> None:
    before = banked(tmp_path, cells=CELLS[:4]).rows
    (part,) = (tmp_path / PARTS).iterdir()
    found = json.loads(part.read_text())
    damage(found)
    part.write_text(json.dumps(found))
    whole = part.read_bytes()
    again = banked(tmp_path, cells=CELLS[:4])
    assert (again.rows, again.resumed) == (before, 0)
    assert f"{part} is damaged" in caplog.text
    assert part.with_name(f"{part.name}.damaged-1").read_bytes() == whole


def test_directives_add_up_to_the_metrics(alone) -> None:
    cells = [cell for cell in CELLS if cell.seed == 3 and cell.task.id == "noisy"]
    found = banked(cells=cells, collect=collect_directives)
    lines = pd.DataFrame(found.collected)
    for row in found.rows:
        mine = lines[lines["condition"] == row.condition]
        assert len(mine) == row.metrics["directives"]
        assert mine["complied"].mean() == pytest.approx(row.metrics["compliance"])
        assert mine["requested_kw"].sum() == pytest.approx(row.metrics["requested_kwh"])
        assert mine["realised_kw"].sum() == pytest.approx(row.metrics["realised_kwh"])
        assert (mine.groupby("node")["asked_before"].apply(list).map(lambda n: n == list(range(len(n))))).all()
        assert mine["position"].between(1, 10).all()


def test_a_table_has_one_line_per_episode_and_survives_parquet(alone, tmp_path: Path) -> None:
    frame = row_frame(alone.rows)
    assert len(frame) == len(CELLS)
    assert frame["metric_objective"].tolist() == [row.metrics["objective"] for row in alone.rows]
    back = pd.read_parquet(write_table(tmp_path / "rows.parquet", frame))
    assert back["metric_objective"].tolist() == frame["metric_objective"].tolist()
    assert set(back["factor_forecast_noise"]) == {0.0, 0.3}
    first = (tmp_path / "rows.parquet").read_bytes()
    assert write_table(tmp_path / "again.parquet", row_frame(banked(cells=CELLS).rows)).read_bytes() == first


def test_cells_that_differ_in_a_deadline_that_only_counts_have_the_rows_of_episodes_of_their_own() -> None:
    domain = GridDomain({f"deadline_s={d}": make_scenario() for d in (2, 4, 8)})
    cells = [
        Cell(task, condition, 7, Conditions(declarer, gate, deadline_s=float(task.id.partition("=")[2])))
        for condition, declarer, gate in (
            *((mode, Fixed(mode), Gate()) for mode in MODES),
            ("GATED", Fixed(MODES[2]), Gate(4.0)),
        )
        for task in domain.tasks()
    ]
    alone = [row for cell in cells for row in asyncio.run(run_bank(domain, [cell], workers=1)).rows]
    together = asyncio.run(run_bank(domain, cells, workers=1))
    assert list(together.rows) == alone
    assert {row.late_events for row in together.rows if row.condition == "HIERARCHICAL"} == {9, 0}
    assert {row.failure for row in together.rows if row.condition == "HIERARCHICAL"} >= {"DEADLINE_MISS"}
