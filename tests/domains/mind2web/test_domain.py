"""Recorded pages as a domain: tasks, facts, the contract, six ways to execute, and what a judge may not see."""

import asyncio
import json
from dataclasses import replace
from functools import cache

import pytest

from planroute.calls import Sampling
from planroute.contract import check_domain
from planroute.declarers import Fixed, Natural
from planroute.domains.mind2web import find_tasks
from planroute.domains.mind2web.domain import BRIEFING, DIRECT, MEASURES, Mind2WebDomain, opened
from planroute.domains.mind2web.environment import NONE, RecordedPages, View
from planroute.domains.text import Limits, TextFields
from planroute.episode import Conditions, run_episode
from planroute.errors import InputError
from planroute.evaluation.judges import RubricJudge
from planroute.experiments.compare import comparison_cells
from planroute.gate import check
from planroute.ledger import Ledger
from planroute.models import open_model
from planroute.modes import MODES, ROUTED, SIX, Baseline, Mode
from planroute.protocols import Context, Domain
from planroute.runs.cells import run_cells
from planroute.trace import Acted, Chosen, Observed, Revised, RolledOut, Stop, Trace, UnitFinished
from tests.domains.mind2web.records import action, task
from tests.domains.mind2web.test_asking import Answering

pytest.importorskip("lxml", reason="needs the mind2web extra")

OWN = find_tasks()
JUDGE = RubricJudge("trajectory")
FORMS = {"multichoice": Mind2WebDomain(OWN, JUDGE), "direct": Mind2WebDomain(OWN, JUDGE, shots=None)}
ALL = (*SIX, ROUTED)


def run(domain, conditions, rate, seeds=(7,), model=None, candidates=4):
    cells = comparison_cells(
        domain.tasks(),
        list(seeds),
        [mode for mode in MODES if mode in conditions],
        model=model or open_model(f"scripted/slip={rate}"),
        baselines={baseline: Natural() for baseline in Baseline if baseline in conditions},
        routed={ROUTED: Natural()} if ROUTED in conditions else {},
        branching=candidates,
    )
    found = {}
    for episode in asyncio.run(run_cells(domain, cells)):
        assert episode.row.status != "infrastructure", episode.row.error
        found.setdefault(episode.row.condition, []).append(episode)
    return found


def mean(episodes, name):
    return sum(episode.row.metrics[name] for episode in episodes) / len(episodes)


@cache
def slipping(form):
    return run(FORMS[form], (Mode.PREDEFINED, Mode.SEQUENTIAL, Mode.SEARCH), 0.15, range(3), candidates=2)


# Tasks and facts


def test_it_is_a_domain_with_a_task_for_each_annotation():
    domain = FORMS["multichoice"]
    assert isinstance(domain, Domain)
    assert [each.id for each in domain.tasks()] == [each.id for each in OWN]
    assert (domain.name, domain.lexicon, domain.fields, domain.measures) == ("mind2web", "web", TextFields, MEASURES)
    assert [domain.briefing for domain in FORMS.values()] == [BRIEFING, DIRECT]
    factors = {each.id: each.factors for each in domain.tasks()}
    assert factors["brookrail-day-trip"] == {
        "task_type": "Travel / Ground",
        "domain": "Travel",
        "subdomain": "Ground",
        "website": "brookrail",
        "split": "",
        "annotated_steps": 6,
        "length": "6-7",
    }
    assert {each["length"] for each in factors.values()} == {"1-3", "4-5", "6-7"}


@pytest.mark.parametrize(
    ("count", "length"), [(1, "1-3"), (3, "1-3"), (5, "4-5"), (7, "6-7"), (10, "8-10"), (11, "11+")]
)
def test_bins_of_length(count, length):
    assert task(*(action(n) for n in range(count))).length == length


def test_facts_hold_what_can_change_an_episode():
    domain = FORMS["multichoice"]
    one = domain.tasks()[0]
    facts = domain.facts(one)
    assert json.dumps(facts, allow_nan=False)
    assert facts["goal"] == one.text
    for changed in (
        FORMS["direct"],
        replace(domain, limits=Limits(steps=49)),
        replace(domain, sampling=Sampling(temperature=0.9)),
        replace(domain, view=View(49)),
        replace(domain, view=View(50, 299)),
        replace(domain, shots=domain.shots[:3]),
        replace(domain, judge=RubricJudge("adherence")),
    ):
        assert changed.facts(one) != facts
    assert len({domain.facts(each)["task_sha256"] for each in domain.tasks()}) == len(OWN)


@pytest.mark.parametrize(
    "options", [{"form": "guess"}, {"form": "direct", "shots": "x.json"}, {"top": 0}, {"elements": 0}]
)
def test_impossible_options(options):
    with pytest.raises(InputError):
        opened(OWN, JUDGE, Limits(), Sampling(), **options)


@pytest.mark.parametrize("mode", MODES)
def test_a_forced_declaration_passes_the_gate_and_holds_no_plan(mode):
    domain = FORMS["multichoice"]
    one = domain.tasks()[0]
    world = asyncio.run(domain.open(one, Context(7, Trace(), Ledger())))
    declaration = asyncio.run(Fixed(mode).declare(domain, one, world.state(), Context(7, Trace(), Ledger())))
    assert check(declaration) == ()
    assert declaration.fields == {"plan": []}


def test_a_world_shows_the_page_the_goal_and_what_was_done():
    domain = FORMS["multichoice"]
    world = asyncio.run(domain.open(domain.tasks()[0], Context(7, Trace(), Ledger())))
    seen = world.state().summary
    assert seen["start"] == "A page of the website brookrail (Travel / Ground) is shown."
    assert seen["page"].startswith("<html> ")
    assert (seen["history"], seen["admissible"]) == ([], [])
    asyncio.run(world.aclose())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rate", ["0", "0.3"])
def test_no_breach_of_contract(form, rate):
    domain = replace(FORMS[form], found=OWN[3:4])
    assert asyncio.run(check_domain(domain, seed=7, model=open_model(f"scripted/slip={rate}"))) == []


# Six ways to execute


@pytest.mark.parametrize("form", FORMS)
def test_without_slips_every_condition_solves_every_task(form):
    found = run(FORMS[form], ALL, 0)
    assert set(found) == set(map(str, ALL))
    for condition, episodes in found.items():
        for episode in episodes:
            metrics = episode.row.metrics
            assert episode.row.success
            assert [metrics[name] for name in MEASURES] == [1.0] * 4
            steps = len(next(each for each in OWN if each.id == episode.row.task).steps)
            assert len([e for e in episode.trace.of(Acted) if e.branch is None]) == (
                0 if condition == "SEARCH" else steps
            )
            assert metrics["steps"] == steps
            if condition != "FLAT_REACT":
                assert metrics["adherence"] == 1.0
            if condition not in ("FLAT_REACT", "SEARCH"):
                assert metrics["plan_order_faithful"] == metrics["order_by_evidence"] == 1.0


def test_a_slip_costs_one_step_where_nothing_is_planned():
    """One question a step, each slipping with the same chance: step success is 1 - rate, and tasks multiply it."""
    rate, episodes = 0.2, run(FORMS["direct"], (Baseline.FLAT_REACT,), 0.2, range(30))[Baseline.FLAT_REACT]
    steps = {each.id: len(each.steps) for each in OWN}
    assert mean(episodes, "ssr") == pytest.approx(1 - rate, abs=0.05)
    expected = sum((1 - rate) ** steps[episode.row.task] for episode in episodes) / len(episodes)
    assert mean(episodes, "tsr") == pytest.approx(expected, abs=0.1)
    for episode in episodes:
        failed = round((1 - episode.row.metrics["ssr"]) * steps[episode.row.task])
        assert episode.row.metrics["tsr"] == float(failed == 0)
        assert mean([episode], "element_accuracy") >= mean([episode], "ssr")


@pytest.mark.parametrize("form", FORMS)
def test_who_plans_anew_recovers_and_who_committed_does_not(form):
    found = slipping(form)
    assert mean(found["SEQUENTIAL"], "ssr") > mean(found["PREDEFINED"], "ssr")
    assert mean(found["SEARCH"], "tsr") > mean(found["PREDEFINED"], "tsr")
    assert 0 < mean(found["PREDEFINED"], "tsr") < 1


def test_steps_that_nobody_decided_on_have_failed():
    early = [e for e in slipping("direct")["PREDEFINED"] if e.row.stop == Stop.PLAN_EXHAUSTED]
    assert early
    for episode in early:
        steps = len(next(each for each in OWN if each.id == episode.row.task).steps)
        assert len(episode.trace.of(Acted)) < steps
        assert episode.row.metrics["ssr"] <= len(episode.trace.of(Acted)) / steps
        assert episode.row.metrics["tsr"] == 0.0


def test_a_unit_may_take_several_pages_and_a_page_belongs_to_one_decision():
    answers = ["CLICK [1]", "TYPE [0] New York", "finished", "CLICK [3]"]
    model = Answering(json.dumps({"steps": ["everything"]}), *(json.dumps({"action": each}) for each in answers))
    domain = Mind2WebDomain((task(),), JUDGE, shots=None)
    (episode,) = run(domain, (Mode.PREDEFINED,), 0, model=model)["PREDEFINED"]
    assert [event.action for event in episode.trace.of(Acted)] == [
        "[button] Alpha -> CLICK",
        "[input] town -> TYPE: New York",
    ]
    assert [event.completed for event in episode.trace.of(UnitFinished)] == [True]
    assert episode.row.metrics["ssr"] == pytest.approx(2 / 3)


def test_revisions_see_what_the_annotator_did_and_not_what_was_decided():
    model = Answering(
        json.dumps({"steps": ["one", "two"]}), json.dumps({"action": "NONE"}), json.dumps({"action": "finished"}),
        json.dumps({"steps": []}),
    )  # fmt: skip
    domain = Mind2WebDomain((task(),), JUDGE, shots=None)
    (episode,) = run(domain, (Mode.SEQUENTIAL,), 0, model=model)["SEQUENTIAL"]
    revising = json.loads(model.asked[-1].messages[-1].content.partition("State: ")[2])
    assert revising["history"] == [{"action": "[button]  b0 -> CLICK"}]
    assert NONE not in json.dumps(revising)
    assert len(episode.trace.of(Revised)) == 1


# Alternatives and their judge


def judged(model):
    return [request for request in model.asked if request.purpose == "trajectory judge"]


def test_alternatives_walk_the_same_pages_apart_from_one_another():
    plans = [json.dumps({"steps": [f"way {n}"]}) for n in range(2)]
    clicks = [
        json.dumps({"action": each})
        for each in ("CLICK [1]", "NONE", "CLICK [1]", "NONE", "TYPE [0] New York", "CLICK [3]")
    ]
    scores = [json.dumps({"score": score, "reason": ""}) for score in (1, 2)]
    model = Answering(*plans, *clicks, *scores)
    domain = Mind2WebDomain((task(),), JUDGE, shots=None)
    (episode,) = run(domain, (Mode.SEARCH,), 0, model=model, candidates=2)["SEARCH"]
    pages = [
        request.messages[-1].content.partition("State: ")[2] for request in model.asked if request.purpose == "action"
    ]
    shown = [json.loads(each) for each in pages]
    assert [each["page"] for each in shown[:3]] == [each["page"] for each in shown[3:]]
    assert [each["history"] for each in shown[:3]] == [each["history"] for each in shown[3:]]
    assert len(episode.trace.of(RolledOut)) == 2
    assert episode.trace.of(Chosen)[0].candidate == "c2"
    assert episode.row.metrics["ssr"] == pytest.approx(2 / 3)


def test_the_judge_sees_what_was_decided_and_no_label():
    """Two annotations of the same pages, with other steps that are right: the judge is asked the same."""
    plans = json.dumps({"steps": ["way"]})
    asked = []
    for right in (10, 12):
        found = task(action(1, right), action(2, right, "CLICK"), action(3, right), goal="one goal")
        told = replace(
            found, steps=tuple(replace(s, description="[x] secret", previous=("[x] secret",)) for s in found.steps)
        )
        model = Answering(plans, *[plans] * 7, *[json.dumps({"action": "CLICK [1]"})] * 3, json.dumps({"score": 3}))
        run(Mind2WebDomain((told,), JUDGE, shots=None), (Mode.SEARCH,), 0, model=model)
        (request,) = judged(model)
        asked.append(request)
        text = request.messages[-1].content
        assert "secret" not in text
        assert text.count("[button] Alpha -> CLICK") == 3
    assert asked[0] == asked[1]


def test_observations_of_right_and_wrong_courses_are_the_same():
    for episodes in slipping("multichoice").values():
        for episode in episodes:
            assert {event.text for event in episode.trace.of(Observed)} <= {
                "The next page is shown.",
                "That was the last page.",
            }


# Real steps


@pytest.mark.parametrize(("name", "count"), [("seeact_one_step_full.jsonl", 1), ("skillgen_test_100steps.json", 90)])
def test_real_steps_are_walked_and_scored(data_dir, name, count):
    found = find_tasks(data_dir / "mind2web" / name)
    assert len(found) == count
    for each in found:
        right, wrong, other = (RecordedPages(each, 7, View()) for _ in range(3))
        for environment in (right, wrong, other):
            environment.reset()
            for step in each.steps:
                shown = environment.shown
                gold = shown.action(step.positives[0].node, step.operation)
                op = "TYPE: never said" if step.operation.op == "CLICK" else "CLICK"
                environment.step(
                    gold
                    if environment is right
                    else NONE
                    if environment is wrong
                    else f"{gold.partition(' -> ')[0]} -> {op}"
                )
            assert len(shown.whole.choices) == len(shown.nodes)
        assert set(right.measures().values()) == {1.0}
        assert set(wrong.measures().values()) == {0.0}
        assert other.measures() == {"ssr": 0.0, "tsr": 0.0, "element_accuracy": 1.0, "operation_f1": 0.0}


def test_a_real_step_in_every_condition(data_dir):
    found = find_tasks(data_dir / "mind2web" / "seeact_one_step_full.jsonl")
    plan = json.dumps({"steps": ["press the button"]})

    def answer(request):
        if request.purpose in ("plan", "proposal", "subgoal plan", "revision"):
            return plan
        if request.purpose == "decomposition":
            return json.dumps({"subgoals": ["press"]})
        if request.purpose == "trajectory judge":
            return json.dumps({"score": 3})
        if "declaration" in request.purpose:
            return json.dumps({"mode": "PREDEFINED", "plan": [{"title": "", "steps": ["press the button"]}]})
        listed = request.messages[-1].content.partition("A. None of the above\n")[2].splitlines()
        letter = next((line[0] for line in listed if "submit search> Search" in line and "id=" in line), None)
        return f"Answer: {letter}.\nAction: CLICK" if letter else "Answer: A."

    episodes = run(Mind2WebDomain(found, JUDGE), ALL, 0, model=Answering(answer))
    for (episode,) in episodes.values():
        assert episode.row.metrics["operation_f1"] == 1.0
        assert episode.row.metrics["element_accuracy"] in (0.0, 1.0)


def test_an_episode_gives_equal_rows():
    domain, model = FORMS["multichoice"], open_model("scripted/slip=0.2")
    conditions = Conditions(Fixed(Mode.SEQUENTIAL), model=model)
    one, other = (asyncio.run(run_episode(domain, domain.tasks()[0], 7, conditions)) for _ in range(2))
    assert (one.row, one.trace.to_json()) == (other.row, other.trace.to_json())
