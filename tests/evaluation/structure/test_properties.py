"""Properties that hold for any plan of the generator."""

import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from planroute.evaluation.structure import Status, divergence, lexicon, verify
from planroute.importers import Action
from planroute.plan import Logic, PlanUnit
from tests.evaluation.structure.planted import EXTRAS, MAKERS, Step

UNDONE = {
    "household": "open the safe",
    "web": "Click on Newsletter",
    "shell": "Fix `nowhere.py`",
    "generic": "Greet the operator",
}
SEEDS = st.integers(0, 10**9)
LEXICONS = st.sampled_from(sorted(MAKERS))


def made(name: str, seed: int) -> list[Step]:
    return MAKERS[name](random.Random(seed))


def units(steps: list[Step]) -> list[PlanUnit]:
    return [PlanUnit(str(number), step.unit) for number, step in enumerate(steps)]


def acts(texts: list[str]) -> list[Action]:
    return [Action(index, text, "ok") for index, text in enumerate(texts)]


@given(name=LEXICONS, seed=SEEDS)
def test_a_plan_is_faithful_to_its_own_rendering(name, seed):
    steps = made(name, seed)
    verdict = verify(units(steps), acts([step.action for step in steps]), lexicon(name))
    assert verdict.order_preserved is True
    assert verdict.in_order is True
    assert verdict.adherence == 1.0
    assert verdict.first_divergence is None


@given(name=LEXICONS, seed=SEEDS, data=st.data())
def test_unrelated_actions_change_nothing(name, seed, data):
    steps = made(name, seed)
    texts = [step.action for step in steps]
    before = verify(units(steps), acts(texts), lexicon(name))
    for _ in range(data.draw(st.integers(1, 8))):
        texts.insert(data.draw(st.integers(0, len(texts))), data.draw(st.sampled_from(EXTRAS[name])))
    after = verify(units(steps), acts(texts), lexicon(name))
    assert [unit.status for unit in after.units] == [unit.status for unit in before.units]
    assert after.order_preserved is before.order_preserved


@given(name=LEXICONS, seed=SEEDS, data=st.data())
def test_the_loss_of_a_units_only_action_is_found(name, seed, data):
    steps = made(name, seed)
    gone = data.draw(st.integers(0, len(steps) - 1))
    texts = [step.action for step in steps]
    assume(not steps[gone].shared and texts.count(texts[gone]) == 1)
    del texts[gone]
    verdict = verify(units(steps), acts(texts), lexicon(name))
    assert verdict.order_preserved is False
    assert verdict.first_divergence.unit == str(gone)
    assert verdict.units[gone].status is Status.MISSING
    if name == "shell":  # without an edit, nothing verifies it
        assert verdict.completed < verdict.needed
    else:
        assert verdict.completed == verdict.needed - 1


@given(name=LEXICONS, seed=SEEDS, data=st.data())
def test_two_swapped_actions_are_found_out_of_order(name, seed, data):
    steps = made(name, seed)
    texts = [step.action for step in steps]
    first = data.draw(st.integers(0, len(steps) - 2))
    pair = texts[first : first + 2]
    assume(not any(step.shared for step in steps[first : first + 2]))
    assume(all(texts.count(text) == 1 for text in pair))
    texts[first : first + 2] = reversed(pair)
    verdict = verify(units(steps), acts(texts), lexicon(name))
    assert verdict.order_preserved is False
    assert verdict.in_order is False
    late = [unit.unit for unit in verdict.units if unit.status is Status.OUT_OF_ORDER]
    assert late in ([str(first)], [str(first + 1)])


@given(name=LEXICONS, seed=SEEDS, data=st.data())
def test_alternatives_that_were_not_taken_do_no_harm(name, seed, data):
    steps = made(name, seed)
    plan = units(steps)
    place = data.draw(st.integers(0, len(plan) - 1))
    failing = [PlanUnit(f"x{n}", UNDONE[name]) for n in range(data.draw(st.integers(1, 3)))]
    options = data.draw(st.permutations([plan[place], *failing]))
    plan[place] = PlanUnit("choice", "any of these", children=tuple(options), logic=Logic.OR)
    verdict = verify(plan, acts([step.action for step in steps]), lexicon(name))
    assert verdict.order_preserved is True
    assert verdict.completed == verdict.needed == len(steps)


@given(name=LEXICONS, seed=SEEDS)
def test_nesting_in_order_changes_nothing(name, seed):
    steps = made(name, seed)
    flat = units(steps)
    half = len(flat) // 2
    nested = [
        PlanUnit("a", "first part", children=tuple(flat[:half])),
        PlanUnit("b", "rest", children=tuple(flat[half:])),
    ]
    nested = [unit for unit in nested if unit.children]
    texts = [step.action for step in steps]
    texts.reverse()
    one, two = verify(flat, acts(texts), lexicon(name)), verify(nested, acts(texts), lexicon(name))
    assert one.units == two.units


@given(name=LEXICONS, seed=SEEDS, data=st.data())
def test_divergence_is_the_first_difference(name, seed, data):
    texts = [step.action for step in made(name, seed)]
    assert divergence(acts(texts), acts(texts), lexicon(name)) is None
    place = data.draw(st.integers(0, len(texts)))
    other = [*texts[:place], "stand aside", *texts[place:]]
    parting = divergence(acts(texts), acts(other), lexicon(name))
    assert parting.second == place
    assert parting.first == (place if place < len(texts) else None)


@settings(max_examples=60)
@given(
    plan=st.lists(st.text(max_size=80), max_size=5),
    texts=st.lists(st.text(max_size=80), max_size=8),
    name=st.sampled_from(["household", "shell", "web", "generic", None]),
)
def test_any_text_is_read(plan, texts, name):
    verdict = verify([PlanUnit(str(n), t) for n, t in enumerate(plan)], acts(texts), lexicon(name) if name else None)
    assert len(verdict.units) == len(plan)
    assert verdict.completed <= verdict.needed <= verdict.planned <= len(plan)
    assert (verdict.order_preserved is False) == (verdict.first_divergence is not None)
