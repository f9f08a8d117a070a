"""Grammars: what is drawn along one satisfies the schema, bounds and all, and everything admissible can be drawn."""

import json
import random
import re
from enum import StrEnum
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from planroute.models import gbnf_for, longest_answer
from planroute.reply import read_reply

Parts = list[list[Any]]


class Gbnf:
    """As much of GBNF as is written here: literals, classes, rule names, groups, alternatives, repetitions."""

    TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\{\d+,\d+\}|[a-z][a-z0-9-]*|[()|]')

    def __init__(self, text: str) -> None:
        self.rules: dict[str, Parts] = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            tokens = self.TOKEN.findall(body)
            assert "".join(tokens) == re.sub(r'("(?:\\.|[^"\\])*")|\s', lambda m: m[1] or "", body)
            self.rules[name] = self.options(tokens)
            assert not tokens

    def options(self, tokens: list[str]) -> Parts:
        found: Parts = [[]]
        while tokens and tokens[0] != ")":
            token = tokens.pop(0)
            if token == "|":
                found.append([])
            elif token == "(":
                found[-1].append((self.options(tokens), 1, 1))
                assert tokens.pop(0) == ")"
            elif token[0] == "{":
                low, high = map(int, token[1:-1].split(","))
                found[-1][-1] = (found[-1][-1][0], low, high)
            else:
                found[-1].append((token, 1, 1))
        return found

    def regex(self, options: Parts | None = None) -> str:
        return "|".join("".join(self.part(*p) for p in seq) for seq in options or self.rules["root"])

    def part(self, what: Any, low: int, high: int) -> str:
        if isinstance(what, list):
            inner = self.regex(what)
        elif what[0] == '"':
            inner = re.escape(json.loads(what))
        else:
            inner = what if what[0] == "[" else self.regex(self.rules[what])
        return f"(?:{inner}){{{low},{high}}}"

    def draw(self, rng: random.Random, options: Parts | None = None) -> str:
        return "".join(self.drawn(rng, *part) for part in rng.choice(options or self.rules["root"]))

    def drawn(self, rng: random.Random, what: Any, low: int, high: int) -> str:
        text = ""
        for _ in range(rng.choice([low, high, rng.randint(low, high)])):
            if isinstance(what, list):
                text += self.draw(rng, what)
            elif what[0] == '"':
                text += json.loads(what)
            elif what[0] == "[":
                text += rng.choice("aé 5{':") if what[1] == "^" else chr(rng.randint(ord(what[1]), ord(what[3])))
            else:
                text += self.draw(rng, self.rules[what])
        return text


class Theme(StrEnum):
    RISK = "RISK"
    TIME = 'TIME \\ "quoted" é'


class Inner(BaseModel):
    on: bool
    level: int | None = Field(None, ge=-12, le=7)


class Policy(BaseModel):
    mode: Literal["SEARCH", "SEQUENTIAL"]
    theme: Theme
    share: float = Field(ge=0, le=1)
    price: float = Field(ge=-2.5, lt=10.25)
    depth: int = Field(1, ge=1, le=13)
    note: str = Field("", max_length=15)
    word: str = Field(min_length=2, max_length=3)
    themes: list[Theme] = Field(min_length=1, max_length=3)
    levels: list[int] = Field(default_factory=list, max_length=2)
    confidence: float | None = Field(None, gt=0, le=1)
    inner: Inner
    three: Literal[3] = 3
    none: list[bool] = Field(default_factory=list, max_length=0)


SCHEMA = Policy.model_json_schema()


def test_drawn_answers_satisfy_the_schema_as_they_are() -> None:
    grammar, rng, longest = Gbnf(gbnf_for(SCHEMA)), random.Random(0), 0
    for _ in range(2000):
        text = grammar.draw(rng)
        parsed = read_reply(text, Policy)
        assert (parsed.clips, parsed.repairs) == ((), ())
        assert list(json.loads(text)) == list(Policy.model_fields)
        longest = max(longest, len(text))
    assert longest <= longest_answer(SCHEMA) < 2 * longest


def test_the_grammar_of_a_small_answer() -> None:
    schema = create_model("Small", share=(float, Field(ge=0, le=1)), sure=(bool, ...)).model_json_schema()
    assert gbnf_for(schema) == (
        'root ::= "{\\"share\\":" ("0" "." [0-9] [0-9] | "1" "." "0" "0") ",\\"sure\\":" ("true" | "false") "}"\n'
        'char ::= [^"\\\\\\x00-\\x1F\\x7F]\n'
    )
    assert longest_answer(schema) == len('{"share":1.00,"sure":false}')


bounds = st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000)).map(sorted)


@settings(max_examples=200, deadline=None)
@given(bounds, st.lists(st.integers(-4000, 4000), min_size=20, max_size=20))
def test_whole_numbers_are_admitted_exactly_within_their_bounds(limits: list[int], tried: list[int]) -> None:
    low, high = limits
    schema = create_model("M", x=(int, Field(ge=low, le=high))).model_json_schema()
    pattern = re.compile(Gbnf(gbnf_for(schema)).regex())
    for number in {low - 1, low, high, high + 1, 0, *tried}:
        assert bool(pattern.fullmatch(f'{{"x":{number}}}')) is (low <= number <= high)
    assert not pattern.fullmatch('{"x":-0}')
    assert not pattern.fullmatch('{"x":007}')
    assert longest_answer(schema) == len('{"x":}') + max(len(str(low)), len(str(high)))


@settings(max_examples=200, deadline=None)
@given(bounds, st.booleans(), st.lists(st.integers(-4000, 4000), min_size=20, max_size=20))
def test_decimals_are_admitted_exactly_within_their_bounds(limits: list[int], open_: bool, tried: list[int]) -> None:
    low, high = limits
    if open_:
        high += 2  # so that something lies between
    field = Field(gt=low / 100, lt=high / 100) if open_ else Field(ge=low / 100, le=high / 100)
    pattern = re.compile(Gbnf(gbnf_for(create_model("M", x=(float, field)).model_json_schema())).regex())
    for units in {low - 1, low, low + 1, high - 1, high, high + 1, 0, 1, -1, *tried}:
        text = f"{'-' if units < 0 else ''}{abs(units) // 100}.{abs(units) % 100:02d}"
        admissible = low < units < high if open_ else low <= units <= high
        assert bool(pattern.fullmatch(f'{{"x":{text}}}')) is admissible


def test_open_sides_are_bounded() -> None:
    model = create_model("M", a=(int, ...), b=(float, Field(ge=2_000_000)), c=(str, ...), d=(list[bool], ...))
    pattern = re.compile(Gbnf(gbnf_for(model.model_json_schema())).regex())
    assert pattern.fullmatch('{"a":-999999,"b":2000000.00,"c":"' + "x" * 200 + '","d":[]}')
    assert not pattern.fullmatch('{"a":1000000,"b":2000000.00,"c":"","d":[]}')


def test_a_list_of_long_texts_repeats_names_and_no_characters() -> None:
    """llama.cpp refuses a grammar whose repeated group holds much that is itself repeated."""
    schema = create_model("Steps", steps=(list[str], Field(max_length=12)), why=(str, Field(max_length=80)))
    root, *rules = gbnf_for(schema.model_json_schema()).splitlines()
    assert "char{" not in root
    assert rules[1:] == ['text-0-200 ::= "\\"" char{0,200} "\\""', 'text-0-80 ::= "\\"" char{0,80} "\\""']
