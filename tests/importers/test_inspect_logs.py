"""Logs of Inspect: the verdict among several scores, and a compression that is not to be had."""

import io
import json
import zipfile

import pytest

from planroute.errors import InputError
from planroute.importers import read

HEADER = {"eval": {"model": "m", "task": "t"}}


def log(scores):
    sample = {"id": "a", "epoch": 1, "input": "do it", "messages": [], "scores": scores}
    return json.dumps({"version": 2, "status": "success", **HEADER, "samples": [sample]}).encode()


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ({"match": {"value": "C"}}, True),
        ({"planroute/success": {"value": "I"}, "planroute/order": {"value": "C"}}, False),
        ({"success": {"value": 1}, "order": {"value": 0}, "adherence": {"value": 0.5}}, True),
        ({"order": {"value": "C"}, "adherence": {"value": 0.5}}, None),
        ({"a/success": {"value": "C"}, "b/success": {"value": "I"}}, None),
        ({}, None),
    ],
)
def test_the_verdict_is_the_one_score_or_the_one_named_success(scores, verdict):
    (trajectory,) = read(log(scores), "log.json", "inspect")
    assert trajectory.success is verdict


def test_a_compression_that_is_not_to_be_had_is_told_with_a_way_out():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("header.json", json.dumps(HEADER))
        archive.writestr("samples/a_epoch_1.json", "{}")
    unheard_of = packed.getvalue().replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x63\x00"
    )
    assert unheard_of != packed.getvalue()
    with pytest.raises(InputError, match="cannot unpack the log's compression — `inspect log convert --to json`"):
        read(unheard_of, "log.eval", "inspect-eval")
