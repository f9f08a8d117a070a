"""Reference agreement: the measure itself, and the labelled plans."""

import json

import numpy as np
import pytest

from planroute.errors import InputError
from planroute.evaluation.structure.agreement import agreement, kappa
from tests.evaluation.structure.labelled import (
    CASES,
    as_it_was,
    disagreements,
    labels,
    order_pairs,
    packets,
    unit_pairs,
    verified,
)

AS_IS = json.loads((CASES / "as_is.json").read_text("utf-8"))


def pairs(table: list[list[int]]) -> list[tuple[int, int]]:
    return [(row, column) for row, counts in enumerate(table) for column, n in enumerate(counts) for _ in range(n)]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[20, 5], [10, 15]], 0.4),  # the textbook example of fifty grant proposals
        ([[45, 15], [25, 15]], 0.1304347826),
        ([[25, 35], [5, 35]], 0.2592592593),
        ([[10, 0], [0, 10]], 1.0),
        ([[0, 10], [10, 0]], -1.0),
    ],
)
def test_kappa_of_known_tables(table, expected):
    assert kappa(pairs(table)) == pytest.approx(expected)


def test_kappa_is_not_defined_without_variation():
    assert kappa(pairs([[10, 0], [0, 0]])) is None
    assert kappa([]) is None
    assert kappa(pairs([[10, 5], [0, 0]])) == 0.0
    found = agreement([[("yes", "yes")]] * 3)
    assert (found.raw, found.kappa, found.low, found.high) == (1.0, None, None, None)


def test_draws_without_variation_are_left_out_of_the_interval():
    found = agreement([[("yes", "yes")], [("no", "no")]], resamples=50)
    assert (found.kappa, found.low, found.high) == (1.0, 1.0, 1.0)


def test_labels_of_several_types_are_compared():
    assert kappa([(None, None), (1, 1), ("1", 1), (("a",), ("a",))]) == pytest.approx(2 / 3)


def test_whole_clusters_are_drawn_again():
    rng = np.random.default_rng(1)
    single = [[(int(a), int(a if rng.random() < 0.8 else 1 - a))] for a in rng.integers(0, 2, 60)]
    tenfold = [cluster * 10 for cluster in single]
    one, ten = (agreement(clusters, resamples=200) for clusters in (single, tenfold))
    assert one.low < one.kappa < one.high
    assert (ten.items, ten.clusters) == (600, 60)
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high))
    assert agreement(single, resamples=200) == one


def test_prevalence_and_raw_share():
    found = agreement([[("yes", "yes"), ("yes", "no")], [("no", "no"), ("yes", "yes")]])
    assert found.raw == 0.75
    assert found.prevalence == {"yes": (0.75, 0.5), "no": (0.25, 0.5)}


def test_no_pairs_are_refused():
    with pytest.raises(InputError):
        agreement([[], []])


def test_both_raters_labelled_every_leaf():
    for rater in ("a", "b"):
        assert [sorted(rows.units) for rows in labels(rater)] == [sorted(packet["leaves"]) for packet in packets()]


def test_agreement_between_the_raters():
    units, order = (agreement(of(labels("a"), labels("b"))) for of in (unit_pairs, order_pairs))
    assert (units.items, units.clusters, order.items) == (212, 40, 40)
    assert (units.kappa, units.low, units.high) == pytest.approx(AS_IS["raters"]["units"], abs=1e-3)
    assert (order.kappa, order.low, order.high) == pytest.approx(AS_IS["raters"]["order"], abs=1e-3)


def test_what_is_left_of_the_disagreement_is_explained():
    left = [
        {key: row[key] for key in ("plan", "unit", "verifier", "a", "b")}
        for row in AS_IS["disagreements"]
        if row["then"] == "left"
    ]
    assert list(disagreements()) == left


@pytest.mark.parametrize("rater", ["a", "b"])
@pytest.mark.parametrize("text", ["packets", "whole_records"])
def test_agreement_of_the_verifier_before_the_changes(text, rater):
    ours = as_it_was(whole=text == "whole_records")
    for name, of in {"units": unit_pairs, "order": order_pairs}.items():
        found = agreement(of(ours, labels(rater)))
        assert (found.kappa, found.low, found.high) == pytest.approx(AS_IS[text][name][rater], abs=1e-3)


@pytest.mark.parametrize("rater", ["a", "b"])
def test_agreement_with_the_labels_after_the_changes(rater):
    ours = verified()
    units, order = (agreement(of(ours, labels(rater)), resamples=0) for of in (unit_pairs, order_pairs))
    assert units.kappa >= 0.99
    assert order.kappa == 1.0
