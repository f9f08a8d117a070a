"""The ledger adds up, and refuses before a limit is overrun."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.errors import BudgetExceeded
from planroute.ledger import Budget, Ledger, Spent, Usage, without_raw

counts = st.integers(0, 10_000)
usages = st.builds(Usage, prompt_tokens=counts, answer_tokens=counts, thinking_tokens=counts)
calls = st.tuples(
    st.sampled_from(["declaration", "message", "evaluation"]),
    usages,
    st.integers(0, 90).map(float),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 9).map(float)),
)


def charge(ledger, call):
    purpose, usage, latency_s, billed, price_usd = call
    ledger.charge_call(purpose, usage, latency_s, billed=billed, price_usd=price_usd)


@given(st.lists(calls, max_size=12))
def test_the_total_is_the_sum_over_calls(made):
    ledger = Ledger()
    for call in made:
        charge(ledger, call)
    total = ledger.total
    assert total.model_calls == len(made)
    assert total.billed_calls == sum(billed for *_, billed, _ in made)
    assert total.tokens == sum(usage.total_tokens for _, usage, *_ in made)
    assert total.latency_s == sum(latency for _, _, latency, *_ in made)
    assert set(ledger.by_purpose) == {call[0] for call in made}
    assert sum(spent.model_calls for spent in ledger.by_purpose.values()) == len(made)


@given(st.lists(calls, max_size=12))
def test_an_unknown_price_stays_unknown_and_what_is_not_billed_costs_nothing(made):
    ledger = Ledger()
    for call in made:
        charge(ledger, call)
    billed = [price for *_, is_billed, price in made if is_billed]
    assert ledger.total.price_usd == (None if None in billed else sum(billed))


@given(st.lists(calls, min_size=1, max_size=12), st.integers(0, 12), st.integers(0, 60_000), st.integers(0, 900))
def test_a_limit_is_overrun_by_no_more_than_the_call_that_reached_it(made, most_calls, most_tokens, most_seconds):
    ledger = Ledger(Budget(model_calls=most_calls, tokens=most_tokens, seconds=most_seconds))
    charged, refusal = [], None
    for call in made:
        try:
            ledger.check_call()
        except BudgetExceeded as error:
            refusal = error
            break
        charge(ledger, call)
        charged.append(call)
    if refusal:
        spent = {"model calls": len(charged), "tokens": ledger.total.tokens, "seconds": ledger.total.latency_s}
        assert spent[refusal.resource] >= refusal.limit
    before_last = charged[:-1]
    assert len(charged) <= most_calls
    assert not charged or sum(usage.total_tokens for _, usage, *_ in before_last) < most_tokens
    assert not charged or sum(latency for _, _, latency, *_ in before_last) < most_seconds


def test_interactions_are_refused_before_they_are_spent():
    ledger = Ledger(Budget(interactions=2))
    ledger.charge_interaction()
    ledger.charge_interaction()
    with pytest.raises(BudgetExceeded, match="budget of 2 interactions is spent") as error:
        ledger.charge_interaction()
    assert (error.value.resource, error.value.limit) == ("interactions", 2)
    assert ledger.total.interactions == 2


def test_without_a_budget_nothing_is_refused():
    ledger = Ledger()
    for _ in range(1000):
        ledger.check_call()
        charge(ledger, ("declaration", Usage(10**9), 10**9, True, 10**9))
        ledger.charge_interaction()
    assert ledger.total.interactions == ledger.total.model_calls == 1000


def test_planning_is_stipulated_and_kept_apart():
    ledger = Ledger()
    ledger.charge_planning(1.33)
    ledger.charge_planning(12.0, events=8)
    assert ledger.by_purpose["planning"] == Spent(planning_events=9, planning_s=pytest.approx(13.33))
    assert ledger.total.latency_s == 0.0


@given(usages)
def test_thinking_is_counted_once(usage):
    assert usage.total_tokens == usage.prompt_tokens + usage.answer_tokens + usage.thinking_tokens


def test_the_providers_own_account_is_kept_and_can_be_left_out():
    usage = Usage(1, 2, 3, raw={"cached": 7})
    assert usage.raw == {"cached": 7}
    assert without_raw(usage).raw == {}
    assert without_raw(usage) == usage
