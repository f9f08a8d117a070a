"""What the tests say of a patch: by swebench's own parsers and rules, on a fresh copy, in a jail."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from planroute.calls import Sampling
from planroute.domains.swebench import grading
from planroute.domains.swebench.domain import opened
from planroute.domains.swebench.environment import Workplace
from planroute.domains.swebench.grading import need_swebench, read_log
from planroute.domains.swebench.oracle import doubt
from planroute.domains.swebench.own import own_records
from planroute.domains.swebench.workshop import CONDA, FORGET, Patch, evaluation
from planroute.domains.text import Limits
from planroute.errors import DomainError, InputError
from planroute.evaluation.judges import RubricJudge
from planroute.sandbox import Docker, Ended, Ran
from tests.domains.swebench.shop import workshop
from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")

NAMES = [record.repo.partition("/")[2] for record in own_records()]
RECORDS = dict(zip(NAMES, own_records(), strict=True))
SLUGS = RECORDS["slugs"]


# Reading logs, without a sandbox


def log(*lines, code=0):
    marks = (">>>>> Start Test Output", ">>>>> End Test Output", f">>>>> Test Exit Code: {code}")
    return "\n".join([marks[0], *lines, *marks[1:]])


def all_passed(record):
    return [f"PASSED {test}" for test in (*record.fail_to_pass, *record.pass_to_pass)]


def test_all_must_pass():
    grade = read_log(SLUGS, "x", log(*all_passed(SLUGS)))
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass, grade.note) == (True, 1.0, 1.0, "")


def test_some_of_those_that_must_pass_is_partial_success():
    lines = all_passed(SLUGS)
    grade = read_log(SLUGS, "x", log(*lines[1:], lines[0].replace("PASSED", "FAILED"), code=1))
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass) == (False, 0.5, 1.0)


def test_one_that_passed_before_and_fails_now_breaks_it():
    lines = all_passed(SLUGS)
    grade = read_log(SLUGS, "x", log(*lines[:-1], lines[-1].replace("PASSED", "ERROR"), code=1))
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass) == (False, 1.0, 0.75)


def test_a_test_that_is_missing_has_not_passed():
    assert read_log(SLUGS, "x", log(*all_passed(SLUGS)[1:])).fail_to_pass == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PASSED everything",
        log("collected 0 items"),
        log(*[f"PASSED {test}" for test in SLUGS.fail_to_pass]) + "\n>>>>> Reset Failed",
        log(*all_passed(SLUGS), code=1),
    ],
)
def test_a_log_that_cannot_be_believed_resolves_nothing(text):
    grade = read_log(SLUGS, "x", text)
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass) == (False, 0.0, 0.0)
    assert grade.note.startswith("no test was found")


def test_fail_only_records_count_failures():
    record = replace(SLUGS, eval_type="fail_only", fail_to_pass=("a", "b"), pass_to_pass=())
    grade = read_log(record, "x", log("PASSED c", "FAILED b - wrong", code=1))
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass) == (False, 0.5, None)


def test_an_odd_log_is_read_all_the_same():
    text = log(*all_passed(SLUGS), "\ud800 \x00 \x1b[31m", "PASSED", "=" * 100_000)
    assert read_log(SLUGS, "x", text).resolved


def test_the_rules_of_the_repository_s_own_parser():
    record = RECORDS["clocks"]
    lines = [f"{test} ... ok" for test in (*record.fail_to_pass, *record.pass_to_pass)]
    assert read_log(record, "x", log(*lines)).resolved
    assert not read_log(record, "x", log(*lines[1:], f"{record.fail_to_pass[0]} ... FAIL", code=1)).resolved


def test_an_unknown_parser_is_an_error_that_names_it():
    with pytest.raises(DomainError, match=r"planroute__slugs-1: swebench .* has no log parser 'parse_log_cobol'"):
        read_log(replace(SLUGS, log_parser="parse_log_cobol"), "x", log("PASSED a"))


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setattr(grading, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'planroute\[swebench\]'"):
        need_swebench()
    program = Path(grading.__file__).with_name("referee.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program)], input="{}", capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout) == {"error": "swebench cannot be used: it is not installed"}


def test_a_referee_that_fails_is_an_infrastructure_failure(monkeypatch, tmp_path):
    broken = tmp_path / "grading.py"
    (tmp_path / "referee.py").write_text("raise SystemExit('no memory')")
    monkeypatch.setattr(grading, "__file__", str(broken))
    with pytest.raises(DomainError, match="the referee failed: no memory"):
        read_log(SLUGS, "x", log())
    (tmp_path / "referee.py").write_text("import time; time.sleep(60)")
    monkeypatch.setattr(grading, "REFEREE_S", 0.3)
    assert not read_log(SLUGS, "x", log()).resolved


def test_the_library_is_not_imported_as_a_whole():
    """Importing all of it takes many seconds and brings engines for clouds and containers."""
    code = (
        "import sys, runpy, io; sys.stdin = io.StringIO(sys.argv[1]); runpy.run_path(sys.argv[2], run_name='__main__');"
        "print(); print([name for name in ('modal', 'datasets', 'docker') if name in sys.modules])"
    )
    given = {"log_parser": "parse_log_pytest", "instance_id": "a", "repo": "a/b", "version": "", "FAIL_TO_PASS": ["a"],
             "PASS_TO_PASS": [], "eval_type": "pass_and_fail", "patch": "", "log": log("PASSED a")}  # fmt: skip
    program = Path(grading.__file__).with_name("referee.py")
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given), str(program)], capture_output=True, text=True, check=True
    )
    answer, loaded = done.stdout.splitlines()
    assert json.loads(answer)["report"]["resolved"] is True
    assert loaded == "[]"


# The script


def test_a_script_of_the_record_s_own_is_taken_and_notes_the_exit_status():
    script = evaluation(SLUGS, SLUGS.base_commit)
    lines = script.splitlines()
    place = next(n for n, line in enumerate(lines) if "End Test Output" in line)
    assert lines[place - 2 : place + 2] == [
        "python -m pytest -rA tests/test_slugs.py",
        "planroute_status=$?",
        ": '>>>>> End Test Output'",
        'echo ">>>>> Test Exit Code: $planroute_status"',
    ]
    assert [line for line in lines if "planroute_status" not in line] == SLUGS.eval_script.strip("\n").split("\n")


def test_a_classic_record_s_script_is_made():
    record = replace(RECORDS["ledgers"], repo="django/django", test_patch=(
        "diff --git a/tests/a c/test_c.py b/tests/a c/test_c.py\n+x\ndiff --git a/tests/d.json b/tests/d.json\n+y\n"
    ))  # fmt: skip
    script = evaluation(record, "c0ffee")
    assert "git checkout -q c0ffee -- 'tests/a c/test_c.py' 2>/dev/null || rm -rf -- 'tests/a c/test_c.py'" in script
    assert "git checkout -q c0ffee -- tests/d.json" in script
    assert "--parallel 1 'a c.test_c'\n" in script


# In a jail


@needs_jail
@pytest.mark.parametrize("name", NAMES)
def test_no_patch_is_unresolved_the_own_one_resolved_and_a_breaking_one_unresolved(name):
    shop = workshop(name)
    without = shop.grade(Patch(""))
    assert (without.resolved, without.fail_to_pass, without.pass_to_pass) == (False, 0.0, 1.0)
    own = shop.grade(Patch(shop.record.patch))
    assert (own.resolved, own.fail_to_pass, own.pass_to_pass, own.note) == (True, 1.0, 1.0, "")
    assert doubt(shop) == ""


BREAKING = {
    "slugs": ("    return separator.join(words).lower()\n", "    return separator.join(words)\n"),
    "clocks": ("    return hour * 60 + minute\n", "    return hour * 60 - minute\n"),
}


@needs_jail
@pytest.mark.parametrize("name", BREAKING)
def test_a_patch_that_resolves_the_issue_and_breaks_something_else_is_unresolved(name):
    shop = workshop(name)
    box, checkout = shop.open()
    file = {"slugs": "slugs/core.py", "clocks": "clocks.py"}[name]
    old, new = BREAKING[name]
    box.run("git apply -", input=shop.record.patch.encode())
    text = box.run(f"cat {file}").text
    assert text.count(old) == 1
    box.run(f"cat > {file}", input=text.replace(old, new).encode())
    patch = shop.changes(box, checkout)
    box.close()
    assert f"+{new}" in patch.text
    grade = shop.grade(patch)
    assert not grade.resolved
    assert grade.pass_to_pass < 1


@needs_jail
def test_a_patch_of_the_tests_is_undone_before_they_run():
    shop = workshop("slugs")
    box, checkout = shop.open()
    box.run("rm -r tests; mkdir tests; printf 'def test_digits_are_kept(): pass\\n' > tests/test_slugs.py")
    patch = shop.changes(box, checkout)
    box.close()
    assert "+def test_digits_are_kept(): pass" in patch.text
    grade = shop.grade(patch)
    assert (grade.resolved, grade.fail_to_pass, grade.pass_to_pass) == (False, 0.0, 1.0)


@needs_jail
@pytest.mark.parametrize(
    "patch",
    [
        "no patch at all",
        "diff --git a/../../etc/passwd b/../../etc/passwd\n--- a/../../etc/passwd\n+++ b/../../etc/passwd\n"
        "@@ -1 +1 @@\n-root\n+evil\n",
        "diff --git a/tmp/evil b/tmp/evil\nnew file mode 100644\n--- /dev/null\n+++ b//tmp/evil\n"
        "@@ -0,0 +1 @@\n+evil\n",
        "diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n--- /dev/null\n+++ b/.git/hooks/x\n"
        "@@ -0,0 +1 @@\n+evil\n",
        "diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n@@ -0,0 +1 @@\n+/etc\n"
        "\\ No newline at end of file\ndiff --git a/out/evil b/out/evil\nnew file mode 100644\n--- /dev/null\n"
        "+++ b/out/evil\n@@ -0,0 +1 @@\n+evil\n",
    ],
    ids=["words", "upwards", "absolute", "git's own", "through a link"],
)
def test_a_patch_that_leads_out_of_the_folder_does_not_apply(patch):
    grade = workshop("slugs").grade(Patch(patch))
    assert not grade.resolved
    assert grade.note in ("the patch does not apply", "")
    assert not Path("/tmp/evil").exists()
    assert not Path("/etc/evil").exists()


@needs_jail
def test_tests_that_do_not_end_are_ended(monkeypatch):
    shop = workshop("clocks")
    monkeypatch.setattr(shop, "test_seconds", 1.0)
    box, checkout = shop.open()
    box.run("printf 'while True: pass\\n' > clocks.py")
    patch = shop.changes(box, checkout)
    box.close()
    grade = shop.grade(patch)
    assert (grade.resolved, grade.note) == (False, "the tests were ended by a bound: seconds")


@needs_jail
def test_a_record_whose_patch_does_not_help_is_doubted():
    shop = workshop("slugs")
    other = type(shop)(
        replace(shop.record, patch=shop.record.patch[: shop.record.patch.index("@@ -15,7")]),
        shop.sandbox, shop.bounds, test_seconds=60, source=shop.source, equipment=shop.equipment,
    )  # fmt: skip
    assert doubt(other) == (
        "its own patch does not resolve it: 50% of the tests that must pass, 100% of those that must keep passing"
    )
    wrong = type(shop)(
        replace(shop.record, patch=shop.record.patch.replace("number = 1", "number = 7")),
        shop.sandbox, shop.bounds, test_seconds=60, source=shop.source, equipment=shop.equipment,
    )  # fmt: skip
    assert "patch does not apply to its files" in doubt(wrong)
    assert "are they those of commit dece225" in doubt(wrong)


def test_in_a_plain_folder_s_copy_a_script_of_the_record_s_own_finds_the_commit_that_stands_for_the_base_commit():
    script = evaluation(SLUGS, "c0ffee")
    assert "git checkout c0ffee tests/test_slugs.py" in script
    assert SLUGS.base_commit not in script
    assert SLUGS.base_commit in SLUGS.eval_script


SHELL = ": '>>>>> Start Test Output'\npytest -rA\n: '>>>>> End Test Output'\n"


# In a container, by what its client is asked


def test_a_record_of_the_newer_schema_is_worked_on_and_tested_in_containers_of_its_own_image(monkeypatch, tmp_path):
    """No daemon is asked: what the client would be told is noted, and answered as a container would."""
    commit, asked, ran = "c" * 40, [], []
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n"
    record = {
        "instance_id": "some__other-1", "repo": "some/other", "base_commit": "b" * 40, "problem_statement": "It fails.",
        "patch": patch, "test_patch": "diff --git a/t.py b/t.py\n", "FAIL_TO_PASS": ["t.py::a"], "PASS_TO_PASS": [],
        "image": "some/image:latest", "log_parser": "parse_log_pytest",
        "eval_script": f"git checkout {'b' * 40} t.py\n{SHELL}",
    }  # fmt: skip
    (tmp_path / "records.json").write_text(json.dumps(record))

    def client(*arguments, seconds=0.0):
        asked.append(arguments)
        return {"run": f"container-{len(asked)}", "inspect": "true"}.get(arguments[0], "")

    def run(command, bounds, *, variables, input=b"", **given):
        place = command.index("bash")
        ran.append((command[place - 1], command[-1], input))
        script, code = command[-1], 0
        if "git init" in script:
            return Ran(code, f"{commit}\n".encode(), Ended.EXITED)
        if "git diff --cached" in script:
            return Ran(code, patch.encode(), Ended.EXITED)
        return Ran(code, log("PASSED t.py::a").encode() if "eval.sh" in script else b"packed", Ended.EXITED)

    monkeypatch.setattr("planroute.sandbox.docker._docker", client)
    monkeypatch.setattr("planroute.sandbox.docker.watch", run)
    monkeypatch.setattr(Docker, "problem", staticmethod(lambda: ""))
    of = opened(RubricJudge("trajectory"), Limits(), Sampling(), tasks=tmp_path / "records.json")
    facts = of.facts(of.tasks()[0])
    assert (facts["sandbox"], facts["files"], facts["equipment"]) == ("docker", *["some/image:latest"] * 2)
    work = Workplace(of.workshops[0])
    work.reset()
    work.step("ls")
    work.close()
    assert work.verdict() is True
    started = [arguments for arguments in asked if arguments[0] == "run"]
    assert len(started) == 2
    for arguments in started:
        assert arguments[-2:] == ("some/image:latest", "infinity")
        assert arguments[arguments.index("--network") + 1] == "none"
    agent, tests = dict.fromkeys(name for name, _, _ in ran)
    work_scripts = [script for name, script, _ in ran if name == agent]
    assert FORGET in work_scripts[0]
    assert f"{CONDA}ls" in work_scripts
    applied, written, tested = [(script, given) for name, script, given in ran if name == tests]
    assert applied == ("git apply --whitespace=nowarn -", patch.encode())
    assert written == ("cat > /tmp/eval.sh", evaluation(of.workshops[0].record, "b" * 40).encode())
    assert f"git checkout {'b' * 40} t.py" in written[1].decode()
    assert tested[0] == "bash /tmp/eval.sh"
    assert [arguments[0] for arguments in asked].count("rm") == 2
