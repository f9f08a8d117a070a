"""The solver of household tasks: goals in all wordings, memory from the history, plans, commands, scores."""

import pytest

from planroute.domains.alfworld.solver import FINISHED, AlfworldSolver, Goal, Memory, read_goal, remember

START = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 2, a drawer 1, "
    "a sinkbasin 1, a shelf 1, and a fridge 1.\n\nYour task is to: {goal}."
)
PLACES = ["desk 1", "drawer 2", "drawer 1", "sinkbasin 1", "shelf 1", "fridge 1"]
SOLVER = AlfworldSolver()


def state(goal, *turns, admissible=(), **more):
    history = [{"action": action, "observation": seen} for action, seen in turns]
    shown = {"domain": "alfworld", "goal": goal, "start": START.format(goal=goal), "history": history}
    return {**shown, "admissible": list(admissible), **more}


ARRIVED = ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a mug 1, and a pen 2.")
TOOK = ("take mug 1 from desk 1", "You pick up the mug 1 from the desk 1.")


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("put a mug in desk", Goal("put", "mug", "desk")),
        ("put some keychain on sofa", Goal("put", "keychain", "sofa")),
        ("put a clean cloth in drawer", Goal("clean", "cloth", "drawer")),
        ("clean some cloth and put it in drawer", Goal("clean", "cloth", "drawer")),
        ("put a hot potato in diningtable", Goal("heat", "potato", "diningtable")),
        ("heat some potato and put it in diningtable", Goal("heat", "potato", "diningtable")),
        ("put a cool tomato in countertop", Goal("cool", "tomato", "countertop")),
        ("cool some pan and put it in stoveburner", Goal("cool", "pan", "stoveburner")),
        ("find two pencil and put them in safe", Goal("two", "pencil", "safe")),
        ("put two soapbar in garbagecan", Goal("two", "soapbar", "garbagecan")),
        ("examine the book with the desklamp", Goal("use", "book", "desklamp")),
        ("look at bowl under the desklamp", Goal("use", "bowl", "desklamp")),
        ("Your task is to: put a mug in/on desk.", Goal("put", "mug", "desk")),
    ],
)
def test_goals_are_read_in_either_wording(text, goal):
    assert read_goal(text) == goal


@pytest.mark.parametrize("text", ["", "be happy", "put", "put it"])
def test_what_is_no_goal(text):
    assert read_goal(text) is None
    nothing = state(text, admissible=["inventory", "look"])
    assert SOLVER.plan(nothing) == SOLVER.subgoals(nothing) == []
    assert SOLVER.act(nothing, None) == "inventory"
    assert SOLVER.score(text, "> look") == 0


# Memory


def test_memory_knows_places_and_what_was_seen():
    memory = remember(state("put a mug in drawer", ARRIVED, ("go to drawer 1", "You arrive. The drawer 1 is closed.")))
    assert memory.places == PLACES
    assert (memory.here, memory.lying["desk 1"], memory.closed) == ("drawer 1", ["mug 1", "pen 2"], {"drawer 1"})


@pytest.mark.parametrize("placed", ["put mug 1 in/on shelf 1", "move mug 1 to shelf 1"])
def test_memory_follows_the_hand(placed):
    goal = "put a mug in shelf"
    memory = remember(state(goal, ARRIVED, TOOK))
    assert (memory.holding, memory.lying["desk 1"]) == ("mug 1", ["pen 2"])
    memory = remember(state(goal, ARRIVED, TOOK, (placed, "You move the mug 1 to the shelf 1.")))
    assert (memory.holding, memory.placed, memory.lying["shelf 1"]) == ("", {"mug 1": "shelf 1"}, ["mug 1"])


def test_what_had_no_effect_is_not_remembered():
    nothing = "Nothing happens: 'take mug 1' is not admissible now."
    memory = remember(
        state("put a mug in shelf", ARRIVED, ("take mug 1 from desk 1", nothing), ("go to shelf 1", nothing))
    )
    assert (memory.holding, memory.here) == ("", "desk 1")


def test_opening_shows_what_was_closed():
    opened = ("open drawer 1", "You open the drawer 1. The drawer 1 is open. In it, you see a mug 3.")
    memory = remember(state("put a mug in desk", ("go to drawer 1", "The drawer 1 is closed."), opened))
    assert (memory.closed, memory.lying["drawer 1"]) == (set(), ["mug 3"])


# Plans


@pytest.mark.parametrize(
    ("goal", "steps"),
    [
        ("put a mug in shelf", ["find and take a mug", "put the mug in/on the shelf"]),
        (
            "put a clean mug in shelf",
            ["find and take a mug", "clean the mug with the sinkbasin", "put the mug in/on the shelf"],
        ),
        ("examine the pen with the desklamp", ["find and take a pen", "find and use the desklamp"]),
        (
            "find two pen and put them in fridge",
            [
                "find and take a pen",
                "put the pen in/on the fridge",
                "find and take another pen",
                "put the pen in/on the fridge",
            ],
        ),
    ],
)
def test_the_whole_plan(goal, steps):
    assert SOLVER.plan(state(goal)) == steps
    assert [step for part in SOLVER.subgoals(state(goal)) for step in SOLVER.steps_of(state(goal), part)] == steps


def test_a_plan_holds_what_is_left():
    goal = "put a clean mug in shelf"
    cleaned = ("clean mug 1 with sinkbasin 1", "You clean the mug 1 using the sinkbasin 1.")
    assert SOLVER.plan(state(goal, ARRIVED, TOOK))[0].startswith("clean")
    assert SOLVER.plan(state(goal, ARRIVED, TOOK, cleaned)) == ["put the mug in/on the shelf"]


def test_where_nothing_is_left_there_are_no_steps_and_no_subgoals():
    done = state("put a mug in shelf", ARRIVED, TOOK, ("move mug 1 to shelf 1", "You move the mug 1 to the shelf 1."))
    assert SOLVER.plan(done) == SOLVER.subgoals(done) == []


def test_alternatives_look_in_other_places_first_and_are_distinct():
    goal, plans = state("put a mug in shelf"), []
    for _ in range(4):
        plans.append(SOLVER.alternative(goal, plans))
    assert plans[0] == SOLVER.plan(goal)
    assert len({tuple(plan) for plan in plans}) == 4
    assert all("first at the" in plan[0] for plan in plans[1:])


# Commands


@pytest.mark.parametrize(
    ("step", "turns", "admissible", "command"),
    [
        (
            "find and take a mug",
            [ARRIVED],
            ["take mug 1 from desk 1", "take pen 2 from desk 1"],
            "take mug 1 from desk 1",
        ),
        ("find and take a mug", [], ["go to desk 1", "go to drawer 1"], "go to desk 1"),
        ("find and take a mug, first at the drawer", [], ["go to desk 1", "go to drawer 1"], "go to drawer 1"),
        ("find and take a mug", [ARRIVED, TOOK], [], FINISHED),
        ("find and take a mug", [("go to drawer 1", "The drawer 1 is closed.")], ["open drawer 1"], "open drawer 1"),
        ("put the mug in/on the shelf", [ARRIVED, TOOK], ["go to shelf 1"], "go to shelf 1"),
        ("put the mug in/on the shelf", [ARRIVED, TOOK], ["move mug 1 to shelf 1"], "move mug 1 to shelf 1"),
        ("put the mug in/on the shelf", [ARRIVED, TOOK], ["put mug 1 in/on shelf 1"], "put mug 1 in/on shelf 1"),
        ("put the mug in/on the shelf", [], ["go to shelf 1"], FINISHED),
        ("find and take a mug", [], [], FINISHED),
    ],
)
def test_the_next_command(step, turns, admissible, command):
    assert SOLVER.act(state("put a mug in shelf", *turns, admissible=admissible), step) == command


def test_without_a_step_it_goes_on_with_the_first_that_is_left():
    goal = "put a mug in shelf"
    assert SOLVER.act(state(goal, ARRIVED, admissible=["look", "take mug 1 from desk 1"]), None).startswith("take")
    done = [ARRIVED, TOOK, ("move mug 1 to shelf 1", "You move the mug 1 to the shelf 1.")]
    assert SOLVER.act(state(goal, *done, admissible=["inventory", "look"]), None) == "look"


def test_what_was_placed_well_is_not_taken_again():
    turns = [
        ("go to shelf 1", "On the shelf 1, you see a pen 1."),
        ("take pen 1 from shelf 1", "You pick up the pen 1 from the shelf 1."),
        ("move pen 1 to fridge 1", "You move the pen 1 to the fridge 1."),
        ARRIVED,
    ]
    goal = state("find two pen and put them in fridge", *turns, admissible=["take pen 2 from desk 1"])
    assert SOLVER.act(goal, "find and take another pen") == "take pen 2 from desk 1"


# Scores


def transcript(goal, *turns):
    return "\n".join([START.format(goal=goal), *(line for action, seen in turns for line in (f"> {action}", seen))])


@pytest.mark.parametrize(
    ("turns", "score"),
    [
        ([], 0),
        ([ARRIVED], 0),
        ([ARRIVED, TOOK], 2),
        ([ARRIVED, TOOK, ("move mug 1 to desk 1", "You move the mug 1 to the desk 1.")], 0),
        ([ARRIVED, TOOK, ("move mug 1 to shelf 1", "You move the mug 1 to the shelf 1.")], 3),
    ],
)
def test_scores_follow_what_the_transcript_shows(turns, score):
    goal = "put a mug in shelf"
    assert SOLVER.score(goal, transcript(goal, *turns)) == score


def test_memory_starts_empty():
    assert Memory([]) == remember({})
