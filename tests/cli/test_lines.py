"""What a person sees when something is wrong: one line on standard error, the right exit status, nothing lost."""

import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from planroute.models.live import LiveModel

PROGRAM = Path(sys.executable).parent / "planroute"
ONE = ("compare", "grid", "--seeds", "7", "--modes", "SEARCH")


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(planroute, tmp_path, monkeypatch):
    """Run the program in this process and in ``tmp_path``; what it has come to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        return Done(*planroute(*arguments))

    return run


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--seeds", "7,x"), "planroute: --seeds: 1 problem: 'x' is neither a seed nor a range such as 1000-1199"),
        (("--seeds", "7,7"), "planroute: --seeds: 1 problem: 7 is given twice"),
        (
            ("--modes", "SEARCH,GUESS"),
            "planroute: --modes: 1 problem: 'GUESS' is not a mode — choose from PREDEFINED, SEQUENTIAL, HIERARCHICAL, "
            "SEARCH",
        ),
        (
            ("--declarer", "natural"),
            "planroute: --declarer natural needs a language model — name one with --model",
        ),
        (
            ("--communication", "model"),
            "planroute: --communication model needs a language model — name one with --model",
        ),
        (("--mode", "SEARCH"), "planroute: --mode goes with --declarer fixed only"),
        (("--base-url", "http://x"), "planroute: --base-url and --cache go with --model only"),
        (("--deadline", "inf"), "planroute: the deadline must be a number of seconds from 0, not inf"),
        (
            ("--set", "stress=-1"),
            "planroute: scenario: 1 problem: stress: Input should be greater than or equal to 0, got -1",
        ),
        (
            ("--set", "r_pu=-1", "--set", "stress=9"),
            "planroute: scenario: 2 problems: r_pu: Input should be greater than 0, got -1; "
            "stress: Input should be less than or equal to 3, got 9",
        ),
        (("--set", "stress"), "planroute: --set 'stress': write NAME=VALUE"),
        (("--scenario", "absent.json"), "planroute: scenario file absent.json: No such file or directory"),
        (
            ("--model", "nonsense"),
            "planroute: unknown model 'nonsense' — ",
        ),
        (
            ("--beside-paper",),
            "planroute: --beside-paper goes with the paper's own scenario and seeds — ",
        ),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_2(arguments, line, run):
    done = run(*ONE, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (shown,) = done.stderr.splitlines()
    assert shown.startswith(line) if line.endswith("— ") else shown == line


def test_a_faulty_feeder_lists_every_fault_at_once(tmp_path, run):
    feeder = {
        "nodes": [{"id": "a"}, {"id": "b"}],
        "lines": [{"from": "head", "to": "a", "r_pu": -0.1, "x_pu": 0.1}],
    }
    (tmp_path / "feeder.json").write_text(json.dumps({"s_base_mva": 1.0, **feeder}))
    (tmp_path / "day.json").write_text('{"feeder": "feeder.json"}')
    done = run(*ONE, "--scenario", "day.json")
    assert done.returncode == 2
    (shown,) = done.stderr.splitlines()
    assert "2 problems: line lines[0], r_pu: must be greater than 0, but is -0.1; node b, lines: an island" in shown


@pytest.mark.parametrize(
    ("reply", "status", "line"),
    [
        ('Sure! {"mode": "search", "branching": 9,}', 0, "Clipped:  branching from 9 to 4"),
        ("{'mode': 'SEQUENTIAL', 'replanning': 'EVERY_STEP', 'intensity': 4}", 0, "Clipped:  intensity from 4 to 1"),
        (
            '{"mode": "HIERARCHICAL", "depth": 1}',
            0,
            "Gate:     replaced: depth: HIERARCHICAL needs a depth of at least 2",
        ),
        ('{"mode": "GUESS"}', 2, "planroute: --reply -: mode: "),
        ("", 2, "planroute: --reply -: "),
        ("I would rather not say.", 2, "planroute: --reply -: "),
    ],
)
def test_a_reply_is_mended_by_rule_or_refused_in_one_line(reply, status, line, run):
    done = run("declare", "grid", "--reply", "-", stdin=reply)
    assert done.returncode == status, done.stderr
    assert any(shown.startswith(line) for shown in (done.stdout + done.stderr).splitlines()), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_strict_gate_refuses(run):
    reply = '{"mode": "SEARCH", "branching": 1}'
    done = run("declare", "grid", "--reply", "-", "--strict", stdin=reply)
    assert done.returncode == 1
    assert "Gate:     refused: branching: SEARCH needs at least 2 candidates, got 1" in done.stdout.splitlines()


def test_debug_shows_where_and_keeps_the_status_of_the_program(tmp_path):
    done = subprocess.run(
        [PROGRAM, *ONE, "--seeds", "x", "--debug"],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("planroute: --seeds: ")


@pytest.fixture
def endpoint():
    """An endpoint that answers every request with the status in its path."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            status = int(self.path.split("/")[1])
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_refused_key_says_so_and_nothing_wins(endpoint, run):
    model = f"{endpoint}/401#m"
    done = run(*ONE, "--model", model, "--communication", "model", "--set", "model_hours=[16]", "--json")
    assert done.returncode == 1
    assert done.stderr.startswith("planroute: 2 of 2 episodes broken off by the infrastructure: ")
    assert "401" in done.stderr
    assert json.loads(done.stdout)["oracle"] == {}


def test_an_endpoint_that_is_down_breaks_off_and_finished_cells_are_kept(run, monkeypatch):
    monkeypatch.setitem(LiveModel.__init__.__kwdefaults__, "backoff_s", 0.001)
    model = "http://127.0.0.1:9/v1#m"
    arguments = (*ONE, "--model", model, "--declarer", "natural", "--out", "kept")
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("planroute: 1 of 2 episodes broken off by the infrastructure: ")
    again = run(*arguments)
    assert "2 episodes, 1 of them from an earlier run" in again.stdout


def test_a_models_words_do_not_steer_the_terminal(run):
    reply = json.dumps({"mode": "PREDEFINED", "rationale": "a\x1b]0;owned\x07b\u202ec"})
    done = run("declare", "grid", "--reply", "-", stdin=reply)
    assert not {"\x1b", "\x07", "\u202e"} & set(done.stdout)
    assert "owned" in done.stdout


def test_an_out_folder_of_another_run_is_left_alone(tmp_path, run):
    assert run(*ONE, "--out", "mine").returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*") if path.is_file()}
    done = run(*ONE, "--seeds", "8", "--out", "mine")
    assert done.returncode == 2
    assert done.stderr.startswith("planroute: mine already holds another run — ")
    assert before == {path: path.read_bytes() for path in (tmp_path / "mine").rglob("*") if path.is_file()}
