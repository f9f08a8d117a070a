"""The report of experiments: whole, escaped, equal bytes, and plain about what is missing."""

import asyncio
import json
import re
from pathlib import Path

import pandas as pd
import pytest

from planroute.errors import InputError
from planroute.experiments.definition import Experiment, load_experiment
from planroute.experiments.kept import start_study
from planroute.experiments.setting import Setting
from planroute.experiments.study import run_studies
from planroute.reporting.figures import FORMATS, KINDS, draw
from planroute.reporting.study import write_study_report
from planroute.reporting.study_files import is_study

CANARY = '"><script>alert(1)</script>'
SMALL = Experiment.model_validate(
    {
        "id": "E3",
        "title": f"Noise {CANARY}",
        "question": "q",
        "source": "s",
        "seeds": [1, 2],
        "forced": ["SEQUENTIAL", "SEARCH"],
        "levels": {"forecast_noise": [0.0, 0.3]},
        "metrics": ["objective", "groundedness"],
        "notes": [CANARY],
        "claims": [
            {"what": f"J {CANARY}", "where": "Table X", "paper": 1.0, "ours": "conditions/SEARCH/objective"},
            {"what": "nothing of ours", "where": "V-A", "paper": 3.0, "ours": "nowhere"},
        ],
        "directions": [
            {
                "what": "search is better",
                "where": "V-B",
                "ascending": ["conditions/SEARCH/objective", "conditions/SEQUENTIAL/objective"],
            }
        ],
        "tables": [{"name": "all", "caption": "All", "rows": "levels", "columns": ["objective"]}],
        "figures": [
            {
                "name": "noise",
                "kind": "sweep",
                "caption": "Sweep",
                "with": {"x": "forecast_noise", "panels": [{"y": "objective"}, {"share": "NONE"}]},
            },
            {"name": "missing", "kind": "oracle_and_choices", "caption": "Not here"},
        ],
    }
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    start_study(folder, ["E3", "E1"])
    chosen = {"E3": SMALL, "E1": load_experiment("E1")}
    asyncio.run(run_studies(chosen, Setting(workers=1, seeds=(1, 2)), out=folder))
    write_study_report(folder)
    return folder


def test_the_page_tells_what_was_judged_and_what_was_not_run(study: Path) -> None:
    text = (study / "report.html").read_text()
    assert "Partly run: E1" in text
    assert "Routed, natural was not run." in text
    assert "Not drawn" in text
    assert 'data-verdict="not_run"' in text
    assert text.count("<img ") >= 1


def test_nothing_of_an_experiment_becomes_markup(study: Path) -> None:
    text = (study / "report.html").read_text()
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert "default-src &#39;none&#39;" in text
    assert "unsafe" not in text


def test_figures_and_tables_lie_beside_it(study: Path) -> None:
    assert {path.name for path in (study / "figures").iterdir() if "noise" in path.name} == {
        f"e3_noise.{kind}" for kind in FORMATS
    }
    assert not list((study / "figures").glob("*missing*"))
    frame = pd.read_parquet(study / "tables" / "e3_all.parquet")
    assert frame["condition"].tolist() == ["SEQUENTIAL", "SEQUENTIAL", "SEARCH", "SEARCH"]
    assert (frame["objective_low"] <= frame["objective"]).all()
    result = json.loads((study / "e3" / "result.json").read_text())
    assert frame["objective"][2] == result["conditions"]["SEARCH"]["levels"]["forecast_noise=0"]["objective"]
    claims = pd.read_csv(study / "tables" / "claims.csv")
    assert claims.loc[claims["experiment"] == "E3", "verdict"].tolist() == ["differs", "not_run", "holds"]


def test_the_same_study_gives_the_same_bytes(study: Path) -> None:
    def every() -> dict[str, bytes]:
        return {
            str(path.relative_to(study)): path.read_bytes()
            for path in sorted(study.rglob("*"))
            if path.is_file() and path.name != "billing.json"
        }

    before = every()
    write_study_report(study)
    assert every() == before


def test_one_experiments_folder_has_a_report_of_its_own(study: Path) -> None:
    assert is_study(study / "e3")
    assert "experiment E3" in write_study_report(study / "e3").read_text()


@pytest.mark.parametrize("text", ["{", "[]", '{"experiment": "E3"}'])
def test_a_damaged_result_is_named(study: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text((study / "e3" / "manifest.json").read_text())
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "result.json"))):
        write_study_report(tmp_path)


def test_a_folder_without_a_finished_experiment_is_told(tmp_path: Path) -> None:
    start_study(tmp_path, ["E3"])
    with pytest.raises(InputError, match="no finished experiment"):
        write_study_report(tmp_path)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("sweep", "ranges")])
def test_a_result_without_what_a_figure_shows_gives_no_figure(kind: str) -> None:
    assert draw(kind, {}, {}) is None
    assert draw(kind, {"models": [], "conditions": {}, "analyses": {}}, {}) is None


@pytest.mark.parametrize(
    ("kind", "parameters", "told"),
    [("pie", {}, "no figure of kind"), ("sweep", {}, "'x'"), ("regret", {"a": 1}, "'a'")],
)
def test_a_faulty_figure_is_told(kind: str, parameters: dict[str, object], told: str) -> None:
    with pytest.raises(InputError, match=told):
        draw(kind, {}, parameters)
