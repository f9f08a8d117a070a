"""Records as tasks: both forms, renderings by others, the project's own; each fault in one line that says where."""

import json

import pytest

from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.records import Operation
from planroute.domains.mind2web.rendered import described_operation, read_labelled
from planroute.domains.mind2web.scoring import Choice
from planroute.domains.text.task_files import HALVED
from planroute.errors import FaultyInput, InputError
from tests.domains.mind2web.records import action, candidate, raw, rows

RAW = "mind2web/seeact_one_step_full.jsonl"
RENDERED = "mind2web/skillgen_test_100steps.json"
LABELLED = "mind2web/seeact_200_steps.json"


def written(folder, document, name="tasks.json"):
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def faults_of(path):
    with pytest.raises(FaultyInput) as caught:
        find_tasks(path)
    assert "\n" not in str(caught.value)
    return caught.value.faults


# Forms


def test_the_raw_form(tmp_path):
    (task,) = find_tasks(written(tmp_path, [raw()], "test_task_0.json"))
    assert (task.id, task.goal, task.website, task.category) == (
        "a1",
        "Press what is to be pressed",
        "letters",
        "Info / Letters",
    )
    assert (task.split, task.length, task.unsolvable) == ("test_task", "1-3", 0)
    one, two, three = task.steps
    assert [str(step.operation) for step in task.steps] == ["CLICK", "TYPE New York", "CLICK"]
    assert one.positives[0].node == "10"
    assert len(one.negatives) == 7
    assert three.previous == ("[button]  b0 -> CLICK", "[button]  b1 -> TYPE")
    assert two.markup.html == raw()["actions"][1]["cleaned_html"]


@pytest.mark.parametrize("order", [1, -1])
def test_rows_with_json_in_strings_are_the_same_task(tmp_path, order):
    (task,) = find_tasks(written(tmp_path, rows(raw())[::order], "rows.json"))
    (other,) = find_tasks(written(tmp_path, [raw()], "raw.json"))
    assert task == other
    assert task.sha256() == other.sha256()


def test_rows_as_lines_over_several_files(tmp_path):
    first, *others = rows(raw())
    written(tmp_path, json.dumps(first) + "\n", "one.jsonl")
    written(tmp_path, "\n".join(map(json.dumps, others)), "two.jsonl")
    (task,) = find_tasks(tmp_path)
    assert len(task.steps) == 3


def test_a_step_that_was_left_out_leaves_the_others_in_order(tmp_path):
    (task,) = find_tasks(written(tmp_path, [rows(raw())[2], rows(raw())[0]]))
    assert [step.uid for step in task.steps] == ["u1", "u3"]
    assert len(task.steps[1].previous) == 2


def test_a_table_with_columns_that_are_not_read(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    listed = [{**row, "screenshot": b"png", "raw_html": "x" * 1000} for row in rows(raw())]
    parquet.write_table(pyarrow.Table.from_pylist(listed), tmp_path / "test_website-00000-of-00001.parquet")
    (task,) = find_tasks(tmp_path)
    assert (len(task.steps), task.split) == (3, "test_website")


def test_tasks_come_in_the_order_of_their_names(tmp_path):
    found = find_tasks(written(tmp_path, [raw(name="b"), raw(name="a")]))
    assert [task.id for task in found] == ["a", "b"]


def test_a_step_without_any_right_element_counts_as_unsolvable(tmp_path):
    lost = action(1) | {"pos_candidates": []}
    (task,) = find_tasks(written(tmp_path, [raw(lost, action(2))]))
    assert task.unsolvable == 1


def test_elements_that_the_page_lost_keep_what_the_record_says_of_them(tmp_path):
    gone = candidate(99) | {"attributes": json.dumps({"aria-label": "Gone"})}
    step = action(1) | {"pos_candidates": [gone]}
    (task,) = find_tasks(written(tmp_path, [raw(step)]))
    assert task.steps[0].positives[0].attributes == {"aria_label": "Gone"}
    assert task.steps[0].negatives[0].attributes == {}


def test_the_projects_own_tasks():
    found = find_tasks()
    assert len(found) == 5
    assert {len(task.steps) for task in found} == {3, 4, 5, 6}
    assert {step.operation.op for task in found for step in task.steps} == {"CLICK", "TYPE", "SELECT"}
    assert len({task.category for task in found}) == 5
    for task in found:
        assert [step.uid for step in task.steps] == [f"{task.id}-{n}" for n in range(1, len(task.steps) + 1)]
        assert all(len(step.positives) == 1 and len(step.negatives) >= 6 for step in task.steps)


# Faults


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"operation": None}, "operation is missing"),
        ({"operation": "{CLICK}"}, "operation is a string that is not JSON: '{CLICK}'"),
        ({"operation": []}, "operation is a list, not an object"),
        ({"operation": {"op": "HOVER"}}, "operation 'HOVER' is none of CLICK, TYPE, SELECT"),
        ({"operation": {"op": "TYPE", "value": 3}}, "the operation's value is a number, not text"),
        ({"cleaned_html": None}, "cleaned_html is missing"),
        ({"cleaned_html": " "}, "cleaned_html is empty"),
        ({"cleaned_html": 7}, "cleaned_html is a number, not text"),
        ({"pos_candidates": None}, "pos_candidates is missing"),
        ({"pos_candidates": "[]"}, "pos_candidates is text, not a list"),
        ({"pos_candidates": [{}]}, "pos_candidates 1: has no backend_node_id"),
        ({"neg_candidates": [candidate(9), "{"]}, "neg_candidates 2: it is a string that is not JSON: '{'"),
        ({"neg_candidates": [candidate(9, rank=-1)]}, "neg_candidates 1: rank '-1' is no rank"),
        ({"neg_candidates": [candidate(9, score=float("nan"))]}, "neg_candidates 1: score 'nan' is no number"),
        ({"neg_candidates": [candidate(9, score=10**400)]}, f"neg_candidates 1: score '1{'0' * 39}' is no number"),
        ({"neg_candidates": [candidate("\ud800")]}, f"neg_candidates 1: backend_node_id {HALVED}"),
        ({"neg_candidates": [candidate(9, tag="\ud800")]}, f"neg_candidates 1: tag {HALVED}"),
        ({"neg_candidates": [candidate(9, tag=4)]}, "neg_candidates 1: tag is a number, not text"),
        ({"action_uid": 5}, "action_uid must be text"),
        ({"action_uid": "\ud800"}, f"action_uid {HALVED}"),
        ({"operation": {"op": "TYPE", "value": "\ud800"}}, f"the operation's value {HALVED}"),
    ],
)
@pytest.mark.parametrize("form", ["raw", "rows"])
def test_a_faulty_step_is_told_in_one_line(tmp_path, form, change, said):
    record = raw()
    if form == "raw":
        record["actions"][1] |= change
        document = [record]
    else:
        document = rows(record)
        document[1] |= change
    assert faults_of(written(tmp_path, document)) == (f"tasks.json: annotation a1, step 2: {said}",)


A1 = "annotation a1"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([7], "record 1 is a number, not an object"),
        ([raw() | {"annotation_id": None}], "record 1: annotation_id is missing"),
        ([raw() | {"annotation_id": "a\ud800"}], f"record 1: annotation_id {HALVED}"),
        ([raw() | {"confirmed_task": "\udc00"}], f"{A1}: confirmed_task {HALVED}"),
        ([raw() | {"domain": "\udc00"}], f"{A1}: website, domain or subdomain {HALVED}"),
        ([raw() | {"confirmed_task": ""}], f"{A1}: confirmed_task is empty"),
        ([raw() | {"website": 3}], f"{A1}: website, domain and subdomain must be text"),
        ([raw() | {"actions": []}], f"{A1}: actions must be a list with at least one step"),
        ([raw() | {"actions": [3], "action_reprs": ["x"]}], f"{A1}, step 1: is a number, not an object"),
        ([raw() | {"action_reprs": ["one"]}], f"{A1}: 3 actions but 1 action_reprs"),
        ([raw() | {"action_reprs": "one"}], f"{A1}: action_reprs must be a list of texts"),
        ([raw(), raw()], f"{A1}, step 1: this step is there twice"),
        ([rows(raw())[0] | {"target_action_index": "x"}], f"{A1}: target_action_index is 'x', not a whole number"),
        (
            [rows(raw())[0] | {"target_action_index": float("inf")}],
            f"{A1}: target_action_index is 'inf', not a whole number",
        ),
        (
            [rows(raw())[0] | {"target_action_index": "9"}],
            f"{A1}: target_action_index 9 is outside the 3 action_reprs",
        ),
        (
            [rows(raw())[0], rows(raw(goal="other"))[1]],
            f"{A1}, step 2: goal or website differ from those of the first step",
        ),
        ("{", "it is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_a_faulty_record_is_told_in_one_line(tmp_path, document, said):
    assert faults_of(written(tmp_path, document)) == (f"tasks.json: {said}",)


def test_all_faults_are_told_at_once_and_the_many_are_cut(tmp_path):
    records = [raw(action(1) | {"cleaned_html": ""}, name=f"a{n}") for n in range(30)]
    faults = faults_of(written(tmp_path, records))
    assert len(faults) == 21
    assert faults[-1] == "... and 10 more"


def test_names_in_messages_steer_no_terminal(tmp_path):
    (fault,) = faults_of(written(tmp_path, [raw(name="a\x1b[31m\n") | {"actions": []}]))
    assert fault.isprintable()


def test_files_that_are_not_what_their_names_say(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe\xff")
    (tmp_path / "b.parquet").write_bytes(b"no table")
    (tmp_path / "c.jsonl").write_text(json.dumps(rows(raw())[0]) + "\nnothing\n")
    one, two, three = faults_of(tmp_path)
    assert one == "a.json: is not UTF-8 text"
    assert two.startswith("b.parquet: is not a Parquet table: ")
    assert three.startswith("c.jsonl: line 2 is not JSON: ")


@pytest.mark.parametrize("name", ["nowhere", "empty", "notes"])
def test_where_there_is_nothing(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tasks.json").write_text("[]")
    with pytest.raises(InputError, match="--tasks"):
        find_tasks(tmp_path / name)


def test_a_file_of_too_long_a_name_is_named(tmp_path):
    with pytest.raises(InputError, match=r"/x{300} cannot be read: File name too long"):
        find_tasks(tmp_path / ("x" * 300))


# What others have rendered


def test_the_full_step(data_dir):
    (task,) = find_tasks(data_dir / RAW)
    (step,) = task.steps
    assert (task.website, len(step.positives), len(step.negatives)) == ("thumbtack", 1, 467)
    assert step.previous[-1] == "[textbox]  Zip code -> TYPE: 10203"
    assert step.operation == Operation("CLICK")


def test_the_rendered_steps(data_dir):
    found = find_tasks(data_dir / RENDERED)
    steps = [step for task in found for step in task.steps]
    assert (len(found), len(steps)) == (90, 100)
    assert all(step.positives and len(step.positives) + len(step.negatives) <= 30 for step in steps)
    assert {step.operation.op for step in steps} == {"CLICK", "TYPE", "SELECT"}
    assert all("truncated" not in step.markup.html[-200:] for step in steps)
    assert all(task.category != "unknown" for task in found)


def test_the_labelled_steps_score_operations_only(data_dir):
    steps = read_labelled(data_dir / LABELLED)
    assert len(steps) == 200
    for step in steps:
        gold = step.score(Choice(next(iter(step.choices)), step.operation))
        assert (gold.element, gold.operation, gold.success) == (None, 1.0, None)
        assert step.score(None).operation == 0.0
    recorded = sum(step.score(step.answer).operation for step in steps) / len(steps)
    assert recorded == pytest.approx(0.7825)


def test_labelled_steps_are_no_tasks(data_dir):
    (fault,) = faults_of(data_dir / LABELLED)
    assert (
        fault
        == "seeact_200_steps.json: its steps have no page: their operations can be scored, but no episode runs on them"
    )


@pytest.mark.parametrize("document", ["{}", "nothing", json.dumps([{"prompt": 3}]), json.dumps([7])])
def test_faulty_labelled_steps(tmp_path, document):
    with pytest.raises(InputError):
        read_labelled(written(tmp_path, document))


@pytest.mark.parametrize(
    ("said", "operation"),
    [
        ("[combobox]  Sort By -> SELECT: Price: Low to High", Operation("SELECT", "Price: Low to High")),
        ("[button]  Add -> HOVER", Operation("CLICK")),
        ("[textbox]  a -> b -> TYPE: x  y", Operation("TYPE", "x y")),
    ],
)
def test_a_step_in_words_names_its_operation(said, operation):
    assert described_operation(said) == operation


def test_words_without_an_operation():
    with pytest.raises(ValueError, match="names no operation"):
        described_operation("[button] Add")
