"""``planroute compare swebench``, its report, and what doctor says."""

import json
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from planroute.sandbox import Docker, Jail
from planroute.trace import Stop
from tests.domains.swebench.test_environment import NOISY
from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")
pytestmark = needs_jail

PLANROUTE = str(Path(sys.executable).parent / "planroute")


def program(*arguments, status=0, cwd=None):
    done = subprocess.run(
        [PLANROUTE, *arguments], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "out"
    arguments = ["compare", "swebench", "--model", "scripted/slip=0.3", "--limit", "1", "--seeds", "7"]
    arguments += [
        "--cache",
        str(out.parent / "calls"),
        "--conditions",
        "PLAN_REACT,PREDEFINED",
        "--steps",
        "8",
        "--json",
    ]
    first = program(*arguments, "--out", str(out))
    again = program(*arguments, "--out", str(out) + "-again")
    return out, json.loads(first.stdout), again.stdout == first.stdout


def test_the_table_is_that_of_the_other_text_domains_and_the_benchmark_s_own_measures(run):
    out, result, _ = run
    assert list(result["conditions"]) == ["PLAN_REACT", "PREDEFINED"]
    for row in result["conditions"].values():
        assert {"success_rate", "success_interval", "interactions", "adherence", "attribution"} <= set(row)
        assert row["resolved"] == row["success_rate"]
        assert {"psr", "pass_to_pass", "patched"} <= set(row)
        assert {"resolved", "psr"} <= set(row["per_episode"][0])
    assert json.loads((out / "result.json").read_text()) == result


def test_equal_commands_give_equal_bytes(run):
    out, _, same = run
    assert same
    cells = sorted(path.name for path in (out / "cells").iterdir())
    assert len(cells) == 2
    assert (out / "result.json").read_bytes() == (Path(f"{out}-again") / "result.json").read_bytes()
    for name in cells:
        assert (out / "cells" / name).read_bytes() == (Path(f"{out}-again") / "cells" / name).read_bytes()


def test_the_report_shows_partial_success_and_no_answer(run):
    page = (run[0] / "report.html").read_text()
    assert "Partial success" in page
    assert "Step success" not in page
    assert "planroute__clocks-1" in page
    assert "test_noon" not in page
    assert "hour != 12" in page  # the issue itself says so


def test_a_cell_is_verified(run, planroute):
    status, shown, _ = planroute("verify", next((run[0] / "cells").glob("*PLAN_REACT-7.json")))
    assert status == 0
    assert re.search(r"declared plan: (not )?preserved, \d of 2 units", shown)


class Agent(BaseHTTPRequestHandler):
    """An endpoint whose model runs commands that print times, names and numbers; an answer for each turn."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = json.dumps(asked["messages"])
        turns = next((n for n in reversed(range(1, len(NOISY) + 1)) if f"turn-{n}" in said), 0)
        action = f"{NOISY[turns]}; echo turn-{turns + 1}" if turns < len(NOISY) else "submit"
        answer = {"role": "assistant", "content": json.dumps({"thought": "", "action": action})}
        body = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "agent",
            "choices": [{"index": 0, "message": answer, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *given):
        """Nothing is printed."""


def test_a_run_is_repeated_from_the_cache_of_calls_whatever_its_commands_print(planroute, tmp_path):
    """The second time nobody answers: were anything shown otherwise, a call would have to be made."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    Thread(target=server.serve_forever, daemon=True).start()
    arguments = ["compare", "swebench", "--model", "openai:agent", "--base-url"]
    arguments += [f"http://127.0.0.1:{server.server_port}/v1", "--limit", "1", "--seeds", "7", "--conditions"]
    arguments += ["FLAT_REACT", "--cache", tmp_path / "calls", "--json", "--out"]
    first = planroute(*arguments, tmp_path / "first")
    server.shutdown()
    server.server_close()
    again = planroute(*arguments, tmp_path / "again")
    assert first == again
    assert first[0] == 0
    (row,) = json.loads(first[1])["conditions"].values()
    assert (row["interactions"], row["patched"], row["infrastructure"]) == (len(NOISY) + 1, 1.0, 0)
    for path in ("result.json", *(f"cells/{each.name}" for each in (tmp_path / "first" / "cells").iterdir())):
        assert (tmp_path / "first" / path).read_bytes() == (tmp_path / "again" / path).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--tasks", "0"], "--tasks 0 leaves nothing to compare"),
        (["--tasks", "/none"], "does not exist"),
        (["--sandbox", "vm"], "sandbox 'vm' is unknown"),
    ],
)
def test_wrong_input_is_told_in_one_line(planroute, arguments, told):
    status, _, said = planroute("compare", "swebench", "--model", "scripted/slip=0", *arguments)
    assert status == 2
    assert told in said
    assert len(said.strip().splitlines()) == 1


NEWER = {
    "instance_id": "some__other-1", "repo": "some/other", "base_commit": "c0ffee0", "problem_statement": "It fails.",
    "patch": "diff", "test_patch": "diff --git a/t.py b/t.py\n", "FAIL_TO_PASS": ["a"], "PASS_TO_PASS": [],
    "image": "some/image:latest", "log_parser": "parse_log_pytest",
    "eval_script": ": '>>>>> Start Test Output'\nmake test\n: '>>>>> End Test Output'\n",
}  # fmt: skip


def test_a_client_without_a_daemon_and_no_sandbox_at_all_are_told_in_one_line(planroute, tmp_path, monkeypatch):
    monkeypatch.setattr(Docker, "problem", staticmethod(lambda: "its client is here, but no daemon answers"))
    (tmp_path / "records.json").write_text(json.dumps(NEWER))
    command = ["compare", "swebench", "--model", "scripted/slip=0", "--tasks", tmp_path / "records.json"]
    assert planroute(*command, "--sandbox", "docker") == (
        2, "",
        "planroute: no sandbox: its client is here, but no daemon answers — on Linux: apt install bubblewrap; "
        "anywhere: start Docker. planroute doctor says what is there\n",
    )  # fmt: skip
    assert planroute(*command) == (
        2, "",
        "planroute: its files are needed for a jail — name a folder of checkouts with --repos, or start Docker\n",
    )  # fmt: skip
    monkeypatch.setattr(Jail, "problem", staticmethod(lambda: "not installed: bubblewrap (apt install bubblewrap)"))
    status, out, said = planroute(*command)
    assert (status, out, len(said.splitlines())) == (2, "", 1)
    assert "no sandbox to run commands in: not installed: bubblewrap (apt install bubblewrap); its client" in said
    assert said.endswith("start Docker. planroute doctor says what is there\n")


def test_doctor_looks_for_what_it_takes(planroute):
    found = {item["name"]: item for item in json.loads(planroute("doctor", "--json")[1])["findings"]}
    assert {"git", "jail", "docker", "swebench"} <= set(found)
    assert found["jail"]["present"]
    assert "bubblewrap" in found["jail"]["hint"]


@pytest.mark.slow
def test_every_condition_with_the_embedded_model(tmp_path):
    """It resolves nothing; every interface runs, and what it writes is run in a jail."""
    pytest.importorskip("xllamacpp")
    arguments = ["--model", "embedded", "--limit", "1", "--seeds", "7", "--steps", "3", "--steps-per-unit", "2"]
    arguments += ["--max-tokens", "200", "--most-calls", "25", "--candidates", "2", "--no-cache"]
    done = program("compare", "swebench", *arguments, "--json", cwd=tmp_path)
    conditions = json.loads(done.stdout)["conditions"]
    assert len(conditions) == 7
    assert {row["infrastructure"] for row in conditions.values()} == {0}
    assert sum(row["interactions"] for row in conditions.values()) > 3
    for row in conditions.values():
        (episode,) = row["per_episode"]
        assert episode["status"] in ("finished", "failed")  # the latter: a reply that held no plan
        assert episode["stop"] in set(Stop)
        assert episode["failure"] in ("TASK", "MODEL")
