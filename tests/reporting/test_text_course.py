"""A trajectory read from its trace: versions of the plan, what was done for each unit, where the two part."""

import json

import pytest

from planroute.errors import InputError
from planroute.evidence import evidence
from planroute.reporting.reading import Cell, Row
from planroute.reporting.text_course import MOST_CHARACTERS
from planroute.reporting.text_view import Packer, view


def units(*texts, made=1):
    return {"units": [{"id": f"p{made}.{n}", "text": text, "children": []} for n, text in enumerate(texts, 1)]}


def planned(*texts, made=1, subgoal=None):
    return {"kind": "planned", "plan": units(*texts, made=made), "subgoal": subgoal}


def started(unit):
    return {"kind": "unit_started", "unit": unit}


def finished(unit, completed=True):
    return {"kind": "unit_finished", "unit": unit, "completed": completed}


def turn(action, unit=None, branch=None, seen="You see nothing.", admissible=True):
    acted = {"kind": "acted", "action": action, "unit": unit, "admissible": admissible, "branch": branch}
    return [acted, {"kind": "observed", "text": seen, "branch": branch}]


def work(unit, *actions, completed=True):
    return [started(unit), *(e for action in actions for e in turn(action, unit)), finished(unit, completed)]


def shown(events, success=False, stop="PLAN_EXHAUSTED", **row):
    row = {"task": "a", "condition": "SEQUENTIAL", "seed": 7, "status": "finished", "stop": stop, **row}
    return view(Cell("cells/a.json", Row.model_validate(row), events, evidence(events)), success)


def states(block):
    return [line[2] for line in block[3]]


def titles(seen):
    return [block[0] for block in seen.plans]


def test_a_revised_plan_is_shown_as_made_first_and_as_revised():
    revised = {"kind": "revised", "plan": units("clean cup", "store cup", made=2)}
    last = {"kind": "revised", "plan": units("store cup", made=3)}
    events = [planned("find cup", "store cup"), *work("p1.1", "go to shelf"), revised]
    seen = shown([*events, *work("p2.1", "clean cup"), last, *work("p3.1", "put cup")], success=True, stop="DONE")
    assert titles(seen) == ["The plan as made first", "Revision 1, after p1.1", "Revision 2, after p2.1"]
    assert [states(block) for block in seen.plans] == [["done", "replaced"], ["done", "replaced"], ["done"]]
    assert [block[1] for block in seen.plans] == ["", "Changed: 1 unit added.", "The rest stayed as it was."]
    assert [step[1] for step in seen.steps if step[0] == "work"] == ["find cup", "clean cup", "store cup"]
    assert seen.ended == "The goal was reached."
    assert seen.said == ["", "The trace shows no divergence."]


def test_what_was_called_finished_is_told_apart_from_what_an_action_shows():
    events = [planned("take a mug", "clean the mug"), *work("p1.1", "take mug 1 from desk 1"), *work("p1.2", "look")]
    seen = shown([{"kind": "dispatched", "declared": "SEQUENTIAL", "executed": "SEQUENTIAL", "why": ""}, *events])
    assert [line[3] for line in seen.plans[0][3]] == [
        "called finished, shown by action 1",
        "called finished, no action shows it",
    ]


def test_units_link_to_what_was_done_for_them():
    seen = shown([planned("find cup", "store cup"), *work("p1.1", "go to shelf", "take cup"), *work("p1.2", "put cup")])
    links = [line[4] for line in seen.plans[0][3]]
    assert [seen.steps[int(link)][1] for link in links] == ["find cup", "store cup"]
    assert [deed[1] for deed in seen.steps[int(links[0])][5]] == ["go to shelf", "take cup"]


def test_subgoals_hold_their_workers_plans():
    stages = [[{"id": "g1", "text": "have cup", "parent": None}], [{"id": "g2", "text": "store it", "parent": None}]]
    events = [{"kind": "decomposed", "stages": stages}, planned("find", "take", subgoal="g1")]
    events += [{"kind": "collected", "plan": units("find", "take"), "subgoals": ["g1"]}]
    seen = shown([*events, *work("p1.1", "look"), *work("p1.2", "take cup")])
    assert titles(seen) == ["Subgoals"]
    assert [(line[0], line[1]) for line in seen.plans[0][3]] == [
        ("0", "have cup"),
        ("1", "find"),
        ("1", "take"),
        ("0", "store it"),
    ]


def test_a_nested_plan_is_shown_with_its_levels():
    child = {"id": "p1.1.1", "text": "left", "children": []}
    nested = {"id": "p1.1", "text": "enter", "children": [child, child | {"id": "p1.1.2"}], "logic": "OR"}
    seen = shown([{"kind": "planned", "plan": {"units": [nested]}, "subgoal": None}])
    assert [line[:2] for line in seen.plans[0][3]] == [["0", "enter (any one of these)"], ["1", "left"], ["1", "left"]]


def proposed():
    return {"kind": "proposed", "candidates": [[f"c{n}", "x", units("find", "take", made=n)] for n in (1, 2, 3)]}


def test_the_chosen_candidate_is_marked_and_only_its_actions_are_shown():
    events = [proposed(), *turn("go north", "p1.1", "c1"), *turn("go south", "p2.1", "c2"), *turn("take", "p2.2", "c2")]
    events += [{"kind": "rolled_out", "candidate": c, "cost": None} for c in ("c1", "c2")]
    seen = shown([*events, {"kind": "chosen", "candidate": "c2", "among": 3}, planned()])
    assert titles(seen) == ["Candidate c1", "Candidate c2, chosen", "Candidate c3"]
    assert [block[1] for block in seen.plans] == ["1 action", "2 actions", "not tried"]
    assert [states(block) for block in seen.plans] == [["worked", "empty"], ["worked", "worked"], ["untried"] * 2]
    assert [deed[1] for step in seen.steps for deed in step[5]] == ["go south", "take"]


def test_without_a_choice_every_rollout_is_shown_with_its_candidate():
    seen = shown([proposed(), *turn("go north", "p1.1", "c1"), *turn("go south", "p2.1", "c2")], stop="BUDGET")
    assert [step[1] for step in seen.steps] == ["Candidate c1: find", "Candidate c2: find"]


def test_units_of_the_chosen_candidate_beyond_the_goal_were_not_needed():
    events = [proposed(), *turn("take", "p2.1", "c2"), {"kind": "chosen", "candidate": "c2", "among": 3}, planned()]
    seen = shown(events, success=True, stop="DONE")
    assert states(seen.plans[1]) == ["worked", "spared"]
    assert not seen.said[0]
    assert states(shown(events).plans[1]) == ["worked", "empty"]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([*work("p1.1", "look", completed=False)], "p1.1 “find” was handed back without being completed."),
        ([*work("p1.1")], "p1.1 “find” was called finished without any action."),
        ([started("p1.1"), *turn("look", "p1.1")], "p1.1 “find” was cut off before it was finished."),
        ([*work("p1.1", "look")], "p1.2 “take” was never started."),
        ([*work("p1.1", "look"), *turn("dance"), *work("p1.2", "take")], "action 2 belongs to no unit of the plan."),
    ],
)
def test_the_first_divergence_is_marked_at_both_sides(events, said):
    seen = shown([planned("find", "take"), *events])
    assert seen.said[0] == "yes"
    assert seen.said[1].endswith(said)
    marked = [line[1] for line in seen.plans[0][3] if line[5]] + [step[1] for step in seen.steps if step[4]]
    assert marked


def test_the_earlier_of_two_divergences_is_the_first():
    seen = shown([planned("find", "take"), *work("p1.1"), *work("p1.2", "take", completed=False)])
    assert "p1.1" in seen.said[1]
    assert [line[5] for line in seen.plans[0][3]] == ["yes", ""]


def test_what_the_goal_made_needless_is_no_divergence():
    seen = shown([planned("find", "take"), *work("p1.1", "take")], success=True, stop="DONE")
    assert states(seen.plans[0]) == ["done", "spared"]
    assert not seen.said[0]


def test_the_executors_word_stands_beside_the_evidence():
    metrics = {"units_needed": 2, "units_completed": 0, "plan_order_faithful": 1}
    seen = shown([planned("find", "take"), *work("p1.1", "look"), *work("p1.2", "look")], metrics=metrics)
    assert seen.said == [
        "",
        "The trace alone shows no divergence, since each unit was called finished. "
        "By the actions, 0 of 2 units were carried out.",
    ]


def test_a_plan_that_no_action_names_is_not_linked():
    events = [planned("find", "take"), *turn("look"), *turn("take cup")]
    seen = shown(events, condition="PLAN_REACT", metrics={"plan_order_faithful": 0.0})
    assert states(seen.plans[0]) == ["unlinked", "unlinked"]
    assert "No action names a unit" in seen.said[1]
    assert "its order was not kept" in seen.said[1]
    assert [line[4] for line in seen.plans[0][3]] == ["", ""]
    assert len(seen.steps[0][5]) == 2


def test_actions_without_effect_are_marked_and_counted():
    events = [planned("find"), started("p1.1"), *turn("fly", "p1.1", admissible=False)]
    events += [*turn("open door", "p1.1", seen="Nothing happens."), *turn("look", "p1.1"), finished("p1.1")]
    seen = shown(events)
    assert [deed[3] for deed in seen.steps[0][5]] == ["not executed", "no effect", ""]
    assert ["actions", "3, 2 without effect"] in seen.facts


def test_an_answer_that_could_not_be_read_stands_in_its_actions_place():
    unread = {"kind": "failed", "error": "ReplyError", "message": "no object", "where": "action"}
    seen = shown([unread, *turn("", admissible=False, seen="Nothing happens."), unread], stop="BUDGET")
    assert seen.steps[0][5][0][1] == "(ReplyError: no object)"
    assert seen.steps[1][:2] == ["trouble", "ReplyError: no object"]


@pytest.mark.parametrize(
    ("success", "stop", "said"),
    [
        (False, "PLAN_EXHAUSTED", "Failure: every unit of the plan had had its turn."),
        (False, "DONE", "Failure: out of steps, or nobody acted any more."),
        (True, "PLAN_EXHAUSTED", "Success: every unit of the plan had had its turn."),
        (False, "BUDGET", "Failure: the budget was spent (no call left)."),
        (None, "INFRASTRUCTURE", "Not known: the infrastructure failed (no call left)."),
        (False, "ODD", "Failure: ODD."),
    ],
)
def test_how_it_ended(success, stop, said):
    error = "no call left" if "(" in said else None
    assert shown([], success=success, stop=stop, error=error).ended == said


def test_a_very_long_text_is_cut_and_that_is_said():
    seen = shown(turn("read", seen="x" * (MOST_CHARACTERS + 1500)))
    assert seen.steps[0][5][0][2].endswith("… (1,500 more characters are in the cell)")


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "acted"},
        {"kind": "planned", "plan": [1]},
        {"kind": "proposed", "candidates": [["c1"]]},
        {"kind": "unit_finished", "unit": 3, "completed": "perhaps"},
    ],
)
def test_an_event_of_another_form_is_an_input_error(event):
    with pytest.raises(InputError, match="cells/a"):
        shown([event])


def test_a_unit_that_no_plan_holds_is_shown_by_its_id():
    seen = shown(work("elsewhere", "look"))
    assert seen.steps[0][1] == "elsewhere"


def test_packed_views_hold_each_text_once_and_unpack_to_the_same():
    leaves = shown([planned("find", "find"), *work("p1.1", "look", "look")]).leaves()
    packer = Packer()
    packed = packer.pack(leaves, 10**6)

    def read(value):
        return [read(item) for item in value] if isinstance(value, list) else packer.strings[value]

    assert read(packed) == json.loads(json.dumps(leaves))
    assert len(set(packer.strings)) == len(packer.strings)


def test_what_does_not_fit_leaves_no_trace():
    packer = Packer()
    packer.pack(["a", ["b"]], 1000)
    before = (list(packer.strings), packer.size)
    assert packer.pack(["b", "<" * 500], packer.size + 100) is None
    assert (packer.strings, packer.size) == before
    assert packer.pack(["<"], 1000) == [2]
