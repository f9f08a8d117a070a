"""Disks that are full, folders that cannot be written, caches that are cut off: one clear line, and nothing is lost."""

import asyncio
import os
import shutil
import subprocess

import pytest

from planroute.calls import Message, ModelRequest, Sampling
from planroute.declarers import Natural
from planroute.errors import StorageError
from planroute.experiments.compare import comparison_cells
from planroute.models import CachedModel, CallCache
from planroute.models.scripted import ScriptedModel
from planroute.modes import MODES
from planroute.runs.execute import execute_run
from planroute.runs.folder import BILLING, CELLS, MANIFEST, RunFolder
from planroute.runs.manner import Manner
from tests.domains.tiny import Line, TinyDomain
from tests.runs.test_runs import GOOD, contents, execute, tiny_cells


class Counted:
    """A model that counts what it is asked."""

    endpoint = "counted"

    def __init__(self):
        self.asked = 0
        self.model = ScriptedModel("counted", lambda request: GOOD)

    async def complete(self, request):
        self.asked += 1
        return await self.model.complete(request)

    async def aclose(self):
        pass


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 2 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.run(mount, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def asking_cells(model, seeds=8):
    domain = TinyDomain({"long": Line(places=(2, 5, 1, 9))})
    routed = {"ROUTED": Natural(Sampling(max_tokens=50))}
    return domain, comparison_cells(domain.tasks(), range(seeds), MODES, model=model, routed=routed)


def fill(disk, leave):
    """Leave only so many bytes."""
    free = shutil.disk_usage(disk).free
    with (disk / "ballast").open("wb") as file:
        file.write(bytes(free - leave))


@pytest.mark.parametrize("leave", [8 << 10, 64 << 10])
def test_a_full_disk_is_one_line_and_what_was_finished_is_kept(small_disk, tmp_path, leave):
    fill(small_disk, leave)
    domain, cells = tiny_cells(seeds=range(12))
    with pytest.raises(StorageError, match="No space left on device") as error:
        execute(domain, cells, small_disk / "run")
    assert "\n" not in str(error.value)
    kept = {path.name: path.read_bytes() for path in (small_disk / "run").glob(f"{CELLS}/*.json")}
    assert not [path for path in (small_disk / "run").rglob("*") if ".part-" in path.name]
    (small_disk / "ballast").unlink()
    resumed = execute(domain, cells, small_disk / "run")
    assert resumed.resumed == len(kept)
    assert {name: (small_disk / "run" / CELLS / name).read_bytes() for name in kept} == kept
    execute(domain, cells, tmp_path / "whole")
    assert contents(small_disk / "run") == contents(tmp_path / "whole")


def test_a_full_disk_under_the_cache_loses_no_answer_that_was_kept(small_disk, tmp_path):
    model = Counted()
    cached = CachedModel(model, CallCache(small_disk / "calls.sqlite"))
    fill(small_disk, 24 << 10)

    async def run():
        domain, cells = asking_cells(cached, seeds=60)
        await execute_run(domain, cells, config={}, out=tmp_path / "run", manner=Manner(1))

    with pytest.raises(StorageError, match="full"):
        asyncio.run(run())
    paid = model.asked
    (small_disk / "ballast").unlink()
    asyncio.run(run())
    assert model.asked == 60 + 1  # the call whose answer found no room is asked again, and no other
    assert paid > 1


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    domain, cells = tiny_cells()
    place = tmp_path / "closed"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("no read-only folder can be mounted here")
    try:
        with pytest.raises(StorageError, match="Read-only file system") as error:
            execute(domain, cells, place / "run")
        assert "\n" not in str(error.value)
        with pytest.raises(StorageError, match=r"call cache .* check the folder"):
            CallCache(place / "calls.sqlite")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
    assert not domain.opened


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_cache_that_is_cut_off_is_set_aside_and_only_what_it_lost_is_asked_again(tmp_path, share, caplog):
    path, model = tmp_path / "calls.sqlite", Counted()

    def ask_all():
        cache = CallCache(path)
        cached = CachedModel(model, cache)

        async def ask():
            for number in range(200):
                question = ModelRequest("test", (Message("user", f"question {number} {'x' * 300}"),))
                assert (await cached.complete(question)).text == GOOD

        asyncio.run(ask())
        cache.close()

    ask_all()
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    model.asked = 0
    ask_all()
    assert 0 < model.asked <= 200
    assert "damaged-1" in caplog.text
    assert (tmp_path / "calls.sqlite.damaged-1").stat().st_size == int(len(whole) * share)
    model.asked = 0
    ask_all()
    assert model.asked == 0


def test_a_damaged_billing_and_result_do_not_stop_a_run(tmp_path):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    for name in (BILLING, "result.json"):
        (tmp_path / name).write_bytes(b"\xff\x00{")
    assert execute(domain, cells, tmp_path).resumed == len(cells)
    assert RunFolder(tmp_path).billing()["seconds"] > 0
    assert (tmp_path / MANIFEST).is_file()
