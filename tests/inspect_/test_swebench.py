"""Issues as tasks of Inspect."""

import json

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("swebench", reason="needs the swebench extra")

from inspect_ai.log import read_eval_log

from planroute.calls import Sampling
from planroute.domains.swebench.domain import SwebenchDomain
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.settings import domain_of, task_of
from planroute.inspect_.tasks import swebench
from tests.inspect_.conftest import INSPECT
from tests.sandbox.needs import needs_jail

pytestmark = needs_jail


def test_a_sample_for_each_issue_opens_its_domain_again():
    task = swebench(seeds="7,13", command_seconds=5)
    samples = list(task.dataset)
    assert (len(samples), task.epochs) == (4, 2)
    domain = domain_of(json.loads(json.dumps(samples[0].metadata[KEY])), Sampling())
    assert isinstance(domain, SwebenchDomain)
    assert domain.workshops[0].bounds.seconds == 5
    assert task_of(domain, samples[0].id).text == samples[0].input
    (sample,) = swebench(repo="planroute/slugs").dataset
    assert sample.metadata["task_type"] == "<15 min fix"
    assert "test_patch" not in json.dumps(sample.metadata)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repo": "some/other"}, "planroute/slugs"),
        ({"tasks": "nowhere"}, "does not exist"),
        ({"sandbox": "vm"}, "'vm' is unknown"),
        ({"sandbox": "docker"}, "they are worked on in a jail"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(PrerequisiteError, match=message):
        swebench(**options)


@pytest.mark.slow
def test_an_evaluation(evaluations):
    command = (INSPECT, "eval", "planroute/swebench", "-T", "repo=planroute/clocks", "--display", "none")
    evaluations.finish("issues", evaluations.start("issues", *command, "--model", "planroute/scripted/slip=0"))
    log = read_eval_log(str(evaluations.log("issues")))
    assert log.status == "success"
    (sample,) = log.samples
    row = sample.metadata[KEY]["row"]
    assert sample.scores["partial_success"].value == row["metrics"]["psr"] == 1.0
    assert sample.scores["partial_success"].metadata["resolved"] == 1.0
    assert sample.scores["success"].value == 1
