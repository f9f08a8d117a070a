"""The table of a comparison where tasks succeed or fail: success by condition with intervals, cost beside it.

Source: Planning-as-Routing, section 4 (metrics) and appendix L (costs). Seeds are nested in tasks, so the interval of a
condition resamples tasks and keeps each task's seeds together.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from planroute.episode import EpisodeRow
from planroute.evaluation.attribution import attribute, forced_matrix
from planroute.experiments.compare import mean_known, ordered
from planroute.modes import DECLARED
from planroute.statistics import cluster_bootstrap


def summarise_success(rows: Sequence[EpisodeRow], measures: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``conditions``: success rate and interval, means of cost and process metrics, and ``per_episode``.

    ``measures`` names metrics of the domain's own that the table holds as well. Episodes that only declare are not
    in it.

    Failures are attributed across the handoff, with the forced modes among ``rows`` as the matrix. Episodes that an
    infrastructure failure ended are counted apart and left out of every mean; every other failure counts as a failure
    of the task.
    """
    rows = [row for row in rows if not row.condition.startswith(DECLARED)]
    conditions: dict[str, Any] = {}
    matrix = forced_matrix(rows)
    for condition in ordered(row.condition for row in rows):
        mine = [row for row in rows if row.condition == condition]
        counted = [row for row in mine if row.status != "infrastructure"]
        blamed = [attribute(row, matrix) for row in mine]
        successes = {row.task: [float(bool(r.success)) for r in counted if r.task == row.task] for row in counted}
        conditions[condition] = {
            "success_rate": mean_known([float(bool(row.success)) for row in counted]),
            "success_interval": task_interval(list(successes.values()), condition),
            "interactions": mean_known([_spent(row, "interactions") for row in counted]),
            "model_calls": mean_known([_spent(row, "model_calls") for row in counted]),
            "tokens_prompt": mean_known([_spent(row, "prompt_tokens") for row in counted]),
            "tokens_thinking": mean_known([_spent(row, "thinking_tokens") for row in counted]),
            "tokens_answer": mean_known([_spent(row, "answer_tokens") for row in counted]),
            "plan_order_faithful": mean_known([row.metrics.get("plan_order_faithful") for row in counted]),
            "plan_order_by_actions": mean_known([row.metrics.get("order_by_evidence") for row in counted]),
            "adherence": mean_known([row.metrics.get("adherence") for row in counted]),
            "candidates": mean_known([row.metrics.get("candidates") for row in counted]),
            "mode_agreement": mean_known([row.mode_agreement for row in counted]),
            "steps": mean_known([row.metrics.get("steps") for row in counted]),
            **{name: mean_known([row.metrics.get(name) for row in counted]) for name in measures},
            "declared": _counts([row.declared for row in mine if row.declared]),
            "failures": _counts([row.failure for row in mine]),
            "attribution": _counts([one.label for one in blamed]),
            "episodes": len(mine),
            "failed": sum(row.status == "failed" for row in mine),
            "infrastructure": len(mine) - len(counted),
            "per_episode": [
                {
                    "task": row.task,
                    "seed": row.seed,
                    "success": row.success,
                    "status": row.status,
                    "stop": row.stop,
                    "failure": row.failure,
                    "attribution": one.label,
                    "attribution_why": one.why,
                    "attribution_also": list(one.also),
                    "declared": row.declared,
                    "executed": row.executed,
                    "interactions": _spent(row, "interactions"),
                    "model_calls": _spent(row, "model_calls"),
                    "plan_order_faithful": row.metrics.get("plan_order_faithful"),
                    "plan_order_by_actions": row.metrics.get("order_by_evidence"),
                    "adherence": row.metrics.get("adherence"),
                    **{name: row.metrics.get(name) for name in measures},
                }
                for row, one in zip(mine, blamed, strict=True)
            ],
        }
    return {"conditions": conditions}


def task_interval(by_task: Sequence[Sequence[float]], name: str, level: float = 0.95) -> list[float] | None:
    """Percentile bootstrap interval of the mean over all episodes, resampling tasks; ``None`` below two tasks.

    The draws come from the stream of the condition's ``name``, so equal tables give equal intervals.
    """
    values = [value for task in by_task for value in task]
    tasks = [number for number, task in enumerate(by_task) for _ in task]
    found = cluster_bootstrap(values, tasks, name=name, level=level)
    return None if found.low is None or found.high is None else [found.low, found.high]


def _spent(row: EpisodeRow, what: str) -> float:
    return float(sum(spent.get(what, 0) for spent in row.spent.values()))


def _counts(values: Sequence[str]) -> Mapping[str, int]:
    return {str(value): values.count(value) for value in sorted(set(values))}
