"""The audit of what is pinned, by the real pip-audit against a service that knows one vulnerability."""

import json
import subprocess
import sys
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.security.serving import serving

AUDIT = Path(__file__).parents[2] / ".ci" / "audit.py"


def known(package):
    """What the service says of ``package`` 1.0."""
    return {
        "id": f"PYSEC-{package}",
        "aliases": [f"CVE-{package}"],
        "summary": "leaks",
        "details": "It leaks.",
        "affected": [
            {
                "package": {"name": package, "ecosystem": "PyPI"},
                "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]}],
                "versions": ["1.0"],
            }
        ],
    }


class Service(BaseHTTPRequestHandler):
    """Speaks OSV's protocol."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = asked["package"]["name"]
        found = {} if name == "sound" else {"vulns": [known(name)]}
        body = json.dumps(found).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def audit(folder, pins, ignored, url):
    (folder / "pins").write_text(pins)
    (folder / "ignored.toml").write_text(ignored)
    command = [sys.executable, AUDIT, "--pins", folder / "pins", "--ignored", folder / "ignored.toml", "--osv-url", url]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def entry(name, until):
    return f'[[ignored]]\nid = "CVE-{name}"\nreason = "not reached"\nuntil = {until}\n'


def test_what_is_found_fails_unless_it_is_let_pass(tmp_path):
    listed = entry("known", "2999-01-01") + entry("once", "2001-01-01") + entry("mended", "2999-01-01")
    with serving(Service) as address:
        code, told = audit(tmp_path, "leaky==1.0\nsound==2.0\nknown==1.0\nonce==1.0\n", listed, f"{address}/v1/query")
        passed, _ = audit(tmp_path, "sound==2.0\nknown==1.0\n", entry("known", "2999-01-01"), f"{address}/v1/query")
    assert told.splitlines() == [
        "audit: FOUND: leaky 1.0: PYSEC-leaky, mended in 1.1",
        "audit: ignored: known 1.0: PYSEC-known, mended in 1.1",
        "audit: no longer ignored: once 1.0: PYSEC-once, mended in 1.1",
        "audit: CVE-mended is not found any more: take it off the list",
        "audit: 4 packages; 2 vulnerabilities to mend",
    ]
    assert (code, passed) == (1, 0)


@pytest.mark.parametrize("entry", ['id = "x"\nreason = " "\nuntil = 2999-01-01', 'id = "x"\nreason = "y"', "id = 3"])
def test_what_passes_has_a_reason_and_an_end(tmp_path, entry):
    code, told = audit(tmp_path, "sound==2.0\n", f"[[ignored]]\n{entry}\n", "http://127.0.0.1:9/v1/query")
    assert code == 2
    assert "needs a" in told


def test_a_service_out_of_reach_is_told_in_one_line(tmp_path):
    with serving(Service) as address:
        pass
    assert audit(tmp_path, "leaky==1.0\n", "", f"{address}/v1/query") == (
        0,
        "audit: no service for known vulnerabilities can be reached: NOT AUDITED\n",
    )
