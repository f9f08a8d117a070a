"""The conditions of a comparison as solvers: each runs planroute's own episode with the model of the evaluation.

A model with the role ``judge`` (``--model-role judge=…``) judges, where there is one. Temperature, ``top_p`` and the
tokens of an answer are the evaluation's, where it sets them, else planroute's own. The seed is that of the epoch.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from inspect_ai.model import GenerateConfig, ModelOutput, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver

from planroute.calls import Sampling
from planroute.declaration import DEFAULT_BRANCHING
from planroute.declarers import Fixed, Hybrid, Natural, Ranked
from planroute.episode import Conditions, Episode, run_episode
from planroute.errors import InputError, ModelUnavailable
from planroute.gate import Gate
from planroute.inspect_.exchange import KEY
from planroute.inspect_.faults import PrerequisiteError
from planroute.inspect_.model import InspectModel
from planroute.inspect_.settings import domain_of, seed_of, task_of
from planroute.inspect_.show import Show, ShownDeclarer, ShownDomain, ShownModel, info
from planroute.modes import ROUTED, Baseline, Mode
from planroute.protocols import Declarer


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition's name, who declares under given sampling, and what replaces the rest of the flow."""

    name: str
    declarer: Callable[[Sampling], Declarer]
    gate: Gate = Gate()
    baseline: Baseline | None = None


@solver
def forced(mode: str = Mode.PREDEFINED, candidates: int = DEFAULT_BRANCHING) -> Solver:
    """One mode, whatever a model would declare.

    Args:
        mode: PREDEFINED, SEQUENTIAL, HIERARCHICAL or SEARCH.
        candidates: Most candidates of SEARCH.
    """
    chosen = _mode(mode)
    return _solver(Condition(chosen, lambda sampling: Fixed(chosen, candidates)))


@solver
def routed(declarer: str = "natural", mode: str | None = None, deadline: float | None = None) -> Solver:
    """Whoever declares chooses the mode; gate and router follow.

    Args:
        declarer: natural, ranked, hybrid or fixed.
        mode: What ``fixed`` declares.
        deadline: Seconds that one planning event may take, by the gate's own table of costs.
    """
    return _solver(Condition(ROUTED, _declarer(declarer, mode), Gate(deadline)))


@solver
def flat_react() -> Solver:
    """Act and observe, without a plan."""
    return _solver(Condition(Baseline.FLAT_REACT, Natural, baseline=Baseline.FLAT_REACT))


@solver
def plan_react(declarer: str = "natural", mode: str | None = None) -> Solver:
    """Act and observe with the declared plan in sight; nothing enforces it.

    Args:
        declarer: natural, ranked, hybrid or fixed.
        mode: What ``fixed`` declares.
    """
    return _solver(Condition(Baseline.PLAN_REACT, _declarer(declarer, mode), baseline=Baseline.PLAN_REACT))


def _mode(name: str) -> Mode:
    if name.upper() not in set(Mode):
        raise PrerequisiteError(f"mode={name} is no planning mode: choose one of {', '.join(Mode)}")
    return Mode(name.upper())


def _declarer(name: str, mode: str | None) -> Callable[[Sampling], Declarer]:
    named: dict[str, Callable[[Sampling], Declarer]] = {"natural": Natural, "ranked": Ranked, "hybrid": Hybrid}
    if name == "fixed" and mode is not None:
        chosen = _mode(mode)
        return lambda sampling: Fixed(chosen)
    if name not in named or mode is not None:
        raise PrerequisiteError(f"declarer={name}: choose {', '.join(named)}, or fixed with a mode (mode=SEARCH)")
    return named[name]


def _solver(condition: Condition) -> Solver:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        settings = state.metadata.get(KEY)
        if settings is None:
            raise PrerequisiteError("planroute's solvers solve planroute's tasks, such as planroute/alfworld")
        backbone, judge = get_model(), get_model(role="judge") if "judge" in model_roles() else None
        sampling = sampling_of(backbone.config)
        domain, show = domain_of(settings, sampling), Show(state.messages)
        conditions = Conditions(
            ShownDeclarer(condition.declarer(sampling), show),
            condition.gate,
            model=ShownModel(InspectModel(backbone), show),
            baseline=condition.baseline,
            judge_model=ShownModel(InspectModel(judge), show) if judge else None,
        )
        task, seed = task_of(domain, str(state.sample_id)), seed_of(settings, state.epoch)
        try:
            episode = await run_episode(ShownDomain(domain, show), task, seed, conditions, condition=condition.name)
        except BaseException:
            # A limit of time or an interruption ends the sample from outside: what is known so far stays.
            success = show.outcome.success if show.outcome else None
            state.metadata[KEY] = {**settings, "success": success, "trace": json.loads(show.trace.to_json())}
            raise
        await show.catch_up()
        return _ended(state, settings, episode, show)

    return solve


def _ended(state: TaskState, settings: dict[str, Any], episode: Episode, show: Show) -> TaskState:
    """Leave row and trace in the sample's metadata, the row in an event too; end the sample as the episode ended."""
    row = json.loads(json.dumps(asdict(episode.row)))
    state.metadata[KEY] = {**settings, "row": row, "trace": json.loads(episode.trace.to_json())}
    info("row", row)
    reached = {True: ", goal reached", False: ", goal not reached"}.get(row["success"], "")
    state.output = ModelOutput.from_content(str(state.model), f"{row['stop']}{reached}")
    if show.limit is not None:
        raise show.limit
    if row["status"] == "infrastructure":
        raise show.fault or ModelUnavailable(str(row["error"]))
    return state


def sampling_of(config: GenerateConfig) -> Sampling:
    """Return planroute's sampling with what the evaluation sets instead. Raises ``InputError`` for several choices."""
    if (config.num_choices or 1) > 1:
        raise InputError("planroute asks for one answer at a time", hint="leave --num-choices out")
    default = Sampling()
    return replace(
        default,
        temperature=default.temperature if config.temperature is None else config.temperature,
        top_p=default.top_p if config.top_p is None else config.top_p,
        max_tokens=default.max_tokens if config.max_tokens is None else config.max_tokens,
        stop=tuple(config.stop_seqs or ()),
    )
