"""What was run, what the words mean, and the paper's values, for the analysis page."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from planroute.analysis.executions import kind_of
from planroute.analysis.measure import COST
from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import NOTHING, Note, Part, Table, Terms, amount
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
    "ROUTED": "the mode that is declared for each task is executed",
}


def shown(name: str) -> str:
    """What a condition is, in words; of one that is no mode and no baseline, that its mode was declared."""
    return CONDITIONS.get(name, "a policy: a mode is declared for each task, in its own way")


def names(found: Found) -> Terms:
    """What the conditions of the run are."""
    return Terms("The conditions", [(name, shown(name)) for name in found["conditions"]])


def setup(found: Found, rows: Sequence["EpisodeRow"]) -> list[Part]:
    """Tasks by kind, conditions, models, seeds, and how to read each measure."""
    return [_facts(found, rows), _kinds(found, rows), _episodes(found, rows), _measures(found)]


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
        caption="Broken off from outside: left out everywhere. Ended in an error of its own: counts as no success.",
        heads=("condition", "tasks", "seeds", "episodes", "broken off", "own error", "model"),
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


def _measures(found: Found) -> Terms:
    words = Words(found["measure"])
    if words.share:
        value = ("success", "the share of episodes that the task's own referee counts as solved")
    elif words.name == COST:
        value = (words.name, "the cost of an episode as the domain counts it: less is better")
    else:
        value = (words.name, f"a metric of the domain: {found['measure']['better']} is better")
    seeded = "each task with each seed is a world of its own, and counts as a task here; executing it repeats exactly"
    return Terms(
        "How to read the measures",
        [
            value,
            *([("task", seeded)] if found["measure"]["worlds"] else []),
            ("[a, b]", "a 95 % interval that resamples tasks: with other such tasks the value would likely lie there"),
            ("points", "a difference of two shares in per cent; of costs the amount saved, so that + is always better"),
            ("order kept", "the units of the declared plan were carried out in the order in which they were declared"),
            ("headroom", "how much better the best mode of each task, known only in hindsight, is than one fixed mode"),
            ("left for choosing", "that headroom without what as many attempts with the one fixed mode would gain"),
            ("policy", "a way of declaring a mode for each task"),
            ("p", "how often blind shuffling would do at least as well; after Holm: corrected for several policies"),
            ("sd", "standard deviation: how far episodes, or the means of seeds, typically are from the mean"),
            ("†", "rests on fewer than 10 episodes, or than 10 tasks where tasks are compared"),
        ],
    )


def published(values: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The paper's values beside ours."""
    keys = ("what", "where", "domain", "model", "value", "ours")
    lines = [{key: str(one.get(key) or "") for key in keys} for one in values]
    return [
        Note("The paper's values are of other models: context, not comparison."),
        Table(
            name="published",
            texts=True,
            title="What the paper prints",
            caption="Each line is a value as the paper prints it, where it stands, and what came out here.",
            heads=("what", "where in the paper", "domain", "model", "paper", "here"),
            rows=[[one[key] or NOTHING for key in keys] for one in lines],
            lines=lines,
        ),
    ]
