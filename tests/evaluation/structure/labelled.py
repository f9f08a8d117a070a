"""The labelled plans, and how verifier and labels compare on them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planroute.evaluation.structure import Status, Verdict, lexicon, verify
from planroute.importers import Action
from planroute.plan import Logic, PlanUnit

CASES = Path(__file__).parents[2] / "cases" / "verifier" / "labelled"
LEXICONS = {"adapt": "household", "knowagent": "household", "mini-swe-agent": "shell"}
AS_LABEL = {
    Status.COMPLETED: "completed",
    Status.OUT_OF_ORDER: "completed",
    Status.MISSING: "not_completed",
    Status.NOT_ACTIONABLE: "not_actionable",
    Status.UNDECIDABLE: "undecidable",
}
ORDER = {True: "true", False: "false", None: "undecidable"}


@dataclass(frozen=True)
class Labels:
    """One rater's labels of one plan: of every leaf, and of the order."""

    units: dict[str, str]
    order: str


def packets() -> list[dict[str, Any]]:
    return json.loads((CASES / "packets.json").read_text("utf-8"))


def labels(rater: str) -> list[Labels]:
    rows = json.loads((CASES / f"labels_{rater}.json").read_text("utf-8"))
    return [
        Labels({unit: row["label"] for unit, row in rows_["units"].items()}, str(rows_["order_preserved"]).lower())
        for rows_ in rows
    ]


def unit_of(node: dict[str, Any]) -> PlanUnit:
    children = tuple(unit_of(child) for child in node.get("children", ()))
    return PlanUnit(node["unit"], node["text"], children=children, logic=Logic(node.get("logic", "AND")))


def verdict_of(packet: dict[str, Any]) -> Verdict:
    since = packet["plan"]["before_action"]
    actions = [
        Action(action["n"], action["text"], action["observation"], action["executed"])
        for action in packet["actions"]
        if action["n"] >= since
    ]
    return verify(unit_of(packet["plan"]).children, actions, lexicon(LEXICONS[packet["source"]]))


def verified() -> list[Labels]:
    found = []
    for packet in packets():
        verdict = verdict_of(packet)
        found.append(Labels({u.unit: AS_LABEL[u.status] for u in verdict.units}, ORDER[verdict.order_preserved]))
    return found


def as_it_was(*, whole: bool = False) -> list[Labels]:
    """What the verifier said before any label was seen, of the packets or of the ``whole`` records they were cut from.

    It is what rater A said but where the record of the comparison tells otherwise.
    """
    record = json.loads((CASES / "as_is.json").read_text("utf-8"))
    said = {(row["plan"], row["unit"]): row["verifier"] for row in record["disagreements"]}
    if whole:
        said = {(plan, "order"): "true" for plan in record["whole_records"]["order_taken_for_preserved"]}
    return [
        Labels(
            {unit: said.get((packet["id"], unit), label) for unit, label in theirs.units.items()},
            said.get((packet["id"], "order"), theirs.order),
        )
        for packet, theirs in zip(packets(), labels("a"), strict=True)
    ]


def unit_pairs(first: list[Labels], second: list[Labels]) -> list[list[tuple[str, str]]]:
    """Pairs of labels of every leaf, a list for each plan."""
    return [[(one.units[unit], two.units[unit]) for unit in one.units] for one, two in zip(first, second, strict=True)]


def order_pairs(first: list[Labels], second: list[Labels]) -> list[list[tuple[str, str]]]:
    return [[(one.order, two.order)] for one, two in zip(first, second, strict=True)]


def disagreements() -> Iterator[dict[str, str]]:
    """Every unit and plan on which verifier and raters are not all of one mind."""
    raters = {"verifier": verified(), "a": labels("a"), "b": labels("b")}
    for place, packet in enumerate(packets()):
        found = {name: rows[place] for name, rows in raters.items()}
        for unit in packet["leaves"]:
            said = {name: rows.units[unit] for name, rows in found.items()}
            if len(set(said.values())) > 1:
                yield {"plan": packet["id"], "unit": unit, **said}
        said = {name: rows.order for name, rows in found.items()}
        if len(set(said.values())) > 1:
            yield {"plan": packet["id"], "unit": "order", **said}
