"""RQ2 on the analysis page: is there one best mode, what could choosing gain, and do judged plans succeed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from planroute.analysis.executions import kind_of
from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import (
    FEW,
    NOTHING,
    Cell,
    Note,
    Part,
    Table,
    amount,
    counts,
    differing,
    estimated,
    few,
    head,
    line,
    not_run,
    turned,
)
from planroute.reporting.wording import capital

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow

Found = Mapping[str, Any]
TOO_FEW: Final = "too few executions"


def ceiling(found: Found, rows: Sequence["EpisodeRow"] = ()) -> list[Part]:
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
                f"that no mode solved: {none}."
            )
        )
    return [*parts, _by_kind(rq2, words, rows), *_quality(rq2["quality"])]


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
                NOTHING if best else differing(words, turned(behind)),
                amount(one["episodes"]),
                amount(one["tasks"]),
            ]
        )
        lines.append({"mode": mode, **line("value", one), **line("against_best", turned(behind)), **counts(one)})
    room = rq2["headroom"]
    rows.append(
        [("best mode of each task", "in hindsight"), words.plain(rq2["oracle"]), NOTHING, NOTHING, amount(room["n"])]
    )
    lines.append({"mode": "oracle", "value": rq2["oracle"], "episodes": 0, "tasks": room["n"], "sparse": False})
    return Table(
        name="modes",
        title="Fixed modes and the best choice in hindsight (Table 3)",
        caption=f"Each mode on the same tasks. Against {rq2['best']}: + is better than it, and clear where the "
        "interval leaves out 0. The last row takes for each task the mode that did best on it.",
        heads=("mode", head(words, measure), f"against {rq2['best']}", "episodes", "tasks"),
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
            TOO_FEW,
        ),
        rows=rows,
        lines=lines,
        optional=frozenset({TOO_FEW}),
    )


def _by_kind(rq2: Found, words: Words, rows: Sequence["EpisodeRow"]) -> Table:
    modes = list(rq2["modes"])
    held = Counter((kind_of(row.factors), row.condition) for row in rows if row.status != "infrastructure")
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
                *(
                    (
                        few(words.plain(one["means"][mode]), 0 < held[kind, mode] < FEW),
                        "best" if mode in one["best"] else "",
                    )
                    for mode in modes
                ),
            )
            for kind, one in rq2["by_kind"].items()
        ],
        lines=[
            {
                "kind": kind,
                "tasks": one["tasks"],
                **one["means"],
                **{f"episodes_{mode}": held[kind, mode] for mode in modes},
                "best": ", ".join(one["best"]),
            }
            for kind, one in rq2["by_kind"].items()
        ],
    )


def _quality(quality: Found) -> list[Part]:
    if quality["status"] != "done":
        return [not_run("Judged quality of plans (Table 4)", quality["why"])]
    found = quality["correlation"]
    means = list(quality["by_condition"].values())
    span = "" if found.get("low") is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    if found["r"] is not None:
        told = (
            f"Over all plans, score and outcome correlate by r = {found['r']:.2f}{span}: near 0, the judge's score "
            "does not tell success."
        )
    elif len(means) > 1 and max(means) == min(means):
        told = f"The judge gave every plan {means[0]:.2f}, so nothing can be correlated."
    else:
        told = "The scores or the outcomes do not vary, so nothing can be correlated."
    return [
        Table(
            name="quality",
            title="Judged quality of plans (Table 4)",
            caption=f"Mean score that the judge gave to the plans. {told}",
            heads=("condition", "mean score"),
            rows=[(name, f"{value:.2f}") for name, value in quality["by_condition"].items()],
            lines=[{"condition": name, "score": value} for name, value in quality["by_condition"].items()],
        )
    ]
