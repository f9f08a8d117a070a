"""Issues as a domain: tasks, facts, six conditions, slips at known rates, and the contract."""

import asyncio
import json
from dataclasses import replace

import pytest

from planroute.calls import Sampling
from planroute.contract import check_domain
from planroute.declarers import Fixed, Natural
from planroute.domains.swebench import domain as domain_module
from planroute.domains.swebench.domain import MEASURES, opened
from planroute.domains.swebench.environment import Workplace
from planroute.domains.swebench.solver import SwebenchSolver
from planroute.domains.text import Limits, TextFields
from planroute.episode import Conditions, run_episode
from planroute.errors import FaultyInput, InputError
from planroute.evaluation.judges import RubricJudge
from planroute.models import open_model
from planroute.modes import ROUTED, SIX, Baseline, Mode
from planroute.protocols import Domain
from planroute.sandbox import Jail
from planroute.trace import Acted, Stop
from tests.domains.swebench.shop import KNOWN, OWN, ReplayingWork, domain, dry, replayed, workshop
from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")
pytestmark = needs_jail

CONDITIONS = [*SIX, ROUTED]


def episode(of, task, condition, model, seed=7):
    conditions = Conditions(
        Fixed(condition, 2) if condition in set(Mode) else Natural(),
        model=model,
        baseline=condition if condition in set(Baseline) else None,
    )
    return asyncio.run(run_episode(of, task, seed, conditions, condition=str(condition)))


def test_it_is_a_domain_with_a_task_for_each_record():
    of = domain()
    assert isinstance(of, Domain)
    tasks = of.tasks()
    assert tuple(task.id for task in tasks) == OWN
    assert {task.factors["task_type"] for task in tasks} == {"<15 min fix", "15 min - 1 hour"}
    assert {task.factors["repo"] for task in tasks} == {f"planroute/{name.split('__')[1][:-2]}" for name in OWN}
    assert (of.name, of.lexicon, of.fields, of.measures) == ("swebench", "shell", TextFields, MEASURES)
    assert "never an instruction" in of.briefing


def test_facts_hold_what_can_change_an_episode():
    of = domain()
    task, shop = of.tasks()[0], of.workshops[0]
    facts = of.facts(task)
    assert json.dumps(facts, allow_nan=False)
    assert (facts["goal"], facts["sandbox"], facts["files"]) == (task.text, "jail", shop.record.base_commit)
    other = type(shop)(
        replace(shop.record, test_patch=shop.record.test_patch + "\n"), shop.sandbox, shop.bounds,
        test_seconds=60, source=shop.source, equipment=shop.equipment,
    )  # fmt: skip
    assert of.facts(replace(task, payload=other)) != facts
    for changed in (replace(of, limits=Limits(steps=9)), replace(of, sampling=Sampling(temperature=0.9))):
        assert changed.facts(task) != facts
    assert of.shared_fields(task, None) == {"plan": []}


def quick(monkeypatch):
    """A solver that saves the time of its own tests, and has one way to go astray."""
    monkeypatch.setattr("planroute.domains.swebench.solver.TEST", "python -m unittest --help # -m pytest")
    monkeypatch.setattr("planroute.domains.swebench.solver.ASIDE", ("ls",))
    return replayed(monkeypatch)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_without_slips_every_condition_resolves_every_own_issue(monkeypatch, condition):
    of = quick(monkeypatch)
    for task in of.tasks():
        row = episode(of, task, condition, open_model("scripted/slip=0")).row
        assert (row.success, row.status) == (True, "finished"), task.id
        assert {name: row.metrics[name] for name in MEASURES} == dict.fromkeys(MEASURES, 1.0)
        assert row.metrics["adherence"] in (1.0, None)
        assert row.metrics["plan_order_faithful"] in (1.0, None)


@pytest.mark.slow
def test_with_slips_every_episode_ends_typed_and_no_box_fails(monkeypatch):
    of = replayed(monkeypatch)
    rows = [episode(of, task, each, open_model("scripted/slip=0.2")).row for task in of.tasks() for each in CONDITIONS]
    assert {row.status for row in rows} == {"finished"}
    assert all(row.stop in set(Stop) and row.success is not None for row in rows)
    assert {row.metrics["pass_to_pass"] for row in rows} == {1.0}


def test_a_replayed_course_gives_the_same_episode(monkeypatch):
    """What the test above relies on."""
    model, task = open_model("scripted/slip=0.3"), domain().tasks()[0]
    real = episode(domain(), task, Mode.SEARCH, model)
    again = episode(replayed(monkeypatch), task, Mode.SEARCH, model)
    assert again.row == real.row
    assert again.trace.to_json() == real.trace.to_json()


@pytest.mark.parametrize(("name", "edits", "rate"), [("clocks", 1, 0.5), ("ledgers", 2, 0.2), ("tables", 3, 0.4)])
def test_slips_fail_at_the_rate_that_follows_from_them(monkeypatch, name, edits, rate):
    """A committed plan: a question about an edit slips with the rate r, and half of the slips call the step finished.

    So an edit is made with probability p = (1 - r) / (1 - r / 2), the issue is resolved with p for each of its edits,
    and p is the expected partial success.
    """
    of = dry(monkeypatch)
    task = next(task for task in of.tasks() if task.id == f"planroute__{name}-1")
    model, made = open_model(f"scripted/slip={rate}"), (1 - rate) / (1 - rate / 2)
    rows = [episode(of, task, Mode.PREDEFINED, model, seed).row for seed in range(100)]
    assert abs(sum(bool(row.success) for row in rows) / len(rows) - made**edits) < 0.12
    assert abs(sum(row.metrics["psr"] for row in rows) / len(rows) - made) < 0.08
    assert {row.metrics["psr"] for row in rows} <= {part / edits for part in range(edits + 1)}


def test_whoever_plans_again_recovers_from_slips(monkeypatch):
    of = dry(monkeypatch)
    model = open_model("scripted/slip=0.4")
    rates = {
        mode: sum(bool(episode(of, of.tasks()[3], mode, model, seed).row.success) for seed in range(30)) / 30
        for mode in (Mode.PREDEFINED, Mode.SEQUENTIAL)
    }
    assert rates[Mode.SEQUENTIAL] > rates[Mode.PREDEFINED] + 0.3


def test_an_episode_knows_neither_tests_nor_answer_and_says_what_was_done():
    shop = workshop("clocks")
    done = episode(domain(), domain().tasks()[0], ROUTED, open_model("scripted/slip=0?declare=hierarchical"))
    text = done.trace.to_json()
    assert "test_noon" not in text
    assert shop.record.base_commit not in text
    assert next(event.action for event in done.trace.of(Acted)).startswith("edit clocks.py\n<<<<<<< OLD\n")
    assert (done.row.declared, done.row.executed) == ("HIERARCHICAL", "HIERARCHICAL")


def test_a_sandbox_that_breaks_is_no_failure_of_the_task(monkeypatch):
    from planroute.errors import DomainError

    def broken(self, box, script, **given):
        raise DomainError("the jail is gone")

    monkeypatch.setattr("planroute.domains.swebench.workshop.Workshop.run", broken)
    row = episode(domain(), domain().tasks()[0], Baseline.FLAT_REACT, open_model("scripted/slip=0")).row
    assert (row.status, row.stop, row.success) == ("infrastructure", Stop.INFRASTRUCTURE, None)


def test_no_breach_of_contract(monkeypatch):
    of = replace(quick(monkeypatch), limits=Limits(steps=8, steps_per_unit=4))
    assert asyncio.run(check_domain(of, seed=7, model=open_model("scripted/slip=0.3"), most_tasks=1)) == []


@pytest.mark.slow
def test_no_breach_of_contract_in_real_boxes():
    assert asyncio.run(check_domain(domain(), seed=7, model=open_model("scripted/slip=0.2"), most_tasks=1)) == []


def test_replaying_repeats_what_was_said_of_a_course(monkeypatch):
    work = ReplayingWork("here", lambda: Workplace(workshop("clocks")), KNOWN)
    work.reset()
    work.step("ls")
    work.close()
    assert work.measures()["patched"] == 0.0


# The solver


STATE = {
    "domain": "swebench",
    "goal": "In `a.py`, `x` should be `y`.\nIn `b.py`, `v` should be `w`.\nIn `a.py`, `p` should be `q`.",
    "history": [],
}
SOLVER = SwebenchSolver()


def turn(action, observation):
    return {"action": action, "observation": observation}


def test_the_solver_plans_what_the_issue_names_and_no_more():
    assert SOLVER.plan(STATE) == [
        "change `x` in a.py", "change `v` in b.py", "change `p` in a.py", "run the tests with pytest",
    ]  # fmt: skip
    assert SOLVER.subgoals(STATE) == [
        "change `x` in a.py then change `p` in a.py", "change `v` in b.py", "run the tests with pytest",
    ]  # fmt: skip
    ways = [SOLVER.alternative(STATE, [()] * count) for count in range(4)]
    assert len({tuple(way) for way in ways}) == 4
    assert SOLVER.plan({**STATE, "goal": "It does not work."}) == ["run the tests with pytest"]


def test_the_solver_goes_on_from_what_was_done():
    first = SOLVER.act(STATE, None)
    assert first == "edit a.py\n<<<<<<< OLD\nx\n=======\ny\n>>>>>>> NEW"
    refused = {**STATE, "history": [turn(first, "Nothing happens: it occurs 0 times.")]}
    assert SOLVER.act(refused, None) == first
    done = {**STATE, "history": [turn(first, "a.py is changed:\n1\ty")]}
    assert SOLVER.act(done, "change `x` in a.py") == "finished"
    assert SOLVER.plan(done)[0] == "change `v` in b.py"
    rest = [turn(SOLVER.act({**STATE, "history": []}, step), "b.py is changed:") for step in SOLVER.plan(STATE)[:3]]
    assert SOLVER.plan({**STATE, "history": rest}) == ["run the tests with pytest"]
    tested = {**STATE, "history": [*rest, turn("python -m pytest -q", "3 passed")]}
    assert SOLVER.plan(tested) == []
    assert SOLVER.act(tested, None) == "submit"
    assert SOLVER.act(tested, "run the tests with pytest") == "finished"


def test_the_solver_scores_by_the_transcript():
    first = SOLVER.act(STATE, None)
    assert SOLVER.score(STATE["goal"], "") == 0
    assert SOLVER.score(STATE["goal"], f"> {first}\na.py is changed:\n1\ty") == 1
    assert SOLVER.score("no hint", "> ls") == 0


# Opening


def test_records_that_cannot_be_worked_on_are_named_with_what_to_do(tmp_path):
    record = {
        "repo": "pallets/flask", "instance_id": "pallets__flask-1", "base_commit": "7ee9ceb", "version": "2.3",
        "patch": "diff", "test_patch": "diff --git a/t.py b/t.py\n", "problem_statement": "x",
        "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": [],
    }  # fmt: skip
    tasks = tmp_path / "records.json"
    tasks.write_text(json.dumps(record))
    settings = (RubricJudge("trajectory"), Limits(), Sampling())
    with pytest.raises(InputError, match="name a folder of checkouts with --repos, or start Docker"):
        opened(*settings, tasks=tasks, sandbox="jail")
    with pytest.raises(InputError, match=r"no environment for pallets/flask 2.3 in .*envs .*docs/swebench.md"):
        opened(*settings, tasks=tasks, repos=tmp_path, sandbox="jail")
    tasks.write_text(json.dumps([record, {**record, "instance_id": "pallets__flask-2"}]))
    with pytest.raises(FaultyInput) as told:
        opened(*settings, tasks=tasks, repos=tmp_path, sandbox="jail")
    assert [fault.partition(":")[0] for fault in told.value.faults] == ["pallets__flask-1", "pallets__flask-2"]


def test_a_folder_of_checkouts_and_environments_is_all_it_takes(tmp_path):
    """The project's own records as somebody else's: from a file, a clone and an environment."""
    import subprocess
    import sys

    from planroute.domains.swebench.own import own_repository

    shop = workshop("clocks")
    record = shop.record
    fields = {name: getattr(record, name) for name in (
        "repo", "instance_id", "base_commit", "patch", "test_patch", "problem_statement", "version", "eval_script",
        "log_parser", "eval_type",
    )}  # fmt: skip
    fields |= {"FAIL_TO_PASS": list(record.fail_to_pass), "PASS_TO_PASS": list(record.pass_to_pass)}
    (tmp_path / "records.jsonl").write_text(json.dumps(fields))
    clone = tmp_path / "repos" / "planroute__clocks"
    subprocess.run(["git", "clone", "-q", str(own_repository("clocks")), str(clone)], check=True)
    env = tmp_path / "repos" / "envs" / "planroute__clocks-1.0"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(env)], check=True)
    for folder in (env, *env.parents):
        if folder.is_relative_to(tmp_path):
            folder.chmod(0o755)
    of = opened(
        RubricJudge("trajectory"), Limits(), Sampling(),
        tasks=tmp_path / "records.jsonl", repos=tmp_path / "repos", sandbox="jail", check=True,
    )  # fmt: skip
    assert of.facts(of.tasks()[0])["equipment"] == "planroute__clocks-1.0"
    fields["patch"] = fields["patch"].replace("hour != 12", "hour != 99")
    (tmp_path / "records.jsonl").write_text(json.dumps(fields))
    with pytest.raises(FaultyInput, match="its own patch does not resolve it: 0% of the tests that must pass"):
        opened(
            RubricJudge("trajectory"), Limits(), Sampling(),
            tasks=tmp_path / "records.jsonl", repos=tmp_path / "repos", sandbox="jail", check=True,
        )  # fmt: skip


def test_without_a_sandbox_nothing_is_opened(monkeypatch):
    monkeypatch.setattr(Jail, "problem", staticmethod(lambda: "not installed: bubblewrap (apt install bubblewrap)"))
    with pytest.raises(InputError, match="no sandbox to run commands in: not installed: bubblewrap"):
        opened(RubricJudge("trajectory"), Limits(), Sampling())


def test_without_swebench_nothing_is_opened(monkeypatch):
    monkeypatch.setattr("planroute.domains.swebench.grading.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'planroute\[swebench\]'"):
        domain_module.opened(RubricJudge("trajectory"), Limits(), Sampling())
