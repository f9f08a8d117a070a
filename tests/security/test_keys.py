"""Keys come from the environment and go to the endpoint alone: a canary is looked for in all that real runs leave.

The endpoint repeats the key that it was sent wherever it can: in texts, names of its usage account, headers, errors.
"""

import json
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from urllib.parse import quote

import pytest

from tests.security.finding import contents, leaks
from tests.security.serving import serving

KEY = 'sk_canary"Zx/9+q\\b&<=%dd7e41'
USER, PASSWORD, QUERIED = "canary-user-51", "canary-pass-0e", "canary-query-c3"
SECRETS = [KEY, USER, PASSWORD, QUERIED]


class Repeating(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint: answers under ``/v1``, refuses under ``/refuse``, breaks under ``/break``."""

    protocol_version = "HTTP/1.1"
    seen: list[str]

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        key = self.headers["authorization"].removeprefix("Bearer ")
        self.seen.append(key)
        said = " ".join([key, json.dumps(key)[1:-1], quote(key, safe="")])
        if self.path.startswith("/refuse"):
            self.answer(401, {"error": {"message": f"Incorrect API key provided: {said}", "param": key}}, key)
        elif self.path.startswith("/break"):
            self.answer(200, f"<p>no chat completion, {said}", key)
        else:
            unit = {"title": f"look {said}", "steps": [f"look {key}"], "done": key}
            words = {"mode": "SEQUENTIAL", "confidence": 0.5, "rationale": said, "action": f"look {key}"}
            reply = {**words, "plan": [unit], "steps": [key], "score": 1, "why": key, "message": said, "agent": key}
            message = {"role": "assistant", "content": json.dumps(reply), "reasoning_content": said, "refusal": key}
            counted = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13, key: 1, "note": said}
            choice = {"index": 0, "message": message, "finish_reason": "stop", "note": key}
            self.answer(200, {"id": key, "model": key, "choices": [choice], "usage": counted}, key)

    def answer(self, status, body, key):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("x-request-id", key)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint(tmp_path, monkeypatch):
    """The address, with user, password and key in it; the environment holds the key, and temporary files are kept."""
    monkeypatch.setenv("PLANROUTE_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("PLANROUTE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    Repeating.seen = []
    with serving(Repeating) as address:
        yield address.replace("//", f"//{USER}:{PASSWORD}@")


def model(endpoint, path="/v1"):
    return "--model", f"{endpoint}{path}?api_key={QUERIED}#m"


TASK = {"task": "find a cup", "plan": ["look", "take cup"], "actions": [{"action": "look", "observation": "a cup"}]}
FEW = ("--tasks", 1, "--seeds", 7, "--steps", 2)


def test_no_artefact_of_a_run_holds_a_key(planroute, endpoint, tmp_path, caplog):
    caplog.set_level(logging.INFO)
    asked, cache = model(endpoint), ("--cache", tmp_path / "calls.sqlite")
    (tmp_path / "one.json").write_text(json.dumps(TASK))
    holding = sqlite3.connect(tmp_path / "calls.sqlite")  # as long as it is open, the log beside the cache stays
    with closing(holding):
        ran = [
            planroute(
                "compare",
                "alfworld",
                *FEW,
                "--conditions",
                "FLAT_REACT,SEQUENTIAL,ROUTED",
                *asked,
                *cache,
                "--out",
                tmp_path / "text",
                "--debug",
            ),
            planroute("report", tmp_path / "text"),
            planroute("analyse", tmp_path / "text"),
            planroute("compare", "grid", "--seeds", 7, "--modes", "SEARCH", *asked, *cache, "--json"),
            planroute("declare", "alfworld", *asked, *cache),
            planroute("judge", tmp_path / "one.json", *asked, *cache, "--json", "--debug"),
            planroute("locate", tmp_path / "one.json", *asked, *cache),
            planroute("verify", tmp_path / "one.json"),
            planroute("doctor"),
        ]
        holding.execute("SELECT count(*) FROM calls").fetchone()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert leaks(SECRETS, tmp_path, *(text for _, *both in ran for text in both), caplog.text) == []
    assert set(Repeating.seen) == {KEY}
    assert {".json", ".html", ".sqlite", ".sqlite-wal", ".parquet", ".svg", ".pdf"} <= {path.suffix for path in files}
    assert "set in PLANROUTE_API_KEY" in ran[-1][1]
    assert "***" in (tmp_path / "text" / "report.html").read_text()


@pytest.mark.parametrize(("path", "said"), [("/refuse", "Incorrect API key provided: ***"), ("/break", "not a chat")])
def test_no_error_holds_a_key(planroute, endpoint, tmp_path, monkeypatch, caplog, path, said):
    from planroute.models.live import LiveModel

    monkeypatch.setitem(LiveModel.__init__.__kwdefaults__, "backoff_s", 0.001)
    caplog.set_level(logging.INFO)
    shown = []
    for command in (
        ("compare", "alfworld", *FEW, "--conditions", "FLAT_REACT", "--out", tmp_path / "run"),
        ("declare", "alfworld"),
    ):
        status, out, told = planroute(*command, *model(endpoint, path), "--debug")
        assert status in (1, 2)
        shown += [out, told]
    assert said in shown[-1]
    assert leaks(SECRETS, tmp_path, *shown, caplog.text) == []
    assert any(
        said in data.decode("utf-8", "replace") for name, data in contents(next((tmp_path / "run/cells").iterdir()))
    )


@pytest.mark.parametrize("spec", ["http://{0}:x@[v1#m", "ftp://u:{0}@host/v1?k={0}#m", "https://{0}@h/v1"])
def test_no_refused_address_is_repeated_with_what_is_secret_in_it(planroute, spec):
    status, out, told = planroute("declare", "alfworld", "--model", spec.format(PASSWORD), "--no-cache", "--debug")
    assert status == 2
    assert PASSWORD not in out + told.partition("planroute: ")[2]


EVALUATIONS = """
import sys
from inspect_ai import eval as evaluate
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.solvers import flat_react

plain, secret = sys.argv[1:]
few = {"limit": 1, "solver": flat_react(), "message_limit": 4, "display": "none", "max_retries": 0}
try:
    evaluate("planroute/alfworld", model=secret, **few)
except PrerequisiteError as error:
    print(error)
(log,) = evaluate("planroute/alfworld", model=f"planroute/{plain}/v1#m", **few)
print(log.status, "***" in log.model_dump_json())
theirs = {"model_base_url": f"{plain}/v1", "log_dir": "theirs"}
(log,) = evaluate("planroute/alfworld", model="planroute/inspect:openai-api/place/m", **theirs, **few)
print(log.status, "***" in log.model_dump_json())
"""


def test_no_log_of_inspect_holds_a_key(endpoint, tmp_path):
    """What Inspect's own providers log of their requests is Inspect's; what planroute keeps of their answers is not."""
    pytest.importorskip("inspect_ai")
    folders = {"XDG_DATA_HOME": str(tmp_path / "data"), "INSPECT_LOG_DIR": str(tmp_path / "logs")}
    done = subprocess.run(
        [sys.executable, "-c", EVALUATIONS, re.sub("//.*@", "//", endpoint), f"planroute/{model(endpoint)[1]}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | folders | {"PLACE_API_KEY": KEY, "TMPDIR": str(tmp_path / "tmp")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "give no user, password or key in an address" in done.stdout
    assert done.stdout.count("success True\n") == 2
    assert len(list((tmp_path / "logs").iterdir())) == len(list((tmp_path / "theirs").iterdir())) == 1
    shutil.rmtree(tmp_path / "theirs")
    assert (tmp_path / "cache" / "calls.sqlite").stat().st_size > 0
    assert leaks(SECRETS, tmp_path, done.stdout, done.stderr) == []
