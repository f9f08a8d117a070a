"""Reading replies: what is recovered, what is recorded, what is refused."""

import json
import random
import time
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from planroute.declaration import Clip
from planroute.errors import ReplyError
from planroute.reply import MAX_CHARS, Parsed, read_reply, split_thinking


class Policy(StrEnum):
    RISK_AVERSE = "RISK_AVERSE"
    TIME_FIRST = "TIME_FIRST"


class Window(BaseModel):
    start: int = Field(ge=0, le=23)
    end: int = Field(23, ge=0, le=23)


class Answer(BaseModel):
    policy: Policy
    intensity: float = Field(ge=0, le=1)
    depth: int = Field(2, ge=1, le=4)
    note: str = Field("", max_length=20)
    hours: list[int] = Field(default_factory=list, max_length=4)
    kind: Literal["grid", "text"] = "grid"
    sure: bool = True
    confidence: float | None = Field(None, ge=0, le=1)
    window: Window | None = None


class AllOptional(BaseModel):
    first: int = 1
    second: str = ""


def read(text: str) -> Parsed[Answer]:
    return read_reply(text, Answer)


GOOD = '{"policy": "RISK_AVERSE", "intensity": 0.5}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure! Here is the policy:\n```json\n{GOOD}\n```\nLet me know {{if}} it's good.",
        f"```\n{GOOD}\n```",
        "{'policy': 'RISK_AVERSE', 'intensity': 0.5}",
        "{'policy': 'RISK_AVERSE', 'intensity': 0.5,}",
        '{"policy": "risk-averse", "intensity": "0.5"}',
        '{"policy": "Risk Averse", "intensity": 0.5, "confidence": None, "sure": True}',
        '{"policy": "RISK_AVERSE", "intensity": 0.5, "confidence": NaN}',
        "{policy: RISK_AVERSE, intensity: 0.5}",
        '{"Policy": "RISK_AVERSE", "INTENSITY": 0.5',
        f"<think>maybe {{'policy': 'TIME_FIRST', 'intensity': 1}}</think>{GOOD}",
        f"so I should say risk averse</think>\n{GOOD}",
        f"[{GOOD}]",
        f'{{"answer": {GOOD}}}',
        json.dumps(GOOD),
        f"\ufeff{GOOD}",
        f"{{ brace in prose, then {GOOD}",
        '{"policy": "RISK_AVERSE", // careful\n "intensity": 0.5}',
        "{“policy”: “RISK_AVERSE”, “intensity”: 0.5}",
        '{"policy": "RISK_AVERSE", "intensity": 0.5, "extra": {"deep": [1, {}]}}',
    ],
)
def test_is_recovered(text: str) -> None:
    value = read(text).value
    assert value == Answer(policy=Policy.RISK_AVERSE, intensity=0.5)


def test_a_whole_answer_needs_no_repair() -> None:
    whole = Answer(policy=Policy.TIME_FIRST, intensity=0.25, window=Window(start=1, end=2))
    parsed = read(whole.model_dump_json())
    assert parsed == Parsed(whole)


def test_numbers_outside_their_bounds_are_clipped_and_recorded() -> None:
    parsed = read('{"policy": "TIME_FIRST", "intensity": 100, "depth": -3, "window": {"start": 99}}')
    assert (parsed.value.intensity, parsed.value.depth) == (1.0, 1)
    assert parsed.value.window == Window(start=23, end=23)
    assert parsed.clips == (Clip("intensity", 100, 1), Clip("depth", -3, 1), Clip("window.start", 99, 23))


def test_repairs_are_recorded() -> None:
    text = 'So: {"policy": "time first", "intensity": 0.1, "depth": 2.6, "note": "%s", "hours": 5, "x": 1}' % ("n" * 30)
    parsed = read(text)
    assert parsed.value.depth == 3
    assert parsed.value.note == "n" * 20
    assert parsed.value.hours == [5]
    assert parsed.repairs == (
        "text around the object dropped",
        "policy: 'time first' read as TIME_FIRST",
        "depth: 2.6 rounded",
        "note: text of 30 characters cut to 20",
        "hours: single value read as a list",
        "kind: missing, default taken",
        "sure: missing, default taken",
        "confidence: missing, default taken",
        "window: missing, default taken",
        "object: 1 unknown fields dropped: 'x'",
    )


def test_the_last_readable_object_counts() -> None:
    first, last = '{"policy": "RISK_AVERSE", "intensity": 0}', '{"policy": "TIME_FIRST", "intensity": 1}'
    assert read(f"{first} or rather {last}").value.policy is Policy.TIME_FIRST
    assert read(f"{first} or rather {last[:24]}").value.policy is Policy.RISK_AVERSE
    assert read(f'{first}\n{{"unrelated": 1}}').value.policy is Policy.RISK_AVERSE
    assert read(f"[{first}, {last}]").value.policy is Policy.TIME_FIRST
    assert "one of 2 objects taken" in read(f"[{first}, {last}]").repairs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("<think>it never ends", "the reply is empty after its thinking"),
        ("I would rather not.", "no JSON object in the reply, which begins 'I would rather not.'"),
        ("42", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ('{"intensity": 0.5}', "policy: is required and missing"),
        ('{"policy": "RISK_AVERSE", "intensity": NaN}', "intensity: is required and missing"),
        ('{"policy": "RISK_AVERSE", "intensity": "-Infinity"}', "intensity: is required and missing"),
        ('{"policy": "RISK_AVERSE", "intensity": 1e999}', "intensity: is required and missing"),
        (
            '{"policy": "BRAVE", "intensity": 0}',
            "policy: must be one of RISK_AVERSE, TIME_FIRST, got 'BRAVE'",
        ),
        (
            '{"policy": {"a": 1}, "intensity": 0}',
            "policy: must be one of RISK_AVERSE, TIME_FIRST, got an object",
        ),
        ('{"policy": "TIME_FIRST", "intensity": "high"}', "intensity: must be a number, got 'high'"),
        ('{"policy": "TIME_FIRST", "intensity": 0, "window": 3}', "window: must be an object, got 3"),
        ('{"policy": "TIME_FIRST", "intensity": 0, "window": {}}', "window.start: is required and missing"),
        ('{"policy": "TIME_FIRST", "intensity": 0, "hours": ["x"]}', "hours[0]: must be a number, got 'x'"),
        ('{"policy": "TIME_FIRST", "intensity": 0, "sure": "perhaps"}', "sure: must be true or false"),
        ('{"mode": 1}', "the object has none of the fields policy, intensity"),
    ],
)
def test_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReplyError) as caught:
        read(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_an_empty_object_reads_only_where_nothing_is_required() -> None:
    assert read_reply("{}", AllOptional).value == AllOptional()
    with pytest.raises(ReplyError, match="none of the fields"):
        read_reply('{"other": 1}', AllOptional)


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        ("plain", "plain", ""),
        ("<think>a</think>b<think>c</think>d", "bd", "a\nc"),
        ("a</think>b", "b", "a"),
        ("<think>a", "", "a"),
        ("<THINKING>a</THINKING> b", "b", "a"),
    ],
)
def test_thinking_is_split_off(text: str, answer: str, thinking: str) -> None:
    assert split_thinking(text) == (answer, thinking)


def test_a_tag_inside_a_valid_answer_is_text() -> None:
    assert read('{"policy": "TIME_FIRST", "intensity": 0, "note": "<think>"}').value.note == "<think>"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "[" * 1_000_000,
        '{"policy":' * 100_000,
        "{" * 1_000_000,
        "{ " * 500_000,
        "(" * 1_000_000,
        "{(" + "(" * 1_000_000,
        "{/*" * 300_000,
        '{"a": "' + '\\"' * 500_000,
        "{'" * 500_000,
        "</think>" + "<think>" * 150_000,
        "{" + "," * 1_000_000,
        '{"policy": "RISK_AVERSE", "intensity": 0, "note": [' + "[" * 20 + '"x' * 300_000,
        '{"policy": 1} ' * 70_000,
        '{"policy" 1} ' * 70_000,
        "{]x " * 250_000,
        "{{1} " * 250_000,
        '{"policy": [' + '"`' * 500_000,
        '{"policy": "RISK_AVERSE", "intensity": ' + "9" * 1_000_000 + "}",
        '{"policy": "RISK_AVERSE", "intensity": 0, "depth": ' + "9" * 4_000 + "}",
        '{"policy": ' + '{"policy": ' * 500 + "1" + "}" * 501,
        "```json\n" * 120_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_replies_end_soon(text: str) -> None:
    begun = time.perf_counter()
    try:
        Answer.model_validate(read(text).value.model_dump())
    except ReplyError as error:
        assert len(str(error)) < 300  # noqa: PT017
    assert time.perf_counter() - begun < 5


def test_a_valid_reply_of_a_megabyte_is_read_whole() -> None:
    text = json.dumps({"note": "n" * 1_000_000, "policy": "RISK_AVERSE", "intensity": 0.5})
    assert read(text).value.intensity == 0.5
    with pytest.raises(ReplyError, match="policy"):
        read("So " + text)
    assert read(f"So {GOOD} " + "x" * 1_000_000).repairs[0].endswith(f"cut to {MAX_CHARS}")


VALUES = [
    *(
        "RISK_AVERSE",
        "time-first",
        "Risk averse",
        "0.5",
        "NaN",
        "",
        "x" * 50,
        "\ud800",
        "it's",
        'say "hi"',
        "{",
        "]",
    ),
    *(
        0,
        1,
        -7,
        3.7,
        1e30,
        -1e999,
        float("nan"),
        10**400,
        True,
        False,
        None,
        [],
        {},
        [1, "2", None],
        {"start": "7"},
    ),
]
FIELDS = [*Answer.model_fields, "Policy", "inten-sity", "extra", "", "hours "]


def malformed(rng: random.Random) -> str:
    """One malformed reply: an object of odd values, written oddly, then damaged."""
    names = ["policy", "intensity", *rng.sample(FIELDS, rng.randrange(6))]
    fitting: dict[str, Any] = {"policy": "TIME_FIRST", "intensity": 0.3}
    record = {n: fitting.get(n, 1) if rng.random() < 0.6 else rng.choice(VALUES) for n in names}
    text = rng.choice([json.dumps, repr, lambda r: json.dumps(r, indent=1)])(record)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        text = rng.choice(
            [
                lambda t, a, e: t[:a],
                lambda t, a, e: t[:a] + t[e:],
                lambda t, a, e: t[:a] + rng.choice("{}[]\"',:\\\n`/*#<>\0é\ud800") + t[a:],
                lambda t, a, e: t.replace('"', rng.choice(["'", "", "`", "“"])),
                lambda t, a, e: t.replace(",", rng.choice([",,", ";", ""])),
                lambda t, a, e: f"Here: {t} and {t[a:e]}",
                lambda t, a, e: f"```json\n{t}\n```",
                lambda t, a, e: f"<think>{t[:a]}</think>{t}",
                lambda t, a, e: t[:a] + t[a:e] * 3 + t[e:],
                lambda t, a, e: f"[{t}, {t}]",
                lambda t, a, e: json.dumps({"answer": t}),
            ]
        )(text, at, end)
    return text


def accepts_only_valid(text: str) -> bool:
    try:
        parsed = read(text)
    except ReplyError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return False
    assert Answer.model_validate_json(parsed.value.model_dump_json()) == parsed.value
    return True


def test_twenty_thousand_malformed_replies() -> None:
    rng = random.Random(20_000)
    read_well = sum(accepts_only_valid(malformed(rng)) for _ in range(20_000))
    assert 2_000 < read_well < 18_000


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text() | st.text(alphabet="{}[]\"':,policyntes01.eNa \\\n/*"))
@example("{'policy'")
def test_any_text(text: str) -> None:
    accepts_only_valid(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.sampled_from(["policy", "extra"]))
def test_any_values(values: dict[str, Any], fitting: str) -> None:
    accepts_only_valid(json.dumps({**values, "intensity": 0.5, fitting: "TIME_FIRST"}))
