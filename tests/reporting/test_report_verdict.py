"""The sentence at the top, for planted costs."""

import pytest

from planroute.modes import MODES, Mode
from planroute.reporting import verdict
from planroute.reporting.reading import Cell, Manifest, Result, Row, Run

P, S, H, SEARCH = MODES


def row(condition, seed, cost, cost_ac=None, **changes):
    metrics = {} if cost is None else {"objective": cost, "objective_ac": cost if cost_ac is None else cost_ac}
    values = {"task": "t", "condition": condition, "seed": seed, "status": "finished", "metrics": metrics}
    return Row.model_validate(values | changes)


def run_of(rows, regret=None, config=None):
    conditions = {r.condition: {} for r in rows}
    for name in conditions:
        if name not in tuple(MODES):
            conditions[name] = {"regret": regret}
    manifest = Manifest(domain="grid", cells=tuple(str(i) for i in range(len(rows))), config=config or {})
    cells = [Cell(str(i), r, ()) for i, r in enumerate(rows)]
    return Run("run", manifest, Result(conditions=conditions), cells, {})


def forced(*costs_by_seed, modes=MODES):
    return [
        row(mode, seed, cost)
        for seed, costs in enumerate(costs_by_seed, 1)
        for mode, cost in zip(modes, costs, strict=True)
    ]


def said(rows, **options):
    return verdict.sentence(run_of(rows, **options), "objective", "objective_ac")


def test_one_mode_cheapest_everywhere():
    assert said(forced((30, 20, 40, 10), (31, 21, 41, 11))) == (
        "Search was the cheapest forced mode on all 2 seeds: mean J 10 against 20 for sequential, the next "
        "(49 % less); the order of the modes holds under AC power flow."
    )


def test_a_divided_field_names_every_winner():
    text = said(forced((10, 20, 40, 30), (31, 21, 41, 11), (31, 21, 41, 12)))
    assert text.startswith("Cheapest of the forced modes over 3 seeds was search on 2 and predefined on 1; by mean J")


def test_one_seed_is_called_one_seed():
    run = run_of(forced((30, 20, 40, 10)))
    assert verdict.sentence(run, "objective").startswith("On seed 1, search was the cheapest of 4 forced modes")
    assert "One seed shows one day" in verdict.cautions(run, "objective")[0]


def test_ties_are_told():
    assert said(forced((10, 20, 40, 10))).startswith("On seed 1, predefined and search tied as the cheapest")
    text = said(forced((10, 20, 40, 10), (10, 20, 40, 12)))
    assert "predefined on 2 and search on 1 (ties on 1 seed count for each)" in text


def test_equal_means_name_no_leader():
    text = said(forced((10, 20, 40, 11), (11, 20, 40, 10)))
    assert "by mean J predefined and search are equal (10)" in text


def test_one_forced_mode_is_no_comparison():
    assert said(forced((10,), modes=(P,))) == ("Only predefined was forced (mean J 10): nothing to compare it with.")


def test_no_forced_mode():
    rows = [row("ROUTED", 1, 5.0, declarer="natural", declared="SEARCH", executed="SEARCH")]
    assert said(rows) == (
        "No mode was forced in this run, so there is nothing to compare with; "
        "the declarer (natural) chose search; its regret is not known."
    )


def test_incomplete_seeds_are_left_out():
    rows = [r for r in forced((30, 20, 40, 10), (31, 21, 41, 11)) if not (r.seed == 2 and r.condition == SEARCH)]
    run = run_of(rows)
    assert verdict.sentence(run, "objective").startswith("On seed 1, search was the cheapest")
    assert any("seed 2" in note for note in verdict.cautions(run, "objective"))


@pytest.mark.parametrize(
    ("routed", "expected"),
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
        ([("SEARCH", "REPLACED", "SEARCH")] * 2, "whose settings or mode the gate changed"),
        ([("SEARCH", "REFUSED", None)] * 2, "which the gate refused"),
    ],
)
def test_what_was_declared_and_what_the_gate_did(routed, expected):
    rows = forced((30, 20, 40, 10), (31, 21, 41, 11))
    rows += [
        row("ROUTED", seed, 10, declarer="natural", declared=d, gate=g, executed=e)
        for seed, (d, g, e) in enumerate(routed, 1)
    ]
    assert expected in said(rows, regret=0.0)


def test_regret_is_held_against_the_least_cost():
    rows = [*forced((30, 20, 40, 10)), row("ROUTED", 1, 15, declarer="x", declared="SEQUENTIAL", executed="SEQUENTIAL")]
    assert "at a regret of 5, 50 % above the least cost" in said(rows, regret=5.0)
    assert "at a regret of −5, 50 % below what the forced modes cost" in said(rows, regret=-5.0)


def test_failed_routed_episodes_are_counted():
    rows = forced((30, 20, 40, 10), (31, 21, 41, 11))
    rows += [
        row("ROUTED", 1, None, declarer="x", declared="SEARCH", status="failed"),
        row("ROUTED", 2, None, status="infrastructure"),
    ]
    run = run_of(rows)
    text = verdict.sentence(run, "objective")
    assert "1 of 1 failed" in text
    assert "its regret is not known" in text
    notes = " ".join(verdict.cautions(run, "objective"))
    assert "Failed episodes (routed 1) count with what their day cost" in notes
    assert "1 episode ended by the infrastructure" in notes


def test_several_declarers_are_compared():
    rows = forced((30, 20, 40, 10))
    rows += [row("natural", 1, 15, declarer="natural", declared="SEARCH"), row("hybrid", 1, 15, declared="SEARCH")]
    run = run_of(rows)
    run.result.conditions["natural"]["regret"] = 5.0
    run.result.conditions["hybrid"]["regret"] = 7.0
    text = verdict.sentence(run, "objective")
    assert "of 2 routed conditions natural had the least mean regret (5), hybrid the most (7)" in text


def test_another_order_under_ac_is_told():
    rows = [row(mode, 1, cost, ac) for mode, cost, ac in zip(MODES, (30, 20, 40, 10), (30, 20, 40, 90), strict=True)]
    assert said(rows).endswith("under AC power flow sequential is cheapest instead.")
    rows = [row(mode, 1, cost, ac) for mode, cost, ac in zip(MODES, (30, 20, 40, 10), (20, 30, 40, 10), strict=True)]
    assert said(rows).endswith("under AC power flow search stays cheapest and the order behind it changes.")


def test_missing_ac_costs_are_told():
    rows = forced((30, 20, 40, 10))
    rows[0] = row(Mode.PREDEFINED, 1, 30, metrics={"objective": 30.0, "objective_ac": None})
    assert said(rows).endswith("not every episode has a cost, so the order was not compared.")


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
