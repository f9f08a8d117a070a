"""Folders that are damaged, foreign or shared: one line names what is wrong, and nothing of them is lost."""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from planroute.declarers import Fixed
from planroute.episode import Conditions
from planroute.errors import DomainError, InputError, ModelUnavailable, StorageError
from planroute.experiments.compare import comparison_cells, summarise
from planroute.modes import MODES, Mode
from planroute.protocols import Outcome, Task
from planroute.runs.billing import JOURNAL
from planroute.runs.cells import Cell
from planroute.runs.folder import BILLING, CELLS, MANIFEST, RESULT, RunFolder, canonical
from planroute.runs.manner import Manner
from tests.domains.tiny import Line, TinyDomain, TinyWorld
from tests.runs.test_runs import contents, execute, tiny_cells

DEEP = "[" * 200_000
ROOT = Path(__file__).parents[2]


def change(path, function):
    data = json.loads(path.read_text(encoding="utf-8"))
    function(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def names(folder):
    return {path.name for path in folder.iterdir()}


class Unreachable(TinyWorld):
    async def execute(self, unit):
        if self.context.seed == 2:
            raise ModelUnavailable("no answer")
        return await super().execute(unit)


# What runs again


def test_failures_of_the_infrastructure_run_again(tmp_path):
    domain, cells = tiny_cells()
    domain.world = Unreachable
    first = execute(domain, cells, tmp_path / "run")
    assert sum(row.status == "infrastructure" for row in first.rows) == len(cells) / 2
    domain, cells = tiny_cells()
    again = execute(domain, cells, tmp_path / "run")
    assert (again.resumed, len(domain.opened)) == (len(cells) / 2, len(cells) / 2)
    assert {row.status for row in again.rows} == {"finished"}
    execute(*tiny_cells(), tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_two_cells_of_one_name_are_refused_before_anything_runs(tmp_path):
    domain, cells = tiny_cells(seeds=(1, 2, 1))
    with pytest.raises(InputError, match="2 cells are named short-PREDEFINED-1"):
        execute(domain, cells, tmp_path / "run")
    assert not domain.opened
    assert not (tmp_path / "run").exists()


def test_a_resumed_row_is_the_row_that_was_written(tmp_path):
    class Counting(TinyWorld):
        def outcome(self):
            return Outcome(True, {"steps": 3, "share": 3.0, "none": None})

    results = []
    for _ in range(2):
        domain, cells = tiny_cells()
        domain.world = Counting
        executed = execute(domain, cells, tmp_path / "run")
        results.append(canonical([dict(row.metrics) for row in executed.rows]))
    assert executed.resumed == len(cells)
    assert results[0] == results[1]
    assert '"steps": 3\n' in results[0]


@pytest.mark.parametrize("lost", [0, 3, 16])
def test_equal_commands_give_equal_bytes_in_all_but_billing_and_environment(tmp_path, lost):
    def command(folder, concurrency):
        domain, cells = tiny_cells()
        executed = execute(domain, cells, folder, manner=Manner(concurrency))
        RunFolder(folder).write(RESULT, canonical(summarise(executed.rows, "steps")))

    command(tmp_path / "one", 1)
    command(tmp_path / "other", 8)
    for path in sorted((tmp_path / "other" / CELLS).iterdir())[:lost]:
        path.unlink()
    change(tmp_path / "other" / MANIFEST, lambda manifest: manifest.update(environment={"python": "3.0"}))
    command(tmp_path / "other", 2)
    assert contents(tmp_path / "one") == contents(tmp_path / "other")
    assert names(tmp_path / "one") == {MANIFEST, CELLS, BILLING, RESULT}


SCRIPT = """
import sys
from pathlib import Path
from tests.runs.test_runs import execute, tiny_cells
execute(*tiny_cells(), Path(sys.argv[1]))
"""


def test_another_process_with_another_hash_seed_gives_the_same_bytes(tmp_path):
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / seed], check=True, env=environment, cwd=ROOT)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


# Cells


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("row.seed", 99, "row.seed: 99"),
        ("row.seed", True, "row.seed: "),
        ("row.condition", "OTHER", "row.condition: 'OTHER'"),
        ("row.task", "other", "row.task: 'other'"),
        ("row.domain", "grid", "row.domain: 'grid'"),
        ("row.declarer", "other", "row.declarer: 'other'"),
        ("row.status", "unknown", "row.status: "),
        ("row.stop", "unknown", "row.stop: "),
        ("row.metrics.steps", float("nan"), "row.metrics.steps: not a finite number"),
        ("row.metrics.steps", float("inf"), "row.metrics.steps: not a finite number"),
        ("row.metrics.steps", "3", "row.metrics.steps: "),
        ("row.metrics.steps", True, "row.metrics.steps: "),
        ("row.metrics", None, "row.metrics: "),
        ("row.metrics.steps", 10**400, "row.metrics.steps: too large"),
        ("row.metrics.steps", -(10**400), "row.metrics.steps: too large"),
        ("row.metrics.adherence", 5, "row.metrics.adherence: 5 is no share from 0 to 1"),
        ("row.spent", {"environment": {"interactions": -5}}, "row.spent.environment.interactions: "),
        ("row.spent", {"environment": {"interactions": 10**400}}, "row.spent.environment.interactions: too large"),
        ("row.failure", "BAD LUCK", "row.failure: "),
        ("row.late_events", -1, "row.late_events: "),
        ("row.stop", "BUDGET", "row.stop: 'BUDGET', but "),
        ("row.executed", "OTHER", "row.executed: 'OTHER', but "),
        ("row.spent", {"planning": {"planning_s": "x"}}, "row.spent.planning.planning_s: "),
        ("row.spent", {"planning": {"planning_s": float("nan")}}, "row.spent.planning.planning_s: not a finite"),
        ("row.spent", {"planning": {"planning_s": None}}, "row.spent.planning.planning_s: "),
        ("row.planning", [{"kind": "plan"}], "row.planning.0.after_units: "),
        ("row.factors", {"slip": float("-inf")}, "row.factors.slip: not a finite number"),
        ("row", [], "row: "),
        ("trace", None, "trace: "),
        ("trace.schema", 9, "trace.schema: 9"),
        ("identity", "other", "identity: "),
        ("identity", None, "identity: "),
    ],
)
def test_a_cell_that_is_not_its_own_is_named_set_aside_and_run_again(tmp_path, field, value, told, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    whole = contents(tmp_path)
    target = tmp_path / CELLS / f"{cells[0].key}.json"

    def apply(stored):
        *parents, last = field.split(".")
        for name in parents:
            stored = stored[name]
        stored[last] = value

    change(target, apply)
    damaged = target.read_text()
    domain.opened.clear()
    assert execute(domain, cells, tmp_path).resumed == len(cells) - 1
    assert f"{target} is damaged: {told}" in caplog.text
    assert len(domain.opened) == 1
    aside = target.with_name(f"{target.name}.damaged-1")
    assert aside.read_text() == damaged
    aside.unlink()
    assert contents(tmp_path) == whole


def test_a_failed_episode_that_succeeded_is_not_believed(tmp_path, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    target = tmp_path / CELLS / f"{cells[0].key}.json"
    change(target, lambda stored: stored["row"].update(success=True, status="failed"))
    execute(domain, cells, tmp_path)
    assert "row.success: true in an episode that is failed" in caplog.text


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 200_000, '{"identity": ' + "9" * 5000 + "}", b"\xff\xfe"])
def test_unreadable_cells_and_manifests_are_named_set_aside_and_made_again(tmp_path, text, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    whole = contents(tmp_path)
    for target, resumed in ((tmp_path / CELLS / f"{cells[0].key}.json", len(cells) - 1), (tmp_path / MANIFEST, 16)):
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        for reader in (RunFolder(tmp_path).manifest, RunFolder(tmp_path).cells):
            with pytest.raises(InputError, match="is damaged"):
                reader() if target.name == MANIFEST else RunFolder(tmp_path).cells()
        assert execute(domain, cells, tmp_path).resumed == resumed
        assert f"{target} is damaged" in caplog.text
        aside = target.with_name(f"{target.name}.damaged-1")
        assert aside.read_bytes() == (text if isinstance(text, bytes) else text.encode())
        aside.unlink()
        assert contents(tmp_path) == whole


def test_a_deeply_nested_row_is_named(tmp_path, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    target = tmp_path / CELLS / f"{cells[0].key}.json"
    text = target.read_text()
    target.write_text(text.replace('"factors": {', '"factors": {"a": ' + "[" * 900 + "]" * 900 + ","))
    assert execute(domain, cells, tmp_path).resumed == len(cells) - 1
    assert f"{target} is damaged" in caplog.text


def test_cells_that_are_read_for_others_are_checked_too(tmp_path):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    change(tmp_path / CELLS / f"{cells[0].key}.json", lambda stored: stored["row"].pop("success"))
    with pytest.raises(InputError, match=r"is damaged: row\.success"):
        RunFolder(tmp_path).cells()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", [MANIFEST, "cell", JOURNAL, BILLING])
def test_a_named_pipe_is_not_waited_for(tmp_path, name):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    target = tmp_path / (f"{CELLS}/{cells[0].key}.json" if name == "cell" else name)
    target.unlink(missing_ok=True)
    os.mkfifo(target)
    if name == BILLING:
        execute(domain, cells, tmp_path)
        assert target.is_file()
        return
    with pytest.raises((InputError, StorageError), match="not a file"):
        execute(domain, cells, tmp_path)


def test_a_number_that_is_not_finite_is_the_domains_error(tmp_path):
    class Endless(TinyWorld):
        def outcome(self):
            return Outcome(True, {"steps": float("nan")})

    domain, cells = tiny_cells()
    domain.world = Endless
    with pytest.raises(DomainError, match="not finite"):
        execute(domain, cells, tmp_path)


@pytest.mark.parametrize("name", ["caf\udce9", "\ud800", "東" * 150, "a/b\0c"])
def test_any_name_is_run_stored_and_read_again(tmp_path, name):
    def command():
        domain = TinyDomain({name: Line()})
        return execute(domain, comparison_cells(domain.tasks(), [1], MODES), tmp_path)

    first, again = command(), command()
    assert (first.resumed, again.resumed) == (0, 4)
    assert {row.task for row in again.rows} == {name}
    for text in contents(tmp_path).values():
        json.loads(text.decode("utf-8"))


def test_names_that_differ_in_invalid_text_differ():
    keys = {Cell(Task(n, ""), "A", 1, Conditions(Fixed(Mode.SEARCH))).key for n in ("\udce9", "\udce8", "_")}
    assert len(keys) == 3
    assert all(len(key.encode()) <= 130 for key in keys)


# Billing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        DEEP,
        '{"seconds": "x", "cells": {}}',
        '{"seconds": 1.0, "cells": []}',
        '{"seconds": NaN, "cells": {}}',
        '{"seconds": -1, "cells": {}}',
        '{"seconds": true, "cells": {}}',
        '{"seconds": 1' + "0" * 400 + ', "cells": {}}',
        '{"seconds": 1.0, "cells": {"a": null}}',
        '{"seconds": 1.0, "cells": {"a": {"b": {"price_usd": "x"}}}}',
        '{"seconds": 1.0, "cells": {"a": {"b": {"price_usd": Infinity}}}}',
    ],
)
def test_a_damaged_billing_is_set_aside(tmp_path, text, caplog):
    domain, cells = tiny_cells()
    execute(domain, cells, tmp_path)
    for number in (1, 2):
        (tmp_path / BILLING).write_text(text)
        assert RunFolder(tmp_path).billing() == {}
        with caplog.at_level(logging.WARNING):
            execute(domain, cells, tmp_path)
        assert (tmp_path / f"{BILLING}.damaged-{number}").read_text() == text
        assert f"set aside as {BILLING}.damaged-{number}" in caplog.text
        assert RunFolder(tmp_path).billing()["seconds"] > 0


KILLED = """
import os, signal, sys
from pathlib import Path
from planroute.runs.manner import Manner
from tests.runs.test_runs import execute, tiny_cells
ended = []
def one():
    ended.append(1)
    if len(ended) == 5:
        os.kill(os.getpid(), signal.SIGKILL)
execute(*tiny_cells(), Path(sys.argv[1]), finished=one, manner=Manner(1))
"""


def test_a_killed_run_loses_no_cost(tmp_path):
    run = tmp_path / "run"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", KILLED, run], check=False, env=environment, cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    lines = [json.loads(line) for line in (run / JOURNAL).read_text().splitlines() if line]
    assert len(lines) == len(list((run / CELLS).iterdir())) == 5
    (run / JOURNAL).write_text((run / JOURNAL).read_text() + '\n{"cell": "unfini')
    domain, cells = tiny_cells()
    assert execute(domain, cells, run).resumed == 5
    billing = RunFolder(run).billing()
    assert set(billing["cells"]) == {cell.key for cell in cells}
    assert billing["seconds"] > sum(line["seconds"] for line in lines)
    assert not (run / JOURNAL).exists()


def test_a_kill_between_the_sum_and_the_end_of_the_lines_counts_nothing_twice(tmp_path):
    folder = RunFolder(tmp_path)
    one = {"message": {"billed_calls": 2, "latency_s": 0.5, "price_usd": 0.25}}
    folder.note_billing(1.0, "a", one)
    lines = (tmp_path / "billing.jsonl").read_bytes()
    folder.close_billing(0.0)
    whole = folder.all_billing()
    (tmp_path / "billing.jsonl").write_bytes(lines + b'\n{"billed": {}, "cell": "", "seconds": 0.0}\n')
    assert folder.all_billing()["cells"] == whole["cells"]
    folder.note_billing(1.0, "a", one)
    folder.close_billing(0.0)
    assert folder.billing()["cells"]["a"]["message"]["billed_calls"] == 4
    assert folder.billing()["seconds"] == 2.0


def test_costs_of_one_cell_are_summed_over_starts(tmp_path):
    folder = RunFolder(tmp_path)
    one = {"message": {"billed_calls": 2, "latency_s": 0.5, "price_usd": 0.25}}
    folder.note_billing(1.0, "a", one)
    folder.close_billing(0.5)
    folder.note_billing(2.0, "a", {**one, "choice": {"billed_calls": 1, "latency_s": 0.0, "price_usd": None}})
    folder.note_billing(2.0, "a", {"choice": {"billed_calls": 1, "latency_s": 0.0, "price_usd": 1.0}})
    folder.close_billing(0.5)
    assert folder.billing() == {
        "seconds": 6.0,
        "cells": {
            "a": {
                "message": {"billed_calls": 4, "latency_s": 1.0, "price_usd": 0.5},
                "choice": {"billed_calls": 2, "latency_s": 0.0, "price_usd": None},
            }
        },
    }


def test_a_run_that_breaks_off_has_its_billing(tmp_path):
    class BreaksOff(TinyWorld):
        async def execute(self, unit):
            if self.context.seed == 2:
                raise RuntimeError("power cut")
            return await super().execute(unit)

    domain, cells = tiny_cells()
    domain.world = BreaksOff
    with pytest.raises(RuntimeError, match="power cut"):
        execute(domain, cells, tmp_path, manner=Manner(1))
    assert len(RunFolder(tmp_path).billing()["cells"]) == len(list((tmp_path / CELLS).iterdir())) > 0


# Folders


def test_cells_of_this_run_are_taken_up_without_their_manifest(tmp_path):
    execute(*tiny_cells(), tmp_path)
    before = contents(tmp_path)
    (tmp_path / MANIFEST).unlink()
    domain, cells = tiny_cells()
    assert execute(domain, cells, tmp_path).resumed == len(cells)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("seeds", [(1, 2, 3), (1,), (8, 9)])
def test_cells_of_another_run_without_a_manifest_are_refused(tmp_path, seeds):
    execute(*tiny_cells(), tmp_path)
    (tmp_path / MANIFEST).unlink()
    if seeds == (1, 2, 3):
        change(next((tmp_path / CELLS).iterdir()), lambda stored: stored.update(identity="other"))
    before = contents(tmp_path, but=())
    domain, cells = tiny_cells(seeds)
    with pytest.raises(InputError, match=r"holds cells of another run, and no manifest\.json"):
        execute(domain, cells, tmp_path)
    assert not domain.opened
    assert contents(tmp_path, but=()) == before


@pytest.mark.parametrize("name", ["report.html", "notes.txt", BILLING, "sub/file"])
def test_a_folder_that_holds_something_else_is_refused(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(InputError, match="is not empty and holds no run — choose another --out"):
        execute(*tiny_cells(), tmp_path)
    assert contents(tmp_path, but=()) == {name: b"mine"}


def test_what_a_killed_start_left_is_no_content(tmp_path):
    (tmp_path / ".part-abc").write_text("{")
    (tmp_path / CELLS).mkdir()
    assert execute(*tiny_cells(), tmp_path).resumed == 0


@pytest.mark.parametrize("damage", [lambda m: m.update(schema=2), lambda m: m.update(schema="x")])
def test_a_manifest_of_another_schema_is_refused(tmp_path, damage):
    execute(*tiny_cells(), tmp_path)
    change(tmp_path / MANIFEST, damage)
    before = contents(tmp_path, but=())
    with pytest.raises(InputError, match=r"has schema version .*, this planroute reads 1"):
        execute(*tiny_cells(), tmp_path)
    assert contents(tmp_path, but=()) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("identity", None),
        ("cells", {}),
        ("cells", [1]),
        ("cells", ["../../secret"]),
        ("facts", []),
        ("facts", {"a": 1}),
    ],
)
def test_a_manifest_of_the_wrong_form_names_the_field_and_is_made_again(tmp_path, field, value, caplog):
    execute(*tiny_cells(), tmp_path)
    whole = contents(tmp_path)
    change(tmp_path / MANIFEST, lambda manifest: manifest.update({field: value}))
    with pytest.raises(InputError, match=rf"manifest\.json is damaged: {field}: ") as error:
        RunFolder(tmp_path).manifest()
    assert "remove" not in str(error.value)
    domain, cells = tiny_cells()
    assert execute(domain, cells, tmp_path).resumed == len(cells)
    assert f"manifest.json is damaged: {field}: " in caplog.text
    (tmp_path / f"{MANIFEST}.damaged-1").unlink()
    assert contents(tmp_path) == whole


def test_a_damaged_manifest_beside_the_cells_of_another_run_is_left(tmp_path):
    execute(*tiny_cells(), tmp_path)
    (tmp_path / MANIFEST).write_text("{")
    before = contents(tmp_path, but=())
    with pytest.raises(InputError, match="holds cells of another run"):
        execute(*tiny_cells(seeds=(5, 6)), tmp_path)
    assert contents(tmp_path, but=()) == before


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("", "is not empty and holds no run"),
        ("afile", "afile is a file"),
        ("x" * 300, "cannot be a folder: File name too long"),
        ("a\0b", "cannot be a folder"),
    ],
)
def test_an_out_that_can_be_no_run_is_one_line(tmp_path, monkeypatch, out, told):
    monkeypatch.chdir(tmp_path)
    Path("afile").write_text("mine")
    with pytest.raises(InputError, match=told):
        execute(*tiny_cells(), Path(out))
    assert names(Path()) == {"afile"}


def test_the_command_refuses_a_file_with_status_2(tmp_path):
    (tmp_path / "afile").write_text("mine")
    start = "from planroute.cli import main; main()"
    command = [sys.executable, "-c", start, "compare", "grid", "--seeds", "7", "--out", "afile"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "afile is a file" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "afile").read_text() == "mine"


def test_a_write_that_fails_leaves_nothing_behind(tmp_path):
    folder = RunFolder(tmp_path)
    (tmp_path / RESULT).mkdir()
    with pytest.raises(StorageError, match="cannot write"):
        folder.write(RESULT, "{}")
    assert names(tmp_path) == {RESULT}


@pytest.mark.parametrize("links", [True, False])
def test_of_two_runs_that_start_at_once_one_has_the_folder(tmp_path, monkeypatch, links):
    def refused(*_):
        raise PermissionError("no hard links here")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    for turn in range(20):
        folder = tmp_path / str(turn)
        both, had = threading.Barrier(8), []

        def start(name, folder=folder, both=both, had=had):
            both.wait()
            try:
                RunFolder(folder).start({"identity": name, "cells": [], "facts": {}})
            except InputError:
                return
            had.append(name)

        threads = [threading.Thread(target=start, args=(str(i),)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert had == [RunFolder(folder).manifest()["identity"]]
        assert names(folder) == {MANIFEST}
