import copy
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.domains.grid.feeder import HEAD, Feeder, straight_laterals
from planroute.domains.grid.feeder_file import feeder_from_dict, load_feeder, validate_feeder
from planroute.errors import FaultyInput, InputError

ROOT = Path(__file__).parents[3]
CASES = sorted((ROOT / "tests/cases/grid").glob("feeder_*"))

# The head feeds c; c feeds a and d; a feeds b. Given out of order on purpose.
FORK = Feeder(
    parent=np.array([2, 0, HEAD, 2]),
    r_pu=np.array([0.02, 0.03, 0.01, 0.05]),
    x_pu=np.array([0.002, 0.003, 0.001, 0.005]),
    node_ids=("a", "b", "c", "d"),
)


def file_of(feeder: Feeder = FORK) -> dict[str, Any]:
    return copy.deepcopy(feeder.to_dict())


def test_default_feeder() -> None:
    feeder = straight_laterals()
    assert feeder.n == 40
    assert feeder.laterals == ("1", "2", "3", "4")
    assert np.flatnonzero(feeder.parent == HEAD).tolist() == [0, 10, 20, 30]
    assert feeder.depth.tolist() == [*range(1, 11)] * 4
    assert feeder.lateral.tolist() == [0] * 10 + [1] * 10 + [2] * 10 + [3] * 10
    assert feeder.positions is not None
    assert feeder.positions.shape == (40, 2)


def test_topology_of_a_fork_in_the_users_order() -> None:
    assert FORK.depth.tolist() == [2, 3, 1, 2]
    assert FORK.path(1) == (2, 0, 1)
    assert FORK.downstream(0) == (0, 1)
    assert FORK.downstream(2) == (0, 1, 2, 3)
    assert FORK.laterals == ("c",)
    assert FORK.node_names == FORK.node_ids


def test_sweep_lists_parents_before_children() -> None:
    order, parent, r, x = FORK.sweep
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert all(parent[slot] < slot for slot in range(1, 5))
    for slot in range(1, 5):
        up = HEAD if parent[slot] == 0 else order[parent[slot] - 1]
        assert FORK.parent[order[slot - 1]] == up
        assert (r[slot], x[slot]) == (FORK.r_pu[order[slot - 1]], FORK.x_pu[order[slot - 1]])


def test_sensitivity_is_twice_the_shared_impedance() -> None:
    assert FORK.sensitivity[1, 0] == pytest.approx(2 * (0.01 + 0.02))
    assert FORK.sensitivity[1, 1] == pytest.approx(2 * (0.01 + 0.02 + 0.03))
    assert FORK.sensitivity[1, 3] == pytest.approx(2 * 0.01)
    np.testing.assert_allclose(FORK.sensitivity, FORK.sensitivity.T)
    np.testing.assert_allclose(FORK.sensitivity_reactive, FORK.sensitivity / 10)
    far = straight_laterals().sensitivity
    assert far[9, 9] == pytest.approx(2 * 10 * 0.022)
    assert far[9, 19] == 0.0


def test_a_feeder_cannot_be_changed() -> None:
    given_r = np.array([0.1, 0.1])
    feeder = Feeder(np.array([HEAD, 0]), given_r, np.zeros(2))
    given_r[0] = 9.0
    assert feeder.r_pu[0] == 0.1
    for array in (feeder.parent, feeder.r_pu, feeder.sensitivity, feeder.lateral):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_equality_pickle_and_file_format_round_trip() -> None:
    default = straight_laterals()
    assert default == straight_laterals()
    assert hash(default) == hash(straight_laterals())
    assert default != straight_laterals(r_pu=0.023)
    assert default != "a feeder"
    for feeder in (default, FORK):
        assert feeder_from_dict(json.loads(json.dumps(feeder.to_dict()))) == feeder
        again = pickle.loads(pickle.dumps(feeder))
        assert again == feeder
        assert not again.r_pu.flags.writeable


def test_head_id_that_a_node_has_is_avoided() -> None:
    feeder = Feeder(np.array([HEAD]), np.array([0.1]), np.array([0.1]), node_ids=("head",))
    assert feeder_from_dict(feeder.to_dict()) == feeder


def test_ohm_and_order_of_nodes() -> None:
    data = {
        "s_base_mva": 10,
        "v_base_kv": 12.66,
        "nodes": [{"id": 3, "lateral": "west"}, {"id": 2, "name": "Mill"}],
        "lines": [
            {"from": "head", "to": 2, "r_ohm": 0.0922, "x_ohm": 0.047},
            {"from": 2, "to": "3", "r_pu": 0.5, "x_ohm": 0},
        ],
    }
    feeder = feeder_from_dict(data)
    assert feeder.node_ids == ("3", "2")
    assert feeder.node_names == ("3", "Mill")
    assert feeder.laterals == ("west", "2")
    assert feeder.parent.tolist() == [1, HEAD]
    np.testing.assert_allclose(feeder.r_pu, [0.5, 0.0922 * 10 / 12.66**2])
    assert feeder.v_head_pu == 1.0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"r_pu": [0.1]}, ["r_pu: has 1 entries for 2 nodes"]),
        ({"parent": [-1, 2]}, ["parent[1]: 2 is no node"]),
        ({"parent": [1, 0]}, ["parent: the nodes form a loop, so some never reach the head"]),
        ({"parent": []}, ["parent: has 0 entries for one or more nodes"]),
        ({"parent": [-1.0, 0.0]}, ["parent: must be an array of whole numbers"]),
        ({"x_pu": ["a", "b"]}, ["x_pu: must be an array of numbers"]),
        ({"r_pu": [[0.1], [0.1, 0.2]]}, ["r_pu: must be an array of numbers"]),
        ({"positions": [1, 2]}, ["positions: must be an array of numbers with 2 columns"]),
        ({"positions": [[0, 1], [0, np.nan]]}, ["positions: must be finite numbers"]),
        ({"node_ids": ("a", "a")}, ["node_ids: must be unique"]),
        ({"lateral_labels": ("a",)}, ["lateral_labels: has 1 entries for 2 nodes"]),
        (
            {"r_pu": [0.0, np.nan], "x_pu": [-1, 0], "s_base_mva": 0, "v_head_pu": "1"},
            [
                "s_base_mva: must be greater than 0, but is 0.0",
                "v_head_pu: must be a number, not '1'",
                "r_pu[0]: must be greater than 0, but is 0.0",
                "r_pu[1]: must be a finite number, not nan",
                "x_pu[0]: must not be negative, but is -1.0",
            ],
        ),
    ],
)
def test_faulty_arrays_are_all_named(changes: dict[str, Any], expected: list[str]) -> None:
    sound: dict[str, Any] = {"parent": [-1, 0], "r_pu": [0.1, 0.1], "x_pu": [0.1, 0.1]}
    Feeder(**sound)
    with pytest.raises(FaultyInput) as caught:
        Feeder(**sound | changes)
    assert list(caught.value.faults) == expected


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "4"])
def test_straight_laterals_counts(count: Any) -> None:
    with pytest.raises(InputError, match="laterals must be a whole number"):
        straight_laterals(count)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case: Path) -> None:
    data = json.loads((case / "input.json").read_text())
    expected = json.loads((case / "expected.json").read_text())
    assert [vars(fault) for fault in validate_feeder(data)] == expected
    if not expected:
        assert load_feeder(case / "input.json").n == len(data["nodes"])
        return
    with pytest.raises(FaultyInput, match=r"input\.json") as caught:
        load_feeder(case / "input.json")
    assert len(caught.value.faults) == len(expected)
    assert "\n" not in str(caught.value)


def test_there_are_cases() -> None:
    assert len(CASES) > 15


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not valid JSON"),
        (b"{'nodes': 1}", "is not valid JSON"),
        (b'{"name": "a", "name": "b"}', "the key 'name' stands twice"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
        (b"[" * 200_000, "is nested too deeply"),
        (b"1" * 5000, "is not valid JSON"),
    ],
)
def test_unreadable_content(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "feeder.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        load_feeder(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreadable_path(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.json", f"{tmp_path}/nul\0.json"):
        with pytest.raises(InputError, match="cannot be read"):
            load_feeder(path)


def test_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    path = tmp_path / "feeder.json"
    path.write_text(json.dumps(file_of()), encoding="utf-8-sig")
    assert load_feeder(path) == FORK


def test_extreme_numbers_are_faults_not_crashes() -> None:
    data = file_of()
    data["v_base_kv"] = 1e-300
    data["lines"][0]["r_ohm"] = data["lines"][0].pop("r_pu")
    data["lines"][1]["r_pu"] = 10**400
    assert [fault.field for fault in validate_feeder(data)] == ["v_base_kv", "r_pu"]
    data["v_base_kv"] = 1e150
    data["lines"][0]["r_ohm"] = 1e-300
    assert [fault.field for fault in validate_feeder(data)] == ["r_ohm", "r_pu"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["head", "a", "b", "c", "d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
fields = st.sampled_from(["name", "s_base_mva", "v_head_pu", "v_base_kv", "head", "nodes", "lines"]) | (
    st.sampled_from(["id", "lateral", "position", "from", "to", "r_pu", "x_pu", "r_ohm", "x_ohm"])
)


@st.composite
def mutated_files(draw: st.DrawFn) -> Any:
    data: Any = file_of()
    for _ in range(draw(st.integers(1, 4))):
        records = [data, data.get("nodes"), data.get("lines")]
        records += [entry for group in records[1:] if isinstance(group, list) for entry in group]
        at = draw(st.sampled_from([record for record in records if isinstance(record, dict | list)]))
        action = draw(st.sampled_from(["set", "drop", "repeat"]))
        if isinstance(at, dict):
            field = draw(fields | st.sampled_from(sorted(at)) if at else fields)
            if action == "drop":
                at.pop(field, None)
            else:
                at[field] = draw(json_values)
        elif at:
            place = draw(st.integers(0, len(at) - 1))
            if action == "drop":
                at.pop(place)
            elif action == "repeat":
                at.append(copy.deepcopy(at[place]))
            else:
                at[place] = draw(json_values)
    return data


@settings(max_examples=200, deadline=None)
@given(mutated_files() | json_values)
def test_any_input_is_a_feeder_or_a_list_of_faults(data: Any) -> None:
    faults = validate_feeder(data)
    if faults:
        with pytest.raises(FaultyInput) as caught:
            feeder_from_dict(data)
        assert caught.value.faults == tuple(str(fault) for fault in faults)
        assert all(fault.problem and fault.component in {"feeder", "node", "line"} for fault in faults)
    else:
        feeder = feeder_from_dict(data)
        assert feeder_from_dict(feeder.to_dict()) == feeder
        assert len(feeder.sweep.order) == feeder.n


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_random_trees_round_trip(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 30))
    parent = np.array([data.draw(st.integers(HEAD, i - 1)) for i in range(n)])
    shuffle = np.array(data.draw(st.permutations(range(n))))
    place = np.append(np.argsort(shuffle), HEAD)
    feeder = Feeder(place[parent[shuffle]], np.full(n, 0.1), np.full(n, 0.1))
    assert feeder_from_dict(feeder.to_dict()) == feeder
    assert [len(feeder.path(node)) for node in range(n)] == feeder.depth.tolist()
    assert np.array_equal(feeder.on_path.sum(1), feeder.depth)


def test_the_examples_of_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs/feeders.md").read_text()
    blocks = re.findall(r"```(json|python)\n(.*?)```", guide, re.DOTALL)
    assert {kind for kind, _ in blocks} == {"json", "python"}
    names: dict[str, Any] = {}
    for kind, text in blocks:
        if kind == "json":
            Path("my_feeder.json").write_text(text)
        else:
            exec(text, names)
