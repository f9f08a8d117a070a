"""What others implement: ``Model``, ``Domain`` and its ``World``, ``Declarer``, ``Executor``, ``Judge``.

Each contract stands in the docstrings here. ``planroute.contract.check_domain`` holds a domain to its contract.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from planroute.calls import ModelReply, ModelRequest
from planroute.declaration import Declaration
from planroute.ledger import Ledger
from planroute.plan import Candidate, Plan, PlanUnit, Rollout, Stage, Subgoal
from planroute.trace import Trace


@runtime_checkable
class Model(Protocol):
    """A language model behind some engine or endpoint.

    ``endpoint`` names engine, address, model and revision in one string; it is part of a call's identity and must
    differ whenever answers may differ. It never holds a key.
    """

    @property
    def endpoint(self) -> str:
        """Engine, address, model and revision."""

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Answer ``request``.

        Raises ``ModelUnavailable``, ``ModelRefused`` or ``ModelMissing``; never returns a partial answer as a whole
        one (``finish_reason`` is ``"length"`` where the token limit cut it).
        """

    async def aclose(self) -> None:
        """Free what the model holds. May be called twice."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do in a domain. ``factors`` are the scenario's values for tables; ``payload`` is the domain's."""

    id: str
    text: str
    factors: Mapping[str, Any] = field(default_factory=dict)
    payload: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """What a planner may see before or during an episode.

    ``summary`` is the compact serialised state that a language model receives (JSON values only). ``features`` are
    the same as numbers in [0, 1], under the field's common names where they apply: stress, burden, horizon,
    volatility, spread, compliance. ``payload`` is for the domain's own primitives.
    """

    step: int
    summary: Mapping[str, Any]
    features: Mapping[str, float]
    payload: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Observation:
    """What followed from executing one unit."""

    unit: str
    completed: bool
    text: str = ""
    payload: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended, by the domain's own referee.

    ``success`` is ``None`` where the domain measures cost and not success. ``metrics`` hold plain numbers by name;
    a metric that does not apply is ``None``, never 0.
    """

    success: bool | None
    metrics: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Context:
    """What an episode gives its world: seed, trace, ledger, and the language model, metered, if there is one.

    ``judge`` is the model that judges, where it is another one than the backbone; it is charged to the same ledger.
    """

    seed: int
    trace: Trace
    ledger: Ledger
    model: Model | None = None
    judge: Model | None = None


class World(Protocol):
    """One episode's environment, and the planning primitives that executors arrange.

    Contract:

    - ``state`` and ``rollout`` leave no mark: whatever follows is the same as if they had not been called.
    - No primitive knows which executor calls it, and none depends on a mode.
    - Draws that conditions share (responses of others, noise of the forecast) do not depend on how often or in which
      order primitives are called.
    - Unit identities are unique within an episode.
    """

    @property
    def done(self) -> bool:
        """Whether nothing is left to do: goal reached, or the end of the task."""

    def state(self) -> State:
        """The planner-visible state now."""

    def begin(self, declaration: Declaration) -> None:
        """Take over the domain's own fields and the initial plan of the admitted declaration. Called once, first."""

    async def plan(self, state: State, subgoal: Subgoal | None = None) -> Plan:
        """Make a plan from here to the end, or only for ``subgoal``."""

    async def revise(self, rest: Plan, observation: Observation) -> Plan:
        """Make the unexecuted rest anew, given what the last unit led to."""

    async def decompose(self, state: State, depth: int) -> Sequence[Stage]:
        """Cut what is left into stages of subgoals, ``depth`` levels deep; empty where nothing is left."""

    async def collect(self, parts: Sequence[Plan]) -> Plan:
        """Put the plans of one stage's workers together into the units to execute next."""

    async def propose(self, state: State, k: int) -> Sequence[Candidate]:
        """Propose up to ``k`` (at least two) distinct complete alternatives."""

    async def rollout(self, candidate: Candidate) -> Rollout:
        """Try ``candidate`` without a mark on the real episode or on another rollout."""

    async def choose(self, rollouts: Sequence[Rollout]) -> int:
        """Return the index of the rollout to adopt; success labels and hidden scores are out of sight."""

    async def adopt(self, candidate: Candidate, rollout: Rollout) -> Plan:
        """Make the chosen alternative the episode's own; return the units that are still to be executed."""

    async def execute(self, unit: PlanUnit) -> Observation:
        """Carry out one unit, for real. Raises ``BudgetExceeded`` when a limit is reached inside it."""

    def outcome(self) -> Outcome:
        """The referee's account of the episode so far; a pure function of what happened."""

    async def aclose(self) -> None:
        """End what the episode started. May be called twice."""


@runtime_checkable
class Actor(World, Protocol):
    """A world in which one can act without a plan that anything enforces. The baselines need it; no mode does."""

    async def act(self, plan: Plan | None) -> Observation:
        """Take one action towards the goal, with ``plan`` as context or without one."""


@runtime_checkable
class Retrying(World, Protocol):
    """A world that can be attempted from its start without a plan. The control for search needs it; no mode does."""

    async def attempt(self, name: str) -> Rollout:
        """Act towards the goal without a plan until that ends, without a mark on the episode or on another attempt.

        Attempts of different ``name`` draw independently.
        """


@runtime_checkable
class Settling(World, Protocol):
    """A world whose outcome takes long to find out, such as by a test suite. Optional."""

    async def settle(self) -> None:
        """Find out the outcome. Awaited once the executor is through; ``outcome`` gives the same without it."""


@runtime_checkable
class Domain(Protocol):
    """A family of tasks with one kind of world.

    ``fields`` is a pydantic model of the domain's own declaration fields, each with a default: its JSON schema is what
    a declarer fills in. ``briefing`` says in a few sentences what the planner decides here; it goes to the model.
    """

    @property
    def name(self) -> str:
        """The name on the command line and in tables."""

    @property
    def fields(self) -> type[BaseModel]:
        """The domain's own declaration fields."""

    @property
    def briefing(self) -> str:
        """What a planner decides in this domain, in words for a language model."""

    @property
    def lexicon(self) -> str | None:
        """The verifier's vocabulary for the domain's actions; ``None`` where actions are not words."""

    def tasks(self) -> Sequence[Task]:
        """All tasks, in a fixed order, with unique identities."""

    async def open(self, task: Task, context: Context) -> World:
        """Start an episode. Equal task and seed give worlds that behave equally."""

    def facts(self, task: Task) -> Mapping[str, Any]:
        """All that is fixed about ``task`` and can change an episode, as JSON values: for identities and reports."""

    def shared_fields(self, task: Task, state: State) -> Mapping[str, Any]:
        """The fields that all conditions of a forced comparison share (the paper's stress-calibrated values)."""


class Declarer(Protocol):
    """Chooses the mode, before anything is executed."""

    @property
    def name(self) -> str:
        """The name in tables."""

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return a declaration for ``task``.

        Raises ``ReplyError`` where a model's answer cannot be read as one: a typed, charged failure.
        """


class Executor(Protocol):
    """The control flow of one mode over a world's primitives.

    Appends to the trace what it arranged (planned, revised, decomposed, ...), so that its structure can be checked
    from the trace alone. Knows no domain.
    """

    async def __call__(self, world: World, declaration: Declaration, trace: Trace) -> None:
        """Run until the world is done or the plan is exhausted."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rubric score from 0 to 3, the judge's name, and its reason."""

    score: int
    reason: str
    judge: str


class Judge(Protocol):
    """Scores evidence by a rubric. Judge and the model under test differ; scores of two judges are never pooled."""

    @property
    def name(self) -> str:
        """The judge's name, part of every judgement."""

    async def judge(self, task: str, evidence: Mapping[str, Any], context: Context) -> Judgement:
        """Score ``evidence``. It may hold neither success labels nor hidden scores."""
