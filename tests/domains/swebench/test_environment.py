"""Working on an issue: what an agent sees of its commands, views and edits, and what becomes its patch."""

import time

import pytest

from planroute.domains.swebench.environment import Workplace
from planroute.domains.swebench.showing import HEAD, TAIL, steady
from planroute.domains.swebench.workshop import CONDA, Patch
from planroute.domains.text.environment import Environment, Measured, Referee, Slow
from planroute.errors import DomainError
from planroute.sandbox import Ended, Ran
from tests.domains.swebench.shop import workshop
from tests.sandbox.needs import needs_jail

pytest.importorskip("swebench", reason="needs the swebench extra")
pytestmark = needs_jail


@pytest.fixture
def place():
    opened = Workplace(workshop("slugs"))
    opened.reset()
    yield opened
    opened.close()


def edit(path, old, new):
    return "\n".join([f"edit {path}", "<<<<<<< OLD", *old, "=======", *new, ">>>>>>> NEW"])


def seen(place, action):
    turn = place.step(action)
    assert not turn.success
    return turn.observation


def test_it_is_an_environment_whose_referee_speaks_at_the_end():
    opened = Workplace(workshop("slugs"))
    checks: list[type] = [Referee, Slow, Measured]
    assert all(isinstance(opened, each) for each in checks)
    used: Environment = opened
    assert used.admissible == ()
    opened.close()
    with pytest.raises(DomainError, match="planroute__slugs-1 is over"):
        opened.step("ls")


def test_it_begins_with_the_files_of_the_base_commit_and_begins_anew(place):
    assert seen(place, "touch new; git status --short").splitlines() == ["?? new"]
    first = place.reset()
    assert (
        first == "You are in /testbed, a checkout of planroute/slugs 1.0. It holds: .gitignore README.md slugs/ tests/"
    )
    assert seen(place, "git status --short") == "[no output]"
    assert seen(place, "git log --oneline --all") == "dece225 slugs 1.0"


def test_commands(place):
    assert seen(place, "echo one; echo two >&2; exit 3") == "one\ntwo\n[exit status 3]"
    assert seen(place, "cd slugs && pwd") == "/testbed/slugs"
    assert seen(place, "pwd") == "/testbed"
    assert seen(place, "python -c 'import slugs; print(slugs.__file__)'") == "/testbed/slugs/__init__.py"
    assert "4 passed in 0.00s" in seen(place, "python -m pytest -q")
    assert place.step("no-such-command").executed is False
    assert place.step("false").executed is True


def test_views(place):
    assert seen(place, "view README.md").splitlines()[0] == "1\t# slugs"
    assert seen(place, "view slugs/core.py 7-8").splitlines() == [
        '7\tdef slugify(text: str, separator: str = "-") -> str:',
        '8\t    """Return the words of ``text`` in lower case, joined by ``separator``."""',
    ]
    assert seen(place, "view README.md 9-12") == "README.md has 3 lines."
    assert seen(place, "view slugs") == "1\t__init__.py\n2\tcore.py"
    assert "No such file" in seen(place, "view nothing.py")
    assert seen(place, "view README.md x").startswith("Nothing happens: 'x' are no lines")
    place.step("printf 'caf\\351\\n' > latin")
    assert seen(place, "view latin") == "1\tcaf\ufffd"


def test_edits(place):
    shown = seen(place, edit("slugs/core.py", ["    number = 1"], ["    number = 2", "    # the second"]))
    assert shown.splitlines()[0] == "slugs/core.py is changed:"
    assert "    number = 2" in shown
    assert "+    # the second" in seen(place, "git diff")
    assert seen(place, edit("a/b.py", [], ["x = 1"])) == "a/b.py is made."
    assert seen(place, "cat a/b.py") == "x = 1"
    assert seen(place, edit("a/b.py", ["x = 1"], [])).startswith("a/b.py is changed")
    assert seen(place, "wc -c < a/b.py") == "0"
    place.step("printf 'caf\\351\\nrest' > latin; chmod 755 latin")
    assert "caf\ufffd" in seen(place, edit("latin", ["rest"], ["more"]))
    assert seen(place, "od -c latin | head -n 1; stat -c %a latin").split() == [
        "0000000", "c", "a", "f", "351", "\\n", "m", "o", "r", "e", "755",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (edit("slugs/core.py", ["slug"], ["x"]), "the text to be replaced occurs 8 times in slugs/core.py, not once"),
        (edit("slugs/core.py", ["number  = 1"], ["x"]), "occurs 0 times in slugs/core.py, not once"),
        (edit("nothing.py", ["a"], ["b"]), "nothing.py does not exist"),
        (edit("slugs", ["a"], ["b"]), "slugs is no file"),
        (edit("README.md", [], ["b"]), "README.md exists; write the text that is to be replaced"),
        (edit("/dev/full", ["a"], ["b"]), "/dev/full is no file"),
        ("edit README.md", "write an edit as"),
    ],
)
def test_an_edit_that_cannot_be_made_changes_nothing_and_says_why(place, action, reason):
    turn = place.step(action)
    assert turn.observation.startswith("Nothing happens: ")
    assert reason in turn.observation
    assert turn.executed is False
    assert seen(place, "git status --short") == "[no output]"


def test_an_edit_where_nothing_can_be_written_says_so(place):
    assert "Read-only file system" in seen(place, edit("/usr/x", [], ["b"]))


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("==== 3 passed in 12.34s (0:00:12) ====", "=== 3 passed in 0.00s ==="),
        ("========================= 3 passed in 2.34 seconds =========================", "=== 3 passed in 0.00s ==="),
        ("3 passed in 0.04s", "3 passed in 0.00s"),
        ("Ran 3 tests in 0.001s", "Ran 3 tests in 0.00s"),
        ("0.34s call     tests/test_a.py::test_b", "0.00s call     tests/test_a.py::test_b"),
        ("real\t0m1.234s\nuser\t0m0.100s", "real\t0m0.000s\nuser\t0m0.000s"),
        ("<object at 0x7f0123456789> \x1b[31mred\x1b[0m", "<object at 0x0> red"),
        ("see /tmp/tmpab_0z9xy/f and /tmp/tmp.kept", "see /tmp/tmp00000000/f and /tmp/tmp.kept"),
        ("random seed:        4128937", "random seed:        0"),
        (
            "-rw-r--r-- 1 agent agent   57 Dec  2 09:10 README.md",
            "-rw-r--r-- 1 agent agent   57 Jan  1  2024 README.md",
        ),
        ("drwxr-xr-x  11 root  root 300 Dec 12 19:10 ..", "drwxr-xr-x  11 root  root 300 Jan  1  2024 .."),
        ("Modify: 2026-12-02 09:10:11.676730242 +0000", "Modify: 2024-01-01 00:00:00.000000000 +0000"),
        ("uid=2012345678(agent)", "uid=1000(agent)"),
    ],
)
def test_what_differs_between_equal_runs_is_not_shown(printed, shown):
    assert steady(printed, {"2012345678": "1000"}) == shown


@pytest.mark.parametrize(
    "printed",
    ["mask = 0xffffffff", "released on 2023-04-25 10:00:00", "wait in 5 steps", "- Dec  2 09:10 a note", "in 3 spaces"],
)
def test_what_is_the_same_in_equal_runs_is_shown_as_it_is(printed):
    assert steady(printed, {"2012345678": "1000"}) == printed


def test_a_file_is_viewed_letter_by_letter(place):
    """Else an edit of what was seen would not find it."""
    place.step("printf 'ended in 0.5s at 0x7f0123456789\\n' > notes")
    assert seen(place, "view notes") == "1\tended in 0.5s at 0x7f0123456789"
    shown = seen(place, edit("notes", ["ended"], ["over"]))
    assert shown.splitlines()[1] == "1\tover in 0.5s at 0x7f0123456789"


NOISY = (
    "ls -la . slugs; id; ls -ln; echo $$",
    "echo more >> README.md; ls -l; stat -c '%n %y %u' README.md; python -m pytest -rA",
    "time python -c 'import tempfile; print(tempfile.mkdtemp(), object())'; hostname; pwd",
    "git commit -qam mine; git log; git stash list; mount | grep testbed | grep -o 'planroute-jail[^/]*'",
)


def test_equal_courses_show_equal_texts():
    """Times, names for the moment, the user's number, addresses, commits: whatever an agent's usual commands print."""
    seen_by = []
    for _ in range(2):
        work = Workplace(workshop("slugs"))
        seen_by.append([work.reset(), *(work.step(action).observation for action in NOISY)])
        work.close()
        time.sleep(1)
    assert seen_by[0] == seen_by[1]
    whole = "\n".join(seen_by[0])
    for shown in ("uid=1000(agent)", "0m0.000s", "Date:   Mon Jan 1 00:00:00 2024 +0000", "Jan  1  2024 README.md"):
        assert shown in whole


def test_a_long_observation_is_cut_in_the_middle(place):
    shown = seen(place, "seq 100000")
    assert len(shown) < HEAD + TAIL + 100
    assert shown.startswith("1\n2\n")
    assert shown.endswith("\n99999\n100000")
    assert "characters are left out here" in shown


# Patches and what the tests say of them


def test_submitting_ends_it_and_nobody_is_told_the_verdict():
    work = Workplace(workshop("clocks"))
    work.reset()
    work.step('sed -i \'s/if half == "pm":/if half == "pm" and hour != 12:/\' clocks.py')
    turn = work.step("submit")
    assert (turn.observation, turn.done, turn.success) == ("The patch is submitted.", True, False)
    work.close()
    work.close()
    assert work.verdict() is True
    assert work.measures() == {"resolved": 1.0, "psr": 1.0, "pass_to_pass": 1.0, "patched": 1.0}


def test_what_is_changed_counts_without_submitting_too():
    work = Workplace(workshop("slugs"))
    work.reset()
    work.step("sed -i 's/number = 1/number = 2/' slugs/core.py")
    assert work.measures() == {"resolved": 0.0, "psr": 0.5, "pass_to_pass": 1.0, "patched": 1.0}
    work.reset()
    assert work.measures() == {"resolved": 0.0, "psr": 0.0, "pass_to_pass": 1.0, "patched": 0.0}
    work.close()


def test_a_patch_holds_new_files_modes_and_bytes_and_nothing_that_tests_leave_behind(place):
    place.step("python -m pytest -q; touch x.pyc; mkdir __pycache__; touch __pycache__/a")
    place.step("chmod +x README.md; printf '\\000\\001' > data.bin; ln -s core.py slugs/link.py; git mv README.md R.md")
    text = place.patch().text
    assert "GIT binary patch" in text
    assert "new file mode 120000" in text
    assert "new mode 100755" in text or "new file mode 100755" in text
    assert "__pycache__" not in text
    assert ".pyc" not in text


@pytest.mark.parametrize(
    "ruin",
    [
        "rm -rf .git",
        "git add -A; git commit -qam mine; git branch x; git checkout -q x",
        "git config core.fsmonitor 'touch /tmp/ran'; git config diff.external 'echo fake'; git config core.pager false",
        "printf '[diff]\\n\\texternal = echo fake\\n' > ~/.gitconfig; echo '*.py diff=x' >> .git/info/attributes",
        "echo '* -diff' > /tmp/a; rm -rf .git; printf 'gitdir: /tmp/elsewhere\\n' > .git",
        "mkdir .git/hooks; printf '#!/bin/sh\\ntouch /tmp/ran' > .git/hooks/post-index-change; chmod +x .git/hooks/*",
        "git config filter.x.clean 'touch /tmp/ran'; git config diff.x.textconv 'touch /tmp/ran; echo fake';"
        "echo '*.py filter=x diff=x' >> .git/info/attributes; cp .git/config ~/.gitconfig",
        "mkdir -p ~/.config/git; cp .git/config ~/.config/git; echo '*.py -text binary' > ~/.config/git/attributes;"
        "git config filter.x.clean 'touch /tmp/ran'; export GIT_DIR=/tmp GIT_EXTERNAL_DIFF=/tmp/x; true",
        "mkdir ~/bin; printf '#!/bin/sh\\necho fake\\n' > ~/bin/git; chmod +x ~/bin/git; echo 'PATH=~/bin' > ~/.bashrc",
    ],
)
def test_a_patch_does_not_depend_on_what_was_done_to_git(place, ruin):
    place.step("sed -i 's/number = 1/number = 2/' slugs/core.py")
    before = place.patch()
    place.step(ruin)
    assert place.patch() == before
    assert before.text.startswith("diff --git a/slugs/core.py b/slugs/core.py\n")
    assert seen(place, "ls /tmp/ran").endswith("[exit status 2]")


def test_no_list_of_ignored_files_in_the_home_folder_hides_a_part_of_the_patch(place):
    place.step(
        "mkdir -p ~/.config/git; echo '*' > ~/.config/git/ignore; git config core.excludesFile ~/.config/git/ignore"
    )
    place.step("touch new; mkdir folder; echo x > folder/new")
    text = place.patch().text
    assert "diff --git a/new b/new" in text
    assert "diff --git a/folder/new b/folder/new" in text


def test_attributes_in_the_work_folder_are_a_part_of_the_patch_and_run_nothing():
    """They name a filter; what that would be stands in the settings of a git folder that no agent has touched."""
    work = Workplace(workshop("slugs"))
    work.reset()
    work.step("sed -i 's/number = 1/number = 2/; s/A-Za-z]/A-Za-z0-9]/' slugs/core.py")
    work.step("git config filter.x.clean 'touch /tmp/ran; echo fake'; git config filter.x.smudge 'touch /tmp/ran'")
    work.step("echo '* filter=x' > .gitattributes; git config core.fsmonitor 'touch /tmp/ran'")
    text = work.patch().text
    assert "+* filter=x" in text
    assert "fake" not in text
    assert work.step("ls /tmp/ran").observation.endswith("[exit status 2]")
    work.close()
    assert work.verdict() is True


@pytest.mark.parametrize(
    "ruin",
    [
        "chmod 000 slugs/core.py",
        "mkdir -p d; cd d; chmod 000 .",
        "echo '* working-tree-encoding=UTF-16' > .gitattributes; echo >> slugs/core.py",
    ],
)
def test_files_that_cannot_be_read_make_no_patch_and_no_crash(ruin):
    work = Workplace(workshop("slugs"))
    work.reset()
    work.step(ruin)
    work.close()
    assert work.verdict() is False


def test_a_patch_that_is_too_large_is_none(monkeypatch):
    monkeypatch.setattr("planroute.domains.swebench.workshop.LARGEST_PATCH", 1000)
    work = Workplace(workshop("slugs"))
    work.reset()
    work.step("seq 1000 > many")
    work.close()
    assert work.patch() == Patch("", "the patch is larger than 0 MB")
    assert work.verdict() is False


def test_a_sandbox_that_fails_is_told_once_it_is_over(monkeypatch):
    work = Workplace(workshop("slugs"))
    work.reset()

    def fails(*args, **kwargs):
        raise DomainError("the jail is gone")

    monkeypatch.setattr(work._box, "run", fails)
    work.close()
    with pytest.raises(DomainError, match="the jail is gone"):
        work.verdict()
    assert set(work.measures().values()) == {None}


def test_the_environment_of_an_image_is_entered_before_every_command():
    """A record with an image has no files here; what a container would be asked is seen by a box that notes it."""

    class Noting:
        asked = []  # noqa: RUF012
        drawn = {}  # noqa: RUF012

        def run(self, script, **given):
            self.asked.append(script)
            return Ran(0, b"0123456789012345678901234567890123456789\n", Ended.EXITED)

        def close(self):
            """Nothing is held."""

    class Containers:
        name = "docker"

        def open(self, room, bounds):
            assert room.image == "swebench/sweb.eval.x86_64.planroute_1776_slugs-1:latest"
            assert room.shown == ()
            return Noting()

    shop = workshop("slugs")
    contained = type(shop)(shop.record, Containers(), shop.bounds, test_seconds=60)
    work = Workplace(contained)
    work.reset()
    work.step("ls")
    work.close()
    assert Noting.asked[0].startswith(CONDA)
    assert "rm -rf .git && git init" in Noting.asked[0]
    assert f"{CONDA}ls" in Noting.asked
