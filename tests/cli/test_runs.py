"""``planroute runs``: what there is, going on with it, packing it, clearing it up."""

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from planroute.runs.folder import BILLING, CELLS, MANIFEST, REPORT
from planroute.runs.lock import held
from planroute.runs.pack import PACK


def kept(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name not in (BILLING, MANIFEST, REPORT)}


@pytest.fixture
def run(planroute, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, error = planroute("compare", "grid", "--seeds", "7,13", "--modes", "PREDEFINED", "--out", "runs/one")
    assert (status, error) == (0, "")
    return tmp_path / "runs" / "one"


def told(planroute, *arguments):
    status, out, error = planroute("runs", *arguments, "--json")
    assert status == 0, error
    return json.loads(out)


def test_a_list_tells_how_far_each_run_is(planroute, run):
    (cell, *_) = sorted((run / CELLS).iterdir())
    cell.unlink()
    (found,) = told(planroute, "list")["runs"]
    assert (found["path"], found["state"], found["finished"], found["cells"]) == ("runs/one", "partial", 1, 2)
    assert found["missing"] == [cell.stem]
    status, out, _ = planroute("runs", "list", "runs")
    assert status == 0
    assert "1 of 2" in out
    with held(run):
        assert told(planroute, "list")["runs"][0]["state"] == "running"


def test_a_run_goes_on_from_its_folder_alone_also_where_it_was_moved(planroute, run, monkeypatch, tmp_path):
    before = kept(run)
    for lost in (run / CELLS).iterdir():
        lost.unlink()
    moved = run.rename(tmp_path / "elsewhere")
    monkeypatch.chdir("/")
    status, _, error = planroute("runs", "resume", moved)
    assert status == 0, error
    assert f"--out {moved}" in error
    assert kept(moved) == before
    assert not run.exists()


def test_a_command_that_sends_the_key_to_a_stranger_is_not_resumed(planroute, run):
    manifest = json.loads((run / MANIFEST).read_text())
    for command in (
        ["compare", "grid", "--model", "http://stranger.example/v1#m", "--out", "runs/one"],
        ["experiment", "E1", "--model", "http://127.0.0.1:1/v1#m,http://stranger.example/v1#m", "--out", "runs/one"],
        ["compare", "grid", "--model", "openai:m", "--base-url=https://stranger.example/v1", "--out", "runs/one"],
    ):
        manifest["environment"]["command"] = command
        (run / MANIFEST).write_text(json.dumps(manifest))
        status, _, error = planroute("runs", "resume", run)
        assert status == 2
        assert "sends your key there — add --trust" in error
    for command in (["runs", "gc"], ["report", "x"], [], "compare", [1], None):
        manifest["environment"]["command"] = command
        (run / MANIFEST).write_text(json.dumps(manifest))
        assert planroute("runs", "resume", run)[0] == 2


def test_a_key_in_an_address_is_in_no_manifest(planroute, tmp_path):
    address = "http://user:canary-pass@127.0.0.1:9/v1?key=canary-key&api-version=2#m"
    arguments = ("--model", address, "--modes", "PREDEFINED", "--seeds", "7", "--declarer", "hybrid", "--no-cache")
    planroute("compare", "grid", *arguments, "--out", tmp_path / "run")
    text = (tmp_path / "run" / MANIFEST).read_text()
    assert "canary" not in text
    assert "http://127.0.0.1:9/v1?api-version=2#m" in json.loads(text)["environment"]["command"]


def test_a_packed_run_is_small_and_comes_back_byte_for_byte(planroute, run):
    before = kept(run)
    packed = told(planroute, "pack", run)
    assert packed["episodes"] == 2
    assert packed["bytes_after"] < packed["bytes_before"] / 3
    assert not list((run / CELLS).iterdir())
    assert told(planroute, "list")["runs"][0]["state"] == "packed"
    assert told(planroute, "unpack", run)["episodes"] == 2
    assert kept(run) == before
    told(planroute, "pack", run)
    status, _, error = planroute("compare", "grid", "--seeds", "7,13", "--modes", "PREDEFINED", "--out", run)
    assert status == 0, error
    assert kept(run) == before
    status, _, error = planroute("runs", "unpack", run)
    assert (status, "is not packed" in error) == (2, True)


def test_a_pack_is_written_to_no_name_that_somebody_knows_beforehand(planroute, run, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (run / f".part-{PACK}").symlink_to(victim)
    assert told(planroute, "pack", run)["episodes"] == 2
    assert victim.read_text() == "precious"
    assert not (run / PACK).is_symlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"content": [None, None]}, "2 cells are not what was packed"),
        ({"content": [b"\xff", b"\xff"], "sha256": [hashlib.sha256(b"\xff").hexdigest()] * 2}, "2 cells are not what"),
        ({"cell": [None, None]}, "2 cells are not what was packed"),
    ],
)
def test_a_pack_that_somebody_made_is_told_in_a_line(planroute, run, change, said):
    told(planroute, "pack", run)
    table = pq.read_table(run / PACK)
    for name, values in change.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, pa.array(values, table.schema.field(name).type))
    pq.write_table(table, run / PACK)
    status, _, error = planroute("runs", "unpack", run)
    assert status != 0
    assert said in error
    assert error.count("\n") == 1


def test_a_damaged_pack_is_set_aside_and_its_cells_run_again(planroute, run, caplog):
    before = kept(run)
    told(planroute, "pack", run)
    pack = bytearray((run / PACK).read_bytes())
    pack[len(pack) // 4] ^= 0xFF
    (run / PACK).write_bytes(pack)
    status, _, error = planroute("compare", "grid", "--seeds", "7,13", "--modes", "PREDEFINED", "--out", run)
    assert status == 0, error
    assert f"{PACK} is damaged" in caplog.text
    (run / f"{PACK}.damaged-1").unlink()
    assert kept(run) == before


def test_what_nothing_reads_is_cleared_up_and_nothing_else(planroute, run):
    before = kept(run)
    for name in (".part-x", f"{CELLS}/.part-y", f"{CELLS}/other.json", f"{CELLS}/a.json.damaged-1", "mine.txt"):
        (run / name).write_text("left")
    assert sorted(told(planroute, "gc", run, "--dry-run")["found"]) == [".part-x", "cells/.part-y", "cells/other.json"]
    told(planroute, "gc", run)
    assert (run / f"{CELLS}/a.json.damaged-1").exists()
    told(planroute, "gc", run, "--damaged")
    assert kept(run) == {**before, "mine.txt": b"left"}


def test_show_reads_every_episode_and_names_damage(planroute, run):
    found = told(planroute, "show", run)
    assert (found["state"], found["status"]) == ("complete", {"finished": 2})
    (cell, *_) = sorted((run / CELLS).iterdir())
    cell.write_text("{")
    found = told(planroute, "show", run)
    assert found["state"] == "damaged"
    assert str(cell) in found["fault"]
    status, out, _ = planroute("runs", "show", run)
    assert (status, "damage" in out) == (0, True)


@pytest.mark.parametrize("command", ["show", "resume", "gc", "pack", "unpack"])
def test_what_is_no_run_is_one_line(planroute, tmp_path, command):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path, tmp_path / "nothing", tmp_path / "file"):
        status, _, error = planroute("runs", command, place)
        assert status == 2
        assert error.startswith("planroute: ")
        assert error.count("\n") == 1


def test_budgets_stop_a_run_keep_what_is_finished_and_hold_over_all_starts(planroute, tmp_path):
    cache = ("--cache", tmp_path / "calls.sqlite")
    command = ("compare", "alfworld", "--model", "scripted/slip=0", "--tasks", "1", "--seeds", "7", *cache)
    status, _, error = planroute(*command, "--out", tmp_path / "run", "--budget-tokens", "9000", "--concurrency", "1")
    assert status == 1
    assert "the run's budget of 9,000 tokens is reached — what was finished is kept" in error
    part = told(planroute, "show", tmp_path / "run")
    assert 0 < part["finished"] < part["cells"]
    assert part["tokens"] >= 9000
    status, _, error = planroute(*command, "--out", tmp_path / "run", "--budget-tokens", "9001")
    assert (status, told(planroute, "show", tmp_path / "run")["tokens"]) == (1, part["tokens"])
    status, _, error = planroute("runs", "resume", tmp_path / "run", "--budget-tokens", "9000000")
    assert status == 0, error
    assert planroute(*command[:-2], "--no-cache", "--out", tmp_path / "whole")[0] == 0
    assert kept(tmp_path / "run") == kept(tmp_path / "whole")
