"""Units of text tasks, software tasks and web tasks: what completes them, and what does not."""

import pytest

from planroute.errors import InputError
from planroute.evaluation.structure import Status, divergence, lexicon, lexicon_for, verify, verify_dispatched
from planroute.importers import Action
from planroute.plan import Logic, PlanUnit


def plan(*texts: str) -> list[PlanUnit]:
    return [PlanUnit(str(number), text) for number, text in enumerate(texts, 1)]


def any_of(*texts: str) -> PlanUnit:
    return PlanUnit("or", "any", children=tuple(plan(*texts)), logic=Logic.OR)


def acts(*texts: str | tuple[str, str]) -> list[Action]:
    """Actions, each alone or with what was observed; "Nothing happens." means that it was not executed."""
    pairs = [text if isinstance(text, tuple) else (text, "") for text in texts]
    return [Action(n, text, seen, seen != "Nothing happens.") for n, (text, seen) in enumerate(pairs)]


def home(units, actions):
    return verify(units, actions, lexicon("household"))


def shell(units, actions):
    return verify(units, actions, lexicon("shell"))


def statuses(verdict) -> list[tuple[str, int | None]]:
    return [(str(unit.status), unit.action) for unit in verdict.units]


TAKEN, PUT = "take mug 1 from shelf 2", "put mug 1 in/on desk 1"
NOTHING = "Nothing happens."


# The twelve difficulties that docs/verifier.md lists, in its order.


def test_01_two_acts_in_a_clause_are_both_needed():
    unit = plan("Find and take a mug, then clean it with the sink and put it on the desk.")
    done = acts(TAKEN, "clean mug 1 with sinkbasin 1", PUT)
    assert statuses(home(unit, done)) == [("completed", 2)]
    assert statuses(home(unit, done[:2])) == [("missing", None)]


@pytest.mark.parametrize(
    ("unit", "order"),
    [
        ("put mug in desk or drawer", True),
        ("put mug in desk", True),
        ("put mug 1 on desk 1", True),
        ("Put(mug 1, in/on: desk 1)", True),
        ("place the mugs on the desk", True),
        ("put mug 2 in desk", False),
        ("put mug in desk 3", False),
        ("put cup in desk", False),
        ("put mug in drawer", False),
    ],
)
def test_02_numbers_count_where_the_unit_names_them(unit, order):
    assert home(plan(unit), acts(PUT)).order_preserved is order


SEARCH = plan("I can check one by one, starting with drawer (1).", "take a mug")


@pytest.mark.parametrize(
    ("looks", "first"),
    [
        (["go to drawer 1", "go to drawer 3", "go to shelf 2"], ("completed", 2)),
        (["look", "go to drawer 1", "go to drawer 2"], ("completed", 2)),
        ([("go to drawer 1", NOTHING), "go to shelf 2"], ("completed", 1)),
        (["go to shelf 2", "go to drawer 1"], ("missing", None)),
        ([("go to drawer 1", NOTHING)], ("missing", None)),
        ([], ("missing", None)),
    ],
)
def test_03_a_range_begins_where_it_says(looks, first):
    assert statuses(home(SEARCH, acts(*looks, TAKEN)))[0] == first


def test_03_finding_is_seeing():
    first = plan("First I need to find a mug.")
    seen = acts(("go to desk 1", "On the desk 1, you see a pen 2."), ("go to shelf 2", "On it, you see a mug 1."))
    assert statuses(home(first, seen)) == [("completed", 1)]
    assert statuses(home(first, seen[:1])) == [("missing", None)]
    assert statuses(home(plan("find two mugs"), seen)) == [("missing", None)]


def test_04_one_alternative_is_enough():
    tree = [any_of("take mug from desk", "take mug from shelf", "take mug from safe"), *plan("put mug in desk")[0:1]]
    verdict = home(tree, acts(TAKEN, PUT))
    assert verdict.order_preserved is True
    assert (verdict.planned, verdict.needed, verdict.completed) == (4, 2, 2)
    assert [unit.needed for unit in verdict.units] == [False, True, False, True]
    none = home(tree, acts("take mug 1 from bed 1", PUT))
    assert none.order_preserved is False
    assert none.needed == 2


def test_04_an_alternative_may_have_parts():
    parts = PlanUnit("b", "by hand", children=tuple(plan("take sponge", "clean mug")))
    tree = [PlanUnit("or", "any", children=(PlanUnit("a", "heat mug"), parts), logic=Logic.OR)]
    done = acts("take sponge 1 from desk 1", "clean mug 1 with sinkbasin 1")
    assert home(tree, done).order_preserved is True
    assert home(tree, done[::-1]).order_preserved is False


def test_05_what_was_not_logged_was_not_done():
    verdict = home([any_of("take mug from desk", "take mug from shelf")], [])
    assert verdict.order_preserved is False
    assert verdict.first_divergence.action is None


def test_07_every_action_completes_one_unit():
    twice = plan("take soapbar", "put soapbar in bin", "take another soapbar", "put it in the bin")
    one = ["take soapbar 1 from desk 1", "put soapbar 1 in/on garbagecan 1"]
    two = ["take soapbar 2 from desk 1", "put soapbar 2 in/on garbagecan 1"]
    assert home(twice, acts(*one, *two)).order_preserved is True
    assert [status for status, _ in statuses(home(twice, acts(*one)))] == ["completed"] * 2 + ["missing"] * 2
    again = home(twice, acts(*one, *one))
    assert [status for status, _ in statuses(again)] == ["completed"] * 2 + ["missing"] * 2


def test_07_the_first_choice_of_an_instance_may_be_taken_back():
    units = plan("take soapbar", "put it in bin", "take another soapbar")
    done = acts(
        "take soapbar 2 from desk 1",
        "take soapbar 1 from desk 1",
        "put soapbar 1 in/on garbagecan 1",
        "take soapbar 2 from desk 1",
    )
    assert statuses(home(units, done)) == [("completed", 1), ("completed", 2), ("completed", 3)]


def test_07_two_of_a_kind_need_two_acts():
    both = plan("find two pens and put them in the desk")
    one, two = "put pen 1 in/on desk 1", "put pen 2 in/on desk 1"
    assert home(both, acts(one, two)).order_preserved is True
    assert home(both, acts(one, one)).order_preserved is False


@pytest.mark.parametrize(
    ("unit", "action"), [("put cleaned mug in desk", PUT), ("put hot mug in desk", PUT), ("take a cool mug", TAKEN)]
)
def test_08_a_result_as_adjective_asks_for_nothing_more(unit, action):
    assert home(plan(unit), acts(action)).order_preserved is True


def test_09_acting_at_a_place_implies_being_there():
    units = plan("go to the sink", "clean the mug")
    clean = "clean mug 1 with sinkbasin 1"
    verdict = home(units, acts(clean))
    assert statuses(verdict) == [("completed", 0), ("completed", 0)]
    assert verdict.units[0].reason == "implied by this action"
    assert home(units, acts(clean, "go to sinkbasin 1")).order_preserved is False
    assert home(units, acts(clean, "go to desk 1", "go to sinkbasin 1")).order_preserved is True


def test_10_what_was_refused_was_not_done():
    verdict = home(plan("take mug", "put mug in desk"), acts(TAKEN, (PUT, NOTHING)))
    assert verdict.not_executed == (1,)
    assert verdict.units[1].status is Status.MISSING
    assert verdict.units[1].reason == "tried without effect"


def test_11_loops_are_reported_and_harmless():
    walk = ["go to desk 1", "go to shelf 2"] * 3
    verdict = home(plan("take mug", "put mug in desk"), acts("look", "look", *walk, TAKEN, PUT))
    assert verdict.order_preserved is True
    assert [(loop.start, loop.period, loop.times) for loop in verdict.loops] == [(0, 1, 2), (2, 2, 3)]


def test_12_success_plays_no_part_in_the_order():
    verdict = home(plan("clean the mug", "put mug in desk"), acts(PUT, "clean mug 1 with sinkbasin 1"))
    assert statuses(verdict) == [("completed", 1), ("out_of_order", 0)]
    assert (verdict.first_divergence.unit, verdict.first_divergence.action) == ("2", 0)
    assert (verdict.completed, verdict.order_preserved, verdict.in_order) == (2, False, False)


# What a verdict says.


def test_a_missing_unit_names_the_action_that_went_on_without_it():
    verdict = home(plan("take mug", "clean mug", "put mug in desk"), acts(TAKEN, "look", PUT))
    assert (verdict.first_divergence.unit, verdict.first_divergence.action) == ("2", 2)
    assert verdict.in_order is True
    assert verdict.adherence == pytest.approx(2 / 3)


def test_actions_keep_the_numbers_they_came_with():
    later = [Action(7, TAKEN), Action(9, PUT)]
    assert statuses(home(plan("take mug", "put mug in desk"), later)) == [("completed", 7), ("completed", 9)]


@pytest.mark.parametrize(
    "text",
    [
        "A mug is more likely to appear in drawers (1-3).",
        "I cannot hold more than one object at the same time",
        "Do not open the safe",
        "Note that the fridge may be closed.",
        "Understand where the mug may be.",
        "The mug should be clean at the end.",
        "...",
        "",
    ],
)
def test_text_that_asks_for_nothing_is_dropped(text):
    verdict = home(plan("take mug", text, "put mug in desk"), acts(TAKEN, PUT))
    assert verdict.units[1].status is Status.NOT_ACTIONABLE
    assert (verdict.order_preserved, verdict.planned) == (True, 2)


def test_a_plan_that_asks_for_nothing_is_undecided():
    verdict = home(plan("A mug is likely in the desk."), acts(TAKEN))
    assert (verdict.order_preserved, verdict.needed, verdict.adherence) == (None, 0, None)
    assert verdict.reason == "no unit of the plan asks for an action"


@pytest.mark.parametrize(
    "text", ["bake the potato", "take mug, then do the same with the pen", "If the desk is locked, open the safe"]
)
def test_what_the_lexicon_cannot_tell_is_undecided_and_not_guessed(text):
    verdict = home(plan("take mug", text), acts(TAKEN))
    assert verdict.units[1].status is Status.UNDECIDABLE
    assert verdict.order_preserved is None
    assert verdict.first_divergence is None
    assert home(plan("take cup", text), acts(TAKEN)).order_preserved is False


def test_finding_without_any_observation_is_undecided():
    assert home(plan("find a mug"), acts("go to desk 1")).units[0].status is Status.UNDECIDABLE


def test_an_alternative_in_doubt_gives_way_to_one_that_was_completed():
    tree = [any_of("bake the mug", "A mug is likely there.", "take mug")]
    assert home(tree, acts(TAKEN)).order_preserved is True


@pytest.mark.parametrize(
    ("units", "actions"),
    [
        (["open the drawer, and put the mug in it"], ["open drawer 1", "put mug 1 in/on drawer 1"]),
        (["take the mug", "open the fridge", "put it in"], [TAKEN, "open fridge 1", "put mug 1 in/on fridge 1"]),
        (["take the knife and the mug"], ["take knife 1 from desk 1", TAKEN]),
        (["go to the fridge and open it"], ["go to fridge 2", "open fridge 2"]),
        (["examine the book with the lamp"], ["use desklamp 1"]),
        (["turn on the lamp"], ["toggle floorlamp 1"]),
        (["Then, I will pick up the salt shaker"], ["take saltshaker 2 from desk 1"]),
        (["Step 1: walk over to desk 1", "2. grab a pen"], ["go to desk 1", "take pen 1 from desk 1"]),
        (["put soap bar 1 in the trash can"], ["move soapbar 1 to garbagecan 1"]),
        (["take a small red mug from one of the shelves"], [TAKEN]),
        (["slice the tomato with the knife"], ["slice tomato 1 with knife 2"]),
        (["pick up the mug and carry it to the desk", "put it down"], [TAKEN, "go to desk 1", PUT]),
        (["bring the mug to the desk", "put it there"], [TAKEN, PUT]),
        (["use the sink to clean the mug"], ["clean mug 1 with sinkbasin 1"]),
        (["search the cabinets, drawers and shelves for a mug", "take it"], ["go to shelf 2", TAKEN]),
        (["examine the shelves for a mug", "take the mug"], ["go to shelf 2", TAKEN]),
        (["take the mug from the desk or the shelf"], [TAKEN]),
        (["open the safe to look for a mug"], ["open safe 1"]),
        (["visit each shelf until you find a mug", "take the mug"], ["go to shelf 2", TAKEN]),
        (["take the mug", "Confirm that the mug is in hand", "Done."], [TAKEN]),
    ],
)
def test_ways_of_saying_it(units, actions):
    verdict = home(plan(*units), acts(*actions))
    assert verdict.order_preserved is True, verdict.units


# Software tasks.

READ, MAKE = "sed -n '1,80p' src/query.py", "cat <<'EOF' > repro.py\nimport src.query\nEOF"
RUN, EDIT = "python3 repro.py", "sed -i 's/a/b/' src/query.py"


@pytest.mark.parametrize(
    ("unit", "actions", "status"),
    [
        ("Locate the bug in `src/query.py`", ["ls", READ], ("completed", 1)),
        ("Read the relevant files", ["ls -la", READ], ("completed", 1)),
        ("Locate `src/query.py`", [("ls src", "query.py"), ("ls src", "src/query.py")], ("completed", 1)),
        ("Create a reproduction script", [READ, MAKE], ("completed", 1)),
        ("Create a reproduction script", ["cat <<'EOF' > other.py\nx = 1\nEOF", MAKE], ("completed", 1)),
        ("Fix the issue", [MAKE, "sed -i 's/a/b/' repro.py"], ("missing", None)),
        ("Fix the issue", [READ, EDIT], ("completed", 1)),
        ("Fix the issue", [READ, "cat > src/query.py <<'EOF'\nfixed = True\nEOF"], ("completed", 1)),
        (
            "Fix the issue",
            [READ, "cat <<'EOF' > change.py\nopen('src/query.py', 'w').write('')\nEOF", "python change.py"],
            ("completed", 2),
        ),
        ("Fix the issue", [(EDIT, NOTHING)], ("missing", None)),
        ("Verify the fix", [MAKE, RUN, EDIT, RUN], ("completed", 3)),
        ("Verify the fix", [MAKE, RUN, EDIT], ("missing", None)),
        ("Test edge cases", [MAKE, RUN, EDIT, RUN], ("missing", None)),
        ("Test edge cases", [MAKE, RUN, EDIT, RUN, "pytest tests/test_query.py"], ("completed", 4)),
        ("Run the tests", [RUN, "cd /x && python -m pytest -q"], ("completed", 1)),
        ("Define the class `Author`", [MAKE, "cat <<'EOF' > m.py\nclass Author: ...\nEOF"], ("completed", 1)),
        ("Define the class `Author`", ["cat <<'EOF' > m.py\nprint(Author)\nEOF"], ("missing", None)),
        ("Expect it to fail", [RUN], ("not_actionable", None)),
        ("Submit the change", ["git add -A && git commit -m x"], ("completed", 0)),
        ("Clean up", ["rm repro.py"], ("completed", 0)),
    ],
)
def test_software_units(unit, actions, status):
    assert statuses(shell(plan(unit), acts(*actions))) == [status]


def test_one_script_may_do_several_parts():
    script = "cat <<'EOF' > repro.py\nsettings.configure(DATABASES={'default': {}})\nfixture = 'books'\nEOF"
    units = plan("Create `repro.py`", "Configure the `default` database", "Create the fixture")
    assert statuses(shell(units, acts(script))) == [("completed", 0)] * 3


def test_an_editor_that_holds_a_file_open_edits_that_file():
    own = acts("create repro.py", "edit 1:1\nimport x\nend_of_edit")
    assert statuses(shell(plan("Fix the bug"), own)) == [("missing", None)]
    project = acts("open src/query.py 3", "edit 3:3\nfixed\nend_of_edit")
    assert statuses(shell(plan("Fix the bug"), project)) == [("completed", 1)]


# The web, and anything else.


@pytest.mark.parametrize(
    ("unit", "action", "status"),
    [
        ("Click the 'Search' button", "[button]  Search -> CLICK", "completed"),
        ("Click the 'Search' button", "click('Search')", "completed"),
        ("Click the 'Search' button", "[link]  Basket -> CLICK", "missing"),
        ("Click the 'Search' button", "click [1412]", "undecidable"),
        ("Type 'red shoes' into the search box", "type [12] [red shoes] [1]", "completed"),
        ("Type 'red shoes' into the search box", "type [12] [blue shoes] [1]", "missing"),
        ("Select '2 adults' for the guests", "[combobox]  Guests -> SELECT: 2 adults", "completed"),
        ("Go to the orders page", "goto [http://shop.example/orders]", "completed"),
        ("Scroll down", "scroll [down]", "completed"),
    ],
)
def test_web_units(unit, action, status):
    assert statuses(verify(plan(unit), acts(action), lexicon("web")))[0][0] == status


def test_a_lexicon_is_chosen_by_the_actions():
    assert lexicon_for(acts(TAKEN, PUT)).name == "household"
    assert lexicon_for(acts(READ, EDIT, RUN)).name == "shell"
    assert lexicon_for(acts("[button]  Search -> CLICK", "type [12] [x]")).name == "web"
    assert lexicon_for(acts("calibrate valve", "label pump")).name == "generic"
    assert verify(plan("Calibrate the valve"), acts("calibrate valve")).order_preserved is True


def test_an_unknown_lexicon_is_refused():
    with pytest.raises(InputError, match="household, shell, web, generic"):
        lexicon("klingon")


# Episodes with a dispatch record.


@pytest.mark.parametrize(
    ("declared", "executed", "settled", "order", "agreement"),
    [
        ("SEQUENTIAL", "SEQUENTIAL", "dispatch", True, True),
        ("HIERARCHICAL", "SEQUENTIAL", "dispatch", False, False),
        ("SEARCH", "SEARCH", "dispatch", None, True),
        ("SEARCH", "PREDEFINED", "dispatch", False, False),
        ("SEARCH", "PLAN_REACT", "not_applicable", None, None),
        ("SEQUENTIAL", "FLAT_REACT", "not_applicable", None, None),
        ("SEQUENTIAL", "PLAN_REACT", "matching", False, None),
        (None, None, "matching", False, None),
    ],
)
def test_a_dispatch_record_settles_routed_episodes(declared, executed, settled, order, agreement):
    verdict = verify_dispatched(declared, executed, plan("take mug", "put mug in desk"), acts(TAKEN))
    assert (verdict.settled_by, verdict.order_preserved, verdict.mode_agreement) == (settled, order, agreement)
    matched = settled != "not_applicable"
    assert [unit.status for unit in verdict.units] == ([Status.COMPLETED, Status.MISSING] if matched else [])
    assert (verdict.planned, verdict.completed) == ((2, 1) if matched else (0, 0))
    assert verdict.order_by_actions is (False if matched and executed != "SEARCH" else None)


# Divergence of two sequences, and sizes.


def test_two_sequences_part_where_they_first_differ():
    one = acts("Go to desk 1", ("open desk 1", NOTHING), "take pen 1 from desk 1")
    two = acts("go to  desk 1", "take pen 2 from desk 1")
    parting = divergence(one, two)
    assert (parting.first, parting.second) == (2, 1)
    assert "pen [1]" in parting.why
    assert divergence(one, acts("go to desk 1", "pick up pen 1 from desk 1")) is None


def test_a_plan_beyond_all_measure_is_refused():
    with pytest.raises(InputError, match="301 units"):
        home(plan(*["take mug"] * 301), [])
    deep = PlanUnit("x", "take mug")
    for level in range(60):
        deep = PlanUnit(str(level), "part", children=(deep,))
    with pytest.raises(InputError, match="50 levels"):
        home([deep], [])


def test_the_largest_plan_is_matched():
    verdict = home(plan(*["take mug"] * 300), acts(*[TAKEN] * 300))
    assert verdict.completed == 300


def test_many_interchangeable_things_end_undecided_and_soon():
    units = plan(*["take another mug" if n % 3 == 0 else "take mug" for n in range(40)])
    actions = acts(*[f"take mug {n * 7 % 5} from desk 1" for n in range(60)])
    verdict = home(units, actions)
    assert verdict.order_preserved is None
    assert verdict.reason == "too many ways to tell repeated things apart"
