"""RQ1 on the analysis page: was the plan kept, and how much of it was carried out."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.modes import Mode
from planroute.reporting.analysis_shown import (
    NOTHING,
    Cell,
    Drawing,
    Part,
    Table,
    amount,
    counts,
    estimated,
    line,
    not_run,
    share,
)
from planroute.reporting.wording import counted

Found = Mapping[str, Any]
SHARES: Final = Words({"name": "success"})
"""Words for what is a share whatever the run's measure."""
OUT: Final = "budget ran out"


def kept(found: Found) -> list[Part]:
    """Whether plans were kept, and how much of them was carried out."""
    preservation = found["rq1"]["preservation"]
    parts: list[Part] = []
    if preservation["overall"]["episodes"] or preservation["search"]["episodes"]:
        drawing = Drawing(
            "preservation_by_length",
            "Order kept, by plan length (Figure 2)",
            "Each point is the share of plans of that length whose declared order was kept, with its 95 % interval; "
            "hollow: fewer than 10 plans. A line joins only what rests on at least 3 plans.",
            "no plan of known length was carried out without being enforced",
        )
        parts += [_preservation(preservation), _by_mode_and_length(preservation), drawing]
    else:
        parts.append(
            not_run("Whether a plan in sight is kept", "it needs the condition PLAN_REACT with declared plans")
        )
    completion = found["rq1"]["completion"]
    if completion:
        parts.append(_completion(completion))
    else:
        parts.append(not_run("How much of a plan is carried out", "no episode was matched against its plan's units"))
    return parts


def _preservation(preservation: Found) -> Table:
    groups = [
        ("all plans with an order", preservation["overall"]),
        *((f"declared {mode}", one) for mode, one in preservation["by_mode"].items()),
        *((f"{label} units long", one) for label, one in preservation["by_length"].items()),
        (f"declared {Mode.SEARCH} (apart)", preservation["search"]),
    ]
    return Table(
        name="preservation",
        title="Order kept (Table 1)",
        caption="In how many plans of PLAN_REACT, where nothing enforces the plan, was the declared order kept? "
        "SEARCH counts as kept if any one of its alternatives was: compare it with no other row.",
        heads=("plans", "order kept", "number of plans", "tasks"),
        rows=[(name, estimated(SHARES, one), amount(one["episodes"]), amount(one["tasks"])) for name, one in groups],
        lines=[{"plans": name, **line("kept", one), **counts(one)} for name, one in groups],
        apart=frozenset({len(groups) - 1}),
    )


def _by_mode_and_length(preservation: Found) -> Table:
    table = preservation["by_mode_and_length"]
    lengths = list(preservation["by_length"])

    def cell(one: Found) -> Cell:
        return (estimated(SHARES, one)[0], counted(one["episodes"], "plan")) if one["episodes"] else NOTHING

    return Table(
        name="preservation_by_mode_and_length",
        title="Order kept, by mode and length",
        caption="The same share for plans of one mode and length; – where there was no such plan.",
        heads=("declared", *(f"{label} units" for label in lengths)),
        optional=frozenset(f"{label} units" for label in lengths),
        rows=[(mode, *(cell(row[label]) for label in lengths)) for mode, row in table.items()],
        lines=[
            {"declared": mode, "length": label, **line("kept", one), **counts(one)}
            for mode, row in table.items()
            for label, one in row.items()
        ],
    )


def _completion(completion: Found) -> Table:
    same = all(one["planned"] == one["needed"] for one in completion.values())
    return Table(
        name="completion",
        title="How much of the plan was carried out (Tables 2, 15, 16)",
        caption="Units are the executable steps of a plan. Carried out (the paper's adherence): of each episode the "
        "share of its needed units that was done, and the mean of these shares over episodes, not done over needed. "
        "All of it: how often none was missing. SEARCH: its best alternative.",
        heads=(
            "condition",
            *(() if same else ("units planned",)),
            "units needed",
            "units done",
            "carried out",
            "all of it",
            "interactions",
            OUT,
        ),
        rows=[
            (
                name,
                *(() if same else (amount(one["planned"]),)),
                amount(one["needed"]),
                amount(one["completed"]),
                estimated(SHARES, one["adherence"]),
                estimated(SHARES, one["all_needed"]),
                amount(one["interactions"]),
                share(one["out_of_budget"]),
            )
            for name, one in completion.items()
        ],
        optional=frozenset({OUT}),
        lines=[
            {
                "condition": name,
                **{key: one[key] for key in ("planned", "needed", "completed", "interactions", "out_of_budget")},
                **line("adherence", one["adherence"]),
                **line("all_needed", one["all_needed"]),
                **counts(one["adherence"]),
                "ordered": one["ordered"],
            }
            for name, one in completion.items()
        ],
    )
