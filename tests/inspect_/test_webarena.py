"""Tasks on websites in Inspect."""

import json

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai.log import read_eval_log

from planroute.calls import Sampling
from planroute.domains.webarena import evaluator
from planroute.domains.webarena.browser import chromium_path
from planroute.domains.webarena.domain import WebArenaDomain
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.settings import domain_of, task_of
from planroute.inspect_.tasks import webarena
from tests.domains.webarena.playing import ready
from tests.inspect_.conftest import INSPECT


@pytest.fixture(autouse=True)
def everything_is_there():
    ready()


def test_a_sample_for_each_task_opens_its_domain_again():
    task = webarena(seeds="7,13", page=900)
    samples = list(task.dataset)
    assert (len(samples), task.epochs, samples[0].id) == (20, 2, "260")
    domain = domain_of(json.loads(json.dumps(samples[0].metadata[KEY])), Sampling())
    assert isinstance(domain, WebArenaDomain)
    assert (domain.budget, domain.limits.steps) == (900, 30)
    assert task_of(domain, samples[0].id).text == samples[0].input
    chosen = webarena(category="reddit / navigate").dataset
    assert [sample.metadata["kind"] for sample in chosen] == ["navigate"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"category": "bank / retrieve"}, "shopping / navigate"),
        ({"tasks": "nowhere"}, "does not exist"),
        ({"storage": "nowhere"}, "does not exist"),
        ({"seeds": "x"}, "seeds="),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(PrerequisiteError, match=message):
        webarena(**options)


def test_an_evaluation(evaluations):
    found = (f"PLANROUTE_WEBARENA_VENV={evaluator.folder()}", f"PLANROUTE_CHROMIUM={chromium_path()}")
    command = ("env", *found, INSPECT, "eval", "planroute/webarena", "--limit", "1", "--display", "none")
    evaluations.finish("sites", evaluations.start("sites", *command, "--model", "planroute/scripted/slip=0"))
    log = read_eval_log(str(evaluations.log("sites")))
    assert log.status == "success"
    (sample,) = log.samples
    row = sample.metadata[KEY]["row"]
    assert (row["domain"], row["task"], row["success"]) == ("webarena", "260", True)
    assert row["metrics"]["events_right"] == 1.0
    assert sample.scores["success"].value == 1
