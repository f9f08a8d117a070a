"""Items, samples and orders, the file of answers, the dialogue, and the table of agreement."""

import json
import os

import pytest

from planroute.cli.show import plain
from planroute.errors import InputError, StorageError
from planroute.importers import Action
from planroute.labelling import Answer, Dialogue, Rating, in_order, make_item, read_labels, sampled, start_labels, table
from planroute.plan import Logic, PlanUnit

NESTED = (
    PlanUnit("a", "find", children=(PlanUnit("b", "in desk"), PlanUnit("c", "in shelf")), logic=Logic.OR),
    PlanUnit("d", "put"),
)


def item(name="x", actions=3, units=NESTED):
    done = [Action(number, f"act {number}", f"seen {number}", number != 1) for number in range(actions)]
    return make_item(name, "the goal", units, done)


def some(number):
    return [item(f"trajectory {n}") for n in range(number)]


# Items and samples


def test_an_item_numbers_its_plan_and_its_key_says_nothing():
    made = item("alfworld/task/PLAN_REACT/7")
    assert made.lines == ("1 find (any one of these)", "1.1 in desk", "1.2 in shelf", "2 put")
    assert made.leaves == (("1.1", "in desk"), ("1.2", "in shelf"), ("2", "put"))
    assert len(made.key) == 16
    assert int(made.key, 16)
    assert len({made.key, item("other").key, item(actions=2).key}) == 3
    assert item().key == item().key


def test_the_sample_is_everybodys_and_the_order_is_each_persons():
    items = some(30)
    drawn = sampled(items, 10, 7)
    assert len({one.key for one in drawn}) == 10
    assert drawn == sampled(items[::-1], 10, 7)
    assert drawn != sampled(items, 10, 8)
    first, second = in_order(drawn, "A1", 7), in_order(drawn, "A2", 7)
    assert first != second
    assert first == in_order(drawn, "A1", 7)
    assert {one.key for one in first} == {one.key for one in second}


def test_equal_items_count_once_and_too_large_a_sample_is_told():
    assert len(sampled([item(), item()], None, 7)) == 1
    with pytest.raises(InputError, match="--sample 2: there are only 1 trajectories"):
        sampled([item(), item()], 2, 7)


# The file of answers


@pytest.fixture
def labels(tmp_path):
    return start_labels(tmp_path / "a.jsonl", "A1", None, 7, ["k1", "k2"])


def test_every_answer_is_a_line_at_once_and_the_later_counts(labels):
    labels.add(Answer("k1", "yes"))
    assert len(labels.path.read_text().splitlines()) == 2
    labels.add(Answer("k1", "no"))
    labels.add(Answer("k1", "unsure", "2.1"))
    lines = [json.loads(line) for line in labels.path.read_text().splitlines()]
    assert lines[1:] == [
        {"item": "k1", "question": "order", "answer": "yes"},
        {"item": "k1", "question": "order", "answer": "no"},
        {"item": "k1", "question": "unit", "unit": "2.1", "answer": "unsure"},
    ]
    assert read_labels(labels.path).given == {("k1", ""): "no", ("k1", "2.1"): "unsure"}
    again = start_labels(labels.path, "A1", None, 7, ["k2", "k1"])
    assert again.given == labels.given


@pytest.mark.parametrize(
    ("rater", "sample", "seed", "keys", "why"),
    [
        ("A2", None, 7, ["k1", "k2"], "was begun with rater A1, not A2"),
        ("A1", 2, 7, ["k1", "k2"], "was begun with sample None, not 2"),
        ("A1", None, 8, ["k1", "k2"], "was begun with seed 7, not 8"),
        ("A1", None, 7, ["k1"], "is about other trajectories"),
        ("a/b", None, 7, ["k1"], "a name of up to 40 letters"),
    ],
)
def test_a_file_of_other_answers_is_left_alone(labels, rater, sample, seed, keys, why):
    before = labels.path.read_bytes()
    with pytest.raises(InputError, match=why):
        start_labels(labels.path, rater, sample, seed, keys)
    assert labels.path.read_bytes() == before


@pytest.mark.parametrize(
    ("tail", "what"),
    [
        ('{"item": "k1", "question": "order", "ans', "line 2: it was not written to its end"),
        ("nonsense\n", "line 2: not JSON"),
        ("[" * 100_000 + "\n", "line 2: not JSON"),
        ("[]\n", "line 2: not an object"),
        ('{"item": "k1", "question": "order", "answer": "maybe"}\n', "line 2: no answer out of yes, no, unsure"),
        ('{"item": "k1", "question": "unit", "answer": "no"}\n', "line 2: neither about the order nor about a unit"),
    ],
)
def test_damage_is_named_with_its_line(labels, tail, what):
    with labels.path.open("a") as file:
        file.write(tail)
    with pytest.raises(InputError) as told:
        read_labels(labels.path)
    assert told.value.message == f"{labels.path} is damaged: {what}"
    assert "remove that line" in told.value.hint


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("labels", True, "has schema version true, this planroute reads 1"),
        ("labels", [1], "has schema version [1], this planroute reads 1"),
        ("sample", -5, "line 1: sample is neither null nor a whole number from 1"),
        ("sample", 0, "line 1: sample is neither null nor a whole number from 1"),
        ("sample", True, "line 1: sample is neither null nor a whole number from 1"),
        ("seed", -1, "line 1: seed is no whole number from 0"),
        ("seed", int("9" * 4000), "line 1: seed is no whole number from 0"),
        ("rater", 3, "line 1: rater or of is missing"),
    ],
)
def test_a_damaged_first_line_is_not_to_be_removed(labels, field, value, what):
    header = json.loads(labels.path.read_text())
    labels.path.write_text(json.dumps({**header, field: value}) + "\n")
    with pytest.raises(InputError) as told:
        read_labels(labels.path)
    assert what in told.value.message
    assert len(str(told.value)) < 500
    assert "remove that line" not in told.value.hint
    assert "label into another file" in told.value.hint


@pytest.mark.parametrize("seed", [-1, 2**63, int("9" * 4000)])
def test_a_seed_is_from_the_range_of_all_seeds(tmp_path, seed):
    with pytest.raises(InputError, match="--seed: a whole number from 0 to 9223372036854775807"):
        start_labels(tmp_path / "a.jsonl", "A1", None, seed, ["k1"])
    assert not (tmp_path / "a.jsonl").exists()


@pytest.mark.parametrize("content", [b"", b"\n", b"{}\n", b"\xff\n", b'{"labels": 2}\n', b'{"labels": 1}\n'])
def test_what_is_no_file_of_labels_is_told(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.jsonl"):
        read_labels(path)


def test_a_pipe_or_a_folder_is_no_file_and_a_missing_folder_is_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", ""):
        with pytest.raises(InputError, match="is not a file"):
            start_labels(tmp_path / name, "A1", None, 7, [])
    with pytest.raises(StorageError, match="cannot write"):
        start_labels(tmp_path / "absent" / "a.jsonl", "A1", None, 7, [])


# The dialogue


@pytest.fixture
def talk(tmp_path):
    """Answer in ``lines`` about ``items``; what was shown, what is in the file, whether all was gone through."""

    def answer(lines, items, *, units=False, page=20):
        left, shown = list(lines), []
        labels = start_labels(tmp_path / "a.jsonl", "A1", None, 7, [one.key for one in items])
        dialogue = Dialogue(
            items, labels, lambda: left.pop(0) if left else None, shown.append, plain, units=units, page=page
        )
        ended = dialogue.run()
        return shown, read_labels(labels.path).given, ended

    return answer


def test_goal_plan_and_actions_are_shown_and_the_answer_kept(talk):
    one = item()
    shown, given, ended = talk(["y"], [one])
    assert (given, ended) == ({(one.key, ""): "yes"}, True)
    assert shown[1:9] == [
        "Trajectory 1 of 1",
        "Goal: the goal",
        "Declared plan:",
        "  1 find (any one of these)",
        "  1.1 in desk",
        "  1.2 in shelf",
        "  2 put",
        "Actions (3):",
    ]
    assert "  2 > act 1 (no effect)" in shown


def test_it_goes_on_where_it_stopped(talk):
    items = some(3)
    _, given, ended = talk(["y", "n"], items)
    assert (len(given), ended) == (2, False)
    shown, given, ended = talk(["u"], items)
    assert (list(given.values()), ended) == (["yes", "no", "unsure"], True)
    assert [line for line in shown if line.startswith("Trajectory")] == ["Trajectory 3 of 3"]
    assert talk([], items)[0] == []


def test_back_corrects_skip_leaves_open_and_quit_ends(talk):
    items = some(4)
    shown, given, ended = talk(["y", "b", "n", "s", "y", "q", "n"], items)
    keys = [one.key for one in items]
    assert (given, ended) == ({(keys[0], ""): "no", (keys[2], ""): "yes"}, False)
    assert any("(so far: yes)" in line for line in shown)
    _, given, ended = talk(["u", "u"], items)
    assert (given[keys[1], ""], given[keys[3], ""], ended) == ("unsure", "unsure", True)


def test_units_are_asked_after_the_order_also_later(talk):
    one = item()
    talk(["y"], [one])
    shown, given, _ = talk(["y", "n", "?"], [one], units=True)
    assert given == {(one.key, ""): "yes", (one.key, "1.1"): "yes", (one.key, "1.2"): "no", (one.key, "2"): "unsure"}
    assert "1.1 in desk" in shown


def test_an_answer_waits_until_every_action_was_shown(talk):
    one = item(actions=5)
    shown, given, _ = talk(["y", "", "", "", "4", "9", "what", "n"], [one], page=2)
    assert given == {(one.key, ""): "no"}
    assert "There are 3 more actions: Enter shows them." in shown
    assert "All actions have been shown." in shown
    assert shown.index("  4 > act 3") < len(shown) - 1 - shown[::-1].index("  4 > act 3")  # once more, in full
    assert "There is no action 9: they are numbered from 1 to 5." in shown


def test_what_is_shown_cannot_steer_a_terminal(talk):
    evil = "a\x1b]0;owned\x07\n\u202eb\x9b"
    one = make_item(evil, evil, [PlanUnit("1", evil)], [Action(0, evil, evil)])
    shown, _, _ = talk(["1", "y", "y"], [one], units=True)
    assert len(shown) > 8
    assert all(line.isprintable() for line in shown)


# The table


def rating(name, kind, answers, unit=""):
    return Rating(name, kind, {(f"k{place}", unit): answer for place, answer in enumerate(answers)})


def test_until_people_have_labelled_nothing_was_run():
    verifier = rating("verifier", "verifier", ["yes"])
    reason = "no person has labelled these trajectories yet"
    assert [(row["kind"], row["status"], row["reason"]) for row in table([verifier])] == [
        ("person-person", "not_run", reason),
        ("verifier-person", "not_run", reason),
    ]
    rows = table([rating("A1", "person", ["yes", "no"]), rating("verifier", "verifier", ["yes", "no"])], resamples=5)
    assert [(row["kind"], row["status"]) for row in rows] == [("person-person", "not_run"), ("verifier-person", "run")]


def test_pairs_unsure_answers_and_kappa():
    first = rating("A1", "person", ["yes", "yes", "no", "no", "unsure", "yes"])
    second = rating("A2", "person", ["yes", "no", "no", "no", "yes", "unsure"])
    verifier = rating("verifier", "verifier", ["yes", "yes", "no", "undecided"])
    judge = rating("judge", "judge", ["no", "no", "yes", "yes"])
    rows = table([first, second, verifier, judge], resamples=20)
    assert [(row["raters"], row["n"], row["unsure"]) for row in rows] == [
        (["A1", "A2"], 4, [1, 1]),
        (["verifier", "A1"], 3, [1, 0]),
        (["verifier", "A2"], 3, [1, 0]),
        (["judge", "A1"], 4, [0, 0]),
        (["judge", "A2"], 4, [0, 0]),
    ]
    # 3 of 4 agree; by chance (2/4)(1/4) + (2/4)(3/4) = 1/2: kappa = (3/4 - 1/2) / (1/2)
    assert (rows[0]["raw"], rows[0]["kappa"], rows[0]["shared"]) == (0.75, pytest.approx(0.5), 6)
    assert rows[1]["kappa"] == pytest.approx(1.0)
    assert rows[3]["kappa"] == pytest.approx(-1.0)


def test_pairs_that_share_nothing_decided_are_not_run():
    rows = table([rating("A1", "person", ["unsure"]), rating("A2", "person", ["yes"])])
    assert (rows[0]["status"], rows[0]["reason"]) == ("not_run", "no question that both have decided")


def test_units_of_one_trajectory_are_one_cluster():
    answers = {("k1", "1"): "yes", ("k1", "2"): "no", ("k2", "1"): "yes", ("k1", ""): "yes"}
    (row,) = table([Rating("A1", "person", answers), Rating("A2", "person", answers)], units=True, resamples=5)
    assert (row["n"], row["clusters"], row["kappa"]) == (3, 2, pytest.approx(1.0))
