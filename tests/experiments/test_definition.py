"""Experiment files: every carried one is whole, and what a file gets wrong is told at once."""

from pathlib import Path

import pytest

from planroute.errors import FaultyInput, InputError
from planroute.experiments.analyses import KINDS
from planroute.experiments.definition import available, load_experiment
from planroute.experiments.scenes import scene
from planroute.experiments.setting import Setting

WHOLE = """
id = "E9"
title = "t"
question = "q"
source = "s"
seeds = [1, 2]
forced = ["SEARCH"]
[levels]
honesty = [1.0, 0.0]
deadline_s = [2, 4, 8]
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "e.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", available())
def test_every_carried_experiment_can_be_staged(name: str) -> None:
    one = load_experiment(name)
    assert one.id == name
    assert {analysis.kind for analysis in one.analyses} <= set(KINDS)
    if one.interface is None:
        staged = scene(one, Setting())
        conditions = {*one.forced, *(arm.condition for arm in one.arms)}
        assert {cell.condition for cell in staged.cells} | set(staged.not_run) == conditions
        assert len({cell.key for cell in staged.cells}) == len(staged.cells)


def test_the_bank_has_the_papers_size() -> None:
    cells = scene(load_experiment("E7"), Setting()).cells
    assert len(cells) == 576
    assert len({(cell.task.id, cell.seed) for cell in cells}) == 144


def test_levels_are_crossed_and_reach_the_scenario_or_the_run(tmp_path: Path) -> None:
    staged = scene(load_experiment(written(tmp_path, WHOLE)), Setting(factors={"forecast_noise": 0.2}))
    assert len(staged.cells) == 2 * 3 * 2
    for cell in staged.cells:
        assert cell.task.factors["forecast_noise"] == 0.2
        assert f"honesty={cell.task.factors['honesty']:g}" in cell.task.id
        assert f"deadline_s={cell.conditions.deadline_s:g}" in cell.task.id
        assert cell.conditions.gate.deadline_s is None, "forced dispatch has no gate"


def test_only_a_gated_arm_has_the_deadline_at_its_gate() -> None:
    for cell in scene(load_experiment("E4"), Setting()).cells:
        gate = cell.conditions.gate.deadline_s
        assert gate == (cell.conditions.deadline_s if cell.condition == "GATED_HYBRID" else None)


def test_an_experiments_own_level_cannot_be_set(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="E3 varies forecast_noise itself"):
        scene(load_experiment("E3"), Setting(factors={"forecast_noise": 0.1}))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("seeds = [1, 2]", "seeds = []"), "seeds"),
        (("seeds = [1, 2]", "seeds = [1, 1]"), "every seed is given once"),
        (('forced = ["SEARCH"]', 'forced = ["GUESS"]'), "forced"),
        (('forced = ["SEARCH"]', ""), "give either conditions"),
        (("honesty = [1.0, 0.0]", "honesty = []"), "levels without a value: honesty"),
        (('title = "t"', 'title = "t"\ncolour = "red"'), "colour"),
        (('id = "E9"', 'id = "../x"'), "id"),
        (("honesty = [1.0, 0.0]", "honesty = [nan]"), "honesty"),
    ],
)
def test_a_faulty_file_is_told_with_its_name_and_field(change: tuple[str, str], told: str, tmp_path: Path) -> None:
    with pytest.raises(FaultyInput) as caught:
        load_experiment(written(tmp_path, WHOLE.replace(*change)))
    assert "e.toml" in str(caught.value)
    assert told in str(caught.value)


def test_a_level_that_no_scenario_can_have_is_told_when_it_is_staged(tmp_path: Path) -> None:
    one = load_experiment(written(tmp_path, WHOLE.replace("honesty = [1.0, 0.0]", "honesty = [1.0, 7.0]")))
    with pytest.raises(FaultyInput, match="honesty"):
        scene(one, Setting())


@pytest.mark.parametrize(("name", "told"), [("E99", "there is no experiment"), ("/nowhere/x.toml", "No such file")])
def test_what_is_not_there_is_told(name: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        load_experiment(name)


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not TOML"):
        load_experiment(written(tmp_path, "id = = 3"))
