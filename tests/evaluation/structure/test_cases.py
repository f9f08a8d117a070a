"""The four representative cases of the paper, in our own words: a folder each, with input, answer and reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from planroute.evaluation.structure import lexicon, verify_dispatched
from planroute.importers import Action
from planroute.plan import Logic, PlanUnit

CASES = Path(__file__).parents[2] / "cases" / "verifier"


def unit(node: dict[str, Any]) -> PlanUnit:
    children = tuple(unit(child) for child in node.get("children", ()))
    return PlanUnit(node["id"], node["text"], children=children, logic=Logic(node.get("logic", "AND")))


@pytest.mark.parametrize("case", sorted(path.parent.name for path in CASES.glob("*/input.json")))
def test_case(case):
    given = json.loads((CASES / case / "input.json").read_text("utf-8"))
    expected = json.loads((CASES / case / "expected.json").read_text("utf-8"))
    actions = [
        Action(index, text, seen, seen != "Nothing happens.") for index, (text, seen) in enumerate(given["actions"])
    ]
    verdict = verify_dispatched(
        given["declared"],
        given["executed"],
        [unit(node) for node in given["plan"]],
        actions,
        lexicon(given["lexicon"]),
    )
    first = verdict.first_divergence
    assert {
        "order_preserved": verdict.order_preserved,
        "in_order": verdict.in_order,
        "settled_by": verdict.settled_by,
        "completed": verdict.completed,
        "needed": verdict.needed,
        "first_divergence": [first.unit, first.action] if first else None,
        "units": {found.unit: [str(found.status), found.action] for found in verdict.units},
    } == expected


def test_every_case_says_why_it_exists():
    folders = [path for path in CASES.iterdir() if path.is_dir()]
    assert len(folders) == 5
    assert all((path / "README.md").read_text().strip() for path in folders)
