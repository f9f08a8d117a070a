"""Reading foreign trajectories: small ones written here, and the real files where they are at hand."""

import io
import json
import os
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.importers import FORMATS, detect, files, read, read_file
from planroute.importers.prose import listed_plans, thought_plan
from planroute.plan import Logic, PlanUnit


def data(value: object) -> bytes:
    return json.dumps(value).encode()


def texts(unit: PlanUnit) -> list[tuple[str, str]]:
    return [(leaf.id, leaf.text) for leaf in unit.leaves()]


GAME = {
    "problem": "You are in a room.\nYour task is to: put a mug in desk.\n",
    "trace": " think: To solve the task, I need to find and take a mug.\nOK.\n"
    "> go to desk 1\nOn the desk 1, you see a pen 1.\n"
    "> go to shelf 2\nNothing happens.\n>\n\n\n take mug 1 from shelf 2\nYou pick up the mug 1.\n>\n",
    "plans": [
        "put a mug in desk. at depth 1, success: False",
        "['Find and take mug', 'Put mug in desk'] at depth 2 and logic AND",
        "Find and take mug at depth 2, success: False",
        "['Find and take mug from desk', 'Find and take mug from shelf'] at depth 3 and logic OR",
        "Find and take mug from desk at depth 3, success: True",
        "Put mug in desk at depth 2, success: False",
    ],
    "reward": 0,
}
ADAPT = {"pick_and_place": {"game/trial": GAME}, "overall": {"rate": 0.8, "count": [1]}}
KNOWAGENT = {
    "name": "game",
    "result": True,
    "traj": "You are in a room.\nYour task is to: put some pen on bed.\n"
    "> Think: To solve the task, I need to first find and then take a pen. Next, put it on bed.\n> ActionPath: Start\n"
    "> Think: First I need to find a pen. A pen is likely in desk (1). I can check one by one, starting with desk 1.\n"
    "> go to desk 1\nOn the desk 1, you see a pen 2.\n> Think: Now I take it.\n"
    "> take pen 2 from desk 1\nNothing happens.\n"
    "> ActionPath: Start->Goto(desk 1)\n> ActionPath\n",
}
MESSAGES = [
    {"role": "system", "content": "Answer with one command.\n\n1. be brief\n2. be right"},
    {
        "role": "user",
        "content": "Solve it.\n\n## Recommended Workflow\n1. Read the files\n2. Fix it\n\n## Rules\n1. a\n2. b",
    },
    {"role": "assistant", "content": "I need to:\n1.  Read `a.py`.\n2.  Fix it.\n\nFirst:\n\n```bash\ncat a.py\n```"},
    {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno such file\n</output>"},
    {"role": "assistant", "content": "THOUGHT: hm\n\n```mswea_bash_command\nfoo a\n```"},
    {"role": "user", "content": "<returncode>127</returncode>\n<output>\nfoo: command not found\n</output>"},
    {"role": "assistant", "content": "```bash\nls\n```\nor\n```bash\npwd\n```"},
    {"role": "user", "content": "Please always provide EXACTLY ONE action in triple backticks, found 2 actions."},
]
MINI = {"info": {"exit_status": "LimitsExceeded"}, "messages": MESSAGES, "instance_id": "x-1"}
STEP = {"thought": "The plan:\n1. Open it\n2. Edit it", "action": "open a.py\n", "observation": "[File: a.py]"}
REFUSED = {
    "thought": "",
    "action": "edit 1:1\n",
    "observation": "Your proposed edit has introduced new syntax error(s).",
}
SWE = {"trajectory": [STEP, REFUSED], "history": [{"role": "user", "content": "ISSUE: it fails"}], "info": {}}
HISTORY = {
    "history": [
        {"role": "user", "content": "demo", "is_demo": True},
        {"role": "user", "content": "ISSUE: it fails"},
        {"role": "assistant", "content": "look", "thought": "look", "action": "open a.py"},
        {"role": "tool", "content": "[File: a.py]"},
    ]
}
SAMPLE = {
    "id": 3,
    "epoch": 2,
    "input": [{"role": "user", "content": "Guess"}],
    "messages": [
        {"role": "user", "content": "Guess"},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "My plan:\n1. List\n2. Answer"}],
            "tool_calls": [
                {"id": "t1", "function": "bash", "arguments": {"cmd": "ls"}},
                {"id": "t2", "function": "browse", "arguments": {"url": "http://x", "tab": 2}},
            ],
        },
        {"role": "tool", "content": "bin", "tool_call_id": "t1"},
        {"role": "tool", "content": "", "tool_call_id": "t2", "error": {"type": "timeout", "message": "too slow"}},
    ],
    "scores": {"match": {"value": "I"}},
}
INSPECT = {"version": 2, "status": "success", "eval": {"model": "openai/x"}, "samples": [SAMPLE]}
DOCUMENTS = {"adapt": ADAPT, "knowagent": KNOWAGENT, "mini-swe-agent": MINI, "swe-agent": SWE, "inspect": INSPECT}


def evalfile(**entries: object) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in entries.items():
            archive.writestr(name.replace("__", "/") + ".json", json.dumps(value))
    return buffer.getvalue()


@pytest.mark.parametrize("form", DOCUMENTS)
def test_a_format_is_recognised(form):
    assert detect(data(DOCUMENTS[form]), "x") == form
    assert [found.source.split()[0] for found in read(data(DOCUMENTS[form]), "x")] == [form]


def test_adapt():
    (found,) = read(data(ADAPT), "x")
    root = found.plans[0].root
    assert (found.id, found.task, found.success) == ("game/trial", "put a mug in desk.", False)
    assert texts(root) == [
        ("1.1", "Find and take mug from desk"),
        ("1.2", "Find and take mug from shelf"),
        ("2", "Put mug in desk"),
    ]
    assert (root.logic, root.children[0].logic) == (Logic.AND, Logic.OR)
    assert found.claims == {"plan": False, "1": False, "1.1": True, "2": False}
    assert [(action.text, action.executed) for action in found.actions] == [
        ("go to desk 1", True),
        ("go to shelf 2", False),
        ("take mug 1 from shelf 2", True),
    ]
    assert found.actions[0].observation == "On the desk 1, you see a pen 1."


def test_adapt_without_a_tree_declares_in_its_first_thought():
    game = GAME | {"plans": ["put a mug in desk. at depth 1, success: True"], "reward": True}
    (found,) = read(data({"kind": {"game": game}}), "x")
    assert texts(found.plans[0].root) == [("1", "find and take a mug")]
    assert found.success is True


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("nonsense", "not an entry"),
        ("['a', 'b' at depth 2 and logic AND", "not an entry"),
        ("[a] at depth 2 and logic OR", "not a list"),
        ("['a'] at depth 0 and logic AND", "not an entry"),
        ("[{[]: 1}] at depth 2 and logic AND", "not a list"),
        ("[1] at depth 2 and logic AND", "not a list"),
        (f"[0x{'f' * 6000}] at depth 2 and logic AND", "not a list"),
        ("Take a pen at depth 2, success: True", "never planned"),
    ],
)
def test_a_damaged_tree_is_named(entry, why):
    with pytest.raises(InputError, match=why):
        read(data({"kind": {"game": GAME | {"plans": [GAME["plans"][0], entry]}}}), "x")


def test_knowagent():
    (found,) = read(data(KNOWAGENT), "x")
    assert (found.id, found.task, found.success) == ("game#1", "put some pen on bed.", True)
    assert texts(found.plans[0].root) == [
        ("1.1", "First I need to find a pen."),
        ("1.2", "A pen is likely in desk (1)."),
        ("1.3", "I can check one by one, starting with desk 1."),
        ("1.4", "find and then take a pen"),
        ("2", "put it on bed"),
    ]
    assert [(action.text, action.executed) for action in found.actions] == [
        ("go to desk 1", True),
        ("take pen 2 from desk 1", False),
    ]


def test_knowagent_lines():
    rows = b"\n".join([data(KNOWAGENT), b"", data(KNOWAGENT | {"result": 0})])
    assert [(found.id, found.success) for found in read(rows, "x")] == [("game#1", True), ("game#3", False)]
    with pytest.raises(InputError, match="line 2"):
        read(data(KNOWAGENT) + b"\n{", "x")


def test_a_row_ends_at_the_end_of_its_line_only():
    row = json.dumps(KNOWAGENT | {"name": "a\u2028b"}, ensure_ascii=False)
    assert [found.id for found in read(f"{row}\r\n{row}\n".encode(), "x")] == ["a\u2028b#1", "a\u2028b#2"]


@pytest.mark.parametrize(("told", "success"), [(True, True), (0, False), (1.0, True), (None, None)])
def test_a_judgement_is_true_or_false_or_not_known(told, success):
    assert read(data({"kind": {"game": GAME | {"reward": told}}}), "x")[0].success is success
    assert read(data(KNOWAGENT | {"result": told}), "x")[0].success is success


@pytest.mark.parametrize("told", ["yes", 0.5, 2, [True]])
def test_any_other_judgement_is_refused(told):
    with pytest.raises(InputError, match="x: game: reward is neither true nor false"):
        read(data({"kind": {"game": GAME | {"reward": told}}}), "x")
    with pytest.raises(InputError, match="x: line 1: result is neither true nor false"):
        read(data(KNOWAGENT | {"result": told}), "x")


@pytest.mark.parametrize("document", [MINI, MESSAGES])
def test_mini_swe_agent(document):
    (found,) = read(data(document), "x")
    instructed, declared = found.plans
    assert (instructed.instructed, [unit.text for unit in instructed.units]) == (True, ["Read the files", "Fix it"])
    assert (declared.instructed, [unit.text for unit in declared.units]) == (False, ["Read `a.py`.", "Fix it."])
    assert [(action.text, action.executed) for action in found.actions] == [
        ("cat a.py", True),
        ("foo a", False),
        ("ls", False),
        ("pwd", False),
    ]
    assert found.failure == ("LimitsExceeded" if document is MINI else "")


def test_swe_agent():
    (found,) = read(data(SWE), "x")
    assert [unit.text for unit in found.plans[0].units] == ["Open it", "Edit it"]
    assert [(action.text, action.executed) for action in found.actions] == [("open a.py", True), ("edit 1:1", False)]
    (found,) = read(data(HISTORY), "x")
    assert (found.task, [action.text for action in found.actions]) == ("ISSUE: it fails", ["open a.py"])


@pytest.mark.parametrize("content", [data(INSPECT), evalfile(header=INSPECT, samples__3_epoch_2=SAMPLE)])
def test_inspect(content):
    (found,) = read(content, "x")
    assert (found.id, found.source, found.task, found.success) == ("x#3/2", "inspect openai/x", "Guess", False)
    assert [unit.text for unit in found.plans[0].units] == ["List", "Answer"]
    assert [(action.text, action.executed) for action in found.actions] == [("ls", True), ("browse http://x 2", False)]
    assert "too slow" in found.actions[1].observation


def test_samples_of_a_zip_come_in_order():
    samples = {f"samples__{n}_epoch_1": SAMPLE | {"id": n, "epoch": 1} for n in (10, 2, 1)}
    assert [found.id for found in read(evalfile(header=INSPECT, **samples), "x")] == ["x#1/1", "x#2/1", "x#10/1"]


@pytest.mark.parametrize(
    ("scores", "success"),
    [({"a": {"value": "C"}}, True), ({"a": {"value": 0}}, False), ({"a": {"value": 0.5}}, None), (None, None)],
)
def test_only_a_plain_verdict_is_success(scores, success):
    (found,) = read(data(INSPECT | {"samples": [SAMPLE | {"scores": scores}]}), "x")
    assert found.success is success
    two = {"a": {"value": "C"}, "b": {"value": "C"}}
    (found,) = read(data(INSPECT | {"samples": [SAMPLE | {"scores": two}]}), "x")
    assert found.success is None


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"hello", "neither JSON nor rows"),
        (b"[1, 2", "neither JSON nor rows"),
        (b"[]", "none of these formats"),
        (b'{"a": 1}', "none of these formats"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PK\x03\x04 no zip", "damaged log"),
        (evalfile(other=1), "neither samples nor a header"),
        (evalfile(header=INSPECT, samples__1=SAMPLE)[:-30], "damaged log"),
        (data({"schema": 99, "events": []}), "^some file: trace has schema version 99"),
        (data({"schema": 1, "events": [{"kind": "no such"}]}), "^some file: not a readable trace"),
        (data({"messages": 3, "info": {}}), "not a list"),
        (data({"messages": [3], "info": {}}), "not an object"),
        (data({"version": 2, "status": "x", "eval": {}, "samples": [SAMPLE | {"messages": {}}]}), "not a list"),
        (data({"trajectory": {}, "history": []}), "not a list"),
        (data({"version": 2, "status": "x", "eval": []}), "not an object"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(content, why):
    with pytest.raises(InputError, match=why) as error:
        read(content, "some file")
    assert "\n" not in str(error.value)


def test_only_regular_files_are_read(tmp_path):
    for path in ("/dev/zero", tmp_path):
        with pytest.raises(InputError, match="is not a file"):
            read_file(Path(path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is not a file"):
        read_file(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="link is not a file"):
        read_file(tmp_path / "link")


def test_what_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LARGEST", 1 << 20)
    with (tmp_path / "log.json").open("wb") as sparse:
        sparse.truncate(1 << 32)
    with pytest.raises(InputError, match=r"log\.json is larger than 1 MB, the most that is read"):
        read_file(tmp_path / "log.json")
    (tmp_path / "log.eval").write_bytes(evalfile(header=INSPECT, samples__1=SAMPLE | {"x": " " * (1 << 20)}))
    with pytest.raises(InputError, match=r"log\.eval: samples/1\.json is larger than 1 MB"):
        read_file(tmp_path / "log.eval")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_with_two_entries_of_one_name_is_refused():
    buffer = io.BytesIO(evalfile(header=INSPECT, samples__1=SAMPLE))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("samples/1.json", "{}")
    with pytest.raises(InputError, match=r"x holds samples/1\.json 2 times"):
        read(buffer.getvalue(), "x")


def test_a_format_can_be_forced():
    assert read(data(KNOWAGENT), "x", "knowagent")[0].source == "knowagent"
    with pytest.raises(InputError, match="not of the format adapt"):
        read(data(MINI), "x", "adapt")
    with pytest.raises(InputError, match="choose from trace, cell"):
        read(data(MINI), "x", "yaml")


def test_a_report_beside_the_trajectory_gives_the_verdict(tmp_path):
    path = tmp_path / "x-1.traj.json"
    path.write_bytes(data(MINI))
    assert read_file(path)[0].success is None
    (tmp_path / "x-1.report.json").write_bytes(data({"x-1": {"resolved": True}}))
    assert read_file(path)[0].success is True
    (tmp_path / "x-1.report.json").write_bytes(data({"resolved": "yes"}))
    with pytest.raises(InputError, match="neither true nor false"):
        read_file(path)
    with pytest.raises(InputError, match="No such file"):
        read_file(tmp_path / "absent")


@pytest.mark.parametrize(
    ("said", "units"),
    [
        ("I need to:\n1. a\n2. b", [("a", "b")]),
        ("Here is the plan:\n\n1) a\n\n2) b\n   more of b\n3) c\n\nThen go.", [("a", "b", "c")]),
        ("I should test edge cases.\n1. a\n2. b", []),
        ("The logic is:\n1. a\n2. b", []),
        ("I need to:\n1. only one", []),
        ("I need to:\n```\n1. a\n2. b\n```", []),
        ("My plan:\n1. a\n2. b\nThe cases:\n1. c\n2. d\nNext steps\n1. e\n2. f", [("a", "b"), ("e", "f")]),
    ],
)
def test_a_list_is_a_plan_where_a_cue_says_so(said, units):
    assert [found for _, found in listed_plans(said)] == units


def test_a_thought_with_steps():
    thought = "To solve the task, I need to find and take a cup, then heat it with microwave, then put it in fridge."
    assert [text for _, text in texts(thought_plan(thought))] == [
        "find and take a cup",
        "heat it with microwave",
        "put it in fridge",
    ]
    assert thought_plan("Now I look around.") is None


LEAVES = st.none() | st.booleans() | st.integers(-5, 10**6) | st.text(max_size=12)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner))


def spots(value: object, path: tuple = ()) -> list[tuple]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, child in inner for spot in spots(child, (*path, key)))]


def replaced(value: object, path: tuple, new: object) -> object:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=300)
@given(form=st.sampled_from(sorted(DOCUMENTS)), draw=st.data(), new=ANYTHING)
def test_damage_anywhere_is_an_input_error_or_harmless(form, draw, new):
    document = DOCUMENTS[form]
    damaged = replaced(document, draw.draw(st.sampled_from(spots(document))), new)
    for forced in (form, None):
        try:
            found = read(data(damaged), "x", forced)
        except InputError:
            continue
        assert all(isinstance(action.text, str) for trajectory in found for action in trajectory.actions)


@settings(max_examples=200)
@given(st.binary(max_size=60) | st.binary(max_size=60).map(lambda tail: b"PK\x03\x04" + tail), st.sampled_from(FORMATS))
def test_any_bytes_are_read_or_refused(content, form):
    for forced in (form, None):
        try:
            read(content, "x", forced)
        except InputError:
            continue


# The real files.


def test_the_real_adapt_results(data_dir):
    (path,) = (data_dir / "trajectories/alfworld").glob("ADaPT*.json")
    found = read_file(path)
    assert len(found) == 134
    assert sum(t.success is True for t in found) == 107
    nested = [t.plans[0].root for t in found if len(t.claims) > 1]
    assert len(nested) == 41
    assert Counter(any(unit.children for unit in root.children) for root in nested)[True] == 28
    refused = [t for t in found if any(not action.executed for action in t.actions)]
    assert len(refused) == 47
    looks = sum(a.text.startswith(("go to", "open")) for t in found for a in t.actions)
    assert (looks, sum(len(t.actions) for t in found)) == (1087 + 24, 1432 + 24)  # 24 begin a part, unprompted
    assert all(t.task and t.plans for t in found)


def test_the_real_knowagent_rows(data_dir):
    (path,) = (data_dir / "trajectories/alfworld").glob("KnowAgent*.jsonl")
    found = read_file(path)
    assert Counter(t.success for t in found) == {True: 134, False: 376}
    assert all(t.plans for t in found)
    assert not [a.text for t in found for a in t.actions if a.text.lower().startswith(("think", "actionpath"))]


def test_the_real_software_records(data_dir):
    folder = data_dir / "trajectories/swe"
    records = {path.name.split(".")[0]: read_file(path)[0] for path in folder.iterdir() if ".report." not in path.name}
    assert len(records) == 8
    declared = {name: sum(not plan.instructed for plan in t.plans) for name, t in records.items()}
    assert {name: count for name, count in declared.items() if count} == {
        "django__django-11951": 2,
        "django__django-15525": 2,
        "pytest-dev__pytest-7521": 1,
        "scikit-learn__scikit-learn-26194": 1,
        "sympy__sympy-24539": 1,
    }
    assert sum(plan.instructed for t in records.values() for plan in t.plans) == 6
    assert records["scikit-learn__scikit-learn-26194"].success is False
    assert records["django__django-15525"].success is True
    assert [a.executed for a in records["pydicom__pydicom-1458"].actions].count(False) == 3


def test_the_real_inspect_logs(data_dir):
    found = [t for path in sorted((data_dir / "trajectories/inspect").iterdir()) for t in read_file(path)]
    assert [(len(t.actions), t.success) for t in found] == [(0, True)] * 3 + [(5, False), (0, None)]
    assert found[3].actions[0].text == "ls"
