"""Two hundred generated traces: every planted fault is found where it was planted, and nothing harmless is flagged."""

from collections import Counter

import pytest

from planroute.evaluation.structure import Status, lexicon, verify
from tests.evaluation.structure.planted import all_planted

PLANTED = list(all_planted(200))
IDS = [f"{number}-{case.lexicon}-{case.fault.replace(' ', '-')}" for number, case in enumerate(PLANTED)]


@pytest.mark.parametrize("case", PLANTED, ids=IDS)
def test_planted(case):
    verdict = verify(case.units, case.actions, lexicon(case.lexicon))
    if case.harmless:
        assert verdict.order_preserved is True, verdict.first_divergence
        assert verdict.completed == verdict.needed == len(case.units)
        return
    assert verdict.order_preserved is False
    assert verdict.first_divergence is not None
    assert verdict.first_divergence.unit in case.broken
    status = {unit.unit: unit.status for unit in verdict.units}[verdict.first_divergence.unit]
    assert status is (Status.OUT_OF_ORDER if case.fault == "swapped" else Status.MISSING)
    assert verdict.in_order is (case.fault != "swapped")


def test_the_plants_cover_every_kind_and_lexicon():
    counts = Counter((case.lexicon, case.fault) for case in PLANTED)
    assert len(counts) == 32
    assert min(counts.values()) >= 6
    assert sum(not case.harmless for case in PLANTED) == 96
