"""No text of others steers a terminal: not of a model, an endpoint, a file, a run, a name or the environment."""

import json
import re
from http.server import BaseHTTPRequestHandler

import pytest

from tests.security.poison import CANARY, MARKS
from tests.security.serving import serving

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HOSTILE = MARKS["terminal"].replace("\x00", "") + MARKS["turning"] + MARKS["template"]
NAME = f"m{HOSTILE}"
"""A name that an argument can hold."""


class Hostile(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint whose every text is hostile."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        if self.path.startswith("/refuse"):
            self.answer(401, {"error": {"message": CANARY, "type": CANARY, "code": CANARY}})
        elif self.path.startswith("/break"):
            self.answer(200, CANARY)
        else:
            unit = {"title": CANARY, "steps": [f"look {CANARY}"], "done": CANARY}
            reply = {"mode": "SEQUENTIAL", "rationale": CANARY, "action": f"look {CANARY}", "plan": [unit]}
            reply |= {"steps": [CANARY], "score": 1, "why": CANARY, "reason": CANARY, "agent": f"x {CANARY}", "step": 1}
            message = {"role": "assistant", "content": json.dumps(reply), "reasoning_content": CANARY}
            self.answer(200, {"choices": [{"index": 0, "message": message, "finish_reason": CANARY}], "usage": {}})

    def answer(self, status, body):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    with serving(Hostile) as address:
        yield address


@pytest.fixture
def asked(endpoint):
    return "--model", f"{endpoint}/v1#{NAME}", "--no-cache"


def quiet(*texts):
    """Assert that every line of ``texts`` can be printed as it is."""
    for text in texts:
        for line in text.split("\n"):
            assert not UNSEEN.search(line), line


TASK = {"task": CANARY, "plan": [CANARY, "take cup"], "actions": [{"action": CANARY, "observation": CANARY}]}
TALK = {
    "question": CANARY,
    "question_ID": CANARY,
    "ground_truth": CANARY,
    "mistake_agent": CANARY,
    "mistake_step": "1",
    "mistake_reason": CANARY,
    "is_correct": False,
    "history": [{"role": "human", "content": CANARY}, {"role": CANARY, "name": CANARY, "content": CANARY}],
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "one.json").write_text(json.dumps(TASK))
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    return tmp_path / "one.json", tmp_path / "talk.json"


@pytest.mark.parametrize("json_", [(), ("--json",)])
def test_what_files_hold_and_a_model_says_of_them(planroute, files, asked, json_):
    one, talk = files
    for command in (
        ("verify", one),
        ("judge", one, *asked),
        ("locate", one, talk),
        ("locate", one, talk, *asked),
        ("locate", talk, "--format", "who-when", *asked),
    ):
        status, shown, told = planroute(*command, *json_)
        assert status in (0, 1, 2)
        assert shown + told
        quiet(shown, told)


def test_a_name_is_no_markup_in_a_table(planroute, files, asked):
    _, shown, told = planroute("locate", files[1], "--format", "who-when", *asked)
    assert "[/nope]" in " ".join((shown + told).split())
    quiet(shown, told)


@pytest.mark.parametrize("path", ["/v1", "/refuse", "/break"])
def test_what_an_endpoint_says(planroute, endpoint, tmp_path, monkeypatch, path):
    from planroute.models.live import LiveModel

    monkeypatch.setitem(LiveModel.__init__.__kwdefaults__, "backoff_s", 0.001)
    model = ("--model", f"{endpoint}{path}#{NAME}", "--no-cache", "--debug")
    for command in (
        ("declare", "alfworld"),
        ("compare", "alfworld", "--tasks", 1, "--seeds", 7, "--steps", 1, "--conditions", "FLAT_REACT,ROUTED"),
    ):
        _, shown, told = planroute(*command, *model)
        assert shown + told
        quiet(shown, told.partition("\nplanroute: ")[2] or told.rpartition("Traceback")[0])


@pytest.mark.parametrize(
    "command",
    [
        ("report", NAME),
        ("analyse", NAME),
        ("select", NAME),
        ("verify", NAME),
        ("experiment", NAME),
        ("label", NAME, "--as", NAME),
        ("agreement", NAME),
        ("declare", "grid", "--model", NAME),
        ("declare", "alfworld", "--task", NAME, "--model", "scripted/slip=0"),
        ("compare", "grid", "--modes", NAME),
        ("compare", "grid", "--seeds", NAME),
        ("compare", "grid", "--set", f"{NAME}=1"),
        ("compare", "swebench", "--model", f"scripted/{NAME}"),
        ("compare", "mind2web", "--tasks", NAME, "--model", "scripted/slip=0"),
    ],
)
def test_what_an_argument_says(planroute, command):
    status, shown, told = planroute(*command)
    assert status == 2
    quiet(shown, told)


def test_what_the_environment_says(planroute, monkeypatch, tmp_path):
    for name in ("PLANROUTE_DATA", "PLANROUTE_CHROMIUM", "PLANROUTE_WEBARENA_VENV"):
        monkeypatch.setenv(name, NAME)
    monkeypatch.setenv("PLANROUTE_CACHE", str(tmp_path / NAME.replace("/", "")))
    for json_ in ((), ("--json",)):
        status, shown, told = planroute("doctor", *json_)
        assert status in (0, 1)
        quiet(shown, told)
