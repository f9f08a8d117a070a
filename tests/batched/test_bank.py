"""Banks as files: whole or not there, the same bytes however they were cut, resumed by chunk."""

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from planroute.batched import Episodes, bank, fill
from planroute.batched.bank import chunks, count, parts_of
from planroute.domains.grid import make_scenario
from planroute.errors import InputError
from planroute.modes import MODES
from planroute.runs.table import read_rows

NOMINAL = Episodes({"nominal": make_scenario()}, MODES)


def whole(path, *ranges, **options):
    fill(NOMINAL, ranges, path, **options)
    return path.read_bytes()


def test_chunks_change_no_byte(tmp_path):
    one = whole(tmp_path / "one.parquet", range(9))
    assert whole(tmp_path / "small.parquet", range(9), chunk=2) == one
    assert whole(tmp_path / "parts.parquet", range(4), range(4, 9), chunk=5) == one
    assert not list(tmp_path.glob(".part-*"))


@pytest.mark.slow
def test_workers_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "SEEDS_PER_WORKER", 3)
    one = whole(tmp_path / "one.parquet", range(9))
    assert whole(tmp_path / "two.parquet", range(9), chunk=3, workers=2) == one


def test_row_groups_hold_whole_seeds_and_follow_no_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(bank, "GROUP", 43)
    for chunk in (3, 40):
        fill(NOMINAL, (range(25),), tmp_path / "b.parquet", chunk=chunk)
        file = pq.ParquetFile(tmp_path / "b.parquet")
        assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [40, 40, 20]


def test_rows_are_read_as_those_of_any_run(tmp_path):
    found = fill(NOMINAL, (range(3), range(7, 8)), tmp_path / "b.parquet", chunk=2)
    rows = read_rows(tmp_path / "b.parquet")
    assert [(row.seed, row.condition) for row in rows] == [(seed, mode) for seed in (0, 1, 2, 7) for mode in MODES]
    for mode in MODES:
        costs = [row.metrics["objective"] for row in rows if row.condition == mode]
        assert found.means["nominal"][mode] == pytest.approx(np.mean(costs))


def test_an_interrupted_bank_goes_on_by_chunk(tmp_path):
    out, begun = tmp_path / "b.parquet", []

    def stop():
        begun.append(1)
        if len(begun) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(NOMINAL, (range(8),), out, chunk=2, finished=stop)
    assert not out.exists()
    done = sorted(parts_of(out).glob("*.parquet"))
    assert len(done) == 2
    done[0].write_bytes(b"half of it")
    assert fill(NOMINAL, (range(8),), out, chunk=2).resumed == 2
    assert out.read_bytes() == whole(tmp_path / "other.parquet", range(8))


def test_chunks_of_other_episodes_or_code_are_not_taken(tmp_path):
    out = tmp_path / "b.parquet"

    def left_over(source):
        with pytest.raises(KeyboardInterrupt):
            fill(NOMINAL, (range(4),), out, chunk=2, source=source, finished=interrupt)

    def interrupt():
        raise KeyboardInterrupt

    left_over("some code")
    other = Episodes({"nominal": make_scenario({"stress": 1.1})}, MODES)
    assert fill(other, (range(4),), out, chunk=2, source="some code").resumed == 0
    left_over("some code")
    assert fill(NOMINAL, (range(4),), out, chunk=2, source="other code").resumed == 0
    left_over("some code")
    assert fill(NOMINAL, (range(4),), out, chunk=2, source="some code").resumed == 2


def test_chunks_cover_every_seed_once_in_order():
    seeds = (range(5, 8), range(1), range(100, 104))
    for size in (1, 2, 3, 4, 8, 100):
        cut = list(chunks(seeds, size))
        assert [seed for some in cut for part in some for seed in part] == [5, 6, 7, 0, 100, 101, 102, 103]
        assert all(count(some) == size for some in cut[:-1])
    assert next(chunks((range(10**15),), 10**6)) == (range(10**6),)


def test_a_scenario_with_a_model_in_it_is_refused():
    with pytest.raises(InputError, match="no language model"):
        Episodes({"nominal": make_scenario({"communication": "model"})}, MODES)


def test_the_command(planroute, tmp_path):
    out = tmp_path / "deep" / "b.parquet"
    status, shown, _ = planroute(
        *("grid", "bank", "--seeds", "0-2,9", "--modes", "search,sequential", "--vary", "stress=1,1.2"),
        *("--set", "mean_resistance=0.5", "--deadline", "2", "--out", out, "--json", "--workers", "1"),
    )
    told, frame = json.loads(shown), pd.read_parquet(out)
    assert (status, told["episodes"], len(frame)) == (0, 16, 16)
    assert sorted(set(frame["task"])) == sorted(told["mean_objective"]) == ["stress=1", "stress=1.2"]
    assert set(frame["factor_mean_resistance"]) == {0.5}
    assert frame.groupby("condition")["late_events"].max().to_dict() == {"SEARCH": 1, "SEQUENTIAL": 0}
    status, shown, _ = planroute("grid", "bank", "--episodes", "8", "--out", out)
    assert (status, len(pd.read_parquet(out))) == (0, 8)
    assert "8 episodes" in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--episodes", "10"], "multiple of 4"),
        (["--episodes", "8", "--seeds", "1"], "either --episodes or --seeds"),
        ([], "either --episodes or --seeds"),
        (["--seeds", "5-1,x,3,2-4"], "3 problems"),
        (["--seeds", "0-99999999999999999999"], "beyond"),
        (["--seeds", "0-999999999999"], "more than"),
        (["--seeds", "1", "--modes", "magic"], "not a mode"),
        (["--seeds", "1", "--set", "stress=9"], "stress"),
        (["--seeds", "1", "--set", "stress=1", "--vary", "stress=1,2"], "given twice"),
        (["--seeds", "1", "--vary", "stress"], "NAME=V1,V2"),
        (["--seeds", "1", "--vary", "stress=1,1"], "given twice"),
        (["--seeds", "1", "--set", "communication=model"], "no language model"),
        (["--seeds", "1", "--chunk", "0"], "--chunk"),
        (["--episodes", "0"], "--episodes"),
    ],
)
def test_wrong_input_is_told_in_a_line(planroute, tmp_path, arguments, told):
    status, _, shown = planroute("grid", "bank", *arguments, "--out", tmp_path / "b.parquet")
    assert status == 2
    assert told in shown
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written(planroute, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path, tmp_path / "file" / "b.parquet"):
        status, _, shown = planroute("grid", "bank", "--episodes", "4", "--out", out)
        assert (status, shown.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    shutil.rmtree(tmp_path)
