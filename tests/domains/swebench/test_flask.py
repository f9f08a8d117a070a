"""The real record of flask, on flask's own source distribution, in an environment of its own. Needs a network."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from planroute.calls import Sampling
from planroute.domains.swebench import read_records
from planroute.domains.swebench.domain import opened
from planroute.domains.swebench.oracle import doubt
from planroute.domains.swebench.workshop import Patch
from planroute.domains.text import Limits
from planroute.evaluation.judges import RubricJudge
from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")
pytestmark = [needs_jail, pytest.mark.slow]

NEEDS = ("blinker", "click", "itsdangerous", "jinja2", "markupsafe<2.2", "werkzeug==2.3.0", "pytest==7.2.2")


@pytest.fixture(scope="module")
def repos(data_dir, tmp_path_factory):
    """A folder as docs/swebench.md has it made: 2.3.0, in which the issue is resolved, with its patches taken back."""
    folder = tmp_path_factory.mktemp("repos")
    given = os.environ.get("PLANROUTE_FLASK")
    if given:
        (folder / "pallets__flask").symlink_to(given)
    else:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "flask==2.3.0"]
        subprocess.run([*command, "-d", str(folder)], check=True)
        with tarfile.open(next(folder.glob("*.tar.gz"))) as tar:
            tar.extractall(folder, filter="data")
        next(folder.glob("*lask-2.3.0")).rename(folder / "pallets__flask-5014")
        (record,) = read_records(data_dir / "swebench" / "verified_flask_5014.jsonl")
        subprocess.run(
            ["git", "apply", "-R", "-"], input=record.patch + record.test_patch, text=True, check=True,
            cwd=folder / "pallets__flask-5014",
        )  # fmt: skip
    env = folder / "envs" / "pallets__flask-2.3"
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    subprocess.run([str(env / "bin" / "python"), "-m", "pip", "install", "-q", *NEEDS], check=True)
    for path in (env, *env.parents):
        if path.is_relative_to(folder):
            path.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def shop(data_dir, repos):
    tasks = data_dir / "swebench" / "verified_flask_5014.jsonl"
    of = opened(RubricJudge("trajectory"), Limits(), Sampling(), tasks=tasks, repos=repos, sandbox="jail")
    return of.workshops[0]


def test_no_patch_is_unresolved_and_the_own_one_resolved(shop):
    without = shop.grade(Patch(""))
    assert (without.resolved, without.fail_to_pass, without.pass_to_pass) == (False, 0.0, 1.0)
    own = shop.grade(Patch(shop.record.patch))
    assert (own.resolved, own.fail_to_pass, own.pass_to_pass) == (True, 1.0, 1.0)
    assert doubt(shop) == ""


def test_a_patch_that_breaks_what_passed_is_unresolved(shop):
    grade = shop.grade(Patch(shop.record.patch.replace("if not name:", "if name != '':")))
    assert not grade.resolved
    assert grade.pass_to_pass < 1


def test_conditions_run_on_it(data_dir, repos, tmp_path):
    program = str(Path(sys.executable).parent / "planroute")
    tasks = data_dir / "swebench" / "verified_flask_5014.jsonl"
    arguments = [
        "--tasks",
        str(tasks),
        "--repos",
        str(repos),
        "--seeds",
        "7",
        "--no-cache",
        "--candidates",
        "2",
        "--json",
    ]
    done = subprocess.run(
        [program, "compare", "swebench", "--model", "scripted/slip=0", *arguments],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    conditions = json.loads(done.stdout)["conditions"]
    assert len(conditions) == 7
    assert all(row["pass_to_pass"] == 1.0 and row["infrastructure"] == 0 for row in conditions.values())
