"""The world that text domains share, in a house of three rooms: bounds, plans, rollouts, judging, closing."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.declaration import forced
from planroute.declarers import Fixed, Natural
from planroute.domains.text import TextFields, TextWorld
from planroute.episode import Conditions
from planroute.errors import ModelUnavailable, ReplyError
from planroute.ledger import Budget, Ledger
from planroute.modes import MODES, Baseline, Mode
from planroute.plan import Plan, PlanUnit
from planroute.protocols import Context
from planroute.trace import (
    Acted,
    Chosen,
    Decomposed,
    Failed,
    ModelCalled,
    Observed,
    Planned,
    Proposed,
    Revised,
    RolledOut,
    Stop,
    Trace,
    UnitFinished,
    UnitStarted,
)
from tests.domains.text.rooms import (
    GOAL,
    SECRET,
    WAY,
    Player,
    RoomsDomain,
    act,
    limited,
    matching_last_word,
    played,
    state_of,
)

EVERYWHERE = [*MODES, *Baseline]
FINISHED = act("finished")


def play(condition=Mode.PREDEFINED, answers=None, *, domain=None, seed=7, player=None, declared=None, **conditions):
    """One episode under ``condition``; returns domain, player and episode."""
    domain = domain or RoomsDomain()
    player = player or Player(answers or {})
    if declared is not None:
        player.answers = {**player.answers, "natural declaration": declared}
    declarer = Natural() if declared is not None else Fixed(condition if condition in MODES else Mode.PREDEFINED)
    baseline = condition if condition in set(Baseline) else None
    episode = asyncio.run(played(domain, Conditions(declarer, model=player, baseline=baseline, **conditions), seed))
    return domain, player, episode


def primitives(work, answers=None, **options):
    """Run ``work(world, player)`` on a bare world."""
    domain, player = RoomsDomain(**options), Player(answers or {})

    async def run():
        world = await domain.open(domain.tasks()[0], Context(7, Trace(), Ledger(), player))
        try:
            return await work(world, player)
        finally:
            await world.aclose()

    return asyncio.run(run()), domain


# Every condition plays


@pytest.mark.parametrize("condition", EVERYWHERE)
def test_every_condition_reaches_the_goal_and_pays_for_it(condition):
    domain, player, episode = play(condition)
    row = episode.row
    assert (row.status, row.success) == ("finished", True)
    assert row.executed == condition
    spent = row.spent
    assert sum(one["model_calls"] for one in spent.values()) == len(player.requests)
    courses = len(episode.trace.of(RolledOut)) or 1
    assert spent["environment"]["interactions"] == len(WAY) * courses == len(episode.trace.of(Acted))
    assert spent["action"]["thinking_tokens"] == 3 * spent["action"]["model_calls"]
    assert row.metrics["steps"] == len(WAY)
    assert [env.closed > 0 for env in domain.opened] == [True] * len(domain.opened)


@pytest.mark.parametrize("condition", EVERYWHERE)
def test_equal_episodes_give_equal_rows_and_traces(condition):
    one, other = (play(condition)[2] for _ in range(2))
    assert one.row == other.row
    assert one.trace.to_json() == other.trace.to_json()


@pytest.mark.parametrize("condition", EVERYWHERE)
def test_the_seed_reaches_every_question_of_the_backbone(condition):
    seeds = {}
    for seed in (42, 43):
        _, player, _ = play(condition, seed=seed)
        asked = [request for request in player.requests if not request.purpose.endswith("judge")]
        seeds[seed] = {request.sampling.seed for request in asked}
    assert not seeds[42] & seeds[43]
    if condition is not Baseline.REPEATED_REACT:
        assert seeds[42] == {42}


# Repeated attempts


def test_every_attempt_draws_on_its_own_and_the_judge_chooses_among_them():
    _, player, episode = play(Baseline.REPEATED_REACT)
    drawn = [request.sampling.seed for request in player.requests if request.purpose == "action"]
    assert len(set(drawn)) == 3
    assert [event.candidate for event in episode.trace.of(RolledOut)] == ["a1", "a2", "a3"]
    assert sum(request.purpose == "trajectory judge" for request in player.requests) == 3
    assert episode.row.declared is None


@pytest.mark.parametrize("condition", [Baseline.REPEATED_REACT, Mode.SEARCH])
def test_the_success_of_every_attempt_is_known_in_hindsight_and_hidden_from_the_judge(condition):
    marks = iter((1, 3, 2, 0))
    seen = []

    def score(request, state):
        seen.append(request.messages[-1].content)
        return json.dumps({"score": next(marks), "reason": ""})

    _, _, episode = play(condition, {"trajectory judge": score})
    metrics = episode.row.metrics
    tried = len(episode.trace.of(RolledOut))
    assert [metrics[f"attempt_{n}_score"] for n in range(1, tried + 1)] == [1.0, 3.0, 2.0, 0.0][:tried]
    assert all(metrics[f"attempt_{n}_success"] == 1.0 for n in range(1, tried + 1))
    assert episode.trace.of(Chosen)[-1].candidate[1:] == ("2" if tried > 1 else "1")
    assert not any("success" in text.lower() for text in seen)


def test_one_that_only_declares_executes_nothing_and_has_no_success():
    _, player, episode = play(only_declare=True)
    row = episode.row
    assert (row.stop, row.status, row.success, row.executed) == (Stop.DECLARED, "finished", None, None)
    assert row.declared in set(Mode)
    assert not episode.trace.of(Acted)
    assert player.requests == []


# Bounds


@pytest.mark.parametrize("condition", EVERYWHERE)
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_no_course_is_longer_than_its_steps(condition, steps):
    domain, _, episode = play(condition, {"action": act("wait")}, domain=RoomsDomain(limited(steps=steps)))
    assert episode.row.success is False
    assert episode.row.stop in (Stop.DONE, Stop.PLAN_EXHAUSTED)
    assert max(len(env.done_here) for env in domain.opened) == steps
    assert episode.row.metrics["steps"] == steps


def test_a_unit_has_its_own_bound():
    domain = RoomsDomain(limited(steps=50, steps_per_unit=3))
    _, player, episode = play(Mode.PREDEFINED, {"action": act("wait")}, domain=domain)
    assert [event.completed for event in episode.trace.of(UnitFinished)] == [False, False]
    units = [event.unit for event in episode.trace.of(Acted)]
    assert [units.count(unit) for unit in dict.fromkeys(units)] == [3, 3]
    assert episode.row.stop == Stop.PLAN_EXHAUSTED
    shown = state_of(player.asked("action")[-1])["steps_worked_on"]
    assert shown == [{"step": "fetch the key", "ended": "out of actions"}]


def test_a_plan_is_cut_to_its_units():
    answers = {"plan": {"steps": [f"step {n}" for n in range(12)]}, "action": FINISHED}
    _, _, episode = play(Mode.PREDEFINED, answers, domain=RoomsDomain(limited(units=5)))
    assert len(episode.trace.of(UnitStarted)) == 5


def test_who_plans_on_without_acting_is_stopped():
    _, player, episode = play(Mode.SEQUENTIAL, {"action": FINISHED}, domain=RoomsDomain(limited(idle_units=3)))
    assert len(episode.trace.of(UnitStarted)) == 3
    assert len(player.asked("revision")) == 2
    assert (episode.row.stop, episode.row.success) == (Stop.PLAN_EXHAUSTED, False)


def test_acting_ends_idleness():
    ended = iter([FINISHED, FINISHED, act("wait"), FINISHED] * 20)
    domain = RoomsDomain(limited(idle_units=3, steps=6))
    _, _, episode = play(Mode.SEQUENTIAL, {"action": lambda request, state: next(ended)}, domain=domain)
    assert len(episode.trace.of(Acted)) == 6
    assert episode.row.stop == Stop.DONE


def test_a_committed_plan_is_carried_out_though_many_of_its_steps_need_nothing():
    """Steps that are done already cost no action; the ones after them are not dropped for that."""
    steps = ["a", "b", "c", "d", "e", "go"]
    way = iter(WAY)

    def action(request, state):
        return act(next(way)) if state["step"] == "go" else FINISHED

    _, _, episode = play(Mode.PREDEFINED, {"plan": {"steps": steps}, "action": action})
    assert episode.row.success is True
    assert [event.completed for event in episode.trace.of(UnitFinished)] == [True] * 6


@pytest.mark.parametrize(("rounds", "asked"), [(1, 1), (3, 3)])
def test_rounds_bound_how_often_a_task_is_cut(rounds, asked):
    domain = RoomsDomain(limited(rounds=rounds, steps_per_unit=1, steps=40))
    _, player, episode = play(Mode.HIERARCHICAL, {"action": act("wait")}, domain=domain)
    assert len(player.asked("decomposition")) == asked
    assert episode.trace.of(Decomposed)[-1].stages == ()
    assert episode.row.stop == Stop.PLAN_EXHAUSTED


def test_a_task_is_not_cut_again_where_nobody_acted():
    _, player, episode = play(Mode.HIERARCHICAL, {"action": FINISHED})
    assert len(player.asked("decomposition")) == 1
    assert episode.row.stop == Stop.PLAN_EXHAUSTED


def test_no_subgoals_end_the_episode():
    _, _, episode = play(Mode.HIERARCHICAL, {"decomposition": {"subgoals": []}})
    assert (episode.row.stop, episode.row.success) == (Stop.PLAN_EXHAUSTED, False)


@pytest.mark.parametrize("mode", [Mode.PREDEFINED, Mode.SEQUENTIAL])
def test_an_empty_plan_ends_the_episode(mode):
    _, _, episode = play(mode, {"plan": {"steps": ["", "  "]}})
    assert (episode.row.status, episode.row.stop, episode.row.success) == ("finished", Stop.PLAN_EXHAUSTED, False)


@pytest.mark.parametrize("condition", EVERYWHERE)
@pytest.mark.parametrize("budget", [Budget(model_calls=3), Budget(tokens=50), Budget(interactions=2)])
def test_a_spent_budget_ends_the_episode_as_data(condition, budget):
    domain, player, episode = play(condition, budget=budget)
    row = episode.row
    assert (row.status, row.stop, row.failure, row.success) == ("failed", Stop.BUDGET, "BUDGET", False)
    assert "is spent" in row.error
    total = {name: sum(one[name] for one in row.spent.values()) for name in ("model_calls", "interactions")}
    assert total["model_calls"] == len(player.requests) <= (budget.model_calls or 10_000)
    assert total["interactions"] <= (budget.interactions or 10_000)
    assert all(env.closed for env in domain.opened)


def test_a_budget_is_shared_by_the_rollouts():
    domain, _, episode = play(Mode.SEARCH, {"proposal": proposing("a", "b", "c")}, budget=Budget(interactions=10))
    assert episode.row.stop == Stop.BUDGET
    assert [len(env.done_here) for env in domain.opened] == [0, 4, 4, 2]
    assert episode.row.success is False


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_whatever_a_model_does_every_episode_ends_within_its_bounds(steps, per_unit, units, rounds, random):
    def anything(request, state):
        return random.choice(
            [act("wait"), act("go kitchen"), act("take key"), FINISHED, act("dance"), "", "{", {"steps": ["x", "y"]}]
        )

    limits = limited(steps=steps, steps_per_unit=per_unit, units=units, rounds=rounds)
    for condition in EVERYWHERE:
        domain, _, episode = play(condition, {"action": anything}, domain=RoomsDomain(limits))
        assert episode.row.status == "finished"
        courses = {}
        for event in episode.trace.of(Acted):
            courses[event.branch] = courses.get(event.branch, 0) + 1
        assert max(courses.values(), default=0) <= steps
        assert all(env.closed for env in domain.opened)


# Words and actions


def test_an_unreadable_action_is_charged_recorded_and_seen_as_nothing():
    answers = iter(["not JSON at all", "", act("go kitchen")])
    domain = RoomsDomain(limited(steps=3))
    _, player, episode = play(Baseline.FLAT_REACT, {"action": lambda request, state: next(answers)}, domain=domain)
    acted = episode.trace.of(Acted)
    assert [(event.action, event.admissible) for event in acted] == [("", False), ("", False), ("go kitchen", True)]
    assert [event.error for event in episode.trace.of(Failed)] == ["ReplyError", "ReplyError"]
    assert episode.row.spent["environment"]["interactions"] == 3
    assert episode.row.spent["action"]["model_calls"] == 3
    assert domain.opened[0].done_here == ["go kitchen"]
    shown = state_of(player.asked("action")[1])["history"]
    assert shown == [{"action": "", "observation": "Nothing happens: the answer could not be read."}]


def test_an_inadmissible_action_reaches_no_environment_and_costs_an_interaction():
    answers = iter([act("fly"), act("go kitchen")])
    domain = RoomsDomain(limited(steps=2))
    _, player, episode = play(Baseline.FLAT_REACT, {"action": lambda request, state: next(answers)}, domain=domain)
    first, second = episode.trace.of(Acted)
    assert (first.action, first.admissible, second.admissible) == ("fly", False, True)
    assert domain.opened[0].done_here == ["go kitchen"]
    assert episode.row.spent["environment"]["interactions"] == 2
    assert "not admissible" in state_of(player.asked("action")[1])["history"][0]["observation"]


def test_an_action_that_the_environment_refuses_is_marked():
    domain = RoomsDomain(limited(steps=1), free_text=True)
    _, _, episode = play(Baseline.FLAT_REACT, {"action": act("dance")}, domain=domain)
    assert episode.trace.of(Acted)[0].admissible is False
    assert domain.opened[0].done_here == ["dance"]


def test_the_schema_lists_what_may_be_done_and_finished_only_within_a_step():
    _, player, _ = play(Mode.PREDEFINED)
    request = player.asked("action")[0]
    assert request.schema["properties"]["action"]["enum"] == ["go kitchen", "go vault", "wait", "finished"]
    _, player, _ = play(Baseline.FLAT_REACT)
    assert "finished" not in player.asked("action")[0].schema["properties"]["action"]["enum"]
    _, player, _ = play(Mode.PREDEFINED, domain=RoomsDomain(free_text=True))
    assert "enum" not in player.asked("action")[0].schema["properties"]["action"]


def test_a_domain_brings_its_own_matcher():
    words = iter(["I walk to the Kitchen.", "now the key!", "back to the hall", "and into the vault"])
    domain = RoomsDomain(matcher=matching_last_word)
    _, _, episode = play(Baseline.FLAT_REACT, {"action": lambda request, state: act(next(words))}, domain=domain)
    assert domain.opened[0].done_here == list(WAY)
    assert [event.action for event in episode.trace.of(Acted)] == list(WAY)
    assert episode.row.success is True


@pytest.mark.parametrize("word", ["finished", "Finished.", ' "finished" ', "FINISHED"])
def test_finished_ends_a_step_without_an_action(word):
    _, _, episode = play(Mode.PREDEFINED, {"action": act(word)})
    assert [event.completed for event in episode.trace.of(UnitFinished)] == [True, True]
    assert episode.trace.of(Acted) == []
    assert "environment" not in episode.row.spent
    assert episode.row.success is False


def test_finished_means_nothing_outside_a_step():
    _, _, episode = play(Baseline.FLAT_REACT, {"action": FINISHED}, domain=RoomsDomain(limited(steps=2)))
    assert [(event.action, event.admissible) for event in episode.trace.of(Acted)] == [("finished", False)] * 2


def test_the_word_of_the_model_does_not_decide_success():
    """Who calls everything finished has not succeeded; who reaches the goal has, whatever it says."""
    assert play(Mode.PREDEFINED, {"action": FINISHED})[2].row.success is False
    assert play(Mode.PREDEFINED)[2].trace.of(UnitFinished)[-1].completed is True


def test_long_histories_and_observations_are_shown_in_part():
    domain = RoomsDomain(limited(steps=30))
    _, player, _ = play(Baseline.FLAT_REACT, {"action": act("x" * 400)}, domain=domain)
    shown = state_of(player.asked("action")[-1])["history"]
    assert len(shown) == 16
    assert all(len(turn["observation"]) <= 600 for turn in shown)


# Declared plans


def declaration(mode, *sections, **changes):
    forms = {Mode.SEQUENTIAL: {"replanning": "EVERY_STEP"}, Mode.HIERARCHICAL: {"depth": 2}, Mode.SEARCH: {}}
    plan = [{"title": title, "steps": list(steps)} for title, steps in sections]
    return {"mode": mode, "branching": 3 if mode is Mode.SEARCH else 1, **forms.get(mode, {}), "plan": plan, **changes}


def texts(plan):
    return [unit.text for unit in plan.units]


@pytest.mark.parametrize("mode", [Mode.PREDEFINED, Mode.SEQUENTIAL])
def test_a_declared_plan_is_used_once(mode):
    declared = declaration(mode, ("", ["get key", "enter"]))
    _, player, episode = play(declared=declared)
    assert texts(episode.trace.of(Planned)[0].plan) == ["get key", "enter"]
    assert player.asked("plan") == []
    for revised in episode.trace.of(Revised):
        assert texts(revised.plan) == ["fetch the key", "enter the vault"]


def test_whoever_plans_again_is_asked():
    """In every primitive that takes a declared plan, and in whichever comes second."""

    async def work(world, player):
        state = world.state()
        declared = {"plan": [{"title": "declared", "steps": ["declared"]}]}

        async def seen(ask):
            world.begin(forced(Mode.PREDEFINED, declared))
            return ["declared" in str(await ask()) for _ in range(2)]

        plans = await seen(lambda: world.plan(state))
        candidates = await seen(lambda: world.propose(state, 1))
        world.begin(forced(Mode.HIERARCHICAL, declared))
        stages = ["declared" in str(await world.decompose(state, 2))]
        await world.act(None)
        stages.append("declared" in str(await world.decompose(state, 2)))
        return plans, candidates, stages

    assert primitives(work)[0] == ([True, False],) * 3


def test_plan_react_has_the_declared_plan_in_sight():
    declared = declaration(Mode.SEQUENTIAL, ("", ["get key", "enter"]))
    _, player, episode = play(Baseline.PLAN_REACT, declared=declared)
    assert texts(episode.trace.of(Planned)[0].plan) == ["get key", "enter"]
    assert player.asked("plan") == []
    assert all('["get key", "enter"]' in request.messages[-1].content for request in player.asked("action"))


def test_flat_react_sees_no_plan_and_declares_nothing():
    _, player, episode = play(Baseline.FLAT_REACT, declared=declaration(Mode.SEQUENTIAL, ("", ["get key"])))
    assert {request.purpose for request in player.requests} == {"action"}
    assert not any("get key" in request.messages[-1].content for request in player.requests)
    assert episode.row.declared is None


def test_declared_subgoals_are_handed_out_with_their_steps():
    sections = [("have the key", ["go to the kitchen", "take it"]), ("be in the vault", ["walk in"])]
    _, player, episode = play(declared=declaration(Mode.HIERARCHICAL, *sections))
    stages = episode.trace.of(Decomposed)[0].stages
    assert [[goal.text for goal in stage] for stage in stages] == [["have the key"], ["be in the vault"]]
    assert texts(episode.trace.of(Planned)[0].plan) == ["go to the kitchen", "take it"]
    assert [r.purpose for r in player.requests if r.purpose in ("decomposition", "subgoal plan")] == []


def test_a_declared_subgoal_without_steps_is_planned_by_its_worker():
    sections = [("have the key", []), ("", ["walk in"]), ("", [])]
    _, player, episode = play(declared=declaration(Mode.HIERARCHICAL, *sections))
    stages = episode.trace.of(Decomposed)[0].stages
    assert [[goal.text for goal in stage] for stage in stages] == [["have the key"], ["walk in"]]
    assert len(player.asked("subgoal plan")) == 1
    assert "have the key" in player.asked("subgoal plan")[0].messages[-1].content


def test_declared_alternatives_come_first_and_missing_ones_are_asked_for():
    asked = proposing("third way")
    declared = declaration(Mode.SEARCH, ("one", ["left"]), ("two", ["right"]))
    _, player, episode = play(answers={"proposal": asked}, declared=declared)
    (proposed,) = episode.trace.of(Proposed)
    assert [texts(plan) for _, _, plan in proposed.candidates] == [["left"], ["right"], ["third way"]]
    assert len(player.asked("proposal")) == 1
    assert '[["left"], ["right"]]' in player.asked("proposal")[0].messages[-1].content


def test_more_declared_alternatives_than_candidates_are_dropped():
    sections = [(str(n), [f"way {n}"]) for n in range(4)]
    _, player, episode = play(declared=declaration(Mode.SEARCH, *sections, branching=2))
    assert len(episode.trace.of(Proposed)[0].candidates) == 2
    assert player.asked("proposal") == []


# Alternatives


def proposing(*ways):
    """One way after another; the last one again and again."""
    left = list(ways)
    return lambda request, state: {"steps": [left.pop(0) if len(left) > 1 else left[0]]}


def test_only_distinct_candidates_count_and_their_number_is_recorded():
    ways = proposing("left", "LEFT", "right", "  right ")
    _, player, episode = play(Mode.SEARCH, {"proposal": ways})
    (proposed,) = episode.trace.of(Proposed)
    assert [text for _, text, _ in proposed.candidates] == ["left", "right"]
    assert len(player.asked("proposal")) == 8
    assert episode.trace.of(Chosen)[0].among == 2
    assert [request.draw for request in player.asked("proposal")] == list(range(8))


def test_candidates_are_counted_where_actions_are_words():
    domain = RoomsDomain(lexicon="household")
    _, _, episode = play(Mode.SEARCH, {"proposal": proposing("go kitchen", "go vault")}, domain=domain)
    assert episode.row.metrics["candidates"] == 2.0
    assert play(Mode.PREDEFINED, domain=RoomsDomain(lexicon="household"))[2].row.metrics["candidates"] is None


def test_an_unreadable_proposal_is_charged_and_passed_over():
    answers = iter(["?", {"steps": ["left"]}, "?", {"steps": []}, {"steps": ["right"]}, *["?"] * 3])
    _, player, episode = play(Mode.SEARCH, {"proposal": lambda request, state: next(answers)})
    assert [text for _, text, _ in episode.trace.of(Proposed)[0].candidates] == ["left", "right"]
    assert len(episode.trace.of(Failed)) == 5
    assert episode.row.spent["proposal"]["model_calls"] == len(player.asked("proposal")) == 8
    assert episode.row.success is True


@pytest.mark.parametrize("answer", ["?", {"steps": []}, {"steps": [" "]}])
def test_who_proposes_nothing_has_failed_at_the_task(answer):
    """It is the model's failure and not one of the infrastructure, which would count against nobody."""
    _, _, episode = play(Mode.SEARCH, {"proposal": answer})
    assert (episode.row.status, episode.row.stop, episode.row.success) == ("failed", Stop.REPLY, False)


def test_rollouts_are_played_in_fresh_environments_and_do_not_see_each_other():
    seen = {}

    def action(request, state):
        seen.setdefault(state["step"], []).append(state)
        turns = len(state["history"])
        return act(WAY[turns]) if state["step"] == "right" else act("wait") if turns < 2 else FINISHED

    domain, _, episode = play(Mode.SEARCH, {"proposal": proposing("left", "right", "middle"), "action": action})
    root, *others = domain.opened
    assert len(others) == 3
    assert [env.resets for env in domain.opened] == [1] * 4
    assert (root.done_here, [len(env.done_here) for env in others]) == ([], [2, 4, 2])
    for step, states in seen.items():
        assert [len(state["history"]) for state in states] == list(range(len(states)))
        for state in states:
            others_named = {"left", "right", "middle"} - {step}
            assert not any(name in json.dumps(state) for name in others_named)
    branches = [event.branch for event in episode.trace.of(Acted)]
    assert branches == ["c1"] * 2 + ["c2"] * 4 + ["c3"] * 2
    assert [event.branch for event in episode.trace.of(Observed)] == branches


def test_a_rollout_leaves_no_mark_on_the_episode():
    async def work(world: TextWorld, player):
        before = world.state()
        candidates = await world.propose(before, 2)
        rollouts = [await world.rollout(candidate) for candidate in [*candidates, *candidates]]
        assert [rollout.evidence for rollout in rollouts[:2]] == [rollout.evidence for rollout in rollouts[2:]]
        return before, world.state(), world.outcome()

    (before, after, outcome), _ = primitives(work, {"proposal": proposing("left", "right")})
    assert before == after
    assert (outcome.success, outcome.metrics["steps"]) == (False, 0.0)


def scoring(**scores):
    """Scores by a word of the transcript; what is not named scores 0, ``None`` is unreadable."""

    def answer(request, state):
        for word, score in scores.items():
            if f"> {word}" in state["trajectory"]:
                return {"score": score, "reason": ""} if score is not None else "?"
        return {"score": 0, "reason": ""}

    return answer


def acting_out(request, state):
    """The step is the action, once."""
    return act(state["step"]) if not state["history"] else FINISHED


WAYS = ("wait", "go kitchen", "go vault")


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ({"wait": 1, "go": 3}, "go kitchen"),
        ({"wait": 2, "go kitchen": 2, "go vault": 2}, "wait"),
        ({"wait": None, "go kitchen": 0, "go vault": 1}, "go vault"),
        ({"wait": None, "go kitchen": None, "go vault": None}, "wait"),
        ({"wait": None, "go kitchen": 0, "go vault": 0}, "go kitchen"),
    ],
)
def test_the_judges_highest_score_is_adopted_and_becomes_the_episode(scores, chosen):
    answers = {"proposal": proposing(*WAYS), "action": acting_out, "trajectory judge": scoring(**scores)}
    domain, _, episode = play(Mode.SEARCH, answers)
    (event,) = episode.trace.of(Chosen)
    texts_of = {name: text for name, text, _ in episode.trace.of(Proposed)[0].candidates}
    assert texts_of[event.candidate] == chosen
    assert domain.worlds[0].course.turns[0][0] == chosen
    assert episode.row.metrics["steps"] == 1.0
    assert episode.trace.of(Planned)[-1].plan == Plan(())
    assert episode.trace.of(UnitStarted) == []
    unread = sum(score is None for score in scores.values())
    assert sum(event.where.startswith("judge of") for event in episode.trace.of(Failed)) == unread


def test_success_follows_the_adopted_course_and_not_the_best_one():
    def action(request, state):
        turns = len(state["history"])
        return (act(WAY[turns]) if state["step"] == "right" else act("wait")) if turns < 4 else FINISHED

    for favourite, success in (("wait", False), ("go", True)):
        answers = {
            "proposal": proposing("left", "right"),
            "action": action,
            "trajectory judge": scoring(**{favourite: 3}),
        }
        _, _, episode = play(Mode.SEARCH, answers)
        assert episode.row.success is success


def test_the_judge_sees_goal_and_transcript_and_neither_success_nor_what_is_hidden():
    _, player, episode = play(Mode.SEARCH, {"proposal": proposing("left", "right")})
    asked = player.asked("trajectory judge")
    assert len(asked) == len(episode.trace.of(RolledOut)) == 2
    for request in asked:
        state = state_of(request)
        assert set(state) == {"goal", "domain", "trajectory"}
        assert state["goal"] == GOAL
        assert state["trajectory"].splitlines()[1:3] == ["> go kitchen", "You are in the kitchen."]
        told = " ".join(message.content for message in request.messages).lower()
        for hidden in (SECRET, "success", "won", "true", "reward", "left", "right"):
            assert hidden not in told
        assert request.sampling.temperature == 0.0


def test_planners_see_neither_success_nor_what_is_hidden():
    for condition in EVERYWHERE:
        _, player, _ = play(condition)
        for request in player.requests:
            told = " ".join(message.content for message in request.messages)
            assert SECRET not in told
            assert "success" not in told.lower()


def test_a_judge_of_its_own_is_asked_and_charged_to_the_same_episode():
    judge = Player(name="judge")
    _, player, episode = play(Mode.SEARCH, {"proposal": proposing("left", "right")}, judge_model=judge)
    assert player.asked("trajectory judge") == []
    assert {request.purpose for request in judge.requests} == {"trajectory judge"}
    assert episode.row.spent["trajectory judge"]["model_calls"] == 2
    models = {event.model for event in episode.trace.of(ModelCalled) if event.purpose == "trajectory judge"}
    assert models == {"test/judge"}


# Closing


@pytest.mark.parametrize("condition", EVERYWHERE)
@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ({"action": ModelUnavailable("the line is dead")}, None),
        ({"action": ZeroDivisionError("a bug")}, ZeroDivisionError),
        ({"plan": ReplyError("?"), "proposal": ModelUnavailable("?"), "decomposition": ReplyError("?")}, None),
    ],
    ids=["endpoint", "bug", "planning"],
)
def test_every_environment_is_closed_whatever_happens(condition, answers, error):
    domain = RoomsDomain()
    if error:
        with pytest.raises(error):
            play(condition, answers, domain=domain)
    else:
        play(condition, answers, domain=domain)
    assert domain.opened
    assert all(env.closed for env in domain.opened)


@pytest.mark.parametrize(("fails", "number"), [("reset", 0), ("reset", 1), ("step", 1), ("step", 2)])
def test_an_environment_that_fails_is_infrastructure_and_all_are_closed(fails, number):
    domain = RoomsDomain(fails=lambda n: fails if n == number else "")
    _, _, episode = play(Mode.SEARCH, {"proposal": proposing("left", "right")}, domain=domain)
    assert (episode.row.status, episode.row.success) == ("infrastructure", None)
    assert len(domain.opened) == number + 1
    assert all(env.closed for env in domain.opened)


def test_one_that_cannot_be_closed_does_not_keep_the_others_open():
    domain = RoomsDomain(fails=lambda n: "close" if n == 0 else "")

    async def run():
        world = await domain.open(domain.tasks()[0], Context(7, Trace(), Ledger(), Player()))
        domain.opened.append(domain.opened[0])
        world._environments.append(domain.make())
        with pytest.raises(Exception, match="fell down at close"):
            await world.aclose()

    asyncio.run(run())
    assert all(env.closed for env in domain.opened)


# Primitives


def test_units_are_numbered_apart_across_plans():
    async def work(world, player):
        state = world.state()
        plans = [await world.plan(state), await world.plan(state), await world.revise(Plan(()), None)]
        return [unit.id for plan in plans for unit in plan.units]

    ids, _ = primitives(work)
    assert len(ids) == len(set(ids)) == 6


def test_what_is_left_is_shown_when_a_plan_is_made_anew():
    async def work(world, player):
        await world.revise(Plan((PlanUnit("a", "open the gate"),)), None)
        return player.asked("revision")[0].messages[-1].content

    content, _ = primitives(work)
    assert '["open the gate"]' in content


def test_workers_plans_are_collected_in_order():
    async def work(world, player):
        parts = [Plan((PlanUnit("a", "one"), PlanUnit("b", "two"))), Plan((PlanUnit("c", "three"),))]
        return texts(await world.collect(parts))

    assert primitives(work)[0] == ["one", "two", "three"]


def test_state_holds_what_a_player_sees_and_features_in_range():
    async def work(world, player):
        states = [world.state()]
        for _ in range(3):
            await world.act(None)
            states.append(world.state())
        return states

    states, _ = primitives(work, limits=limited(steps=4))
    assert [state.step for state in states] == [0, 1, 2, 3]
    assert [state.features["horizon"] for state in states] == [1.0, 0.75, 0.5, 0.25]
    assert set(states[0].summary) == {"domain", "goal", "start", "history", "admissible"}
    assert all(0 <= value <= 1 for state in states for value in state.features.values())


def test_the_declared_plan_is_bounded():
    schema = TextFields.model_json_schema()
    assert schema["properties"]["plan"]["maxItems"] == 4
    assert schema["$defs"]["Section"]["properties"]["steps"]["maxItems"] == 12
