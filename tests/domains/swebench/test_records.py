"""Records in both schemas, and what is said of one that is not."""

import json

import pytest

from planroute.domains.swebench import Record, read_records
from planroute.domains.swebench.own import own_records
from planroute.domains.swebench.records import read_record
from planroute.domains.text.task_files import HALVED
from planroute.errors import FaultyInput, InputError

CLASSIC = {
    "repo": "pallets/flask",
    "instance_id": "pallets__flask-1",
    "base_commit": "7ee9ceb71e868944a46e1ff00b506772a53a4f1d",
    "patch": "diff --git a/src/flask/a.py b/src/flask/a.py\n",
    "test_patch": "diff --git a/tests/test_a.py b/tests/test_a.py\n",
    "problem_statement": "It does not work.",
    "hints_text": "",
    "created_at": "2023-03-04T18:36:21Z",
    "version": "2.3",
    "FAIL_TO_PASS": '["tests/test_a.py::test_one"]',
    "PASS_TO_PASS": '["tests/test_a.py::test_two", "tests/test_a.py::test_three"]',
    "environment_setup_commit": "182ce3dd15dfa3537391c3efaf9c3ff407d134d4",
}
SCRIPT = "#!/bin/bash\n: '>>>>> Start Test Output'\nmake test\n: '>>>>> End Test Output'\n"
NEWER = {
    **{name: CLASSIC[name] for name in ("instance_id", "base_commit", "patch", "test_patch", "problem_statement")},
    "repo": "some/other",
    "FAIL_TO_PASS": ["one"],
    "PASS_TO_PASS": [],
    "image": "swebench/sweb.eval.x86_64.some_1776_other-1:latest",
    "eval_script": SCRIPT,
    "log_parser": "parse_log_pytest",
    "eval_type": "fail_only",
}


NAMED = r"is not of the form [\w-][\w.-]{0,199}"
OWNED = r"is not of the form [\w-][\w.-]{0,99}/[\w-][\w.-]{0,99}"


def faults(fields, **changes):
    record, found = read_record({name: value for name, value in {**fields, **changes}.items() if value is not ...})
    assert (record is None) == bool(found)
    return found


def test_the_classic_schema():
    record, found = read_record(CLASSIC)
    assert found == []
    assert record.fail_to_pass == ("tests/test_a.py::test_one",)
    assert len(record.pass_to_pass) == 2
    assert record.test_files == ("tests/test_a.py",)
    assert (record.version, record.difficulty, record.image) == ("2.3", "unrated", "")
    assert record.container == "swebench/sweb.eval.x86_64.pallets_1776_flask-1:latest"


def test_the_newer_schema():
    record, found = read_record(NEWER)
    assert found == []
    assert (record.container, record.log_parser, record.eval_type) == (NEWER["image"], "parse_log_pytest", "fail_only")
    assert (record.eval_script, record.pass_to_pass) == (SCRIPT, ())


def test_a_hash_changes_with_everything():
    record, _ = read_record(CLASSIC)
    assert record.sha256() == read_record(CLASSIC)[0].sha256()
    for name, value in (("patch", "diff"), ("PASS_TO_PASS", []), ("version", 2.4), ("difficulty", "1-4 hours")):
        assert read_record({**CLASSIC, name: value})[0].sha256() != record.sha256()


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"instance_id": ...}, "instance_id is missing"),
        ({"instance_id": "../up"}, rf"instance_id '../up' {NAMED}"),
        ({"instance_id": ".."}, rf"instance_id '..' {NAMED}"),
        ({"instance_id": ".hidden"}, rf"instance_id '.hidden' {NAMED}"),
        ({"instance_id": "ä"}, rf"instance_id 'ä' {NAMED}"),
        ({"repo": "flask"}, rf"repo 'flask' {OWNED}"),
        ({"repo": "../.."}, rf"repo '../..' {OWNED}"),
        ({"repo": "x/.."}, rf"repo 'x/..' {OWNED}"),
        ({"repo": "./x"}, rf"repo './x' {OWNED}"),
        ({"repo": "x/" + "y" * 101}, f"repo 'x/{'y' * 78}' {OWNED}"),
        ({"version": "/../.."}, r"version '/../..' is not of the form [\w.+-]{1,30}"),
        ({"patch": "a\ud800"}, f"patch {HALVED}"),
        ({"FAIL_TO_PASS": ["\ud800"]}, f"FAIL_TO_PASS {HALVED}"),
        ({"repo": 7}, "repo is a number, not a text"),
        ({"base_commit": "--upload-pack=x"}, "base_commit '--upload-pack=x' is not of the form [0-9a-f]{7,64}"),
        ({"problem_statement": " \n"}, "problem_statement is empty"),
        ({"problem_statement": "a\0b"}, "problem_statement holds a character of value 0"),
        ({"test_patch": None}, "test_patch is missing"),
        ({"test_patch": "+ x"}, "test_patch is no patch of git: no line begins with 'diff --git a/'"),
        ({"patch": {}}, "patch is an object, not a text"),
        ({"FAIL_TO_PASS": "[]"}, "FAIL_TO_PASS is empty: nothing would show that the issue is resolved"),
        ({"FAIL_TO_PASS": "tests/a.py"}, "FAIL_TO_PASS is no list in JSON"),
        ({"FAIL_TO_PASS": '{"a": 1}'}, "FAIL_TO_PASS is no list of tests' names"),
        ({"PASS_TO_PASS": ["a", 1]}, "PASS_TO_PASS is no list of tests' names"),
        ({"PASS_TO_PASS": ...}, "PASS_TO_PASS is missing"),
        (
            {"repo": "some/other"},
            "eval_script and log_parser missing, and how some/other is tested is not known without",
        ),
        (
            {"eval_script": "make test"},
            "eval_script must print '>>>>> Start Test Output' and '>>>>> End Test Output' around its tests",
        ),
        ({"eval_type": "maybe"}, "eval_type is 'maybe', not one of pass_and_fail, fail_only"),
        ({"image": "--privileged"}, "image '--privileged' is no name of an image"),
    ],
)
def test_one_line_says_what_is_wrong(changes, fault):
    assert faults(CLASSIC, **changes) == [fault]


def test_every_fault_of_every_record_is_told_at_once_by_file_instance_and_field(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([CLASSIC, {**CLASSIC, "instance_id": "x", "patch": 1, "version": []}]))
    (tmp_path / "b.jsonl").write_text("\n" + json.dumps({"instance_id": "y"})[:-1] + "\n7\n")
    (tmp_path / "c.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FaultyInput) as told:
        read_records(tmp_path)
    assert told.value.faults[:2] == (
        "a.json: x: patch is a number, not a text",
        "a.json: x: version is a list, not a text",
    )
    assert told.value.faults[2].startswith("b.jsonl: line 2 is not JSON")
    assert told.value.faults[3] == "c.json: is not UTF-8 text"


def test_records_are_found_in_every_form_and_once_each(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "one.jsonl").write_text(json.dumps(CLASSIC) + "\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "same.json").write_text(json.dumps(CLASSIC))
    parquet.write_table(pa.Table.from_pylist([{**NEWER, "instance_id": "b"}]), tmp_path / "t.parquet")
    (tmp_path / "ignored.txt").write_text("no record")
    found = read_records(tmp_path)
    assert [record.instance_id for record in found] == ["b", "pallets__flask-1"]
    assert all(isinstance(record, Record) for record in found)
    (tmp_path / "sub" / "same.json").write_text(json.dumps({**CLASSIC, "version": "9"}))
    with pytest.raises(FaultyInput, match="is another record of that name than the one in one"):
        read_records(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("none", None, "does not exist"),
        ("a.jsonl", "\n", "holds no record"),
        ("a.json", "[" * 100_000, "is nested too deeply"),
        ("a.json", "[1]", "record 1 is no object"),
        ("a.parquet", "PAR1", "is not a Parquet table"),
    ],
)
def test_what_is_no_file_of_records(tmp_path, name, content, problem):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=problem):
        read_records(tmp_path / name)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="holds no file of records"):
        read_records(tmp_path)


def test_the_real_record(data_dir):
    (record,) = read_records(data_dir / "swebench" / "verified_flask_5014.jsonl")
    assert (record.instance_id, len(record.fail_to_pass), len(record.pass_to_pass)) == ("pallets__flask-5014", 1, 59)
    assert (record.difficulty, record.test_files) == ("<15 min fix", ("tests/test_blueprints.py",))


def test_records_without_tests_are_refused_with_a_line_for_each(data_dir):
    with pytest.raises(FaultyInput) as told:
        read_records(data_dir / "swebench" / "verified_500_partial.jsonl")
    assert len(told.value.faults) == 21
    assert "astropy__astropy-12907: test_patch is missing" in told.value.faults[0]
    assert told.value.faults[-1].startswith("... and ")


def test_own_records_are_of_both_schemas():
    records = own_records()
    assert [record.instance_id for record in records] == sorted(record.instance_id for record in records)
    assert {bool(record.eval_script) for record in records} == {True, False}
    assert {record.log_parser for record in records} == {"", "parse_log_pytest", "parse_log_django"}
    assert {len(record.fail_to_pass) for record in records} == {1, 2, 3}
