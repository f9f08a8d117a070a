import re
import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planroute.domains.alfworld.matching import match

HANDS_EMPTY = (
    "close fridge 1",
    "examine fridge 1",
    "examine tomato 2",
    "go to cabinet 1",
    "go to cabinet 11",
    "go to countertop 1",
    "go to countertop 2",
    "go to diningtable 1",
    "help",
    "inventory",
    "look",
    "take tomato 1 from fridge 1",
    "take tomato 2 from fridge 1",
    "take winebottle 1 from fridge 1",
    "use desklamp 1",
)
HOLDING = {
    "2.1.1": ("cool mug 1 with fridge 1", "examine mug 1", "go to desk 1", "put mug 1 in/on fridge 1"),
    "2.1.2": ("cool mug 1 with fridge 1", "examine mug 1", "go to desk 1", "move mug 1 to fridge 1"),
}
ALL = (HANDS_EMPTY, *HOLDING.values())


@pytest.mark.parametrize("admissible", ALL)
def test_every_command_matches_itself(admissible):
    for command in admissible:
        assert match(command, admissible).command == command
        assert match(command, admissible).reason == "exact"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Go To Countertop 2", "go to countertop 2"),
        ("goto countertop2", "go to countertop 2"),
        ("go to the counter top 2.", "go to countertop 2"),
        ("  LOOK!  ", "look"),
        ("> go to cabinet 11", "go to cabinet 11"),
        ("Action: go to cabinet 1", "go to cabinet 1"),
        ("**Action:** `go to cabinet 1`", "go to cabinet 1"),
        ("Action 3: go to cabinet 1", "go to cabinet 1"),
        ('"go to cabinet 1"', "go to cabinet 1"),
        ("“go to cabinet 1”", "go to cabinet 1"),
        ("```\ngo to cabinet 1\n```", "go to cabinet 1"),
        ("1. go to cabinet 11", "go to cabinet 11"),
        ("- go to cabinet-1", "go to cabinet 1"),
        ("Thought: the fridge is closed.\nAction: examine the fridge 1", "examine fridge 1"),
        ("Action:\nexamine fridge 1", "examine fridge 1"),
        ("Thought: look\nlook around first\nAction: help", "help"),
        ("I should check what I carry.\ninventory", "inventory"),
        ("go to cabinet １", "go to cabinet 1"),
        ("examine fridge 1\nexamine the fridge 1", "examine fridge 1"),
        ("<action>go to cabinet 1", None),
    ],
)
def test_spelling(text, command):
    assert match(text, HANDS_EMPTY).command == command


@pytest.mark.parametrize("version", HOLDING)
@pytest.mark.parametrize("verb", ["put", "Move", "place"])
@pytest.mark.parametrize("preposition", ["in/on", "in", "on", "to", "into", "onto", "in or on", "in on"])
@pytest.mark.parametrize("mug", ["mug 1", "the mug", "a mug1"])
def test_wordings_of_placing(version, verb, preposition, mug):
    found = match(f"{verb} {mug} {preposition} fridge 1", HOLDING[version])
    assert found.command == HOLDING[version][-1]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("use desklamp", "use desklamp 1"),
        ("take winebottle from fridge", "take winebottle 1 from fridge 1"),
        ("take tomato 2 from fridge", "take tomato 2 from fridge 1"),
        ("examine the tomato", "examine tomato 2"),
    ],
)
def test_left_out_numbers(text, command):
    found = match(text, HANDS_EMPTY)
    assert (found.command, found.reason) == (command, "number")


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("go to countertop", ("go to countertop 1", "go to countertop 2")),
        ("take tomato from fridge 1", ("take tomato 1 from fridge 1", "take tomato 2 from fridge 1")),
        ("go to cabinet", ("go to cabinet 1", "go to cabinet 11")),
        ("look\ninventory", ("inventory", "look")),
        ("Action: look\nAction: help", ("help", "look")),
    ],
)
def test_never_chooses_between_two(text, candidates):
    found = match(text, HANDS_EMPTY)
    assert found.command is None
    assert found.reason == "ambiguous: 2 commands fit"
    assert found.candidates == candidates


@pytest.mark.parametrize(
    "text",
    [
        "go to cabinet 2",
        "go to cabinet 1 1",
        "go to cabinet 1.1",
        "go to cabinet 01",
        "go to cabinet ١",
        "go to cabinet one",
        "use desklamp 2",
        "take winebottle 2 from fridge 1",
        "go to cabinet 1 and open it",
        "move to cabinet 1",
        "put tomato 1 in fridge 1",
        "take 1 tomato from fridge",
        "don't look",
        "fridge 1",
    ],
)
def test_unknown(text):
    found = match(text, HANDS_EMPTY)
    assert found.command is None
    assert found.reason == "no admissible command fits"


def test_nearest_candidates():
    assert match("go to cabinet 2", HANDS_EMPTY).candidates[0] in {"go to cabinet 1", "go to cabinet 11"}
    assert "take tomato 1 from fridge 1" in match("take the tomatoe 1 from fridge 1", HANDS_EMPTY).candidates
    assert match("zzz", HANDS_EMPTY).candidates == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the text is empty"),
        (" \n\t", "the text is empty"),
        ("look " * 100, "no line is short enough for a command"),
        ("> ---", "the text is empty"),
        ("...", "no admissible command fits"),
        ("a the", "no admissible command fits"),
    ],
)
def test_nothing_to_match(text, reason):
    assert match(text, HANDS_EMPTY).command is None
    assert match(text, HANDS_EMPTY).reason == reason


def test_no_commands():
    assert match("look", ()).command is None


def test_a_long_answer_is_read_quickly():
    assert match("I wonder what to do now.\n" * 40_000 + "Action: look", HANDS_EMPTY).command == "look"


noise = st.sampled_from(["", " ", "  ", "\t", ".", "!", "'", "*"])


@st.composite
def noisy(draw):
    """A command and a noisy way to write it: case, blanks, punctuation, articles, marks."""
    admissible = draw(st.sampled_from(ALL))
    command = draw(st.sampled_from(admissible))
    words = []
    for word in command.split():
        word = draw(st.sampled_from([word, word.upper(), word.capitalize()]))
        article = draw(st.sampled_from(["", "", "the "])) if words and not word[0].isdigit() else ""
        words.append(article + word + draw(noise))
    mark = draw(st.sampled_from(["", "> ", "Action: ", "ACTION: ", "Answer: ", "- ", '"', "2. ", "**Action:** "]))
    return admissible, command, mark + " ".join(words)


@given(noisy())
def test_every_command_matches_itself_under_noise(case):
    admissible, command, text = case
    assert match(text, admissible).command == command


@given(noisy(), st.data())
def test_no_text_matches_another_number(case, data):
    admissible, command, _ = case
    numbers = list(re.finditer(r"\d+", command))
    assume(numbers)
    which = data.draw(st.sampled_from(numbers))
    other = data.draw(st.integers(0, 99).map(str))
    text = command[: which.start()] + other + command[which.end() :]
    found = match(text, admissible).command
    assert found is None or re.findall(r"\d+", found) == re.findall(r"\d+", text)


fragments = st.sampled_from(
    [*sorted({word for command in HANDS_EMPTY for word in command.split()}), "the", "in/on", "3", "\n"]
)


@given(st.lists(fragments | st.text(string.printable, max_size=3), max_size=8).map(" ".join))
def test_what_matches_says_its_numbers(text):
    found = match(text, HANDS_EMPTY).command
    if found is not None:
        written = re.findall(r"\d+", found)
        assert any(_in_order(re.findall(r"\d+", _without_bullet(line)), written) for line in text.splitlines())


def _in_order(some: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(each in rest for each in some)


def _without_bullet(line: str) -> str:
    return re.sub(r"^\W*\d+[.)]\s", "", line)


@given(st.text(max_size=300))
def test_any_text_is_safe(text):
    found = match(text, HANDS_EMPTY)
    assert found.command is None or found.command in HANDS_EMPTY
    assert set(found.candidates) <= set(HANDS_EMPTY)
