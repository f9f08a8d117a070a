"""Edits as blocks of old and new text: what stands in a block is no command."""

import pytest

from planroute.evaluation.structure import lexicon, verify
from planroute.evaluation.structure.acts import read_acts
from planroute.importers import Action
from planroute.plan import PlanUnit

SHELL = lexicon("shell")


def taken(*texts):
    return [Action(n, text, "", True) for n, text in enumerate(texts)]


def acts(*texts):
    return read_acts(taken(*texts), SHELL)


def edit(path, old, new):
    return "\n".join([f"edit {path}", "<<<<<<< OLD", *old, "=======", *new, ">>>>>>> NEW"])


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        (edit("src/a.py", ["cat = 1", "rm -rf x; python b.py"], ["submit"]), {"edit"}),
        (edit("repro.py", [], ["import a", "print(a.cat)"]), {"create"}),
        ("view src/a.py 1-20", {"read"}),
        ("submit", {"submit"}),
    ],
)
def test_an_action_of_an_agent_of_ours_is_classed(text, verbs):
    assert acts(text)[0].verbs == verbs


def test_an_edit_of_a_file_of_the_agent_s_own_is_no_edit_of_the_source():
    made = edit("repro.py", [], ["print(1)"])
    assert [act.verbs for act in acts(made, edit("repro.py", ["print(1)"], ["print(2)"]))] == [{"create"}, {"own"}]


def test_a_plan_is_matched_to_views_and_edits():
    steps = ["Look at `src/a.py`", "Fix `slug` in src/a.py", "Run the tests"]
    plan = [PlanUnit(str(n), step) for n, step in enumerate(steps)]
    done = ["view src/a.py", edit("src/a.py", ["def slug(): 1"], ["def slug(): 2"]), "python -m pytest -q"]
    verdict = verify(plan, taken(*done), SHELL)
    assert verdict.order_preserved
    verdict = verify(plan, taken(*reversed(done)), SHELL)
    assert not verdict.order_preserved
