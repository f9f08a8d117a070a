"""Costs and failures on the analysis page: what each condition spends, what it buys, whose part failures are."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_plans import SHARES
from planroute.reporting.analysis_shown import (
    Cell,
    Drawing,
    Part,
    Table,
    Terms,
    amount,
    estimated,
    line,
    not_run,
    share,
)

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


def costs(found: Found) -> list[Part]:
    """What is spent with its spread, and what it buys."""
    words, unit = Words(found["measure"]), found["costs"]["unit"]
    if not found["costs"]["conditions"]:
        return [not_run("Costs", "no episode counts")]
    return [
        _spent(found["costs"]["conditions"], words),
        Drawing(
            "tokens",
            "Thinking and answer tokens (Figure 7)",
            "Mean per episode; a bar is one standard deviation over episodes.",
            "no language model answered",
        ),
        Drawing(
            "frontier",
            "What a condition costs and what it buys",
            f"Cost in {words.unit(unit)} per task. Black rims, joined: nothing does as well for less. "
            "Hollow: the best of 2, 3 or 4 attempts, picked in hindsight.",
            "no condition has both a cost and a value",
        ),
        _frontier(found["costs"], words),
    ]


def _spent(table: Found, words: Words) -> Table:
    shown = {key: head for key, head in SPENT.items() if any(one[key]["mean"] for one in table.values())}
    per_success = words.share and "tokens" in shown

    def cell(one: Found) -> Cell:
        if one["sd"] is None:
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
        "Cached calls count; courses: attempts within an episode.",
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
    """Labels of all episodes, whose part they are, and recovery from setbacks."""
    handoff = found["handoff"]
    if handoff["status"] != "done":
        return [not_run("Attributing failures", handoff["why"])]
    table = handoff["conditions"]
    labels = [label for label in LABELS if any(label in one["labels"] for one in table.values())]
    parties = sorted({party for one in table.values() for party in one["parties"]})
    failed = {name: sum(one["parties"].values()) for name, one in table.items()}
    return [
        Table(
            name="handoff",
            title="Labels and parties",
            caption="Each episode gets one label, explained below; parties: whose part the labels are; recovery: "
            "success among episodes that met a setback.",
            heads=(
                "condition",
                "episodes",
                *(label.replace("_", " ").lower() for label in labels),
                *parties,
                "recovery",
            ),
            rows=[
                (
                    name,
                    amount(one["episodes"]),
                    *(str(one["labels"].get(label, 0)) for label in labels),
                    *(
                        (str(count), share(count / failed[name]) if failed[name] else "")
                        for party in parties
                        for count in [one["parties"].get(party, 0)]
                    ),
                    estimated(SHARES, one["recovery"]),
                )
                for name, one in table.items()
            ],
            lines=[
                {
                    "condition": name,
                    "episodes": one["episodes"],
                    **{label: one["labels"].get(label, 0) for label in labels},
                    **{f"party_{party}": one["parties"].get(party, 0) for party in parties},
                    **line("recovery", one["recovery"]),
                    "recovery_episodes": one["recovery"]["episodes"],
                }
                for name, one in table.items()
            ],
        ),
        Terms("The labels", [(label.replace("_", " ").lower(), LABELS[label]) for label in labels]),
    ]
