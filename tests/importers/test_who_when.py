"""Logs of talk among agents: their two forms, their label, damage, and the real ones."""

import json

import pytest

from planroute.errors import InputError
from planroute.importers import detect, read
from planroute.importers.who_when import conversation, read_conversation

ALGORITHM = {
    "question": "How many?",
    "is_correct": False,
    "history": [
        {"name": "Excel_Expert", "role": "assistant", "content": "```python\nprint(4)\n```"},
        {"name": "Computer_terminal", "role": "user", "content": "exitcode: 0 (execution succeeded)\n4"},
        {"name": "Checker", "role": "user", "content": "Done."},
    ],
    "mistake_agent": "Checker",
    "mistake_step": "2",
    "mistake_reason": "did not look",
}
HAND = {
    "question": "Where?",
    "history": [
        {"role": "human", "content": "Where?"},
        {"role": "Orchestrator (thought)", "content": "I think"},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Look"},
        {"role": "WebSurfer", "content": "I looked"},
    ],
    "mistake_agent": "Orchestrator",
    "mistake_step": "1",
}


def test_an_algorithm_generated_log():
    found = conversation(ALGORITHM, "x")
    assert (found.task, found.kind) == ("How many?", "algorithm-generated")
    assert [(turn.agent, turn.environment, bool(turn.outcome)) for turn in found.turns] == [
        ("Excel_Expert", False, True),
        ("Computer_terminal", True, False),
        ("Checker", False, False),
    ]
    assert (found.gold.agent, found.gold.step, found.gold.reason) == ("Checker", 2, "did not look")


def test_a_hand_crafted_log_names_the_agent_without_its_purpose():
    found = conversation(HAND, "x")
    assert found.kind == "hand-crafted"
    assert [(turn.agent, turn.environment) for turn in found.turns] == [
        ("human", True),
        ("Orchestrator", False),
        ("Orchestrator", False),
        ("WebSurfer", False),
    ]


def test_it_is_recognised_before_the_history_of_another_format():
    data = json.dumps(ALGORITHM).encode()
    assert detect(data, "x") == "who-when"
    (found,) = read(data, "x")
    assert (found.source, found.success, found.plans, found.actions) == ("who-when", False, (), ())


def test_a_log_without_a_label():
    bare = {key: value for key, value in ALGORITHM.items() if not key.startswith("mistake")}
    assert conversation(bare, "x").gold is None


@pytest.mark.parametrize("step", ["3", "-1", "two", "", None, 1.5, "²"])
def test_a_label_that_names_no_turn_is_told(step):
    with pytest.raises(InputError, match=r"^x: mistake_step: .* is no turn of the 3 from 0$"):
        conversation(ALGORITHM | {"mistake_step": step}, "x")


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]", b'{"history": [1], "question": ""}', b"[" * 100_000])
def test_what_is_no_log_is_an_input_error(data):
    with pytest.raises(InputError):
        read_conversation(data, "x")


def test_the_real_logs(data_dir):
    folder = data_dir / "trajectories/labels"
    for part, kind, number in (("algo", "algorithm-generated", 20), ("hand", "hand-crafted", 28)):
        found = [
            read_conversation(path.read_bytes(), path.name) for path in (folder / f"who_when_{part}").glob("*.json")
        ]
        assert [one.kind for one in found] == [kind] * number
        assert all(one.gold and one.gold.agent in {turn.agent for turn in one.turns} for one in found)
        strange = [one.id for one in found if one.turns[one.gold.step].agent != one.gold.agent]
        assert strange == (["15.json"] if part == "algo" else [])  # its label names one agent and the turn of another
