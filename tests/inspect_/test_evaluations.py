"""``inspect eval planroute/alfworld``, read back: scores, spans, usage, limits, and what a warm cache changes."""

import asyncio
import json
import math
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from planroute.calls import Sampling
from planroute.declarers import Natural
from planroute.domains.alfworld import find_games
from planroute.domains.alfworld.domain import AlfworldDomain
from planroute.domains.text import Limits
from planroute.episode import Conditions, run_episode
from planroute.errors import InputError
from planroute.evaluation.judges import RubricJudge
from planroute.importers import read_file
from planroute.models import open_model
from planroute.trace import Trace

pytest.importorskip("inspect_ai")

MODEL = "planroute/scripted/slip=0.1"
LIVE_AT_LEAST = 5


def read(path):
    from inspect_ai.log import read_eval_log

    return read_eval_log(str(path))


def spans(sample):
    return [(event.type, event.name) for event in sample.events if event.event == "span_begin"]


def told(sample, kind):
    return [event.data for event in sample.events if event.event == "info" and event.data["event"] == kind]


def calls(sample):
    return [event for event in sample.events if event.event == "model"]


def usage(log):
    return [
        (sample.id, sample.epoch, {name: used.model_dump() for name, used in sample.model_usage.items()})
        for sample in log.samples
    ]


def test_a_forced_mode(cold):
    log = read(cold.log("forced"))
    assert log.status == "success"
    assert [sample.id for sample in log.samples] == ["clean-cloth", "cool-tomato"]
    for sample in log.samples:
        kinds = [kind for kind, _ in spans(sample)]
        assert kinds.index("declaration") < kinds.index("gate") < kinds.index("dispatch") < kinds.index("plan")
        assert kinds.count("unit") == len(told(sample, "unit_finished")) >= 1
        assert told(sample, "dispatched")[0]["executed"] == "PREDEFINED"
        assert sample.scores["success"].value in (0, 1)
        assert sample.scores["success"].metadata["executed"] == "PREDEFINED"
        assert sample.scores["order"].value == 1
        assert sample.model_usage[MODEL].total_tokens > 0
        assert sample.model_usage[MODEL].total_tokens == sum(call.output.usage.total_tokens for call in calls(sample))
        assert sample.metadata["task_type"].startswith("pick_")
    assert {sample.scores["success"].value for sample in log.samples} == {0, 1}
    metrics = {score.name: score.metrics for score in log.results.scores}
    assert metrics["success"]["mean"].value == pytest.approx(0.5)
    assert metrics["success"]["stderr"].value == pytest.approx(0.5)


def test_who_declares_chooses_and_epochs_are_seeds(cold):
    log = read(cold.log("routed"))
    seeds = {(sample.id, sample.epoch): told(sample, "row")[0]["seed"] for sample in log.samples}
    assert seeds == {
        (name, epoch): seed for name in ("clean-cloth", "cool-tomato") for epoch, seed in ((1, 7), (2, 13))
    }
    for sample in log.samples:
        assert told(sample, "declared")[0]["declaration"]["mode"] == "SEQUENTIAL"
        assert told(sample, "gated")[0]["record"]["action"] == "PASSED"
        assert "revise" in [kind for kind, _ in spans(sample)]
        purposes = [call.input[-1].metadata["planroute"]["purpose"] for call in calls(sample)]
        assert purposes[0] == "natural declaration"


def test_a_row_is_the_same_as_without_inspect(cold):
    """Purpose, sampling, schema and seed survive the way through Inspect: else the script would answer otherwise."""
    domain = AlfworldDomain(tuple(find_games()), RubricJudge("trajectory"), Limits(), Sampling())
    conditions = Conditions(Natural(Sampling()), model=open_model("scripted/slip=0.1"))
    for sample in read(cold.log("routed")).samples:
        task = next(task for task in domain.tasks() if task.id == sample.id)
        seed = sample.metadata["planroute"]["row"]["seed"]
        episode = asyncio.run(run_episode(domain, task, seed, conditions, condition="ROUTED"))
        assert sample.metadata["planroute"]["row"] == json.loads(json.dumps(asdict(episode.row)))
        kept = Trace.from_json(json.dumps(sample.metadata["planroute"]["trace"]))
        assert kept.to_json() == episode.trace.to_json()


def test_acting_without_a_plan(again):
    for sample in read(again.log("flat_react")).samples:
        assert [kind for kind, _ in spans(sample) if kind in ("declaration", "gate", "dispatch", "plan", "unit")] == [
            "dispatch"
        ]
        assert math.isnan(sample.scores["order"].value)
        assert sample.scores["order"].reason == "not_applicable"
        actions = [call for message in sample.messages for call in getattr(message, "tool_calls", None) or ()]
        assert len(actions) == len(told(sample, "acted")) == sample.metadata["planroute"]["row"]["metrics"]["steps"]


def test_alternatives_are_tried_and_judged(again):
    for sample in read(again.log("search")).samples:
        kinds = [kind for kind, _ in spans(sample)]
        assert [kind for kind in kinds if kind in ("propose", "rollout", "judge", "adopt")] == [
            "propose",
            "rollout",
            "rollout",
            "judge",
            "adopt",
        ]
        adopted = told(sample, "chosen")[0]["candidate"]
        actions = [call for message in sample.messages for call in getattr(message, "tool_calls", None) or ()]
        assert len(actions) == sum(event.get("branch") == adopted for event in told(sample, "acted"))


def test_the_verifier_reads_a_log(again):
    log = read(again.log("search"))
    for sample, trajectory in zip(log.samples, read_file(again.log("search")), strict=True):
        row = sample.metadata["planroute"]["row"]
        assert len(trajectory.actions) == row["metrics"]["steps"]
        assert trajectory.plans
        assert trajectory.actions[0].text == next(
            event["action"]
            for event in told(sample, "acted")
            if event["branch"] == told(sample, "chosen")[0]["candidate"]
        )


def test_inspects_own_format_reads_like_its_json(again, tmp_path):
    from inspect_ai.log import write_eval_log

    for name in ("forced", "routed", "flat_react"):
        write_eval_log(read(again.log(name)), str(tmp_path / "log.json"))
        plain = read_file(tmp_path / "log.json")
        own = [replace(one, id=one.id.replace(again.log(name).name, "log.json")) for one in read_file(again.log(name))]
        assert own
        assert sorted(own, key=lambda one: one.id) == sorted(plain, key=lambda one: one.id)


def test_a_torn_log_is_one_clear_line(cold, tmp_path):
    (tmp_path / "torn.eval").write_bytes(cold.log("forced").read_bytes()[:-200])
    with pytest.raises(InputError, match=r"^torn\.eval is a damaged log of Inspect: .*$"):
        read_file(tmp_path / "torn.eval")


def test_a_warm_run_asks_nobody_and_counts_the_same(cold, again):
    first, second = read(cold.log("forced")), read(again.log("warm"))
    assert usage(first) == usage(second)
    asked, others, again_asked = (
        [call.output.metadata["planroute"]["billed"] for s in log.samples for call in calls(s)]
        for log in (first, read(cold.log("flat_react")), second)
    )
    # Conditions that run side by side share questions: which of them asks one first is chance, that one does is not.
    assert sum(asked) + sum(others) >= LIVE_AT_LEAST
    assert sum(asked) > 0
    assert not any(again_asked)
    rows = [[sample.metadata["planroute"]["row"] for sample in log.samples] for log in (first, second)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(("run", "kind"), [("tokens", "token"), ("messages", "message")])
def test_limits_of_inspect_end_an_episode(again, run, kind):
    log = read(again.log(run))
    assert log.status == "success"
    for sample in log.samples:
        assert sample.limit.type == kind
        assert any(event.event == "sample_limit" for event in sample.events)
        row = told(sample, "row")[0]
        assert row["stop"] == "BUDGET"
        assert "limit of Inspect" in row["error"]
        assert sample.scores["success"].value == 0
        assert sample.scores["success"].answer == "BUDGET"


def test_an_endpoint_that_is_down_is_an_error_and_no_failure(again):
    log = read(again.log("down"))
    assert log.status == "error"
    # Inspect stops at the first error and may cancel the other sample.
    sample = next(sample for sample in log.samples if sample.error and "did not answer" in sample.error.message)
    assert not sample.scores
    assert told(sample, "row")[0]["status"] == "infrastructure"


def test_importing_the_command_line_loads_no_inspect():
    code = "import sys, planroute.cli, planroute.models, planroute.inspect_; sys.exit('inspect_ai' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_the_embedded_model(evaluations):
    pytest.importorskip("xllamacpp")
    from planroute.models import default_weights, fetch_weights

    fetch_weights()
    options = (
        "--solver",
        "planroute/flat_react",
        "-T",
        "steps=3",
        "-T",
        "limit=1",
        "--model",
        f"planroute/gguf:{default_weights()}",
    )
    evaluations.command({"embedded": options})
    (sample,) = read(evaluations.log("embedded")).samples
    row = sample.metadata["planroute"]["row"]
    assert row["status"] == "finished"
    assert row["metrics"]["steps"] == len(calls(sample)) == 3
    assert next(iter(sample.model_usage.values())).total_tokens > 0
