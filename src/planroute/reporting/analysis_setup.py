"""What was run, what the words mean, and the paper's values, for the analysis page."""

import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from planroute.analysis.executions import kind_of
from planroute.analysis.measure import COST
from planroute.analysis.wording import Words
from planroute.modes import DECLARED, ROUTED
from planroute.reporting.analysis_shown import FOOTNOTE, NOTHING, SPARSE, Note, Part, Table, Terms, amount, said
from planroute.reporting.wording import listed

if TYPE_CHECKING:
    from planroute.episode import EpisodeRow

Found = Mapping[str, Any]
CONDITIONS: Final = {
    "FLAT_REACT": "acts step by step, without any plan",
    "PLAN_REACT": "sees its declared plan while it acts; nothing holds it to the plan",
    "REPEATED_REACT": "acts several times without a plan; a judge picks the attempt that counts",
    "PREDEFINED": "a whole plan is made first and carried out without changes",
    "SEQUENTIAL": "one step is carried out at a time, and the rest of the plan is revised after each",
    "HIERARCHICAL": "the task is divided into subgoals, and each subgoal is planned when its turn comes",
    "SEARCH": "several candidates are tried out, and the one that is judged best counts",
    "ROUTED": "the mode is declared for each task, and that mode is executed",
}
POLICIES: Final = {
    "RANKED": "as a ranking of all modes, of which the first counts",
    "FEW_SHOT": "with examples of earlier tasks in sight; on tasks that were no such examples",
    "THINKING": "by the model with thinking switched on",
    "NO_THINKING": "by the model with thinking switched off",
}
PAPER: Final = (
    "Tables, figures and the questions RQ1 to RQ4 are numbered as in the paper “Do LLM Agents Execute the Plans They "
    "Declare?” (Planning-as-Routing)."
)
PRINTED: Final = {
    "TSR": " TSR@k: success if the first k modes of a declared ranking are tried in turn.",
    "oracle": " Oracle: the best mode of each task, known only in hindsight.",
    "pass@": " pass@k: success if the best of k attempts counts.",
    "zero-shot": " Zero-shot: declared without examples of earlier tasks; few-shot: with them.",
    "task-blind": " Task-blind: the same declared modes shuffled over the tasks.",
    "adherence": " Adherence: the share of the needed units of a plan that was carried out.",
}
"""What words of the paper mean."""
LEFT: Final = "left for choosing"
DASHES: Final = "In a table, – says that something does not apply or that there is nothing to count."


def shown(name: str) -> str:
    """What a condition is, in words; of one that only declares, how."""
    if name in CONDITIONS:
        return CONDITIONS[name]
    how = POLICIES.get(name.removeprefix(DECLARED), "in its own way")
    return f"a policy: the mode is declared for each task, {how}; nothing is executed"


def names(found: Found) -> Terms:
    """What the conditions of the run are."""
    terms = [(name, shown(name)) for name in found["conditions"]]
    policies = any(name == ROUTED or name.startswith(DECLARED) for name in found["conditions"])
    if policies and found["rq4"]["status"] == "done":
        modes = listed(list(found["rq2"]["modes"]))
        about = f"{modes} are executed on every task, whatever anyone declares for it"
        terms.append(("forced", f"{about}; what a policy is worth is estimated from these runs"))
    return Terms("The conditions", terms)


def setup(found: Found, rows: Sequence["EpisodeRow"], used: str) -> list[Part]:
    """Tasks by kind, conditions, models, seeds, and how to read those words that the rest of the page has ``used``."""
    parts: list[Part] = [_facts(found, rows), _kinds(found, rows), _episodes(found, rows)]
    return [*parts, _measures(found, f"{used}\n{said(parts)}")]


def _facts(found: Found, rows: Sequence["EpisodeRow"]) -> Terms:
    seeds = sorted({row.seed for row in rows})
    domains = sorted({row.domain for row in rows})
    declarers = sorted({row.declarer for row in rows if row.declarer})
    return Terms(
        "The run",
        [
            ("domain", listed(domains)),
            ("language models", listed(found["models"]) or "none"),
            ("declared by", listed(declarers) or "nobody"),
            ("seeds", _numbers(seeds)),
            ("episodes", f"{found['episodes']:,}, of which {found['infrastructure']:,} were broken off from outside"),
        ],
    )


def _numbers(seeds: Sequence[int]) -> str:
    first = ", ".join(map(str, seeds[:8]))
    return first if len(seeds) <= 8 else f"{first} and {len(seeds) - 8} more"


def _kinds(found: Found, rows: Sequence["EpisodeRow"]) -> Table:
    kinds: dict[str, list[EpisodeRow]] = {}
    for row in rows:
        kinds.setdefault(kind_of(row.factors), []).append(row)
    lines: list[dict[str, Any]] = []
    for kind, some in sorted(kinds.items()):
        steps = [value for row in some if row.success and (value := row.metrics.get("steps"))]
        lines.append(
            {
                "kind": kind,
                "tasks": len({row.task for row in some}),
                "seeds": len({row.seed for row in some}),
                "episodes": len(some),
                "median_steps": float(median(steps)) if steps else None,
            }
        )
    return Table(
        name="tasks",
        title="Tasks by kind (Tables 7, 9)",
        caption="Length: the median number of steps of the episodes that succeeded, under whatever condition.",
        heads=("kind of task", "tasks", "seeds", "episodes", "length"),
        rows=[
            (one["kind"], *(amount(one[key]) for key in ("tasks", "seeds", "episodes")), amount(one["median_steps"]))
            for one in lines
        ],
        lines=lines,
    )


def _episodes(found: Found, rows: Sequence["EpisodeRow"]) -> Table:
    lines: list[dict[str, Any]] = []
    for name in found["conditions"]:
        some = [row for row in rows if row.condition == name]
        lines.append(
            {
                "condition": name,
                "tasks": len({row.task for row in some}),
                "seeds": len({row.seed for row in some}),
                "episodes": len(some),
                "broken_off": sum(row.status == "infrastructure" for row in some),
                "failed": sum(row.status == "failed" for row in some),
                "models": listed(sorted({row.model for row in some if row.model})),
            }
        )
    return Table(
        name="episodes",
        title="Episodes by condition",
        caption=_caption(lines),
        heads=("condition", "tasks", "seeds", "episodes", "broken off", "own error", "model"),
        optional=frozenset({"broken off", "own error"}),
        rows=[
            (
                one["condition"],
                *(amount(one[key]) for key in ("tasks", "seeds", "episodes", "broken_off", "failed")),
                one["models"] or NOTHING,
            )
            for one in lines
        ],
        lines=lines,
    )


def _caption(lines: Sequence[Mapping[str, Any]]) -> str:
    """What the columns that are shown mean."""
    said = ["What was run; a seed is one pass over the tasks."]
    if any(one["broken_off"] for one in lines):
        said.append("Broken off from outside: left out everywhere.")
    if any(one["failed"] for one in lines):
        said.append("Own error: ended in an error of its own, and counts as no success.")
    return " ".join(said)


def _measures(found: Found, used: str) -> Terms:
    words = Words(found["measure"])
    if words.share:
        value = ("success", "the share of episodes that the task's own referee counts as solved")
    elif words.name == COST:
        value = (words.name, "the cost of an episode as the domain counts it: less is better")
    else:
        value = (words.name, f"a metric of the domain: {found['measure']['better']} is better")
    seeded = "each task with each seed is a world of its own, and counts as a task here; executing it repeats exactly"
    words_used = [
        ("points", "a difference of two shares in per cent; of costs the amount saved, so that + is always better"),
        ("order kept", "the units of the declared plan were carried out in the order in which they were declared"),
        ("headroom", "how much better the best mode of each task, known only in hindsight, is than one fixed mode"),
        (LEFT, "what choosing in hindsight gains beyond as many attempts with the one fixed mode"),
        ("policy", "a way of declaring a mode for each task"),
        ("corrected p", "how often shuffling would do at least as well, corrected for the number of policies (Holm)"),
        ("sd", "standard deviation: how far episodes, or the means of seeds, typically are from the mean"),
    ]
    return Terms(
        "How to read the measures",
        [
            value,
            *([("task", seeded)] if found["measure"]["worlds"] else []),
            ("[a, b]", "a 95 % interval that resamples tasks: with other such tasks the value would likely lie there"),
            *((word, about) for word, about in words_used if re.search(rf"\b{re.escape(word)}\b", used, re.IGNORECASE)),
            *([(SPARSE, FOOTNOTE.removeprefix(f"{SPARSE} ").removesuffix("."))] if SPARSE in used else []),
            (NOTHING, "in a table: does not apply, or there is nothing to count"),
        ],
    )


def published(values: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The paper's values beside ours."""
    keys = ("what", "ours", "value", "model", "domain", "where")
    lines = [{key: _ours(one) if key == "ours" else str(one.get(key) or "") for key in keys} for one in values]
    text = " ".join(one["what"] for one in lines).lower()
    meant = "".join(about for word, about in PRINTED.items() if word.lower() in text)
    return [
        Note("The paper's values are of other models: context, not comparison."),
        Table(
            name="published",
            texts=True,
            title="What the paper prints",
            caption="What came out here, beside what the paper prints of other models, as context for it. Shares are "
            f"fractions of 1.{meant}",
            heads=("what", "here", "paper", "the paper's models", "domain", "where in the paper"),
            rows=[[one[key] or NOTHING for key in keys] for one in lines],
            lines=lines,
        ),
    ]


def _ours(one: Mapping[str, Any]) -> str:
    """Our value with two decimals, and with a sign where the paper prints one; a text as it is."""
    ours = one.get("ours")
    if isinstance(ours, bool) or not isinstance(ours, int | float):
        return str(ours or "")
    signed = any(sign in str(one.get("value") or "") for sign in (" +", " -")) or str(one["value"])[:1] in "+-"
    text = f"{ours:+,.2f}" if signed else f"{ours:,.2f}"
    return text if text.strip("+-0.,") else text.lstrip("+-")
