"""``python -m planroute.testing``: which faults there are, where it serves, and what it tells at its end."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

COMMAND = (sys.executable, "-m", "planroute.testing")


@pytest.mark.parametrize(("arguments", "status"), [(("--help",), 0), (("--fault", "broken=0.1"), 2)])
def test_faults_are_named(arguments, status):
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == status
    assert all(name in ended.stdout + ended.stderr for name in ("lying", "refused", "wrong_schema", "cut_off"))


def test_it_serves_where_it_is_told_and_says_what_it_served():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*COMMAND, "--port", str(port), "--seconds", "60"], stdout=subprocess.PIPE, text=True) as run:
        try:
            address = run.stdout.readline().strip()
            assert address == f"http://127.0.0.1:{port}/v1"
            question = json.dumps({"messages": [{"role": "user", "content": "one two"}]}).encode()
            with urllib.request.urlopen(urllib.request.Request(f"{address}/chat/completions", question)) as answer:
                assert answer.status == 200
        finally:
            run.send_signal(signal.SIGTERM)
        told = json.loads(run.stdout.read())
    assert (told["requests"], told["answered"]) == ({"good": 1}, 1)
    assert (told["prompt_tokens"], told["completion_tokens"]) == (2, 4)
