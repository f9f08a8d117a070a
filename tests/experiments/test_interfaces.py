"""Studies of interfaces find what was planted in a model's answers."""

import asyncio
import json
from functools import cache

import pytest

from planroute.declarers import Hybrid, Natural
from planroute.errors import FaultyInput, InputError
from planroute.experiments.claims import judged_claims, value_at
from planroute.experiments.definition import Claim, load_experiment
from planroute.experiments.interfaces import planned_calls, study_interfaces
from planroute.experiments.setting import Setting
from planroute.models.scripted import scripted
from planroute.modes import MODES
from planroute.runs.manner import Manner
from tests.experiments.ruled import (
    SHIFTS,
    Ruled,
    advice,
    any_interface,
    archetype_of,
    conditioned,
    effect,
    neighbours_of,
    policy,
    state_of,
)

STUDIES = ("M0", "M1", "M2", "M3", "M4", "M5")


def study(name, *models, out=None, advance=None, **setting):
    named = {model.endpoint: model for model in models}
    return asyncio.run(
        study_interfaces(load_experiment(name), Setting(models=named, **setting), out=out, advance=advance)
    )


def figures(name, rule, **setting):
    return study(name, Ruled(rule), **setting).result["first"]


def test_the_states_fall_into_bands_of_6_3_and_11():
    result = study("M1").result
    assert result["bands"] == {"none": 6, "moderate": 3, "high": 11}
    assert len({(s["stress_multiplier"], s["hour"]) for s in result["states"]}) == 20
    assert max(s["stress"] for s in result["states"]) < 1


@pytest.mark.parametrize("name", STUDIES)
def test_without_a_model_nothing_is_run_and_why_is_said(name):
    found = study(name)
    assert found.records == []
    assert found.result["status"] == "not_run"
    assert "--model" in found.result["why"]


@cache
def whole(name):
    """A whole study of two models that answer every interface: the study, the models, and what was told of progress."""
    models, done = (Ruled(any_interface, "one"), Ruled(any_interface, "two")), []
    return study(name, *models, advance=done.append), models, done


@pytest.mark.parametrize(("name", "calls"), [("M0", 32), ("M1", 60), ("M2", 60), ("M3", 40), ("M4", 48), ("M5", 60)])
def test_every_study_makes_the_papers_number_of_calls_for_every_model(name, calls):
    found, models, done = whole(name)
    named = {model.endpoint: model for model in models}
    assert [len(model.requests) for model in models] == [calls, calls]
    assert len({record["identity"] for record in found.records}) == 2 * calls
    assert sum(done) == 2 * calls == asyncio.run(planned_calls(load_experiment(name), Setting(models=named)))
    assert list(found.result["models"]) == ["test/one", "test/two"]
    assert found.result["slice"] is None
    assert found.result["status"] == "done"


@pytest.mark.parametrize("name", STUDIES)
def test_every_value_of_the_paper_stands_beside_one_of_ours_and_is_not_judged(name):
    experiment, result = load_experiment(name), whole(name)[0].result
    for claim in experiment.claims:
        assert value_at(result, claim.ours) is not None, claim.what
    assert {claim["verdict"] for claim in judged_claims(experiment, result)} <= {"context"}


def test_declaration_studies_ask_the_same_questions():
    asked = [[request.identity("x") for request in whole(name)[1][0].requests] for name in ("M1", "M2", "M5")]
    assert asked[0] == asked[1] == asked[2]


def test_timed_studies_ask_one_at_a_time_and_others_do_not():
    judged = Ruled(any_interface)
    study("M4", judged, manner=Manner(5))
    assert {whole(name)[1][0].most_at_once for name in ("M0", "M1", "M2", "M5")} == {1}
    assert judged.most_at_once == 5


def test_modes_and_fields_are_counted():
    found = figures("M1", lambda request: policy(MODES[request.draw], intensity=0.4 + 0.1 * request.draw), states=6)
    assert [found["modes"][mode]["count"] for mode in MODES] == [6, 6, 6, 0]
    assert found["entropy"]["h"] == pytest.approx(0.7925, abs=1e-4)
    assert found["entropy"]["low"] <= found["entropy"]["h"] <= found["entropy"]["high"]
    assert found["fields"]["intensity"]["mean"] == pytest.approx(0.5)
    assert found["fields"]["theme"]["SAVINGS"]["share"] == 1
    assert found["distinct"] == 3
    assert found["type_valid"]["share"] == 1
    assert found["states_of_one_mode"] == 0


def test_a_declaration_that_breaks_a_rule_is_counted_as_not_type_valid():
    found = figures("M1", lambda request: policy("SEARCH", branching=1 + request.draw), states=4)
    assert found["type_valid"]["count"] == 8


def test_a_stress_conditioned_declarer_is_found():
    found = figures("M2", conditioned)
    assert found["regime"] == "stress-conditioned"
    assert found["confirmed"]
    assert found["expensive_rises"]
    assert found["by_band"]["none"]["expensive"]["share"] == 0
    assert found["by_band"]["high"]["search"]["share"] == pytest.approx(2 / 3)
    assert found["band_by_mode"]["p"] < 0.01
    assert found["band_by_expensive"]["v"] > 0.5
    assert found["trend"]["beta"] > 0
    assert found["trend"]["p"] < 0.01


def test_shares_of_bands_are_the_ones_planted():
    """The paper's shares: 4 of 18 without stress, 24 of 33 with much of it."""
    seen = {}

    def rule(request):
        stress = state_of(request)["stress"]
        band = "none" if stress == 0 else "moderate" if stress <= 0.2 else "high"
        number = seen[band] = seen.get(band, -1) + 1
        dear = {"none": number in (0, 5, 9, 14), "moderate": number % 2 == 0, "high": number % 11 < 8}[band]
        return policy("SEARCH" if dear else "SEQUENTIAL")

    found = figures("M2", rule)
    assert round(found["by_band"]["none"]["expensive"]["share"], 3) == 0.222
    assert round(found["by_band"]["high"]["expensive"]["share"], 3) == 0.727
    assert found["regime"] == "stress-conditioned"
    assert found["band_by_mode"]["v"] == pytest.approx(0.447, abs=0.01)


def test_a_mixed_declarer_that_is_blind_to_its_state_is_found():
    found = figures("M2", lambda request: policy(("SEQUENTIAL", "PREDEFINED", "SEARCH")[request.draw]))
    assert found["regime"] == "mixed state-blind"
    assert found["band_by_mode"]["v"] == pytest.approx(0)
    assert found["band_by_mode"]["p"] == 1
    assert not found["confirmed"]


def test_a_concentrated_declarer_that_is_blind_to_its_state_is_found():
    def rule(request):
        rare = request.draw == 0 and state_of(request)["stress"] in (0.3, 0.481)
        return policy("PREDEFINED" if rare else "SEQUENTIAL")

    rare = [s for s in study("M2").result["states"] if s["stress"] == 0.481]
    assert len(rare) == 1
    found = figures("M2", rule)
    assert found["regime"] == "concentrated state-blind"
    assert found["top_share"] > 0.95
    assert found["top_mode"] == "SEQUENTIAL"


def test_an_invariant_declarer_is_found_and_its_association_is_undefined():
    found = figures("M2", lambda request: policy("SEQUENTIAL"))
    assert found["regime"] == "invariant"
    assert found["band_by_mode"]["v"] is None
    assert found["trend"]["beta"] is None
    assert found["trend"]["separated"]
    assert figures("M1", lambda request: policy("SEQUENTIAL"), states=4)["entropy"]["h"] == 0


def test_regimes_are_counted_over_models():
    models = Ruled(conditioned, "a"), Ruled(lambda request: policy("SEARCH"), "b"), scripted("declare=PREDEFINED")
    found = study("M2", *models, draws=2).result["summary"]["regimes"]
    assert (found["stress-conditioned"], found["invariant"], sum(found.values())) == (1, 2, 3)


def test_advice_that_is_nearly_always_zero_is_found():
    asked = []

    def rule(request):
        asked.append(request)
        return advice(0, 0, 0, 0.1) if len(asked) == 7 else advice(0, 0, 0, 0)

    found = figures("M3", rule, manner=Manner(1))
    assert (found["all_zero"]["count"], found["all_zero"]["n"]) == (39, 40)
    assert found["l1"]["mean"] == pytest.approx(0.1 / 40)
    assert found["saturated"]["count"] == 0
    assert found["preference_changed"]["count"] == 0


def test_advice_that_saturates_is_clipped_and_changes_the_mode():
    found = figures("M3", lambda request: advice(-0.3, -0.3, -0.3, 0.9))
    assert found["saturated"]["share"] == 1
    assert found["at_limit"]["share"] == 1
    assert found["l1"]["mean"] == pytest.approx(1.2)
    assert found["calls"]["clipped"] == 40
    assert found["shifts"]["SEARCH"]["mean"] == pytest.approx(0.3)
    assert found["changed"]["share"] > 0.5
    assert found["moved"] > 0.5
    assert found["modes"]["SEARCH"]["share"] > found["prior_modes"]["SEARCH"]["share"]


def test_the_planted_order_of_archetypes_is_recovered():
    found = figures("M4", lambda request: effect(SHIFTS[archetype_of(request)]))
    assert {kind: one["rank"] for kind, one in found["archetypes"].items()} == dict(
        zip(SHIFTS, range(1, 7), strict=True)
    )
    assert found["order"]["r"] == pytest.approx(1)
    assert found["idealists_first_pragmatists_second"]
    assert found["pragmatists_above_opportunists"]
    assert found["archetypes"]["skeptic"]["mean"] == pytest.approx(-0.05)
    assert found["neighbours"]["difference"] == pytest.approx(0)


def test_a_reversed_order_and_ties_put_nobody_first():
    reverse = figures("M4", lambda request: effect(-SHIFTS[archetype_of(request)]))
    assert reverse["order"]["r"] == pytest.approx(-1)
    flat = figures("M4", lambda request: effect(0.1))
    assert flat["order"]["r"] is None

    def sparse(request):
        unread = archetype_of(request) == "pragmatist" and neighbours_of(request) > 50
        return "?" if unread else effect(0.3)

    unequal = figures("M4", sparse)
    assert {one["rank"] for one in unequal["archetypes"].values()} == {1}
    assert unequal["order"]["r"] is None
    for found in (reverse, flat, unequal):
        assert not found["idealists_first"]
        assert not found["pragmatists_second"]
        assert not found["pragmatists_above_opportunists"]


def test_the_response_to_neighbours_is_recovered():
    def rule(request):
        heeds = archetype_of(request) == "conformist"
        return effect(0.2 if heeds and neighbours_of(request) > 50 else 0.0)

    found = study("M4", Ruled(rule)).result
    neighbours = found["first"]["neighbours"]
    assert neighbours["by_archetype"]["conformist"] == pytest.approx(0.2)
    assert neighbours["by_archetype"]["idealist"] == 0
    assert neighbours["difference"] == pytest.approx(0.2 / 6)
    assert neighbours["n"] == 24
    assert found["summary"]["positive_neighbour_response"]["share"] == 1


def test_messages_are_the_same_for_every_model_and_judged_by_the_interface_of_episodes():
    models = whole("M4")[1]
    first, second = ([request.canonical("x") for request in model.requests] for model in models)
    assert first == second
    assert {request.purpose for request in models[0].requests} == {"prosumer evaluation"}


def test_planted_seconds_are_recovered():
    asked = []

    def seconds(request):
        asked.append(request)
        return 20.0 if len(asked) % 10 == 0 else 2.0

    found = study("M5", Ruled(conditioned, seconds=seconds)).result
    one = found["first"]
    assert one["latency"]["p50"] == 2.0
    assert one["latency"]["p95"] == 20.0
    assert one["latency"]["tail_ratio"] == 10.0
    assert one["over_budget"]["count"] == 6
    assert {d: w["share"] for d, w in one["within"].items()} == {"2": 0.9, "4": 0.9, "8": 0.9, "30": 1.0}
    assert {d: w["feasible"] for d, w in one["within"].items()} == {"2": False, "4": False, "8": False, "30": True}
    assert sum(mode["n"] for mode in one["by_mode"].values()) == 60
    assert one["by_mode"]["SEQUENTIAL"]["stipulated_feasible"]["2"]
    assert found["summary"] == {"models": 1, "p95_over_budget": 1, "p95_within_budget": 0}


def test_a_model_that_takes_no_time_has_no_tail_ratio():
    found = study("M5", scripted("declare=SEARCH"), states=3).result["first"]
    assert found["latency"]["p50"] == 0
    assert found["latency"]["tail_ratio"] is None


def test_a_garbling_model_is_counted_and_nothing_is_dropped():
    found = study("M1", scripted("garbage?seed=3"))
    calls = found.result["first"]["calls"]
    assert len(found.records) == 60
    assert calls["read"] + calls["unreadable"] == 60
    assert 0 < calls["unreadable"] < 60
    assert calls["parse_rate"] == calls["read"] / 60
    assert calls["repaired"] > 0
    assert all(record["error"] for record in found.records if record["status"] == "unreadable")


@pytest.mark.parametrize("name", STUDIES)
def test_a_model_of_which_nothing_can_be_read_has_figures_without_values(name):
    result = study(name, Ruled(lambda request: ""), states=3, draws=1).result
    assert result["first"]["calls"]["parse_rate"] == 0
    assert result["status"] == "done"
    json.dumps(result, allow_nan=False)


def test_the_probe_tells_schema_from_words_and_counts_equal_answers():
    def rule(request):
        if request.schema is None and request.purpose != "operator message":
            assert '"additionalProperties"' in request.messages[-1].content
            return "I would search."
        return any_interface(request)

    model = Ruled(rule)
    found = study("M0", model).result
    one = found["first"]
    for interface in ("declaration", "advice", "evaluation"):
        assert one["interfaces"][interface]["enforced"]["parse_rate"] == 1
        assert one["interfaces"][interface]["in_words"]["parse_rate"] == 0
        assert one["interfaces"][interface]["in_words"]["calls"] == 4
    assert one["message"]["parse_rate"] == 1
    assert one["calls"]["usage_reported"] == 1
    assert one["determinism"]["share"] == pytest.approx(2 / 3)  # the rule's advice goes by the draw
    assert found["summary"] == {"models": 1, "able": 1}
    assert sum(request.sampling.temperature == 0 for request in model.requests) == 6


def test_the_interfaces_are_asked_as_declarers_ask_them(monkeypatch):
    """The prompts of a study are those of an episode: both run through the declarers."""
    asked = []
    for kind, what in ((Natural, "declare"), (Hybrid, "advise")):
        original = getattr(kind, what)

        async def listened(self, *given, original=original):
            asked.append(type(self))
            return await original(self, *given)

        monkeypatch.setattr(kind, what, listened)
    study("M1", Ruled(conditioned), states=2, draws=1)
    study("M3", Ruled(any_interface), states=2, draws=1)
    assert asked == [Natural, Natural, Hybrid, Hybrid]


def test_a_slice_says_what_was_cut_and_keeps_the_ends_of_stress():
    model = Ruled(conditioned)
    found = study("M2", model, states=5, draws=1).result
    assert found["slice"] == {"states": {"asked": 5, "of": 20}, "draws": {"asked": 1, "of": 3}}
    assert found["calls_per_model"] == len(model.requests) == 5
    stress = [one["stress"] for one in found["states"]]
    assert (min(stress), max(stress)) == (0, 0.972)
    assert study("M4", Ruled(any_interface), states=2).result["slice"] == {"themes": {"asked": 2, "of": 4}}
    assert study("M1", Ruled(conditioned), states=1, draws=1).result["calls_per_model"] == 1


def test_a_small_slice_has_no_regime():
    assert figures("M2", conditioned, states=5, draws=1)["regime"] == "unmeasured"


def test_impossible_settings_are_refused():
    with pytest.raises(InputError, match="states"):
        study("M1", states=0)
    with pytest.raises(InputError, match="draws"):
        study("M1", draws=0)
    with pytest.raises(InputError, match="varies stress"):
        study("M1", factors={"stress": 1.0})
    with pytest.raises(FaultyInput, match="import_cap"):
        study("M1", factors={"import_cap_mw": -1})


def test_faults_of_a_file_are_named():
    whole = load_experiment("M4").model_dump(by_alias=True)
    for change, fault in (
        ({"neighbours": [0.8, 0.2]}, "lower one first"),
        ({"agreed": 9}, "agreed"),
        ({"voice": "soft"}, "voice"),
    ):
        interface = {**whole["interface"], "with": {**whole["interface"]["with"], **change}}
        experiment = type(load_experiment("M4")).model_validate({**whole, "interface": interface})
        with pytest.raises(FaultyInput, match=fault):
            asyncio.run(study_interfaces(experiment, Setting()))


def test_the_seed_of_the_day_can_be_chosen():
    assert study("M1").result["states"] != study("M1", seeds=(13,)).result["states"]


def test_a_value_of_another_model_is_context():
    claim = Claim(what="x", where="y", paper=1.0, ours="first/x", context=True)
    experiment = load_experiment("M1").model_copy(update={"claims": (claim,)})
    assert judged_claims(experiment, {"first": {"x": 1.0}})[0]["verdict"] == "context"
