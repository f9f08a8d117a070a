"""The real record of flask, on flask's own source distribution, in an environment of its own.

It needs a network for its packages. ``PLANROUTE_FLASK`` names flask's sources of version 2.3.0, a folder or an archive
of them, where they are not to be fetched.
"""

import json
import os
import shutil
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
HINT = 'In `src/flask/blueprints.py`, `if "." in name:` should be `if not name or "." in name:`.'
"""The scripted solver knows an edit where an issue names it in so many words, which the real one does not."""


def pip(python, *arguments):
    """Run pip; skip the test where what it is asked for cannot be had."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"packages cannot be fetched: {done.stderr.strip().splitlines()[-1:]}")


def sources(folder):
    """Flask 2.3.0 as its authors distribute it."""
    given = Path(os.environ.get("PLANROUTE_FLASK", ""))
    if given.name and given.is_dir():
        return Path(shutil.copytree(given, folder / "given", symlinks=True))
    if not given.name:
        pip(sys.executable, "download", "-q", "--no-deps", "--no-binary", ":all:", "flask==2.3.0", "-d", str(folder))
        given = next(folder.glob("*.tar.gz"))
    with tarfile.open(given) as tar:
        tar.extractall(folder, filter="data")
    return next(path for path in folder.glob("*lask-2.3.0") if path.is_dir())


@pytest.fixture(scope="module")
def tasks(data_dir):
    return data_dir / "swebench" / "verified_flask_5014.jsonl"


@pytest.fixture(scope="module")
def repos(tasks, tmp_path_factory):
    """A folder as docs/swebench.md has it made: 2.3.0, in which the issue is resolved, with its patches taken back."""
    folder = tmp_path_factory.mktemp("repos")
    checkout = folder / "pallets__flask-5014"
    sources(folder).rename(checkout)
    (record,) = read_records(tasks)
    subprocess.run(
        ["git", "apply", "-R", "-"], input=record.patch + record.test_patch, text=True, check=True, cwd=checkout
    )
    env = folder / "envs" / "pallets__flask-2.3"
    subprocess.run([sys.executable, "-m", "venv", str(env)], check=True)
    pip(env / "bin" / "python", "install", "-q", *NEEDS)
    for path in (env, *env.parents):
        if path.is_relative_to(folder):
            path.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def shop(tasks, repos):
    of = opened(RubricJudge("trajectory"), Limits(), Sampling(), tasks=tasks, repos=repos, sandbox="jail")
    return of.workshops[0]


def test_no_patch_is_unresolved_and_the_own_one_resolved(shop):
    without = shop.grade(Patch(""))
    assert (without.resolved, without.fail_to_pass, without.pass_to_pass) == (False, 0.0, 1.0)
    own = shop.grade(Patch(shop.record.patch))
    assert (own.resolved, own.fail_to_pass, own.pass_to_pass) == (True, 1.0, 1.0)
    assert doubt(shop) == ""


def test_a_patch_that_breaks_what_passed_is_unresolved(shop):
    """It raises for every name: the test that must pass does, and those that must keep passing do not."""
    grade = shop.grade(Patch(shop.record.patch.replace("if not name:", "if name != 'x':")))
    assert (grade.resolved, grade.fail_to_pass) == (False, 1.0)
    assert grade.pass_to_pass < 1


def compared(tasks, repos, folder):
    program = str(Path(sys.executable).parent / "planroute")
    arguments = ["--tasks", str(tasks), "--repos", str(repos), "--seeds", "7", "--no-cache", "--candidates", "2"]
    done = subprocess.run(
        [program, "compare", "swebench", "--model", "scripted/slip=0", *arguments, "--json"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    conditions = json.loads(done.stdout)["conditions"]
    assert len(conditions) == 7
    assert {row["infrastructure"] for row in conditions.values()} == {0}
    return conditions


def test_no_condition_resolves_what_names_no_edit(tasks, repos, tmp_path):
    for row in compared(tasks, repos, tmp_path).values():
        assert (row["success_rate"], row["psr"], row["pass_to_pass"], row["patched"]) == (0.0, 0.0, 1.0, 0.0)


def test_every_condition_resolves_it_where_it_names_the_edit(tasks, repos, tmp_path):
    fields = json.loads(tasks.read_text())
    fields["problem_statement"] += f"\n\n{HINT}\n"
    (tmp_path / "hinted.jsonl").write_text(json.dumps(fields))
    for row in compared(tmp_path / "hinted.jsonl", repos, tmp_path).values():
        assert (row["success_rate"], row["psr"], row["pass_to_pass"], row["patched"]) == (1.0, 1.0, 1.0, 1.0)
