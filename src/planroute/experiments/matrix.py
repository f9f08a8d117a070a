"""The run that answers research questions: every needed condition on every task, then what its rows make possible.

::

    run/        conditions, forced modes in every pass, policies that only declare: one run folder
    few_shot/   the few-shot policy, whose demonstrations come from the first run: one run folder
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from planroute.calls import Sampling
from planroute.declarers import FewShot, Natural, Ranked, demonstrations
from planroute.episode import EpisodeRow
from planroute.experiments.compare import comparison_cells
from planroute.experiments.questions import Needs, further_seeds
from planroute.ledger import Budget
from planroute.modes import DECLARED, MODES, ROUTED, Baseline, Mode
from planroute.protocols import Declarer, Domain, Model, Task
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from planroute.runs.manner import Manner
from planroute.streams import stream

RUN: Final = "run"
FEW_SHOT: Final = "few_shot"
NAMES: Final[Mapping[str, str]] = {
    name: f"{DECLARED}{name.upper()}" for name in ("ranked", "thinking", "no_thinking", "few_shot")
}
NO_SHOT: Final = "no task among those kept for demonstrations was solved by one and the same mode alone under two seeds"


@dataclass(frozen=True, slots=True)
class Bench:
    """What a matrix runs on: domain, tasks, seeds, models, sampling, budget; and how."""

    domain: Domain
    tasks: Sequence[Task]
    seeds: Sequence[int]
    model: Model
    judge: Model | None
    sampling: Sampling
    config: Mapping[str, Any]
    budget: Budget = Budget()
    manner: Manner = Manner()


@dataclass(frozen=True, slots=True)
class Ran:
    """The rows of the matrix, and why a policy is not among them."""

    rows: list[EpisodeRow]
    not_run: Mapping[str, str]


def matrix_cells(bench: Bench, needs: Needs) -> list[Cell]:
    """Return the cells of the first run: all that ``needs`` names but few-shot, which comes after it."""
    natural = Natural(bench.sampling)
    policies: dict[str, Declarer] = {}
    if "ranked" in needs.policies:
        policies[NAMES["ranked"]] = Ranked(bench.sampling)
    for name, on in (("thinking", True), ("no_thinking", False)):
        if name in needs.policies:
            policies[NAMES[name]] = Natural(replace(bench.sampling, thinking=on))
    return comparison_cells(
        bench.tasks,
        bench.seeds,
        [mode for mode in MODES if mode in needs.conditions],
        model=bench.model,
        judge_model=bench.judge,
        budget=bench.budget,
        routed={ROUTED: natural} if ROUTED in needs.conditions else {},
        baselines={baseline: natural for baseline in Baseline if baseline in needs.conditions},
        attempts=needs.attempts,
        again=further_seeds(bench.seeds, needs.passes),
        policies=policies,
    )


async def run_matrix(
    bench: Bench,
    cells: Sequence[Cell],
    needs: Needs,
    *,
    out: Path | None = None,
    finished: Callable[[], None] | None = None,
) -> Ran:
    """Run ``cells``, and the few-shot policy on the tasks that its demonstrations leave; keep all under ``out``."""
    folder = out / RUN if out is not None else None
    executed = await execute_run(
        bench.domain, cells, config=bench.config, out=folder, manner=bench.manner, finished=finished
    )
    rows, not_run = list(executed.rows), dict[str, str]()
    if "few_shot" not in needs.policies:
        return Ran(rows, not_run)
    shots, scored = few_shot_tasks(bench, rows)
    if not shots:
        return Ran(rows, {NAMES["few_shot"]: NO_SHOT})
    policies = {NAMES["few_shot"]: FewShot(shots, bench.sampling)}
    more = comparison_cells(
        scored, bench.seeds, (), model=bench.model, judge_model=bench.judge, budget=bench.budget, policies=policies
    )
    config = {**bench.config, "demonstrations": [shot.task_id for shot in shots]}
    folder = out / FEW_SHOT if out is not None else None
    declared = await execute_run(bench.domain, more, config=config, out=folder, manner=bench.manner)
    return Ran([*rows, *declared.rows], not_run)


def few_shot_tasks(bench: Bench, rows: Sequence[EpisodeRow]) -> tuple[tuple[Any, ...], list[Task]]:
    """Return demonstrations from a drawn half of the tasks, and the other half, which is scored.

    Demonstrations come from the first two seeds, as the paper's come from two runs.
    """
    order = stream(0, "demonstrations").permutation(len(bench.tasks))
    kept = {bench.tasks[place].id for place in order[: len(bench.tasks) // 2]}
    texts = {task.id: task.text for task in bench.tasks}
    results = [
        (row.task, texts[row.task], Mode(row.condition), row.seed, bool(row.success))
        for row in rows
        if row.condition in set(Mode)
        and row.task in kept
        and row.seed in set(bench.seeds[:2])
        and row.status != "infrastructure"
    ]
    return demonstrations(results), [task for task in bench.tasks if task.id not in kept]
