"""Few-shot declaration: natural declaration with earlier tasks and the mode that solved them as illustrations.

Source: Planning-as-Routing, RQ4 and its few-shot prompt: demonstrations come from forced runs, from tasks in which one
and the same single mode succeeds in both of two runs; those tasks are not scored.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from planroute.ask import ask
from planroute.calls import Sampling
from planroute.declaration import Declaration
from planroute.declarers.natural import Policy, declared_policy, policy_schema
from planroute.declarers.prompts import DEMONSTRATION, FEW_SHOT, MODES, STATE
from planroute.modes import Mode
from planroute.protocols import Context, Domain, State, Task


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A task, in words, and the only mode that solved it in both runs."""

    task_id: str
    task: str
    mode: Mode


def demonstrations(
    results: Iterable[tuple[str, str, Mode, int, bool]], *, per_mode: int = 2
) -> tuple[Demonstration, ...]:
    """Build demonstrations from forced runs: tuples of task identity, task text, mode, seed, success.

    A task qualifies when it was run in every mode under exactly two seeds and one single mode, the same under both,
    succeeded. At most ``per_mode`` tasks a mode are taken, in the order of their identities.
    """
    runs: dict[str, dict[int, set[Mode]]] = {}
    tried: dict[str, set[tuple[Mode, int]]] = {}
    texts: dict[str, str] = {}
    for task_id, text, mode, seed, success in results:
        texts[task_id] = text
        tried.setdefault(task_id, set()).add((mode, seed))
        won = runs.setdefault(task_id, {}).setdefault(seed, set())
        if success:
            won.add(mode)
    found: dict[Mode, list[Demonstration]] = {mode: [] for mode in Mode}
    for task_id in sorted(runs):
        winners = list(runs[task_id].values())
        complete = len(tried[task_id]) == 2 * len(Mode)
        if complete and len(winners) == 2 and winners[0] == winners[1] and len(winners[0]) == 1:
            mode = next(iter(winners[0]))
            if len(found[mode]) < per_mode:
                found[mode].append(Demonstration(task_id, texts[task_id], mode))
    return tuple(one for mode in Mode for one in found[mode])


@dataclass(frozen=True, slots=True)
class FewShot:
    """Natural declaration with ``shots`` in the prompt, as illustrations and not as a quota."""

    shots: Sequence[Demonstration]
    sampling: Sampling = Sampling()
    draw: int = 0

    @property
    def name(self) -> str:
        """``few_shot``."""
        return "few_shot"

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return what the model declares. Raises ``ValueError`` for a task that is itself a demonstration."""
        if task.id in {shot.task_id for shot in self.shots}:
            raise ValueError(f"task {task.id} is a demonstration and must not be scored")
        examples = "\n".join(DEMONSTRATION.format(task=shot.task, mode=shot.mode) for shot in self.shots)
        parsed = await ask(
            context,
            "few-shot declaration",
            FEW_SHOT.format(briefing=domain.briefing, modes=MODES, examples=examples),
            STATE.format(state=json.dumps(state.summary)),
            policy_schema(domain.fields, Policy),
            sampling=replace(self.sampling, seed=context.seed),
            draw=self.draw,
        )
        return declared_policy(domain, parsed)
