"""Thousands of calls to an endpoint that fails on purpose: each ends as an answer or a typed failure, charged once."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from planroute.calls import Message, ModelReply, ModelRequest
from planroute.errors import ModelError, ModelRefused, ModelUnavailable
from planroute.ledger import Ledger
from planroute.models import CachedModel, CallCache, LiveModel
from planroute.models.metered import MeteredModel
from planroute.runs.account import Account, OnAccount
from planroute.streams import stream
from planroute.testing import Fate, Faults, FaultServer
from planroute.testing.endpoint import ANSWERED

CONCURRENCY = 64
RETRIES = 2
FAULTS = Faults(
    slow=0.03,
    lying=0.06,
    refused=0.03,
    limited=0.04,
    paused=0.04,
    failing=0.06,
    hanging=0.01,
    truncated=0.03,
    cut_off=0.03,
    garbage=0.04,
    wrong_schema=0.04,
)


def request(number):
    return ModelRequest(f"purpose {number % 3}", (Message("user", f"What of case {number}?"),))


async def outcome(model, number):
    try:
        return await model.complete(request(number))
    except ModelError as error:
        return error


async def put(numbers, folder, faults=FAULTS, timeout_s=60.0, concurrency=CONCURRENCY):
    """Put the questions ``numbers``, ``concurrency`` at once; return all that can be known about it afterwards."""
    ledger, noted, outcomes, waiting = Ledger(), [], [], iter(numbers)
    account = Account(note=lambda cell, billed: noted.append(billed))
    before = asyncio.all_tasks()
    async with FaultServer(faults, seed=11) as server:
        live = LiveModel(server.base_url, "m", timeout_s=timeout_s, retries=RETRIES, backoff_s=0.001)
        with_cache = CachedModel(live, CallCache(folder / "calls.sqlite"))
        model = MeteredModel(OnAccount(with_cache, account, "cell"), ledger)

        async def work():
            for number in waiting:
                outcomes.append((number, await outcome(model, number)))

        await asyncio.gather(*(work() for _ in range(concurrency)))
        kept = len(with_cache.cache)
        await with_cache.aclose()
        async with asyncio.timeout(60):
            while server.connections:  # clients have left; the server hears of it in one of the next turns
                await asyncio.sleep(0.001)
    assert asyncio.all_tasks() == before
    return server.told, ledger, account, noted, outcomes, kept


def check(numbers, told, ledger, account, noted, outcomes, kept):
    replies = [(number, each) for number, each in outcomes if isinstance(each, ModelReply)]
    errors = [each for _, each in outcomes if isinstance(each, ModelRefused | ModelUnavailable)]
    assert Counter(number for number, _ in outcomes) == Counter(numbers)  # none is lost
    assert len(replies) + len(errors) == len(numbers)

    total, seen = ledger.total, told.requests.total()
    tokens = told.prompt_tokens + told.completion_tokens
    assert (total.model_calls, total.failed_calls) == (len(replies), len(errors))
    assert ledger.failures == Counter(type(error).__name__ for error in errors)
    assert (total.attempts, total.billed_calls, total.billed_tokens) == (seen, told.completed, tokens)
    assert (account.calls, account.tokens) == (told.completed, tokens)
    assert sum(each["attempts"] for billed in noted for each in billed.values()) == seen
    assert kept == told.completed == sum(reply.billed for _, reply in replies)
    assert {number for number, _ in replies} == {number for number, reply in replies if reply.billed}
    assert sum(each.attempts for _, each in outcomes) == seen
    assert all((reply.attempts > 0) == reply.billed for _, reply in replies)

    # What the server did to each question, request by request, says how its calls must have ended.
    ended = Counter(_ended(fates) for fates in told.fates.values())
    assert ended["open"] == 0
    calls_that_failed = sum(_failures(fates) for fates in told.fates.values())
    borne = sum(error.attempts > 0 for error in errors)  # the others shared a call that another one bears
    assert borne == calls_that_failed


def _calls(fates):
    """Divide the requests of one question into its calls: an answer or a refusal ends one, and so does the last try."""
    call = []
    for fate in fates:
        call.append(fate)
        if fate in ANSWERED or fate is Fate.REFUSED or len(call) == RETRIES + 1:
            yield call
            call = []
    if call:
        yield call


def _failures(fates):
    return sum(call[-1] not in ANSWERED for call in _calls(fates))


def _ended(fates):
    *earlier, last = _calls(fates)
    assert all(call[-1] not in ANSWERED for call in earlier)  # what was answered is never asked again
    whole = last[-1] in ANSWERED or last[-1] is Fate.REFUSED or len(last) == RETRIES + 1
    return "whole" if whole else "open"


def questions(calls):
    """Every tenth question is asked once more, at another time."""
    numbers = [*range(calls - calls // 10), *range(0, calls - calls // 10, 9)][:calls]
    return [numbers[place] for place in stream(5, "order").permutation(len(numbers))]


def test_each_call_is_charged_once_whatever_becomes_of_it(tmp_path):
    numbers = questions(400)
    # Without those that hang no time-out is needed, and a slow machine changes nothing.
    told, *found = asyncio.run(put(numbers, tmp_path, replace(FAULTS, hanging=0.0)))
    assert set(told.requests) == set(Fate) - {Fate.HANGING}
    check(numbers, told, *found)


def test_calls_that_hang_are_charged_as_failures_and_leave(tmp_path):
    told, ledger, account, noted, outcomes, kept = asyncio.run(put(range(8), tmp_path, Faults(hanging=1.0), 0.1))
    assert {type(each) for _, each in outcomes} == {ModelUnavailable}
    assert ledger.failures == {"ModelUnavailable": 8}
    assert ledger.total.attempts == sum(each.attempts for _, each in outcomes) == 8 * (RETRIES + 1)
    assert sum(each["attempts"] for billed in noted for each in billed.values()) == 8 * (RETRIES + 1)
    assert (ledger.total.failed_calls, ledger.total.billed_calls, account.tokens, kept) == (8, 0, 0, 0)
    assert told.left == told.requests[Fate.HANGING] > 0


@pytest.mark.slow
def test_ten_thousand_calls(tmp_path):
    numbers = questions(10_000)
    told, *found = asyncio.run(put(numbers, tmp_path, timeout_s=15.0))
    assert set(told.requests) == set(Fate)
    check(numbers, told, *found)
