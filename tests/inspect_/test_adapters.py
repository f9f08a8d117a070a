"""The two adapters without an evaluation: calls there and back, usage, errors, caching, settings."""

import asyncio
import json

import pytest
from pydantic import BaseModel, Field

pytest.importorskip("inspect_ai")

from inspect_ai.model import ContentReasoning, ContentText, GenerateConfig, ModelOutput, ModelUsage, get_model

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.errors import InputError, ModelClosed, ModelMissing, ModelRefused, ModelUnavailable
from planroute.inspect_.conversation import Conversation
from planroute.inspect_.exchange import to_config, to_messages, to_output, to_reply, to_request
from planroute.inspect_.faults import PrerequisiteError, model_error
from planroute.inspect_.model import InspectModel
from planroute.inspect_.provider import PlanrouteAPI
from planroute.inspect_.schema import response_schema, written_out
from planroute.inspect_.settings import seed_of, seeds_from
from planroute.inspect_.solvers import sampling_of
from planroute.inspect_.tasks import alfworld
from planroute.ledger import Usage
from planroute.models import CallCache, open_model
from planroute.modes import Mode
from planroute.trace import Acted, Observed

# Inspect calls tenacity in a way that tenacity has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")


class Step(BaseModel):
    text: str = Field(max_length=9)


class Answer(BaseModel):
    mode: Mode = Field(description="how")
    steps: list[Step] = Field(max_length=4)
    share: float | None = Field(None, ge=0, le=1)


ASKED = ModelRequest(
    "declaration",
    (Message("system", "be brief"), Message("user", "which?")),
    Sampling(temperature=0.5, top_p=0.9, max_tokens=77, seed=3, stop=("END",), thinking=False),
    Answer.model_json_schema(),
    draw=2,
)
SHORT = ModelRequest("act", (Message("user", "go on"),))


def output(text="yes", **usage):
    made = ModelOutput.from_content("mock", text)
    made.usage = ModelUsage(**{"input_tokens": 5, "output_tokens": 2, "total_tokens": 7} | usage)
    return made


def mock(*outputs):
    return get_model("mockllm/model", custom_outputs=list(outputs), memoize=False)


def test_a_question_comes_out_as_it_went_in():
    assert to_request(to_messages(ASKED), GenerateConfig().merge(to_config(ASKED))) == ASKED
    assert to_request(to_messages(SHORT), to_config(SHORT)) == SHORT


def test_what_other_providers_get():
    config = to_config(ASKED)
    assert (config.seed, config.reasoning_effort, config.stop_seqs) == (5, "none", ["END"])
    sent = config.response_schema.model_dump(exclude_none=True)
    assert "whole" not in sent
    assert "$" not in json.dumps(sent)
    assert sent["json_schema"]["properties"]["mode"]["enum"] == list(Mode)
    assert sent["json_schema"]["properties"]["mode"]["description"] == "how"
    assert sent["json_schema"]["properties"]["steps"]["items"]["properties"]["text"]["maxLength"] == 9
    assert to_config(SHORT).top_p is None
    with pytest.raises(ModelRefused, match="tools"):
        to_config(ModelRequest("act", (), tools=({"name": "x"},)))


def test_a_question_of_another_evaluation():
    messages = to_messages(ModelRequest("x", (Message("user", "hello"),)))
    messages[-1].metadata = None
    first = to_request(messages, GenerateConfig(), epoch=1)
    assert (first.purpose, first.draw, first.sampling.temperature) == ("inspect", 0, Sampling().temperature)
    assert first.identity("m") != to_request(messages, GenerateConfig(), epoch=2).identity("m")


def test_a_schema_that_refers_to_itself_ends():
    schema = {
        "$defs": {"T": {"properties": {"below": {"$ref": "#/$defs/T"}, "default": {"const": 1}}}},
        "$ref": "#/$defs/T",
    }
    plain = written_out(schema, schema["$defs"])
    assert plain["properties"]["default"] == {"enum": [1]}
    assert "$ref" not in json.dumps(plain)
    assert response_schema(schema).json_schema.properties


def test_an_answer_there_and_back():
    reply = ModelReply("text", Usage(9, 4, 3, {"words": 16}), "hm", "length", 1.5, billed=False, price_usd=0.25)
    made = to_output(reply, "m")
    assert (made.usage.output_tokens, made.usage.total_tokens, made.stop_reason) == (7, 16, "max_tokens")
    back = to_reply(made)
    assert back == reply
    assert back.usage.raw == {"words": 16}


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"output_tokens": 9, "reasoning_tokens": 4, "total_tokens": 14}, Usage(5, 5, 4)),
        ({"input_tokens_cache_read": 3, "input_tokens_cache_write": 1, "total_tokens": 11}, Usage(9, 2, 0)),
        ({"output_tokens": 2, "reasoning_tokens": 4, "total_tokens": 11}, Usage(5, 2, 4)),
    ],
)
def test_usage_of_providers(usage, counted):
    reply = to_reply(output(**usage))
    assert reply.usage == counted
    assert reply.usage.raw["total_tokens"] == usage["total_tokens"]


def test_thinking_is_kept_apart():
    made = output()
    made.choices[0].message.content = [ContentReasoning(reasoning="hm"), ContentText(text="yes")]
    reply = to_reply(made)
    assert (reply.text, reply.thinking) == ("yes", "hm")


def test_a_model_of_inspect_answers():
    model = InspectModel(mock(output("first"), output("second")))
    assert model.endpoint.startswith("inspect:mockllm/model")
    answers = [asyncio.run(model.complete(SHORT)) for _ in range(2)]
    assert [answer.text for answer in answers] == ["first", "second"]
    assert answers[0].usage == Usage(5, 2)
    assert answers[0].billed
    with pytest.raises(ValueError, match="ran out"):  # not about an endpoint: a programming error
        asyncio.run(model.complete(SHORT))
    asyncio.run(model.aclose())


def test_names_differ_with_settings_and_hold_no_key():
    plain, other = (
        InspectModel(
            get_model("mockllm/model", config=GenerateConfig(**config), memoize=False, api_key="canary", **args)
        )
        for config, args in (({"temperature": 0.1}, {}), ({"effort": "low"}, {"my_token": "canary", "size": 3}))
    )
    assert plain.endpoint == "inspect:mockllm/model"
    assert other.endpoint == "inspect:mockllm/model?effort=low&size=3"


class Status(Exception):
    def __init__(self, code):
        super().__init__(f"Error code: {code} - sk-canary-1234567")
        self.status_code = code


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Status(401), ModelClosed),
        (Status(404), ModelClosed),
        (Status(400), ModelRefused),
        (Status(429), ModelUnavailable),
        (Status(503), ModelUnavailable),
        (ConnectionError("no route"), ModelUnavailable),
        (TimeoutError(), ModelUnavailable),
        (PrerequisiteError("[bold]ERROR[/bold]: pip install openai"), ModelMissing),
        (PrerequisiteError("No [bold][blue]KEY[/blue][/bold] defined in the environment."), ModelClosed),
        (ModelRefused("so it is"), ModelRefused),
    ],
)
def test_what_errors_mean(error, kind):
    meant = model_error(error, "openai/x")
    assert type(meant) is kind
    assert "canary" not in str(meant)
    assert "[" not in str(meant)


def test_other_errors_are_not_about_the_model():
    assert model_error(KeyError("bug"), "m") is None
    assert isinstance(model_error(KeyError("bug"), "m", passing=True), ModelUnavailable)


def test_the_line_of_a_model():
    assert open_model("inspect:mockllm/model").endpoint == "inspect:mockllm/model"
    with pytest.raises(InputError, match="nonsense"):
        open_model("inspect:nonsense/model")
    with pytest.raises(InputError, match="unknown model"):
        open_model("inspect:mockllm")


def test_the_provider_answers_from_the_cache(tmp_path):
    def ask():
        async def both():
            model = get_model("planroute/scripted/echo", cache=str(tmp_path / "c.sqlite"), memoize=False)
            try:
                return await model.generate("hello there")
            finally:
                await model.api.aclose()

        return asyncio.run(both())

    first, second = ask(), ask()
    assert first.completion == second.completion == "hello there"
    assert (first.usage, first.usage.total_tokens) == (second.usage, 4)
    assert [made.metadata["planroute"]["billed"] for made in (first, second)] == [True, False]
    assert len(CallCache(tmp_path / "c.sqlite")) == 1


def test_other_providers_behind_the_cache(tmp_path):
    api = PlanrouteAPI(
        "inspect:mockllm/model", cache=str(tmp_path / "c.sqlite"), custom_outputs=[output("one"), output("two")]
    )

    async def ask(config):
        return await api.generate(to_messages(SHORT), [], "auto", config)

    low = GenerateConfig(effort="low")
    answers = [asyncio.run(ask(config)) for config in (GenerateConfig(), GenerateConfig(), low, low)]
    assert [made.completion for made in answers] == ["one", "one", "two", "two"]
    assert [made.metadata["planroute"]["billed"] for made in answers] == [True, False, True, False]
    assert answers[0].usage == answers[1].usage
    assert not api.should_retry(ValueError())
    asyncio.run(api.aclose())


@pytest.mark.parametrize(("name", "arguments"), [("nothing", {}), ("scripted/echo", {"size": 3})])
def test_the_provider_refuses_what_it_does_not_know(name, arguments):
    with pytest.raises(PrerequisiteError):
        PlanrouteAPI(name, no_cache=True, **arguments)


def test_seeds_and_epochs():
    assert seeds_from("7,13") == seeds_from([7, "13"]) == [7, 13]
    assert seeds_from(7) == [7]
    for wrong in ("", "x", "7,7", None):
        with pytest.raises(InputError, match="seeds"):
            seeds_from(wrong)
    assert [seed_of({"seeds": [7, 42, 13]}, epoch) for epoch in (1, 2, 3, 4, 5)] == [7, 42, 13, 43, 44]


def test_the_evaluation_s_sampling_wins():
    assert sampling_of(GenerateConfig()) == Sampling()
    assert sampling_of(GenerateConfig(temperature=0.0, max_tokens=9)) == Sampling(temperature=0.0, max_tokens=9)
    with pytest.raises(InputError, match="one answer"):
        sampling_of(GenerateConfig(num_choices=2))


def test_samples_are_stable_and_chosen():
    made = alfworld(seeds="1,2,3", task_type="pick_two_obj_and_place", steps=9)
    assert [sample.id for sample in made.dataset] == ["two-pencils"]
    assert made.epochs == 3
    assert made.dataset[0].metadata["planroute"]["steps"] == 9
    assert [s.id for s in alfworld(limit=2).dataset] == ["clean-cloth", "cool-tomato"]
    with pytest.raises(PrerequisiteError, match="two_obj"):
        alfworld(task_type="nonsense")


def test_actions_become_messages():
    messages = []
    told = Conversation(messages)
    for event in (
        Acted("go to desk 1"),
        Observed("You arrive."),
        Acted(""),
        Observed("Nothing happens."),
        Observed("stray"),
    ):
        told.take(event)
    assert [message.role for message in messages] == ["assistant", "tool", "assistant", "tool"]
    assert messages[0].tool_calls[0].function == "go"
    assert messages[0].tool_calls[0].arguments == {"words": "to desk 1"}
