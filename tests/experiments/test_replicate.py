"""An experiment on fresh seeds: its own cells and analyses again, and how far they move from study to study."""

import asyncio
from pathlib import Path

import pandas as pd
import pytest

from planroute.experiments.analyses.fresh_runs import fresh_seeds
from planroute.experiments.definition import Experiment, load_experiment
from planroute.experiments.setting import Setting
from planroute.experiments.study import run_study

SEEDS = [seed for triple in fresh_seeds(2) for seed in triple]
FILE = """
id = "E9"
title = "t"
question = "q"
source = "s"
seeds = [7, 13]
forced = "all"
metrics = ["objective"]

[[arms]]
condition = "ROUTED_NATURAL"
declarer = "natural"

[[analyses]]
name = "oracle"
kind = "oracle"

[[analyses]]
name = "uncontrolled"
kind = "uncontrolled"

[[analyses]]
name = "again"
kind = "replicate"
with = { seeds = 6 }

[[claims]]
what = "J"
where = "here"
paper = 1
ours = "conditions/SEARCH/objective"

[[directions]]
what = "search is the oracle"
where = "here"
ours = "analyses/oracle/shares/SEARCH"
at_least = 1

[[directions]]
what = "search is never the oracle"
where = "here"
ours = "analyses/oracle/shares/SEARCH"
at_most = 0

[[directions]]
what = "natural is there"
where = "here"
ours = "conditions/ROUTED_NATURAL/objective"
at_least = 0
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Experiment:
    path = tmp_path_factory.mktemp("file") / "e.toml"
    path.write_text(FILE)
    return load_experiment(str(path))


def studied(experiment: Experiment, out: Path | None = None, **setting: object):
    return asyncio.run(run_study(experiment, Setting(workers=1, **setting), out=out)).result  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def result(planted: Experiment, tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("run")
    return folder, studied(planted, folder)


def test_the_cells_run_again_on_fresh_seeds_and_not_on_the_experiments_own(result) -> None:
    folder, found = result
    again = found["analyses"]["again"]
    assert again["seeds"] == SEEDS
    assert again["episodes"] == 4 * 6, "what needs a model is left out"
    assert set(pd.read_parquet(folder / "fresh.parquet")["seed"]) == set(SEEDS)
    assert set(pd.read_parquet(folder / "rows.parquet")["seed"]) == {7, 13}


def test_the_pooled_result_is_that_of_the_experiment_on_those_seeds(planted: Experiment, result) -> None:
    again = result[1]["analyses"]["again"]
    same = studied(planted, seeds=tuple(SEEDS), fresh_triples=0)
    for mode in planted.forced:
        assert again["conditions"][mode]["objective"] == same["conditions"][mode]["objective"]
        assert again["conditions"][mode]["intervals"] == same["conditions"][mode]["intervals"]
    assert again["analyses"]["oracle"] == same["analyses"]["oracle"]
    assert "uncontrolled" not in again["analyses"], "it does not depend on the seed"


def test_studies_of_the_experiments_own_size_tell_how_far_a_figure_moves(planted: Experiment, result) -> None:
    again = result[1]["analyses"]["again"]
    assert (again["size"], again["studies"]) == (2, 3)
    means = [
        studied(planted, seeds=tuple(SEEDS[at : at + 2]), fresh_triples=0)["conditions"]["SEARCH"]["objective"]
        for at in (0, 2, 4)
    ]
    spread = again["ranges"]["conditions/SEARCH/objective"]
    assert (spread["low"], spread["high"]) == (min(means), max(means))
    assert spread["mean"] == pytest.approx(sum(means) / 3)
    assert again["holds"] == {"search is the oracle": 3, "search is never the oracle": 0, "natural is there": 0}


def test_a_claim_carries_its_range_and_every_direction_is_judged_again(result) -> None:
    claims = result[1]["claims"]
    assert claims[0]["fresh"] == result[1]["analyses"]["again"]["ranges"]["conditions/SEARCH/objective"]
    told = [(one["what"], one["where"], one["verdict"]) for one in claims[1:]]
    assert told == [
        ("search is the oracle", "here", "holds"),
        ("search is the oracle", "6 fresh seeds", "holds"),
        ("search is never the oracle", "here", "fails"),
        ("search is never the oracle", "6 fresh seeds", "fails"),
        ("natural is there", "here", "not_run"),
    ]
    assert claims[2]["note"] == "3 of 3 studies of 2 fresh seeds show it"
    assert claims[2]["values"][0]["path"] == "analyses/again/analyses/oracle/shares/SEARCH"


def test_no_fresh_seeds_leave_the_directions_to_the_experiments_own(planted: Experiment) -> None:
    found = studied(planted, fresh_triples=0)
    assert found["analyses"]["again"]["status"] == "not_run"
    assert found["claims"][0]["fresh"] is None
    assert {one["where"] for one in found["claims"]} == {"here"}


def test_fewer_seeds_than_a_study_needs_are_pooled_only(planted: Experiment) -> None:
    wide = planted.model_copy(update={"seeds": (1, 2, 3, 4)})
    again = studied(wide, fresh_triples=1, seeds=(7,))["analyses"]["again"]
    assert (again["studies"], again["ranges"], len(again["seeds"])) == (0, {}, 3)
