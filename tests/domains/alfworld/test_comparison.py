"""``planroute compare alfworld``: equal bytes, resuming, what rows hold, who declares, budgets, wrong input."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.declarers import Demonstration
from planroute.domains.alfworld import domain as domain_module
from planroute.domains.alfworld.domain import Play
from planroute.domains.alfworld.games import OWN_GAMES, find_games
from planroute.errors import InputError
from planroute.modes import MODES, ROUTED, SIX, Baseline, Mode
from planroute.runs.folder import RunFolder
from tests.domains.text.replaying import Known, Replaying

pytest.importorskip("textworld", reason="needs the alfworld extra")

ALL = (*SIX, ROUTED)
KNOWN: Known = {}
SLIPS = "scripted/slip=0.15?declare=random"
PLAYED: list[str] = []
FIRST = [game.id for game in find_games(OWN_GAMES)][:2]


@pytest.fixture(scope="module", autouse=True)
def replayed():
    """Courses that several runs share are played once; ``PLAYED`` names the games that were opened."""

    def open_play(game, steps):
        PLAYED.append(game.id)
        return Replaying((game.id, steps), lambda: Play(game, steps), KNOWN)

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ALFWORLD_DATA", raising=False)
        patch.setattr(domain_module, "Play", open_play)
        yield
    KNOWN.clear()


def compare(*arguments, model=SLIPS, tasks=2, seeds="7,13"):
    options = ["--model", model, "--tasks", str(tasks), "--seeds", seeds, "--no-cache"]
    return CliRunner().invoke(app, ["compare", "alfworld", *options, *map(str, arguments)])


def told(*arguments, **options):
    done = compare(*arguments, "--json", **options)
    assert done.exit_code == 0, (done.exception, done.output)
    return json.loads(done.stdout)["conditions"]


def contents(folder: Path):
    """Every file but what differs between equal runs by its nature."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.name not in ("billing.json", "report.html")
    )
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def whole(tmp_path_factory, replayed):
    folder = tmp_path_factory.mktemp("whole") / "run"
    done = compare("--out", folder)
    assert done.exit_code == 0, (done.exception, done.output)
    return folder, done.stdout


@pytest.fixture(scope="module")
def rows(whole):
    return [cell["row"] for cell in RunFolder(whole[0]).cells()]


# Equal bytes, and resuming


def test_every_condition_on_every_game_and_seed(rows):
    assert sorted((row["condition"], row["task"], row["seed"]) for row in rows) == sorted(
        (condition, task, seed) for condition in ALL for task in FIRST for seed in (7, 13)
    )


@pytest.mark.parametrize("conditions", ["all", ",".join(reversed(ALL))])
def test_the_same_command_gives_the_same_bytes(whole, tmp_path, conditions):
    again = compare("--conditions", conditions, "--concurrency", 1, "--out", tmp_path / "run")
    assert again.exit_code == 0
    assert contents(tmp_path / "run") == contents(whole[0])
    table = [line for line in whole[1].splitlines() if "Report:" not in line]
    assert [line for line in again.stdout.splitlines() if "Report:" not in line] == table


def test_a_condition_alone_has_the_rows_that_it_has_among_others(whole):
    alone = told("--conditions", "SEQUENTIAL")["SEQUENTIAL"]
    among = json.loads((whole[0] / "result.json").read_text())["conditions"]["SEQUENTIAL"]
    for table in (alone, among):
        for entry in table["per_episode"]:
            del entry["attribution"], entry["attribution_why"], entry["attribution_also"]
        del table["attribution"]
    assert alone == among


def test_resuming_runs_what_is_missing_and_ends_in_the_same_bytes(tmp_path):
    folder = tmp_path / "run"
    arguments = ("--conditions", "FLAT_REACT,SEQUENTIAL,ROUTED", "--out", folder)
    assert compare(*arguments).exit_code == 0
    before = contents(folder)
    lost = folder / "cells" / f"{FIRST[0]}-SEQUENTIAL-13.json"
    lost.unlink()
    (folder / "result.json").unlink()
    PLAYED.clear()
    assert compare(*arguments).exit_code == 0
    assert [FIRST[0]] == PLAYED
    assert contents(folder) == before
    PLAYED.clear()
    assert compare(*arguments).exit_code == 0
    assert PLAYED == []


def test_another_run_is_not_written_over(whole):
    done = compare("--candidates", 3, "--out", whole[0])
    assert isinstance(done.exception, InputError)
    assert "already holds another run" in str(done.exception)


# Rows


def test_baselines_have_no_gate_and_forced_modes_are_not_declared_by_a_model(rows):
    for row in rows:
        condition = row["condition"]
        assert row["executed"] == (condition if condition != ROUTED else row["declared"])
        if condition in set(Baseline):
            assert (row["gate"], row["mode_agreement"]) == (None, None)
            assert row["planning"] == []
        else:
            assert (row["gate"], row["mode_agreement"]) == ("PASSED", True)
        assert row["declarer"] == ("fixed" if condition in set(Mode) else "natural")
        assert ("natural declaration" in row["spent"]) is (condition in (ROUTED, Baseline.PLAN_REACT))
    assert {row["declared"] for row in rows if row["condition"] == Baseline.FLAT_REACT} == {None}


def test_declarations_are_made_anew_under_each_seed(tmp_path):
    table = told("--conditions", "ROUTED", seeds="0-5")[ROUTED]
    declared = {task: [e["declared"] for e in table["per_episode"] if e["task"] == task] for task in FIRST}
    assert all(len(set(modes)) > 1 for modes in declared.values())
    assert sum(table["declared"].values()) == 12


def test_routed_with_a_mode_is_the_forced_mode_but_for_the_declaration(tmp_path):
    table = told("--conditions", "PREDEFINED,ROUTED", "--declarer", "fixed", "--mode", "PREDEFINED")
    for forced, routed in zip(table["PREDEFINED"]["per_episode"], table[ROUTED]["per_episode"], strict=True):
        assert forced == routed | {"attribution_why": forced["attribution_why"]}


def test_the_table_is_the_mean_of_the_rows(whole, rows):
    table = json.loads((whole[0] / "result.json").read_text())["conditions"]
    for condition in ALL:
        mine = [row for row in rows if row["condition"] == condition]
        for name, what in {
            "model_calls": "model_calls",
            "interactions": "interactions",
            "tokens_answer": "answer_tokens",
        }.items():
            values = [sum(spent[what] for spent in row["spent"].values()) for row in mine]
            assert table[condition][name] == pytest.approx(sum(values) / len(mine))
        assert table[condition]["success_rate"] == sum(row["success"] for row in mine) / len(mine)


def test_the_run_keeps_its_generation_profile_and_limits(whole):
    manifest = RunFolder(whole[0]).manifest()
    profile = manifest["config"]["generation_profile"]
    assert (profile["temperature"], profile["max_new_tokens"]) == (0.2, 400)
    facts = manifest["facts"][FIRST[0]]
    assert facts["limits"]["steps"] == 50
    assert (facts["sampling"]["temperature"], facts["prompts"]) == (0.2, "1")


@pytest.mark.parametrize(("option", "resource"), [("--most-calls", "model calls"), ("--most-tokens", "tokens")])
def test_one_budget_binds_all_conditions(tmp_path, option, resource):
    done = compare(option, 5, "--out", tmp_path / "run", seeds="7", tasks=1)
    found = [cell["row"] for cell in RunFolder(tmp_path / "run").cells()]
    assert len(found) == len(ALL)
    assert {(row["status"], row["stop"], row["error"]) for row in found} == {
        ("failed", "BUDGET", f"budget of 5 {resource} is spent")
    }
    assert done.exception is None or isinstance(done.exception, SystemExit)


# Who declares, who judges


def test_ranked_declaration(tmp_path):
    assert (
        compare("--declarer", "ranked", "--conditions", "ROUTED", "--out", tmp_path / "run", seeds="7").exit_code == 0
    )
    for cell in RunFolder(tmp_path / "run").cells():
        ranking = cell["row"]["declaration"]["ranking"]
        assert sorted(ranking) == sorted(MODES)
        assert ranking[0] == cell["row"]["executed"]


def test_few_shot_declaration_leaves_its_demonstrations_out(tmp_path):
    """Two seeds in which only one mode wins are planted: the other cells of the forced run are marked as failures."""
    forced, run = tmp_path / "forced", tmp_path / "run"
    assert compare("--conditions", ",".join(MODES), "--out", forced, model="scripted/slip=0").exit_code == 0
    for path in (forced / "cells").iterdir():
        cell = json.loads(path.read_text())
        if cell["row"]["task"] == FIRST[0] and cell["row"]["condition"] != "SEARCH":
            cell["row"]["success"] = False
            path.write_text(json.dumps(cell))
    arguments = ("--declarer", "few_shot", "--demonstrations", forced, "--conditions", "ROUTED", "--out", run)
    assert compare(*arguments, seeds="7").exit_code == 0
    manifest = RunFolder(run).manifest()
    assert manifest["config"]["demonstrations"] == [FIRST[0]]
    assert FIRST[0] not in manifest["facts"]
    assert len(manifest["facts"]) == 2
    (called,) = {
        event["purpose"]
        for cell in RunFolder(run).cells()
        for event in cell["trace"]["events"]
        if event["kind"] == "model_called" and "declaration" in event["purpose"]
    }
    assert called == "few-shot declaration"


def test_where_every_game_is_a_demonstration_nothing_is_left_to_compare(monkeypatch):
    shots = tuple(Demonstration(game.id, game.goal, Mode.SEARCH) for game in find_games(OWN_GAMES))
    monkeypatch.setattr("planroute.experiments.demonstrations.demonstrations_of", lambda run: shots)
    error = compare("--declarer", "few_shot", "--demonstrations", "run").exception
    assert isinstance(error, InputError)
    assert "every game is a demonstration" in str(error)


def test_another_model_judges_and_its_calls_are_counted(tmp_path):
    arguments = ("--conditions", "SEARCH", "--judge-model", "scripted/minimal", "--out", tmp_path / "run")
    assert compare(*arguments, seeds="7", tasks=1).exit_code == 0
    (cell,) = RunFolder(tmp_path / "run").cells()
    judged = [e for e in cell["trace"]["events"] if e["kind"] == "model_called" and e["purpose"] == "trajectory judge"]
    assert {event["model"] for event in judged} == {"scripted/minimal"}
    assert cell["row"]["spent"]["trajectory judge"]["model_calls"] == len(judged) == 4


def test_candidates_bound_the_alternatives():
    table = told("--conditions", "SEARCH", "--candidates", 2, seeds="7", tasks=1)["SEARCH"]
    assert table["candidates"] == 2.0


def test_a_model_that_answers_nonsense_fails_as_data(tmp_path):
    done = compare("--out", tmp_path / "run", model="scripted/garbage?seed=1", seeds="7", tasks=1)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    found = [cell["row"] for cell in RunFolder(tmp_path / "run").cells()]
    assert len(found) == len(ALL)
    assert {row["status"] for row in found} <= {"finished", "failed"}
    assert not any(row["success"] for row in found)
    assert all(sum(spent["model_calls"] for spent in row["spent"].values()) > 0 for row in found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--conditions", "SEARCH,DREAM"), "'DREAM' is not a condition"),
        (("--declarer", "few_shot"), "needs --demonstrations"),
        (("--declarer", "oracle"), "'oracle' is unknown"),
        (("--declarer", "fixed"), "needs --mode"),
        (("--demonstrations", "nowhere"), "nowhere is not a run"),
        (("--games", "nowhere"), "nowhere"),
    ],
)
def test_wrong_input_is_one_line(arguments, message):
    error = compare(*arguments).exception
    assert isinstance(error, InputError)
    assert message in str(error)
    assert "\n" not in str(error)
