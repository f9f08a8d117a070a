"""The sentences at the top, for planted costs, and what stands beside them."""

import pytest

from planroute.modes import MODES, Mode
from planroute.reporting import grid_findings, verdict
from planroute.reporting.grid_days import Facts
from planroute.reporting.reading import Cell, Manifest, Result, Row, Run

P, S, H, SEARCH = MODES


def row(condition, seed, cost, cost_ac=None, **changes):
    metrics = {} if cost is None else {"objective": cost, "objective_ac": cost if cost_ac is None else cost_ac}
    values = {"task": "t", "condition": condition, "seed": seed, "status": "finished", "metrics": metrics}
    return Row.model_validate(values | changes)


def run_of(rows, config=None, **routed):
    conditions = {r.condition: {} for r in rows}
    for name in conditions:
        if name not in tuple(MODES):
            conditions[name] = {"regret": None} | routed
    manifest = Manifest(domain="grid", cells=tuple(str(i) for i in range(len(rows))), config=config or {})
    cells = [Cell(str(i), r, ()) for i, r in enumerate(rows)]
    return Run("run", manifest, Result(conditions=conditions), cells, {})


def forced(*costs_by_seed, modes=MODES):
    return [
        row(mode, seed, cost)
        for seed, costs in enumerate(costs_by_seed, 1)
        for mode, cost in zip(modes, costs, strict=True)
    ]


def late(rows, *missed, deadline=4.0):
    """The rows with a deadline that ``missed``, as modes or mode and seed, did not keep."""
    return [
        r.model_copy(
            update={
                "deadline_s": deadline,
                "late_events": 3 if {r.condition, (r.condition, r.seed)} & set(missed) else 0,
            }
        )
        for r in rows
    ]


def routed(*declared, **changes):
    values = {"declarer": "natural", "gate": "PASSED"} | changes
    return [row("ROUTED", seed, 15, declared=d, executed=d, **values) for seed, d in enumerate(declared, 1)]


def facts(hand_back=False):
    node = {"id": "1"}
    planning = {"intensity": 0.5, "proposal_intensities": [0.5, 0.75]}
    return Facts.model_validate(
        {
            "feeder": {"head": "head", "nodes": [node], "lines": [{"from": "head", "to": "1"}]},
            "import_cap_mw": 1.1,
            "voltage_floor_pu": 0.95,
            "coefficients": [{"group": "planning", "name": name, "value": value} for name, value in planning.items()]
            + [{"group": "allocation", "name": "hand_back", "value": hand_back}],
        }
    )


def said(rows, **options):
    return grid_findings.headline(run_of(rows, **options))


def detail(rows, about, **options):
    found = grid_findings.findings(run_of(rows, **options), facts()).values["findings"]
    return next((f"{f.text} {f.note}".strip() for f in found if f.about == about), None)


def test_one_mode_cheapest_everywhere():
    assert said(forced((30, 20, 40, 10), (31, 21, 41, 11))) == (
        "Search was the cheapest of 4 forced modes on all 2 seeds: mean J 10 against 20 for sequential, the next "
        "(49 % less)."
    )


def test_a_divided_field_names_every_winner():
    text = said(forced((10, 20, 40, 30), (31, 21, 41, 11), (31, 21, 41, 12)))
    assert text.startswith("Cheapest of 4 forced modes over 3 seeds was search on 2 and predefined on 1; by mean J")


def test_one_seed_is_called_one_seed():
    run = run_of(forced((30, 20, 40, 10)))
    assert verdict.forced(run, "objective").startswith("On seed 1, search was the cheapest of 4 forced modes: J 10")
    assert "One seed shows one day" in verdict.cautions(run, "objective")[0]


def test_ties_are_told():
    assert said(forced((10, 20, 40, 10))).startswith("On seed 1, predefined and search tied as the cheapest of 4")
    text = said(forced((10, 20, 40, 10), (10, 20, 40, 12)))
    assert "predefined on 2 and search on 1 (ties on 1 seed count for each)" in text


def test_equal_means_name_no_leader():
    text = said(forced((10, 20, 40, 11), (11, 20, 40, 10)))
    assert "by mean J predefined and search are equal (10)" in text


def test_one_forced_mode_is_no_comparison():
    rows = forced((10,), modes=(P,))
    assert said(rows) == "Only predefined was forced (J 10), so there is nothing to compare it with."
    notes = " ".join(verdict.cautions(run_of(rows), "objective"))
    assert "regret refers to predefined only" in notes
    assert "cheapest" not in notes


def test_no_forced_mode():
    rows = [row("ROUTED", 1, 5.0, declarer="natural", declared="SEARCH", executed="SEARCH")]
    assert said(rows) == (
        "No mode was forced in this run, so there is nothing to compare with. "
        "The declarer (natural) chose search; its regret is not known."
    )


def test_incomplete_seeds_are_left_out():
    rows = [r for r in forced((30, 20, 40, 10), (31, 21, 41, 11)) if not (r.seed == 2 and r.condition == SEARCH)]
    run = run_of(rows)
    assert grid_findings.headline(run).startswith("On seed 1, search was the cheapest")
    assert any("seed 2" in note for note in verdict.cautions(run, "objective"))


# With a deadline


def test_modes_that_missed_the_deadline_are_no_rivals():
    rows = late(forced((30, 20, 40, 10), (31, 21, 41, 11)), SEARCH, H)
    assert said(rows) == (
        "Sequential was the cheapest of 2 forced modes that kept the deadline of 4 s on all 2 seeds: mean J 20 against "
        "30 for predefined, the next (33 % less); hierarchical and search missed it."
    )
    text = detail(rows, "Deadline")
    assert text.startswith("Every planning event has 4 s. Late events a day, on average: hierarchical 3 and search 3;")
    assert text.endswith("Their J all the same: hierarchical 40 and search 10.")
    assert "in time on 2 seeds: sequential 20 and predefined 30 (+10)" in detail(rows, "Cost")


def test_a_mode_that_missed_it_once_is_told_and_wins_only_elsewhere():
    rows = late(forced((30, 20, 40, 10), (31, 21, 41, 11)), (SEARCH, 2))
    text = said(rows)
    assert "search on 1 and sequential on 1; by mean J sequential leads with 20 against 30" in text
    assert text.endswith("; search (on 1 of 2 seeds) missed it.")


def test_one_mode_in_time_and_none():
    rows = forced((30, 20, 40, 10))
    assert said(late(rows, S, H, SEARCH)) == (
        "Only predefined kept the deadline of 4 s (J 30); sequential, hierarchical and search missed it."
    )
    assert said(late(rows, *MODES)) == "No forced mode kept the deadline of 4 s, so none is cheapest."
    assert said(late(forced((9,), modes=(P,)), P)).endswith("compare it with, and it missed the deadline of 4 s.")


def test_a_failed_episode_cannot_be_the_cheapest():
    def failed(*modes):
        return [
            r.model_copy(update={"status": "failed"}) if r.condition in modes else r for r in forced((30, 20, 40, 10))
        ]

    text = said(failed(SEARCH))
    assert "sequential was the cheapest of 3 forced modes that finished: J 20 against 30 for predefined" in text
    assert text.endswith("; search failed.")
    assert said(failed(S, H, SEARCH)) == (
        "Only predefined is left to be judged (J 30): sequential, hierarchical and search failed."
    )
    assert said(failed(*MODES)) == (
        "No forced mode finished throughout: predefined, sequential, hierarchical and search failed, "
        "so none is cheapest."
    )


def test_a_deadline_that_all_kept_changes_no_sentence():
    rows = forced((30, 20, 40, 10))
    assert said(late(rows)) == said(rows)
    assert detail(late(rows), "Deadline") == "Every planning event has 4 s. No condition missed it."
    assert detail(rows, "Deadline") is None


# What was routed


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([("SEARCH", "PASSED", "SEARCH")] * 2, "chose search every time, without regret"),
        (
            [("SEARCH", "PASSED", "SEARCH"), ("PREDEFINED", "PASSED", "PREDEFINED")],
            "chose search 1× and predefined 1×, without regret",
        ),
        (
            [("HIERARCHICAL", "REPLACED", "SEARCH"), ("SEARCH", "PASSED", "SEARCH")],
            "which the gate replaced by search on 1 of 2",
        ),
        ([("SEARCH", "REPLACED", "SEARCH")] * 2, "whose settings the gate changed"),
        ([("SEARCH", "REFUSED", None)] * 2, "which the gate refused"),
    ],
)
def test_what_was_declared_and_what_the_gate_did(decisions, expected):
    rows = forced((30, 20, 40, 10), (31, 21, 41, 11))
    rows += [
        row("ROUTED", seed, 10, declarer="natural", declared=d, gate=g, executed=e)
        for seed, (d, g, e) in enumerate(decisions, 1)
    ]
    assert expected in said(rows, regret=0.0)


def test_regret_is_held_against_the_least_cost():
    rows = [*forced((30, 20, 40, 10)), *routed("SEQUENTIAL")]
    assert "at a regret of 5 (50 % above the least cost of a forced mode)" in said(rows, regret=5.0)
    assert "at a regret of −5 (50 % below the least cost of a forced mode)" in said(rows, regret=-5.0)
    assert "below the least cost of a forced mode in time)" in said(late(rows, SEARCH), regret=-5.0)
    alone = [*forced((10,), modes=(P,)), *routed("PREDEFINED")]
    assert "(50 % above forced predefined)" in said(alone, regret=5.0, mode_regret=0.0, policy_gap=5.0)


@pytest.mark.parametrize(
    ("mode", "rest", "expected"),
    [
        (10.0, 5.0, "+10 from the mode and +5 from the rest of its policy, so the mode dominates."),
        (5.0, 10.0, "+5 from the mode and +10 from the rest of its policy, so the rest dominates."),
        (30.0, -15.0, "+30 from the mode and −15 from the rest of its policy, so the mode outweighs the rest."),
        (-15.0, 30.0, "−15 from the mode and +30 from the rest of its policy, so the rest outweighs the mode."),
        (7.5, 7.5, "so both weigh the same."),
        (15.0, 0.0, "all of it from the mode, none from the rest of its policy."),
        (0.0, 15.0, "all of it from the rest of its policy, none from the mode."),
        (None, None, "how much of it is due to the mode is not known."),
    ],
)
def test_regret_is_split_and_the_larger_part_named(mode, rest, expected):
    rows = [*forced((30, 20, 40, 10)), *routed("SEQUENTIAL")]
    assert said(rows, regret=15.0, mode_regret=mode, policy_gap=rest).endswith(expected)


def test_a_regret_of_zero_that_two_parts_make_up_is_split_all_the_same():
    rows = [*forced((30, 20, 40, 10)), *routed("SEQUENTIAL")]
    assert "+10 from the mode and −10 from" in said(rows, regret=0.0, mode_regret=10.0, policy_gap=-10.0)


def test_episodes_that_ran_no_mode_are_in_neither_part():
    rows = [*forced((30, 20, 40, 10), (31, 21, 41, 11)), *routed("SEQUENTIAL", "SEQUENTIAL")]
    seeds = [{"regret": 12.0, "mode_regret": 10.0, "policy_gap": 2.0}, {"regret": 88.0, "mode_regret": None}]
    options = {"regret": 50.0, "mode_regret": 10.0, "policy_gap": 2.0, "per_seed": seeds}
    text = said(rows, **options)
    assert text.endswith(
        ": mostly from 1 episode that ran no comparable mode; on the other 1, +10 from the mode and +2 from the rest "
        "of its policy."
    )
    assert "1 episode ran no mode that could be compared: 88 of regret in all" in detail(rows, "Routed", **options)


def test_a_forced_twin_out_of_time_is_told():
    rows = [*late(forced((30, 20, 40, 10)), SEARCH), *routed("SEARCH")]
    text = detail(rows, "Routed", regret=-5.0, mode_regret=-10.0, policy_gap=5.0)
    assert "what forced search, with the experiment’s own settings, costs above the least" in text
    assert "Forced search missed the deadline" in text


def test_failed_routed_episodes_are_counted():
    rows = forced((30, 20, 40, 10), (31, 21, 41, 11))
    rows += [
        row("ROUTED", 1, None, declarer="x", declared="SEARCH", status="failed"),
        row("ROUTED", 2, None, status="infrastructure"),
    ]
    run = run_of(rows)
    text = grid_findings.headline(run)
    assert "1 of 1 failed" in text
    assert "its regret is not known" in text
    notes = " ".join(verdict.cautions(run, "objective"))
    assert "Failed episodes (routed 1) count with what their day cost" in notes
    assert "1 episode ended by the infrastructure" in notes


def test_several_declarers_are_compared_and_their_regrets_split():
    rows = forced((30, 20, 40, 10))
    rows += [row(f"ROUTED {who}", 1, 15, declarer=who, declared="SEARCH") for who in ("natural", "hybrid")]
    run = run_of(rows)
    run.result.conditions["ROUTED natural"].update(regret=5.0, mode_regret=1.0, policy_gap=4.0)
    run.result.conditions["ROUTED hybrid"].update(regret=7.0, mode_regret=9.0, policy_gap=-2.0)
    assert grid_findings.headline(run).endswith(
        "Of 2 routed conditions routed natural had the least regret (5, mostly the rest of its policy’s), "
        "routed hybrid the most (7: +9 the mode, −2 the rest)."
    )
    run.result.conditions["ROUTED hybrid"].update(regret=5.0)
    assert "All 2 routed conditions have the same regret (5" in grid_findings.headline(run)


def test_the_headline_has_at_most_two_sentences():
    rows = late([*forced((30, 20, 40, 10), (31, 21, 41, 11)), *routed("SEARCH", "SEARCH")], SEARCH)
    text = said(rows, regret=1.0, mode_regret=3.0, policy_gap=-2.0)
    assert text.count(". ") == 1
    assert text.endswith(".")


# The second referee


def test_another_order_under_ac_is_told():
    rows = [row(mode, 1, cost, ac) for mode, cost, ac in zip(MODES, (30, 20, 40, 10), (30, 20, 40, 90), strict=True)]
    assert detail(rows, "AC power flow") == "Sequential is cheapest instead."
    rows = [row(mode, 1, cost, ac) for mode, cost, ac in zip(MODES, (30, 20, 40, 10), (20, 30, 40, 10), strict=True)]
    assert detail(rows, "AC power flow") == "Search stays cheapest and the order behind it changes."
    assert detail(forced((30, 20, 40, 10)), "AC power flow") == "The order of the modes holds."


def test_missing_ac_costs_are_told():
    rows = forced((30, 20, 40, 10))
    rows[0] = row(Mode.PREDEFINED, 1, 30, metrics={"objective": 30.0, "objective_ac": None})
    assert detail(rows, "AC power flow").startswith("Not every episode has a cost under AC power flow")


# What a ranking depends on


def beside(rows, hand_back=False, **options):
    return " ".join(grid_findings.cautions(run_of(rows, **options), facts(hand_back)))


def test_a_search_that_wins_is_not_left_without_its_intensity():
    text = beside(forced((30, 20, 40, 10)))
    assert "up to 0.75 of a node’s flexible load" in text
    assert "share the intensity 0.5." in text
    assert "comes within about 1 % of it" in text
    assert "flexible load" not in beside(forced((5, 20, 40, 10)))
    assert "flexible load" not in beside(late(forced((30, 20, 40, 10)), SEARCH))


def test_a_shared_intensity_moves_both_and_is_bounded():
    rows = [r.model_copy(update={"factors": {"intensity": 0.8}}) for r in forced((30, 20, 40, 10))]
    assert "up to 1 of a node’s flexible load" in beside(rows)
    assert "share the intensity 0.8." in beside(rows)


def test_only_alternatives_that_search_may_propose_count():
    narrow = {"mode": "SEARCH", "branching": 1}
    rows = [*forced((30, 20, 40), modes=(P, S, H)), row(SEARCH, 1, 10, declaration=narrow)]
    assert "flexible load" not in beside(rows)


def test_a_routed_search_below_every_forced_mode_has_the_same_caution():
    rows = [*forced((5, 20, 40, 10)), *routed("SEARCH")]
    assert "flexible load" in beside(rows, regret=-1.0)
    assert "flexible load" not in beside(rows, regret=1.0)


def test_hierarchical_is_never_shown_without_its_allocation():
    text = "The rank of hierarchical is a property of its allocation, which hands back no quota"
    assert text in beside(forced((30, 20, 40, 10)))
    assert text in beside([*forced((30, 20), modes=(P, S)), *routed("HIERARCHICAL")])
    assert text not in beside(forced((30, 20), modes=(P, S)))
    assert "uses the repaired allocation here" in beside(forced((30, 20, 40, 10)), hand_back=True)


def test_limits_that_nobody_keeps_are_told():
    rows = [
        row(mode, 1, 10, metrics={"objective": 10.0, "violation_hours": hours})
        for mode, hours in zip(MODES, (8.0, 7.0, 7.5, 8.0), strict=True)
    ]
    text = detail(rows, "Limits")
    assert "No condition kept them; hours a day that remain outside: predefined 8 h, sequential 7 h" in text
    assert "hierarchical 7.5 h" in text
    rows[1] = row(S, 1, 10, metrics={"objective": 10.0, "violation_hours": 0.0})
    assert "Sequential kept them throughout" in detail(rows, "Limits")


def test_modes_that_were_not_forced_are_named():
    notes = verdict.cautions(run_of(forced((30, 20), (31, 21), modes=(P, S))), "objective")
    assert notes == [
        "Hierarchical and search were not forced: “cheapest” and regret refer to the forced modes of this run only."
    ]


@pytest.mark.parametrize(
    ("model", "kind"),
    [("embedded:x", "the embedded model"), ("scripted/minimal", "a scripted model"), ("https://x", "")],
)
def test_stand_ins_are_recognised(model, kind):
    assert verdict.stand_in(run_of(forced((1, 2, 3, 4)), config={"model": model})) == kind


def test_a_model_is_named_once():
    rows = [r.model_copy(update={"model": "embedded:tiny"}) for r in forced((1, 2, 3, 4))]
    assert run_of(rows, config={"model": "embedded"}).models() == ["embedded:tiny"]
