"""Mind2Web's tasks in Inspect: what a task is made of, and one real evaluation."""

import json

import pytest

pytest.importorskip("inspect_ai")
pytest.importorskip("lxml", reason="needs the mind2web extra")

from inspect_ai.log import read_eval_log

from planroute.calls import Sampling
from planroute.domains.mind2web.domain import Mind2WebDomain
from planroute.domains.mind2web.tasks import OWN_TASKS
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.settings import domain_of, task_of
from planroute.inspect_.tasks import mind2web
from tests.inspect_.conftest import INSPECT, MODEL


def test_a_sample_for_each_task_opens_its_domain_again():
    task = mind2web(seeds="7,13", form="direct", top=20)
    samples = list(task.dataset)
    assert [sample.id for sample in samples][:2] == ["brookrail-day-trip", "elm-library-reader"]
    assert (len(samples), task.epochs) == (5, 2)
    settings = json.loads(json.dumps(samples[0].metadata[KEY]))
    domain = domain_of(settings, Sampling())
    assert isinstance(domain, Mind2WebDomain)
    assert (domain.shots, domain.view.candidates) == (None, 20)
    assert task_of(domain, samples[0].id).text == samples[0].input


def test_tasks_are_chosen_by_category_and_number():
    (sample,) = mind2web(category="Travel / Ground").dataset
    assert sample.metadata["length"] == "6-7"
    assert len(mind2web(tasks=str(OWN_TASKS), limit=2).dataset) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"category": "Sport"}, "Travel / Ground"),
        ({"tasks": "nowhere"}, "does not exist"),
        ({"form": "guess"}, "'guess' is unknown"),
        ({"seeds": "x"}, "seeds="),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(PrerequisiteError, match=message):
        mind2web(**options)


def test_an_evaluation(evaluations):
    command = (INSPECT, "eval", "planroute/mind2web", "--limit", "1", "--display", "none", "--model", MODEL)
    evaluations.finish("pages", evaluations.start("pages", *command))
    log = read_eval_log(str(evaluations.log("pages")))
    assert log.status == "success"
    (sample,) = log.samples
    row = sample.metadata[KEY]["row"]
    assert sample.scores["step_success"].value == row["metrics"]["ssr"]
    assert sample.scores["step_success"].metadata["operation_f1"] == row["metrics"]["operation_f1"]
    assert sample.scores["success"].value == int(row["success"])
