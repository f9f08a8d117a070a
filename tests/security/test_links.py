"""A link in a run's folder, which somebody else may have made, is never written through."""

import asyncio

import pytest

from planroute.errors import InputError
from planroute.experiments.definition import load_experiment
from planroute.experiments.interfaces import study_interfaces
from planroute.experiments.setting import Setting
from planroute.runs.billing import BILLING, JOURNAL
from planroute.runs.folder import CELLS, MANIFEST, PARTS, RESULT, RunFolder
from planroute.runs.pack import PACK, pack, unpack
from tests.experiments.ruled import Ruled, any_interface
from tests.runs.test_runs import execute, tiny_cells


@pytest.fixture
def elsewhere(tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "precious.json").write_text("kept")
    yield place
    assert [(path.name, path.read_text()) for path in place.iterdir()] == [("precious.json", "kept")]


@pytest.mark.parametrize("name", [CELLS, PARTS])
def test_a_linked_folder_of_a_run_is_refused_before_anything_is_run(elsewhere, tmp_path, name):
    run = tmp_path / "run"
    run.mkdir()
    (run / name).symlink_to(elsewhere)
    domain, cells = tiny_cells()
    with pytest.raises(InputError, match=f"run/{name} is a link — remove it"):
        execute(domain, cells, run)
    assert domain.opened == []
    with pytest.raises(InputError, match=f"run/{name} is a link"):
        RunFolder(run).write(f"{name}/cell.json", "{}")


def test_what_a_link_leads_to_is_neither_packed_nor_unpacked(elsewhere, tmp_path):
    run = tmp_path / "run"
    execute(*tiny_cells(), run)
    pack(run)
    (run / CELLS).rmdir()
    (run / CELLS).symlink_to(elsewhere)
    for work in (unpack, pack):
        with pytest.raises(InputError, match="cells is a link"):
            work(run)
    assert (run / PACK).is_file()


def test_lines_of_billing_are_not_written_through_a_link(elsewhere, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / JOURNAL).symlink_to(elsewhere / "precious.json")
    with pytest.raises(InputError, match=f"{JOURNAL} is a link"):
        execute(*tiny_cells(), run)


def test_a_linked_file_of_a_run_is_replaced_and_not_written_through(elsewhere, tmp_path):
    run = tmp_path / "run"
    execute(*tiny_cells(), run)
    for name in (MANIFEST, BILLING, RESULT):
        target = run / name
        content = target.read_text() if target.exists() else "{}"
        target.unlink(missing_ok=True)
        target.symlink_to(elsewhere / "precious.json")
        RunFolder(run).write(name, content)
        assert not target.is_symlink()
        assert target.read_text() == content


def test_records_of_a_study_are_not_written_through_a_link(elsewhere, tmp_path):
    run, model = tmp_path / "run", Ruled(any_interface)
    run.mkdir()
    (run / "records.jsonl").symlink_to(elsewhere / "precious.json")
    with pytest.raises(InputError, match=r"records\.jsonl is a link"):
        asyncio.run(study_interfaces(load_experiment("M1"), Setting(models={"it": model}, states=1, draws=1), out=run))
    assert model.requests == []
