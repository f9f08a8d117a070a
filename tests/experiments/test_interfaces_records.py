"""Records of interface studies: kept as they come, taken up again, repeated from a recording, never dropped."""

import asyncio
import json

import pandas as pd
import pytest

from planroute.errors import InputError, ModelMissing, ModelRefused, ModelUnavailable
from planroute.experiments.definition import load_experiment
from planroute.experiments.interfaces import study_interfaces
from planroute.experiments.setting import Setting
from planroute.models import CachedModel, CallCache, RecordedModel
from planroute.runs.folder import canonical
from tests.experiments.ruled import Ruled, any_interface, conditioned

STUDIES = ("M0", "M1", "M2", "M3", "M4", "M5")
SLICE = {"states": 2, "draws": 1}
CALLS = {"M0": 20, "M1": 2, "M2": 2, "M3": 2, "M4": 24, "M5": 2}


def study(name, model, out=None, **setting):
    setting = Setting(models={"it": model}, **setting)
    return asyncio.run(study_interfaces(load_experiment(name), setting, out=out))


def other_time(start):
    """A model every call of which takes other time: what is measured anew would be seen."""
    model = Ruled(any_interface)
    model.seconds = lambda request: start + len(model.requests) / 7
    return model


def lines(out):
    return [json.loads(line) for line in (out / "records.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", STUDIES)
def test_a_second_start_asks_nothing_and_gives_the_same_bytes(name, tmp_path):
    first, second = other_time(1), other_time(1000)
    one = study(name, first, tmp_path, **SLICE)
    bytes_ = (tmp_path / "records.jsonl").read_bytes()
    two = study(name, second, tmp_path, **SLICE)
    assert (len(first.requests), second.requests) == (CALLS[name], [])
    assert (one.resumed, two.resumed) == (0, CALLS[name])
    assert canonical(one.result) == canonical(two.result)
    assert canonical(one.records) == canonical(two.records)
    assert (tmp_path / "records.jsonl").read_bytes() == bytes_


@pytest.mark.parametrize("name", STUDIES)
def test_a_recording_gives_the_same_bytes_seconds_included(name, tmp_path):
    cache = CallCache(tmp_path / "calls.sqlite")
    live = study(name, CachedModel(other_time(1), cache), tmp_path / "live", **SLICE)
    cached = study(name, CachedModel(other_time(50), cache), tmp_path / "cached", **SLICE)
    cache.export(tmp_path / "calls.jsonl")
    cache.close()
    replayed = study(name, RecordedModel(tmp_path / "calls.jsonl"), tmp_path / "replayed", **SLICE)
    assert canonical(live.result) == canonical(cached.result) == canonical(replayed.result)
    assert live.result["first"]["calls"]["latency_p50_s"] > 0
    files = [(tmp_path / name / "records.jsonl").read_bytes() for name in ("live", "cached", "replayed")]
    assert files[0] == files[1] == files[2]


def test_a_cache_answers_the_questions_of_the_declaration_studies_once(tmp_path):
    model, cache = Ruled(conditioned), CallCache(tmp_path / "calls.sqlite")
    for name in ("M1", "M2", "M5"):
        study(name, CachedModel(model, cache), states=5)
    cache.close()
    assert len(model.requests) == 15


def test_what_a_recording_does_not_hold_stops_the_study(tmp_path):
    cache = CallCache(tmp_path / "calls.sqlite")
    study("M1", CachedModel(Ruled(conditioned), cache), states=2, draws=1)
    cache.close()
    with pytest.raises(ModelMissing):
        study("M1", RecordedModel(tmp_path / "calls.sqlite"))


def test_a_study_that_was_stopped_goes_on_where_it_was(tmp_path):
    class Stopped(Exception):
        pass

    stopping = Ruled(lambda request: Stopped() if len(stopping.requests) == 13 else any_interface(request))
    with pytest.raises(Stopped):
        study("M1", stopping, tmp_path / "stopped", states=7)
    assert len(lines(tmp_path / "stopped")) == 12
    with (tmp_path / "stopped" / "records.jsonl").open("a") as file:
        file.write('{"identity": "the program ended he')
    going_on = Ruled(any_interface)
    found = study("M1", going_on, tmp_path / "stopped", states=7)
    whole = study("M1", Ruled(any_interface), tmp_path / "whole", states=7)
    assert len(going_on.requests) == 9
    assert canonical(found.result) == canonical(whole.result)
    for name in ("records.jsonl", "rows.parquet"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_line_is_named(tmp_path):
    study("M1", Ruled(any_interface), tmp_path, states=1)
    path = tmp_path / "records.jsonl"
    text = path.read_text().replace("HIGH_LOAD", "LOW_LOAD").replace('"latency_s": 1.0', '"latency_s": -Infinity', 1)
    path.write_text(text)
    with pytest.raises(InputError, match="line 1, is damaged"):
        study("M1", Ruled(any_interface), tmp_path, states=1)
    path.write_text('{"status": "read"}\n')
    with pytest.raises(InputError, match="line 1, is damaged"):
        study("M1", Ruled(any_interface), tmp_path, states=1)


def test_records_of_a_wider_study_are_kept(tmp_path):
    study("M1", Ruled(any_interface), tmp_path, states=5)
    sliced = study("M1", Ruled(any_interface), tmp_path, states=5, draws=1)
    assert sliced.resumed == 5
    assert len(lines(tmp_path)) == 15
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) == 5


def test_refusals_count_and_infrastructure_does_not(tmp_path):
    def rule(request):
        if request.draw == 0:
            return ModelRefused("HTTP 400")
        return ModelUnavailable("HTTP 503") if request.draw == 1 else any_interface(request)

    found = study("M1", Ruled(rule), tmp_path, states=5)
    calls = found.result["first"]["calls"]
    assert (calls["calls"], calls["read"], calls["refused"], calls["infrastructure"]) == (15, 5, 5, 5)
    assert calls["parse_rate"] == 0.5
    assert calls["errors"] == ["HTTP 400", "HTTP 503"]
    assert found.result["status"] == "partly"
    assert len(lines(tmp_path)) == 15
    assert {record["latency_s"] for record in found.records if record["status"] != "read"} == {None}

    later = Ruled(any_interface)
    again = study("M1", later, tmp_path, states=5)
    assert len(later.requests) == 10
    assert again.result["first"]["calls"]["parse_rate"] == 1
    assert again.result["status"] == "done"
    assert len(lines(tmp_path)) == 15


def test_seconds_of_unreadable_answers_count_and_those_of_failures_do_not():
    def rule(request):
        return ("nonsense", ModelUnavailable("HTTP 503"), any_interface(request))[request.draw]

    found = study("M5", Ruled(rule), states=5).result["first"]
    assert found["latency"]["n"] == 10
    assert found["over_budget"]["n"] == 10


def test_a_record_holds_question_answer_and_what_was_made_of_it(tmp_path):
    found = study("M3", Ruled(any_interface), tmp_path, states=1, draws=1)
    (record,) = found.records
    (row,) = pd.read_parquet(tmp_path / "rows.parquet").to_dict("records")
    assert record["request"]["messages"][1]["content"].startswith("State: ")
    assert json.loads(record["text"])["hierarchical"] == -0.2
    assert record["value"]["shift_hierarchical"] == row["value_shift_hierarchical"] == -0.2
    assert record["about"]["state"] == row["about_state"]
    assert (record["status"], record["latency_s"], record["answer_tokens"]) == ("read", 1.0, 20)


def test_text_that_no_file_can_hold_is_read_the_same_way_twice(tmp_path):
    def rule(request):
        return any_interface(request).replace("because", "be\ud800cause")

    first = study("M1", Ruled(rule), tmp_path, states=2)
    second = study("M1", Ruled(rule), tmp_path, states=2)
    assert second.resumed == 6
    assert canonical(first.records) == canonical(second.records)
