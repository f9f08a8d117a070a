"""From what a model writes to an action, and what is said where it is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.domains.swebench.actions import (
    LONGEST,
    Command,
    Edit,
    Submit,
    View,
    match_action,
    read_action,
)

EDIT = "edit src/a.py\n<<<<<<< OLD\na = 1\n=======\na = 2\n>>>>>>> NEW"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("ls -la", Command("ls -la")),
        ("cat > x <<'EOF'\nsubmit\nEOF", Command("cat > x <<'EOF'\nsubmit\nEOF")),
        ("submit", Submit()),
        ("submit --now", Command("submit --now")),
        ("view src/a.py", View("src/a.py")),
        ("view 'a b.py' 3-9", View("a b.py", 3, 9)),
        ("view a.py 7", View("a.py", 7, 7)),
        (EDIT, Edit("src/a.py", "a = 1", "a = 2")),
        ("edit n.py\n<<<<<<< OLD\n=======\nnew\n\n>>>>>>> NEW\n\n", Edit("n.py", "", "new\n")),
        ("edit a.py\n<<<<<<< OLD\ngone\n=======\n>>>>>>> NEW", Edit("a.py", "gone", "")),
    ],
)
def test_a_text_is_read(text, action):
    assert read_action(text) == action
    assert match_action(text, ()).action == text.strip()


@pytest.mark.parametrize(
    ("words", "action"),
    [
        ("```bash\nls -la\n```", "ls -la"),
        ("I look around.\n```\nls\n```\nThen I go on.", "ls"),
        ("Action: ls", "ls"),
        ("$ ls", "ls"),
        ("\n\n  ls  \n", "ls"),
        ("ls\r\nls", "ls\nls"),
        ("echo \ud800", "echo ?"),
    ],
)
def test_what_stands_around_an_action_is_dropped(words, action):
    assert match_action(words, ()).action == action


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("", "no action was named"),
        ("  \n ", "no action was named"),
        ("```\nls\n```\n```\nrm x\n```", "several blocks of code"),
        ("echo \0", "a character of value 0"),
        ("x" * (LONGEST + 1), "longer than"),
        ("view", "write 'view FILE'"),
        ("view a b c", "write 'view FILE'"),
        ("view a.py 9-3", "are no lines"),
        ("view a.py 0", "are no lines"),
        ("view 'a", "name cannot be read"),
        ("edit a.py", "write an edit as"),
        ("edit a.py b.py\n<<<<<<< OLD\n=======\n>>>>>>> NEW", "write an edit as"),
        ("edit 'a\n<<<<<<< OLD\nx\n=======\n>>>>>>> NEW", "name cannot be read"),
        ("edit a.py\n<<<<<<< OLD\na\n>>>>>>> NEW", "the edit holds no line '======='"),
        ("edit a.rst\n<<<<<<< OLD\nTitle\n=======\n=======\nOther\n=======\n>>>>>>> NEW", "more than one line"),
    ],
)
def test_what_is_no_action_is_told_why(words, reason):
    found = match_action(words, ())
    assert found.action is None
    assert reason in found.reason


@given(st.text(max_size=400))
def test_any_text_is_an_action_or_has_a_reason(words):
    found = match_action(words, ())
    assert (found.action is None) == bool(found.reason)
    if found.action is not None:
        read_action(found.action)


LINES = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs", "Cc"]), max_size=12).filter(
    lambda line: line != "======="
)


@given(st.lists(LINES, min_size=1, max_size=4), st.lists(LINES, max_size=4))
def test_an_edit_is_read_as_it_was_written(old, new):
    edit = Edit("a b.py", "\n".join(old), "\n".join(new))
    assert read_action(str(edit)) == edit
