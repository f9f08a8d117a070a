"""Costs and failures on the analysis page: what each condition spends, what it buys, whose part failures are."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_plans import SHARES
from planroute.reporting.analysis_shown import (
    FEW,
    NOTHING,
    Cell,
    Drawing,
    Part,
    Table,
    Terms,
    amount,
    estimated,
    few,
    line,
    not_run,
    share,
)
from planroute.reporting.wording import capital, listed

Found = Mapping[str, Any]
SPENT: Final = {
    "tokens": "tokens",
    "prompt_tokens": "prompt",
    "thinking_tokens": "thinking",
    "answer_tokens": "answer",
    "model_calls": "model calls",
    "interactions": "interactions",
    "planning_s": "s of planning",
}
WRITTEN: Final = {"thinking_tokens": "thinking", "answer_tokens": "answer"}
LABELS: Final = {
    "NONE": "nothing to attribute",
    "PLANNER_FAILURE": "nothing was declared that could be dispatched",
    "SELECTION_FAILURE": "carried out as declared and failed, where another mode succeeded",
    "DISPATCH_FAILURE": "another mode was executed than was declared, and no record says why",
    "GATE_REPLACEMENT": "another mode was executed than was declared, and the gate's record says why",
    "EXECUTION_FAILURE": "carried out as declared, or nobody's choice, and failed",
    "VERIFIER_DISAGREEMENT": "dispatch record and actions contradict each other about the order, failed or not",
    "UNDECIDED": "failed, and the forced modes that would tell whose part it is were not run",
    "INFRASTRUCTURE": "broken off from outside; counts against nobody",
}
PARTY: Final = {
    "planner": "it declared nothing usable, or a mode that failed where another succeeded",
    "router": "another mode was executed than was declared",
    "executor": "what was declared, or what nobody declared, was carried out and failed",
    "verifier": "the record of what was dispatched and the actions disagree about the order",
    "undecided": "the forced runs that would tell were not made",
}
SOLVED_OTHERWISE: Final = "solved, but dispatch record and actions disagree on the order"


def costs(found: Found) -> list[Part]:
    """What is spent with its spread, and what it buys."""
    words, unit = Words(found["measure"]), found["costs"]["unit"]
    if not found["costs"]["conditions"]:
        return [not_run("Costs", "no episode counts")]
    return [
        _spent(found["costs"]["conditions"], words),
        _tokens(found["costs"]["conditions"]),
        Drawing(
            "frontier",
            "What a condition costs and what it buys",
            f"Cost in {words.unit(unit)} per task. Black rims, joined: nothing does as well for less. "
            "Hollow: the best of 2, 3 or 4 attempts, picked in hindsight.",
            "no condition has both a cost and a value",
        ),
        _frontier(found["costs"], words),
    ]


def _tokens(table: Found) -> Drawing:
    """The figure of tokens, called by what it shows."""
    spent = {key: any((one.get(key) or {}).get("mean") for one in table.values()) for key in WRITTEN}
    drawn = [WRITTEN[key] for key, some in spent.items() if some] or list(WRITTEN.values())
    missing = (
        ""
        if all(spent.values())
        else f" No {listed([WRITTEN[k] for k, some in spent.items() if not some])} tokens were counted."
    )
    return Drawing(
        "tokens",
        f"{capital(listed(drawn))} tokens (Figure 7)",
        f"Mean per episode; a bar is one standard deviation over episodes.{missing}",
        "no language model answered",
    )


def _spent(table: Found, words: Words) -> Table:
    shown = {key: head for key, head in SPENT.items() if any(one[key]["mean"] for one in table.values())}
    per_success = words.share and "tokens" in shown

    def cell(one: Found) -> Cell:
        if one["sd"] is None or not one["mean"]:
            return amount(one["mean"])
        seeds = "" if one["sd_over_seeds"] is None else f", seeds\u00a0{amount(one['sd_over_seeds'])}"
        return amount(one["mean"]), f"sd\u00a0{amount(one['sd'])}{seeds}"

    lines = []
    for name, one in table.items():
        columns: dict[str, Any] = {"condition": name, "episodes": one["episodes"], "value": one["value"]}
        for key in SPENT:
            columns |= {
                key: one[key]["mean"],
                f"{key}_sd": one[key]["sd"],
                f"{key}_sd_over_seeds": one[key]["sd_over_seeds"],
            }
        extra = ("courses", "tokens_per_call", "tokens_per_success", "calls_per_success")
        lines.append(columns | {key: one[key] for key in extra})
    return Table(
        name="costs",
        title="What an episode spends",
        caption="Mean per episode; beneath, the standard deviation (sd) over episodes and that of the seeds' means. "
        "Calls answered from the cache count. Courses: attempts within an episode.",
        heads=(
            "condition",
            "success" if words.share else words.name,
            *shown.values(),
            "courses",
            *(["tokens per success"] if per_success else []),
        ),
        rows=[
            (
                name,
                words.plain(one["value"]),
                *(cell(one[key]) for key in shown),
                amount(one["courses"]),
                *([amount(one["tokens_per_success"])] if per_success else []),
            )
            for name, one in table.items()
        ],
        lines=lines,
    )


def _frontier(found: Found, words: Words) -> Table:
    unit = words.unit(found["unit"])

    def marked(point: Found) -> str:
        if point["hindsight"]:
            return "hindsight only"
        return "nothing does as well for less" if point["efficient"] else "something does as well for less"

    return Table(
        name="frontier",
        title="The same in numbers",
        folded=True,
        caption="From cheap to dear; hindsight takes the best of several attempts, which nobody knows beforehand.",
        heads=("condition", "attempts", f"cost ({unit})", "success" if words.share else words.name, "standing"),
        rows=[
            (point["name"], str(point["attempts"]), amount(point["cost"]), words.plain(point["value"]), marked(point))
            for point in found["frontier"]
        ],
        lines=[dict(point) for point in found["frontier"]],
    )


def failures(found: Found) -> list[Part]:
    """Failed episodes by party, apart what was solved in another order, recovery from setbacks, and all labels."""
    handoff = found["handoff"]
    if handoff["status"] != "done":
        return [not_run("Attributing failures", handoff["why"])]
    labels = [label for label in LABELS if any(label in one["labels"] for one in handoff["conditions"].values())]
    return [
        _outcomes(handoff),
        _labels(handoff["conditions"], labels),
        Terms("The labels", [(_plain(label), LABELS[label]) for label in labels]),
    ]


def _outcomes(handoff: Found) -> Table:
    table = handoff["conditions"]
    parties = sorted({party for one in table.values() for party in one["parties"]})
    total: dict[str, Any] = {
        "episodes": sum(one["episodes"] for one in table.values()),
        "failures": sum(_failed(one) for one in table.values()),
        "disagreements": sum(one.get("disagreements", 0) for one in table.values()),
        "parties": {party: sum(one["parties"].get(party, 0) for one in table.values()) for party in parties},
        **(handoff.get("total") or {}),
    }
    hits = [one["recovery"] for one in table.values() if one["recovery"]["episodes"]]
    met = sum(one["episodes"] for one in hits)
    solved = sum(one["mean"] * one["episodes"] for one in hits)
    total["recovery"] = {"mean": solved / met if met else None, "episodes": met, "sparse": met < FEW}
    rows: list[list[Cell]] = []
    for name, one in [*table.items(), ("all conditions", total)]:
        failed, recovery = _failed(one), one.get("recovery")
        rows.append(
            [
                name,
                amount(one["episodes"]),
                amount(failed),
                *(
                    (str(count), share(count / failed)) if count and failed else str(count)
                    for party in parties
                    for count in [one["parties"].get(party, 0)]
                ),
                amount(one.get("disagreements", 0)),
                _recovered(recovery),
            ]
        )
    known = [(PARTY.get(party, party), party) for party in parties]
    return Table(
        name="handoff",
        title="Failed episodes, and whose part the failure is",
        caption="Failed episodes by the party whose part the failure is, with its share of the failures: "
        + "; ".join(f"{party}: {about}" for about, party in known)
        + (". " if known else "nobody failed. ")
        + "Apart from failures stands what was solved although the record of what was dispatched and the actions "
        "disagree about the order. Recovered: solved among the episodes that met a setback.",
        heads=(
            "condition",
            "episodes",
            "failed",
            *(f"part of the {party}" if party != "undecided" else party for party in parties),
            SOLVED_OTHERWISE,
            "recovered",
        ),
        rows=rows,
        lines=[
            {
                "condition": name,
                "episodes": one["episodes"],
                "failures": _failed(one),
                **{f"party_{party}": one["parties"].get(party, 0) for party in parties},
                "disagreements": one.get("disagreements", 0),
                **line("recovery", one["recovery"]),
                "recovery_episodes": one["recovery"]["episodes"],
            }
            for name, one in table.items()
        ],
        apart=frozenset({len(rows) - 1}),
        optional=frozenset({SOLVED_OTHERWISE, "recovered"}),
    )


def _failed(one: Found) -> int:
    return int(one.get("failures", sum(one["parties"].values())))


def _recovered(recovery: Found | None) -> Cell:
    """How many of the episodes with a setback were solved all the same, over the share and its interval."""
    if not recovery or recovery.get("mean") is None:
        return NOTHING
    solved = f"{round(recovery['mean'] * recovery['episodes'])} of {recovery['episodes']}"
    if recovery["mean"] in (0, 1):
        return few(solved, recovery["sparse"])
    part, interval = estimated(SHARES, {**recovery, "sparse": False})
    return few(solved, recovery["sparse"]), f"{part} {interval}".strip()


def _labels(table: Found, labels: Sequence[str]) -> Table:
    return Table(
        name="labels",
        title="Every episode by its label",
        folded=True,
        caption="Each episode, failed or not, has one label; they are explained below.",
        heads=("condition", "episodes", *map(_plain, labels)),
        rows=[
            (name, amount(one["episodes"]), *(str(one["labels"].get(label, 0)) for label in labels))
            for name, one in table.items()
        ],
        lines=[
            {
                "condition": name,
                "episodes": one["episodes"],
                **{label: one["labels"].get(label, 0) for label in labels},
            }
            for name, one in table.items()
        ],
    )


def _plain(label: str) -> str:
    return label.replace("_", " ").lower()
