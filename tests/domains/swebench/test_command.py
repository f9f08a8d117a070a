"""``planroute compare swebench``, its report, and what doctor says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")
pytestmark = needs_jail

PLANROUTE = str(Path(sys.executable).parent / "planroute")


def planroute(*arguments, status=0, cwd=None):
    done = subprocess.run(
        [PLANROUTE, *arguments], capture_output=True, text=True, cwd=cwd, stdin=subprocess.DEVNULL, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "out"
    arguments = ["compare", "swebench", "--model", "scripted/slip=0.3", "--limit", "1", "--seeds", "7", "--no-cache"]
    arguments += ["--conditions", "PLAN_REACT,PREDEFINED", "--steps", "8", "--json"]
    first = planroute(*arguments, "--out", str(out))
    again = planroute(*arguments, "--out", str(out) + "-again")
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
    for name in cells:
        assert (out / "cells" / name).read_bytes() == (Path(f"{out}-again") / "cells" / name).read_bytes()


def test_the_report_shows_partial_success_and_no_answer(run):
    page = (run[0] / "report.html").read_text()
    assert "Partial success" in page
    assert "Step success" not in page
    assert "planroute__clocks-1" in page
    assert "test_noon" not in page
    assert "hour != 12" in page  # the issue itself says so


def test_a_cell_is_verified(run):
    out = run[0]
    shown = planroute("verify", str(next((out / "cells").glob("*PLAN_REACT-7.json")))).stdout
    assert re.search(r"declared plan: (not )?preserved, \d of 2 units", shown)


def test_wrong_input_is_told_in_one_line(tmp_path):
    for arguments, told in (
        (["--tasks", "0"], "--tasks 0 leaves nothing to compare"),
        (["--tasks", str(tmp_path / "none")], "does not exist"),
        (["--sandbox", "vm"], "sandbox 'vm' is unknown"),
    ):
        done = planroute("compare", "swebench", "--model", "scripted/slip=0", *arguments, status=2)
        assert told in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_doctor_looks_for_what_it_takes():
    found = {item["name"]: item for item in json.loads(planroute("doctor", "--json").stdout)["findings"]}
    assert {"git", "jail", "docker", "swebench"} <= set(found)
    assert found["jail"]["present"]
    assert "bubblewrap" in found["jail"]["hint"]


@pytest.mark.slow
def test_every_condition_with_the_embedded_model(tmp_path):
    """It resolves nothing; every interface runs, and what it writes is run in a jail."""
    pytest.importorskip("xllamacpp")
    arguments = ["--model", "embedded", "--limit", "1", "--seeds", "7", "--steps", "3", "--steps-per-unit", "2"]
    arguments += ["--max-tokens", "200", "--most-calls", "25", "--candidates", "2", "--no-cache"]
    done = planroute("compare", "swebench", *arguments, "--json", cwd=tmp_path)
    conditions = json.loads(done.stdout)["conditions"]
    assert len(conditions) == 7
    assert {row["infrastructure"] for row in conditions.values()} == {0}
    assert sum(row["interactions"] for row in conditions.values()) > 3
