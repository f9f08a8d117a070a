"""RQ1 and RQ2 on the analysis page: was the plan kept, and is there one best mode."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.modes import Mode
from planroute.reporting.analysis_shown import (
    NOTHING,
    Cell,
    Drawing,
    Note,
    Part,
    Table,
    amount,
    counts,
    differing,
    estimated,
    head,
    line,
    not_run,
    share,
)
from planroute.reporting.wording import capital

Found = Mapping[str, Any]
SHARES: Final = Words({"name": "success"})
"""Words for what is a share whatever the run's measure."""


def kept(found: Found) -> list[Part]:
    """Whether plans were kept, and how much of them was carried out."""
    preservation = found["rq1"]["preservation"]
    parts: list[Part] = []
    if preservation["overall"]["episodes"] or preservation["search"]["episodes"]:
        drawing = Drawing(
            "preservation_by_length",
            "Order kept, by plan length (Figure 2)",
            "Each point is the share of plans of that length whose declared order was kept, with its 95 % interval; "
            "hollow: fewer than 10 plans.",
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
        return (estimated(SHARES, one)[0], f"{one['episodes']} plans") if one["episodes"] else NOTHING

    return Table(
        name="preservation_by_mode_and_length",
        title="Order kept, by mode and length",
        caption="The same share for plans of one mode and length; an empty cell had no such plan.",
        heads=("declared", *(f"{label} units" for label in lengths)),
        rows=[(mode, *(cell(row[label]) for label in lengths)) for mode, row in table.items()],
        lines=[
            {"declared": mode, "length": label, **line("kept", one), **counts(one)}
            for mode, row in table.items()
            for label, one in row.items()
        ],
    )


def _completion(completion: Found) -> Table:
    return Table(
        name="completion",
        title="How much of the plan was carried out (Tables 2, 15, 16)",
        caption="Units are the executable steps of a plan; carried out: the share of the needed ones that was done; "
        "all of it: how often none was missing. SEARCH: its best alternative.",
        heads=(
            "condition",
            "units planned",
            "needed",
            "done",
            "carried out",
            "all of it",
            "interactions",
            "budget ran out",
        ),
        rows=[
            (
                name,
                amount(one["planned"]),
                amount(one["needed"]),
                amount(one["completed"]),
                estimated(SHARES, one["adherence"]),
                estimated(SHARES, one["all_needed"]),
                amount(one["interactions"]),
                share(one["out_of_budget"]),
            )
            for name, one in completion.items()
        ],
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


def ceiling(found: Found) -> list[Part]:
    """Fixed modes, what choosing could gain, kinds of tasks, and the judged quality of plans."""
    rq2 = found["rq2"]
    if rq2["status"] != "done":
        return [not_run("Comparing fixed modes", rq2["why"])]
    words = Words(found["measure"])
    parts: list[Part] = [_modes(rq2, words, found["measure"]), _controls(rq2, words)]
    if rq2["note"]:
        parts.append(Note(f"{capital(rq2['note'])}."))
    if rq2["solved"]:
        some, every, none = (rq2["solved"][name] for name in ("by_some", "by_all", "by_none"))
        parts.append(
            Note(
                f"Tasks that every mode solved at least once: {every}; that only some modes solved: {some}; "
                f"that no mode solved: {none}. Only the second sort can gain from choosing."
            )
        )
    return [*parts, _by_kind(rq2, words), *_quality(rq2["quality"])]


def _modes(rq2: Found, words: Words, measure: Found) -> Table:
    rows: list[list[Cell]] = []
    lines = []
    for mode, one in rq2["modes"].items():
        behind = rq2["behind"].get(mode)
        best = mode == rq2["best"]
        rows.append(
            [
                (mode, "best") if best else mode,
                estimated(words, one),
                "–" if best else differing(words, behind),
                amount(one["episodes"]),
                amount(one["tasks"]),
            ]
        )
        lines.append({"mode": mode, **line("value", one), **line("best_ahead", behind), **counts(one)})
    room = rq2["headroom"]
    rows.append(
        [("best mode of each task", "in hindsight"), words.plain(rq2["oracle"]), NOTHING, NOTHING, amount(room["n"])]
    )
    lines.append({"mode": "oracle", "value": rq2["oracle"], "episodes": 0, "tasks": room["n"], "sparse": False})
    return Table(
        name="modes",
        title="Fixed modes and the best choice in hindsight (Table 3)",
        caption=f"Each mode on the same tasks; the lead of {rq2['best']} over it is clear where its interval leaves "
        "out 0. The last row takes for each task the mode that did best on it.",
        heads=("mode", head(words, measure), f"{rq2['best']} ahead by", "episodes", "tasks"),
        rows=rows,
        lines=lines,
        apart=frozenset({len(rows) - 1}),
    )


def _controls(rq2: Found, words: Words) -> Table:
    rows: list[list[Cell]] = []
    lines = []
    for k, one in rq2["controls"].items():
        rows.append(
            [
                f"{k} attempt" if k == "1" else f"{k} attempts",
                words.plain(one["retry"]),
                words.plain(rq2["oracle"]),
                differing(words, one["residual"]),
                differing(words, one["residual_cross_fitted"]),
                amount(one["tasks"]),
                amount(one["too_few"]),
            ]
        )
        lines.append(
            {
                "attempts": int(k),
                "retry": one["retry"],
                "oracle": rq2["oracle"],
                **line("headroom", rq2["headroom"]),
                **line("headroom_cross_fitted", rq2["headroom_cross_fitted"]),
                **line("residual", one["residual"]),
                **line("residual_cross_fitted", one["residual_cross_fitted"]),
                "tasks": one["tasks"],
                "too_few": one["too_few"],
            }
        )
    return Table(
        name="controls",
        title="Is choosing more than trying again? (Tables 3, 18)",
        caption=f"In hindsight, choosing gains {words.between(rq2['headroom'])} over {rq2['best']} alone; so may the "
        f"best of k attempts with {rq2['best']}, and what is left is what modes add. Cross-fitted: the fixed "
        "mode is chosen on other tasks than those it is judged by.",
        heads=(
            "control",
            f"best of k, {rq2['best']} alone",
            "best mode of each task",
            "left for choosing",
            "left, cross-fitted",
            "tasks",
            "too few executions",
        ),
        rows=rows,
        lines=lines,
    )


def _by_kind(rq2: Found, words: Words) -> Table:
    modes = list(rq2["modes"])
    return Table(
        name="by_kind",
        title="Best mode by kind of task",
        caption="Mean of each mode on one kind of task; the best are marked. With few tasks of a kind the best is "
        "often luck.",
        heads=("kind of task", "tasks", *modes),
        rows=[
            (
                kind,
                amount(one["tasks"]),
                *((words.plain(one["means"][mode]), "best" if mode in one["best"] else "") for mode in modes),
            )
            for kind, one in rq2["by_kind"].items()
        ],
        lines=[
            {"kind": kind, "tasks": one["tasks"], **one["means"], "best": ", ".join(one["best"])}
            for kind, one in rq2["by_kind"].items()
        ],
    )


def _quality(quality: Found) -> list[Part]:
    if quality["status"] != "done":
        return [not_run("Judged quality of plans (Table 4)", quality["why"])]
    found = quality["correlation"]
    r = "unknown" if found["r"] is None else f"{found['r']:.2f}"
    span = "" if found.get("low") is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return [
        Table(
            name="quality",
            title="Judged quality of plans (Table 4)",
            caption=f"Mean score that the judge gave to the plans. Over all plans, score and outcome correlate by "
            f"r = {r}{span}: near 0, the judge's score does not tell success.",
            heads=("condition", "mean score"),
            rows=[(name, f"{value:.2f}") for name, value in quality["by_condition"].items()],
            lines=[{"condition": name, "score": value} for name, value in quality["by_condition"].items()],
        )
    ]
