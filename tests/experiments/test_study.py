"""Experiments from their files to their results: directions, bytes, resuming, what is not run."""

import asyncio
import json
from pathlib import Path

import pandas as pd
import pytest

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError
from planroute.experiments.definition import load_experiment
from planroute.experiments.kept import finished_result, start_study
from planroute.experiments.setting import Setting
from planroute.experiments.study import run_studies, run_study
from planroute.ledger import Usage
from planroute.models import CachedModel, CallCache
from planroute.models.recorded import RecordedModel
from planroute.protocols import Model


def studied(name: str, out: Path | None = None, **setting: object):
    return asyncio.run(run_study(load_experiment(name), Setting(workers=1, **setting), out=out))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def deadlines(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("e4")
    return folder, studied("E4", folder)


def test_the_gate_leaves_no_miss_and_the_stipulated_seconds(deadlines) -> None:
    conditions = deadlines[1].result["conditions"]
    late = {name: level["late_events"] for name, level in conditions["UNGATED_HYBRID"]["levels"].items()}
    assert late == {"deadline_s=2": 9, "deadline_s=4": 9, "deadline_s=8": 0, "deadline_s=30": 0}
    gated = conditions["GATED_HYBRID"]["levels"]
    assert {name: level["late_events"] for name, level in gated.items()} == dict.fromkeys(gated, 0)
    seconds = {name: level["planning_s"] for name, level in gated.items()}
    assert seconds == pytest.approx(
        {"deadline_s=2": 13.33, "deadline_s=4": 2.75, "deadline_s=8": 51.03, "deadline_s=30": 51.03}
    )
    assert "prior-only" in deadlines[1].result["arm_notes"]["GATED_HYBRID"]


def test_what_is_finished_is_found_and_nothing_runs_again(deadlines) -> None:
    folder, first = deadlines
    assert finished_result(load_experiment("E4"), Setting(workers=1), folder) == first.result
    before = (folder / "result.json").read_bytes()
    again = studied("E4", folder)
    assert again.resumed == first.result["episodes"]
    assert (folder / "result.json").read_bytes() == before


def test_another_setting_is_another_result(deadlines) -> None:
    assert finished_result(load_experiment("E4"), Setting(seeds=(7,)), deadlines[0]) is None
    assert finished_result(load_experiment("E3"), Setting(), deadlines[0]) is None


def test_a_damaged_result_is_not_believed(deadlines, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"identity": "')
    assert finished_result(load_experiment("E4"), Setting(), tmp_path) is None


def test_a_table_of_rows_lies_beside_the_result(deadlines) -> None:
    frame = pd.read_parquet(deadlines[0] / "rows.parquet")
    assert len(frame) == deadlines[1].result["episodes"] == 24
    assert set(frame["deadline_s"]) == {2.0, 4.0, 8.0, 30.0}


def test_another_experiments_folder_is_refused(deadlines) -> None:
    with pytest.raises(InputError, match="already holds another run"):
        studied("E2", deadlines[0])


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for start in (lambda: studied("E4", tmp_path), lambda: start_study(tmp_path, ["E4"])):
        with pytest.raises(InputError, match="holds no run"):
            start()
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_study_lists_its_experiments_once_and_in_order(tmp_path: Path) -> None:
    start_study(tmp_path, ["M2", "E4"])
    start_study(tmp_path, ["E2", "E4"])
    assert json.loads((tmp_path / "manifest.json").read_text())["experiments"] == ["E2", "E4", "M2"]


def test_honesty_does_not_show_in_the_mode_and_does_in_the_voltage() -> None:
    result = studied("E5").result
    levels = result["conditions"]["SEQUENTIAL"]["levels"]
    assert {level["mode_agreement"] for level in levels.values()} == {1.0}
    assert result["conditions"]["SEQUENTIAL"]["regret"] is None, "one forced mode has no regret"
    assert result["analyses"]["honesty"]["voltage_shortfall_pu"]["ratio"] > 2
    assert result["analyses"]["honesty"]["voltage_shortfall_pu"]["paired"]["p"] < 0.05


def test_without_a_model_the_natural_arm_is_told_as_not_run() -> None:
    result = studied("E1", seeds=(7,)).result
    assert result["status"] == "partly"
    assert "language model" in result["not_run"]["ROUTED_NATURAL"]
    assert list(result["conditions"]) == ["ROUTED_HYBRID"]
    for claim in result["claims"]:
        if "ROUTED_NATURAL" in claim.get("path", ""):
            assert claim["verdict"] == "not_run"


def test_several_are_run_each_in_its_own_folder(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    chosen = {name: load_experiment(name).model_copy(update={"analyses": ()}) for name in ("E2", "E4")}
    results = asyncio.run(
        run_studies(chosen, Setting(seeds=(7,)), out=tmp_path, advance=lambda name, count: told.append((name, count)))
    )
    assert list(results) == ["E2", "E4"]
    assert {path.name for path in tmp_path.iterdir()} == {"e2", "e4"}
    assert sum(count for name, count in told if name == "E4") == results["E4"]["episodes"]


def test_a_recorded_run_is_replayed_to_the_same_bytes_without_its_model(tmp_path: Path) -> None:
    asked: list[str] = []

    class Answering:
        endpoint = "test:answering"

        async def complete(self, request: ModelRequest) -> ModelReply:
            asked.append(request.purpose)
            text = {
                "natural declaration": '{"mode": "SEQUENTIAL", "replanning": "EVERY_STEP", "rationale": "long"}',
                "hybrid advice": '{"search": 0.2, "reason": "it looks ahead"}',
                "operator message": "Please use a little less now.",
            }.get(request.purpose, '{"shift": 0.1, "persuaded": true, "reason": "fine"}')
            return ModelReply(text, Usage(100, 20), latency_s=0.5 + len(asked) / 100)

        async def aclose(self) -> None:
            """Nothing is held."""

    def run(folder: str, model: Model) -> Path:
        setting = Setting(
            seeds=(7,), communication="model", model_hours=(17,), models={model.endpoint: model}, workers=1
        )
        chosen = {name: load_experiment(name).model_copy(update={"analyses": ()}) for name in ("E1", "E6")}
        asyncio.run(run_studies(chosen, setting, out=tmp_path / folder))
        return tmp_path / folder

    calls = CallCache(tmp_path / "calls.sqlite")
    live = run("live", CachedModel(Answering(), calls))
    calls.close()
    assert {"natural declaration", "hybrid advice", "operator message", "prosumer evaluation"} <= set(asked)
    before = len(asked)
    replayed = run("replayed", RecordedModel(tmp_path / "calls.sqlite"))
    assert len(asked) == before

    def every(folder: Path) -> dict[str, bytes]:
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.name.startswith("billing")
        }

    assert every(live) == every(replayed)
    billed = json.loads((live / "e6" / "billing.json").read_text())["cells"]
    again = json.loads((replayed / "e6" / "billing.json").read_text())["cells"]
    assert sum(part["billed_calls"] for cell in billed.values() for part in cell.values()) > 0
    assert sum(part["billed_calls"] for cell in again.values() for part in cell.values()) == 0
