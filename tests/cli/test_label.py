"""``planroute label`` and ``planroute agreement`` on a run's folder and on files, with answers on standard input."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from planroute.cli.app import app
from planroute.declarers import Fixed
from planroute.episode import Conditions
from planroute.errors import FaultyInput, InputError
from planroute.modes import Baseline, Mode
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from tests.domains.text.rooms import GOAL, Player, RoomsDomain
from tests.labelling.planted import SECRET, write_games

KEPT = [True, False, True, False, True, False]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """Files of answers are begun where the command is run."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def games(tmp_path):
    return write_games(tmp_path / "games.json", KEPT)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    domain, player = RoomsDomain(lexicon="household"), Player(name="writer")
    task = domain.tasks()[0]
    conditions = {
        "PLAN_REACT": Conditions(Fixed(Mode.SEQUENTIAL), model=player, baseline=Baseline.PLAN_REACT),
        "PREDEFINED": Conditions(Fixed(Mode.PREDEFINED), model=player),
    }
    cells = [Cell(task, name, 7, given) for name, given in conditions.items()]
    asyncio.run(execute_run(domain, cells, config={}, out=folder))
    return folder


def run(*arguments, stdin=""):
    return CliRunner().invoke(app, [*map(str, arguments)], input=stdin)


def by_sight(shown):
    """What a person would answer who looks at the actions of each trajectory."""
    return ["y" if "> put mug" in part else "n" for part in shown.split("Trajectory ")[1:]]


def labelled(games, name, flip=0, question="order"):
    """Label by sight, the first ``flip`` wrongly."""
    arguments = ("label", games, "--as", name, "--question", question)
    shown = run(*arguments, "--out", f"look-{name}.jsonl", stdin="s\n" * 20).stdout
    answers = by_sight(shown)
    answers[:flip] = [{"y": "n", "n": "y"}[one] for one in answers[:flip]]
    if question == "units":
        answers = [line for one in answers for line in (one, "y", one)]
    done = run(*arguments, stdin="".join(f"{one}\n" for one in answers))
    assert done.exit_code == 0, done.exception
    return f"labels-{name}.jsonl"


def test_it_is_blind_resumable_and_says_where_it_stands(games, tmp_path):
    done = run("label", games, "--as", "A1", stdin="y\nn\n")
    assert done.exit_code == 0, done.exception
    assert "Trajectory 1 of 6" in done.stdout
    assert "Goal: put a mug on a shelf." in done.stdout
    assert "2 of 6 questions answered in labels-A1.jsonl; the same command goes on." in done.stdout
    for hidden in (SECRET, "adapt", "success", "succeeded", "preserved, ", "reward"):
        assert hidden not in done.stdout, hidden
    kept = (tmp_path / "labels-A1.jsonl").read_text()
    assert SECRET not in kept
    again = run("label", games, "--as", "A1", "--json", stdin="y\n" * 4)
    assert json.loads(again.stdout) == {
        "answered": 6,
        "file": "labels-A1.jsonl",
        "open": 0,
        "questions": 6,
        "rater": "A1",
    }
    assert "Trajectory 3 of 6" in again.stderr
    assert (tmp_path / "labels-A1.jsonl").read_text().startswith(kept)


def test_a_sample_is_of_the_asked_size_and_the_same_for_both(games, tmp_path):
    for name in ("A1", "A2"):
        run("label", games, "--as", name, "--sample", 3, "--seed", 11, stdin="y\n" * 9)
    lines = [
        [json.loads(line) for line in (tmp_path / f"labels-{name}.jsonl").read_text().splitlines()]
        for name in ("A1", "A2")
    ]
    assert [len(one) for one in lines] == [4, 4]
    assert {x["item"] for x in lines[0][1:]} == {x["item"] for x in lines[1][1:]}


def test_of_a_run_only_the_plans_that_nothing_enforced(run_folder):
    done = run("label", run_folder, stdin="y\n")
    assert "Trajectory 1 of 1" in done.stdout
    assert f"Goal: {GOAL}" in done.stdout
    for hidden in ("PLAN_REACT", "SEQUENTIAL", "PREDEFINED", "writer"):
        assert hidden not in done.stdout
    both = run("label", run_folder, "--conditions", "all", "--out", "all.jsonl", stdin="")
    assert "Trajectory 1 of 2" in both.stdout
    none = run("label", run_folder, "--conditions", "SEARCH")
    assert isinstance(none.exception, InputError)
    assert "has no cell of SEARCH — it holds PLAN_REACT, PREDEFINED" in str(none.exception)


def test_a_dispatched_trajectory_is_left_out_of_files_too(run_folder):
    file = run_folder / "cells" / "vault-PREDEFINED-7.json"
    assert "no trajectory here has both" in str(run("label", file).exception)
    assert "Trajectory 1 of 1" in run("label", file, "--conditions", "PREDEFINED").stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("label", "-"), "standard input cannot be labelled"),
        (("label", "games.json", "--question", "why"), "--question 'why' is unknown — choose from order, units"),
        (("label", "games.json", "--as", "../x"), "--as '../x': a name of up to 40"),
        (("label", "games.json", "--sample", "7"), "--sample 7: there are only 6 trajectories"),
        (("label", "games.json", "--conditions", "x"), "'X' is not a condition"),
        (("label", "."), "is not a run: it has no manifest.json"),
        (("label", "games.json", "absent.json"), "absent.json: No such file"),
        (("agreement", "games.json", "--labels", "absent"), "absent: No such file"),
        (("agreement", "games.json", "--labels", "games.json"), "games.json is"),
        (("agreement", "games.json", "--judge", "games.json"), "holds no scores of an adherence judge"),
        (("agreement", "games.json", "--judge", "absent"), "absent is missing"),
    ],
)
def test_bad_input_is_one_line(games, arguments, line):
    done = run(*arguments)
    assert isinstance(done.exception, InputError), done.exception
    assert line in str(done.exception)
    assert "\n" not in str(done.exception)


def test_input_that_is_no_text_is_told(games):
    done = CliRunner().invoke(app, ["label", str(games)], input=b"\xff\xfe\n")
    assert done.exit_code in (0, 1)
    assert done.exception is None or isinstance(done.exception, InputError)


# Agreement


def test_until_people_have_labelled_it_is_not_run(games):
    done = run("agreement", games, "--draws", 20)
    assert done.exit_code == 0
    assert "person-person: not_run, no person has labelled these trajectories yet" in done.stdout
    assert "paper, on 100 other trajectories: verifier and A1 kappa 0.31; verifier and A2 kappa 0.34" in done.stdout
    run("label", games, "--as", "A1", stdin="")  # begun, and nothing answered
    told = json.loads(run("agreement", games, "--draws", 20, "--labels", "labels-A1.jsonl", "--json").stdout)
    assert {row["status"] for row in told["agreement"]["order"]} == {"not_run"}


def test_two_people_and_the_verifier(games):
    one, two = labelled(games, "A1"), labelled(games, "A2", flip=2)
    told = json.loads(run("agreement", games, "--draws", 20, "--labels", one, "--labels", two, "--json").stdout)
    rows = {tuple(row["raters"]): row for row in told["agreement"]["order"]}
    assert list(rows) == [("A1", "A2"), ("verifier", "A1"), ("verifier", "A2")]
    assert (rows["verifier", "A1"]["n"], rows["verifier", "A1"]["kappa"]) == (6, pytest.approx(1.0))
    assert rows["A1", "A2"]["raw"] == rows["verifier", "A2"]["raw"] == pytest.approx(4 / 6)
    assert told["paper"]["A1 and A2"] == {"kappa": 0.35, "n": 100, "raw": 0.71}
    shown = run("agreement", games, "--draws", 20, "--labels", one, "--labels", two).stdout
    assert "verifier and A1" in shown
    assert "units" not in shown


def test_units_have_a_table_of_their_own(games):
    file = labelled(games, "A1", question="units")
    told = json.loads(run("agreement", games, "--draws", 20, "--labels", file, "--json").stdout)["agreement"]
    (row,) = [row for row in told["units"] if row["kind"] == "verifier-person"]
    assert (row["n"], row["clusters"], row["kappa"]) == (12, 6, pytest.approx(1.0))


def test_a_judges_scores_stand_beside(games, tmp_path):
    file = labelled(games, "A1")
    judged = [
        {"file": str(games), "id": f"{SECRET} {number}", "score": 3 if kept else 1, "judge": "adherence judge m"}
        for number, kept in enumerate(KEPT, 1)
    ]
    (tmp_path / "judge.json").write_text(json.dumps({"rubric": "adherence", "judged": judged}))
    told = json.loads(
        run("agreement", games, "--draws", 20, "--labels", file, "--judge", "judge.json", "--json").stdout
    )
    (row,) = [row for row in told["agreement"]["order"] if row["kind"] == "judge-person"]
    assert (row["raters"], row["n"], row["kappa"]) == (["adherence judge m", "A1"], 6, pytest.approx(1.0))


def judged_as(games, file, **changes):
    one = {"file": str(games), "id": f"{SECRET} 1", "score": 3, "judge": "m", **changes}
    file.write_text(json.dumps({"rubric": "adherence", "judged": [one]}))
    return file


def test_what_a_file_calls_a_judge_is_no_markup(games, tmp_path):
    file = labelled(games, "A1")
    judge = judged_as(games, tmp_path / "judge.json", judge="[/red]x[bold]")
    done = run("agreement", games, "--draws", 20, "--labels", file, "--judge", judge)
    assert done.exit_code == 0, done.exception
    assert "[/red]x[bold] and A1" in done.stdout


@pytest.mark.parametrize("score", [-1, 4, True, 2.5, "3"])
def test_a_score_that_no_judge_gives_is_refused(games, tmp_path, score):
    judge = judged_as(games, tmp_path / "judge.json", score=score)
    assert "judged 0: no score from 0 to 3" in str(run("agreement", games, "--judge", judge).exception)


def test_answers_about_other_trajectories_and_a_second_file_of_one_person_are_refused(games, tmp_path):
    file = labelled(games, "A1")
    other = write_games(tmp_path / "other.json", KEPT[::-1])
    assert "6 answers are about other trajectories" in str(
        run("agreement", other, "--draws", 20, "--labels", file).exception
    )
    twice = run("agreement", games, "--draws", 20, "--labels", file, "--labels", file)
    assert "A1 has labelled another file as well" in str(twice.exception)


def test_every_file_must_be_readable_so_that_all_label_the_same(games, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    assert isinstance(run("label", games, tmp_path / "bad.json").exception, FaultyInput)


def test_the_real_files(data_dir):
    files = sorted((data_dir / "trajectories/swe").glob("*.traj.json"))
    done = run("label", *files, "--page", 500, stdin="y\nn\nu\n")
    assert done.exit_code == 0, done.exception
    assert "3 of " in done.stdout
    told = json.loads(run("agreement", *files, "--draws", 20, "--labels", "labels-A1.jsonl", "--json").stdout)
    (row,) = [row for row in told["agreement"]["order"] if row["kind"] == "verifier-person"]
    assert row["shared"] == 3
    assert row["unsure"][1] == 1
