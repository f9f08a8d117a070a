"""One decision for each page: the environment of recorded pages, and both ways of asking."""

import asyncio
import json

import pytest

from planroute.calls import ModelReply, Sampling
from planroute.domains.mind2web.asking import Multichoice, direct, question, read_answer, read_shots
from planroute.domains.mind2web.environment import LAST, NEXT, NONE, RecordedPages, View
from planroute.domains.mind2web.records import Operation
from planroute.domains.mind2web.tasks import find_tasks
from planroute.domains.text.acting import Situation
from planroute.domains.text.environment import Measured, Sighted, exact
from planroute.errors import DomainError, InputError
from planroute.ledger import Ledger
from planroute.protocols import Context
from planroute.trace import Failed, Trace
from tests.domains.mind2web.records import action, task

pytest.importorskip("lxml", reason="needs the mind2web extra")

THREE = task()


class Answering:
    """Answers one question after another, and keeps them."""

    endpoint = "test/answers"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    async def complete(self, request):
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return ModelReply(answer(request) if callable(answer) else answer)

    async def aclose(self):
        pass


def pages(found=THREE, seed=7, **view):
    environment = RecordedPages(found, seed, View(**view))
    environment.reset()
    return environment


def decided(decide, environment, *answers, **more):
    model, trace = Answering(*answers), Trace()
    state = {"goal": environment.task.goal, **environment.sight(), **more.pop("state", {})}
    situation = Situation(Context(7, trace, Ledger(), model), environment, state, "brief", Sampling(), exact, **more)
    return asyncio.run(decide(situation)), model.asked, trace


def acted(text):
    return json.dumps({"thought": "", "action": text})


def gold(environment):
    step = environment.shown.step
    return environment.shown.action(step.positives[0].node, step.operation)


# Recorded pages


def test_gold_decisions_solve_every_task():
    for found in find_tasks():
        environment = pages(found)
        turns = [environment.step(gold(environment)) for _ in found.steps]
        assert [turn.done for turn in turns] == [False] * (len(turns) - 1) + [True]
        assert turns[-1].success
        assert set(environment.measures().values()) == {1.0}


@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("how", [NONE, "[button] Golf -> CLICK", "[button] Golf -> TYPE: x", "dance", ""])
def test_one_wrong_step_of_n(wrong, how):
    environment = pages()
    for number in range(3):
        turn = environment.step(how if number == wrong else gold(environment))
    assert (turn.done, turn.success) == (True, False)
    assert environment.measures()["ssr"] == pytest.approx(2 / 3)
    assert environment.measures()["tsr"] == 0.0
    environment.close()
    assert environment.measures()["ssr"] == pytest.approx(2 / 3)


def test_the_annotated_page_follows_whatever_was_decided():
    one, other = pages(), pages()
    for _ in range(2):
        one.step(gold(one))
        other.step(NONE)
        assert one.sight() == other.sight()
    assert [each["action"] for each in other.sight()["history"]] == ["[button]  b0 -> CLICK", "[button]  b1 -> TYPE"]


def test_an_observation_tells_nothing_of_what_was_right():
    right, wrong = pages(), pages()
    for expected in (NEXT, NEXT, LAST):
        assert right.step(gold(right)).observation == wrong.step(NONE).observation == expected
    with pytest.raises(DomainError, match="is over"):
        wrong.step(NONE)
    assert wrong.sight() == {"history": [], "page": ""}


def test_it_shows_more_than_observations_and_measures_more_than_success():
    assert isinstance(pages(), Sighted)
    assert isinstance(pages(), Measured)
    assert pages().admissible == ()


def test_equal_labels_are_told_apart():
    environment = pages(task(action(1, 11, buttons=("Go", "Go", "Go"))))
    assert sorted(environment.shown.labels.values()) == [
        "[button] Go",
        "[button] Go #2",
        "[button] Go #3",
        "[input] town",
    ]
    assert environment.step("[button] Go #2 -> CLICK").success


def test_a_right_element_that_is_not_offered_cannot_be_chosen():
    record = action(1)
    for rank, each in enumerate([*record["neg_candidates"], *record["pos_candidates"]]):
        each["rank"] = rank
    environment = pages(task(record), candidates=3)
    assert "10" not in environment.shown.labels
    turn = environment.step("[button] Alpha -> CLICK")
    assert (turn.executed, turn.success) == (False, False)


# One question


@pytest.mark.parametrize(
    ("words", "decision"),
    [
        ("CLICK [1]", "[button] Alpha -> CLICK"),
        ("click 1", "[button] Alpha -> CLICK"),
        ("Action: `CLICK [id=1]`", "[button] Alpha -> CLICK"),
        ("CLICK [1] the button", "[button] Alpha -> CLICK"),
        ("TYPE [0] New York", "[input] town -> TYPE: New York"),
        ('TYPE [0]: "New York"', "[input] town -> TYPE: New York"),
        ("SELECT [0] [a: b -> c]", "[input] town -> SELECT: a: b -> c"),
        ("TYPE [0]", "[input] town -> TYPE"),
        ("NONE", NONE),
        ("none of these.", NONE),
        ("CLICK [99]", NONE),
        ("CLICK [99999999999999999999]", NONE),
        ("CLICK Alpha", NONE),
        ("finished", NONE),
        ("", NONE),
    ],
)
def test_words_as_a_decision(words, decision):
    found, asked, _ = decided(direct, pages(), acted(words))
    assert (found.action, found.finished) == (decision, False)
    assert len(asked) == 1


def test_what_cannot_be_read_is_none_of_these_and_recorded():
    found, _, trace = decided(direct, pages(), "no JSON at all")
    assert found.action == NONE
    assert [event.error for event in trace.of(Failed)] == ["ReplyError"]
    found, _, trace = decided(direct, pages(), acted("CLICK [55]"))
    assert [(event.error, event.message) for event in trace.of(Failed)] == [("NoSuchElement", "there is no element 55")]


def test_a_step_of_a_plan_may_be_called_finished_and_takes_no_page():
    environment = pages()
    found, asked, _ = decided(direct, environment, acted("finished"), unit="press Alpha")
    assert found.finished
    assert "Carry out this step: press Alpha" in asked[0].messages[-1].content
    assert environment.scores == []


# Five candidates at a time

SHOTS = read_shots()
ASK = Multichoice(SHOTS)


def letter_of(request, text):
    """The answer that clicks the choice that holds ``text``, or none."""
    choices = request.messages[-1].content.partition("A. None of the above\n")[2].splitlines()
    found = [line[0] for line in choices if text in line]
    return f"Answer: {found[0]}.\nAction: CLICK" if found else "Answer: A."


def test_the_question_is_the_benchmarks():
    environment = pages(task(action(1, buttons=("Alpha",))))
    found, asked, _ = decided(ASK, environment, "Answer: A.")
    assert [message.role for message in asked[0].messages] == ["system", *["user", "assistant"] * 3, "user"]
    assert asked[0].messages[-1].content == (
        "'''\n<html> <body> <input id=0 town /> <button id=1> Alpha </button> </body> </html>\n'''\n\n"
        "Based on the HTML webpage above, try to complete the following task:\n"
        "Task: Press what is to be pressed\n"
        "Previous actions:\nNone\n"
        "What should be the next action? Please select from the following choices (If the correct action is not in the "
        "page above, please select A. 'None of the above'):\n\n"
        "A. None of the above\nB. <input id=0 town />\nC. <button id=1> Alpha </button>"
    )
    assert found.action == NONE


def test_its_words_are_those_of_the_official_prompt(data_dir):
    official = read_shots(data_dir / "mind2web" / "llm_prompt.json")
    assert len(official) == len(SHOTS) == 7
    _, asked, _ = decided(Multichoice(official), pages(), "Answer: A.")

    def frame(text):
        """The question without what differs from page to page."""
        above, _, below = text.partition("Based on the HTML webpage above")
        lines = below.splitlines()
        kept = [line for line in lines if not line.startswith(("Task: ", "[", "None")) and line[1:3] != ". "]
        return above.split("\n")[0], above.split("\n")[-3:], kept, lines[-1][1:3]

    frames = [frame(message.content) for message in asked[0].messages if message.role == "user"]
    assert len(frames) == 4
    assert all(each == frames[0] for each in frames)


def test_a_recorded_question_is_asked_again_word_by_word(data_dir):
    path = data_dir / "mind2web" / "seeact_one_step_full.jsonl"
    record = json.loads(path.read_text())
    (found,) = find_tasks(path)
    environment = pages(found)
    shown = environment.shown
    nodes = tuple(node for node, _ in record["choices"])
    if not set(nodes) <= set(shown.nodes):
        environment = pages(found, candidates=468, elements=10_000)
        shown = environment.shown
    situation = Situation(
        Context(7, Trace(), Ledger()), environment, {"goal": found.goal, **environment.sight()}, "", Sampling(), exact
    )
    asked = question(situation, shown.around(nodes))
    assert asked == f"'''\n{record['context_html']}\n'''\n\n{record['question']}".rstrip()


def test_every_candidate_plays_and_the_winner_is_left():
    found, asked, _ = decided(ASK, pages(), lambda request: letter_of(request, "Alpha"))
    assert found.action == "[button] Alpha -> CLICK"
    offered = "".join(request.messages[-1].content for request in asked)
    assert all(name in offered for name in ("Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "town"))
    assert 2 <= len(asked) <= 3


@pytest.mark.parametrize("buttons", [1, 5, 6, 10, 11, 15, 16])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_candidate_is_left_out(buttons, seed):
    names = [f"Number{n:02}" for n in range(buttons)]
    for right in (10, 10 + buttons - 1):
        environment = pages(task(action(1, right, buttons=names)), seed)
        name = names[right - 10]
        found, _, _ = decided(ASK, environment, lambda request, name=name: letter_of(request, name))
        assert found.action == f"[button] {name} -> CLICK"


def test_a_page_with_one_candidate_is_asked_about_once():
    environment = pages(task(action(1, 5, "TYPE", "Rome", buttons=())))
    found, asked, _ = decided(ASK, environment, "Answer: B.\nAction: TYPE\nValue: Rome")
    assert found.action == "[input] town -> TYPE: Rome"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Answer: C.\nAction: SELECT\nValue: Pickup now", ("n1", Operation("SELECT", "Pickup now"))),
        ("Thinking...\nAnswer: B.\nAction: CLICK", ("n0", Operation("CLICK"))),
        ("Answer: B.\nAction: CLICK\nValue: None", ("n0", Operation("CLICK", "None"))),
        ("Answer: B", ("n0", Operation(""))),
        ("Answer: A.", None),
        ("Answer: E.", None),
        ("Answer: Bravo", None),
        ("B", None),
        ("", None),
        ("Answer: C.\nAction: TYPE\nValue: " + "x" * 9000, ("n1", Operation("TYPE", "x" * 400))),
    ],
)
def test_answers_are_read_as_the_benchmark_reads_them(text, read):
    assert read_answer(text, ["n0", "n1"]) == read


def test_a_plan_stands_beside_the_task_and_nothing_else_changes():
    _, (plain, *_), _ = decided(ASK, pages(), "Answer: A.")
    _, (planned, *_), _ = decided(ASK, pages(), "Answer: A.", plan=("press Alpha", "press Bravo"))
    worked = {"steps_worked_on": [{"step": "open", "ended": "finished"}]}
    _, (stepped, *_), _ = decided(ASK, pages(), "Answer: A.", unit="press Alpha", state=worked)
    text = [request.messages[-1].content for request in (plain, planned, stepped)]
    assert text[1].replace('Plan: ["press Alpha", "press Bravo"]\n', "") == text[0]
    added = [line for line in text[2].splitlines() if line not in text[0].splitlines()]
    assert added == [
        'Steps worked on so far: [{"step": "open", "ended": "finished"}]',
        "Current step of the plan: press Alpha",
        'If this step is already done, or cannot be done, answer "Answer: finished."',
    ]


@pytest.mark.parametrize(("unit", "finished"), [("press Alpha", True), (None, False)])
def test_only_a_step_can_be_finished(unit, finished):
    found, asked, _ = decided(ASK, pages(), "Answer: finished.", unit=unit)
    assert found.finished is finished
    assert (len(asked) == 1) is finished


@pytest.mark.parametrize(
    "document", ["nothing", "{}", "[7]", '[{"role": "user", "content": "x"}]', '[{"role": "system", "content": 3}]',
    '[{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]'],
)  # fmt: skip
def test_shots_of_another_form(tmp_path, document):
    path = tmp_path / "shots.json"
    path.write_text(document)
    with pytest.raises(InputError, match=r"shots\.json"):
        read_shots(path)


def test_only_recorded_pages_can_be_asked_about():
    class Other:
        admissible = ()

    with pytest.raises(DomainError, match="Other shows no recorded pages"):
        asyncio.run(direct(Situation(Context(7, Trace(), Ledger()), Other(), {}, "", Sampling(), exact)))
